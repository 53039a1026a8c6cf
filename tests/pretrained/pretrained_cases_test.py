#!/usr/bin/env python3
"""pretrained_cases_test.py HEED_CONFORMANCE: heed against PyTorch, for families of models of which no file with stated numbers is at hand:
make_cases.py writes small models of random weights with what float64 makes of them, and heed-conformance --models runs them. Exits 77, saying
so, where no Python has PyTorch; a case that is skipped is a failure."""

import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
DEBIANS = "/usr/bin/python3"  # which python3-torch is for, whatever Python CMake found
MODULES = "import torch, numpy"


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
        run = subprocess.run([conformance, "--models", str(cases)], stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout, end="")
    last = run.stdout.splitlines()[-1]
    return 0 if run.returncode == 0 and last.endswith(" passed, 0 failed, 0 skipped") and not last.startswith("0 ") else 1


sys.exit(main())
