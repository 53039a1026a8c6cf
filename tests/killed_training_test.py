#!/usr/bin/env python3
"""killed_training_test.py HEED [KILLS]: training that is killed (SIGKILL) at random moments and continued by the same command ends with
the same model.safetensors, byte for byte, as training that ran through."""

import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time


def train_command(heed, data, model):
    return [
        heed, "train", "--source", data / "train.de", "--target", data / "train.en", "--valid-source", data / "valid.de",
        "--valid-target", data / "valid.en", "--out", model, "--width", "32", "--ffn-width", "64", "--heads", "2",
        "--encoder-layers", "1", "--decoder-layers", "1", "--vocabulary-size", "300", "--batch-tokens", "800",
        "--max-updates", "60", "--validate-every", "20", "--validation-sentences", "20", "--average", "2", "--save-every", "3",
    ]


def run(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.monotonic() - begin


def run_and_kill(command, seconds):
    """True if the run was killed; False if it ended before."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, error = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    if process.returncode != 0:
        sys.exit(f"a continued run failed: {error.decode()}")
    return False


def main():
    heed, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    moments = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        data = root / "data"
        subprocess.run([heed, "corpus", "--pairs", "400", "--validation", "20", "--test", "1", "--out", data], check=True,
                       stdout=subprocess.DEVNULL)
        whole = run(train_command(heed, data, root / "whole"))
        expected = (root / "whole" / "model.safetensors").read_bytes()
        done, folders = 0, 0
        while done < kills:
            model = root / f"killed{folders}"
            folders += 1
            killed_here = 0
            # Kills fall anywhere from the first moments to the last; each continuation is killed again, until one ends by itself.
            while done < kills and run_and_kill(train_command(heed, data, model), moments.uniform(0.02, 0.8 * whole)):
                done += 1
                killed_here += 1
            run(train_command(heed, data, model))
            if (model / "model.safetensors").read_bytes() != expected:
                sys.exit(f"after {killed_here} kills the model differs from that of a run that was left alone")
            files, expected_files = ({str(p.relative_to(r)) for p in r.rglob("*")} for r in (model, root / "whole"))
            if files != expected_files:
                sys.exit(f"after {killed_here} kills the folder differs by {', '.join(sorted(files ^ expected_files))}")
            print(f"{model.name}: {killed_here} kills, the same model")
        print(f"{done} kills in {folders} runs, each of which ends with the same bytes")


if __name__ == "__main__":
    main()
