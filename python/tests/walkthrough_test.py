"""heed.walkthrough: the numbers of each step are those of the operator."""

import json
import unittest

import numpy as np

import heed


class Walkthrough(unittest.TestCase):
    def test_the_two_by_two_example(self):
        walk = heed.walkthrough()
        np.testing.assert_allclose(walk.step("weights").matrices[0].values, [[0.5, 0.5], [0.360, 0.640]], atol=5e-4)
        self.assertIn("weights", str(walk))
        self.assertIn("0.360", walk.text(digits=3))
        self.assertTrue(walk._repr_html_().startswith("<svg"))
        with self.assertRaisesRegex(heed.Error, "there is no step 'sums'; there are: inputs, scores"):
            walk.step("sums")

    def test_ones_own_arrays(self):
        q, k, v = (np.random.default_rng(n).standard_normal((2, 3, 4)).astype(np.float32) for n in range(3))
        walk = heed.walkthrough(q, k, v, causal=True, scale=0.7)
        out, weights = heed.attention(q[None].astype(float), k[None].astype(float), v[None].astype(float), mask=heed.causal(), scale=0.7,
                                      return_weights=True)
        for head in range(2):
            np.testing.assert_array_equal(walk.step("weights").matrices[head].values, weights[0, head])
            np.testing.assert_array_equal(walk.step("output").matrices[head].values, out[0, head])
        masked = heed.walkthrough(q[0], k[0], v[0], mask=np.tri(3, dtype=bool))
        self.assertEqual(masked.step("masked").matrices[0].values[0, 1], -np.inf)
        self.assertEqual([matrix.head for matrix in walk.step("weights").matrices], [0, 1])
        self.assertEqual(json.loads(walk.json())["steps"][-1]["name"], "output")

    def test_rows_and_what_projects_them(self):
        rng = np.random.default_rng(0)
        x, w_q, w_k, w_v, w_o = (rng.standard_normal(shape) for shape in ((3, 4), (4, 6), (4, 6), (4, 6), (6, 4)))
        walk = heed.walkthrough(x=x, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, heads=2, labels=["I", "am", "here"])
        q, k, v = ((x @ w).reshape(3, 2, 3).transpose(1, 0, 2)[None] for w in (w_q, w_k, w_v))
        out = heed.attention(q, k, v)[0].transpose(1, 0, 2).reshape(3, 6) @ w_o
        np.testing.assert_allclose(walk.step("projection").matrices[1].values, out, atol=1e-12)
        self.assertEqual(walk.step("weights").matrices[0].columns, ["I", "am", "here"])
        with self.assertRaisesRegex(heed.Error, "W_K must have a row for each column of the memory"):
            heed.walkthrough(x=x, w_q=w_q, w_k=w_k, w_v=w_v, memory=np.ones((2, 5)))
        with self.assertRaisesRegex(heed.Error, "w_k, w_v must be given too"):
            heed.walkthrough(x=x, w_q=w_q)

    def test_a_score_and_a_normaliser_of_ones_own(self):
        q, k, v = [[1, 0], [0, 1]], [[1, 0], [1, 1]], [[1, 2], [3, 4]]
        walk = heed.walkthrough(q, k, v, attention="dot + sparsemax")
        np.testing.assert_allclose(walk.step("weights").matrices[0].values, [[0.5, 0.5], [0, 1]], atol=1e-12)
        self.assertIn("tau", str(walk))

    def test_chinese_has_the_same_figures(self):
        for example in ("thinking-machines", "gqa", "windows"):
            one, other = heed.walkthrough(example=example), heed.walkthrough(example=example, language="zh")
            self.assertEqual([step.name for step in one.steps], [step.name for step in other.steps])
            self.assertNotEqual(one.steps[0].title, other.steps[0].title)
            for step, same in zip(one.steps, other.steps):
                for matrix, figures in zip(step.matrices, same.matrices):
                    np.testing.assert_array_equal(matrix.values, figures.values)

    def test_the_papers_examples(self):
        for example in ("thinking-machines", "bahdanau", "luong", "positions", "masks", "flash-attention"):
            self.assertGreater(len(heed.walkthrough(example=example).steps), 3)
        with self.assertRaisesRegex(heed.Error, "there is no example 'vaswani'; there are: thinking-machines, "):
            heed.walkthrough(example="vaswani")
        with self.assertRaisesRegex(heed.Error, "give no q, k, v"):
            heed.walkthrough(np.eye(2), np.eye(2), np.eye(2), example="luong")
        for name, value in (("causal", True), ("scale", 2.0), ("attention", "dot"), ("labels", ["a", "b"]), ("heads", 2)):
            with self.assertRaisesRegex(heed.Error, f"give no {name}"):
                heed.walkthrough(example="luong", **{name: value})
        with self.assertRaisesRegex(heed.Error, "heed.walkthrough: k, v must be given too"):
            heed.walkthrough(np.eye(2))

    def test_labels_are_those_of_the_keys_too(self):
        self.assertEqual(heed.walkthrough(labels=["I", "am"]).step("weights").matrices[0].columns, ["I", "am"])
        with self.assertRaises(heed.Error):
            heed.walkthrough([[1, 0]], [1, 0], [[1, 2]], labels=["I"])


if __name__ == "__main__":
    unittest.main()
