#!/usr/bin/env python3
"""Holds the public headers, which are those that heed/heed.h reaches, to their rules: none includes a third-party library's header,
each that speaks of heed::Error declares it, and heed/attention.h reaches only the rooms of its library. Exits 1, naming each header
that breaks a rule. With --not-first it lists the public headers that neither a source file of their own includes first nor a program of
tests/package: the release preset, which compiles each source by itself and without precompiled headers, does not show of these that they
can be included by themselves."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ATTENTION, ALL, ERROR = "heed/attention.h", "heed/heed.h", "heed/base/error.h"
# The rooms of heed_attention (heed/CMakeLists.txt).
ATTENTION_ROOMS = ("heed/base/", "heed/tensor/", "heed/kernels/", "heed/ops/attention/", "heed/ops/rotary/", "heed/ops/gated_delta/")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def read(header):
    return (ROOT / header).read_text(encoding="utf-8")


def includes(header):
    return [(kind, name) for kind, name in INCLUDE.findall(read(header))]


def reach(header):
    """The headers of heed that a header includes, those that they include, and so on, with itself."""
    found, waiting = set(), [header]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [name for _, name in includes(one) if name.startswith("heed/")]
    return found


def not_first():
    for header in sorted(reach(ALL) - {ALL, ATTENTION}):
        source = header.removesuffix(".h") + ".cc"
        if not (ROOT / source).exists() or includes(source)[0] != ('"', header):
            yield header


def broken_rules():
    public, attention = reach(ALL), reach(ATTENTION)
    for header in sorted(public):
        text = read(header)
        if "#pragma once" not in text:
            yield header, "needs #pragma once"
        for kind, name in includes(header):
            standard = kind == "<" and re.fullmatch(r"[a-z0-9_]+", name)
            if not standard and not name.startswith("heed/"):
                yield header, f"is public and must not include {name}"
        if "heed::Error" in text and ERROR not in reach(header):
            yield header, f"speaks of heed::Error and must include {ERROR}"
    if ATTENTION not in public:
        yield ALL, f"must include {ATTENTION}"
    for header in sorted(attention - {ATTENTION}):
        if not header.startswith(ATTENTION_ROOMS):
            yield header, f"is reached by {ATTENTION}, but its room is not in heed::attention"


def main():
    if sys.argv[1:] == ["--not-first"]:
        print("\n".join(not_first()))
        return 0
    rules = list(broken_rules())
    for header, rule in rules:
        print(f"{header}: {rule}")
    print(f"{len(reach(ALL))} public headers, {len(rules)} broken rules")
    return 1 if rules else 0


if __name__ == "__main__":
    sys.exit(main())
