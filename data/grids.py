#!/usr/bin/env python3
"""Sentence pairs, conditions and ratings from grids: each two texts of a grid, compared by each of its aspects.

    python3 data/grids.py data/grids.txt --seed 0 > grids.csv

A grid is a few texts of one topic and the aspects that they can be compared by; see README.md for the format. The same file, options and
seed give the same rows. Needs nothing but Python.
"""

import argparse
import csv
import itertools
import random
import sys
from dataclasses import dataclass, field

# Couples that differ in an aspect, at most, for each that agrees.
DIFFERING = 1.35
COLUMNS = ["set", "domain", "sentence1", "sentence2", "condition", "label"]


@dataclass
class Grid:
    domain: str
    texts: list = field(default_factory=list)
    aspects: list = field(default_factory=list)  # (its wordings, a letter for each text)


def rating(one, two):
    """How alike two letters are, 1 to 5; None where a text says nothing of the matter."""
    if "-" in (one, two):
        return None
    if one == two:
        return 5
    return 3 if one.lower() == two.lower() else 1


def read(path):
    """[Grid]. Stops at a line that is not of the format."""
    grids = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):

            def need(condition, message):
                if not condition:
                    sys.exit(f"{path}:{number}: {message}")

            line = line.strip()
            if line.startswith("#"):
                grids.append(Grid(line[1:].split(":")[0].strip()))
                continue
            need(grids or not line, "a line before the first grid (#)")
            if line.startswith("@"):
                names, colon, letters = line[1:].rpartition(":")
                names = [name.strip() for name in names.split(";") if name.strip()]
                need(colon and names, "an aspect is one or more wordings, a colon and a letter for each text")
                need(len(letters.split()) == len(grids[-1].texts), f"the grid has {len(grids[-1].texts)} texts")
                grids[-1].aspects.append((names, letters.split()))
            elif line:
                need(not grids[-1].aspects, "a text after the grid's aspects")
                grids[-1].texts.append(line)
    return grids


def contrast(rows, draw):
    """One row that agrees and one that differs, where there are both."""
    agree, differ = ([row for row in rows if row[-1] == label] for label in (5, 1))
    return [draw.choice(agree), draw.choice(differ)] if agree and differ else []


def balanced(rows, draw):
    """Rows whose last cell is a rating, or None, without those that have none. Of those that differ, or that agree, a part is left out
    where they are many more than the others: else a condition would tell by itself how often texts agree under it."""
    kinds = {label: [row for row in rows if row[-1] == label] for label in (5, 1)}
    most = {5: len(kinds[1]), 1: round(DIFFERING * len(kinds[5]))}
    dropped = set()
    for label, those in kinds.items():
        dropped |= {id(row) for row in draw.sample(those, max(0, len(those) - most[label]))}
    return [row for row in rows if row[-1] is not None and id(row) not in dropped]


def part(text):
    """(I, N) of "I/N"."""
    first, _, step = text.partition("/")
    if not (first.isdecimal() and step.isdecimal() and int(first) < int(step)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N, as 0/2 and 1/2 are")
    return int(first), int(step)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("grids", help="file of grids")
    arguments.add_argument("--seed", type=int, default=0, help="chooses a wording of each aspect of a grid, and which text of a pair comes first")
    arguments.add_argument("--part", type=part, default="0/1", metavar="I/N", help="every N-th grid from the I-th on, counted from 0")
    arguments.add_argument("--contrasts", action="store_true", help="only texts that agree in one aspect and differ in another, and those two")
    options = arguments.parse_args()

    draw = random.Random(options.seed)
    first, step = options.part
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for number, grid in enumerate(read(options.grids)):
        if number % step != first:
            continue
        aspects = [(draw.choice(names), letters) for names, letters in grid.aspects]
        couples = [couple if draw.random() < 0.5 else couple[::-1] for couple in itertools.combinations(range(len(grid.texts)), 2)]
        rows = [(i, j, name, rating(letters[i], letters[j])) for name, letters in aspects for i, j in couples]
        if options.contrasts:
            rows = [row for couple in couples for row in contrast([row for row in rows if row[:2] == couple], draw)]
        else:
            rows = [row for name, _ in aspects for row in balanced([row for row in rows if row[2] == name], draw)]
        for i, j, condition, label in rows:
            # A contrast is a pair by itself.
            in_set = "" if options.contrasts else number + 1
            out.writerow([in_set, grid.domain, grid.texts[i], grid.texts[j], condition, label])


if __name__ == "__main__":
    main()
