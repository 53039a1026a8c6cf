#!/usr/bin/env python3
"""run.py modules|NAME HEED: runs the tests of the page's modules by node, which hold them to what the command HEED explains, or those of
NAME.test.mjs, of whole pages, which HEED makes, in Chromium. Exits 77 (skipped), saying why, where node, Chromium or the packages of package.json are
missing."""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
OLDEST_NODE = 18  # Debian 12's, the first with a test runner


def skip(reason):
    print(f"skipped: {reason} (script/setup installs it)")
    sys.exit(SKIPPED)


def main():
    which, heed = sys.argv[1:]
    node = shutil.which("node")
    if node is None:
        skip("node is not installed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        skip(f"node is {version.strip()}, and its test runner came with {OLDEST_NODE}")
    environment = dict(os.environ, HEED=heed)
    if which == "modules":
        files = sorted((HERE.parent.parent / "heed" / "viz" / "page" / "tests").glob("*.test.js"))
    else:
        chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
        if chromium is None:
            skip("Chromium is not installed")
        for package in ("playwright-core", "axe-core"):
            if not (HERE / "node_modules" / package).is_dir():
                skip(f"{package} is not in tests/browser/node_modules")
        environment.update(CHROMIUM=chromium)
        files = [HERE / f"{which}.test.mjs"]
    if not files:
        sys.exit("no tests")
    sys.exit(subprocess.run([node, "--test", *map(str, files)], env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
