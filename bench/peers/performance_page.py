"""Joins heed's report with the lines of its peers, and writes what they show: docs/performance.md and the data of its figure.

    joined = join(report, lines)          # one entry for each of heed's rows
    text = page_text(report, joined, conditions)
"""

import json
import math
import statistics

import problems

PEERS = ("PyTorch", "ONNX Runtime")
NONE = "-"


# --- Joining -----------------------------------------------------------------------------------------------------------------------------------


def middle(entries):
    """The one of the median time; of an even count the faster of the two."""
    return sorted(entries, key=lambda entry: entry["seconds"])[(len(entries) - 1) // 2]


def by_key(entries, key):
    groups = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


def merge_reports(reports):
    """One report of several: of each limit the fastest, since no slower one is what the machine can do, and of each row the median, with
    its shares of the limits that were measured beside it."""
    limits = [max(found, key=lambda limit: limit["rate"]) for found in
              by_key((limit for report in reports for limit in report["limits"]), lambda limit: limit["name"]).values()]
    rows = [middle(found) for found in by_key((row for report in reports for row in report["rows"]), lambda row: row["name"]).values()]
    return dict(reports[0], limits=limits, rows=rows)


def join(report, lines):
    """heed's rows, each with "peers": for each that timed it, its fastest setting, the median of the rounds; and "best", the fastest of them
    or None. A peer's line without a row of heed's is an error."""
    names = {row["name"] for row in report["rows"]}
    if strangers := sorted({line["row"] for line in lines} - names):
        raise ValueError(f"heed's report has no row {', '.join(strangers)}")
    joined = []
    for row in report["rows"]:
        timed = [line for line in lines if line["row"] == row["name"] and "seconds" in line]
        of_settings = by_key(timed, lambda line: (line["peer"], line["setting"])).values()
        peers = {}
        for line in map(middle, of_settings):
            if line["peer"] not in peers or line["seconds"] < peers[line["peer"]]["seconds"]:
                peers[line["peer"]] = line
        best = min(peers.values(), key=lambda line: line["seconds"], default=None)
        joined.append(dict(row, peers=peers, best=best))
    return joined


def speed_over_best(row):
    """How many times as fast heed is; None where there is nobody to be faster than."""
    return row["best"]["seconds"] / row["seconds"] if row["best"] and row["seconds"] else None


# --- The page ----------------------------------------------------------------------------------------------------------------------------------


def table(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def milliseconds(seconds):
    return f"{seconds * 1e3:.3f}" if seconds else NONE


def percent(share):
    return f"{share * 100:.0f} %" if share else NONE


def setting_text(line):
    parts = [line["peer"], *filter(None, (line["form"], line["setting"]))]
    return ", ".join(parts)


def peer_cell(row, peer, failures):
    if peer in row["peers"]:
        return milliseconds(row["peers"][peer]["seconds"])
    return "failed" if peer in failures and problems.problem_of(row["name"]) else NONE


def best_share(row):
    """The share of the peak of the fastest call, as a limit is the fastest of its calls."""
    return row["share_of_peak"] * row["seconds"] / row["fastest"] if row["fastest"] else 0


def row_cells(row, failures):
    speed = speed_over_best(row)
    base = f"{row['ratio']:.2f} x {row['over']}" if row["over"] else NONE
    rate = f"{row['rate']:.1f} {row['unit']}" if row["rate"] else NONE
    plan = f"refused: {row['refused']}" if row["refused"] else row["plan"]
    shares = map(percent, (row["share_of_peak"], best_share(row), row["share_of_limit"]))
    return [f"`{row['name']}`", milliseconds(row["seconds"]), rate, *shares, base, plan,
            *(peer_cell(row, peer, failures) for peer in PEERS), setting_text(row["best"]) if row["best"] else NONE,
            f"{speed:.2f}" if speed else NONE]


def summary(joined):
    speeds = [speed for speed in map(speed_over_best, joined) if speed]
    if not speeds:
        return "No peer timed any of these rows."
    mean = math.exp(statistics.fmean(map(math.log, speeds)))
    ahead = sum(speed > 1 for speed in speeds)
    return f"Of {len(speeds)} rows that a peer has too, heed is the faster one in {ahead}; the geometric mean of its speed over the best peer's is {mean:.2f}."


def peer_texts(joined, conditions):
    for peer in PEERS:
        versions = sorted({row["peers"][peer]["version"] for row in joined if peer in row["peers"]})
        failure = conditions["failures"].get(peer)
        text = f"{peer} {', '.join(versions)}" if versions else f"{peer}: not measured"
        yield text + (f" (failed: `{failure}`)" if failure else "")


def slowest(limit, rows):
    """The least that a limit was beside a row: how much the machine itself changed while it was measured."""
    beside = [row["rate"] / row["share_of_peak"] for row in rows if row["peak"] == limit["name"] and row["share_of_peak"]]
    return f"{min(beside):.1f} {limit['unit']}" if beside else NONE


def page_text(report, joined, conditions):
    threads = f"{report['threads']} thread{'s' if report['threads'] != 1 else ''}"
    forced = "".join(f", {name}={report[key]}" for name, key in (("HEED_PLAN", "forced_plan"), ("HEED_TARGET", "forced_target")) if report[key])
    only = f" Only the rows that `{conditions['filter']}` finds." if conditions["filter"] else ""
    headings = ["row", "heed, ms", "rate", "of peak", "at best", "of limit", "beside its base", "plan", *(f"{peer}, ms" for peer in PEERS), "best peer",
                "heed's speed over it"]
    limits = [[f"`{limit['name']}`", f"{limit['rate']:.1f} {limit['unit']}" if limit["rate"] else NONE, slowest(limit, report["rows"]), limit["note"]]
              for limit in report["limits"]]
    return f"""# Performance

Written by `bench/peers/run`, which times heed and its peers in turn on one machine; nothing here is set by hand.{only}

- {report['processor']}, {threads}, {conditions['memory_gib']} GiB; {conditions['system']}; {conditions['date']}
- heed {report['version']} ({conditions['commit']}), {report['target']}{forced}
- {chr(10).join("- " + text for text in peer_texts(joined, conditions))[2:]}
- each row {report['seconds']:g} s, {conditions['rounds']} round{'s' if conditions['rounds'] != 1 else ''}; load of the machine before the run: {conditions['load']:.2f}

PyTorch runs under each of {', '.join(conditions['blas_settings'])} (OpenBLAS {conditions['openblas']}),
with glibc told to keep its memory, and in each form that computes a row; ONNX Runtime with each operator that does. The fastest of them is
shown. A time is the median of calls, and the median of the rounds.

## What the machine can do

{table(["limit", "fastest", "slowest beside a row", "by"], limits)}

## Rows

![Speed over length](performance.svg)

{summary(joined)}

{table(headings, [row_cells(row, conditions["failures"]) for row in joined])}

"Of peak" is the rate over that of multiply-adds alone (decode: of reading memory; additive: of tanh, of
which heed computes fewer than it counts), "at best" that of the fastest call of
the median round, as the limits are the fastest of their calls: other work on the machine takes less from it than from the median. "Of limit" is
what all that a row does takes at the limits, one after the other, over what it took; the limits are measured again before each group of rows. Of
decode it is what reading its keys and values takes, timed in turn with it, over what it took.
Where the slowest is far below the fastest, the machine was not this run's alone, and neither a share nor a ratio to a peer is finer than that;
a limit that was measured in a slow moment leaves shares above 100 %. "Beside its base" is timed by heed alone: how many times as long as what
follows. `heed bench --help` has the rest.
"""


# --- The figure --------------------------------------------------------------------------------------------------------------------------------

PANELS = {"forward": "forward, f32", "causal": "causal, f32", "bf16-forward": "forward, bf16", "bf16-causal": "causal, bf16"}
FIGURE_WIDTH = 64  # of heads


def limit_of(row, peak, exp):
    """The rate of a row at the limits, which depends on no length."""
    return row["operations"] / (row["operations"] / peak + row["exponentials"] / exp)


def chart(report, joined):
    """Speed over length, a panel for each kind of forward row: {"panels": [{"title", "peak", "limit", "series": [{"name", "points"}]}]}, in GFLOP/s."""
    rates = {limit["name"]: limit["rate"] for limit in report["limits"]}
    panels = []
    for kind, title in PANELS.items():
        rows = [(problems.problem_of(row["name"])["queries"], row) for row in joined if row["name"].startswith(kind + "/") and row["seconds"]]
        rows = sorted(((length, row) for length, row in rows if problems.problem_of(row["name"])["width"] == FIGURE_WIDTH),
                      key=lambda entry: entry[0])
        if not rows:
            continue
        first, peak = rows[0][1], rates[rows[0][1]["peak"]]
        series = [{"name": "heed", "points": [{"length": length, "rate": row["rate"]} for length, row in rows]}]
        for peer in PEERS:
            points = [{"length": length, "rate": row["operations"] / row["peers"][peer]["seconds"] / 1e9} for length, row in rows
                      if peer in row["peers"]]
            series += [{"name": peer, "points": points}] if points else []
        panels.append({"title": title, "peak": peak, "limit": limit_of(first, peak, rates["limit/exp"]), "series": series})
    title = f"Speed over length, heads of {FIGURE_WIDTH}"
    machine = f"{report['processor']}, {report['threads']} thread{'s' if report['threads'] != 1 else ''}"
    return {"title": title, "machine": machine, "panels": panels}


def write(measured, out):
    """Writes OUT/performance.md and MEASURED/chart.json of the three files that measure.py leaves."""
    report, lines, conditions = (json.loads((measured / f"{name}.json").read_text(encoding="utf-8")) for name in ("heed", "peers", "conditions"))
    joined = join(report, lines)
    (out / "performance.md").write_text(page_text(report, joined, conditions), encoding="utf-8")
    (measured / "chart.json").write_text(json.dumps(chart(report, joined), indent=1) + "\n", encoding="utf-8")
