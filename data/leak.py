#!/usr/bin/env python3
"""How much the words of a condition alone tell of a rating: 50 is nothing.

    python3 data/leak.py pools.csv grids.csv

A ridge regression on the words of conditions, fitted on four fifths of the sets (of the sentence pairs, where there are no sets), rates
the rows of the last fifth; printed is how often it ranks two conditions of a sentence pair that are rated differently as their ratings do, a
tie counting as half. Needs nothing but Python.
"""

import argparse
import collections
import csv
import random

FOLDS = 5
PENALTY = 3.0
SWEEPS = 12


def words(condition):
    found = condition.lower().split()
    return set(found) | {" ".join(two) for two in zip(found, found[1:])} | {condition.lower()}


def fit(rows):
    """Weights by word, and the mean rating, by coordinate descent on mean ratings of each condition."""
    ratings = collections.defaultdict(list)
    for row in rows:
        ratings[row["condition"]].append(float(row["label"]))
    mean = sum(map(sum, ratings.values())) / sum(map(len, ratings.values()))
    conditions = [(words(condition), len(given), sum(given) / len(given) - mean) for condition, given in ratings.items()]
    holders = collections.defaultdict(list)
    for i, (found, _, _) in enumerate(conditions):
        for word in found:
            holders[word].append(i)
    left = [residual for _, _, residual in conditions]
    weights = dict.fromkeys(holders, 0.0)
    for _ in range(SWEEPS):
        for word, at in holders.items():
            count = sum(conditions[i][1] for i in at)
            step = (sum(conditions[i][1] * left[i] for i in at) - PENALTY * weights[word]) / (count + PENALTY)
            weights[word] += step
            for i in at:
                left[i] -= step
    return weights, mean


def leak(rows):
    """Share of pairs of conditions that are ranked right, and how many pairs there are."""
    group = lambda row: row.get("set") or (row["sentence1"], row["sentence2"])
    groups = sorted({group(row) for row in rows}, key=str)
    random.Random(0).shuffle(groups)
    fold = {name: i % FOLDS for i, name in enumerate(groups)}
    right = pairs = 0
    for held in range(FOLDS):
        weights, mean = fit([row for row in rows if fold[group(row)] != held])
        asked = collections.defaultdict(list)
        for row in rows:
            if fold[group(row)] == held:
                guess = mean + sum(weights.get(word, 0.0) for word in words(row["condition"]))
                asked[group(row), frozenset((row["sentence1"], row["sentence2"]))].append((float(row["label"]), guess))
        for given in asked.values():
            for i, (label, guess) in enumerate(given):
                for other_label, other_guess in given[i + 1 :]:
                    if label != other_label:
                        pairs += 1
                        right += 0.5 if guess == other_guess else (guess > other_guess) == (label > other_label)
    return right / max(1, pairs), pairs


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("rows", nargs="+", help="CSV with sentence1, sentence2, condition and label")
    for path in arguments.parse_args().rows:
        with open(path, encoding="utf-8", newline="") as file:
            share, pairs = leak(list(csv.DictReader(file)))
        print(f"{path}: {100 * share:.1f} of 100, {pairs} pairs of conditions")


if __name__ == "__main__":
    main()
