#!/usr/bin/env python3
"""coprocess_test.py HEED: a program that writes a line to `heed translate` and waits for its translation gets it before it writes another
one, and the answers are those that the whole text gets at once."""

import pathlib
import select
import subprocess
import sys
import tempfile

PATIENCE = 120  # seconds, for a machine that is very busy: without an answer there is never one
LINES = ["Der Hund schläft.", "", "Ja.", "Die Frau sieht den Mann."]


def make_model(heed, root):
    data, model = root / "data", root / "model"
    subprocess.run([heed, "corpus", "--pairs", "200", "--validation", "4", "--test", "1", "--out", data], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([
        heed, "train", "--source", data / "train.de", "--target", data / "train.en", "--valid-source", data / "valid.de",
        "--valid-target", data / "valid.en", "--out", model, "--width", "16", "--ffn-width", "32", "--heads", "2",
        "--encoder-layers", "1", "--decoder-layers", "1", "--vocabulary-size", "200", "--batch-tokens", "600", "--max-updates", "1",
    ], check=True, capture_output=True)
    return model


def ask(process, line):
    process.stdin.write(line.encode() + b"\n")
    if not select.select([process.stdout], [], [], PATIENCE)[0]:
        process.kill()
        sys.exit(f"no translation of {line!r} while standard input is open")
    return process.stdout.readline().decode()


def main():
    heed = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [heed, "translate", make_model(heed, pathlib.Path(folder)), "--beam", "2"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            answers = [ask(process, line) for line in LINES]
            process.stdin.close()
            rest = process.stdout.read()
        whole = subprocess.run(command, input="".join(line + "\n" for line in LINES), capture_output=True, text=True, check=True)
        if process.returncode != 0 or rest or "".join(answers) != whole.stdout:
            sys.exit(f"exit status {process.returncode}, {answers} and then {rest}, but at once {whole.stdout!r}")


if __name__ == "__main__":
    main()
