#!/usr/bin/env python3
"""faults_test.py HEED LIBRARY [all] [PATTERN]: whatever call of the system fails, or whichever allocation, a command ends with one line that says
what could not be done and why, leaves every file whole, and does its work when it is run again.

Each task is first run alone, which counts its calls; then once for each fault, by LIBRARY (fault_plan.cc). Without `all`, a sample:
one call of each kind on files of each ending, and fewer allocations. With PATTERN, a regular expression, only what it matches:
'train:write:7:.*'."""

import collections
import errno
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from folder_tree import Tree, is_part, whole_name

SKIPPED = 77
SHORT = "short"
# What each kind of call is made to fail with. EINTR is for those that POSIX lets be interrupted.
ERRORS = {
    "open": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "read": [errno.EIO, errno.EINTR, SHORT],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR, SHORT],
    "close": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "sync": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "rename": [errno.EIO, errno.ENOSPC],
    "remove": [errno.EIO],
    "make_folder": [errno.EIO, errno.ENOSPC],
    "lock": [errno.EIO, errno.ENOLCK, errno.EINTR],
    "status": [errno.EIO],
    "link": [errno.EIO],
    "list": [errno.EIO],
    "truncate": [errno.EIO, errno.EINTR],
    "mode": [errno.EIO, errno.EINTR],
    "owner": [errno.EIO, errno.EINTR],
    "control": [errno.EIO, errno.EINTR],
    "poll": [errno.EIO, errno.EINTR],
    "map": [errno.EIO],
}
# Kinds that every run of this test must have met: otherwise the library no longer stands before what heed calls.
EXPECTED_KINDS = {"open", "read", "write", "close", "sync", "rename", "remove", "make_folder", "lock", "status", "link", "list", "mode",
                  "owner", "map", "allocate"}
NO_MEMORY = ("heed: out of memory", os.strerror(errno.ENOMEM))  # the second from calls of the system that need some
ASKED_FOR_EVER = 99  # exit status: see fault_plan.cc
LIMIT_SECONDS = 120  # a run takes a tenth of a second


def harmless(kind, what):
    """Why a command may succeed although this call failed; None where it must not."""
    if kind == "close":
        return "what was written is on disk before it, and the descriptor is gone whatever it says"
    if kind == "poll":
        return "it only waits: the read that follows says what is wrong"
    if kind == "control":
        return "it asks for a larger pipe, or whether a standard stream is open"
    if kind == "owner":
        return "a file that is replaced keeps its owner only where that is allowed"
    if kind == "mode":
        return "it takes the mark of an unfinished file from one that is in its place; before that, the permissions are compared"
    if kind == "write" and what == "<error>":
        return "progress that nobody sees is no reason to stop"
    return None


def excused(outcome, refused, crashed, lasts):
    """Why a command may crash, or ask for memory for ever, where an allocation was refused, and with `lasts` all after it, from what the
    log names of both; None where it must not: it crashed elsewhere, or in one of heed's functions that lets no exception through,
    although from there."""
    if outcome.status == -signal.SIGABRT and outermost(refused).startswith("libsentencepiece"):
        return "SentencePiece's own threads let an exception end the process"
    if outcome.status == -signal.SIGABRT and "glibc error: failed to register TLS destructor" in outcome.error:
        return "glibc ends the process where it has no memory to note what a thread leaves behind"
    failed_in, crashed_in = innermost(refused), innermost(crashed)
    if outcome.status not in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGTRAP, ASKED_FOR_EVER):
        return None
    if "terminate called after throwing" in outcome.error:
        return None
    pango = ("libpango", "libglib", "libfontconfig")
    # Pango has a thread of its own: where every allocation fails, the first to be refused need not be the one that crashes.
    if crashed_in.startswith(pango) and (lasts or failed_in.startswith(pango)):
        return "Pango, and GLib and Fontconfig below it, end the process without memory, use what they could not allocate, or ask for ever"
    if crashed_in != failed_in:
        return None
    if failed_in.startswith("libpixman"):
        return "Pixman, below Cairo, uses what it could not allocate"
    if "libsentencepiece" in failed_in and outcome.status != ASKED_FOR_EVER:
        return "Protobuf, in SentencePiece, cannot take a message apart that it could not put together"
    if "libdnnl" in failed_in and outcome.status != ASKED_FOR_EVER:
        return "oneDNN gives up where it has no memory for the code that it writes, or uses what it could not allocate"
    return None


def callers(libraries):
    """The libraries that call, of those that a log names, the caller of each behind it: without those that act for others, as those of
    the system and of C++ do, and Expat for Fontconfig."""
    acts_for_others = ("libheed_fault_injection", "libstdc++", "libc.so", "libgcc_s", "ld-linux", "libexpat")
    return [library for library in libraries.split() if not library.startswith(acts_for_others)]


def innermost(libraries):
    return next(iter(callers(libraries)), "")


def outermost(libraries):
    """Whose thread it was."""
    return next(reversed(callers(libraries)), "")


def may_leave_part(kind):
    """An unfinished file is removed by the command that fails, unless what fails is to look at it, to lock it or to remove it; the next
    run then removes it."""
    return kind in ("lock", "status", "remove", "allocate")


# --- Tasks ------------------------------------------------------------------------------------------------------------


class Outcome:
    def __init__(self, status, output, error, tree):
        self.status, self.output, self.error, self.tree = status, output, error, tree


class Task:
    """A command, run in a copy of a folder."""

    def __init__(self, name, start, arguments, text=b"", output_is_timed=False, only_once=False):
        self.name, self.start, self.arguments, self.text, self.output_is_timed = name, start, arguments, text, output_is_timed
        self.only_once = only_once  # where it has done its work, it refuses to do it again
        self.goes_on = {}  # from what a fault left, by its key: what is wrong with running the command again, or ""

    def shown_output(self, output):
        return b"" if self.output_is_timed else output


class Bench:
    def __init__(self, heed, library, root):
        self.heed, self.library, self.root = heed, library, root
        self.work, self.log = root / "work", root / "log"

    def place(self, start):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(start, self.work, symlinks=True)

    def run(self, task, fault=None, count=False):
        """Runs the task in the work folder as it is."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HEED_")}
        if fault is not None or count:
            self.log.unlink(missing_ok=True)
            environment |= {"LD_PRELOAD": str(self.library), "HEED_FAULT_LOG": str(self.log)}
        if fault is not None:
            environment["HEED_FAULT"] = fault
        with (self.root / "input").open("w+b") as text:
            text.write(task.text)
            text.seek(0)
            try:
                done = subprocess.run([self.heed, *task.arguments], cwd=self.work, env=environment, stdin=text, capture_output=True,
                                      timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                return Outcome(None, b"", f"no end after {LIMIT_SECONDS} seconds", Tree(self.work))
        return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"), Tree(self.work))

    def struck(self):
        """What the last run's fault struck, or None where the run made no such call; and the libraries in which it then crashed, or ""."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        crash = lines.pop().split(" ", 2)[2] if lines and lines[-1].startswith("crash ") else ""
        return lines[0].split(" ", 2)[2] if lines else None, crash

    def counted(self):
        """The calls of the last run: kind to what each was on."""
        calls = collections.defaultdict(list)
        for line in self.log.read_text().splitlines():
            kind, number, what = line.split(" ", 2)
            if kind == "allocate":
                calls[kind] = int(number)
            else:
                calls[kind].append(what)
        return calls


# --- Faults -----------------------------------------------------------------------------------------------------------


def call_faults(calls, everything):
    """(kind, number, error) of every call; or of one call of each kind on files of each ending, the errors in turn."""
    for kind, paths in calls.items():
        if kind == "allocate":
            continue
        if everything:
            yield from ((kind, number, error) for number in range(1, len(paths) + 1) for error in ERRORS[kind])
            continue
        numbers = collections.defaultdict(list)
        for number, what in enumerate(paths, 1):
            path = pathlib.PurePath(whole_name(what))
            numbers[is_part(what), path.suffix or path.name].append(number)
        for turn, of_files in enumerate(numbers.values()):
            yield kind, of_files[turn % len(of_files)], ERRORS[kind][turn % len(ERRORS[kind])]


def allocation_faults(count, everything):
    """Numbers of allocations, one after the other and then in growing steps; each fails alone, and with all after it (in a sample, by
    turns)."""
    number, dense, growth = 1, 100 if everything else 3, 1.02 if everything else 1.5
    for turn in itertools.count():
        if number > count:
            return
        if everything or turn % 2 == 0:
            yield f"{number}"
        if everything or turn % 2 == 1:
            yield f"{number}+"
        number = number + 1 if number < dense else max(number + 1, int(number * growth))


def names_of(what, start):
    """Names of which a message has one where a call on `what` failed: its own, or that of a link that leads to it or into it."""
    streams = {"<output>": "standard output", "<input>": "standard input"}
    if what in streams:
        return [streams[what]]
    path = pathlib.PurePath(whole_name(what))
    links = [name for name, (what_it_is, _, target) in start.entries.items()
             if what_it_is == "link" and pathlib.PurePath(target.decode()).is_relative_to(path)]
    return [str(path), *links]


def judge_message(outcome, start, kind, what, error):
    lines = [line for line in outcome.error.splitlines() if line.startswith("heed: ")]
    if outcome.status != 1:
        return f"exit status {outcome.status}: {outcome.error.strip()[-300:]}"
    if len(lines) != 1:
        return f"{len(lines)} lines of heed's: {outcome.error.strip()[-300:]!r}"
    if kind == "allocate":
        return "" if lines[0].endswith(NO_MEMORY) else f"says {lines[0]!r}"
    if os.strerror(error) not in lines[0]:
        return f"does not name the reason: {lines[0]!r}"
    if what != "." and not any(name in lines[0] for name in names_of(what, start)):
        return f"does not name {what}: {lines[0]!r}"
    return ""


def judge(task, start, alone, outcome, kind, what, error):
    """What is wrong with how a fault ended; "" where nothing is."""
    if outcome.tree.broken:
        return "; ".join(outcome.tree.broken)
    if outcome.status == 0:
        if not (error in (SHORT, errno.EINTR) or kind == "allocate" or harmless(kind, what)):
            return "succeeds"
        difference = outcome.tree.differences(alone.tree)
        if difference:
            return f"succeeds with other files: {difference}"
        if task.shown_output(outcome.output) != task.shown_output(alone.output):
            return "succeeds with another output"
        return ""
    if error in (SHORT, errno.EINTR):
        return f"is not taken up again: {outcome.error.strip()[-300:]!r}"
    if harmless(kind, what) and kind not in ("mode", "owner", "control"):
        return f"fails, which need not be: {outcome.error.strip()[-300:]!r}"
    wrong = judge_message(outcome, start, kind, what, error)
    if wrong:
        return wrong
    if not task.shown_output(alone.output).startswith(task.shown_output(outcome.output)):
        return "prints what it does not print alone"
    parts = [name for name in outcome.tree.entries if is_part(name)]
    if parts and not may_leave_part(kind):
        return f"leaves {', '.join(parts)}"
    return ""


def judge_files(task, start, alone, outcome):
    """Every file is the old one or a whole new one. Files of training that are written again and again are held to their formats (Tree),
    and by going on from them."""
    for name, entry in outcome.tree.entries.items():
        if entry[0] == "file" and not task.output_is_timed and entry not in (start.entries.get(name), alone.tree.entries.get(name)):
            return f"{name} is neither the old file nor the new one"
    for name in start.entries:
        if name not in outcome.tree.entries and name in alone.tree.entries:
            return f"{name} is gone"
    return ""


def judge_going_on(bench, task, alone, outcome):
    if task.only_once and outcome.status == 0:
        return ""
    key = outcome.tree.key()
    if key not in task.goes_on:
        again = bench.run(task)
        if again.status != 0:
            task.goes_on[key] = f"the next run fails: {again.error.strip()[-300:]!r}"
        else:
            difference = again.tree.differences(alone.tree)
            task.goes_on[key] = f"the next run ends with other files: {difference}" if difference else ""
    return task.goes_on[key]


def try_faults(bench, task, everything, only):
    """Returns how many faults of each kind were tried, what went wrong, and what was excused."""
    bench.place(task.start)
    start = Tree(bench.work)
    alone = bench.run(task, count=True)
    if alone.status != 0:
        sys.exit(f"{task.name}: fails without a fault: {alone.error}")
    calls = bench.counted()
    tried, wrong, excuses = collections.Counter(), [], collections.Counter()
    allocations = ((("allocate", number, errno.ENOMEM)) for number in allocation_faults(calls["allocate"], everything))
    for kind, number, error in itertools.chain(call_faults(calls, everything), allocations):
        fault = f"{kind}:{number}:{error}"
        if only and not re.fullmatch(only, f"{task.name}:{fault}"):
            continue
        bench.place(task.start)
        outcome = bench.run(task, fault)
        what, crash = bench.struck()
        if what is None:  # the last allocations of threads are not always as many
            if kind != "allocate":
                wrong.append(f"{task.name}: {fault}: was not met")
            continue
        tried[kind] += 1
        excuse = excused(outcome, what, crash, lasts=str(number).endswith("+")) if kind == "allocate" else None
        if excuse:
            excuses[excuse] += 1
        problem = ((not excuse and judge(task, start, alone, outcome, kind, what, error)) or judge_files(task, start, alone, outcome)
                   or judge_going_on(bench, task, alone, outcome))
        if problem:
            wrong.append(f"{task.name}: {fault} {what}: {problem}" + (f"; crashed in {crash}" if crash else ""))
    return tried, wrong, excuses


def train_arguments(updates):
    return [
        "--threads", "1", "train", "--source", "data/train.de", "--target", "data/train.en", "--valid-source", "data/valid.de",
        "--valid-target", "data/valid.en", "--out", "model", "--width", "8", "--ffn-width", "8", "--heads", "2", "--encoder-layers", "1",
        "--decoder-layers", "1", "--vocabulary-size", "120", "--batch-tokens", "300", "--max-length", "40", "--validation-sentences", "2",
        "--validate-every", "2", "--average", "2", "--save-every", "1", "--max-updates", str(updates),
    ]


def make_tasks(bench):
    """The tasks, each with the folder that it begins in."""
    def make_start(name, origin, *commands):
        bench.place(origin)
        for command in commands:
            outcome = bench.run(Task(name, None, command))
            if outcome.status != 0:
                sys.exit(f"heed {' '.join(command)}: {outcome.error}")
        shutil.copytree(bench.work, bench.root / name, symlinks=True)
        return bench.root / name

    def corpus(seed):
        return ["--threads", "2", "corpus", "--pairs", "40", "--validation", "3", "--test", "2", "--seed", str(seed), "--out", "data"]

    empty = bench.root / "empty"
    empty.mkdir()
    data = make_start("data", empty, corpus(1))
    old_data = make_start("old data", empty, corpus(2))
    begun = make_start("begun", data, train_arguments(3))
    model = make_start("model", data, train_arguments(5))
    measure = ["--threads", "1", "bench", "--filter", "^short/forward$", "--seconds", "0.001", "--json"]
    reports = make_start("reports", empty, [*measure, "before.json"], [*measure, "after.json"])
    text = b"Das Wetter ist gut.\nAlles ist gut.\n"
    (model / "text.de").write_bytes(text)
    (model / "pictures").mkdir()
    (model / "pictures" / "old.png").write_bytes(b"an older picture")
    (model / "picture.png").symlink_to("pictures/old.png")
    view = ["--threads", "1", "view", "model", "--text", "Das Wetter ist gut."]
    return [
        Task("corpus", empty, corpus(1)),
        Task("corpus over another", old_data, corpus(1)),
        Task("train", data, train_arguments(5), output_is_timed=True),
        Task("train, continued", begun, train_arguments(5), output_is_timed=True),
        Task("translate", model, ["--threads", "1", "translate", "model"], text),
        Task("translate a file", model, ["--threads", "1", "translate", "model", "--input", "text.de", "--json"]),
        Task("convert", model, ["--threads", "1", "convert", "model", "--type", "int8", "--out", "small"], only_once=True),
        Task("bench, compared", reports, ["bench", "after.json", "--compare", "before.json"]),
        Task("view, a page", model, [*view, "--out", "page.html", "--trace", "trace.json"]),
        Task("view, a picture", model, [*view, "--out", "picture.png"]),
    ]


def main():
    if sys.argv[1] == "--skip":
        print(f"skipped: {sys.argv[2]}")
        sys.exit(SKIPPED)
    heed, library = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    everything = "all" in sys.argv[3:]
    only = next((argument for argument in sys.argv[3:] if argument != "all"), None)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(heed, library, pathlib.Path(folder).resolve())
        tried, wrong, excuses = collections.Counter(), 0, collections.Counter()
        for task in make_tasks(bench):
            task_tried, problems, task_excuses = try_faults(bench, task, everything, only)
            print(f"{task.name}: {task_tried.total()} faults, {len(problems)} wrong", *problems, sep="\n  ", flush=True)
            tried += task_tried
            wrong += len(problems)
            excuses += task_excuses
    for excuse, count in excuses.items():
        print(f"{count} times the command crashed or asked for ever: {excuse}")
    print(f"{tried.total()} faults: {', '.join(f'{count} {kind}' for kind, count in sorted(tried.items()))}")
    if wrong:
        sys.exit(f"{wrong} went wrong")
    if not only and EXPECTED_KINDS - tried.keys():
        sys.exit(f"no fault was tried of {', '.join(sorted(EXPECTED_KINDS - tried.keys()))}: the library does not stand before heed")


if __name__ == "__main__":
    main()
