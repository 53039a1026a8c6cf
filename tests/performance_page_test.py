#!/usr/bin/env python3
"""performance_page_test.py HEED: what bench/peers writes of two reports: the fastest setting of each peer by the median of its rounds, rows
without a peer, and a peer that failed; and that its problems do the work of heed's rows. No peer is needed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench/peers"))

import performance_page
import problems

HEED = ""  # the command
CONDITIONS = {"date": "today", "commit": "0", "system": "Debian", "memory_gib": 8, "load": 0, "rounds": 3, "filter": "", "openblas": "0.3",
              "blas_settings": ["BLIS"], "failures": {}}


def row(name, seconds, **others):
    return {"name": name, "plan": "fused", "refused": "", "seconds": seconds, "operations": 2e9, "exponentials": 1e7, "peak": "limit/peak",
            "unit": "GFLOP/s", "rate": 2 / seconds, "fastest": seconds / 2, "share_of_peak": 0.5, "share_of_limit": 0.75, "over": "", "ratio": 0, **others}


def report(*rows, peak=100.0):
    limits = [{"name": "limit/peak", "rate": peak, "unit": "GFLOP/s", "note": "AVX2"}, {"name": "limit/exp", "rate": 1.0, "unit": "G/s", "note": ""}]
    return {"version": "1", "processor": "P", "target": "AVX2", "threads": 2, "seconds": 1, "forced_plan": "", "forced_target": "",
            "limits": limits, "rows": list(rows)}


def line(name, peer, seconds, setting=""):
    return {"row": name, "peer": peer, "version": "3", "form": "F", "seconds": seconds, "samples": 5, "setting": setting}


def cells(text, name):
    found = [entry for entry in text.splitlines() if entry.startswith(f"| `{name}` |")]
    return [cell.strip() for cell in found[0].strip("|").split("|")]


class Joining(unittest.TestCase):
    def test_a_peer_is_its_fastest_setting_by_the_median_of_its_rounds(self):
        name = "forward/L512/D64"
        lines = [line(name, "PyTorch", seconds, setting)
                 for setting, rounds in (("A", (0.1, 9, 8)), ("B", (4, 3, 5)), ("C", (6, 6, 6))) for seconds in rounds]
        joined = performance_page.join(report(row(name, 2)), lines + [line(name, "ONNX Runtime", 5)])[0]
        self.assertEqual((joined["best"]["setting"], joined["best"]["seconds"]), ("B", 4))
        self.assertEqual(joined["peers"]["ONNX Runtime"]["seconds"], 5)
        self.assertEqual(performance_page.speed_over_best(joined), 2)

    def test_several_reports_are_one_of_median_rows_and_fastest_limits(self):
        reports = [report(row("short/causal", seconds), peak=peak) for seconds, peak in ((3, 90.0), (1, 110.0), (2, 100.0))]
        merged = performance_page.merge_reports(reports)
        self.assertEqual([each["seconds"] for each in merged["rows"]], [2])
        self.assertEqual([each["rate"] for each in merged["limits"]], [110, 1])

    def test_a_line_of_a_row_that_heed_has_not_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no row short/forward"):
            performance_page.join(report(row("short/causal", 1)), [line("short/forward", "PyTorch", 1)])


class Page(unittest.TestCase):
    def test_each_row_is_there_with_or_without_a_peer(self):
        with_peer, without = "causal/L512/D64", "over-plain/alibi"
        measured = report(row(with_peer, 0.002), row(without, 0.004, over="plain", ratio=1.25))
        joined = performance_page.join(measured, [line(with_peer, "PyTorch", 0.003, "BLIS")])
        text = performance_page.page_text(measured, joined, CONDITIONS)
        self.assertEqual(cells(text, with_peer)[1:], ["2.000", "1000.0 GFLOP/s", "50 %", "100 %", "75 %", "-", "fused", "3.000", "-",
                                                      "PyTorch, F, BLIS", "1.50"])
        self.assertEqual(cells(text, without)[6:], ["1.25 x plain", "fused", "-", "-", "-", "-"])
        self.assertEqual(cells(text, "limit/peak")[2], "1000.0 GFLOP/s")  # the slowest beside a row
        self.assertIn("Of 1 rows that a peer has too, heed is the faster one in 1", text)

    def test_a_peer_that_failed_is_named_with_its_reason_in_its_column(self):
        measured = report(row("short/causal", 0.002), row("over-plain/alibi", 0.004))
        conditions = dict(CONDITIONS, failures={"ONNX Runtime": "Error: no such module"})
        text = performance_page.page_text(measured, performance_page.join(measured, []), conditions)
        self.assertIn("ONNX Runtime: not measured (failed: `Error: no such module`)", text)
        self.assertEqual([cells(text, name)[9] for name in ("short/causal", "over-plain/alibi")], ["failed", "-"])

    def test_the_figure_has_a_line_for_each_who_was_timed(self):
        measured = report(*(row(f"forward/L{length}/D64", 1) for length in (512, 128)), row("forward/L512/D128", 1))
        panels = performance_page.chart(measured, performance_page.join(measured, [line("forward/L128/D64", "PyTorch", 4)]))["panels"]
        self.assertEqual([panel["title"] for panel in panels], ["forward, f32"])
        lengths = {series["name"]: [point["length"] for point in series["points"]] for series in panels[0]["series"]}
        self.assertEqual(lengths, {"heed": [128, 512], "PyTorch": [128]})
        self.assertAlmostEqual(panels[0]["limit"], 2 / (2 / 100 + 0.01))


class Problems(unittest.TestCase):
    def test_they_do_the_work_of_heeds_rows(self):
        names = "^(short/.*|forward/L128/D64|causal/L512/D64|bf16-forward/L512/D64|additive/.*|linear/.*ward)$"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.json"
            subprocess.run([HEED, "bench", "attention", "--seconds", "0.001", "--filter", names, "--json", file], check=True,
                           stdout=subprocess.DEVNULL)
            rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
        self.assertEqual(len(rows), 10)
        for each in rows:
            problems.check_same_work(each)

    def test_other_work_is_refused(self):
        wrong = row("short/forward", 1, operations=1, bytes=1)
        with self.assertRaisesRegex(ValueError, "short/forward: heed's row has 1 operations"):
            problems.check_same_work(wrong)

    def test_every_kind_of_row_that_a_peer_has_is_known(self):
        listed = subprocess.run([HEED, "bench", "attention", "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        of_heed_alone = ("linear/doubled", "decode/int8", "prompt/int8")  # no peer has a cache of int8 with a scale for each row
        unknown = {name.split("/")[0] for name in listed if problems.problem_of(name) is None and not name.startswith(of_heed_alone)}
        self.assertLessEqual(unknown, {"limit", "sparse", "over-plain", "over-softmax", "one-thread"})


if __name__ == "__main__":
    HEED = sys.argv.pop(1)
    unittest.main()
