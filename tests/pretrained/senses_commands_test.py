#!/usr/bin/env python3
"""senses_commands_test.py HEED [PACKAGE]: heed classify and view of pictures and heed transcribe of sound, and the same from Python where the
package is built, in the folder PACKAGE, with small models of random weights, against what PyTorch and NumPy make of the same files (senses.py).
Exits 77, saying so, where no Python has PyTorch."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SKIPPED = 77
DEBIANS = "/usr/bin/python3"  # which python3-torch is for, whatever Python CMake found
MODULES = "import torch, numpy"

SPECIAL = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>", "<|notimestamps|>"]  # ids 1 to 7
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES = ["!", *SPECIAL, *LETTERS, *(f"\u0120{letter}" for letter in LETTERS), "."]
ALIGNED = [[0, 1], [1, 0], [1, 2]]  # layers and heads
NEVER, NEVER_FIRST = [0, 1, *range(2, 8), 60], list(range(8, 34))  # random weights would end, and begin within a word


def heed(*arguments, status=0):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"heed {arguments}: {done.returncode}, {done.stderr}"
    return done.stdout if status == 0 else done.stderr


def refused(message, *arguments):
    error = heed(*arguments, status=1)
    assert message in error and error.count("\n") == 1, f"heed {arguments}: {error!r} lacks {message!r}"


def refused_in_python(message, call, *arguments):
    try:
        call(*arguments)
    except ValueError as error:
        assert message in str(error) and "\n" not in str(error), error
    else:
        raise AssertionError(f"{arguments} were not refused")


def converted(folder, dtype):
    own = folder.with_name(f"{folder.name}-{dtype}")
    heed("convert", folder, "--type", dtype, "--out", own)
    return own


def python_package():
    """heed's; none where it is not built."""
    if len(sys.argv) < 3:
        return None
    sys.path.insert(0, sys.argv[2])
    import heed as package

    return package


# --- Pictures --------------------------------------------------------------------------------------------------------------------------------


def check_pictures(folder):
    import numpy
    import senses

    config = senses.vit_config("ViTForImageClassification", id2label=senses.LABELS, resample=2)
    seen, looked = [], []

    def outputs(w, config, pixels):
        maps = []
        senses.vit(w, config, pixels, maps=maps)
        made = senses.vit_classes(w, config, pixels)
        seen.append(made["logits"][0].softmax(-1))
        looked.append(maps[-1][:, 0, 1:].mean(0).argmax().item())
        return made

    senses.write_vit(folder, config, 71, outputs)
    files = [folder / f"{name}.png" for name in ("shrinks", "grows", "stays")]
    stated = seen[-3:]
    for line, file, expected in zip(heed("classify", folder, *files, "--json").splitlines(), files, stated):
        got = json.loads(line)
        assert got["picture"] == str(file) and got["label"] == senses.LABELS[str(int(expected.argmax()))], got
        for number, label in senses.LABELS.items():
            assert abs(got["probabilities"][label] - expected[int(number)].item()) < 1e-5, (got, expected)
    label = senses.LABELS[str(int(stated[0].argmax()))]
    assert heed("classify", folder, files[0]).startswith(f"{files[0]}\t{label}\t{label} {stated[0].max().item():.4f} ")

    for name, options in (("mean.svg", []), ("all.png", ["--head", "all", "--layer", "0"]), ("one.pdf", ["--head", "2"])):
        heed("view", folder, "--image", files[0], "--out", folder / name, *options)
    drawn = (folder / "mean.svg").read_text()
    assert drawn.count("data:image/png;base64,") == 2 and f"<title>{label}" in drawn, drawn[:500]
    down, across = divmod(looked[-3], 3)
    assert f"most at patch {down + 1} of 3 down, {across + 1} of 3 across." in drawn, (drawn[:500], looked)
    assert "none: it reads no text" in heed("info", folder) and json.loads(heed("info", folder, "--json"))["config"]["signal"]["patch"] == 4
    if package := python_package():
        in_python = package.PictureClassifier(folder)
        maps = in_python.attention(files[0])
        assert list(in_python.classify(files[0]))[0] == label and maps.shape[1:] == (3, 3) and maps.mean(0).argmax() == looked[-3], maps
    own = converted(folder, "f32")
    for command in (["classify", files[0], files[1]], ["view", "--image", files[2], "--out", folder / "own.json", "--record", "all"]):
        assert heed(command[0], own, *command[1:]) == heed(command[0], folder, *command[1:])
    assert "none: it reads no text" in heed("info", own)
    assert heed("classify", converted(own, "bf16"), files[0]).split("\t")[1] == label
    refused("sees pictures", "translate", own, "--input", files[0])
    refused("there is no encoder layer 9", "view", folder, "--image", files[0], "--out", folder / "x.svg", "--layer", 9)
    refused("sees pictures", "translate", folder, "--input", files[0])
    refused("neither a PNG nor a JPEG", "classify", folder, folder / "config.json")
    refused("hears no speech: it sees pictures and tells their class (classify MODEL PICTURE)", "transcribe", folder, files[0])
    if package:
        refused_in_python("must be [height, width, 3] of uint8, red, green and blue, but is float64 [4, 4]", in_python.classify, numpy.zeros((4, 4)))


# --- Sound -----------------------------------------------------------------------------------------------------------------------------------


def write_tokenizer(folder):
    added = [{"id": i + 1, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, text in enumerate(SPECIAL)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": False,
             "vocab": {piece: i for i, piece in enumerate(PIECES)}, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
                                                       "normalizer": None, "pre_tokenizer": level, "post_processor": None,
                                                       "decoder": level, "model": model}))
    (folder / "generation_config.json").write_text(json.dumps({
        "decoder_start_token_id": 2, "eos_token_id": 1, "lang_to_id": {"<|en|>": 3, "<|de|>": 4}, "task_to_id": {"translate": 5, "transcribe": 6},
        "no_timestamps_token_id": 7, "suppress_tokens": NEVER, "begin_suppress_tokens": NEVER_FIRST, "alignment_heads": ALIGNED}))


def said(logits_of, prompt, most):
    """The likeliest tokens that may be said."""
    made = []
    while len(made) < most:
        logits = logits_of(prompt + made)
        logits[NEVER + (NEVER_FIRST if not made else [])] = -math.inf
        best = logits.topk(2)
        assert best.values[0] - best.values[1] > 1e-4, "too close to call: take another seed"
        made.append(best.indices[0].item())
    return made


def starts_of(matrix):
    """The first column of each row on the path of the largest sum (Sakoe and Chiba 1978)."""
    rows, columns = matrix.shape
    sums, come_from = {(-1, -1): 0.0}, {}
    for i in range(rows):
        for j in range(columns):
            ways = [(i, j - 1), (i - 1, j), (i - 1, j - 1)]
            come_from[i, j] = max(ways, key=lambda at: sums.get(at, -math.inf))
            sums[i, j] = matrix[i, j] + sums.get(come_from[i, j], -math.inf)
    at, starts = (rows - 1, columns - 1), {}
    while at != (-1, -1):
        starts[at[0]] = at[1]
        at = come_from[at]
    return [starts[i] for i in range(rows)]


def word_times(maps, prompt, tokens, heard):
    """What heed's --words is to print: the seconds of each word's begin and end, and the word."""
    import numpy

    sharp = []
    for layer, head in ALIGNED:
        weights = maps[layer][head].numpy()[:, :heard]
        weights = weights / weights.sum(1, keepdims=True)
        weights = (weights - weights.mean(0)) / weights.std(0)
        padded = numpy.pad(weights, ((0, 0), (3, 3)), mode="reflect")
        sharp.append(numpy.median(numpy.stack([padded[:, i:i + heard] for i in range(7)]), 0))
    starts = starts_of(numpy.mean(sharp, 0)[len(prompt) - 1:])
    words = []
    for i, token in enumerate(tokens):
        if PIECES[token].startswith("\u0120"):
            words.append([starts[i], 0, ""])
        words[-1][1] = starts[i + 1]
        words[-1][2] += PIECES[token].removeprefix("\u0120")
    return "".join(f"{begin * 0.02:.2f}\t{end * 0.02:.2f}\t{word}\n" for begin, end, word in words)


def check_sound(folder):
    import numpy
    import torch
    import wave

    import senses

    config = senses.whisper_config()
    senses.write_whisper(folder, config, 81)
    write_tokenizer(folder)
    w = senses.Weights(81)

    def read(file):
        with wave.open(str(file), "rb") as sound:
            return numpy.frombuffer(sound.readframes(sound.getnframes()), "<i2") / 32768

    def transcribe(samples, language, task):
        features = torch.tensor(senses.log_mel(samples, 10, 50))
        encoded = senses.whisper_encoder(w, config, features.T)
        logits = senses.whisper(w, config, encoded, [2])[-1]
        language = language or (3 if logits[3] > logits[4] else 4)
        prompt = [2, language, task, 7]
        tokens = said(lambda ids: senses.whisper(w, config, encoded, ids)[-1], prompt, 30 - len(prompt))
        maps = []
        senses.whisper(w, config, encoded, prompt + tokens, maps)
        text = "".join(PIECES[token] for token in tokens).replace("\u0120", " ").strip()
        return text, word_times(maps, prompt, tokens, -(-len(samples) // 320)), "en" if language == 3 else "de"

    # The weights are drawn in the order in which write_whisper asks for them.
    senses.whisper(w, config, senses.whisper_encoder(w, config, torch.zeros(10, 50)), [2])
    short = folder / "short.wav"
    text, words, language = transcribe(read(short), None, 6)
    got = json.loads(heed("transcribe", folder, short, "--json"))
    assert got == {"sound": str(short), "text": text, "language": language}, (got, text, language)
    assert heed("transcribe", folder, short) == text + "\n"
    printed = heed("transcribe", folder, short, "--words")
    assert printed == words, f"{printed}\nis not\n{words}"
    package = python_package()
    samples = read(short)
    for sound in (short, (samples, 16000), (samples.astype(numpy.float32), 16000), ((samples * 32768).astype("<i2"), 16000)) if package else ():
        heard = package.Transcriber(folder).transcribe(sound, words=True)
        assert (heard.text, heard.language) == (text, language), heard
        assert "".join(f"{word.begin:.2f}\t{word.end:.2f}\t{word.text}\n" for word in heard.words) == words, heard
    own = converted(folder, "f32")
    assert heed("transcribe", own, short, "--json") == heed("transcribe", folder, short, "--json")
    assert heed("transcribe", own, short, "--words") == words
    assert heed("transcribe", converted(own, "int8"), short).strip() != ""
    german = transcribe(read(short), 4, 5)[0]
    assert heed("transcribe", folder, short, "--language", "de", "--task", "translate") == german + "\n"
    assert heed("transcribe", folder, short, "--beam", 3).strip() != ""

    # What is longer than the model hears is cut, and each piece has the language of the first.
    long = read(folder / "long.wav")
    first = transcribe(long[:8000], None, 6)
    second = transcribe(long[8000:], 3 if first[2] == "en" else 4, 6)
    assert heed("transcribe", folder, folder / "long.wav") == f"{first[0]} {second[0]}\n"

    refused("no language fr; it has: de, en", "transcribe", folder, short, "--language", "fr")
    refused("is not a WAV file", "transcribe", folder, folder / "config.json")
    if package:
        hears = package.Transcriber(folder)
        for message, wrong in (("is float64 [2, 4]", numpy.zeros((2, 4))), ("is uint8 [4]", numpy.zeros(4, numpy.uint8)),
                               ("not finite", numpy.full(4, numpy.nan))):
            refused_in_python(message, hears.transcribe, (wrong, 16000))
    for model in (folder, own):
        refused("hears sound", "translate", model, "--input", short)


def main():
    pythons = [python for python in (sys.executable, DEBIANS) if pathlib.Path(python).exists()
               and subprocess.run([python, "-c", MODULES], stderr=subprocess.DEVNULL, check=False).returncode == 0]
    if not pythons:
        print("skipped: no Python here has PyTorch and NumPy (Debian: python3-torch, which script/setup peers installs)")
        return SKIPPED
    if pythons[0] != sys.executable:
        return subprocess.run([pythons[0], *sys.argv], check=False).returncode
    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as work:
        check_pictures(pathlib.Path(work) / "vit")
        check_sound(pathlib.Path(work) / "whisper")
    print("pictures and sound: as PyTorch and NumPy have them")
    if python_package() is None:
        print("skipped: the same from Python: heed's package is not built (HEED_BUILD_PYTHON)")
    return 0


sys.exit(main())
