"""People who give the same rare answers: two accounts of one person, or one who copies from another.

That two people agree says little: both may be good, or the items easy. So only rare answers count, those that at most a
quarter of the others gave about the item. How often two people give the same rare answer by chance is learned from all
pairs of people, in proportion to how often each of the two gives rare answers at all. Two strict raters, or two who
know what the others do not, have more in common than chance explains, but other rare answers too: one person has hardly
any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

OTHERS = 2
"""Other people who must have answered about an item; fewer do not show what is rare."""
FEWEST = 4
"""Same rare answers without which nobody is pointed out."""
MOSTLY = 0.75
"""The share of the rare answers of the one who gave more that are the same, at least."""
CHANCE = 0.01
"""How often chance may point out a pair in a whole campaign; `benchmarks/copies.py` says how often it does."""
MOST_PAIRS = 2_000_000
"""Pairs of answers that are compared; more would take seconds, and the first show who copies."""
Indices = npt.NDArray[np.integer[Any]]


class SameAnswers(NamedTuple):
    """Two people with more rare answers in common than chance explains."""

    person: int
    other: int
    same: int
    """Rare answers that both gave."""
    rare: int
    """Rare answers of the one who gave more, about items that both judged."""


def find_copies(unit: Indices, person: Indices, label: Indices) -> list[SameAnswers]:
    """Return pairs of people, those with the most in common first, from answers sorted by unit."""
    first, second, both, alone, turned = _compare(unit, person, label)
    if not len(first):
        return []
    people = int(person.max()) + 1
    pairs, place = np.unique(first.astype(np.int64) * people + second, return_inverse=True)
    same, mine, theirs, shared = (
        np.bincount(place, weights=weights, minlength=len(pairs))
        for weights in (both, alone, turned, np.ones(len(both)))
    )
    one, other = pairs // people, pairs % people
    seen = np.bincount(one, shared, people) + np.bincount(other, shared, people)
    rare = np.bincount(one, mine, people) + np.bincount(other, theirs, people)
    usual = rare.sum() / seen.sum()
    often = (rare + 10 * usual) / (seen + 10)
    flagged = np.zeros(len(pairs), bool)
    for _ in range(2):  # again without those that were found, who make chance look larger
        counted = ~flagged
        chance = 2 * same[counted].sum() / max((mine + theirs)[counted].sum(), 1)
        tails = [
            bdtrc(
                np.maximum(same - 1, 0),
                count.astype(np.int64),
                np.clip(chance * often[whose] / max(usual, 1e-9), 1e-6, 1),
            )
            for count, whose in ((mine, other), (theirs, one))
        ]
        flagged = (same >= FEWEST) & (np.maximum(*tails) * len(pairs) < CHANCE)
    rarer = np.maximum(mine, theirs)
    found = [
        SameAnswers(int(one[at]), int(other[at]), int(same[at]), int(rarer[at]))
        for at in np.flatnonzero(flagged & (same >= MOSTLY * rarer))
    ]
    return sorted(found, key=lambda pair: (-pair.same, pair))


def _compare(unit: Indices, person: Indices, label: Indices) -> tuple[Indices, ...]:
    """Return the people of each pair of answers about a unit, whether both are the same and rare, and which is rare."""
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else np.array([], int)
    sizes = np.diff(np.r_[starts, len(unit)])
    labels = int(label.max()) + 1 if len(label) else 1
    group = np.repeat(np.arange(len(starts)), sizes) * labels + label
    _, place, counts = np.unique(group, return_inverse=True, return_counts=True)
    count = counts[place]
    columns: list[tuple[Indices, ...]] = []
    left = MOST_PAIRS
    for size in sorted({int(size) for size in sizes if size >= OTHERS + 2}):
        a, b = np.triu_indices(size, 1)
        rows = starts[sizes == size][: left // len(a)]
        left -= len(rows) * len(a)
        i, j = (rows[:, None] + a).ravel(), (rows[:, None] + b).ravel()
        equal = label[i] == label[j]
        few = (size - 2) / 4
        mine, theirs = count[i] - 1 - equal <= few, count[j] - 1 - equal <= few
        columns.append((person[i], person[j], equal & mine, mine, theirs))
    return tuple(np.concatenate(parts) for parts in zip(*columns, strict=True)) or (np.array([], int),) * 5
