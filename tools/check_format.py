#!/usr/bin/env python3
"""Holds every C++ file to the tree's .clang-format, and its comments, which clang-format leaves alone, and those of
JavaScript to 120 columns. Exits 1, naming each place; 77 (skipped) where clang-format 14, Debian 12's, is missing:
other versions format otherwise."""

import pathlib
import re
import subprocess
import sys

FOLDERS = ("heed", "cli", "python", "conformance", "tests", "fuzz", "bench")
COLUMNS = 120
SKIPPED = 77


def has_formatter():
    try:
        version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return re.search(r"version 14\.", version) is not None


def wide_comments(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > COLUMNS and line.lstrip().startswith("//"):
            yield f"{path}:{number}: a comment of {len(line)} columns"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc"))
    if not files:
        sys.exit("no files")
    if not has_formatter():
        print("skipped: clang-format 14 is not installed (script/setup installs it)")
        return SKIPPED
    scripts = sorted(
        p for folder in FOLDERS for p in (root / folder).rglob("*")
        if p.suffix in (".js", ".mjs") and "node_modules" not in p.parts
    )
    broken = [line for path in files + scripts for line in wide_comments(path)]
    check = subprocess.run(["clang-format", "--dry-run", *map(str, files)], capture_output=True, text=True, check=False)
    broken += [line for line in check.stderr.splitlines() if "[-Wclang-format-violations]" in line]
    if check.returncode != 0:
        broken.append(check.stderr)
    for line in broken:
        print(line.replace(f"{root}/", ""))
    print(f"{len(files) + len(scripts)} files, {len(broken)} places to mend: clang-format -i does it, but for comments")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
