#!/usr/bin/env python3
"""Prints the size and shape of the tree: files and their lengths, the longest function, the include arrows inside
ops/attention and those that run back up, and the headers that are installed. `--tree FOLDER` measures another checkout."""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"(heed/[^"]+)"')
ATTENTION = pathlib.PurePath("heed/ops/attention")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def function_lengths(path):
    """Yields (lines, first line) of each body that opens at the end of a line and closes at the start of one, as clang-format
    leaves functions: a member's inside its class, a function's at the margin."""
    opened = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        text = line.strip()
        if text.startswith(":"):  # the initialisers of a constructor stand four columns in
            indent -= 4
        if text.endswith("{") and ")" in text and not text.startswith(("}", "if", "for", "while", "switch", "else", "do", "namespace")):
            opened[indent] = number
        elif text.startswith("}") and indent in opened:
            first = opened.pop(indent)
            yield number - first + 1, first


def sources(root):
    return sorted(p for folder in ("heed", "cli", "conformance") for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc"))


def is_test(path):
    return path.stem.endswith(("_test", "_bench"))


def attention_arrows(root):
    """The include arrows inside ops/attention between units (x.h and x.cc are one), from what is not a test or a benchmark."""
    arrows = set()
    for path in sorted((root / ATTENTION).rglob("*")):
        if path.suffix not in (".h", ".cc") or is_test(path):
            continue
        own = str(path.relative_to(root).with_suffix(""))
        for line in path.read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            if match and pathlib.PurePath(match.group(1)).is_relative_to(ATTENTION):
                other = str(pathlib.PurePath(match.group(1)).with_suffix(""))
                if other != own:
                    arrows.add((own, other))
    return arrows


def in_cycles(arrows):
    """The arrows that lie on a cycle: from their head, arrows lead back to their tail."""
    following = {}
    for tail, head in arrows:
        following.setdefault(tail, set()).add(head)

    def reachable(start):
        found, waiting = set(), [start]
        while waiting:
            for unit in following.get(waiting.pop(), ()):
                if unit not in found:
                    found.add(unit)
                    waiting.append(unit)
        return found

    reach = {unit: reachable(unit) for unit in following}
    return {(tail, head) for tail, head in arrows if tail in reach.get(head, ())}


def installed_headers(root):
    found, waiting = set(), ["heed/heed.h"]
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            for line in (root / header).read_text(encoding="utf-8").splitlines():
                match = INCLUDE.match(line)
                if match:
                    waiting.append(match.group(1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().tree
    files = sources(root)
    code = [p for p in files if not is_test(p)]
    lines = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in files}
    longest = max((length, p, first) for p in code for length, first in function_lengths(p))
    arrows = attention_arrows(root)
    print(f"files {len(files)}, of which {len(files) - len(code)} tests and benchmarks")
    print(f"lines {sum(lines.values())}, p90 of a file {percentile([lines[p] for p in code], 0.9)} without tests")
    print(f"longest function {longest[0]} lines, {longest[1].relative_to(root)}:{longest[2]}")
    print(f"include arrows inside ops/attention {len(arrows)}, on a cycle {len(in_cycles(arrows))}")
    print(f"headers installed {len(installed_headers(root))}, of {len([p for p in code if p.suffix == '.h'])}")


if __name__ == "__main__":
    sys.exit(main())
