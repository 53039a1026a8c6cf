"""The package as its users' tools see it: its stub has what the extension has, whatever is public has a docstring and annotations, and importing
heed imports neither torch nor anything else that takes a while."""

import ast
import inspect
import pathlib
import re
import subprocess
import sys
import unittest

import heed
from heed import _heed

FOLDER = pathlib.Path(heed.__file__).parent


def public(names):
    return {name for name in names if not name.startswith("_") or name in ("__init__", "__add__", "__and__", "__dlpack__", "__dlpack_device__")}


def defined_in(body):
    """The names that a stub's module or class defines, and the classes among them."""
    names, classes = set(), {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        if isinstance(node, ast.ClassDef):
            classes[node.name] = node
    return names, classes


class Stub(unittest.TestCase):
    def test_has_what_the_extension_has(self):
        names, classes = defined_in(ast.parse((FOLDER / "_heed.pyi").read_text()).body)
        self.assertEqual(public(names), public(vars(_heed)))
        for name, node in classes.items():
            if name == "Error":
                continue
            with self.subTest(name):
                stub = public(defined_in(node.body)[0]) - {"arrays"}  # of each object
                self.assertEqual(stub | {"__init__"}, public(vars(getattr(_heed, name))) | {"__init__"})

    def test_has_the_parameters_that_the_extension_has(self):
        for node in ast.parse((FOLDER / "_heed.pyi").read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name in heed.__all__:
                called = getattr(heed, node.name)
                if inspect.isbuiltin(called):
                    said = re.findall(r"(?:\(|, )(\w+): ", called.__doc__.splitlines()[0])
                    self.assertEqual((node.name, [one.arg for one in node.args.args + node.args.kwonlyargs]), (node.name, said))

    def test_is_installed_with_the_mark_of_typed_packages(self):
        self.assertTrue((FOLDER / "py.typed").exists())


def is_of_extension(one):
    return inspect.isbuiltin(inspect.unwrap(one)) if callable(one) else False


class Public(unittest.TestCase):
    def test_everything_has_a_docstring(self):
        public_here = {name: getattr(heed, name) for name in public(vars(heed)) if not inspect.ismodule(getattr(heed, name))}
        docs = {name: inspect.getdoc(one) or "" for name, one in public_here.items()}
        # Of the extension's functions the first line says how they are called.
        self.assertEqual([name for name, doc in docs.items() if len(doc.splitlines()) <= 2 * is_of_extension(public_here[name])], [])

    def test_python_functions_are_annotated(self):
        for name in public(vars(heed)):
            function = getattr(heed, name)
            if inspect.isfunction(function) and not is_of_extension(function):
                signature = inspect.signature(function)
                missing = [one for one in signature.parameters.values() if one.annotation is inspect.Parameter.empty]
                self.assertEqual((name, missing, signature.return_annotation is inspect.Signature.empty), (name, [], False))

    def test_the_version_is_the_projects(self):
        self.assertRegex(heed.__version__, r"^\d+\.\d+\.\d+$")

    def test_torch_is_imported_where_it_is_used_and_nowhere_else(self):
        code = "import sys, heed; print('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout, "False\n")

    def test_a_star_leaves_pythons_sum_alone(self):
        modules = {name for name in public(vars(heed)) if inspect.ismodule(getattr(heed, name))}
        self.assertEqual(public(vars(heed)) - modules - set(heed.__all__), {"sum", "version"})

    def test_an_unknown_name_is_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "module 'heed' has no attribute 'attend'"):
            heed.attend


if __name__ == "__main__":
    unittest.main()
