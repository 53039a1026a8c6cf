"""What a row of `heed bench attention` asks of a peer, from its name.

    problem_of("bf16-causal/L1024/D64")   # {"queries": 1024, "width": 64, "dtype": "bf16", "causal": True, ...}
"""

import os
import re
import subprocess

NUMBER_BYTES = {"f32": 4, "bf16": 2}
BACKWARD_SHARE = 2.5  # of the forward pass's operations
PASSES = {"forward": 1, "backward": BACKWARD_SHARE, "training": 1 + BACKWARD_SHARE}
ARRAYS = {"forward": 1, "backward": 2, "training": 3}  # how many times the bytes of q, k, v and the output

SQUARE = re.compile(r"(bf16-)?(forward|causal|training|training-causal)/L(\d+)/D(\d+)(?:/H(\d+))?")
SHORT = re.compile(r"short/(forward|causal|training)")
DECODE = re.compile(r"decode/(f32|bf16)")
OTHER_SCORE = re.compile(r"(linear|additive)/(forward|backward)")


def problem(row, queries, width, **others):
    """One of defaults: 8 heads, f32, forward, scaled dot and softmax; [B, H, L, D]."""
    described = {"row": row, "score": "softmax", "pass": "forward", "batch": 1, "heads": 8, "key_heads": 0, "queries": queries,
                 "keys": queries, "width": width, "dtype": "f32", "causal": False, "from_memory": False, **others}
    described["key_heads"] = described["key_heads"] or described["heads"]
    return described


def of_kind(kind):
    """A row's kind as its pass and mask: "training-causal"."""
    return {"pass": "training" if kind.startswith("training") else "forward", "causal": kind.endswith("causal")}


def problem_of(row):
    """The problem as plain data; None where no peer is asked."""
    if found := SQUARE.fullmatch(row):
        narrow, kind, length, width, heads = found.groups()
        return problem(row, int(length), int(width), heads=int(heads or 8), dtype="bf16" if narrow else "f32", **of_kind(kind))
    if found := SHORT.fullmatch(row):
        return problem(row, 24, 32, batch=64, heads=4, **of_kind(found[1]))
    if found := DECODE.fullmatch(row):
        return problem(row, 1, 128, keys=4096, heads=32, key_heads=8, dtype=found[1], from_memory=True)
    if found := OTHER_SCORE.fullmatch(row):
        shape = {"queries": 4096, "width": 64} if found[1] == "linear" else {"queries": 512, "width": 128, "heads": 1}
        return problem(row, score=found[1], **{"pass": found[2]}, **shape)
    return None


def forward_bytes(of):
    numbers = of["width"] * of["batch"] * (2 * of["heads"] * of["queries"] + 2 * of["key_heads"] * of["keys"])
    return numbers * NUMBER_BYTES[of["dtype"]]


def check_same_work(row):
    """Raises ValueError where a row of heed's report does other work than its name asks of a peer: a ratio would mean nothing."""
    of = problem_of(row["name"])
    if of is None or row["refused"]:
        return
    partners = of["width"] if of["score"] == "linear" else of["keys"] * (0.5 if of["causal"] else 1)
    operations = 4 * of["width"] * of["batch"] * of["heads"] * of["queries"] * partners * PASSES[of["pass"]]
    for what, ours, theirs in (("operations", row["operations"], operations), ("bytes", row["bytes"], forward_bytes(of) * ARRAYS[of["pass"]])):
        if abs(ours - theirs) > 1e-9 * theirs:
            raise ValueError(f"{row['name']}: heed's row has {ours:.0f} {what}, a peer's {theirs:.0f}: see bench/peers/problems.py")


def key_copies(of):
    """How many copies of keys and values are taken in turn, so that they come from memory as heed's do: heed's own rule."""
    if not of["from_memory"]:
        return 1
    cache = subprocess.run(["getconf", "LEVEL3_CACHE_SIZE"], capture_output=True, text=True, check=False).stdout.strip()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    beyond = min(max(4 * int(cache or 0), 256 << 20), memory // 4)
    keys_and_values = 2 * of["batch"] * of["key_heads"] * of["keys"] * of["width"] * NUMBER_BYTES[of["dtype"]]
    return beyond // keys_and_values + 1
