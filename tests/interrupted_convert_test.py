#!/usr/bin/env python3
"""interrupted_convert_test.py HEED: whenever Ctrl-C or a service manager stops heed convert, the new model is there whole, or there is
nothing of it and of what it was written by; once it has begun it says so, and exits with 130 or 143."""

import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def main():
    heed = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run([heed, "corpus", "--pairs", "50", "--validation", "8", "--test", "1", "--out", root / "data"], check=True,
                       stdout=subprocess.DEVNULL)
        data = root / "data"
        subprocess.run([heed, "train", "--source", data / "train.de", "--target", data / "train.en", "--valid-source", data / "valid.de",
                        "--valid-target", data / "valid.en", "--out", root / "model", "--preset", "tiny", "--vocabulary-size", "200",
                        "--max-updates", "1"], check=True, capture_output=True)
        before = sorted(path.name for path in root.iterdir())
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            seen = set()
            for attempt in range(1000):
                if attempt % 50 == 0:  # the moments are spread over as long as a whole run takes just now
                    began = time.monotonic()
                    subprocess.run([heed, "convert", root / "model", "--out", root / "out"], check=True)
                    whole_run = time.monotonic() - began
                    shutil.rmtree(root / "out")
                process = subprocess.Popen([heed, "convert", root / "model", "--out", root / "out"], stderr=subprocess.PIPE, text=True)
                time.sleep(whole_run * (attempt % 50) / 50)
                process.send_signal(number)
                _, said = process.communicate()
                seen.add(process.returncode)
                left = sorted(path.name for path in root.iterdir())
                if process.returncode == 0:
                    subprocess.run([heed, "info", root / "out"], check=True, stdout=subprocess.DEVNULL)
                    shutil.rmtree(root / "out")
                elif process.returncode not in (status, -number) or left != before:  # -number: it had not begun
                    sys.exit(f"{number.name}: exit status {process.returncode}, files {left}, and it said {said!r}")
                elif process.returncode == status and said != "heed: interrupted: nothing is written\n":
                    sys.exit(f"{number.name}: it said {said!r}")
                if status in seen and attempt >= 50:
                    break
            if status not in seen:
                sys.exit(f"{number.name}: was never in the middle of heed convert")


if __name__ == "__main__":
    main()
