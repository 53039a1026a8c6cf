#!/usr/bin/env python3
"""Holds the sources to the rooms' order: a file includes only its own room or a lower one, and a third-party library is
included in its one room only; kernels are called through HEED_DISPATCH. Exits 1, naming each file and line that breaks a rule."""

import pathlib
import re
import sys

# Rooms of one number do not include each other.
LEVELS = {
    "base": 0,
    "tensor": 1, "unicode": 1, "corpus": 1,
    "image": 1,
    "kernels": 2, "io": 2, "metrics": 2, "sound": 2,
    # Attention: what is asked, the problem that it makes, the plans that compute it, and the calls.
    "ops/attention/spec": 3, "ops/attention/problem": 4, "ops/attention/plans": 5, "ops/attention": 6,
    "ops/rotary": 3, "ops/gated_delta": 3, "ops": 3, "text/jinja": 3, "text": 4,
    "autograd": 7, "observe": 7,
    "layers": 8, "optim": 8, "viz": 8,
    "models": 9,
    "decode": 10,
    "pretrained": 11,
    "tasks": 12,
    "cli": 13, "python": 13, "conformance": 13,
}
# The testing room serves tests only, which may use it from any room.
TESTING = "testing"
# Include prefix of a library, and the places that may include it.
DOORS = {
    "thread": {"base"},
    "pthread.h": {"base"},
    "omp.h": set(),  # heed's threads are its own
    "hwy/": {"kernels"},
    "dnnl": {"ops"},
    "sentencepiece": {"text"},
    "pcre2": {"text"},
    "utf8proc": {"unicode"},
    "nlohmann/": {"io"},
    "zip.h": {"io"},
    "png.h": {"image"},
    "jpeglib.h": {"image"},
    "jerror.h": {"image"},
    "cairo": {"viz"},
    "pango": {"viz"},
    "CLI/": {"cli"},
    "pybind11/": {"python"},
    "Python.h": {"python"},
    "fmt/": set(LEVELS) | {TESTING},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
HIGHWAYS_DISPATCH = re.compile(r"HWY_EXPORT|HWY_DYNAMIC_DISPATCH")
OMP = re.compile(r"^\s*#\s*pragma\s+omp\b")


def room_of(file):
    """The room of a path from the root; a folder within a room's may be a room of its own."""
    parts = pathlib.PurePath(file).parts
    if parts[0] != "heed":
        return parts[0]
    folders = ["/".join(parts[1:depth]) for depth in range(len(parts) - 1, 1, -1)]
    return next((folder for folder in folders if folder in LEVELS), parts[1])


def is_test(path):
    return path.stem.endswith(("_test", "_bench"))


def check_file(path, root):
    room = room_of(path.relative_to(root))
    if room not in LEVELS and room != TESTING:
        yield 1, f"{room} is not a room: give it a level in tools/check_layers.py"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if OMP.match(line):
            yield number, "heed's threads are its own: parallel_for in heed/base/parallel.h"
        if HIGHWAYS_DISPATCH.search(line):
            yield number, "kernels are called through HEED_EXPORT and HEED_DISPATCH, which obey HEED_TARGET"
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1)
        if target.startswith("heed/"):
            other = room_of(target)
            if other == room:
                continue
            if other == TESTING:
                if not is_test(path):
                    yield number, "only tests include the testing room"
            elif other not in LEVELS:
                yield number, f"{other} is not a room"
            elif room != TESTING and LEVELS[other] >= LEVELS[room]:
                yield number, f"{room} ({LEVELS[room]}) must not include {other} ({LEVELS[other]})"
            continue
        for prefix, rooms in DOORS.items():
            if target.startswith(prefix) and room not in rooms and not is_test(path):
                yield number, f"{target} belongs in {', '.join(sorted(rooms)) or 'no room'}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = sorted(p for folder in ("heed", "cli", "python", "conformance") for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc"))
    files = [p for p in files if p.parent != root / "heed"]  # heed/heed.h and heed/attention.h, which are for users
    broken = 0
    for path in files:
        for number, rule in check_file(path, root):
            print(f"{path.relative_to(root)}:{number}: {rule}")
            broken += 1
    print(f"{len(files)} files, {broken} broken rules")
    return 1 if broken or not files else 0


if __name__ == "__main__":
    sys.exit(main())
