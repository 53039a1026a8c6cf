#!/usr/bin/env python3
"""extract_snippets.py PAGE FIXTURE OUT: writes each piece of C++ on a Markdown page as a test of FIXTURE.

A piece is a ```cpp block, or code between backticks that ends with ';' in a row of a table. A ```text block that follows
a ```cpp block is what the piece must print. The fixture's begin_piece is shown the code before it runs."""

import re
import sys


def pieces(lines):
    """Yields (line number, code, expected output or None)."""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("|"):
            for code in re.findall(r"`([^`]*;)`", line):
                yield number, code, None
        elif line == "```cpp":
            first = number + 1
            end = lines.index("```", number)
            code = "\n".join(lines[number:end])
            number = end + 1
            expected = None
            if lines[number : number + 2] == ["", "```text"]:
                end = lines.index("```", number + 2)
                expected = "\n".join(lines[number + 2 : end]) + "\n"
                number = end + 1
            yield first, code, expected


def main(page, fixture, out):
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    tests = []
    for number, code, expected in pieces(lines):
        code = f'begin_piece(R"cpp({code})cpp");\n{code}'
        body = code if expected is None else f'ExpectOutput expected(R"text({expected})text");\n{code}'
        tests.append(f"TEST_F({fixture}, Line{number}) {{\n{body}\n}}\n")
    if not tests:
        sys.exit(f"{page}: no code found")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(tests))


if __name__ == "__main__":
    main(*sys.argv[1:])
