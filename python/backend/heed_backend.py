"""Builds heed's wheel: CMake makes the package, and this puts it into a zip (PEP 517, PEP 427). What CMAKE_ARGS holds is given to CMake, too.

The extension links Debian's libraries, so a wheel is for the system that it was built on."""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "wheel"


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version():
    return re.search(r"project\(heed VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def metadata():
    known = project()
    lines = ["Metadata-Version: 2.1", f"Name: {known['name']}", f"Version: {version()}", f"Summary: {known['description']}",
             f"License: {known['license']['text']}", f"Requires-Python: {known['requires-python']}"]
    lines += [f"Classifier: {one}" for one in known["classifiers"]]
    lines += [f"Requires-Dist: {one}" for one in known["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / known["readme"]).read_text(encoding="utf-8")]
    return "\n".join(lines)


def build_package(folder):
    """Has CMake build the package and install it into the folder."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = ["cmake", "-S", ROOT, "-B", BUILD, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DHEED_BUILD_PYTHON=ON", "-DHEED_BUILD_CLI=OFF",
                 "-DHEED_BUILD_TESTS=OFF", "-DHEED_WERROR=OFF", f"-DPython_EXECUTABLE={sys.executable}",
                 *shlex.split(os.environ.get("CMAKE_ARGS", ""))]
    for command in (configure, ["cmake", "--build", BUILD, "--target", "heed_python", "--parallel"],
                    ["cmake", "--install", BUILD, "--component", "python", "--prefix", folder, "--strip"]):
        subprocess.run(command, check=True)


def record_line(name, contents):
    digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(contents)}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, info = f"heed-{version()}-{tag()}.whl", f"heed-{version()}.dist-info"
    with tempfile.TemporaryDirectory() as folder:
        build_package(folder)
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: heed\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = [record_line(one, contents) for one, contents in files.items()] + [f"{info}/RECORD,,"]
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for one, contents in files.items():
            entry = zipfile.ZipInfo(one)  # of a fixed date, so that the same package is the same wheel
            entry.external_attr = (0o755 if one.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, contents)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The files that git tracks, and the metadata."""
    base = f"heed-{version()}"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in filter(None, tracked):
            archive.add(ROOT / name, f"{base}/{name}")
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(metadata())
            file.flush()
            archive.add(file.name, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"
