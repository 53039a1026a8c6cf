"""heed.attention on NumPy arrays: every score, bias, mask and normaliser against the definition in NumPy, and the gradients against finite
differences."""

import unittest

import numpy as np
import numpy_attention as definition

import heed

B, H, L, D = 2, 4, 7, 8


def draw(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def operands(dtype=np.float32, key_heads=H, queries=L, keys=L):
    return (draw(B, H, queries, D, dtype=dtype), draw(B, key_heads, keys, D, dtype=dtype, seed=1), draw(B, key_heads, keys, D, dtype=dtype, seed=2))


def distances(queries=L, keys=L):
    """j minus the position of query i, the last query at the last key."""
    return np.arange(keys)[None, :] - (np.arange(queries)[:, None] + keys - queries)


class Definition(unittest.TestCase):
    def check(self, options, reference, q=None, k=None, v=None, tolerance=2e-5):
        if q is None:
            q, k, v = operands()
        out, weights = heed.attention(q, k, v, return_weights=True, **options)
        wanted, wanted_weights = definition.attention(q, k, v, **reference)
        np.testing.assert_allclose(weights, wanted_weights, rtol=0, atol=tolerance)
        np.testing.assert_allclose(out, wanted, rtol=0, atol=tolerance)
        np.testing.assert_allclose(heed.attention(q, k, v, **options), wanted, rtol=0, atol=tolerance)

    def test_scores(self):
        vector = draw(D, seed=3)
        for score, name in ((heed.scaled_dot(), "scaled_dot"), (heed.dot(), "dot"), (heed.cosine(), "cosine"),
                            (heed.squared_distance(), "squared_distance"), (heed.additive(vector), "additive")):
            with self.subTest(name):
                self.check({"score": score}, {"score": name, "vector": vector})

    def test_a_scale_takes_the_place_of_the_scores_own(self):
        self.check({"scale": 0.3}, {"scale": 0.3})
        self.check({"score": heed.cosine(), "scale": 10}, {"score": "cosine", "scale": 10})

    def test_linear_attention(self):
        for score, name in ((heed.elu(), "elu"), (heed.relu(), "relu")):
            with self.subTest(name):
                self.check({"score": score, "normaliser": heed.sum(), "mask": heed.causal()},
                           {"score": name, "normaliser": "sum", "allowed": distances() <= 0})

    def test_performer_is_near_softmax(self):
        q, k, v = (x / 2 for x in operands())
        out = heed.attention(q, k, v, score=heed.performer(heed.random_features(4096, D)), normaliser=heed.sum())
        np.testing.assert_allclose(out, definition.attention(q, k, v)[0], atol=0.1)

    def test_normalisers(self):
        for name in ("softmax", "sigmoid", "sparsemax", "entmax15"):
            with self.subTest(name):
                self.check({"normaliser": getattr(heed, name)()}, {"normaliser": name})
        sinks = draw(H, seed=4)
        self.check({"normaliser": heed.softmax(sinks)}, {"sinks": sinks})

    def test_biases(self):
        distance = distances()
        dense = draw(B, 1, L, L, seed=5)
        slopes = (2.0 ** (-8 * np.arange(1, H + 1) / H)).astype(np.float32)
        centre = np.linspace(0, L - 1, L, dtype=np.float32).reshape(1, 1, L)
        table = draw(32, H, seed=6)
        near = np.where(distance > 0, 16, 0) + np.abs(distance)  # T5's buckets of distances below 8
        for bias, number in (
                (heed.dense(dense), dense), (dense, dense), (dense[0, 0], dense[0, 0]),
                (heed.alibi(slopes), -slopes[:, None, None] * np.abs(distance)), (heed.alibi(), -slopes[:, None, None] * np.abs(distance)),
                (heed.relative(table), table[near].transpose(2, 0, 1)),
                (heed.gaussian(centre, sigma=2), -((np.arange(L) - centre[..., None]) ** 2) / 8),
                (heed.alibi(slopes) + heed.dense(dense), dense - slopes[:, None, None] * np.abs(distance))):
            with self.subTest(type(bias).__name__):
                self.check({"bias": bias}, {"bias": number})
        self.check({"soft_cap": 0.5, "bias": dense}, {"soft_cap": 0.5, "bias": dense})

    def test_masks(self):
        i, j, distance = np.arange(L)[:, None], np.arange(L)[None, :], distances()
        lengths = np.array([5, 3])
        short = (j < lengths[:, None, None, None])
        segment = np.array([[0, 0, 0, 1, 1, 2, 2]], np.int32)
        same = segment[:, None, :, None] == segment[:, None, None, :]
        some = draw(B, H, L, L, seed=7) > 0
        tiles = np.eye(4, dtype=bool)[None]
        for name, mask, allowed in (
                ("causal", heed.causal(), distance <= 0), ("window", heed.window(2, 0), (distance <= 0) & (distance >= -2)),
                ("open to the right", heed.window(1, None), distance >= -1), ("causal and window", heed.causal() & heed.window(2, 2),
                                                                              (distance <= 0) & (distance >= -2)),
                ("key lengths", heed.key_lengths(lengths), short), ("key lengths of a list", heed.key_lengths([5, 3]), short),
                ("prefix", heed.prefix([2, 4]), (distance <= 0) | (j < np.array([2, 4]).reshape(2, 1, 1, 1))),
                ("boolean", heed.boolean(some), some), ("a boolean array", some, some), ("of fewer axes", some[0, 0], some[0, 0]),
                ("segments", heed.segments(segment), same), ("strided", heed.strided(3), (np.abs(distance) <= 3) | (distance % 3 == 0)),
                ("fixed", heed.fixed(3), (i // 3 == j // 3) | (j % 3 == 2)),
                ("longformer", heed.longformer(1, global_positions=1), (np.abs(distance) <= 1) | (i < 1) | (j < 1)),
                ("dilated", heed.longformer(1, dilation=2), (np.abs(distance) <= 2) & (distance % 2 == 0)),
                ("around", heed.around(np.full((1, 1, L), 3.0, np.float32), 1), np.broadcast_to(np.abs(j - 3) <= 1, (L, L))),
                ("tiles", heed.tiles(tiles, 2, 2), i // 2 == j // 2),
                ("predicate", heed.predicate(lambda b, h, i, j: (i + j) % 2 == 0), (i + j) % 2 == 0),
                ("what a condition takes", heed.predicate(lambda b, h, i, j: [[], ["yes"]][(i + j) % 2]), (i + j) % 2 == 1)):
            with self.subTest(name):
                self.check({"mask": mask}, {"allowed": allowed})
                if isinstance(mask, heed.Mask):
                    np.testing.assert_array_equal(mask.array(B, H, L, L), np.broadcast_to(allowed, (B, H, L, L)))

    def test_bigbird_is_its_own_mask(self):
        mask = heed.bigbird(block=2, window=1, global_blocks=1, random=1, positions=L, seed=3)
        allowed = mask.array(B, H, L, L)
        self.assertFalse(allowed.all())
        self.assertTrue(allowed[..., :2].all())
        self.check({"mask": mask}, {"allowed": allowed})

    def test_anchors(self):
        q, k, v = operands(queries=3)
        i, j = np.arange(3)[:, None], np.arange(L)[None, :]
        self.check({"mask": heed.causal()}, {"allowed": j <= i + 4}, q, k, v)
        self.check({"mask": heed.causal("start")}, {"allowed": j <= i}, q, k, v)
        lengths = np.array([5, 4], np.int32)
        at = lengths.reshape(2, 1, 1, 1) - 3
        self.check({"mask": heed.causal("length") & heed.key_lengths(lengths)}, {"allowed": j <= i + at}, q, k, v)

    def test_types(self):
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-6), (np.float16, 2e-3)):
            with self.subTest(dtype.__name__):
                q, k, v = operands(dtype, key_heads=2)
                self.check({}, {}, q, k, v, tolerance)
                self.assertEqual(heed.attention(q, k, v).dtype, dtype)
        q, k, v = operands(key_heads=2)
        self.check({}, {}, q, k.astype(np.float16), v.astype(np.float16), 2e-6)

    def test_int8_keys_with_scales(self):
        q, k, v = operands()
        integers = [np.clip(np.round(x * 30), -127, 127).astype(np.int8) for x in (k, v)]
        scales = np.full((B, H, L), 1 / 30, np.float32)
        out = heed.attention(q, *integers, scales=(scales, scales))
        np.testing.assert_allclose(out, definition.attention(q, integers[0] / 30, integers[1] / 30)[0], atol=2e-6)

    def test_rows_of_a_cache_of_8_bits(self):
        q, k, v = operands()
        (few_k, k_scales), (few_v, v_scales) = heed.quantise_rows(k), heed.quantise_rows(v)
        self.assertEqual((few_k.dtype, k_scales.shape), (np.int8, (B, H, L)))
        np.testing.assert_allclose(few_k * k_scales[..., None], k, atol=np.abs(k).max() / 250)
        np.testing.assert_allclose(heed.attention(q, few_k, few_v, scales=(k_scales, v_scales)), heed.attention(q, k, v), atol=0.05)

    def test_packed_sequences(self):
        q, k, v = (x[:1] for x in operands())
        out = heed.attention(q, k, v, mask=heed.causal(), sequences=heed.packed([0, 3, L]))
        for rows in (slice(0, 3), slice(3, L)):
            length = rows.stop - rows.start
            wanted = definition.attention(q[:, :, rows], k[:, :, rows], v[:, :, rows], allowed=distances(length, length) <= 0)[0]
            np.testing.assert_allclose(out[:, :, rows], wanted, atol=2e-6)

    def test_paged_cache(self):
        q, k, v = operands(queries=1, keys=8)
        pool_k, pool_v = (np.ascontiguousarray(x.reshape(B, H, 2, 4, D).transpose(0, 2, 1, 3, 4).reshape(4, H, 4, D)) for x in (k, v))
        pages = heed.paged(np.arange(4, dtype=np.int32).reshape(2, 2))
        out, weights = heed.attention(q, pool_k, pool_v, sequences=pages, mask=heed.key_lengths([8, 8]), return_weights=True)
        self.assertEqual(weights.shape, (B, H, 1, 8))
        np.testing.assert_allclose(out, definition.attention(q, k, v)[0], atol=2e-6)


class Results(unittest.TestCase):
    def test_come_in_the_order_out_lse_weights_scores(self):
        q, k, v = operands()
        out, lse, weights, scores = heed.attention(q, k, v, mask=heed.causal(), return_lse=True, return_weights=True, return_scores="masked")
        np.testing.assert_allclose(np.exp(scores - lse[..., None]), weights, atol=1e-6)
        np.testing.assert_array_equal(scores == -np.inf, np.broadcast_to(distances() > 0, scores.shape))
        np.testing.assert_array_equal(out, heed.attention(q, k, v, mask=heed.causal()))
        np.testing.assert_allclose(heed.attention_weights(q, k, lse, mask=heed.causal()), weights, atol=1e-6)
        np.testing.assert_allclose(heed.attention_weights(q, k, lse, heads=[2, 0], rows=[6], mask=heed.causal()),
                                   weights[:, [2, 0], 6:], atol=1e-6)

    def test_a_row_without_a_key_is_zero(self):
        q, k, v = operands()
        out, lse = heed.attention(q, k, v, mask=heed.key_lengths([0, 3]), return_lse=True)
        self.assertTrue((out[0] == 0).all() and (lse[0] == -np.inf).all())

    def test_explain_names_the_plan(self):
        q, k, v = operands()
        self.assertIn("tiled", heed.explain(q, k, v, normaliser=heed.sparsemax()))

    def test_parts_merge_to_the_whole(self):
        q, k, v = operands()
        whole, whole_lse = heed.attention(q, k, v, return_lse=True)
        parts = [heed.attention(q, k[:, :, rows], v[:, :, rows], return_lse=True) for rows in (slice(0, 2), slice(2, L))]
        out, lse = heed.merge(*parts[0], *parts[1])
        np.testing.assert_allclose(out, whole, atol=1e-6)
        np.testing.assert_allclose(lse, whole_lse, atol=1e-6)

    def test_the_thread_count_changes_no_bit(self):
        q, k, v = draw(2, 4, 300, 32), draw(2, 4, 300, 32, seed=1), draw(2, 4, 300, 32, seed=2)
        before = heed.threads()
        try:
            heed.set_threads(1)
            alone = heed.attention(q, k, v)
            heed.set_threads(3)
            np.testing.assert_array_equal(heed.attention(q, k, v), alone)
        finally:
            heed.set_threads(before)


class Gradients(unittest.TestCase):
    def check(self, wanted, options_of, parameters):
        """Central differences of sum(out * dout) + sum(lse * dlse) by each number of each parameter, in float64."""
        dout, dlse = draw(B, H, L, D, dtype=np.float64, seed=8), draw(B, H, L, dtype=np.float64, seed=9)

        def loss():
            out, lse = heed.attention(parameters["q"], parameters["k"], parameters["v"], return_lse=True, **options_of(parameters))
            return (out * dout).sum() + (lse * dlse).sum()

        q, k, v = (parameters[name] for name in "qkv")
        out, lse = heed.attention(q, k, v, return_lse=True, **options_of(parameters))
        gradient = heed.attention_backward(q, k, v, out, lse, dout, dlse, wanted=wanted, **options_of(parameters))
        for name in wanted:
            numbers, step = parameters[name].reshape(-1), 1e-6
            differences = np.empty_like(numbers)
            for n in range(len(numbers)):
                kept = numbers[n]
                numbers[n] = kept + step
                more = loss()
                numbers[n] = kept - step
                differences[n] = (more - loss()) / (2 * step)
                numbers[n] = kept
            np.testing.assert_allclose(getattr(gradient, name).reshape(-1), differences, rtol=1e-6, atol=1e-7, err_msg=name)

    def test_agree_with_differences(self):
        q, k, v = operands(np.float64, key_heads=2)
        base = {"q": q[:, :, :3].copy(), "k": k[:, :, :4].copy(), "v": v[:, :, :4].copy()}
        global L  # the sums above are over three rows
        everything = {**base, "bias": draw(1, H, 3, 4, dtype=np.float64, seed=1), "sinks": draw(H, dtype=np.float64, seed=2),
                      "relative": draw(8, H, dtype=np.float64, seed=3), "centre": draw(1, 1, 3, dtype=np.float64, seed=4),
                      "additive_vector": draw(D, dtype=np.float64, seed=5)}
        rows, L = L, 3
        try:
            self.check(tuple(base), lambda p: {"mask": heed.causal()}, base)
            self.check(tuple(everything), lambda p: {
                "bias": heed.dense(p["bias"]) + heed.relative(p["relative"], max_distance=4) + heed.gaussian(p["centre"], 2),
                "normaliser": heed.softmax(p["sinks"]), "score": heed.additive(p["additive_vector"])}, everything)
        finally:
            L = rows

    def test_dropout_is_drawn_again(self):
        q, k, v = operands()
        options = {"dropout": heed.Dropout(0.5, seed=3)}
        out, lse = heed.attention(q, k, v, return_lse=True, **options)
        self.assertFalse(np.array_equal(out, heed.attention(q, k, v)))
        np.testing.assert_array_equal(out, heed.attention(q, k, v, **options))
        dout = np.zeros_like(out)
        dout[0, 0, 0] = out[0, 0, 0]
        gradient = heed.attention_backward(q, k, v, out, lse, dout, wanted=("v",), **options)
        self.assertIsNone(gradient.q)
        self.assertAlmostEqual((gradient.v * v).sum(), (out[0, 0, 0] ** 2).sum(), places=4)

    def test_a_name_that_is_no_gradient_is_refused(self):
        q, k, v = operands()
        out, lse = heed.attention(q, k, v, return_lse=True)
        with self.assertRaisesRegex(heed.Error, "wanted may have .* but has 'alibi'"):
            heed.attention_backward(q, k, v, out, lse, out, wanted=("alibi",))
        with self.assertRaisesRegex(heed.Error, "'sinks' is wanted, but the call has none"):
            heed.attention_backward(q, k, v, out, lse, out, wanted=("sinks",))


class Rotary(unittest.TestCase):
    def test_turns_pairs_by_their_position(self):
        x = draw(B, H, L, D)
        cos, sin = heed.rotary_tables(L + 3, D, base=100)
        turned = heed.rotary(x, cos, sin, offset=3)
        angles = np.arange(3, L + 3)[:, None] * 100.0 ** (-2 * np.arange(D // 2) / D)
        z = (x[..., : D // 2] + 1j * x[..., D // 2:]) * np.exp(1j * angles)
        np.testing.assert_allclose(turned, np.concatenate([z.real, z.imag], -1), atol=1e-5)
        np.testing.assert_allclose(heed.rotary_backward(turned, cos, sin, offset=3), x, atol=1e-5)
        in_place = x.copy()
        self.assertIs(heed.rotary(in_place, cos, sin, positions=np.arange(3, L + 3)[None], out=in_place), in_place)
        np.testing.assert_array_equal(in_place, turned)


if __name__ == "__main__":
    unittest.main()
