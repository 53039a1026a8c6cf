"""Scores, biases, masks and normalisers: how they are written, joined, copied and pickled."""

import copy
import pickle
import unittest

import numpy as np

import heed

TABLE = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
ALLOWED = np.tri(4, dtype=bool)
NUMBERS = np.linspace(0, 1, 16, dtype=np.float32).reshape(4, 4)

# As they are made, and as they are written.
OPTIONS = [
    (lambda: heed.causal(), "heed.causal()"),
    (lambda: heed.window(2, right=None, anchor="start"), "heed.window(2, right=None, anchor='start')"),
    (lambda: heed.causal() & heed.window(1, 0) & heed.boolean(ALLOWED), "heed.causal() & heed.window(1, 0) & heed.boolean(<bool [4, 4]>)"),
    (lambda: heed.strided(2), "heed.strided(2)"),
    (lambda: heed.alibi() + heed.dense(NUMBERS), "heed.alibi() + heed.dense(<float32 [4, 4]>)"),
    (lambda: heed.relative(TABLE, max_distance=16), "heed.relative(<float32 [4, 2]>, max_distance=16)"),
    (lambda: heed.squared_distance(), "heed.squared_distance()"),
    (lambda: heed.additive(TABLE.ravel()), "heed.additive(<float32 [8]>)"),
    (lambda: heed.softmax(TABLE[0]), "heed.softmax(<float32 [2]>)"),
    (lambda: heed.entmax15(), "heed.entmax15()"),
    (lambda: heed.Dropout(0.25, 3), "heed.Dropout(0.25, seed=3, stream=0)"),
]


def argument(option):
    names = {heed.Mask: "mask", heed.Bias: "bias", heed.Score: "score", heed.Normaliser: "normaliser", heed.Dropout: "dropout"}
    return {names[type(option)]: option}


class Options(unittest.TestCase):
    def setUp(self):
        draws = np.random.default_rng(1)
        self.q, self.k, self.v = (draws.standard_normal((1, 2, 4, 8)).astype(np.float32) for _ in range(3))

    def test_are_written_as_they_are_made(self):
        for make, text in OPTIONS:
            self.assertEqual(repr(make()), text)

    def test_copies_and_pickles_ask_for_the_same(self):
        for make, text in OPTIONS:
            with self.subTest(text):
                option = make()
                expected = heed.attention(self.q, self.k, self.v, **argument(option))
                for other in (copy.copy(option), copy.deepcopy(option), pickle.loads(pickle.dumps(option))):
                    self.assertEqual(repr(other), text)
                    self.assertTrue(np.array_equal(heed.attention(self.q, self.k, self.v, **argument(other)), expected))

    def test_a_deep_copy_has_arrays_of_its_own(self):
        numbers = NUMBERS.copy()
        bias = heed.dense(numbers)
        other = copy.deepcopy(bias)
        numbers[:] = 7
        self.assertIs(bias.arrays["bias"], numbers)
        self.assertTrue(np.array_equal(other.arrays["bias"], NUMBERS))

    def test_join_with_arrays_on_either_side(self):
        causal = heed.causal().array(1, 1, 4, 4)
        every_other = np.arange(4) % 2 == 0
        for mask in (heed.causal() & every_other, every_other & heed.causal()):
            self.assertTrue(np.array_equal(mask.array(1, 1, 4, 4), causal & every_other))
        expected = heed.attention(self.q, self.k, self.v, bias=heed.alibi() + heed.dense(NUMBERS))
        for bias in (heed.alibi() + NUMBERS, NUMBERS + heed.alibi()):
            self.assertTrue(np.array_equal(heed.attention(self.q, self.k, self.v, bias=bias), expected))

    def test_join_with_nothing_else(self):
        for other in (3, "causal", None, heed.alibi()):
            with self.assertRaises(TypeError):
                heed.causal() & other
        with self.assertRaisesRegex(heed.Error, "boolean"):
            (heed.causal() & NUMBERS).array(1, 1, 4, 4)


if __name__ == "__main__":
    unittest.main()
