#!/usr/bin/env python3
"""Holds docs/architecture.md to the tree: its table has every room and no other, and each recipe lists the files that its example needs.

A recipe is a heading '### A score: 8 files', a line that names the example's words ('As `kCosineScore` and `Kind::cosine`:'), and a list
of files. They must be as many as the heading says, and be the sources of heed and cli, tests aside, in which one of the words stands;
heed/pretrained, where others' models name what they are made of, adds nothing.
Exits 1, naming each difference."""

import pathlib
import re
import sys

from check_layers import LEVELS, is_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture.md"
HEADING = re.compile(r"### (.+): (\d+) files?")
CODE = re.compile(r"`([^`]+)`")


def sources():
    for folder in ("heed", "cli"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cc") and not is_test(path) and path.parent.name != "pretrained":
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def recipes(lines):
    """Yields the title, the count that it says, the words and the files of each recipe."""
    recipe = None
    for line in lines:
        heading = HEADING.fullmatch(line)
        if heading:
            if recipe:
                yield recipe
            recipe = (heading[1], int(heading[2]), [], set())
        elif recipe and line.startswith("As "):
            recipe[2].extend(CODE.findall(line))
        elif recipe and line.startswith("- "):
            recipe[3].update(CODE.findall(line)[:1])
    if recipe:
        yield recipe


def main():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    wrong = []
    rooms = {CODE.findall(line)[0] for line in lines if line.startswith("| `")}
    for room in sorted(rooms ^ set(LEVELS)):
        wrong.append(f"{room}: is {'not a room' if room in rooms else 'a room that is not in the table'}")
    texts = dict(sources())
    count = 0
    for title, number, words, listed in recipes(lines):
        count += 1
        word = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)")
        found = {name for name, text in texts.items() if words and word.search(text)}
        if number != len(found):
            wrong.append(f"{title}: {number} files, but there are {len(found)}")
        for name in sorted(found ^ listed):
            wrong.append(f"{title}: {name} {'is listed and names no example' if name in listed else 'names the example and is not listed'}")
    for line in wrong:
        print(f"{PAGE.relative_to(ROOT)}: {line}")
    print(f"{len(rooms)} rooms, {count} recipes, {len(wrong)} differences")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
