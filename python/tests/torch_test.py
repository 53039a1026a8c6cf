"""heed.torch: tensors are shared, gradients agree with differences to the second order, and what has a name of torch's means what it means
there. Skipped where torch is not installed (script/setup peers)."""

import copy
import io
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: torch is not installed (script/setup peers does it)")
    sys.exit(77)

import heed
import heed.torch
from heed.torch import definition
from heed.torch.differentiable import Call

B, H, L, D = 2, 4, 5, 4


def draw(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def operands(dtype=torch.float64, key_heads=H, queries=L, keys=L):
    return draw(B, H, queries, D, dtype=dtype), draw(B, key_heads, keys, D, dtype=dtype, seed=1), draw(B, key_heads, keys, D, dtype=dtype, seed=2)


class Sharing(unittest.TestCase):
    def test_results_are_tensors_of_the_operands_type(self):
        for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)):
            with self.subTest(dtype):
                q, k, v = operands(dtype)
                out, lse = heed.attention(q, k, v, return_lse=True)
                self.assertEqual((out.dtype, lse.dtype), (dtype, dtype if dtype == torch.float64 else torch.float32))
                wanted = torch.softmax(q.double() @ k.double().transpose(-1, -2) / D**0.5, -1) @ v.double()
                torch.testing.assert_close(out.double(), wanted, rtol=0, atol=tolerance)

    def test_strided_tensors_are_read_and_written_in_place(self):
        q, k, v = operands(torch.float32)
        packed = torch.stack([q, k, v], 3).transpose(1, 2).contiguous()  # [B, L, H, 3, D]
        out = heed.attention(*(packed[..., n, :].transpose(1, 2) for n in range(3)))
        torch.testing.assert_close(out, heed.attention(q, k, v), rtol=0, atol=0)
        rows = torch.zeros(B, L, H, D)
        place = rows.transpose(1, 2)
        self.assertIs(heed.attention(q, k, v, out=place), place)
        torch.testing.assert_close(rows.transpose(1, 2), out, rtol=0, atol=0)
        with self.assertRaisesRegex(heed.Error, "share|overlap"):
            heed.attention(q, k, v, out=q)

    def test_booleans_are_masks_and_bytes_are_not(self):
        q, k, v = operands(torch.float32)
        allowed = torch.ones(L, L).tril().bool()
        torch.testing.assert_close(heed.attention(q, k, v, mask=allowed), heed.attention(q, k, v, mask=heed.causal()), rtol=0, atol=0)
        with self.assertRaisesRegex(heed.Error, "mask holds DLPack's type 1 of 8 bits"):
            heed.attention(q, k, v, mask=allowed.to(torch.uint8))

    def test_tensors_without_elements(self):
        out = heed.attention(torch.empty(0, H, L, D), torch.empty(0, H, L, D), torch.empty(0, H, L, D))
        self.assertEqual(out.shape, (0, H, L, D))

    def test_a_tensor_with_a_gradient_is_refused_where_it_would_be_lost(self):
        q, k, v = operands(torch.float32)
        with self.assertRaisesRegex(heed.Error, "q, a Tensor, cannot be shared: .*gradient"):
            heed.attention(q.requires_grad_(), k, v)

    def test_memory_outlives_the_tensors(self):
        q, k, v = operands(torch.float32)
        lengths = torch.tensor([2, 3])
        mask = heed.key_lengths(lengths)
        at = lengths.data_ptr()
        del lengths
        fresh = [torch.tensor([0, 0]) for _ in range(50)]
        self.assertNotIn(at, [x.data_ptr() for x in fresh])
        self.assertEqual(mask.array(2, 1, 1, 4)[:, 0, 0].tolist(), [[True, True, False, False], [True, True, True, False]])


# What is asked for, and the learned tensors that it is made of.
CASES = {
    "plain": lambda: ({}, {}),
    "causal": lambda: ({"mask": heed.causal()}, {}),
    "a scale and a soft-cap": lambda: ({"scale": 0.7, "soft_cap": 2.0}, {}),
    "dot": lambda: ({"score": heed.dot()}, {}),
    "cosine": lambda: ({"score": heed.cosine(), "scale": 3.0}, {}),
    "squared distance": lambda: ({"score": heed.squared_distance()}, {}),
    "sigmoid": lambda: ({"normaliser": heed.sigmoid()}, {}),
    "sparsemax": lambda: ({"normaliser": heed.sparsemax()}, {}),
    "entmax15": lambda: ({"normaliser": heed.entmax15(), "mask": heed.causal()}, {}),
    "linear": lambda: ({"score": heed.elu(), "normaliser": heed.sum()}, {}),
    "performer": lambda: ({"score": heed.performer(heed.random_features(6, D, f64=True)), "normaliser": heed.sum()}, {}),
    "alibi and window": lambda: ({"bias": heed.alibi(), "mask": heed.window(2, 1)}, {}),
    "key lengths, one of them 0": lambda: ({"mask": heed.key_lengths([0, 3])}, {}),
    "a boolean tensor": lambda: ({"mask": draw(L, L, seed=3) > 0}, {}),
    "dropout": lambda: ({"dropout": heed.Dropout(0.4, seed=5)}, {}),
    "additive": lambda: ({}, {"additive_vector": draw(D, seed=3)}),
    "dense bias": lambda: ({}, {"bias": draw(L, L, seed=3)}),
    "sinks": lambda: ({}, {"sinks": draw(H, seed=3)}),
    "relative": lambda: ({}, {"relative": draw(8, H, seed=3)}),
    "gaussian": lambda: ({}, {"centre": draw(B, 1, L, seed=3)}),
}


def options_with(options, learned):
    options = dict(options)
    if "additive_vector" in learned:
        options["score"] = heed.additive(learned["additive_vector"])
    if "bias" in learned:
        options["bias"] = learned["bias"]
    if "relative" in learned:
        options["bias"] = heed.relative(learned["relative"], max_distance=6)
    if "centre" in learned:
        options["bias"] = heed.gaussian(learned["centre"], 1.5)
    if "sinks" in learned:
        options["normaliser"] = heed.softmax(learned["sinks"])
    return options


class Derivatives(unittest.TestCase):
    def each(self, check, key_heads=2):
        for name, make in CASES.items():
            with self.subTest(name):
                options, learned = make()
                inputs = [x.requires_grad_() for x in (*operands(key_heads=key_heads), *learned.values())]
                dead = name.startswith("key lengths")  # whose statistic is -inf

                def call(q, k, v, *tensors, options=options, learned=learned, dead=dead):
                    out, lse = heed.torch.attention(q, k, v, return_lse=True, **options_with(options, dict(zip(learned, tensors))))
                    return out if dead else (out, lse)

                check(call, inputs)

    def test_first(self):
        self.each(lambda call, inputs: self.assertTrue(torch.autograd.gradcheck(call, inputs, fast_mode=True)))

    def test_second(self):
        self.each(lambda call, inputs: self.assertTrue(torch.autograd.gradgradcheck(call, inputs, fast_mode=True)))

    def test_first_and_second_of_out_alone_in_full(self):
        """The second derivative that is heed's own: no statistic takes part."""
        q, k, v = (x.requires_grad_() for x in operands(key_heads=2, queries=3, keys=4))
        for options in ({}, {"mask": heed.causal()}, {"dropout": heed.Dropout(0.3, 1)}, {"soft_cap": 1.5, "bias": heed.alibi()}):
            def call(q, k, v, options=options):
                return heed.torch.attention(q, k, v, **options)

            self.assertTrue(torch.autograd.gradcheck(call, (q, k, v)))
            self.assertTrue(torch.autograd.gradgradcheck(call, (q, k, v)))

    def test_third(self):
        q, k, v = (x.requires_grad_() for x in operands(key_heads=2, queries=2, keys=3))
        first = torch.autograd.grad(heed.torch.attention(q, k, v).square().sum(), q, create_graph=True)[0]
        second = torch.autograd.grad(first.square().sum(), q, create_graph=True)[0]
        third = torch.autograd.grad(second.sum(), q)[0]
        out = torch.softmax(q @ k.repeat_interleave(2, 1).transpose(-1, -2) / D**0.5, -1) @ v.repeat_interleave(2, 1)
        first = torch.autograd.grad(out.square().sum(), q, create_graph=True)[0]
        second = torch.autograd.grad(first.square().sum(), q, create_graph=True)[0]
        torch.testing.assert_close(third, torch.autograd.grad(second.sum(), q)[0])

    def test_the_definition_is_what_heed_computes(self):
        for name, make in CASES.items():
            with self.subTest(name):
                options, learned = make()
                q, k, v = operands(key_heads=2)
                options = options_with(options, learned)
                if isinstance(options.get("bias"), torch.Tensor):
                    options["bias"] = heed.dense(options["bias"])
                call = Call(*(options.get(field) for field in Call._fields[:-1]), ())
                out, lse = heed.attention(q, k, v, return_lse=True, **options)
                defined = definition.attention(call, lse, q, k, v, {})
                torch.testing.assert_close(defined, (out, lse))

    def test_narrow_types_train(self):
        for dtype in (torch.float32, torch.bfloat16):
            q, k, v = (x.requires_grad_() for x in operands(dtype))
            heed.torch.attention(q, k, v, mask=heed.causal()).sum().backward()  # whose gradient is expanded
            self.assertEqual([x.grad.dtype for x in (q, k, v)], [dtype] * 3)
            torch.testing.assert_close(v.grad.sum(), torch.tensor(float(B * H * L * D), dtype=dtype), rtol=2e-2, atol=0)

    def test_what_needs_no_gradient_gets_none(self):
        q, k, v = operands()
        self.assertFalse(heed.torch.attention(q, k, v).requires_grad)
        v.requires_grad_()
        heed.torch.attention(q, k, v).sum().backward()
        self.assertIsNone(q.grad)
        with torch.no_grad():
            self.assertFalse(heed.torch.attention(q, k, v).requires_grad)

    def test_what_was_written_to_since_the_call_is_not_taken_for_what_was_there(self):
        q, k, v = (x.requires_grad_() for x in operands())
        allowed, numbers = torch.ones(L, L, dtype=torch.bool), draw(L, L, seed=5)
        for options in ({"mask": allowed}, {"mask": heed.causal() & heed.boolean(allowed)}, {"bias": numbers}):
            heed.torch.attention(q, k, v, **options).sum().backward()
            out = heed.torch.attention(q, k, v, **options)
            allowed[0, 1] = not allowed[0, 1]
            numbers.add_(1)
            with self.assertRaisesRegex(heed.Error, "was written to after the call"):
                out.sum().backward()

    def test_a_scale_has_no_gradient(self):
        with self.assertRaisesRegex(heed.Error, "scale has no gradient"):
            heed.torch.attention(*operands(), scale=torch.tensor(0.5, requires_grad=True))

    def test_packed_sequences_have_first_derivatives(self):
        q, k, v = (x[:1].requires_grad_() for x in operands(key_heads=2))
        call = lambda *x: heed.torch.attention(*x, mask=heed.causal(), sequences=heed.packed([0, 2, L]))
        self.assertTrue(torch.autograd.gradcheck(call, (q, k, v), fast_mode=True))
        first = torch.autograd.grad(call(q, k, v).square().sum(), q, create_graph=True)[0]
        with self.assertRaisesRegex(heed.Error, "second derivatives need one sequence to a batch element"):
            first.sum().backward()

    def test_a_probability_draws_its_seed_from_torch(self):
        q, k, v = operands()
        torch.manual_seed(1)
        first, second = (heed.torch.attention(q, k, v, dropout=0.5) for _ in range(2))
        torch.manual_seed(1)
        torch.testing.assert_close(heed.torch.attention(q, k, v, dropout=0.5), first, rtol=0, atol=0)
        torch.testing.assert_close(heed.torch.attention(q, k, v, dropout=0), heed.attention(q, k, v), rtol=0, atol=0)
        self.assertFalse(torch.equal(first, second))


def plain(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    """What torch's page says that its function computes."""
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    x = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(x.shape[-2:]).tril().bool()
    if attn_mask is not None:
        x = x.masked_fill(~attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else x + attn_mask
    return torch.softmax(x, -1) @ value


class ScaledDotProduct(unittest.TestCase):
    def check(self, query, key, value, **options):
        torch.testing.assert_close(heed.torch.scaled_dot_product_attention(query, key, value, **options), plain(query, key, value, **options))

    def test_is_torchs(self):
        q, k, v = operands(queries=3)
        some = draw(B, H, 3, L, seed=4) > -1
        some[..., 0] = True
        for options in ({}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": some}, {"attn_mask": some[:, :1]}, {"attn_mask": some[0, 0]},
                        {"attn_mask": draw(3, L, seed=5)}, {"attn_mask": draw(B, 1, 1, L, seed=5)}):
            with self.subTest(options.keys()):
                self.check(q, k, v, **options)
        self.check(q, k[:, :2], v[:, :2], enable_gqa=True)
        self.check(q, k[:, :2], v[:, :2], enable_gqa=True, is_causal=True)
        self.check(q, k, draw(B, H, L, 7))

    def test_takes_any_axes_before_the_last_two(self):
        for before in ((), (3,), (2, 3), (2, 1, 3), (2, 2, 2, 3)):
            with self.subTest(before):
                q, k, v = draw(*before, 4, D), draw(*before, L, D, seed=1), draw(*before, L, D, seed=2)
                self.check(q, k, v)
                self.check(q, k, v, attn_mask=draw(4, L, seed=3))
                self.check(q, k, v, attn_mask=draw(*before, 4, L, seed=3))
                self.check(q, k, v, attn_mask=draw(*before, 4, L, seed=3) > -2)
                if before:
                    self.check(q, k[:1], v[:1])  # broadcasts
        self.check(draw(2, 2, 4, 3, D), draw(2, 2, 2, L, D, seed=1), draw(2, 2, 2, L, D, seed=2), enable_gqa=True)

    def test_takes_any_strides(self):
        q, k, v = operands()
        turned = q.transpose(-1, -2).contiguous().transpose(-1, -2)
        self.check(turned, k.repeat_interleave(2, -1)[..., ::2], v.transpose(1, 2).contiguous().transpose(1, 2))

    def test_has_derivatives(self):
        inputs = [x.requires_grad_() for x in (*operands(queries=3), draw(3, L, seed=6))]
        self.assertTrue(torch.autograd.gradcheck(heed.torch.scaled_dot_product_attention, inputs, fast_mode=True))
        self.assertTrue(torch.autograd.gradgradcheck(heed.torch.scaled_dot_product_attention, inputs, fast_mode=True))

    def test_refuses(self):
        q, k, v = operands()
        with self.assertRaisesRegex(heed.Error, "cannot both be given"):
            heed.torch.scaled_dot_product_attention(q, k, v, attn_mask=q[0, 0] > 0, is_causal=True)
        with self.assertRaisesRegex(heed.Error, "must broadcast"):
            heed.torch.scaled_dot_product_attention(q, k[:, :3], v)
        with self.assertRaisesRegex(heed.Error, r"attn_mask must broadcast to \[1, 2, 4, 5, 5\], but is \[3, 1, 1, 5, 5\]"):
            heed.torch.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=draw(3, 1, 1, L, L))
        with self.assertRaisesRegex(heed.Error, "three axes at least, but have 2, 2 and 2"):
            heed.torch.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0], enable_gqa=True)
        for dropout in (-0.1, 1.0, float("nan")):
            with self.assertRaisesRegex(heed.Error, r"dropout probability must be in \[0, 1\)"):
                heed.torch.scaled_dot_product_attention(q, k, v, dropout_p=dropout)

    def test_dropout_keeps_the_expectation(self):
        torch.manual_seed(0)
        q, k, v = draw(1, 1, 64, D), draw(1, 1, 512, D, seed=1), torch.ones(1, 1, 512, 1, dtype=torch.float64)
        out = heed.torch.scaled_dot_product_attention(q, k, v, dropout_p=0.25)
        self.assertAlmostEqual(float(out.mean()), 1, delta=0.05)
        self.assertGreater(float(out.std()), 0.01)


class MultiheadAttention(unittest.TestCase):
    def pair(self, embed=12, heads=3, **options):
        torch.manual_seed(0)
        theirs = torch.nn.MultiheadAttention(embed, heads, dtype=torch.float64, **options)
        for parameter in theirs.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        ours = heed.torch.MultiheadAttention(embed, heads, dtype=torch.float64, **options)
        ours.load_state_dict(theirs.state_dict())
        return theirs, ours

    def check(self, theirs, ours, query, key, value, **options):
        for training in (False, True):
            theirs.train(training), ours.train(training)
            answers = []
            for layer in (theirs, ours):
                inputs = [x.clone().requires_grad_() for x in (query, key, value)]
                out, weights = layer(*inputs, **options)
                layer.zero_grad()
                out.square().sum().backward()
                answers.append([out, weights, *(x.grad for x in inputs), *(p.grad for p in layer.parameters())])
            for theirs_answer, our_answer in zip(*answers):
                if theirs_answer is None:
                    self.assertIsNone(our_answer)
                else:
                    torch.testing.assert_close(our_answer, theirs_answer)

    def test_is_torchs(self):
        x, y = draw(5, 2, 12), draw(7, 2, 12, seed=1)
        padding = torch.zeros(2, 7, dtype=torch.bool)
        padding[1, 4:] = True
        hidden = torch.ones(5, 7, dtype=torch.bool).triu(3)
        for options in ({}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}):
            with self.subTest(options):
                theirs, ours = self.pair(**options)
                self.check(theirs, ours, x, y, y)
                self.check(theirs, ours, x, y, y, key_padding_mask=padding)
                self.check(theirs, ours, x, y, y, key_padding_mask=padding, attn_mask=hidden)
                self.check(theirs, ours, x, y, y, attn_mask=draw(5, 7, seed=3))
                self.check(theirs, ours, x, y, y, attn_mask=draw(6, 5, 7, seed=3))
                self.check(theirs, ours, x, y, y, attn_mask=hidden, average_attn_weights=False)
                self.check(theirs, ours, x, y, y, need_weights=False)

    def test_other_widths_and_layouts(self):
        theirs, ours = self.pair(kdim=8, vdim=10)
        self.check(theirs, ours, draw(5, 2, 12), draw(7, 2, 8, seed=1), draw(7, 2, 10, seed=2))
        theirs, ours = self.pair(batch_first=True)
        self.check(theirs, ours, draw(2, 5, 12), draw(2, 7, 12, seed=1), draw(2, 7, 12, seed=2))
        theirs, ours = self.pair()
        self.check(theirs, ours, draw(5, 12), draw(7, 12, seed=1), draw(7, 12, seed=2))

    def test_refuses_other_shapes(self):
        x, y = draw(2, 5, 12), draw(2, 7, 12)
        for batch_first in (True, False):
            _, ours = self.pair(batch_first=batch_first)
            q, k = (x, y) if batch_first else (x.transpose(0, 1), y.transpose(0, 1))
            padding = torch.zeros(2, 6, dtype=torch.bool)  # what a layer that adds keys has of them, and this one has not
            for message, inputs, options in (
                    ("query must have two axes", (q[None], k, k), {}),
                    ("query must be ", (q[..., :8], k, k), {}),
                    ("key must be ", (q, k[0], k), {}),
                    ("value must be ", (q, k, q), {}),
                    (r"key_padding_mask must be \[2, 7\], but is \[2, 6\]", (q, k, k), {"key_padding_mask": padding}),
                    (r"attn_mask must be \[5, 7\] or \[6, 5, 7\]", (q, k, k), {"attn_mask": draw(4, 5, 7)})):
                with self.subTest((message, batch_first)), self.assertRaisesRegex(heed.Error, message):
                    ours(*inputs, **options)
        _, ours = self.pair()
        with self.assertRaisesRegex(heed.Error, r"key_padding_mask must be \[7\], but is \[2, 7\]"):
            ours(x[0], y[0], y[0], key_padding_mask=torch.zeros(2, 7, dtype=torch.bool))

    def test_takes_heeds_options(self):
        _, ours = self.pair(batch_first=True)
        x = draw(2, 6, 12)
        wanted = ours(x, x, x, attn_mask=torch.ones(6, 6, dtype=torch.bool).triu(1))[0]
        windowed = heed.torch.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64, mask=heed.causal())
        windowed.load_state_dict(ours.state_dict())
        torch.testing.assert_close(windowed(x, x, x)[0], wanted)
        sparse = heed.torch.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64, normaliser=heed.sparsemax(), scale=4.0)
        self.assertTrue((sparse(x, x, x, average_attn_weights=False)[1] == 0).any())
        with self.assertRaisesRegex(TypeError, "no option window"):
            heed.torch.MultiheadAttention(12, 3, window=3)

    def test_a_bias_is_heeds_where_it_is_no_bool(self):
        _, ours = self.pair(batch_first=True)
        x, slopes = draw(2, 6, 12), draw(3).abs()
        distance = (torch.arange(6)[:, None] - torch.arange(6)).abs()
        numbers = -slopes[:, None, None] * distance
        wanted = ours(x, x, x, attn_mask=numbers.repeat(2, 1, 1))[0]
        for bias in (heed.alibi(slopes), numbers):
            biased = heed.torch.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64, bias=bias)
            biased.load_state_dict(ours.state_dict())
            torch.testing.assert_close(biased(x, x, x)[0], wanted)

    def test_is_copied_and_saved_with_its_options(self):
        vector = torch.nn.Parameter(draw(4))
        layer = heed.torch.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64, bias=heed.alibi(),
                                              mask=heed.causal() & heed.window(2, 0), score=heed.additive(vector))
        layer.vector = vector
        x = draw(2, 6, 12)
        copied = copy.deepcopy(layer)
        file = io.BytesIO()
        torch.save(layer, file)
        file.seek(0)
        for other in (copied, torch.load(file)):
            self.assertTrue(torch.equal(other(x, x, x)[0], layer(x, x, x)[0]))
            self.assertIs(other.options["score"].arrays["additive_vector"], other.vector)
            self.assertIsNot(other.vector, vector)

    def test_stands_in_torchs_layers(self):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(12, 3, 24, dropout=0.0, batch_first=True, dtype=torch.float64)
        x = draw(2, 5, 12)
        wanted = layer(x)
        ours = heed.torch.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
        ours.load_state_dict(layer.self_attn.state_dict())
        layer.self_attn = ours
        torch.testing.assert_close(layer(x), wanted)
        encoder = torch.nn.TransformerEncoder(layer, 2)
        encoder.eval()
        with torch.no_grad():  # where torch has a way of its own, which knows nothing of options
            torch.testing.assert_close(encoder(x, src_key_padding_mask=torch.zeros(2, 5, dtype=torch.bool)), encoder(x))
            before = encoder(x)
            for one in encoder.layers:
                one.self_attn.options["normaliser"] = heed.sparsemax()
            self.assertFalse(torch.allclose(encoder(x), before))


if __name__ == "__main__":
    unittest.main()
