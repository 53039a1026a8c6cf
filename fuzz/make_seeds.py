#!/usr/bin/env python3
"""make_seeds.py HEED TEST_DATA FOLDER: what each fuzz target starts from: real files, cut to be small, in FOLDER/TARGET, and the
words of their formats in FOLDER/TARGET.dict. They are made by the command HEED, and taken from TEST_DATA (tests/data, unpacked) and from
$HEED_DATA (by default ../shared/data), where that is there."""

import base64
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from weight_seeds import add_weights

LARGEST = 8192  # bytes of a seed that is taken as it is
MAGIC = b"\x93NUMPY"

# The options of small models: each is a folder with a configuration, a vocabulary, weights and a training state.
TINY = """--max-length 40 --max-tokens 39 --batch-tokens 200 --vocabulary-size 90 --max-updates 2 --validate-every 1
  --validation-sentences 2 --average 2""".split()
TRANSFORMER = "--width 4 --ffn-width 4 --heads 2 --encoder-layers 1 --decoder-layers 1".split()
RNN = "--embedding-width 4 --state-width 4 --attention-width 4".split()
MODELS = {
    "softmax": TRANSFORMER,
    "unigram": TRANSFORMER + "--tokenizer unigram --attention elu --norm-place post --positions learned".split(),
    "bigbird": TRANSFORMER + "--tokenizer whitespace --attention bigbird(2) --kv-heads 1 --share-embeddings false "
                             "--tie-output false --shared-vocabulary false".split(),
    "bahdanau": "--model bahdanau".split() + RNN,
    "luong": "--model luong --tokenizer whitespace --score dot --reach local-p".split() + RNN,
}


class Seeds:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.known = set()

    def add(self, target, data):
        if not data or len(data) > LARGEST * 2 or (target, data) in self.known:
            return
        self.known.add((target, data))
        (self.folder / target).mkdir(exist_ok=True)
        (self.folder / target / f"seed-{self.count:04}").write_bytes(data)
        self.count += 1

    def write_dictionary(self, target, more=()):
        """The quoted words of a target's seeds, which are in a form of JSON or of Python."""
        words = set(more)
        for path in (self.folder / target).iterdir():
            words |= set(re.findall(rb"""["']([A-Za-z0-9_<|]{2,24})["']""", path.read_bytes()))
        lines = "".join(f'"{word.decode()}"\n' for word in sorted(words))
        (self.folder / f"{target}.dict").write_text(lines, encoding="ascii")


def run(*arguments):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(done.args)}\n{done.stderr}")


def first_lines(path, count):
    with open(path, "rb") as file:
        return b"".join(line for _, line in zip(range(count), file))


def compact(data):
    """A JSON text without its spaces, and with no list of more than eight items."""

    def cut(value):
        if isinstance(value, dict):
            return {key: cut(item) for key, item in value.items()}
        return [cut(item) for item in value[:8]] if isinstance(value, list) else value

    return json.dumps(cut(json.loads(data)), separators=(",", ":"), ensure_ascii=False).encode()


def small_safetensors(data, limit=1024):
    """The first tensors of a safetensors file that together take at most `limit` bytes, as such a file."""
    length = struct.unpack("<Q", data[:8])[0]
    header, tensors = json.loads(data[8:8 + length]), data[8 + length:]
    kept, body = {}, b""
    for name, tensor in header.items():
        if name == "__metadata__":
            kept[name] = tensor
            continue
        begin, end = tensor["data_offsets"]
        if len(body) + end - begin > limit:
            continue
        kept[name] = dict(tensor, data_offsets=[len(body), len(body) + end - begin])
        body += tensors[begin:end]
    text = json.dumps(kept, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + body


def protobuf_fields(data):
    """The fields of a message: (number, wire type, all bytes, the bytes that a field of bytes holds)."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value, at

    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(at)
        content = b""
        if tag & 7 == 0:
            _, at = varint(at)
        elif tag & 7 == 2:
            size, at = varint(at)
            content, at = data[at:at + size], at + size
        else:
            at += 8 if tag & 7 == 1 else 4
        yield tag >> 3, data[begin:at], content


def bytes_field(number, content):
    size, head = len(content), bytes([number << 3 | 2])
    while size >= 128:
        head, size = head + bytes([size & 127 | 128]), size >> 7
    return head + bytes([size]) + content


def small_character_map():
    """A normaliser's table that turns c into a: as that of heed/text/sentencepiece_model_check_test.cc."""
    units = [1 << 31] * 256
    c = 128 ^ ord("c")
    units[0] = 128 << 10
    units[c] = ord("c") | 1 << 8 | 1 << 10
    units[c ^ 1] = 1 << 31 | 2
    trie = struct.pack("<256I", *units)
    return struct.pack("<I", len(trie)) + trie + b"x\0a\0"


def small_sentencepiece(data, character_map, pieces=40):
    """A model with its first pieces, and another table in its normaliser, whose own is hundreds of kilobytes."""
    out = b""
    for number, field, content in protobuf_fields(data):
        if number == 1:
            pieces -= 1
            out += field if pieces >= 0 else b""
        elif number == 3:
            rest = b"".join(inner for inner_number, inner, _ in protobuf_fields(content) if inner_number != 2)
            out += bytes_field(3, rest + (bytes_field(2, character_map) if character_map else b""))
        else:
            out += field
    return out


def add_model(seeds, heed, text, folder, options):
    run(heed, "train", "--source", text / "train.de", "--target", text / "train.en", "--valid-source", text / "valid.de",
        "--valid-target", text / "valid.en", "--out", folder, *TINY, *options)
    config = (folder / "config.json").read_bytes()
    seeds.add("model_config", config)
    seeds.add("json", config)
    seeds.add("json", (folder / "training" / "options.json").read_bytes())
    seeds.add("safetensors", small_safetensors((folder / "model.safetensors").read_bytes()))
    state = (folder / "training" / "state.safetensors").read_bytes()
    seeds.add("safetensors", small_safetensors(state))
    seeds.add("training_state", state)
    length = struct.unpack("<Q", state[:8])[0]
    seeds.add("training_state", json.loads(state[8:8 + length])["__metadata__"]["state"].encode())
    for vocabulary in sorted(folder.glob("*.spm")):
        for character_map in (b"", small_character_map()):
            seeds.add("sentencepiece", small_sentencepiece(vocabulary.read_bytes(), character_map))
    for vocabulary in sorted(folder.glob("*.vocab.txt")):
        seeds.add("whitespace_vocabulary", first_lines(vocabulary, 40))
    for number, sentence in enumerate(("Hund", "Der Mann ruft seine Frau an.")):
        trace = folder / f"trace-{number}.json"
        recorded = ("--record", "weights" if number else "all")
        run(heed, "view", folder, "--text", sentence, "--beam", "1", "--out", folder / "page.html", "--trace", trace, *recorded)
        seeds.add("trace", compact(trace.read_bytes()) if number else trace.read_bytes())
        archive = trace.with_suffix(".npz")
        run(heed, "view", trace, "--trace", archive)
        seeds.add("npz", archive.read_bytes())


def add_made_files(seeds, heed, work):
    text = work / "text"
    run(heed, "corpus", "--pairs", "40", "--validation", "2", "--test", "20", "--out", text)
    for path in sorted(text.iterdir()):
        seeds.add("text_lines", first_lines(path, 5))
        if path.suffix == ".align":
            seeds.add("alignment", first_lines(path, 5))
    report = work / "report.json"
    run(heed, "bench", "attention", "--filter", "^short/(forward|causal)$", "--seconds", "0.001", "--json", report)
    seeds.add("bench_report", compact(report.read_bytes()))
    for name, options in MODELS.items():
        add_model(seeds, heed, text, work / name, options)


def tokenizers():
    """Small tokenizer.json of each kind of model, which together have every step."""
    def sequence(name, *steps):
        return {"type": "Sequence", name: list(steps)}

    def token(content, **options):
        return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} | options

    def template(*parts):
        return [{"Sequence": {"id": part, "type_id": 0}} if part in "AB" else {"SpecialToken": {"id": part, "type_id": 1}} for part in parts]

    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}
    mark = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": True}
    pattern = {"Regex": "(?i:'s)|[^\\r\\n\\p{L}&&[^x]]?\\p{L}+|\\p{N}{1,3}| ?[^\\s[a-z]]+|\\s+(?!\\S)|\\b\\w"}
    around = {"type": "TemplateProcessing", "single": template("<s>", "A"), "pair": template("<s>", "A", "B"),
              "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}
    yield {"added_tokens": [token("<s>", lstrip=True)], "normalizer": {"type": "NFC"},
           "pre_tokenizer": sequence("pretokenizers", {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}, byte_level),
           "post_processor": sequence("processors", byte_level, around), "decoder": byte_level,
           "model": {"type": "BPE", "vocab": {"<s>": 0, "t": 1, "h": 2, "e": 3, "\u0120": 4, "th": 5, "the": 6}, "merges": ["t h", "th e"]}}
    yield {"added_tokens": [token("ab", special=False, normalized=True, single_word=True)],
           "normalizer": sequence("normalizers", {"type": "Prepend", "prepend": "_"},
                                  {"type": "Replace", "pattern": {"String": " "}, "content": "_"}, {"type": "Nmt"}),
           "decoder": sequence("decoders", {"type": "Replace", "pattern": {"String": "_"}, "content": " "}, {"type": "ByteFallback"},
                               {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
           "model": {"type": "BPE", "unk_token": "?", "fuse_unk": True, "byte_fallback": True, "continuing_subword_prefix": "##",
                     "end_of_word_suffix": "", "ignore_merges": True, "merges": [["a", "##b"]],
                     "vocab": {"?": 0, "a": 1, "##b": 2, "ab": 3, "<0xC3>": 4, "<0xA9>": 5}}}
    yield {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
           "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
           "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
           "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                     "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "##a": 4, "the": 5}}}
    table = base64.b64encode(small_character_map()).decode()
    yield {"normalizer": sequence("normalizers", {"type": "Precompiled", "precompiled_charsmap": table}, {"type": "NFKD"},
                                  {"type": "StripAccents"}, {"type": "Lowercase"}, {"type": "Strip", "strip_left": True, "strip_right": True}),
           "pre_tokenizer": sequence("pretokenizers", {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "MergedWithNext"},
                                     {"type": "Digits", "individual_digits": True}, mark),
           "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]}, "decoder": mark,
           "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": [["?", 0], ["</s>", 0], ["_a", -1.5], ["a", -2], ["b", -3]]}}
    yield {"pre_tokenizer": {"type": "Whitespace"}, "decoder": {"type": "BPEDecoder", "suffix": "</w>"}, "symbols": {"pad": 0},
           "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "the": 1}}}
    yield {"decoder": {"type": "CTC", "pad_token": "?", "word_delimiter_token": "|", "cleanup": True},
           "model": {"type": "ScoredBPE", "unk_token": "?", "byte_fallback": True, "unmergeable": [0], "vocab": [["?", 0], ["a", -1], ["aa", -2]]}}


def add_cases(seeds, onnx):
    for path in sorted(onnx.rglob("case.json")):
        case = json.loads(path.read_bytes())
        arrays = []
        for value in case["inputs"] + case["outputs"]:
            if value:
                arrays.append((path.parent / value["file"]).read_bytes())
                value["file"] = f"{len(arrays) - 1}.npy"
        del case["source"]
        text = json.dumps(case, separators=(",", ":")).encode()
        for array in arrays:
            if len(array) <= 512:
                seeds.add("npy", array)
        if len(text) + sum(map(len, arrays)) <= LARGEST:
            seeds.add("conformance_case", text + b"".join(arrays))
            seeds.add("json", text)


def add_files_of_others(seeds, data):
    for path in sorted(data.rglob("*.safetensors")):
        seeds.add("safetensors", small_safetensors(path.read_bytes()))
    for path in sorted(data.rglob("*.model")):
        seeds.add("sentencepiece", small_sentencepiece(path.read_bytes(), b""))
    for path in sorted(data.rglob("*.gold")):
        seeds.add("alignment", first_lines(path, 4))
        seeds.add("text_lines", first_lines(path, 4))
    for path in sorted(data.rglob("*vocabulary.txt")):
        seeds.add("whitespace_vocabulary", b"<pad>\n<unk>\n<s>\n</s>\n" + first_lines(path, 40))


def add_chat_templates(seeds):
    """Those of the tests, of which many come to one seed, and those that are known by name."""
    root = pathlib.Path(__file__).parents[1]
    cases = [case["template"] for case in json.loads((root / "tests/chat_templates/cases.json").read_text(encoding="utf-8"))["cases"]]
    for begin in range(0, len(cases), 10):
        seeds.add("chat_template", "\n".join(cases[begin:begin + 10]).encode())
    named = (root / "heed/text/named_chat_templates.h").read_text(encoding="utf-8")
    for text in re.findall(r'R"\((.*?)\)"', named, re.DOTALL) + cases:
        seeds.add("chat_template", text.encode())


def add_written_seeds(seeds):
    """What is a line or two, and stands in no file."""
    for text in ("1 0 1\n0 1 1\n", "1,0\n0;1 # the second\n", "[[1, 0, 1], [0, 1.5, -2e-1]]", "[[[true, false]], [[false, true]]]", "nan -inf\n"):
        seeds.add("named_array", text.encode())
    for text in ("10", "010", "-2", "0.5", "5e-1", "1e400", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
                 "inf", "nan", "0x10", "+5", " 5", "1,5", "2147483648", "1.7976931348623157e308", ""):
        seeds.add("numbers", text.encode())
    for text in (b"a\r\nb\n\nc", b"\x1f\x8b\x08", b"\xff\xfea\0", "ä\n日本語\n𝄞".encode(), b"a" * 65540 + b"\nb\n"):
        (seeds.folder / "text_lines").mkdir(exist_ok=True)
        (seeds.folder / "text_lines" / f"written-{len(text)}").write_bytes(text)
    for text in ("0-0 1p2\n\n3-4", "1-1 2p3 2-3"):
        seeds.add("alignment", text.encode())
    for tokenizer in tokenizers():
        seeds.add("tokenizer", json.dumps(tokenizer, separators=(",", ":"), ensure_ascii=False).encode())
    add_chat_templates(seeds)
    seeds.add("json", b'{"a":[1,-0.5,1e300,true,false,null,"\\u00e4\\ud834\\udd1e\\n"],"b":{"c":{}}}')
    (seeds.folder / "attention").mkdir(exist_ok=True)  # every input is a problem: it needs none to start from


def picture_trace(image):
    """A caption's, in one head: two patches and a class token, two words."""
    source = {"tokens": ["[CLS]", "0,0", "0,1"], "words": [-1, 0, 1], "grid": {"rows": 1, "columns": 2}}
    target = {"tokens": ["a", "dog", "</s>"], "words": [0, 1, -1], "word_texts": ["a", "dog"]}
    trace = {"source": source, "target": target, "maps": [{"kind": "cross", "weights": [[[0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]]]}],
             "image": "data:image/png;base64," + base64.b64encode(image).decode()}
    return {"format": "heed attention traces", "version": 2, "traces": [trace]}


def add_senses(seeds):
    """A WAV file of each type of sample, and PNG files; libjpeg's own tool writes JPEG where it is installed."""
    for kind, bits in ((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)):
        frame = 2 * bits // 8
        header = struct.pack("<HHIIHH", kind, 2, 22050, 22050 * frame, frame, bits)
        samples = bytes(range(frame * 8)) if kind == 1 else struct.pack("<16f" if bits == 32 else "<16d", *(i / 16 for i in range(16)))
        chunks = b"fmt " + struct.pack("<I", len(header)) + header + b"data" + struct.pack("<I", len(samples)) + samples
        seeds.add("wave", b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    for colours, bits, channels, interlaced in ((0, 1, 1, 0), (0, 16, 1, 0), (2, 8, 3, 0), (2, 8, 3, 1), (3, 4, 1, 0), (4, 8, 2, 0), (6, 16, 4, 1)):
        row = b"\0" + bytes(range((8 * channels * bits + 7) // 8))
        rows = row * 8 if not interlaced else bytes(8 * 16 * channels * bits // 8)
        palette = chunk(b"PLTE", bytes(range(48))) if colours == 3 else b""
        image = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, bits, colours, 0, 0, interlaced)) + palette +
                 chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        seeds.add("image", image)
    seeds.add("trace", json.dumps(picture_trace(image)).encode())
    if shutil.which("cjpeg"):
        pixels = b"P6 17 11 255\n" + bytes(i * 7 % 256 for i in range(17 * 11 * 3))
        for options in ([], ["-progressive"], ["-grayscale"], ["-sample", "1x1"], ["-restart", "1"]):
            seeds.add("image", subprocess.run(["cjpeg", *options], input=pixels, stdout=subprocess.PIPE, check=True).stdout)


def add_family_configs(seeds, others):
    """Those of others' models, and one of few fields for each family of heed/pretrained/family.cc."""
    for path in sorted(others.glob("models/*/config.json")):
        seeds.add("family_config", compact(path.read_bytes()))
    source = (pathlib.Path(__file__).parents[1] / "heed" / "pretrained" / "family.cc").read_text(encoding="utf-8")
    extents = dict.fromkeys("hidden_size n_embd d_model embedding_size num_attention_heads n_head num_heads n_heads".split(), 4)
    extents |= dict.fromkeys("encoder_attention_heads decoder_attention_heads num_key_value_heads head_dim d_kv dim".split(), 2)
    extents |= dict.fromkeys("num_hidden_layers n_layer num_layers n_layers encoder_layers decoder_layers num_hidden_groups".split(), 2)
    extents |= dict.fromkeys("intermediate_size ffn_dim d_ff hidden_dim encoder_ffn_dim decoder_ffn_dim".split(), 8)
    extents |= dict.fromkeys("vocab_size max_position_embeddings n_positions max_source_positions max_target_positions".split(), 16)
    extents |= {"type_vocab_size": 2, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2, "image_size": 4,
                "patch_size": 2, "num_channels": 3, "num_mel_bins": 4, "relative_attention_num_buckets": 8}
    extents |= {"rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 8}, "hidden_act": "gelu_new",
                "sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"], "attention_types": [[["global", "local"], 1]]}
    for family in re.findall(r'{"([^"]+)", describe_', source):
        seeds.add("family_config", json.dumps({"model_type": family} | extents).encode())


def main():
    heed, test_data, folder = map(pathlib.Path, sys.argv[1:])
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    seeds = Seeds(part)
    with tempfile.TemporaryDirectory() as work:
        add_made_files(seeds, heed, pathlib.Path(work))
    add_cases(seeds, test_data / "onnx")
    others = pathlib.Path(os.environ.get("HEED_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data"))
    if others.is_dir():
        add_files_of_others(seeds, others)
    add_family_configs(seeds, others)
    add_written_seeds(seeds)
    add_weights(seeds)
    add_senses(seeds)
    for target in ("json", "tokenizer", "bench_report", "model_config", "family_config", "trace", "training_state", "conformance_case", "npy", "safetensors_index"):
        seeds.write_dictionary(target)
    words = """if elif else endif for in endfor set endset macro endmacro call endcall with endwith filter endfilter raw endraw generation
      endgeneration break continue not and or is messages role content loop namespace range dict raise_exception bos_token caller""".split()
    signs = "{{ }} {% %} {{- -}} {%- -%} {# #} ** // ~ | == != <= >= [ ] ( ) : , . =".split()
    seeds.write_dictionary("chat_template", [word.encode() for word in words + signs])
    seeds.write_dictionary("safetensors", (b"F32", b"F64", b"F16", b"BF16", b"I8", b"I32", b"I64", b"BOOL", b"data_offsets"))
    targets = {source.name.removesuffix("_fuzz.cc") for source in pathlib.Path(__file__).parent.glob("*_fuzz.cc")}
    without = sorted(targets - {path.name for path in part.iterdir()})
    if without:
        sys.exit(f"no seeds for {', '.join(without)}")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    print(f"{seeds.count} seeds in {folder}")


if __name__ == "__main__":
    main()
