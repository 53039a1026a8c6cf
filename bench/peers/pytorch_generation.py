#!/usr/bin/env python3
"""pytorch_generation.py HEED [--seconds S] [--filter REGEX]: times the rows of `heed bench generation` (HEED is the command) and the same
models in PyTorch, in turn: a token after a prompt of 512, and the prompt. PyTorch has weights and caches of f32 or bf16, or weights of 8 bits
through its dynamic quantisation, which quantises activations too (heed does not). Its numbers are random, so that only times mean anything.
Prints a table in Markdown. Run by hand, on a machine that does nothing else, after script/setup peers."""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

import torch
from torch import nn

from pytorch import time_work

PROMPT, VOCABULARY = 512, 32000
# Width, heads, heads of keys, width inside the feed-forward network, layers: as in heed/tasks/bench/bench_generation.cc.
SIZES = {"llama-110m": (768, 12, 12, 2048, 12), "llama-1.1b": (2048, 32, 4, 5632, 22)}


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype) * self.weight


def rotated(x, angles):
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angles
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Layer(nn.Module):
    def __init__(self, width, heads, kv_heads, inside):
        super().__init__()
        self.heads, self.kv_heads, self.depth = heads, kv_heads, width // heads
        self.q, self.o = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(width, kv_heads * self.depth, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, inside, bias=False) for _ in range(2))
        self.down = nn.Linear(inside, width, bias=False)
        self.norm1, self.norm2 = Norm(width), Norm(width)

    def forward(self, x, angles, cache, begin):
        length = x.shape[0]
        y = self.norm1(x)
        q = rotated(self.q(y).view(length, self.heads, self.depth).transpose(0, 1), angles)
        cache[0][:, begin:begin + length] = rotated(self.k(y).view(length, self.kv_heads, self.depth).transpose(0, 1), angles)
        cache[1][:, begin:begin + length] = self.v(y).view(length, self.kv_heads, self.depth).transpose(0, 1)
        keys, values = (part[:, :begin + length] for part in cache)
        group = self.heads // self.kv_heads
        scores = torch.matmul(q.reshape(self.kv_heads, group * length, self.depth), keys.transpose(1, 2)) / math.sqrt(self.depth)
        if length > 1:
            future = torch.ones(length, begin + length, dtype=torch.bool).triu(1 + begin)
            scores = scores.view(self.kv_heads, group, length, -1).masked_fill(future, float("-inf")).flatten(1, 2)
        out = torch.matmul(torch.softmax(scores, -1), values).view(self.heads, length, self.depth)
        x = x + self.o(out.transpose(0, 1).reshape(length, -1))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, width, heads, kv_heads, inside, layers):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.layers = nn.ModuleList(Layer(width, heads, kv_heads, inside) for _ in range(layers))
        self.norm, self.head = Norm(width), nn.Linear(width, VOCABULARY, bias=False)
        self.depth, self.kv_heads = width // heads, kv_heads

    def caches(self, dtype):
        return [[torch.zeros(self.kv_heads, 2 * PROMPT, self.depth, dtype=dtype) for _ in range(2)] for _ in self.layers]

    def forward(self, ids, caches, begin, dtype):
        turns = torch.outer(torch.arange(begin, begin + len(ids)), 10000.0 ** (-torch.arange(0, self.depth, 2) / self.depth))
        angles = torch.cos(turns).to(dtype), torch.sin(turns).to(dtype)
        x = self.embedding(ids).to(dtype)
        for layer, cache in zip(self.layers, caches):
            x = layer(x, angles, cache, begin)
        return self.norm(x)


def pytorch_seconds(work, size, type_name, seconds):
    torch.manual_seed(1)
    dtype = torch.bfloat16 if type_name == "bf16" else torch.float32
    model = Llama(*SIZES[size]).eval().to(dtype)
    if type_name == "int8":
        model = torch.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8, inplace=True)
    ids, caches = torch.arange(PROMPT) * 61 % VOCABULARY, model.caches(dtype)
    with torch.inference_mode():
        if work == "prompt":
            return time_work(lambda: model(ids, caches, 0, dtype), seconds)[0]
        model(ids, caches, 0, dtype)
        return time_work(lambda: model.head(model(ids[:1], caches, PROMPT, dtype)), seconds)[0]


def heed_row(heed, name, seconds):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        subprocess.run([heed, "bench", "generation", "--seconds", str(seconds), "--filter", f"^{re.escape(name)}$", "--json", file], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))["rows"][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--filter", default="")
    asked = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print("| row | heed, ms | of its limit | PyTorch, ms | heed is as fast |\n|---|---|---|---|---|")
    for size in SIZES:
        for type_name in ("f32", "bf16", "int8"):
            for work in ("token", "prompt"):
                name = f"{work}/{size}/{type_name}"
                if not re.search(asked.filter, name):
                    continue
                row = heed_row(asked.heed, name, asked.seconds)
                peer = pytorch_seconds(work, size, type_name, asked.seconds)
                print(f"| {name} | {1e3 * row['seconds']:.1f} | {100 * row['share_of_limit']:.0f} % | {1e3 * peer:.1f} | {peer / row['seconds']:.2f} |",
                      flush=True)


if __name__ == "__main__":
    main()
