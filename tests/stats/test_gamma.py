"""γ against hand-worked alignments, all alignments of small texts, and the program of the paper's field."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mores.stats.gamma import Continuum, align, disorders, gamma_of, shuffle, sizes_of
from mores.stats.marks import MarkedText, SpanMark, span_agreement

Units = list[tuple[int, int, int]]
SMALL: list[Units] = [
    [(0, 10, 0), (30, 40, 1), (60, 80, 0)],
    [(0, 12, 0), (32, 40, 0)],
    [(2, 10, 0), (58, 82, 0), (90, 100, 1)],
]


PYGAMMA = 1.0101525
"""The disorder of these units by pygamma-agreement 0.5.9 with CombinedCategoricalDissimilarity(alpha=1, beta=1)."""
PYGAMMA_CHANCE = 1.448
"""The mean disorder of 150 texts of its ShuffleContinuumSampler, with a standard error of 0.024."""


def make(length: int, people: list[Units]) -> Continuum:
    units = np.array([unit for mine in people for unit in mine], dtype=np.float64).reshape(-1, 3)
    owners = np.repeat(np.arange(len(people)), [len(mine) for mine in people])
    return Continuum(length, len(people), units, owners)


def draw(rng: np.random.Generator, length: int, people: int, most: int) -> Continuum:
    counts = rng.integers(1, most + 1, people)
    starts = [rng.integers(0, length - 20, count).tolist() for count in counts]
    return make(length, [[(s, s + int(rng.integers(3, 20)), int(rng.integers(2))) for s in each] for each in starts])


def apart(first: tuple[float, ...] | None, second: tuple[float, ...] | None) -> float:
    if first is None or second is None:
        return 1.0
    moved = abs(first[0] - second[0]) + abs(first[1] - second[1])
    return (moved / (first[1] - first[0] + second[1] - second[0])) ** 2 + (first[2] != second[2])


def least(left: list[list[tuple[float, ...]]]) -> float:
    """Return the least sum of disorders by trying every partition: the first unit left with any one of each other."""
    owner = next((n for n, mine in enumerate(left) if mine), None)
    if owner is None:
        return 0.0
    choices: list[list[tuple[float, ...] | None]] = [[None]]
    for n, mine in enumerate(left):
        own = [mine[0]] if n == owner else [None, *mine]
        choices = [[*choice, unit] for choice in choices for unit in own] if n else [[unit] for unit in own]
    best = np.inf
    pairs = len(left) * (len(left) - 1) / 2
    for choice in choices:
        cost = sum(apart(a, b) for a, b in combinations(choice, 2)) / pairs
        if cost < best:
            rest = [[u for u in mine if u is not choice[n]] for n, mine in enumerate(left)]
            best = min(best, cost + least(rest))
    return best


def test_two_units_by_hand() -> None:
    # 5 characters apart at both ends, of 10 each: (10 / 20)² = 1/4; another label costs 1, still less than two alone.
    assert align([make(50, [[(0, 10, 0)], [(5, 15, 0)]])]) == pytest.approx(0.25)
    assert align([make(50, [[(0, 10, 0)], [(5, 15, 1)]])]) == pytest.approx(1.25)
    # (60 / 20)² = 9 is more than the 2 of two units alone.
    assert align([make(50, [[(0, 10, 0)], [(30, 40, 0)]])]) == pytest.approx(2)
    # Of three people one marks nothing: the pairs cost 1/4, 1 and 1, and the mean number of units is 2/3.
    three = make(50, [[(0, 10, 0)], [(5, 15, 0)], []])
    assert align([three]) == pytest.approx(0.75)
    assert sizes_of([three]) == pytest.approx(2 / 3)


@pytest.mark.slow
def test_no_alignment_is_better_than_the_best() -> None:
    rng = np.random.default_rng(3)
    texts = [draw(rng, 60, people, 3) for people in (2, 3, 3, 4) for _ in range(4)]
    expected = []
    for text in texts:
        rows = [tuple(row) for row in text.units.tolist()]
        owned = list(zip(rows, text.owners.tolist(), strict=True))
        expected.append(least([[row for row, owner in owned if owner == n] for n in range(text.people)]))
    assert align(texts) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_disorders_are_those_of_another_program() -> None:
    rows = disorders([make(100, SMALL)], samples=100)[0]
    assert rows[0] / rows[1] == pytest.approx(PYGAMMA, rel=1e-6)
    assert np.mean(rows[2::2] / rows[3::2]) == pytest.approx(PYGAMMA_CHANCE, abs=0.09)


@pytest.mark.slow
def test_the_same_marks_are_perfect_and_random_ones_are_chance() -> None:
    same = make(100, [SMALL[0]] * 3)
    assert gamma_of(disorders([same], samples=20).sum(axis=0)) == 1.0
    rng = np.random.default_rng(0)
    texts = [shuffle(draw(rng, 150, 3, 2), rng) for _ in range(60)]
    assert gamma_of(disorders(texts).sum(axis=0)) == pytest.approx(0, abs=0.08)


def test_marks_of_people_have_gamma_with_an_interval() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    rng = np.random.default_rng(1)

    def mark(noise: int) -> list[SpanMark]:
        start = 8 + int(rng.integers(-noise, noise + 1))
        return [SpanMark(start, start + 5, "minor"), SpanMark(40, 44, "major" if rng.random() < 0.8 else "minor")]

    texts = [MarkedText(text, {name: mark(2) for name in ("a", "b", "c")}) for _ in range(12)]
    agreement = span_agreement(texts, with_gamma=True, over_raters=True)
    assert agreement is not None
    assert agreement.gamma is not None
    value, low, high = agreement.gamma
    assert value is not None
    assert low is not None
    assert high is not None
    assert 0.1 < low < value < high < 1
    assert span_agreement(texts).gamma is None  # type: ignore[union-attr]
    nothing = span_agreement([MarkedText(text, {"a": [], "b": []})], with_gamma=True)
    assert nothing is not None
    assert nothing.gamma is None
