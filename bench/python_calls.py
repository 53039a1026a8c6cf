#!/usr/bin/env python3
"""python_calls.py: what a call from Python costs over the same call in C++, and a training step of a torch model with heed's attention
beside one with torch's. Run by hand, on a machine that does nothing else, with PYTHONPATH at the release build's package; needs torch for the
second part. Prints a table in Markdown."""

import statistics
import sys
import time

import numpy as np

import heed
from heed import _heed

SHAPES = [(1, 1, 1, 64), (1, 8, 16, 64), (8, 8, 24, 32), (1, 8, 512, 64)]
OPTIONS = {"plain": {}, "causal": {"mask": heed.causal()}}


def least(call, calls):
    fastest = float("inf")
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


def over_cpp():
    print("| call | C++, us | Python, us | more, us | Python, its own out, us |\n|---|---|---|---|---|")
    for shape in SHAPES:
        q, k, v = (np.random.default_rng(n).standard_normal(shape, dtype=np.float32) for n in range(3))
        out = np.empty_like(q)
        calls = 20000 if np.prod(shape) < 1e5 else 300
        for name, options in OPTIONS.items():
            fields = (None, None, options.get("mask"), None, None, None, None, None, None)
            rounds = [(_heed.time_attention(q, k, v, fields, out, calls), least(lambda: heed.attention(q, k, v, out=out, **options), calls),
                       least(lambda: heed.attention(q, k, v, **options), calls)) for _ in range(3)]
            cpp, python, own = (1e6 * statistics.median(column) for column in zip(*rounds))
            print(f"| {name}, {list(shape)} | {cpp:.2f} | {python:.2f} | {python - cpp:.2f} | {own:.2f} |")


def training_step():
    import torch

    import heed.torch

    torch.set_num_threads(heed.threads())
    print("\nA training step of a torch model (two pre-norm layers, width 512, 8 heads, f32, causal), "
          f"torch {torch.__version__}, {heed.threads()} threads\n")
    print("| batch x length | torch's attention, ms | heed's, ms | as fast |\n|---|---|---|---|")

    def theirs(q, k, v):
        x = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        hidden = torch.ones(x.shape[-2:], dtype=torch.bool).triu(1)
        return torch.softmax(x.masked_fill(hidden, -torch.inf), -1) @ v

    def ours(q, k, v):
        return heed.torch.scaled_dot_product_attention(q, k, v, is_causal=True)

    class Layer(torch.nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
            self.feed = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.ReLU(), torch.nn.Linear(4 * width, width))

        def forward(self, x, attend):
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norms[0](x)).chunk(3, -1))
            x = x + self.out(attend(q, k, v).transpose(1, 2).flatten(2))
            return x + self.feed(self.norms[1](x))

    for batch, length in ((16, 64), (4, 512), (1, 2048)):
        torch.manual_seed(0)
        layers = torch.nn.ModuleList([Layer(512, 8) for _ in range(2)])
        optimiser, x = torch.optim.Adam(layers.parameters()), torch.randn(batch, length, 512)

        def step(attend):
            y = x
            for layer in layers:
                y = layer(y, attend)
            optimiser.zero_grad()
            y.square().mean().backward()
            optimiser.step()

        rounds = [(least(lambda: step(theirs), 3), least(lambda: step(ours), 3)) for _ in range(5)]
        torchs, heeds = (1e3 * statistics.median(column) for column in zip(*rounds))
        print(f"| {batch} x {length} | {torchs:.1f} | {heeds:.1f} | {torchs / heeds:.2f} |")


if __name__ == "__main__":
    over_cpp()
    try:
        training_step()
    except ImportError:
        sys.exit("python_calls.py: torch is not installed (script/setup peers)")
