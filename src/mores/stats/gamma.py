"""γ, the agreement of people who find and label units in a text, by the best alignment of their units.

Y. Mathet, A. Widlöcher and J.-P. Métivier, The unified and holistic method gamma (γ) for inter-annotator agreement
measure and alignment, Computational Linguistics 41 (2015), 437-479, with both dissimilarities and Δ∅ = 1:

- Two units differ by ((|starts apart| + |ends apart|) / (sum of their lengths))², plus 1 if their labels differ; a unit
  and none at all, or none and none, by 1.
- A unitary alignment takes at most one unit of each person; its disorder is the mean over all pairs of people. The best
  alignment has every unit in one of them, with the least sum of disorders: an integer programme. One whose units would
  cost less alone is never part of it (the filter of the paper's section 4.4, with the number of units, not of people).
- The disorder of a text is that sum by the mean number of a person's units, and γ = 1 - observed / expected. Expected
  is the mean over random texts: each person is one of those who read the text, drawn anew, whose units are shifted
  around it by a place of their own. 1 is the same units and labels, 0 is chance.

Several texts are aligned each for itself; sums and numbers of units are added up. With one text this is the paper's γ.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mores.stats.classification import Floats, Ints, ratios

FEWEST_SAMPLES, MOST_SAMPLES = 10, 100
TOGETHER = 200
"""Texts that are aligned by one programme, which has a price of its own."""
PRECISION = 0.02
"""Of the expected disorder, as a share of it, in 95% of cases, unless that needs more than `MOST_SAMPLES`."""
MOST_UNITS = 2_000
"""Of all texts; with more, γ takes too long."""
MOST_ALIGNMENTS = 200_000
"""Of one text."""


class Continuum(NamedTuple):
    """The units of all who read a text: start, end and the number of the label; who marked each, from 0."""

    length: int
    people: int
    units: Floats
    owners: Ints


def unitary_alignments(continuum: Continuum) -> tuple[Ints, Floats]:
    """Return alignments × people, each the number of a unit or -1, that may be in the best; and their disorders."""
    start, end, label = continuum.units.T
    count, people = len(start), continuum.people
    apart = np.ones((count + 1, count + 1))  # the last one is no unit
    moved = np.abs(start[:, None] - start) + np.abs(end[:, None] - end)
    apart[:-1, :-1] = (moved / (end - start + (end - start)[:, None])) ** 2 + (label[:, None] != label)
    pairs = people * (people - 1) / 2
    rows, sums = np.empty((1, 0), dtype=np.intp), np.zeros(1)
    for person in range(people):
        choices = np.append(np.flatnonzero(continuum.owners == person), -1)
        if len(rows) * len(choices) > MOST_ALIGNMENTS:
            raise OverflowError(f"more than {MOST_ALIGNMENTS:,} ways to align the units of a text")
        rows = np.column_stack([np.repeat(rows, len(choices), axis=0), np.tile(choices, len(rows))])
        sums = np.repeat(sums, len(choices)) + apart[rows[:, :-1], rows[:, -1:]].sum(axis=1)
        most = (rows >= 0).sum(axis=1) + people - 1 - person  # units, each of which costs 1 alone
        kept = sums <= most * pairs + 1e-9
        rows, sums = rows[kept], sums[kept]
    some = (rows >= 0).any(axis=1)
    return rows[some], sums[some] / pairs


def align(continua: Sequence[Continuum]) -> Floats:
    """Return the least sum of disorders of each text."""
    # not above: it takes 20 MB, which a server of the studio seldom needs
    from scipy.optimize import Bounds, LinearConstraint, milp

    # Where only one person marked anything, there is nothing to align.
    totals = np.array([len(continuum.units) for continuum in continua], dtype=np.float64)
    several = [n for n, continuum in enumerate(continua) if len(np.unique(continuum.owners)) > 1]
    for start in range(0, len(several), TOGETHER):
        chosen = several[start : start + TOGETHER]
        found = [unitary_alignments(continua[n]) for n in chosen]
        costs, sizes = np.concatenate([each for _, each in found]), [len(each) for _, each in found]
        owner, text = np.repeat(np.arange(len(chosen)), sizes), np.repeat(chosen, sizes)
        first = np.cumsum([0, *(len(continua[n].units) for n in chosen)])
        width = max(rows.shape[1] for rows, _ in found)
        padded = [np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1) for rows, _ in found]
        rows = np.concatenate(padded)
        alignments, columns = np.nonzero(rows >= 0)
        units = rows[alignments, columns] + first[owner[alignments]]
        matrix = csr_matrix((np.ones(len(units)), (units, alignments)), (first[-1], len(costs)))
        best = milp(costs, constraints=LinearConstraint(matrix, 1, 1), integrality=1, bounds=Bounds(0, 1))
        totals[chosen] = np.bincount(text, costs * np.round(best.x), len(continua))[chosen]
    return totals


def shuffle(continuum: Continuum, rng: np.random.Generator) -> Continuum:
    """Return a random text: readers drawn anew, whose units are moved around it, each reader's by another distance."""
    length, people = continuum.length, continuum.people
    reach = (continuum.units[:, 1] - continuum.units[:, 0]).mean() / 2
    owners = rng.integers(people, size=people)
    while not np.isin(owners, continuum.owners).any():
        owners = rng.integers(people, size=people)
    free = np.ones(length, dtype=bool)
    units, new = [], []
    for person, owner in enumerate(owners.tolist()):
        shift = int(rng.choice(np.flatnonzero(free if free.any() else ~free)))
        free[max(0, int(shift - reach)) : int(shift + reach) + 1] = False
        mine = continuum.units[continuum.owners == owner].copy()
        mine[:, :2] += np.where(mine[:, :1] + shift >= length, shift - length, shift)
        units.append(mine)
        new.append(np.full(len(mine), person))
    return Continuum(length, people, np.concatenate(units), np.concatenate(new))


def disorders(continua: Sequence[Continuum], samples: int | None = None, seed: int = 0) -> Floats:
    """Return a row for each text: the observed sum of disorders and mean number of units, and those of random texts.

    Without a number of `samples`, there are as many as `PRECISION` of the expected disorder of all texts needs.
    """
    dice = [np.random.default_rng([seed, n]) for n in range(len(continua))]
    columns = [align(continua), sizes_of(continua)]

    def draw(count: int) -> None:
        drawn = [
            shuffle(each, rng) if len(each.units) else each
            for _ in range(count)
            for each, rng in zip(continua, dice, strict=True)
        ]
        aligned, sizes = (values.reshape(count, -1) for values in (align(drawn), sizes_of(drawn)))
        columns.extend(column for pair in zip(aligned, sizes, strict=True) for column in pair)

    draw(samples or FEWEST_SAMPLES)
    if samples is None:
        sums = np.sum(columns[2:], axis=1)
        each = ratios(sums[::2], sums[1::2])
        needed = (1.96 * each.std(ddof=1) / each.mean() / PRECISION) ** 2 if each.mean() else 0
        if needed > FEWEST_SAMPLES:
            draw(ceil(min(needed, MOST_SAMPLES)) - FEWEST_SAMPLES)
    return np.column_stack(columns)


def sizes_of(continua: Sequence[Continuum]) -> Floats:
    return np.array([len(each.units) / each.people for each in continua])


def gamma_of(sums: Floats) -> Floats:
    """Return γ from sums over texts of what `disorders` returns, along the last axis."""
    observed = ratios(sums[..., 0], sums[..., 1])
    expected = ratios(sums[..., 2::2], sums[..., 3::2])
    return 1 - ratios(observed, np.mean(expected, axis=-1))


def without_person(
    continua: Sequence[Continuum], readers: Sequence[Sequence[str]], whole: Floats, person: str
) -> Floats:
    """Return the rows of `disorders` as if a person had read nothing; texts with fewer than two readers have zeros."""
    rows = whole.copy()
    changed = [n for n, names in enumerate(readers) if person in names]
    several = [n for n in changed if len(readers[n]) > 2]
    rows[changed] = 0
    left = []
    for n in several:
        length, people, units, owners = continua[n]
        place = readers[n].index(person)
        kept = owners != place
        left.append(Continuum(length, people - 1, units[kept], owners[kept] - (owners[kept] > place)))
    if left:
        rows[several] = disorders(left, samples=whole.shape[1] // 2 - 1)
    return rows
