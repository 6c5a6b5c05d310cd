#!/usr/bin/env python3
"""Composes sentence pairs, conditions and ratings from facets.

    python3 data/compose.py data/facets.txt --pairs 60 --seed 0 > composed.csv

A facet is something that texts of a domain say about a thing ({X}), with its values and five wordings of each; see README.md for the
format. A pair agrees in one facet, in other words, and differs in another one, often by a single word; or all is drawn at random. Whoever
is asked how alike the two are must find the clause that the condition is about, and understand it.

The same file, options and seed give the same pairs. Needs nothing but Python.
"""

import argparse
import csv
import random
import re
import sys
from dataclasses import dataclass, field

COLUMNS = ["domain", "sentence1", "sentence2", "condition", "label", "answer1", "answer2"]


@dataclass
class Value:
    names: list  # what it is called, in a few words: answers to the condition
    clauses: list = field(default_factory=list)


@dataclass
class Facet:
    kind: str  # entity, kinds or scale
    conditions: list
    values: list = field(default_factory=list)

    def rating(self, i, j):
        """How alike two values are, 1 to 5: on a scale, neighbours are less unlike than its ends."""
        if i == j:
            return 5.0
        if self.kind == "scale":
            return 1 + 3 * (1 - abs(i - j) / (len(self.values) - 1))
        return 1.0


def parts(text):
    return [part.strip() for part in text.split(";") if part.strip()]


def read(path):
    """[(a domain's name, [Facet])], the entity first. Stops at a line that is not of the format."""
    domains = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark, _, text = line.strip().partition(" ")
            text = text.strip()
            facets = domains[-1][1] if domains else []

            def need(condition, message):
                if not condition:
                    sys.exit(f"{path}:{number}: {message}")

            if mark == "#":
                domains.append((text, []))
            elif mark == "@":
                kind, _, conditions = text.partition("|")
                need(domains, "a facet before the first domain (#)")
                need((kind.strip() == "entity") == (not facets), "a domain begins with its entity, and has one")
                need(kind.strip() in ("entity", "kinds", "scale"), "a facet is entity, kinds or scale")
                need(parts(conditions), "a facet needs conditions, after |")
                facets.append(Facet(kind.strip(), parts(conditions)))
            elif mark == "=":
                need(facets and parts(text), "a value needs a facet (@) and a name")
                facets[-1].values.append(Value(parts(text)))
            elif mark == "-":
                need(facets and facets[-1].values and facets[-1].kind != "entity", "a clause needs a value (=) of a facet")
                facets[-1].values[-1].clauses.append(text)
            else:
                need(not mark, "a line begins with #, @, = or -")
    for name, facets in domains:
        told = all(len(facet.values) > 1 and all(value.clauses for value in facet.values) for facet in facets[1:])
        if len(facets) < 3 or not told:
            sys.exit(f"{path}: the domain {name} needs two facets beside its entity, each of two values with clauses")
        if not facets[0].values:
            sys.exit(f"{path}: the domain {name} needs a name for its entity")
    return domains


# Words that may lose their capital where a clause goes on after a comma.
PLAIN = set(
    "The This It Our We He She They An A You My There Nobody Everyone No Not Its Their One All Every At On In To After Before "
    "With Even Nothing What Two Three Most Only Some His Her".split()
)
LINKS = [", and ", ", and ", "; ", ", but ", ", while "]


def join(clauses, draw):
    """Clauses as a text, each a sentence of its own or the next part of one."""
    text = clauses[0]
    for clause in clauses[1:]:
        if draw.random() < 0.55 and text.endswith(".") and clause.split(" ", 1)[0] in PLAIN:
            text = text[:-1] + draw.choice(LINKS) + clause[0].lower() + clause[1:]
        else:
            text = f"{text} {clause}"
    return text


def say(clause, name):
    """A clause with the thing's name in it."""
    n = "n" if name[0].lower() in "aeiou" else ""
    text = re.sub(r"\b([Aa])n? \{X\}", lambda found: f"{found[1]}{n} {{X}}", clause).replace("{X}", name)
    return text[0].upper() + text[1:]


def pair(facets, draw):
    """Two texts, and what can be asked of them: [(facet, the first one's value, the second one's)]."""
    entity, rest = facets[0], facets[1:]
    same, differs = draw.sample(rest, 2)
    others = [facet for facet in rest if facet is not same and facet is not differs]
    alone = draw.random() < 0.2  # one facet, and the thing itself
    spoken = [draw.choice([same, differs])] if alone else [same, differs]
    # At times a third: of both texts, or of one, where nothing is asked about it.
    third, extra = draw.random(), [[], []]
    if others and not alone and third < 0.25:
        spoken.append(draw.choice(others))
    elif others and not alone and third < 0.5:
        extra[draw.randrange(2)].append(draw.choice(others))
    by_chance = draw.random() < 0.3

    asked, clauses = [], [[], []]
    for facet in spoken:
        i = j = draw.randrange(len(facet.values))
        if by_chance or facet not in (same, differs):
            j = draw.randrange(len(facet.values))
        elif facet is differs:
            j = draw.choice([v for v in range(len(facet.values)) if v != i])
        one, two = facet.values[i].clauses, facet.values[j].clauses
        if i != j and draw.random() < 0.5:
            first, second = one[0], two[0]  # a value's first clause differs from another value's by a word or two
        else:
            first = draw.choice(one)
            second = draw.choice([clause for clause in two if clause != first] or two)
        clauses[0].append(first)
        clauses[1].append(second)
        asked.append((facet, i, j))
    for side in (0, 1):
        clauses[side] += [draw.choice(draw.choice(facet.values).clauses) for facet in extra[side]]

    alike = 0.4
    if alone:
        alike = 0.85 if asked[0][1] != asked[0][2] else 0.1
    i = draw.randrange(len(entity.values))
    j = i if draw.random() < alike else draw.randrange(len(entity.values))
    texts = []
    for side, v in ((0, i), (1, j)):
        draw.shuffle(clauses[side])
        name = draw.choice(entity.values[v].names)
        texts.append(join([say(clause, name) for clause in clauses[side]], draw))
    if all(any("{X}" in clause for clause in side) for side in clauses):
        asked.append((entity, i, j))
    return texts, asked


def contrast(asked, draw):
    """One question under which the two agree and one under which they differ, where there are both."""
    rated = [(question, question[0].rating(*question[1:])) for question in asked]
    agree = [question for question, rating in rated if rating == 5]
    differ = [question for question, rating in rated if rating == 1]
    return [draw.choice(agree), draw.choice(differ)] if agree and differ else []


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("facets", help="file of facets")
    arguments.add_argument("--pairs", type=int, default=60, help="pairs drawn for each domain")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--domains", default=":", metavar="FROM:TO", help="some of the file's domains, by number")
    arguments.add_argument("--contrasts", action="store_true", help="only pairs that agree under one condition and differ under another, and those two")
    options = arguments.parse_args()

    draw = random.Random(options.seed)
    start, end = (int(bound) if bound else None for bound in options.domains.split(":"))
    domains = read(options.facets)[start:end]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for domain, facets in domains:
        seen = set()
        for _ in range(options.pairs):
            (one, two), asked = pair(facets, draw)
            if one == two or (one, two) in seen:
                continue
            seen.add((one, two))
            for facet, i, j in contrast(asked, draw) if options.contrasts else asked:
                answers = [draw.choice(facet.values[v].names) for v in (i, j)]
                out.writerow([domain, one, two, draw.choice(facet.conditions), f"{facet.rating(i, j):g}", *answers])


if __name__ == "__main__":
    main()
