"""How often people are pointed out for the same rare answers, with and without somebody who has two accounts.

    python benchmarks/copies.py --campaigns 500

Simulated campaigns: 5 people judge each item, with skills from a guess to 95%, items from easy to hard, and wrong
answers of which some are much more popular than others. Printed are the share of campaigns without a second account in
which a pair is pointed out, and the share of second accounts that are, by the number of items judged by both. Then the
same share by mistake where two people are alike: both strict with ratings from 1 to 5, or the only ones who know what
the people of one place know.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from mores.studio.copies import find_copies

OPTIONS = 6


def simulate(
    chance: np.random.Generator, people: int, items: int, popular: float, shared: int = 0, skill: float = 0.8
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return units, people and labels; with `shared`, the last person repeats so many answers of the one before."""
    skills = chance.uniform(0.25, 0.95, people)
    skills[-2:] = skill if shared else skills[-2:]
    units, persons, labels = [], [], []
    both = set(chance.choice(items, shared, replace=False).tolist()) if shared else set()
    for item in range(items):
        hard = chance.beta(1.5, 3.0)
        wrong = chance.dirichlet(np.full(OPTIONS - 1, popular))
        others = people - 2 if shared else people
        judges = sorted(chance.choice(others, 3 if item in both else 5, replace=False).tolist())
        judges += [people - 2, people - 1] if item in both else []
        given: list[int] = []
        for judge in judges:
            correct = chance.random() < max(skills[judge] * (1 - hard) + 0.1 * hard, 1 / OPTIONS)
            given.append(0 if correct else 1 + int(chance.choice(OPTIONS - 1, p=wrong)))
        if item in both and chance.random() < 0.95:
            given[-1] = given[-2]
        units += [item] * len(judges)
        persons += judges
        labels += given
    return np.array(units), np.array(persons), np.array(labels)


def simulate_strict(
    chance: np.random.Generator, people: int, items: int, strict: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings from 1 to 5, in which the first two people give so many points less than the others."""
    bias = chance.normal(0, 0.5, people)
    bias[:2] -= strict
    rows: list[tuple[int, int, int]] = []
    for item in range(items):
        judges = np.sort(chance.choice(people, 5, replace=False))
        given = chance.normal(3, 1) + bias[judges] + chance.normal(0, 0.6, 5)
        rows += zip([item] * 5, judges, np.clip(np.round(given), 1, 5).astype(int), strict=True)
    return tuple(np.array(column) for column in zip(*rows, strict=True))  # type: ignore[return-value]


def simulate_insiders(
    chance: np.random.Generator, people: int, items: int, known: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return answers to items of which the first two people alone know a share, where others fall for one answer."""
    skills = chance.uniform(0.5, 0.9, people)
    rows = []
    for item in range(items):
        local, popular = chance.random() < known, 1 + int(chance.integers(4))
        for judge in sorted(chance.choice(people, 5, replace=False).tolist()):
            correct = judge < 2 if local else chance.random() < skills[judge]
            wrong = popular if local and chance.random() < 0.7 else 1 + int(chance.integers(4))
            rows.append((item, judge, 0 if correct else wrong))
    return tuple(np.array(column) for column in zip(*rows, strict=True))  # type: ignore[return-value]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    chosen = parser.parse_args(arguments)
    chance = np.random.default_rng(0)
    print("| people, items | wrong answers | pair pointed out by mistake | second account found at 20, 40, 80 items |")
    print("| --- | --- | ---: | ---: |")
    for people, items in ((8, 100), (20, 200), (100, 600)):
        for name, popular in (("all alike", 5.0), ("few popular", 0.3)):
            false = sum(bool(find_copies(*simulate(chance, people, items, popular))) for _ in range(chosen.campaigns))
            shares = []
            for shared in (20, 40, 80):
                hits = 0
                for _ in range(chosen.campaigns // 5):
                    found = find_copies(*simulate(chance, people, items, popular, shared))
                    hits += any((pair.person, pair.other) == (people - 2, people - 1) for pair in found)
                shares.append(f"{hits / (chosen.campaigns // 5):.0%}")
            print(f"| {people}, {items} | {name} | {false / chosen.campaigns:.1%} | {', '.join(shares)} |", flush=True)
    print("\n| people, items | two people | pair pointed out by mistake |\n| --- | --- | ---: |")
    for people, items in ((6, 60), (8, 100), (20, 200)):
        for name, make, how in (
            ("1 point stricter", simulate_strict, 1.0),
            ("2 points stricter", simulate_strict, 2.0),
            ("alone know 15% of the items", simulate_insiders, 0.15),
        ):
            false = sum(bool(find_copies(*make(chance, people, items, how))) for _ in range(chosen.campaigns))
            print(f"| {people}, {items} | {name} | {false / chosen.campaigns:.1%} |", flush=True)


if __name__ == "__main__":
    main()
