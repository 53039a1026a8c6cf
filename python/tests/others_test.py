"""Models that others trained, through heed.load: the numbers that their own toolkits state."""

import datetime
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import numpy as np

import heed

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared" / "data") / "models"
if not MODELS.is_dir():
    print("skipped: no models in $HEED_DATA or ../shared/data")
    sys.exit(77)


def cases(name):
    return [case for case in json.loads((MODELS / name / "cases.json").read_text())["cases"] if "text" in case]


class OthersModels(unittest.TestCase):
    def test_a_language_models_logits_are_those_of_the_ids_alone(self):
        model = heed.load(MODELS / "bloom-tiny")
        for case in cases("bloom-tiny"):
            self.assertEqual(list(model.encode(case["text"])), case["input_ids"])
            stated = np.load(MODELS / "bloom-tiny" / case["expect"]["logits"])
            np.testing.assert_allclose(model.logits(case["text"]).reshape(stated.shape), stated, atol=5e-6, rtol=1e-6)
            scores = model.score(case["text"])
            log_softmax = stated.astype(np.float64) - np.log(np.exp(stated.astype(np.float64)).sum(-1, keepdims=True))
            wanted = log_softmax.reshape(-1, log_softmax.shape[-1])[np.arange(len(case["input_ids"]) - 1), case["input_ids"][1:]]
            np.testing.assert_allclose(scores.log_probabilities, wanted, atol=1e-5)

    def test_a_folder_says_how_it_is_decoded(self):
        with tempfile.TemporaryDirectory() as scratch:
            told = pathlib.Path(scratch) / "told"
            shutil.copytree(MODELS / "t5-tiny-d8", told)
            (told / "generation_config.json").write_text('{"num_beams": 2, "no_repeat_ngram_size": 2, "max_length": 12}')
            plain, model = heed.load(MODELS / "t5-tiny-d8"), heed.load(told)
            options = {"beam": 2, "no_repeat_ngram": 2, "max_tokens": 11}
            self.assertEqual(model.translate("summarize: a"), plain.translate("summarize: a", **options))
            self.assertEqual(model.translate("summarize: a", max_tokens=3), plain.translate("summarize: a", **{**options, "max_tokens": 3}))
            self.assertNotEqual(model.translate("summarize: a"), plain.translate("summarize: a"))

    def test_a_language_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(heed.Error, "t5-tiny-d8: 'deu_Latn' is no language of the model"):
            heed.load(MODELS / "t5-tiny-d8", to_language="deu_Latn")

    def test_its_maps_are_of_its_tokens(self):
        model = heed.load(MODELS / "bloom-tiny")
        case = cases("bloom-tiny")[0]
        length = len(case["input_ids"])
        seen = model.attention(case["text"])
        self.assertEqual(len(seen.maps), 5)
        for one in seen.maps:
            self.assertEqual(one.weights.shape, (4, length, length))
            np.testing.assert_allclose(one.weights.sum(-1), 1, atol=1e-6)

    def test_an_encoders_vectors_are_of_what_its_template_makes_of_a_text(self):
        model = heed.load(MODELS / "bert-tiny-classifier")
        for case in cases("bert-tiny-classifier"):
            hidden = np.load(MODELS / "bert-tiny-classifier" / case["expect"]["last_hidden_state"])
            hidden = hidden.reshape(-1, hidden.shape[-1])
            np.testing.assert_allclose(model.embed(case["text"]), hidden.mean(0), atol=1e-5)
            np.testing.assert_allclose(model.embed([case["text"]], pooling="first")[0], hidden[0], atol=1e-5)
            of_length_one = model.embed(case["text"], normalise=True)
            np.testing.assert_allclose(of_length_one, hidden.mean(0) / np.linalg.norm(hidden.mean(0)), atol=1e-5)
        fits = "the " * 170  # of three pieces each, between [CLS] and [SEP]
        with self.assertRaisesRegex(heed.Error, "line:1: has 515 tokens, and the model can hold 512"):
            model.embed(fits + "the")
        np.testing.assert_array_equal(model.embed(fits + "the", cut=True), model.embed(fits))
        with self.assertRaisesRegex(heed.Error, 'the model\'s folder has no prompt "query", but none'):
            model.embed("the", prompt="query")
        with self.assertRaisesRegex(heed.Error, r"bert-tiny-classifier: predicts no next token: it tells the class of a text"):
            model.logits("x", "y")
        self.assertFalse(model.translates)

    def test_a_classifiers_probabilities_are_those_of_its_logits(self):
        model = heed.load(MODELS / "bert-tiny-classifier")
        texts = [case["text"] for case in cases("bert-tiny-classifier")]
        for case, classes in zip(cases("bert-tiny-classifier"), model.classify(texts)):
            logits = np.load(MODELS / "bert-tiny-classifier" / case["expect"]["logits"]).ravel().astype(np.float64)
            wanted = np.exp(logits) / np.exp(logits).sum()
            np.testing.assert_allclose([classes[f"LABEL_{i}"] for i in range(len(wanted))], wanted, atol=1e-6)
            self.assertEqual(list(classes.values()), sorted(classes.values(), reverse=True))
            self.assertEqual(model.classify(case["text"]), classes)
        with self.assertRaisesRegex(heed.Error, "no masked words"):
            model.fill("a [MASK] b")
        with self.assertRaisesRegex(heed.Error, "tells no picture's class: it tells the class of a text"):
            heed.PictureClassifier(MODELS / "bert-tiny-classifier")
        with self.assertRaisesRegex(heed.Error, "hears"):
            heed.Transcriber(MODELS / "bert-tiny-classifier")

    def test_a_story_goes_on_from_a_gguf_file(self):
        model = heed.load(MODELS / "llama-stories260k-hf" / "stories260K.gguf")
        text = model.complete(["Once upon a time"], max_tokens=12, temperature=0)[0].text
        self.assertTrue(text.startswith("Once upon a time, there was"), text)

    def test_a_chat_is_what_goes_on_behind_its_templates_text(self):
        with tempfile.TemporaryDirectory() as scratch:
            taught = pathlib.Path(scratch) / "taught"
            shutil.copytree(MODELS / "bloom-tiny", taught)
            (taught / "chat_template.jinja").write_text(
                "{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}{{ strftime_now('%-d %B') }}{{ mood }}")
            model = heed.load(taught)
            told = {"today": datetime.date(2026, 11, 29), "names": {"mood": [1, None]}}
            text = model.chat_text("The dog", **told)
            self.assertEqual(text, "user: The dog;29 November[1, None]")
            talk = [{"role": "user", "content": "The dog"}, {"role": "assistant", "content": "A"}, {"role": "user", "content": "cat"}]
            for messages in ("The dog", talk):
                answer = "".join(model.chat(messages, max_tokens=8, temperature=0, **told))
                self.assertEqual(answer, "".join(model.generate(model.chat_text(messages, **told), max_tokens=8, temperature=0)))
            with self.assertRaisesRegex(heed.Error, "line 1: 'strftime_now' is undefined"):
                next(model.chat("The dog"))
            with self.assertRaisesRegex(heed.Error, r"heed.Model.chat: messages\[0\] must have"):
                model.chat([{"role": "user", "content": ["parts"]}])
            with self.assertRaisesRegex(heed.Error, "heed.Model.chat: .*temper"):
                next(model.chat("The dog", temper=1, **told))
        with self.assertRaisesRegex(heed.Error, "chat_template"):
            next(heed.load(MODELS / "bloom-tiny").chat("The dog"))


if __name__ == "__main__":
    unittest.main()
