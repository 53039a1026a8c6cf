"""Models in folders: trained, told of, run, scored and looked at from Python."""

import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import wave
import zlib

import numpy as np

import heed
from heed.senses import samples_of

TINY = {"width": 16, "ffn_width": 32, "heads": 2, "vocabulary_size": 200, "batch_tokens": 600, "validation_sentences": 8, "preset": "tiny"}


def setUpModule():
    global folder, translator, writer
    folder = tempfile.TemporaryDirectory()
    data = pathlib.Path(folder.name) / "data"
    heed.corpus(data, pairs=300, validation=10, test=4)
    train_translator(pathlib.Path(folder.name) / "translator", max_updates=30)
    heed.train(pathlib.Path(folder.name) / "writer", text=data / "train.en", valid=data / "valid.en", decoder_layers=2, max_updates=30,
               validate_every=30, **TINY)
    translator = heed.load(pathlib.Path(folder.name) / "translator")
    writer = heed.load(pathlib.Path(folder.name) / "writer")


def tearDownModule():
    folder.cleanup()


def train_translator(out, **options):
    data = pathlib.Path(folder.name) / "data"
    given = {"encoder_layers": 1, "decoder_layers": 2, "validate_every": 30, **TINY, **options}
    return heed.train(out, source=data / "train.de", target=data / "train.en", valid_source=data / "valid.de", valid_target=data / "valid.en",
                      **given)


def write_png(path, pixels, side=16):
    """A square picture of 8-bit red, green and blue."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + pixels[3 * side * y:3 * side * (y + 1)] for y in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Training(unittest.TestCase):
    def test_a_callback_is_told_and_stops_the_run(self):
        told = []

        def callback(event, report):
            told.append((event, report))
            return event == "update" and report["update"] >= 3

        result = train_translator(pathlib.Path(folder.name) / "stopped", max_updates=1000, callback=callback)
        self.assertEqual((result.stop, result.updates), ("interrupted", 3))
        events = [event for event, _ in told]
        self.assertEqual(events[:3], ["vocabulary", "start", "update"])
        self.assertEqual(events[-1], "save")
        report = told[2][1]
        self.assertEqual((report["update"], report["epoch"]), (1, 1))
        self.assertGreater(report["loss"], 0)
        told.clear()
        result = train_translator(pathlib.Path(folder.name) / "stopped", max_updates=5, callback=callback)
        self.assertIn(("resume", {"update": 3}), told)

    def test_what_a_callback_raises_comes_out_and_the_run_was_saved(self):
        def callback(event, report):
            if event == "update":
                raise KeyError("mine")

        out = pathlib.Path(folder.name) / "raised"
        with self.assertRaisesRegex(KeyError, "mine"):
            train_translator(out, max_updates=50, callback=callback)
        self.assertTrue((out / "training" / "state.safetensors").exists())

    def test_a_run_goes_on_from_a_model_in_full_or_by_factors(self):
        start = pathlib.Path(folder.name) / "translator"
        data = pathlib.Path(folder.name) / "data"
        text = {name.replace("-", "_"): data / file for name, file in (
            ("source", "train.de"), ("target", "train.en"), ("valid-source", "valid.de"), ("valid-target", "valid.en"))}
        options = {"start": start, "max_updates": 2, "validate_every": 2, "batch_tokens": 600, **text}
        full, adapter = pathlib.Path(folder.name) / "full", pathlib.Path(folder.name) / "adapter"
        self.assertEqual(heed.train(full, **options).updates, 2)
        self.assertEqual(heed.train(adapter, lora=2, dropout=0.1, **options).updates, 2)
        self.assertEqual(heed.load(full).vocabulary, translator.vocabulary)
        self.assertEqual(heed.load(adapter).parameters, translator.parameters)
        self.assertLess((adapter / "model.safetensors").stat().st_size, (full / "model.safetensors").stat().st_size / 4)
        for message, wrong in (("vocabulary_size means nothing with start", {"vocabulary_size": 10}),
                               ("heads means nothing with start", {"heads": 4}),
                               ("preset means nothing with start", {"preset": "tiny"}),
                               ("model means nothing with start", {"model": "luong"}),
                               ("lora_alpha and lora_targets go with lora", {"lora_alpha": 2.0})):
            with self.assertRaisesRegex(heed.Error, message):
                heed.train(pathlib.Path(folder.name) / "refused", **options, **wrong)
        with self.assertRaisesRegex(heed.Error, "lora, lora_alpha and lora_targets go with start"):
            train_translator(pathlib.Path(folder.name) / "refused", lora=2)

    def test_files_that_are_not_given_are_named(self):
        out, data = pathlib.Path(folder.name) / "refused", pathlib.Path(folder.name) / "data"
        with self.assertRaisesRegex(heed.Error, "heed.train: source must be given"):
            heed.train(out)
        with self.assertRaisesRegex(heed.Error, "heed.train: valid must be given"):
            heed.train(out, text=data / "train.en")
        with self.assertRaisesRegex(heed.Error, "heed.train: source means nothing where the task is language-model"):
            heed.train(out, text=data / "train.en", valid=data / "valid.en", source=data / "train.de")
        self.assertFalse(out.exists())

    def test_ctrl_c_saves_and_is_raised(self):
        for callback in (None, lambda event, report: None):
            out = pathlib.Path(folder.name) / f"interrupted-{callback is None}"
            state = out / "training" / "state.safetensors"
            timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                train_translator(out, max_updates=10**9, validate_every=10**6, callback=callback)
            self.assertTrue(state.exists())

    def test_validations_are_told(self):
        seen = []
        result = train_translator(pathlib.Path(folder.name) / "validated", max_updates=4, validate_every=2,
                                  callback=lambda event, report: seen.append(report) if event == "validation" else None)
        self.assertEqual([report["update"] for report in seen], [2, 4])
        self.assertEqual(set(seen[0]), {"update", "epoch", "loss", "bleu", "exact", "best", "samples"})
        self.assertIsNone(seen[0]["exact"])
        self.assertEqual(result.stop, "max_updates")

    def test_captions_are_learned_with_their_own_preset(self):
        scenes = pathlib.Path(folder.name) / "scenes"
        scenes.mkdir()
        for shade in range(4):
            write_png(scenes / f"{shade}.png", bytes([60 * shade] * 3 * 16 * 16))
        (scenes / "list").write_text("".join(f"{shade}.png\n" for shade in range(4)))
        (scenes / "captions").write_text("black\ndark\nlight\nwhite\n")
        seen, out = [], pathlib.Path(folder.name) / "captioner"
        given = dict(TINY, task="caption", vocabulary_size=30, patch=8, encoder_layers=1, decoder_layers=1, max_updates=2, validate_every=2)
        heed.train(out, source=scenes / "list", target=scenes / "captions", valid_source=scenes / "list", valid_target=scenes / "captions",
                   callback=lambda event, report: seen.append(report) if event in ("update", "validation") else None, **given)
        self.assertAlmostEqual(seen[0]["rate"], 0.003 / 300)  # the first of 300 updates that warm up to 0.003
        self.assertTrue(0 <= seen[-1]["exact"] <= 1)

    def test_options_that_make_no_sense_are_refused(self):
        for pattern, options in (("heed.train: rate: must be .*, but is \"fast\"", {"rate": "fast"}), ("unknown key \"widht\"", {"widht": 3}),
                                 ("preset must be one of", {"preset": "huge"}), ("model must be one of", {"model": "gpt"}),
                                 ("warmup must be from 0 up", {"warmup": -1}), ("no such", {"attention": "no such"})):
            with self.subTest(pattern), self.assertRaisesRegex(heed.Error, pattern):
                train_translator(pathlib.Path(folder.name) / "refused", **options)
        with self.assertRaisesRegex(heed.Error, "is not a folder|no such|No such"):
            heed.load(pathlib.Path(folder.name) / "nowhere")


class Translating(unittest.TestCase):
    def test_a_line_or_several(self):
        lines = ["Der Mann ruft.", "", "Guten Morgen."]
        texts = translator.translate(lines)
        self.assertEqual([type(text) for text in texts], [str] * 3)
        self.assertEqual((translator.translate(lines[0]), texts[1]), (texts[0], ""))
        best = translator.translations(lines, beam=3, best=2)
        self.assertEqual([len(one) for one in best], [2, 1, 2])
        first = best[0][0]
        self.assertEqual(translator.decode(first.tokens), first.text)
        self.assertEqual(len(first.token_scores), len(first.tokens) + 1)
        with self.assertRaisesRegex(heed.Error, "heed.Model.translate.*beam"):
            translator.translate("x", beam=0)
        with self.assertRaisesRegex(heed.Error, "unknown key \"beams\""):
            translator.translate("x", beams=3)
        with self.assertRaisesRegex(heed.Error, "long_lines must be one of fail, crop, empty, but is 'cut'"):
            translator.translate("x", long_lines="cut")

    def test_scores_are_those_of_the_logits(self):
        best = translator.translations(["Der Mann ruft."])[0][0]
        scores = translator.score(best.text, "Der Mann ruft.")
        logits = translator.logits(best.text, "Der Mann ruft.")
        self.assertEqual(logits.shape, (len(scores.tokens), translator.vocabulary))
        log_softmax = logits - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True)) - logits.max(-1, keepdims=True)
        np.testing.assert_allclose(log_softmax[np.arange(len(logits)), scores.tokens], scores.log_probabilities, atol=1e-4)
        self.assertAlmostEqual(scores.sum, sum(scores.log_probabilities))
        self.assertEqual(translator.score([best.text] * 2, ["Der Mann ruft."] * 2), [scores] * 2)

    def test_what_is_for_the_other_kind_of_model_is_refused(self):
        self.assertEqual((translator.translates, writer.translates), (True, False))
        self.assertIn("writer: continues text (generate), ", repr(writer))
        with self.assertRaisesRegex(heed.Error, r"writer: translates no text: it continues text \(generate\)"):
            writer.translate("x")
        with self.assertRaisesRegex(heed.Error, "language model"):
            writer.logits("x", "y")
        with self.assertRaisesRegex(heed.Error, "source must be given"):
            translator.logits("x")
        with self.assertRaisesRegex(heed.Error, r"translator: continues no text: it translates text \(translate\)"):
            list(translator.generate("x"))

    def test_ctrl_c_is_answered_in_the_middle_of_a_long_call(self):
        # A signal that waits for the end of a call is raised behind it, which looks the same; a second one is not there by then.
        def press():
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

        def answer(*_):
            answered.append(True)
            if len(answered) == 2:
                raise KeyboardInterrupt
            press()

        before = signal.signal(signal.SIGINT, answer)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        lines = ["The man calls the woman."] * 2000
        for name, call in (("translate", lambda: translator.translate(lines * 10)), ("complete", lambda: writer.complete(lines * 10, max_tokens=100)),
                           ("score", lambda: writer.score(lines * 200)), ("embed", lambda: writer.embed(lines * 300))):
            with self.subTest(name):
                answered = []
                press()
                with self.assertRaises(KeyboardInterrupt):
                    call()

    def test_options_are_numbers_of_any_library_and_finite(self):
        once = translator.translations(["Der Mann ruft."], repetition_penalty=1e6)[0][0].tokens
        self.assertEqual(len(once), len(set(once)))
        self.assertEqual(translator.translate("Der Mann ruft.", beam=np.int64(2), length_penalty=np.float32(0.5)),
                         translator.translate("Der Mann ruft.", beam=2, length_penalty=0.5))
        with self.assertRaisesRegex(heed.Error, "heed.Model.generate: temperature must be finite, but is nan"):
            list(writer.generate("x", temperature=float("nan")))
        with self.assertRaisesRegex(heed.Error, "heed.Model.generate: top_k"):
            list(writer.generate("x", top_k=np.array([1, 2])))
        with self.assertRaisesRegex(heed.Error, "heed.Model.generate: options are numbers, .* but one is of type object"):
            list(writer.generate("x", top_k=object()))

    def test_embeddings(self):
        for model, layers in ((translator, 1), (writer, 2)):
            vectors = model.embed(["The man calls.", "The woman calls."])
            self.assertEqual(vectors.shape, (2, 16))
            np.testing.assert_array_equal(model.embed("The man calls."), vectors[0])
            self.assertFalse(np.allclose(model.embed("The man calls.", pooling="first"), vectors[0]))
            states = model.hidden_states("The man calls.")
            self.assertEqual(states.shape[::2], (layers + 1, 16))
            for layer, tokens in enumerate(states):
                np.testing.assert_array_equal(model.embed("The man calls.", pooling="first", layer=layer), tokens[0])
                np.testing.assert_array_equal(model.embed("The man calls.", pooling="last", layer=layer - layers - 1), tokens[-1])
            with self.assertRaisesRegex(heed.Error, f"has layers 0 to {layers}, or -{layers + 1} to -1 from the end, and none of number 9"):
                model.embed("x", layer=9)
            with self.assertRaisesRegex(heed.Error, "pooling must be one of mean, first, last, but is 'max'"):
                model.embed("x", pooling="max")

    def test_calls_from_several_threads(self):
        wanted = translator.translate("Der Mann ruft.")
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(translator.translate("Der Mann ruft."))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [wanted] * 4)


class Generating(unittest.TestCase):
    def test_a_stream_is_the_continuation_in_pieces(self):
        options = {"max_tokens": 12, "temperature": 0.9, "seed": 3}
        whole = writer.complete(["The man"], **options)[0]
        pieces = list(writer.generate("The man", **options))
        self.assertEqual(writer.decode(writer.encode("The man")) + "".join(pieces), whole.text)
        self.assertGreater(len(pieces), 3)
        self.assertEqual(len(whole.tokens), 12)

    def test_a_continuation_ends_before_a_text_to_stop_at(self):
        options = {"max_tokens": 12, "temperature": 0.9, "seed": 3}
        text = "".join(writer.generate("The man", **options))
        stop = text[len(text) // 2:][:2]
        before = text[:text.index(stop)]
        self.assertEqual("".join(writer.generate("The man", stop=stop, **options)), before)
        self.assertTrue(writer.complete(["The man"], stop=["never", stop], **options)[0].text.endswith(before))
        self.assertEqual(writer.complete(["The man"], stop="The man", **options), writer.complete(["The man"], **options))
        with self.assertRaisesRegex(heed.Error, "stop: .* must not be empty"):
            writer.complete(["x"], stop="")

    def test_keys_and_values_are_kept_in_the_type_that_is_asked_for(self):
        exact, rounded = (writer.complete(["The man"], max_tokens=6, temperature=0, cache=cache)[0] for cache in ("f32", "int8"))
        self.assertNotEqual(exact.token_scores, rounded.token_scores)
        self.assertAlmostEqual(exact.token_scores[0], rounded.token_scores[0], delta=0.05)
        with self.assertRaisesRegex(heed.Error, "heed.Model.generate: cache"):
            writer.complete(["x"], cache="int4")

    def test_a_stream_may_be_left(self):
        before = threading.active_count()
        stream = writer.generate("The man", max_tokens=40)
        next(stream)
        stream.close()
        self.assertEqual(threading.active_count(), before)
        program = ("import heed, sys\nstream = heed.load(sys.argv[1]).generate('The man', max_tokens=40, temperature=0)\n"
                   "print(next(stream))  # and ends")
        run = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(folder.name) / "writer")], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for _ in writer.generate("The man", max_tokens=40):
            break
        self.assertEqual(threading.active_count(), before)

    def test_an_error_comes_out_of_the_stream(self):
        with self.assertRaisesRegex(heed.Error, "temperature"):
            next(writer.generate("The man", temperature=-1))
        with self.assertRaisesRegex(heed.Error, "heed.Model.generate: prompt 1: has .* tokens"):
            next(writer.generate("The man " * 200))

    def test_an_empty_prompt_begins_a_text(self):
        self.assertTrue("".join(writer.generate(max_tokens=8, temperature=0)))


class Hearing(unittest.TestCase):
    def test_samples_of_integers_are_those_of_a_wave_file_of_them(self):
        integers = np.array([0, 1, -1, 1000, 32767, -32768], np.int16)
        path = os.path.join(folder.name, "sound.wav")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(integers.astype("<i2").tobytes())
        wanted, rate = samples_of(path)
        self.assertEqual(rate, 8000)
        for samples in (integers, integers.astype(np.int32) << 16, wanted.astype(np.float64)):
            np.testing.assert_array_equal(samples_of((samples, rate))[0], wanted)

    def test_what_is_no_sound_is_refused(self):
        for samples, said in (([0, 1, -1], r"int64 \[3\]"), (np.zeros((2, 3)), r"float64 \[2, 3\]"), (np.zeros(3, np.uint8), "uint8"), ([], "float64")):
            with self.assertRaisesRegex(heed.Error, "floats from -1 to 1, int8, int16 or int32, but is " + said):
                samples_of((samples, 8000))
        with self.assertRaisesRegex(heed.Error, "not finite"):
            samples_of((np.array([0, np.nan]), 8000))


class Attending(unittest.TestCase):
    def test_every_layer_and_head_as_arrays(self):
        seen = translator.attention("Der Mann ruft.")
        self.assertEqual([(one.kind, one.layer) for one in seen.maps],
                         [("encoder", 0), ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1)])
        for one in seen.maps:
            keys = seen.source_tokens if one.kind != "decoder" else seen.decoder_tokens
            queries = seen.source_tokens if one.kind == "encoder" else seen.target_tokens
            self.assertEqual(one.weights.shape, (2, len(queries), len(keys)))
            np.testing.assert_allclose(one.weights.sum(-1), 1, atol=1e-5)
        self.assertEqual(seen.text, translator.translate("Der Mann ruft."))
        self.assertEqual(translator.attention("Der Mann ruft.", "The man").text, "The man")
        kept = seen.maps[0].weights
        copy = kept.copy()
        del seen
        np.testing.assert_array_equal(kept, copy)

    def test_pages_of_several_texts(self):
        page = heed.view(translator, "Der Mann ruft.", "Guten Morgen.").page()
        for text in ("Der Mann ruft.", "Guten Morgen.", "translator"):
            self.assertIn(text, page)
        self.assertIn("The man", heed.view(translator, "Der Mann ruft.", target="The man").page())

    def test_what_weights_come_from(self):
        seen = translator.attention("Der Mann ruft.", record="all").trace()
        one = seen["maps"][-1]
        scores = one["scale"] * np.einsum("hqd,hkd->hqk", one["q"], np.repeat(one["k"], len(one["q"]) // len(one["k"]), 0))
        found = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        np.testing.assert_allclose(found, one["weights"], atol=1e-5)
        self.assertEqual(len(seen["embeddings"]["source"]["before"]), len(seen["source"]["tokens"]))
        self.assertEqual(seen["source"]["words"][-1], -1)
        self.assertEqual(seen["steps"][0]["hypotheses"][0]["parent"], -1)
        self.assertNotIn("q", translator.attention("Der Mann ruft.").trace()["maps"][0])
        with self.assertRaisesRegex(heed.Error, "record must be of scores, embeddings, steps or 'all', but is 'keys'"):
            translator.attention("Der Mann ruft.", record="keys")
        with self.assertRaisesRegex(heed.Error, "no second text"):
            translator.attention("Der Mann ruft.", second="Ja.")

    def test_a_language_model_reads(self):
        seen = writer.attention("The man calls.")
        self.assertEqual([one.kind for one in seen.maps], ["decoder"] * 2)
        self.assertTrue((np.triu(seen.maps[0].weights[0], 1) == 0).all())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    unittest.main()
