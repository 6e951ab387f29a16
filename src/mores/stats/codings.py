"""Agreement of people who each give a unit a set of codes.

    masi_alpha([[frozenset({"style"}), frozenset({"style", "facts"})], [frozenset(), frozenset()], …])

Two sets differ by 1 - J·M (MASI): J is their intersection over their union, and M is 1 for equal sets, 2/3 where one is
within the other, 1/3 where they merely overlap and 0 where they share nothing; two empty sets are equal. R. Passonneau,
Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation, LREC 2006, 831-836.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mores.stats.agreement import coefficient_interval, count_split, count_unlike
from mores.stats.classification import ratios
from mores.stats.resampling import RESAMPLES, draw_counts

Codes = frozenset[str]


class SetAgreement(NamedTuple):
    """Krippendorff's α with MASI, and its 95% interval over units."""

    alpha: float
    low: float
    high: float
    units: int
    """Those that at least two people coded."""


def masi_distance(first: Codes, second: Codes) -> float:
    """Return 0 for equal sets to 1 for sets that share nothing."""
    if first == second:
        return 0.0
    shared = len(first & second)
    if not shared:
        return 1.0
    within = first < second or second < first
    return 1 - shared / len(first | second) * (2 / 3 if within else 1 / 3)


def masi_alpha(units: Sequence[Sequence[Codes]], *, resamples: int = RESAMPLES, seed: int = 0) -> SetAgreement | None:
    """Return α = 1 - (n-1) Σ o_ck δ_ck / Σ n_c n_k δ_ck, with the coincidences of Krippendorff's α and δ of MASI.

    One list for each unit, with a set for each person who coded it. None where fewer than two units have two codings,
    or all codings of those are the same.
    """
    shared = [list(codings) for codings in units if len(codings) > 1]
    kinds = list(dict.fromkeys(coding for codings in shared for coding in codings))
    if len(shared) < 2 or len(kinds) < 2:
        return None
    places = {kind: n for n, kind in enumerate(kinds)}
    counts = np.zeros((len(shared), len(kinds)))
    for row, codings in enumerate(shared):
        for coding in codings:
            counts[row, places[coding]] += 1
    distances = np.array([[masi_distance(first, second) for second in kinds] for first in kinds])
    differing = ((counts @ distances) * counts).sum(axis=1) / (counts.sum(axis=1) - 1)
    draws = np.concatenate([np.ones((1, len(shared))), *draw_counts(len(shared), resamples=resamples, seed=seed)])
    totals = draws @ counts
    expected = ((totals @ distances) * totals).sum(axis=1)
    alphas = 1 - ratios((totals.sum(axis=1) - 1) * (draws @ differing), expected)
    value, rests_on = float(alphas[0]), count_unlike(counts)
    low, high = coefficient_interval(value, alphas[1:], len(shared), rests_on, count_split(counts))
    return SetAgreement(value, low, high, len(shared))
