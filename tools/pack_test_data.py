#!/usr/bin/env python3
"""pack_test_data.py [--check]: makes tests/data, the numeric cases of others that are in the tree, from the outside test data
($HEED_DATA, by default ../shared/data; docs/test-data.md). With --check it only compares the two, and exits 1 where they differ, or 77
(skipped) where the outside data is not there."""

import io
import json
import os
import pathlib
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREE = ROOT / "tests" / "data"
OUTSIDE = pathlib.Path(os.environ.get("HEED_DATA") or ROOT / ".." / "shared" / "data")
ARCHIVE = "onnx/cases.tar.xz"
AS_THEY_ARE = ("onnx/LICENSE", "pytorch/grids.json", "pytorch/layers.json", "sacrebleu/LICENSE")
SCORES = "sacrebleu/expected.json"
# sacreBLEU's own tests quote sentences of corpora. What is longer than a phrase stays outside.
LONGEST_PHRASE = 40
SKIPPED = 77


def onnx_cases():
    """The cases' files by their names in the archive."""
    folder = OUTSIDE / "onnx"
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".npy"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_archive(path, files):
    """The same bytes for the same files: no times, no owners."""
    with tarfile.open(path, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))


def read_archive(path):
    with tarfile.open(path, "r:xz") as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}


def texts(value):
    """Every string within a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def is_short(value):
    return all(len(text) <= LONGEST_PHRASE for text in texts(value))


def short_scores():
    """sacreBLEU's unit cases whose texts are phrases."""
    expected = json.loads((OUTSIDE / SCORES).read_text(encoding="utf-8"))
    unit = expected["unit"]
    for metric, groups in unit.items():
        for group, cases in groups.items():
            if group.startswith("test_") and metric != "sentence_bleu":
                groups[group] = [case for case in cases if is_short(case)]
    sentence = unit["sentence_bleu"]  # each group scores one pair of sentences
    for group, suffix in (("test_cases", ""), ("test_cases_zero_bleu", "_0")):
        if not is_short([sentence["SYS" + suffix], sentence["REF" + suffix]]):
            sentence[group] = []
            del sentence["SYS" + suffix], sentence["REF" + suffix]
    kept = {"source": expected["source"], "licence": "Apache-2.0", "unit": unit}
    return (json.dumps(kept, ensure_ascii=False, indent=1) + "\n").encode()


def pack():
    for folder in ("onnx", "pytorch", "sacrebleu"):
        (TREE / folder).mkdir(parents=True, exist_ok=True)
    write_archive(TREE / ARCHIVE, onnx_cases())
    for name in AS_THEY_ARE:
        (TREE / name).write_bytes((OUTSIDE / name).read_bytes())
    (TREE / SCORES).write_bytes(short_scores())


def differences():
    packed, outside = read_archive(TREE / ARCHIVE), onnx_cases()
    for name in sorted(packed.keys() | outside.keys()):
        if packed.get(name) != outside.get(name):
            yield f"{ARCHIVE}: {name}"
    for name in AS_THEY_ARE:
        if (TREE / name).read_bytes() != (OUTSIDE / name).read_bytes():
            yield name
    if (TREE / SCORES).read_bytes() != short_scores():
        yield SCORES


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    missing = [name for name in (*AS_THEY_ARE, SCORES) if not (OUTSIDE / name).is_file()]
    if missing:
        print(f"skipped: no {missing[0]} in {OUTSIDE}")
        return SKIPPED
    if not sys.argv[1:]:
        pack()
    broken = list(differences())
    for name in broken:
        print(f"tests/data/{name} is not what {OUTSIDE} has")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
