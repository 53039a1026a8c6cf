"""The settings under which a peer is tried, since they change its speed by several times: OpenBLAS does not know every processor and then
takes a slow kernel, and glibc's malloc gives large blocks back to the system after each call."""

import functools
import os
import pathlib
import re
import subprocess

DEBIAN_PYTHON = "/usr/bin/python3"  # Debian's packages are seen by Debian's Python alone
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "268435456"}
# OpenBLAS's kernels that can be asked for, each with the processor's flag that it needs.
KERNELS = {"Haswell": "avx2", "Zen": "sse4a", "SkylakeX": "avx512f", "Cooperlake": "avx512_bf16"}


def blas_folder(name):
    return next(iter(sorted(pathlib.Path("/usr/lib").glob(f"*/{name}-openmp"))), None)


def kernel_in_use(environment):
    """The kernel that OpenBLAS says it takes, which is not always the one that was asked for."""
    load = 'import ctypes; ctypes.CDLL("libblas.so.3")'
    found = subprocess.run([DEBIAN_PYTHON, "-c", load], env={**os.environ, **environment, "OPENBLAS_VERBOSE": "2"}, capture_output=True,
                           text=True, check=False)
    named = re.search(r"^Core: (\w+)", found.stdout + found.stderr, re.MULTILINE)
    return named[1] if named else "of its own choice"


def openblas_settings(folder):
    """The environment for each kernel that fits, by its name; the one that OpenBLAS takes by itself is the first."""
    flags = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    library = {"LD_LIBRARY_PATH": str(folder)}
    asked = [library, *(dict(library, OPENBLAS_CORETYPE=kernel) for kernel, flag in KERNELS.items() if flag in flags)]
    kernels = {}
    for environment in asked:
        kernels.setdefault(f"OpenBLAS {kernel_in_use(environment)}", environment)
    return kernels


@functools.cache
def blas_settings():
    """The environment for each BLAS that there is; where Debian's alternatives are missing, for the one that is used without them."""
    openblas, blis = blas_folder("openblas"), blas_folder("blis")
    of_openblas = openblas_settings(openblas) if openblas else {}
    of_blis = {"BLIS": {"LD_LIBRARY_PATH": str(blis)}} if blis else {}
    return of_openblas | of_blis or {"Debian's BLAS": {}}


def pytorch_settings(threads):
    """The environment of each way to run PyTorch, by its name."""
    return {name: {"OMP_NUM_THREADS": str(threads), **KEEP_MEMORY, **blas} for name, blas in blas_settings().items()}
