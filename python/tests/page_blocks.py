"""The Python of the README and of docs/python.md, run block after block; a block of text after one of Python is what it prints."""

import contextlib
import io
import os
import pathlib
import re
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("docs/python.md", "README.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def blocks(page, with_torch):
    """(line, code, printed or None) of each block that needs torch, or of each that does not."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if bool(re.search(r"\btorch\b", match[1])) == with_torch:
            yield text.count("\n", 0, match.start()) + 2, match[1], match[2]


def run_page(test, page, with_torch):
    """Runs the blocks in one namespace and an empty folder. Returns how many there were."""
    names, count = {"__name__": "page"}, 0
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for line, code, printed in blocks(page, with_torch):
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile("\n" * (line - 1) + code, str(ROOT / page), "exec"), names)
                test.assertEqual(said.getvalue(), printed or "", f"{page}:{line}")
                count += 1
        finally:
            os.chdir(before)
    return count
