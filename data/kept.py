#!/usr/bin/env python3
"""Texts of many kinds whose similarities an encoder is to keep, and some conditions under which they are to be the same.

    python3 data/kept.py data/general-*.txt --pools data/pools/*.txt --grids data/grids*.txt --texts 12000 --seed 0 > kept.csv

Prints the columns text and condition, which is empty for most. The same files, options and seed give the same rows. Needs nothing but
Python.
"""

import argparse
import csv
import random
import sys

import grids
import pools

# What asks for everything a text says.
WHOLE = ["the meaning", "everything", "the content", "overall", "what it says", "meaning", "in general", "the overall meaning"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("texts_of", nargs="*", metavar="texts", help="files with a text a line: all of them are taken")
    arguments.add_argument("--pools", nargs="*", default=[], help="files of pools")
    arguments.add_argument("--grids", nargs="*", default=[], help="files of grids")
    arguments.add_argument("--rated", nargs="*", default=[], help="CSV with sentence1 and sentence2")
    arguments.add_argument("--texts", type=int, default=12000, help="texts in all")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()

    draw = random.Random(options.seed)
    first = [line.strip() for path in options.texts_of for line in open(path, encoding="utf-8") if line.strip()]
    more = [text for path in options.pools for pool in pools.read(path) for _, text in pool.texts]
    more += [text for path in options.grids for grid in grids.read(path) for text in grid.texts]
    for path in options.rated:
        with open(path, encoding="utf-8", newline="") as file:
            more += [row[side] for row in csv.DictReader(file) for side in ("sentence1", "sentence2")]
    more = sorted(set(more) - set(first))
    draw.shuffle(more)
    # Short texts one by one; of one in four a longer one is made, of two or three that follow.
    texts = list(first)
    while more and len(texts) < options.texts:
        count = draw.choice([2, 3]) if draw.random() < 0.25 else 1
        texts.append(" ".join(more.pop() for _ in range(min(count, len(more)))))
    draw.shuffle(texts)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["text", "condition"])
    for i in range(0, len(texts), 64):
        # Texts are compared under one condition at a time: a quarter of all under one of these.
        for text in texts[i : i + 64]:
            out.writerow([text, draw.choice(WHOLE) if draw.random() < 0.25 else ""])


if __name__ == "__main__":
    main()
