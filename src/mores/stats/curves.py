"""Unbiased estimates, from more than n answers, of how often the best, worst, majority and plurality of n are correct.

All draws of n graded answers without replacement count the same, so each estimate is the mean over all of them:
of c correct answers among N, at least one is among n with probability 1 - C(N-c, n)/C(N, n).
M. Chen et al., Evaluating large language models trained on code (2021), Eq. 1, for the first; the others follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mores.stats.classification import Floats, Ints

_PAIRS = 64
"""Distinct questions that are processed together."""


def best_of(correct: Ints, graded: Ints, most: int) -> Floats:
    """Return questions × n: the probability that at least one of n answers is correct; nan with fewer than n."""
    probabilities: Floats = 1.0 - _all_of(graded - correct, graded, most)
    return probabilities


def worst_of(correct: Ints, graded: Ints, most: int) -> Floats:
    """Return questions × n: the probability that all of n answers are correct; nan with fewer than n."""
    return _all_of(correct, graded, most)


def mean_of(correct: Ints, graded: Ints, most: int) -> Floats:
    """Return questions × n: the share of correct answers, which n does not change; nan with fewer than n."""
    share = np.divide(correct, graded, out=np.zeros(len(correct)), where=graded > 0)
    shares: Floats = np.where(graded[:, None] > np.arange(most), share[:, None], np.nan)
    return shares


def majority_of(correct: Ints, graded: Ints, most: int) -> Floats:
    """Return questions × n: the probability that more than half of n answers are correct; a tie counts half."""
    kinds, kind_of = np.unique(np.stack([correct, graded], axis=1), axis=0, return_inverse=True)
    table = _log_choose(int(graded.max(initial=0)))
    blocks = [_majority(kinds[start : start + _PAIRS], most, table) for start in range(0, len(kinds), _PAIRS)]
    probabilities: Floats = np.concatenate(blocks)[kind_of.ravel()] if blocks else np.empty((0, most))
    return probabilities


def plurality_of(votes: Sequence[tuple[Sequence[int], Sequence[int]]], most: int) -> Floats:
    """Return questions × n: the probability that the most frequent of n answers is correct; ties are broken at random.

    Each question has the sizes of its clusters of correct answers and of its clusters of wrong ones.
    """
    if not votes:
        return np.empty((0, most))
    clusters = [[_focused(size, (*correct, *wrong)) for size in correct if size] for correct, wrong in votes]
    kinds = sorted({kind for kinds in clusters for kind in kinds})  # similar sizes together waste little work
    blocks = [_win(kinds[start : start + _PAIRS], most) for start in range(0, len(kinds), _PAIRS)]
    wins = np.concatenate(blocks) if blocks else np.empty((0, most))
    number_of = {kind: number for number, kind in enumerate(kinds)}
    sums = np.stack(
        [wins[[number_of[kind] for kind in kinds]].sum(axis=0) if kinds else np.zeros(most) for kinds in clusters]
    )
    graded = np.array([sum(correct) + sum(wrong) for correct, wrong in votes], dtype=np.int64)
    probabilities: Floats = np.where(graded[:, None] > np.arange(most), np.minimum(sums, 1.0), np.nan)
    return probabilities


def _all_of(wanted: Ints, total: Ints, most: int) -> Floats:
    """Return C(some, n)/C(every, n), as the product of (some - t)/(every - t)."""
    t = np.arange(most)
    remaining = total[:, None] - t
    steps = np.divide(
        np.maximum(wanted[:, None] - t, 0), remaining, out=np.full(remaining.shape, np.nan), where=remaining > 0
    )
    products: Floats = np.cumprod(steps, axis=1)
    return products


def _majority(kinds: Ints, most: int, table: Floats) -> Floats:
    c, graded = kinds[:, 0, None, None], kinds[:, 1, None, None]
    n, k = np.arange(1, most + 1)[None, :, None], np.arange(most + 1)[None, None, :]
    possible = (k <= c) & (n - k >= 0) & (n - k <= graded - c) & (n <= graded)
    c, graded, n, k = (np.where(possible, array, 0) for array in (c, graded, n, k))
    share = np.where(possible, np.exp(table[c, k] + table[graded - c, n - k] - table[graded, n]), 0.0)
    sums: Floats = (share * np.where(2 * k > n, 1.0, np.where(2 * k == n, 0.5, 0.0))).sum(axis=2)
    return np.where(kinds[:, 1, None] > np.arange(most), np.minimum(sums, 1.0), np.nan)


def _log_choose(most: int) -> Floats:
    """Return ln C(a, b) for all b <= a <= most; entries beyond are never read."""
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
    a, b = np.arange(most + 1)[:, None], np.arange(most + 1)[None, :]
    logarithms: Floats = logs[a] - logs[b] - logs[np.maximum(a - b, 0)]
    return logarithms


def _focused(size: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return a cluster and the others, the largest first."""
    others = sorted(filter(None, sizes), reverse=True)
    others.remove(size)
    return (size, *others)


def _win(rows: Sequence[tuple[int, ...]], most: int) -> Floats:
    """Return rows × n: the probability that the first cluster is the most frequent of n answers.

    With j answers of it, the others have ∏ (Σ_{x<j} C(w, x) zˣ + y C(w, j) zʲ) ways; y marks a tie, and as a tie of t
    others is won with 1/(t+1) = ∫₀¹ yᵗ dy, the integral over y (exact by Gauss and Legendre's rule) decides it.
    """
    width = max(map(len, rows), default=1)
    sizes = np.array([(*row, *(0,) * (width - len(row))) for row in rows], dtype=np.int64).reshape(len(rows), width)
    choose = _choose(int(sizes.sum(axis=1).max(initial=0)))
    nodes, weights = np.polynomial.legendre.leggauss(width // 2 + 1)
    ties = (nodes + 1) / 2
    wins = np.zeros((len(rows), most + 1))
    for j in range(1, min(most, int(sizes[:, 0].max(initial=0))) + 1):
        combinations = np.tensordot(weights / 2, _combinations(sizes[:, 1:], j, ties, most - j, choose), 1)
        wins[:, j:] += choose[sizes[:, 0], j][:, None] * combinations
    draws = choose[sizes.sum(axis=1)][:, : most + 1]
    padded = np.zeros_like(wins)
    padded[:, : draws.shape[1]] = draws
    return np.divide(wins, padded, out=np.zeros_like(wins), where=padded > 0)[:, 1:]


def _combinations(others: Ints, j: int, ties: Floats, degree: int, choose: Floats) -> Floats:
    """Return nodes × rows × degrees: how many ways give the other clusters that many answers, none more than j."""
    ways = np.zeros((len(ties), len(others), degree + 1))
    ways[:, :, 0] = 1.0
    for column in others.T:
        after = ways.copy()  # none of it
        for x in range(1, min(j, degree, int(column.max())) + 1):
            times = choose[column, x] * (ties[:, None] if x == j else 1.0)
            after[:, :, x:] += ways[:, :, : degree + 1 - x] * np.broadcast_to(times, ways.shape[:2])[:, :, None]
        ways = after
    return ways


def _choose(most: int) -> Floats:
    """Return C(a, b) for all a, b <= most, by Pascal's triangle."""
    triangle = np.zeros((most + 1, most + 1))
    triangle[:, 0] = 1.0
    for a in range(1, most + 1):
        triangle[a, 1:] = triangle[a - 1, 1:] + triangle[a - 1, :-1]
    return triangle
