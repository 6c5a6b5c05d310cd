#!/usr/bin/env python3
"""Sentences and conditions, and whether the one says anything about the other.

    python3 data/mentions.py data/mentions.txt --pools data/pools/*.txt --grids data/grids*.txt --rated csts_train.csv --seed 0 > mentioned.csv

A file of mentions lists, for each text, conditions that it answers (+) and conditions that it says nothing about (-). Pools and grids
say the same of their texts; rated tables hold sentences that were compared under a condition, which they mention. As many of either
kind are printed of each source, but for rated tables. The same files, options and seed give the same rows. Needs nothing but Python.
"""

import argparse
import csv
import random
import sys

import grids
import pools


def read(path):
    """[(text, condition, whether it is mentioned)] of a file of mentions. Stops at a line that is not of the format."""
    rows, text = [], None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line:
                text = None
            elif line[:2] in ("+ ", "- "):
                if text is None:
                    sys.exit(f"{path}:{number}: conditions without a text")
                conditions = [condition.strip() for condition in line[2:].split(";")]
                rows += [(text, condition, line[0] == "+") for condition in conditions if condition]
            elif text is None:
                text = line
            else:
                sys.exit(f"{path}:{number}: a text of several lines, or a line that begins neither with + nor with -")
    return rows


def of_pools(paths, draw):
    for path in paths:
        for pool in pools.read(path):
            for d, dimension in enumerate(pool.dimensions):
                if sum(values[d] == "-" for values, _ in pool.texts) * 20 > len(pool.texts):
                    for values, text in pool.texts:
                        yield text, draw.choice(dimension.wordings), values[d] != "-"


def of_grids(paths, draw):
    for path in paths:
        for grid in grids.read(path):
            for names, letters in grid.aspects:
                if "-" in letters:
                    for text, letter in zip(grid.texts, letters):
                        yield text, draw.choice(names), letter != "-"


def even(rows, draw):
    """As many rows of either kind."""
    kinds = [[row for row in rows if row[2] == kind] for kind in (True, False)]
    count = min(map(len, kinds))
    return [row for kind in kinds for row in draw.sample(kind, count)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("mentions", nargs="*", help="files of mentions")
    arguments.add_argument("--pools", nargs="*", default=[], help="files of pools")
    arguments.add_argument("--grids", nargs="*", default=[], help="files of grids")
    arguments.add_argument("--rated", nargs="*", default=[], help="CSV with sentence1, sentence2, condition and label")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()

    draw = random.Random(options.seed)
    rows = [row for path in options.mentions for row in read(path)]
    rows += even(list(of_pools(options.pools, draw)), draw)
    rows += even(list(of_grids(options.grids, draw)), draw)
    for path in options.rated:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if float(row["label"]) > 0:
                    rows.append((draw.choice([row["sentence1"], row["sentence2"]]), row["condition"], True))
    draw.shuffle(rows)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["sentence", "condition", "mentioned"])
    for text, condition, mentioned in rows:
        out.writerow([text, pools.typed(condition, draw), int(mentioned)])


if __name__ == "__main__":
    main()
