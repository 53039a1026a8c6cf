#!/usr/bin/env python3
"""pytorch.py THREADS SECONDS: times PyTorch on the problems that standard input holds (problems.py, as a JSON list), each in every form that
computes it. Prints one JSON line for each: the form that was fastest, its median, or why there is none. Its BLAS and malloc are set by who
starts it."""

import json
import math
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

LEAST_SAMPLES = 5
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
FUSED = getattr(F, "scaled_dot_product_attention", None)  # since 2.0


def time_work(work, seconds, least=LEAST_SAMPLES):
    """The median of calls for so many seconds after a tenth of them to warm up, as heed's rows are timed, and how many there were."""
    begin = time.perf_counter()
    work()
    while time.perf_counter() - begin < seconds / 10:
        work()
    samples = []
    begin = time.perf_counter()
    while len(samples) < least or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples), len(samples)


# --- Forms: q, k, v [B, H, L, D], and what a causal mask is made into beforehand ---------------------------------------------------------------


def naive(of):
    scale = 1 / math.sqrt(of["width"])
    future = torch.ones(of["queries"], of["keys"], dtype=torch.bool).triu(1) if of["causal"] else None

    def form(q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) * scale
        if future is not None:
            scores = scores.masked_fill(future, float("-inf"))
        return torch.matmul(torch.softmax(scores, -1), v)

    return form


def baddbmm(of):
    """As torch.nn.MultiheadAttention has it: batch and heads are one axis, and the mask is added by the product."""
    scale = 1 / math.sqrt(of["width"])
    mask = torch.zeros(of["queries"], of["keys"], dtype=DTYPES[of["dtype"]])
    if of["causal"]:
        mask.masked_fill_(torch.ones(of["queries"], of["keys"], dtype=torch.bool).triu(1), float("-inf"))

    def form(q, k, v):
        q3, k3, v3 = (x.flatten(0, 1) for x in (q, k, v))
        if of["causal"]:
            scores = torch.baddbmm(mask, q3, k3.transpose(-1, -2), alpha=scale)
        else:
            scores = torch.bmm(q3 * scale, k3.transpose(-1, -2))
        return torch.bmm(torch.softmax(scores, -1), v3).view(q.shape)

    return form


def fused(of):
    return lambda q, k, v: FUSED(q, k, v, is_causal=of["causal"])


def additive(of):
    vector = torch.randn(of["width"])
    return lambda q, k, v: torch.matmul(torch.softmax(torch.tanh(q.unsqueeze(3) + k.unsqueeze(2)) @ vector, -1), v)


def linear(_):
    def form(q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return q @ (k.transpose(-1, -2) @ v) / (q @ k.sum(-2).unsqueeze(-1))

    return form


def forms_of(of):
    if of["score"] != "softmax":
        return {of["score"]: {"additive": additive, "linear": linear}[of["score"]]}
    forms = {"scaled_dot_product_attention": fused} if FUSED else {}
    scores = of["batch"] * of["heads"] * of["queries"] * of["keys"] * 4
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    if 4 * scores < memory / 2:  # forms that write them: scores, scaled, weights, and a gradient or a mask
        forms.update({"matmul": naive, "baddbmm": baddbmm})
    return forms


# --- Problems ----------------------------------------------------------------------------------------------------------------------------------


def arrays(of):
    """q, and the copies of k and v that calls take in turn. Query heads that share a key head are rows of one product: a view."""
    shared = of["heads"] // of["key_heads"]
    queries = [of["batch"], of["key_heads"], shared * of["queries"], of["width"]]
    keys = [of["batch"], of["key_heads"], of["keys"], of["width"]]
    dtype = DTYPES[of["dtype"]]
    q, k, v = (torch.randn(shape).to(dtype) for shape in (queries, keys, keys))
    return q, [(k.clone(), v.clone()) for _ in range(of["key_copies"])]


def work_of(of, form):
    """The call that is timed."""
    q, copies = arrays(of)
    turn = 0

    def forward():
        nonlocal turn
        k, v = copies[turn]
        turn = (turn + 1) % len(copies)
        with torch.no_grad():
            return form(q, k, v)

    if of["pass"] == "forward":
        return forward
    inputs = tuple(x.requires_grad_() for x in (q, *copies[0]))
    gradient = torch.randn(q.shape).to(q.dtype)
    if of["pass"] == "training":
        return lambda: torch.autograd.grad(form(*inputs), inputs, gradient)
    out = form(*inputs)
    return lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)


def measure(of, seconds):
    """The fastest form by a short look at each, timed in full."""
    looked, refused = [], "its scores are larger than half of the memory"
    for name, make in forms_of(of).items():
        try:
            looked.append((time_work(work_of(of, make(of)), seconds / 10, least=1)[0], name, make))
        except RuntimeError as error:  # what this version has no kernel for
            refused = str(error).splitlines()[0]
    if not looked:
        return {"refused": refused}
    _, name, make = min(looked, key=lambda look: look[0])
    median, samples = time_work(work_of(of, make(of)), seconds)
    return {"form": name, "seconds": median, "samples": samples}


def main():
    threads, seconds = int(sys.argv[1]), float(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    for of in json.load(sys.stdin):
        line = {"row": of["row"], "peer": "PyTorch", "version": torch.__version__, **measure(of, seconds)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
