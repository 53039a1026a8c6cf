#!/usr/bin/env python3
"""Prints the skipped tests with their reasons, the failed ones with the end of what they said, and a last line that counts, from the
JUnit file that ctest writes with all that its tests said. A suite of GoogleTest, one test of ctest, counts as the tests that it ran."""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SHOWN_LINES = 40  # of a failed test's output
BEGIN = re.compile(r"\[ RUN      \] (\S+)$")
END = re.compile(r"\[ +(OK|SKIPPED|FAILED) +\] (\S+?),? .*\(\d+ ms\)$")


def tests_of_suite(output):
    """(name, result, lines that it said) of each test of GoogleTest that began; one that did not end has failed."""
    name, said = None, []
    for line in output.splitlines():
        if begin := BEGIN.search(line):
            name, said = begin[1], []
        elif (end := END.search(line)) and end[2] == name:
            yield name, end[1], said
            name = None
        else:
            said.append(line)
    if name:
        yield name, "FAILED", said


def result_of(case):
    """What a test of ctest came to; a suite of which no test ran has failed."""
    if "[==========] Running 0 tests" in (case.findtext("system-out") or ""):
        return "FAILED"
    if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
        return "SKIPPED"
    return "FAILED" if case.get("status") == "fail" else "OK"


def tests_of(case):
    """(name, result, lines that it said) of all that a test of ctest ran."""
    output = case.findtext("system-out") or ""
    tests = [(case.get("name").removesuffix(name).removesuffix(name.split(".")[0]) + name, result, said)
             for name, result, said in tests_of_suite(output)]
    if not tests or (result_of(case) == "FAILED" and not any(result == "FAILED" for _, result, _ in tests)):
        skipped = case.find("skipped")
        message = "" if skipped is None else skipped.get("message", "")  # ctest's own, of what it did not run
        tests.append((case.get("name"), result_of(case), [*output.splitlines(), f"skipped: {message}"] if message else output.splitlines()))
    return tests


def reason(said):
    """Why a test was skipped: GoogleTest's message, or a script's line that begins with "skipped:"."""
    output = "\n".join(said)
    match = re.search(r"Skipped\n(.+)", output) or re.search(r"^skipped: (.+)$", output, re.MULTILINE)
    return match[1].strip() if match else "no reason given"


def main():
    if not pathlib.Path(sys.argv[1]).exists():
        sys.exit("no test ran")
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    if not cases:
        sys.exit("no test ran")
    tests = [test for case in cases for test in tests_of(case)]
    of_result = {wanted: [(name, said) for name, result, said in tests if result == wanted] for wanted in ("OK", "SKIPPED", "FAILED")}
    for name, said in of_result["SKIPPED"]:
        print(f"skipped: {name}: {reason(said)}")
    for name, said in of_result["FAILED"]:
        print(f"failed: {name}")
        for line in said[-SHOWN_LINES:]:
            print(f"    {line}")
    print(f"{len(of_result['OK'])} passed, {len(of_result['FAILED'])} failed, {len(of_result['SKIPPED'])} skipped")
    return 1 if of_result["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
