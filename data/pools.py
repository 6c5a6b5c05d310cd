#!/usr/bin/env python3
"""Sets of texts to compare with each other, from pools of labelled texts.

    python3 data/pools.py data/pools/*.txt --visits 8 --seed 0 > pools.csv

A pool is many texts of one kind, each with a value in a few dimensions; see README.md for the format. A set is eight texts and two or three
of the dimensions, drawn so that texts that agree in one differ in another. The same files, options and seed give the same rows. Needs
nothing but Python.
"""

import argparse
import csv
import itertools
import random
import sys
from dataclasses import dataclass, field

import grids

COLUMNS = ["set", "domain", "sentence1", "sentence2", "condition", "label", "answer1", "answer2"]
# Texts of a set.
SIZE = 8


@dataclass
class Dimension:
    name: str
    wordings: list
    alike: set = field(default_factory=set)  # couples of values that are alike in part

    def rating(self, one, two):
        """How alike two values are, 1 to 5; None where a text says nothing of the matter."""
        if "-" in (one, two):
            return None
        one, two = set(one.split("+")), set(two.split("+"))
        if one == two:
            return 5
        near = one & two or any((a, b) in self.alike for a in one for b in two)
        return 3 if near else 1


@dataclass
class Pool:
    name: str
    dimensions: list = field(default_factory=list)
    texts: list = field(default_factory=list)  # (its values, the text)


def read(path):
    """[Pool]. Stops at a line that is not of the format."""
    pools = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):

            def need(condition, message):
                if not condition:
                    sys.exit(f"{path}:{number}: {message}")

            line = line.strip()
            if line.startswith("# "):
                pools.append(Pool(line[2:].strip()))
                continue
            need(pools or not line, "a line before the first pool (#)")
            if not line:
                continue
            pool = pools[-1]
            if line.startswith("@ "):
                need(not pool.texts, "a dimension after the pool's texts")
                name, bar, wordings = line[2:].partition("|")
                wordings = [wording.strip() for wording in wordings.split(";") if wording.strip()]
                need(bar and wordings, "a dimension is its name, a bar and one or more wordings")
                pool.dimensions.append(Dimension(name.strip(), wordings))
            elif line.startswith("~ "):
                name, _, values = line[2:].partition(":")
                one, equals, two = (part.strip() for part in values.partition("="))
                found = [dimension for dimension in pool.dimensions if dimension.name == name.strip()]
                need(found and equals and one and two, "likeness is a dimension, a colon and two values with = between them")
                found[0].alike |= {(one, two), (two, one)}
            else:
                values, bars, text = line.partition(" || ")
                values = [value.strip() for value in values.split(" | ")]
                need(bars and text.strip(), "a text stands after its values and ||")
                need(len(values) == len(pool.dimensions) and all(values), f"the pool has {len(pool.dimensions)} dimensions")
                pool.texts.append((values, text.strip()))
    return pools


class Drawn:
    """Draws texts so that all come equally often: the least drawn of some candidates comes first."""

    def __init__(self, count, draw):
        self.times = [0] * count
        self.draw = draw

    def take(self, candidates, taken):
        left = [i for i in candidates if i not in taken]
        if not left:
            return None
        some = self.draw.sample(left, min(6, len(left)))
        chosen = min(some, key=lambda i: self.times[i])
        self.times[chosen] += 1
        return chosen


def sets(pool, visits, draw, always=()):
    """Sets of a pool: (indices of texts, indices of dimensions), the dimensions of these names always among them."""
    drawn = Drawn(len(pool.texts), draw)
    said = [[i for i, (values, _) in enumerate(pool.texts) if values[d] != "-"] for d in range(len(pool.dimensions))]
    by_value = []
    for d, texts in enumerate(said):
        values = {}
        for i in texts:
            values.setdefault(pool.texts[i][0][d], []).append(i)
        by_value.append(values)
    usable = [d for d in range(len(pool.dimensions)) if sum(len(texts) >= 4 for texts in by_value[d].values()) >= 2]
    musts = [d for d in usable if pool.dimensions[d].name in always]
    for _ in range(len(pool.texts) * visits // SIZE):
        first = draw.choice(musts or usable)
        second = draw.choice([d for d in usable if d != first] or [first])
        common = [value for value, texts in by_value[first].items() if len(texts) >= 4]
        chosen = draw.sample(common, min(draw.choice([2, 3, 3, 4]), len(common)))
        # Half of the texts of each value agree in the second dimension with texts of another value.
        others = [value for value, texts in by_value[second].items() if len(texts) >= 4]
        wanted = draw.sample(others, min(3, len(others)))
        taken = []
        for turn in itertools.count():
            if len(taken) == SIZE or turn > 4 * SIZE:
                break
            value = chosen[turn % len(chosen)]
            candidates = by_value[first][value]
            if draw.random() < 0.7:
                want = draw.choice(wanted)
                candidates = [i for i in candidates if pool.texts[i][0][second] == want] or candidates
            text = drawn.take(candidates, taken)
            if text is not None:
                taken.append(text)
        # A third dimension, where these texts happen to agree and to differ in it.
        asked = list(dict.fromkeys([first, *musts, second]))
        thirds = [d for d in usable if d not in asked and contrast(pool, taken, d)]
        if thirds:
            asked.append(draw.choice(thirds))
        yield taken, [d for d in asked if contrast(pool, taken, d)]


def contrast(pool, texts, d):
    """Whether some of the texts agree in a dimension and others differ."""
    ratings = {pool.dimensions[d].rating(pool.texts[i][0][d], pool.texts[j][0][d]) for i, j in itertools.combinations(texts, 2)}
    return {1, 5} <= ratings


def rated(pool, texts, d, draw):
    """Couples of some texts with their rating in a dimension, about as many that agree as differ."""
    couples = [draw.sample([pool.texts[i], pool.texts[j]], 2) for i, j in itertools.combinations(texts, 2)]
    return grids.balanced([(one, two, pool.dimensions[d].rating(one[0][d], two[0][d])) for one, two in couples], draw)


def typed(condition, draw):
    """A condition as hasty people type it: one in twelve has two neighbouring letters swapped, one dropped or one doubled."""
    letters = [i for i in range(1, len(condition) - 1) if condition[i].isalpha() and condition[i + 1].isalpha()]
    if draw.random() >= 1 / 12 or not letters:
        return condition
    i = draw.choice(letters)
    kinds = [condition[:i] + condition[i + 1] + condition[i] + condition[i + 2 :], condition[:i] + condition[i + 1 :], condition[:i] + condition[i] + condition[i:]]
    return draw.choice(kinds)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pools", nargs="+", help="files of pools")
    arguments.add_argument("--visits", type=int, default=8, help="how often a text is drawn, on the average")
    arguments.add_argument("--ask", nargs="*", default=[], metavar="NAME", help="dimensions that are asked of every set of a pool that has them")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()

    draw = random.Random(options.seed)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    number = 0
    for path in options.pools:
        for pool in read(path):
            for texts, asked in sets(pool, options.visits, draw, options.ask):
                number += 1
                for d in asked:
                    dimension = pool.dimensions[d]
                    condition = typed(draw.choice(dimension.wordings), draw)
                    for (ones, one), (twos, two), label in rated(pool, texts, d, draw):
                        answers = [values[d].replace("+", " and ") for values in (ones, twos)]
                        out.writerow([number, pool.name, one, two, condition, label, *answers])


if __name__ == "__main__":
    main()
