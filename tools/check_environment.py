#!/usr/bin/env python3
"""Holds docs/environment.md to the tree: each variable that a program, a script or a tool of heed reads from the environment is on the
page with the files that read it, and nothing else is. Exits 1, naming each variable that is not."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("heed", "cli", "python", "conformance", "bench", "fuzz", "tests", "tools", "script", ".ci")
PAGE = ROOT / "docs/environment.md"
# How a file reads a variable, by the name's end or, for a script, its first line. Shells have variables of their own: heed's begin with HEED_.
READS = {
    "c++": re.compile(r'\bgetenv\(\s*"(\w+)"'),
    "python": re.compile(r'\bos\.(?:environ\.get\(|environ\[|getenv\()\s*"(\w+)"'),
    "shell": re.compile(r"\$\{?(HEED_\w+)"),
}
HIDDEN = re.compile(r"\bgetenv\(\s*[^\s\"]")  # by a name that this tool cannot see


def language(path):
    if path.suffix in (".cc", ".h"):
        return "c++"
    if path.suffix == ".py":
        return "python"
    if path.suffix == ".sh" or path.parts[0] == "script" or path.name == "run":
        return "shell"
    return None


def read_by_tree():
    """The files that read each variable."""
    readers = {}
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()):
        name = path.relative_to(ROOT).as_posix()
        kind = language(pathlib.PurePath(name))
        if kind is None:
            continue
        text = path.read_text(encoding="utf-8")
        for variable in READS[kind].findall(text):
            readers.setdefault(variable, set()).add(name)
        if kind == "c++" and HIDDEN.search(text):
            readers.setdefault("a variable without a plain name", set()).add(name)
    return readers


def on_page():
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        variable = re.fullmatch(r"`(\w+)`", cells[0])
        if line.startswith("|") and variable:
            rows[variable[1]] = set(re.findall(r"`([^`]+)`", cells[-1]))
    return rows


def main():
    tree, page = read_by_tree(), on_page()
    wrong = [name for name in sorted(tree.keys() | page.keys()) if tree.get(name) != page.get(name)]
    for name in wrong:
        reads, says = (", ".join(sorted(files.get(name, ()))) or "nobody" for files in (tree, page))
        print(f"{name}: read by {reads}; {PAGE.relative_to(ROOT)} says {says}")
    print(f"{len(tree)} variables, {len(wrong)} of which the page has not right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
