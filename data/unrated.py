#!/usr/bin/env python3
"""Sets of texts for a teacher to compare: the texts of rated sets and pairs, put together anew under conditions that were asked of others.

    python3 data/unrated.py csts_train.csv pools.csv --sets 4000 --seed 0 > unrated.csv
    caselens score-table --data unrated.csv --output scores.csv --model my-large-encoder
    python3 data/unrated.py --scored scores.csv --of unrated.csv > rated.csv

A set is six texts of one file under two conditions of it; half of its texts come as pairs that were compared, so that they have something to
do with each other. The third command gives the scores their sets back; several --scored are teachers, whose mean is taken. The same files,
options and seed give the same rows. Needs nothing but Python.
"""

import argparse
import contextlib
import csv
import itertools
import random
import sys

SIZE = 6
CONDITIONS = 2


def texts(path):
    """Pairs of texts that were compared, and conditions with the pair they were asked of."""
    pairs, asked = {}, []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            pair = (row["sentence1"], row["sentence2"])
            pairs[pair] = None
            asked.append((row["condition"], pair))
    return list(pairs), asked


def sets(path, count, draw):
    pairs, asked = texts(path)
    for _ in range(count):
        # Both conditions fit some of the texts: those that they were asked of are among them.
        chosen = draw.sample(asked, CONDITIONS)
        members = dict.fromkeys(text for _, pair in chosen for text in pair)
        while len(members) < SIZE:
            members.update(dict.fromkeys(draw.choice(pairs)))
        yield list(members)[:SIZE], [condition for condition, _ in chosen]


def rate(teachers, of, out):
    """The rows of sets with the mean of what teachers say of each, from 1 to 5."""
    out.writerow(["set", "sentence1", "sentence2", "condition", "label"])
    with contextlib.ExitStack() as opened:
        rows, *scores = (csv.DictReader(opened.enter_context(open(path, encoding="utf-8", newline=""))) for path in [of, *teachers])
        for number, (row, *scored) in enumerate(itertools.zip_longest(rows, *scores), 1):
            for path, score in zip(teachers, scored):
                if not (row and score and all(score[name] == row[name] for name in ("sentence1", "sentence2", "condition"))):
                    sys.exit(f"{path}, row {number}: it is no score of that row of {of}")
            similarity = sum(min(1.0, max(0.0, float(score["similarity"]))) for score in scored) / len(scored)
            out.writerow([row["set"], row["sentence1"], row["sentence2"], row["condition"], f"{1 + 4 * similarity:.2f}"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("rated", nargs="*", help="CSV with sentence1, sentence2 and condition")
    arguments.add_argument("--sets", type=int, default=1000, help="sets of each file")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--scored", metavar="FILE", action="append", help="scores of the rows of --of, in their order; may be repeated")
    arguments.add_argument("--of", metavar="FILE", help="what was scored")
    options = arguments.parse_args()

    out = csv.writer(sys.stdout, lineterminator="\n")
    if options.scored:
        rate(options.scored, options.of, out)
        return
    draw = random.Random(options.seed)
    out.writerow(["set", "sentence1", "sentence2", "condition"])
    number = 0
    for path in options.rated:
        for members, conditions in sets(path, options.sets, draw):
            number += 1
            for condition in conditions:
                for one, two in itertools.combinations(members, 2):
                    out.writerow([number, one, two, condition])


if __name__ == "__main__":
    main()
