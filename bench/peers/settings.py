"""The settings under which a peer is tried, since they change its speed by several times: OpenBLAS does not know every processor and then
takes a slow kernel, and glibc's malloc gives large blocks back to the system after each call."""

import os
import pathlib
import re
import subprocess

DEBIAN_PYTHON = "/usr/bin/python3"  # Debian's packages are seen by Debian's Python alone
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "268435456"}
# OpenBLAS's kernels that can be asked for, each with the processor's flag that it needs.
KERNELS = {"Haswell": "avx2", "Zen": "sse4a", "SkylakeX": "avx512f"}


def blas_folder(name):
    return next(iter(sorted(pathlib.Path("/usr/lib").glob(f"*/{name}-openmp"))), None)


def kernel_of_its_own(folder):
    """The kernel that OpenBLAS takes for this processor where nobody asks."""
    load = 'import ctypes; ctypes.CDLL("libblas.so.3")'
    found = subprocess.run([DEBIAN_PYTHON, "-c", load], env=dict(os.environ, LD_LIBRARY_PATH=str(folder), OPENBLAS_VERBOSE="2"),
                           capture_output=True, text=True, check=False)
    named = re.search(r"^Core: (\w+)", found.stdout + found.stderr, re.MULTILINE)
    return named[1] if named else "its own kernel"


def blas_settings():
    """Yields (name, environment) for each BLAS, and each kernel of OpenBLAS, that there is; where there is none, for the one that is used."""
    openblas, blis = blas_folder("openblas"), blas_folder("blis")
    flags = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    if openblas:
        own = kernel_of_its_own(openblas)
        yield f"OpenBLAS {own}", {"LD_LIBRARY_PATH": str(openblas)}
        for kernel, flag in KERNELS.items():
            if flag in flags and kernel != own:
                yield f"OpenBLAS {kernel}", {"LD_LIBRARY_PATH": str(openblas), "OPENBLAS_CORETYPE": kernel}
    if blis:
        yield "BLIS", {"LD_LIBRARY_PATH": str(blis)}
    if not openblas and not blis:
        yield "Debian's BLAS", {}


def pytorch_settings(threads):
    """(name, environment) of each way to run PyTorch."""
    return [(name, {"OMP_NUM_THREADS": str(threads), **KEEP_MEMORY, **blas}) for name, blas in blas_settings()]
