#!/usr/bin/env python3
"""measure.py --peers FOLDER [options]: times heed and its peers in turn, one group of rows at a time, so that both see the same minutes, and
writes the page and its figure. bench/peers/run starts it, when everything is installed and built."""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import tempfile

import performance_page
import problems
import settings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "bench/peers"
MEASURED = ROOT / "build/bench/peers"
HEED = ROOT / "build/bench/bin/heed"
FIGURE = ROOT / "build/bench/bench/heed_performance_figure"


def options():
    parser = argparse.ArgumentParser(prog="bench/peers/run", description="Times heed beside its peers and writes docs/performance.md.")
    parser.add_argument("--peers", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="how many compute, for each of them")
    parser.add_argument("--seconds", type=float, default=1, help="how long each row is timed")
    parser.add_argument("--rounds", type=int, default=3, help="how often all of it is done; medians are shown")
    parser.add_argument("--filter", default="", help="only the rows in whose names this regular expression is found")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs", help="where the page and the figure go")
    return parser.parse_args()


# --- heed --------------------------------------------------------------------------------------------------------------------------------------


def heed_report(names, asked):
    """What `heed bench attention` reports of these names."""
    pattern = "^(" + "|".join(names) + ")$"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        subprocess.run([HEED, "bench", "attention", "--threads", str(asked.threads), "--seconds", str(asked.seconds), "--filter", pattern,
                        "--json", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def heed_names(asked):
    listed = subprocess.run([HEED, "bench", "attention", "--list", "--threads", str(asked.threads), "--filter", asked.filter], check=True,
                            stdout=subprocess.PIPE, text=True)
    return listed.stdout.split()


# --- Peers -------------------------------------------------------------------------------------------------------------------------------------


def lines_of(command, asked, environment=None):
    """The JSON lines that a peer's program prints, and its last words where it failed."""
    try:
        done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, env={**os.environ, **(environment or {})},
                              check=False)
    except OSError as error:  # there is no such program
        return [], str(error)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return lines, ""
    errors = [line for line in done.stderr.splitlines() if "Error" in line] or done.stderr.splitlines()[-1:]
    return lines, errors[0].strip() if errors else f"ended with {done.returncode}"


def time_pytorch(asked, wanted, failures):
    command = [settings.DEBIAN_PYTHON, HERE / "pytorch.py", str(asked.threads), str(asked.seconds)]
    for name, environment in settings.pytorch_settings(asked.threads).items():
        lines, error = lines_of(command, wanted, environment)
        if error:
            failures["PyTorch"] = f"{name}: {error}"
        yield from (dict(line, setting=name) for line in lines)


def time_onnxruntime(asked, wanted, failures):
    with tempfile.TemporaryDirectory() as graphs:
        _, error = lines_of([settings.DEBIAN_PYTHON, HERE / "onnx_graphs.py", graphs], wanted)
        if not error:
            lines, error = lines_of(["node", HERE / "onnxruntime.js", str(asked.threads), str(asked.seconds), graphs, asked.peers], wanted)
            yield from (dict(line, setting="") for line in lines)
    if error:
        failures["ONNX Runtime"] = error


# --- All of it ---------------------------------------------------------------------------------------------------------------------------------


def problems_of(names):
    wanted = [of for of in map(problems.problem_of, names) if of]
    return [dict(of, key_copies=problems.key_copies(of)) for of in wanted]


def groups_of(names):
    """The rows' names by what stands before the first stroke, in their order."""
    groups = collections.defaultdict(list)
    for name in names:
        if not name.startswith("limit/"):
            groups[name.split("/")[0]].append(name)
    return groups


def measure(names, asked, lines, failures):
    """Times every group once. Yields heed's reports; adds the peers' lines, and which peer failed and why."""
    for group, rows in groups_of(names).items():
        print(f"{group}: heed", end="", flush=True)
        report = heed_report([re.escape(row) for row in rows], asked)
        for row in report["rows"]:
            problems.check_same_work(row)
        wanted = problems_of(rows)
        for name, time_peer in (("PyTorch", time_pytorch), ("ONNX Runtime", time_onnxruntime)) if wanted else ():
            print(f", {name}", end="", flush=True)
            lines.extend(time_peer(asked, wanted, failures))
        print(flush=True)
        yield report


def output_of(*command):
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def conditions(asked):
    """What the page says of the run, beside what heed's own report has."""
    system = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": output_of("git", "describe", "--always", "--dirty"),
        "system": system.get("PRETTY_NAME", "unknown").strip('"'),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / (1 << 30)),
        "load": os.getloadavg()[0],
        "filter": asked.filter,
        "openblas": output_of("dpkg-query", "-W", "-f=${Version}", "libopenblas0-openmp"),
        "blas_settings": list(settings.blas_settings()),
    }


def write(out, contents):
    """Leaves what was measured, and the page and the figure that show it."""
    for name, content in contents.items():
        (MEASURED / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    performance_page.write(MEASURED, out)
    subprocess.run([FIGURE, MEASURED / "chart.json", out / "performance.svg"], check=True)


def main():
    asked = options()
    for folder in (MEASURED, asked.out):
        folder.mkdir(parents=True, exist_ok=True)
    before, names = conditions(asked), heed_names(asked)
    reports, lines, failures = [heed_report(["limit/.*"], asked)], [], {}
    for turn in range(1, asked.rounds + 1):  # each ends with a page, so that one that is interrupted costs no more than itself
        print(f"round {turn} of {asked.rounds}")
        reports.extend(measure(names, asked, lines, failures))
        write(asked.out, {"heed": performance_page.merge_reports(reports), "peers": lines,
                          "conditions": dict(before, rounds=turn, failures=failures)})
    print(f"{asked.out / 'performance.md'}, {asked.out / 'performance.svg'}; measured: {MEASURED}")


if __name__ == "__main__":
    main()
