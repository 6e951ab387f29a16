"""How often people are pointed out for the same rare answers, with and without somebody who has two accounts.

    python benchmarks/copies.py --campaigns 500

Simulated campaigns: 5 people judge each item, with skills from a guess to 95%, items from easy to hard, and wrong
answers of which some are much more popular than others. Printed are the share of campaigns without a second account in
which a pair is pointed out, and the share of second accounts that are, by the number of items judged by both.
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


if __name__ == "__main__":
    main()
