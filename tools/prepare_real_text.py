#!/usr/bin/env python3
"""Writes the plain text files that training on real text reads, from the test material: prepare_real_text.py DATA OUT

OUT/multi30k/{train,valid,test}.{de,en}: the raw text.
OUT/tatoeba/{train,valid,test}.{de,en}: the 50,000 pairs without any whose source or target is in LASER's 1,000 test pairs, which are
the test text; every 50th of the rest is validation text, and training text shares no sentence with it.
"""

import gzip
import pathlib
import sys


def write(folder, name, pairs):
    folder.mkdir(parents=True, exist_ok=True)
    for side, language in enumerate(("de", "en")):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
    print(f"{folder / name}: {len(pairs)} pairs")


def lines(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def multi30k(data, out):
    for name, source in (("train", "train"), ("valid", "val"), ("test", "test_2016_flickr")):
        write(out, name, list(zip(lines(data / f"{source}.de.gz"), lines(data / f"{source}.en.gz"), strict=True)))


def tatoeba(data, out):
    test = list(zip(lines(data / "laser_tatoeba.deu-eng.deu"), lines(data / "laser_tatoeba.deu-eng.eng"), strict=True))
    seen = {side for pair in test for side in pair}
    rows = [line.split("\t")[:2] for line in lines(data / "manythings_50k.tsv.gz")[1:]]
    pairs = [(german, english) for english, german in rows if german not in seen and english not in seen]
    valid = pairs[::50]
    held_out = {side for pair in valid for side in pair}
    train = [pair for pair in pairs if pair[0] not in held_out and pair[1] not in held_out]
    write(out, "test", test)
    write(out, "valid", valid)
    write(out, "train", train)


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    multi30k(data / "multi30k", out / "multi30k")
    tatoeba(data / "tatoeba", out / "tatoeba")


if __name__ == "__main__":
    main()
