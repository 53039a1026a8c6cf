#!/usr/bin/env python3
"""Prints the skipped tests with their reasons, the failed ones with the end of what they said, and a last line that counts, from the
JUnit file that ctest writes."""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SHOWN_LINES = 40  # of a failed test's output


def reason(case):
    """What a skipped test said: GoogleTest's message, or a script's line that begins with "skipped:"."""
    output = case.findtext("system-out") or ""
    match = re.search(r"Skipped\n(.+)", output) or re.search(r"^skipped: (.+)$", output, re.MULTILINE)
    if match:
        return match.group(1).strip()
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else "") or "no reason given"


def main():
    if not pathlib.Path(sys.argv[1]).exists():
        sys.exit("no test ran")
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    if not cases:
        sys.exit("no test ran")
    skipped = [case for case in cases if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None]
    failed = [case for case in cases if case.get("status") == "fail"]
    for case in skipped:
        print(f"skipped: {case.get('name')}: {reason(case)}")
    for case in failed:
        print(f"failed: {case.get('name')}")
        for line in (case.findtext("system-out") or "").splitlines()[-SHOWN_LINES:]:
            print(f"    {line}")
    print(f"{len(cases) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
