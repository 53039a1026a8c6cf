#!/usr/bin/env python3
"""interrupted_training_test.py HEED: training that Ctrl-C or a service manager stops says so, saves, and exits with 130 or 143, so that
a command behind && does not run; the same command goes on. While the vocabulary is learned there is nothing to save yet, and it stops at once."""

import pathlib
import signal
import subprocess
import sys
import tempfile


def train_command(heed, data, model, updates):
    return [
        heed, "train", "--source", data / "train.de", "--target", data / "train.en", "--valid-source", data / "valid.de",
        "--valid-target", data / "valid.en", "--out", model, "--width", "16", "--ffn-width", "32", "--heads", "2",
        "--encoder-layers", "1", "--decoder-layers", "1", "--vocabulary-size", "200", "--batch-tokens", "600",
        "--validate-every", "1000000", "--max-updates", str(updates),
    ]


def interrupt(command, number, moment="parameters"):
    """Sends the signal as soon as the run says a line with this word, by default that it trains. Returns its exit status, what it printed
    and what it said after that line."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if moment in line:
            process.send_signal(number)
            break
    said, output = process.stderr.read(), process.stdout.read()
    return process.wait(), output, said


def expect(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"{what}: {seen!r} instead of {wanted!r}")


def main():
    heed = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        data = root / "data"
        large = root / "large"  # whose vocabulary takes seconds
        for corpus, pairs in ((data, 200), (large, 20000)):
            subprocess.run([heed, "corpus", "--pairs", str(pairs), "--validation", "8", "--test", "1", "--out", corpus], check=True,
                           stdout=subprocess.DEVNULL)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            model = root / number.name
            returned, output, _ = interrupt(train_command(heed, data, model, 10**9), number)
            expect(f"exit status after {number.name}", returned, status)
            expect(f"output after {number.name}", output, "stopped: interrupted; the same command goes on from here\n")
            expect("files of a model without a validation", (model / "model.safetensors").exists(), False)
            expect("a saved state", (model / "training" / "state.safetensors").exists(), True)
            early = root / f"{number.name}-early"
            seen = interrupt(train_command(heed, large, early, 1), number, "learning a vocabulary")
            expect(f"{number.name} while a vocabulary is learned", seen, (status, "", "heed: interrupted before training began\n"))
            expect("files of a run that has not begun", [path.name for path in early.rglob("*") if path.is_file()], ["lock"])
            again = subprocess.run(train_command(heed, data, early, 1), capture_output=True, text=True, check=False)
            expect("exit status of the next run in that folder", (again.returncode, again.stderr[-300:] if again.returncode else ""), (0, ""))
        # A run that goes on from there ends well, and one that ends well exits with 0.
        again = subprocess.run(train_command(heed, data, root / "SIGINT", 1), capture_output=True, text=True, check=False)
        expect("exit status of a run that ends", (again.returncode, again.stderr[-300:] if again.returncode else ""), (0, ""))
        expect("a model", (root / "SIGINT" / "model.safetensors").exists(), True)


if __name__ == "__main__":
    main()
