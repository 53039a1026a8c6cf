"""heed.view: arrays of any library as a page, in a notebook and in files."""

import pathlib
import tempfile
import unittest

import numpy as np

import heed


def weights(heads=2, queries=3, keys=3, seed=0):
    x = np.random.default_rng(seed).random((heads, queries, keys)).astype(np.float32)
    return x / x.sum(-1, keepdims=True)


class View(unittest.TestCase):
    def test_arrays_become_maps_without_a_change(self):
        x = weights()
        seen = heed.view(x, rows=["a", "b", "c"]).shown[0]
        self.assertEqual([(one.path, one.kind, one.layer) for one in seen.maps], [("attention", "decoder", 0)])
        np.testing.assert_array_equal(seen.maps[0].weights, x)
        self.assertEqual(seen.target_tokens, ["a", "b", "c"])
        layers = heed.view([x, weights(seed=1)], rows="abc").shown[0]
        self.assertEqual([(one.path, one.layer) for one in layers.maps], [("layers.0", 0), ("layers.1", 1)])
        named = heed.view({"first.attn": x, "second.attn": x[0]}, kind="encoder").shown[0]
        self.assertEqual([one.weights.shape for one in named.maps], [(2, 3, 3), (1, 3, 3)])
        self.assertEqual((named.source_tokens, named.maps[0].kind), (["0", "1", "2"], "encoder"))
        cross = heed.view(weights(2, 3, 4), rows="abc", columns="wxyz").shown[0]
        self.assertEqual((cross.maps[0].kind, cross.source_tokens, cross.target_tokens), ("cross", list("wxyz"), list("abc")))
        batch = heed.view(x[None].astype(np.float64), rows="abc").shown[0]
        np.testing.assert_array_equal(batch.maps[0].weights, x)

    def test_a_notebook_gets_a_fragment_and_a_file_the_page(self):
        view = heed.view(weights(), rows=["<script>", '"b"', "c & d"], name="mine", language="zh", height=300)
        shown = view._repr_html_()
        self.assertIn(view.page(fragment=True), shown)
        self.assertIn("max-height: 300px", shown)
        self.assertEqual((shown.count("<script"), shown.count("<html")), (2, 0))
        self.assertTrue(view.page().startswith("<!doctype html>"))
        self.assertIn('<html lang="zh">', view.page())
        self.assertNotIn("<script>\"", view.page())
        self.assertIn("mine", view.page())
        with self.assertRaisesRegex(heed.Error, "language"):
            heed.view(weights(), rows="abc", language="tlh").page()

    def test_several_on_one_page(self):
        one, other = (heed.view(weights(seed=seed), rows=[f"{name}{n}" for n in range(3)]).shown[0] for seed, name in enumerate("ab"))
        page = heed.view(one, other).page()
        for token in ("a0", "b2"):
            self.assertIn(token, page)

    def test_files(self):
        view = heed.view([weights(), weights(seed=1)], rows="abc")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, begins in (("map.svg", b"<svg"), ("map.PNG", b"\x89PNG"), ("map.pdf", b"%PDF"), ("page.html", b"<!doctype html>")):
                view.save(root / name)
                self.assertTrue((root / name).read_bytes().startswith(begins), name)
            view.save(root / "head.svg", layer=0, head=1, title="Mine")
            self.assertIn(b"Mine", (root / "head.svg").read_bytes())
            self.assertNotEqual(view.shown[0].picture(head="all"), view.shown[0].picture(head=0))
            one = view.shown[0]
            self.assertEqual(one.picture(head=[1]), one.picture(head=1))
            different = [one.picture(**options) for options in (
                {}, {"head": "all"}, {"lines": True}, {"word": "b"}, {"word": "b", "head": 0}, {"width": "8cm"}, {"font_size": 14}, {"title": ""})]
            self.assertEqual(len(set(different)), len(different))
            self.assertEqual(one.picture(word="b"), one.picture(word="b:1", head="all"))
            for options, message in (({"head": [0, 9]}, "head must be"), ({"width": "8"}, "8"), ({"word": "z"}, "z"), ({"font": "no such"}, "no such")):
                with self.assertRaisesRegex(heed.Error, message):
                    one.picture(**options)
            for path, options in (("map.gif", {}), ("page.html", {"head": 1})):
                with self.assertRaisesRegex(heed.Error, "must end in"):
                    view.save(root / path, **options)

    def test_traces_are_files_and_dicts_with_arrays(self):
        x = weights(2, 3, 4)
        view = heed.view(x, rows="abc", columns="wxyz", name="mine")
        seen = view.shown[0].trace()
        self.assertEqual((seen["model"], seen["source"]["tokens"], seen["maps"][0]["kind"]), ("mine", list("wxyz"), "cross"))
        np.testing.assert_array_equal(seen["maps"][0]["weights"], x)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("one.json", "one.npz"):
                view.save(root / name)
                again = heed.view(root / name)
                np.testing.assert_array_equal(again.shown[0].maps[0].weights, x)
                self.assertEqual(again.page(), view.page())
            archive = np.load(root / "one.npz")
            np.testing.assert_array_equal(archive["traces[0].maps[0].weights"], x)
        changed = view.traces()
        changed["traces"][0]["maps"][0]["weights"] = np.flip(x, -1)
        changed["traces"][0]["maps"].append({"kind": "cross", "weights": x[:1].tolist()})
        other = heed.view(changed).shown[0]
        np.testing.assert_array_equal(other.maps[0].weights, np.flip(x, -1))
        self.assertEqual((other.maps[1].layer, other.maps[1].weights.shape), (1, (1, 3, 4)))
        changed["traces"][0]["maps"][0]["weights"] = x[:, :2]
        with self.assertRaisesRegex(heed.Error, r"heed.view: traces\[0\].maps\[0\].queries: must be that of the weights, 2, but is 3"):
            heed.view(changed)

    def test_what_makes_no_sense_is_refused(self):
        x = weights()
        for pattern, call in (("must be an array .* of one text, but is \\[2, 2, 3, 3\\]", lambda: heed.view(np.stack([x, x]))),
                              ("one for each token, but is 3 x 3", lambda: heed.view(x, rows="ab")),
                              ("must be finite", lambda: heed.view(np.full((1, 2, 2), np.nan, np.float32))),
                              ("give rows alone", lambda: heed.view(x, rows="abc", columns="abc", kind="decoder")),
                              ("kind must be one of", lambda: heed.view(x, kind="self")),
                              ("takes the weights of one text", lambda: heed.view(x, x)),
                              ("head must be 'mean', 'all' or from 0 to 1, but is 2", lambda: heed.view(x).shown[0].picture(head=2)),
                              ("there is no map of layer 3", lambda: heed.view(x).shown[0].picture(layer=3)),
                              ("needs a model and a text", heed.view), ("but is str", lambda: heed.view("text"))):
            with self.subTest(pattern), self.assertRaisesRegex(heed.Error, pattern):
                call()


class Metrics(unittest.TestCase):
    hypotheses, references = ["the cat sat on the mat", "a dog runs"], ["the cat sat on a mat", "the dog runs"]

    def test_bleu(self):
        score = heed.bleu(self.hypotheses, self.references)
        self.assertEqual(score.summary, heed.bleu(self.hypotheses, self.references).summary)
        self.assertAlmostEqual(score.precisions[0], 100 * 7 / 9)  # by hand: five of six words, and two of three
        self.assertIn("tok:13a", score.signature)
        self.assertAlmostEqual(heed.bleu(self.references, self.references).score, 100)
        self.assertGreater(heed.bleu(self.hypotheses, self.references, self.hypotheses).score, score.score)
        with self.assertRaisesRegex(heed.Error, "smoothing|none, floor"):
            heed.bleu(self.hypotheses, self.references, smoothing="much")

    def test_chrf_and_ter(self):
        self.assertEqual(heed.chrf(self.references, self.references).score, 100)
        self.assertEqual(heed.chrf(self.hypotheses, self.references, word_order=2).name, "chrF2++")
        score = heed.ter(self.hypotheses, self.references)
        self.assertEqual((score.edits, score.reference_length), (2, 9))
        self.assertAlmostEqual(score.score, 100 * 2 / 9)

    def test_aer(self):
        score = heed.aer(["0-0 1-1", "0-1"], ["1-1 2p2", "1-1"], one_based=True)
        self.assertEqual((score.links, score.precision, score.recall), (3, 2 / 3, 0.5))
        self.assertAlmostEqual(score.error_rate, 1 - (1 + 2) / (3 + 2))


if __name__ == "__main__":
    unittest.main()
