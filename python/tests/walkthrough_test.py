"""heed.walkthrough: the numbers of each step are those of the operator."""

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

    def test_the_papers_examples(self):
        for example in ("thinking-machines", "bahdanau", "luong", "positions"):
            self.assertGreater(len(heed.walkthrough(example=example).steps), 3)
        with self.assertRaisesRegex(heed.Error, "example must be one of"):
            heed.walkthrough(example="vaswani")
        with self.assertRaisesRegex(heed.Error, "give no q, k and v"):
            heed.walkthrough(np.eye(2), np.eye(2), np.eye(2), example="luong")
        with self.assertRaisesRegex(heed.Error, "heed.walkthrough: k must be"):
            heed.walkthrough(np.eye(2))


if __name__ == "__main__":
    unittest.main()
