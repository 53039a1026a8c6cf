#!/usr/bin/env python3
"""pretrained_cases_test.py HEED_CONFORMANCE: heed against PyTorch, for families of models of which no file with stated numbers is at hand:
make_cases.py writes small models of random weights with what float64 makes of them, and heed-conformance runs them, with their own weights and
with rounded ones. Exits 77, saying so, where no Python has PyTorch; a case that is skipped is a failure, but for what rounded weights generate."""

import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
DEBIANS = "/usr/bin/python3"  # which python3-torch is for, whatever Python CMake found
MODULES = "import torch, numpy"


def passes(conformance, kind, cases):
    run = subprocess.run([conformance, kind, str(cases)], stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in run.stdout.splitlines() if not line.endswith("what rounded weights generate")]
    print(kind, *lines, sep="\n")
    skipped = " 0 skipped" if kind == "--models" else " skipped"
    return run.returncode == 0 and len(lines) == 1 and lines[0].endswith(skipped) and not lines[0].startswith("0 ")


def main():
    conformance = sys.argv[1]
    make_cases = pathlib.Path(__file__).resolve().parent / "make_cases.py"
    pythons = [python for python in (sys.executable, DEBIANS) if pathlib.Path(python).exists()
               and subprocess.run([python, "-c", MODULES], stderr=subprocess.DEVNULL, check=False).returncode == 0]
    if not pythons:
        print("skipped: no Python here has PyTorch and NumPy (Debian: python3-torch, which script/setup peers installs)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        cases = pathlib.Path(folder) / "cases"
        subprocess.run([pythons[0], str(make_cases), str(cases)], check=True)
        return 0 if all([passes(conformance, kind, cases) for kind in ("--models", "--models-bf16", "--models-int8")]) else 1


sys.exit(main())
