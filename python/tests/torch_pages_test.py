"""The Python of heed's pages that needs torch, and the example notebook. Skipped where torch is not installed (script/setup peers)."""

import ast
import json
import os
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: torch is not installed (script/setup peers does it)")
    sys.exit(77)

from page_blocks import PAGES, ROOT, run_page


def run_cell(code, name, names):
    """Runs a cell as a notebook does, and returns the value of its last line."""
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), names)
    return eval(compile(last, name, "eval"), names) if last else None


class Pages(unittest.TestCase):
    def test_do_what_they_say(self):
        count = sum(run_page(self, page, with_torch=True) for page in PAGES)
        self.assertGreater(count, 0)


class Notebooks(unittest.TestCase):
    def test_run_from_the_first_cell_to_the_last(self):
        for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
            with self.subTest(notebook.name), tempfile.TemporaryDirectory() as folder:
                torch.manual_seed(0)
                os.chdir(folder)
                names, shown = {"__name__": "notebook"}, []
                cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
                for number, cell in enumerate(cells):
                    if cell["cell_type"] == "code":
                        self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))  # what is committed is the code
                        value = run_cell("".join(cell["source"]), f"{notebook.name}, cell {number}", names)
                        if hasattr(value, "_repr_html_"):
                            shown.append(value._repr_html_())
                os.chdir(ROOT)
                self.assertGreater(len(shown), 1)
                for page in shown:
                    self.assertIn('<div class="heed-attention">', page)


if __name__ == "__main__":
    unittest.main()
