"""Agreement of raters beyond chance, and how the votes of each unit are spread.

Every coefficient is 1 for perfect agreement and 0 for what chance gives. None means that it is undefined: nobody
varied, nothing was rated twice, or there is only one unit, for which each formula gives a constant for any ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mores.stats.classification import ratios
from mores.stats.intervals import TAIL, Interval, drawn_interval
from mores.stats.resampling import RESAMPLES

if (
    TYPE_CHECKING
):  # scipy comes with an extra, and κ of two raters, which every benchmark with a judge needs, takes none
    from scipy.sparse import csr_matrix

Label: TypeAlias = str | float
"""A rating: a name, or a number if order or distance matters."""
Ratings: TypeAlias = Sequence[Sequence[Label | None]] | npt.NDArray[Any]
"""Raters × units; None or NaN if a rater did not rate a unit."""
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
_Array = npt.NDArray[np.float64]
FEWEST_SPLIT = 5
FEWEST_UNLIKE = 10
"""Units from which a coefficient has the interval of Fisher's z: in simulations fewer hold less than 93%."""


class Votes(NamedTuple):
    """The number of raters who gave each value to each unit."""

    values: tuple[Label, ...]
    counts: npt.ArrayLike
    """Units × values, whole numbers."""


def count_votes(ratings: Ratings) -> Votes:
    """Count the votes in a matrix of raters × units; only values that somebody gave are in it, sorted."""
    values, units, codes, count = _long(ratings)
    counts = np.zeros((count, len(values)), dtype=np.int64)
    np.add.at(counts, (units, codes), 1)
    return Votes(values, counts)


def _long(ratings: Ratings) -> tuple[tuple[Label, ...], npt.NDArray[np.intp], npt.NDArray[np.intp], int]:
    """Return the values that occur, and the unit and the value's place of each rating, and the number of units."""
    table = np.asarray(ratings, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            "ratings are not a matrix; give one row per rater, equally long, with None where one is missing"
        )
    present = np.array([value is not None and value == value for value in table.flat], dtype=bool).reshape(table.shape)
    try:
        values, inverse = np.unique(table[present], return_inverse=True)
    except TypeError as error:
        raise ValueError("ratings mix names and numbers; give all values as one or the other") from error
    return tuple(values.tolist()), np.nonzero(present)[1], inverse, table.shape[1]


def krippendorff_alpha(data: Ratings | Votes, level: Level = "nominal") -> float | None:
    """Return Krippendorff's α = 1 - Dₒ/Dₑ of any number of raters, with missing ratings.

    Coincidences o_ck = Σᵤ n_uc (n_uk - [c=k]) / (m_u - 1) over units u with m_u >= 2 ratings, with sums n_c and n:
    α = 1 - (n-1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck. δ² is [c≠k] for nominal, (c-k)² for interval values, and for ordinal
    ones (Σ_{g=c..k} n_g - (n_c+n_k)/2)². K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section D.

    None when fewer than two units have two ratings, or when all ratings of those are the same.
    """
    values, rows = _sparse(data)
    rows = rows[np.flatnonzero(np.asarray(rows.sum(axis=1)).ravel() >= 2)]
    if rows.shape[0] < 2:
        return None
    alpha = float(alphas(values, rows, np.ones((1, rows.shape[0])), level)[0])
    return None if np.isnan(alpha) else alpha


def alphas(values: Sequence[Label], rows: csr_matrix, weights: _Array, level: Level) -> _Array:
    """Return α of each row of weights of the units, in time linear in the ratings; nan where all ratings are the same.

    With distances (p_c - p_k)², a unit of m ratings adds (m Σ p² - (Σ p)²) · 2 / (m - 1), and chance n Σ p² - (Σ p)².
    """
    sizes = np.asarray(rows.sum(axis=1)).ravel()
    totals = np.asarray(weights @ rows)
    n, per_pair = totals.sum(axis=1), weights / (sizes - 1)
    if level == "nominal":
        observed = per_pair @ (sizes**2 - np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        expected = n**2 - (totals**2).sum(axis=1)
    else:
        places = _places(values, totals, level)
        places = places - (totals * places).sum(axis=1, keepdims=True) / n[:, None]  # centred: no digits are lost
        squares = (np.asarray((per_pair * sizes) @ rows) * places**2).sum(axis=1)
        observed = 2 * (squares - (per_pair * np.asarray(rows @ places.T).T ** 2).sum(axis=1))
        expected = 2 * n * (totals * places**2).sum(axis=1)
    return 1 - ratios((n - 1) * observed, np.where(expected > 1e-12 * n, expected, 0.0))


def fleiss_kappa(data: Ratings | Votes) -> float | None:
    """Return Fleiss' κ = (P̄ - Pₑ)/(1 - Pₑ) of n ratings of every unit, not necessarily by the same raters.

    P̄ is the mean of (Σⱼ n_ij² - n)/(n(n-1)) over units i, and Pₑ = Σⱼ pⱼ² with the share pⱼ of value j in all ratings.
    J. L. Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971), 378-382.

    None with one rating per unit, fewer than two units, or one value only.
    """
    counts = _counts(data if isinstance(data, Votes) else count_votes(data))
    sizes = counts.sum(axis=1)
    if len(np.unique(sizes)) > 1:
        raise ValueError(
            f"units have from {sizes.min():.0f} to {sizes.max():.0f} ratings, and Fleiss' kappa needs as many of each; "
            "use krippendorff_alpha, which allows missing ones"
        )
    if len(counts) < 2 or sizes[0] < 2 or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    n = sizes[0]
    observed = float(((counts**2).sum(axis=1) - n).mean() / (n * (n - 1)))
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - chance) / (1 - chance)


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    weights: Literal["linear", "quadratic"] | None = None,
    levels: Sequence[Label] | None = None,
) -> float | None:
    """Return Cohen's κ = 1 - Σ w o / Σ w e of two raters of the same units.

    o counts the pairs of labels, e = row sum × column sum / n. The weight w of places i and j on the scale is [i≠j],
    |i-j| when linear, (i-j)² when quadratic. The scale is `levels`, or the sorted labels that occur: give `levels` when
    one may not occur, or when names have an order. J. Cohen, A coefficient of agreement for nominal scales, Educational
    and Psychological Measurement 20 (1960), 37-46; with weights: Psychological Bulletin 70 (1968), 213-220.

    None with fewer than two units, or if both raters always gave the same single label.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels and {len(second)}; give one of each rater for every unit, in one order")
    if weights and levels is None and any(isinstance(label, str) for label in (*first, *second)):
        raise ValueError("names have no order; give `levels`, from the lowest to the highest")
    positions = _positions([*first, *second], levels)
    if len(first) < 2:
        return None
    size = int(positions.max()) + 1
    observed = np.zeros((size, size), dtype=np.int64)
    np.add.at(observed, (positions[: len(first)], positions[len(first) :]), 1)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))  # times n, so that all numbers are whole
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    cost = {"linear": steps, "quadratic": steps**2}[weights] if weights else steps > 0
    chance = int((cost * expected).sum())
    return 1 - len(first) * int((cost * observed).sum()) / chance if chance else None


def cohen_kappa_interval(
    first: Sequence[Label], second: Sequence[Label], levels: Sequence[Label], *, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the 95% interval of `cohen_kappa` without weights, or None; `levels` are all labels that may occur.

    Its variance is that of pairs drawn with replacement (`coefficient_interval`).
    """
    value = cohen_kappa(first, second)
    if value is None:
        return None
    n, positions = len(first), _positions([*first, *second], levels)
    shares = np.bincount(positions[:n] * len(levels) + positions[n:], minlength=len(levels) ** 2) / n
    tables = np.random.default_rng(0).multinomial(n, shares, resamples).reshape(-1, len(levels), len(levels)) / n
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    kappas = ratios(np.trace(tables, axis1=1, axis2=2) - chance, 1 - chance)
    unlike = n * float(1 - chance.mean())
    return coefficient_interval(value, kappas, n, unlike, int((positions[:n] != positions[n:]).sum()))


def krippendorff_alpha_interval(data: Ratings | Votes, *, resamples: int = RESAMPLES) -> Interval | None:
    """Return the 95% interval of `krippendorff_alpha` for names, or None, with the variance of units drawn anew."""
    votes = data if isinstance(data, Votes) else count_votes(data)
    value = krippendorff_alpha(votes)
    if value is None:
        return None
    counts = _counts(votes)
    counts = counts[counts.sum(axis=1) >= 2]
    rows, drawn = _redraw(counts, resamples)
    sizes = rows.sum(axis=1)
    differing = drawn @ ((sizes**2 - (rows**2).sum(axis=1)) / (sizes - 1))
    totals = drawn @ rows
    n = totals.sum(axis=1)
    alphas = 1 - ratios((n - 1) * differing, n**2 - (totals**2).sum(axis=1))
    return coefficient_interval(value, alphas, len(counts), count_unlike(counts), count_split(counts))


def fleiss_kappa_interval(data: Ratings | Votes, *, resamples: int = RESAMPLES) -> Interval | None:
    """Return the 95% interval of `fleiss_kappa`, or None, with the variance of units drawn anew."""
    votes = data if isinstance(data, Votes) else count_votes(data)
    value = fleiss_kappa(votes)
    if value is None:
        return None
    counts = _counts(votes)
    rows, drawn = _redraw(counts, resamples)
    n = counts[0].sum()
    observed = drawn @ ((rows**2).sum(axis=1) - n) / (len(counts) * n * (n - 1))
    chance = ((drawn @ rows / (len(counts) * n)) ** 2).sum(axis=1)
    kappas = ratios(observed - chance, 1 - chance)
    return coefficient_interval(value, kappas, len(counts), count_unlike(counts), count_split(counts))


def coefficient_interval(value: float, drawn: _Array, units: int, unlike: float, split: int) -> Interval:
    """Return the 95% interval of a coefficient with these values when units are drawn anew.

    Where raters differ about `FEWEST_SPLIT` units and the coefficient rests on `FEWEST_UNLIKE`, it is that of Fisher's
    z with Student's t, as of a correlation. With fewer, redrawn values tell too little: there one more unit is added,
    of which all ratings are alike or all differ (`stats.intervals`).
    """
    if split < FEWEST_SPLIT or unlike < FEWEST_UNLIKE or abs(value) >= 1:
        return drawn_interval(value, drawn, unlike, least=-1.0)
    from scipy.special import stdtrit

    known = drawn[~np.isnan(drawn)]
    reach = float(stdtrit(units - 1, 1 - TAIL) * np.std(known)) * sqrt(units / (units - 1)) / (1 - value**2)
    # Redrawn units are alike too often: what the coefficient loses by that, it has lost among these units already.
    z = atanh(min(max(2 * value - float(np.mean(known)), -0.999), 0.999))
    return min(value, tanh(z - reach)), max(value, tanh(z + reach))


def _redraw(counts: _Array, resamples: int) -> tuple[_Array, _Array]:
    """Return the different rows, and how often each is drawn in every resample of the units: resamples × rows."""
    rows, often = np.unique(counts, axis=0, return_counts=True)
    drawn = np.random.default_rng(0).multinomial(len(counts), often / len(counts), resamples)
    return rows, drawn.astype(np.float64)


def count_unlike(counts: _Array) -> float:
    """Return how many units a coefficient rests on: those of which chance would not make the ratings alike."""
    return len(counts) * float(1 - ((counts.sum(axis=0) / counts.sum()) ** 2).sum())


def count_split(counts: _Array) -> int:
    """Return how many units raters differ about."""
    return int((counts.max(axis=1) < counts.sum(axis=1)).sum())


def _counts(votes: Votes) -> _Array:
    """Return the counts, checked."""
    counts = np.asarray(votes.counts, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] != len(votes.values):
        shape = " × ".join(map(str, counts.shape))
        raise ValueError(f"counts are {shape}; expected units × {len(votes.values)}, one column per value")
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts == np.floor(counts)).all()):
        raise ValueError("counts are not all whole numbers from 0; give the votes themselves, not their shares")
    return counts


def _sparse(data: Ratings | Votes) -> tuple[Sequence[Label], csr_matrix]:
    """Return the values and units × values, without a cell for what nobody said."""
    from scipy.sparse import csr_matrix

    if isinstance(data, Votes):
        return data.values, csr_matrix(_counts(data))
    values, units, codes, count = _long(data)
    return values, csr_matrix((np.ones(len(units)), (units, codes)), (count, len(values)))


def _places(values: Sequence[Label], totals: _Array, level: Level) -> _Array:
    """Return the place of each value on the line whose squared distances are δ², for each row of totals."""
    if level not in ("ordinal", "interval"):
        raise ValueError(f"unknown level '{level}'; expected nominal, ordinal or interval")
    if any(isinstance(value, str) for value in values):
        raise ValueError(f"{level} values are names; give them as numbers, so that their order is known")
    numbers = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(numbers).all() and (np.diff(numbers) > 0).all()):
        raise ValueError(f"{level} values are not finite and ascending; sort them, with their columns")
    # Half of its frequency plus all before it is the mean rank, whose differences are the ordinal distances.
    return np.tile(numbers, (len(totals), 1)) if level == "interval" else np.cumsum(totals, axis=1) - totals / 2


def _positions(labels: Iterable[Label], levels: Sequence[Label] | None) -> npt.NDArray[np.intp]:
    """Return the position of each label on the scale."""
    labels = list(labels)
    if any(label is None or label != label for label in labels):
        raise ValueError("a label is missing; exclude the units that a rater did not label, and report how many")
    try:
        scale = sorted(set(labels)) if levels is None else list(levels)
    except TypeError as error:
        raise ValueError("labels mix names and numbers; give all as one or the other") from error
    position = {label: n for n, label in enumerate(scale)}
    if len(position) < len(scale):
        raise ValueError("a level occurs twice; give each once, from the lowest to the highest")
    if unknown := [label for label in labels if label not in position]:
        raise ValueError(f"label {unknown[0]!r} is not one of the levels {scale}; add it to them")
    return np.array([position[label] for label in labels], dtype=np.intp)
