#!/usr/bin/env python3
"""Holds what unnamed namespaces define to be unique among the sources of a target, which share translation units in the preset dev
(docs/decisions/0037-units-of-compilation.md): which sources meet in one unit changes with every file that is added. Functions may
share a name where they take something else; using-declarations and aliases are left to the compiler. Exits 1, naming each definition that
is there twice."""

import collections
import pathlib
import re
import sys

from check_layers import room_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("heed", "cli", "python", "conformance", "tests")
ALONE = ("kernels",)  # compiled one by one
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
# clang-format begins a definition at the line's first column, and goes on in lines that do not.
CHUNK = re.compile(r"^(?![\s#}{)]).*(?:\n(?: .*)?$)*", re.MULTILINE)
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(?:alignas\(.*?\)\s+)?(\w+)")
SKIPPED = ("using ", "namespace ", "static_assert", "TEST", "INSTANTIATE_", "TYPED_")
FUNCTION = re.compile(r"([~\w]+|operator\S+)\s*\((.*)\)[^()]*$", re.DOTALL)
CONSTANT = re.compile(r"[\s*&](k[A-Z]\w*|g_\w+)(?:\[[^\]]*\])*\s*(?==|\{)")
TEMPLATE = re.compile(r"^template <.*>\n", re.MULTILINE)


def declaration(chunk):
    """A definition up to its body or value."""
    depth = 0
    for at, c in enumerate(chunk):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c in "={;":
            return chunk[:at]
    return chunk


def without_nested(text):
    """What stands in brackets is left out."""
    while True:
        shorter = re.sub(r"\([^(){}]*\)|(?<=.)\{[^(){}]+\}", "{}", text)
        if shorter == text:
            return text
        text = shorter


def parameter_types(parameters):
    """The types that a function takes, without names and defaults: what may differ between functions of one name."""
    types, depth, begin = [], 0, 0
    for at, c in enumerate(parameters + ","):
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            one = parameters[begin:at].split(" = ")[0].strip()
            types.append(re.sub(r"(?<=[\w>&*\]])\s+\w+(\[\])?$", r"\1", one) if " " in one else one)
            begin = at + 1
    return tuple(re.sub(r"\s+", " ", one) for one in types)


def definitions(text):
    """What the unnamed namespaces of a source define: names, with the types that a function takes."""
    for block in UNNAMED.findall(text):
        block = NOISE.sub(lambda found: '""' if found[0][0] in '"R' else "", block)
        for chunk in CHUNK.findall(TEMPLATE.sub("", block)):
            chunk = re.sub(r"^\[\[\w+\]\]\s*", "", chunk)
            head = declaration(chunk)
            if found := TYPE.match(head):
                yield found[1], None
            elif head.startswith(SKIPPED):
                continue
            elif head.rstrip().endswith((")", "noexcept", "const")):
                if found := FUNCTION.search(head):
                    yield found[1], parameter_types(found[2])
            else:
                for name in CONSTANT.findall(without_nested(chunk)):
                    yield name, None


def target_of(path):
    kind = next((kind for kind in ("_test", "_bench") if path.stem.endswith(kind)), "")
    return room_of(path.as_posix()) + kind


def main():
    places = collections.defaultdict(lambda: collections.defaultdict(set))
    count = 0
    for path in (path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.cc"))):
        target = target_of(path)
        if target in ALONE or path.parent.name == "faults":
            continue
        count += 1
        for definition in definitions((ROOT / path).read_text(encoding="utf-8")):
            places[target][definition].add(path.as_posix())
    twice = [(target, name, sorted(files))
             for target, names in sorted(places.items()) for (name, _), files in names.items() if len(files) > 1]
    for target, name, files in twice:
        print(f"{target}: {name} is defined in {' and '.join(files)}")
    print(f"{count} sources, {len(twice)} names that two of a room have")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
