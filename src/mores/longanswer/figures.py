"""Figures of many answers, which a judge or a search that fails does not move.

A figure is a product of factors. Each is a weighted mean over the answers that the factor before it lets through:

| figure | factors |
| --- | --- |
| precision, recall, F1 | the share of answers with a claim × the mean over those with decided claims |
| S | the share without issues × the share of those with a claim × the mean of precision · relevance over the decided |
| relevance, every share | one |

Averaging over all decided answers instead would be wrong: an answer with a surface issue or without a claim is 0
without any judge, so that every failure of a judge would remove a better one. In the last factor an answer counts by
the share of its claims that were decided; otherwise those with many claims, of which some nearly always are, would
count too much.

So random failures do not move a figure. The effect of others is covered by its bounds, its value if everything
undecided were as bad, or as good, as possible, and by an interval that holds these and chance (`stats.missing`). Where
less than half of what a factor needs was decided, there are only these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.longanswer import factuality
from mores.longanswer.records import Appraisal
from mores.stats.intervals import limits_of, mean_moments
from mores.stats.missing import with_missing
from mores.stats.resampling import group_codes
from mores.stats.results import mean_result
from mores.types import Result

ENOUGH = 0.5
"""The share of what should have been decided that must be, for a figure to have a value."""
Table = npt.NDArray[np.float64]
"""Answers × factors × what is added to each."""
Score = Callable[[float, float], float]
"""The score of an answer from its precision and its number of claims."""


class FigureFactor(NamedTuple):
    """The contribution of one answer to a factor; nothing where the factor is not about it."""

    total: float = 0.0
    """Its value times its weight."""
    weight: float = 0.0
    due: float = 0.0
    """1 where it should have been decided."""


class FigurePart(NamedTuple):
    """The contribution of one answer to a figure."""

    factors: tuple[FigureFactor, ...]
    least: float
    most: float
    """What its value can be; the same where everything was decided."""
    scored: bool


UNDECIDED = FigureFactor(due=1.0)
NOT_DUE = FigureFactor()


def decided(value: float, weight: float = 1.0) -> FigureFactor:
    """Return a value that is known."""
    return FigureFactor(value * weight, weight, 1.0)


# -- what one answer adds ----------------------------------------------------------------------------------


def plain(value: float | None, *, due: bool = False) -> FigurePart:
    """Return a figure with one factor; `due` says that a judge should have decided it."""
    if value is None:
        return FigurePart((UNDECIDED if due else NOT_DUE,), 0.0, 1.0, scored=False)
    return FigurePart((decided(value),), value, value, scored=True)


def of_claims(appraisal: Appraisal, score: Score) -> FigurePart:
    """Return precision, recall or F1: whether there is a claim, and the score of the decided ones."""
    claims = appraisal.claims
    complete = factuality.is_complete(appraisal)
    if claims is None or not (claims or complete):
        return FigurePart((UNDECIDED, NOT_DUE), 0.0, 1.0, scored=False)
    if not claims:
        return FigurePart((decided(0.0), NOT_DUE), 0.0, 0.0, scored=True)
    verdicts = [claim.supported for claim in claims]
    open_, supported, count = verdicts.count(None), verdicts.count(True), len(verdicts)
    least, most = (score(n / count, count) for n in (supported, supported + open_)) if complete else (0.0, 1.0)
    if open_ == count:
        return FigurePart((decided(1.0), UNDECIDED), least, most, scored=False)
    value = score(supported / (count - open_), count / appraisal.read)
    return FigurePart((decided(1.0), decided(value, 1 - open_ / count)), least, most, scored=True)


def overall(appraisal: Appraisal, surface: float | None) -> FigurePart:
    """Return S: without an issue (`surface`, None if unknown), with a claim, and precision · relevance."""
    relevance = factuality.s_rel(appraisal)
    if not surface:
        first, most = (NOT_DUE, 1.0) if surface is None else (decided(0.0), 0.0)
        return FigurePart((first, NOT_DUE, NOT_DUE), 0.0, most, scored=surface is not None)
    facts = of_claims(appraisal, lambda precision, _: precision)
    claims, product = facts.factors
    if product.due:
        known = relevance is not None and product.weight
        product = product._replace(total=product.total * (relevance or 0.0)) if known else UNDECIDED
    least, most = (0.0, 1.0) if relevance is None else (relevance, relevance)
    scored = claims.weight == claims.due and bool(product.weight) == bool(product.due)
    return FigurePart((decided(1.0), claims, product), facts.least * least, facts.most * most, scored)


# -- what many add up to -----------------------------------------------------------------------------------


def figure(name: str, parts: Sequence[FigurePart], groups: npt.ArrayLike | None = None) -> Result:
    """Return the figure with its interval, its bounds where not all is decided, and the number of answers.

    Answers of one group, such as several to one question, are not independent of each other.
    """
    scored = sum(part.scored for part in parts)
    table = np.array([part.factors for part in parts], dtype=np.float64)
    least, most = (float(np.mean(ends)) for ends in zip(*((part.least, part.most) for part in parts), strict=True))
    result = Result(name=name, value=_product(table.sum(axis=0)), unscored=len(parts) - scored)
    if result.value is not None:
        # Recall and F1 depend on the number of claims, which may leave the undecided less than the decided have.
        value = min(max(result.value, least), most)
        low, high = _interval(table, value, groups)
        result = result.model_copy(update={"value": value, "low": low, "high": high, "n": scored})
    if least == most:
        return result
    ends = (mean_moments([getattr(part, end) for part in parts], groups=groups) for end in ("least", "most"))
    return with_missing(result, *ends).model_copy(update={"bounds": (least, most)})


def mean(name: str, parts: Sequence[FigurePart], groups: npt.ArrayLike | None = None) -> Result:
    """Return the mean of what may exceed 1; it has no bounds, and its interval takes the highest value as the limit."""
    values = [part.least if part.scored else np.nan for part in parts]
    result = mean_result(name, values, groups=groups, most=float(np.nanmax([1.0, *values])))
    return result.model_copy(update={"bounds": None, "whole": None})


def _product(sums: Table) -> float | None:
    """Return the product of the factors; None where too little of one was decided."""
    value = 1.0
    for total, weight, due in sums.tolist():
        if weight < ENOUGH * due or (not weight and value):
            return None
        value *= total / weight if weight else 0.0
    return value


def _interval(table: Table, value: float, groups: npt.ArrayLike | None) -> tuple[float, float]:
    """Return the interval by the variance of the product (the delta method), for the units of its smallest factor."""
    totals, weights = table[:, :, 0], table[:, :, 1]
    used = totals.sum(axis=0) > 0
    sums = weights.sum(axis=0)[used]
    means = totals.sum(axis=0)[used] / sums
    shifts = ((totals[:, used] - means * weights[:, used]) / (sums * means)).sum(axis=1)
    codes = group_codes(groups, len(table))
    variance = value**2 * float((np.bincount(codes, weights=shifts) ** 2).sum())
    units = min(np.unique(codes[column > 0]).size for column in weights.T if column.any())
    return limits_of(value, variance, units)
