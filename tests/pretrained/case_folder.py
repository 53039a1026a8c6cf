"""A model of random weights in the form that Hugging Face gives it (config.json, safetensors in one file or in shards), with what an own
forward in float64 makes of some inputs (cases.json and .npy), for heed-conformance --models.

    weights = Weights(seed=1)
    folder = CaseFolder(path, config, weights, tolerance=1e-5)
    folder.add("logits", {"input_ids": [3, 1, 4]}, {"logits": forward(config, weights, [3, 1, 4])})
    folder.write()
"""

import json
import math
import struct

import numpy
import torch

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class Weights:
    """Tensors by name, drawn when they are first asked for, which a model's forward does. What the file holds, rounded to its type, is what
    the forward computes with."""

    def __init__(self, seed, store="F32"):
        self.generator = torch.Generator().manual_seed(seed)
        self.store = store
        self.tensors = {}

    def __call__(self, name, *shape, deviation=None, mean=0.0):
        """Normal with 1 / sqrt of the last extent, where no deviation is given."""
        if name not in self.tensors:
            drawn = torch.randn(*shape, generator=self.generator) * (deviation or shape[-1] ** -0.5) + mean
            self.tensors[name] = drawn.to(TYPES[self.store])
        tensor = self.tensors[name]
        assert tuple(tensor.shape) == shape, f"{name} is asked for as {shape} and is {tuple(tensor.shape)}"
        return tensor.to(torch.float64)

    def linear(self, x, name, outputs, bias=True):
        y = x @ self(f"{name}.weight", outputs, x.shape[-1]).T
        return y + self(f"{name}.bias", outputs, deviation=0.2) if bias else y

    def layer_norm(self, x, name, epsilon):
        gain = self(f"{name}.weight", x.shape[-1], deviation=0.2, mean=1.0)
        return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, self(f"{name}.bias", x.shape[-1], deviation=0.2), epsilon)

    def rms_norm(self, x, name, epsilon, one_plus=False):
        gain = self(f"{name}.weight", x.shape[-1], deviation=0.2, mean=0.0 if one_plus else 1.0)
        return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * (gain + 1 if one_plus else gain)


def bytes_of(tensor):
    raw = tensor.contiguous()
    return (raw.view(torch.int16) if raw.dtype == torch.bfloat16 else raw).numpy().tobytes()


def write_safetensors(path, tensors, store):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in sorted(tensors.items()):
        raw = bytes_of(tensor)
        header[name] = {"dtype": store, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class CaseFolder:
    def __init__(self, path, config, weights, tolerance=1e-5, shards=1, rename=lambda name: name):
        """`rename` gives each tensor the name that it has in the file."""
        self.path, self.config, self.weights, self.shards, self.rename = path, config, weights, shards, rename
        self.tolerance, self.cases = tolerance, []
        path.mkdir(parents=True)

    def add(self, name, inputs, arrays=None, **expected):
        """A case with arrays that must be met within the tolerance, or with other things that must be the same."""
        case = {"name": name, **inputs, "expect": dict(expected), "source": "own float64 forward in PyTorch"}
        for output, array in (arrays or {}).items():
            file = f"{len(self.cases)}_{output}.npy"
            numpy.save(self.path / file, array.detach().to(torch.float32).numpy())
            case["expect"][output] = file
        self.cases.append(case)

    def write(self):
        tensors = {self.rename(name): tensor for name, tensor in self.weights.tensors.items()}
        names = sorted(tensors)
        if self.shards == 1:
            write_safetensors(self.path / "model.safetensors", tensors, self.weights.store)
        else:
            index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())}, "weight_map": {}}
            for shard in range(self.shards):
                file = f"model-{shard + 1:05}-of-{self.shards:05}.safetensors"
                chosen = {name: tensors[name] for name in names[shard::self.shards]}
                write_safetensors(self.path / file, chosen, self.weights.store)
                index["weight_map"].update({name: file for name in chosen})
            (self.path / "model.safetensors.index.json").write_text(json.dumps(index))
        (self.path / "config.json").write_text(json.dumps(self.config))
        cases = {"architecture": self.config.get("architectures", [""])[0], "tolerance": {"atol": self.tolerance, "rtol": self.tolerance},
                 "cases": self.cases}
        (self.path / "cases.json").write_text(json.dumps(cases))


def random_ids(seed, count, vocabulary, first=3):
    """Ids from `first` on: those before it have a meaning."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(first, vocabulary, (count,), generator=generator).tolist()


def greedy(next_logits, begin, most, end=None):
    """The likeliest tokens one after the other; it stops early before a choice that rounding could make differently. Returns the new tokens,
    with the end token where it comes."""
    made = []
    while len(made) < most:
        best = next_logits(begin + made).topk(2)
        if best.values[0] - best.values[1] < 1e-3:
            break
        made.append(best.indices[0].item())
        if made[-1] == end:
            break
    assert len(made) >= 3, "the first tokens are too close to call: take another seed"
    return made


def ngram_ends(ids, size):
    """The ids that would write `size` of them in a row again."""
    came = [tuple(ids[at:at + size]) for at in range(len(ids) - size + 1)] if size else []
    return [ngram[-1] for ngram in came if list(ngram[:-1]) == ids[len(ids) - size + 1:]]


def beam(next_logits, begin, most, beams, ends, length_penalty=1.0, repetition_penalty=1.0, no_repeat_ngram_size=0, min_new=0, early_stopping=False):
    """The new tokens that Hugging Face's beam search finds, with the end token where it comes: a step at a time over all candidates, of which
    those that end, or have the most tokens, are set aside with their score where they are among the best `beams`."""
    running, finished = [(0.0, [])], []
    for length in range(1, most + 1):
        candidates = []
        for total, made in running:
            scores = next_logits(begin + made).log_softmax(-1)
            for token in set(begin + made):
                scores[token] *= repetition_penalty
            for token in ngram_ends(begin + made, no_repeat_ngram_size) + (ends if len(made) < min_new else []):
                scores[token] = -math.inf
            candidates += [(total + score, made + [token]) for token, score in enumerate(scores.tolist())]
        candidates = sorted(candidates, key=lambda c: -c[0])[:max(2, 1 + len(ends)) * beams]
        ended = [made[-1] in ends or length == most for _, made in candidates]
        full = early_stopping and len(finished) == beams
        if not full:
            finished += [(total / length**length_penalty, made) for (total, made), end in zip(candidates[:beams], ended) if end]
            finished = sorted(finished, key=lambda f: -f[0])[:beams]
        running = [candidate for candidate, end in zip(candidates, ended) if not end][:beams]
        if all(ended) or (early_stopping and len(finished) == beams):
            break
        if len(finished) == beams and running[0][0] / length**length_penalty <= finished[-1][0]:
            break
    assert len(finished) < 2 or finished[0][0] - finished[1][0] > 1e-4, "the best are too close to call: take another seed"
    return finished[0][1]
