"""The worth of a judge, in ratings by people.

1. **Of answers.** People rated n answers, and a judge these and N more, all of one kind. The mean rating by people is
   best estimated from both, as mean of people + λ (judge's mean of the N - judge's mean of the n). With the λ that has
   the least variance that is

       σ² / n · (1 - ρ² N / (n + N))

   with ρ the correlation of judge and people: as precise as n / (1 - ρ² N / (n + N)) answers that people rated, and at
   most n / (1 - ρ²) however many the judge rates. (A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++: efficient
   prediction-powered inference (2023), of a mean; A. Chaganty, S. Mussmann and P. Liang, The price of debiasing
   automatic metrics in natural language evaluation, ACL 2018.) The estimate needs no trust in the judge: a constant
   bias cancels out.
2. **Of people.** Where several people rated the same answers, let r be the correlation of one person with another and
   j that of the judge with one person. If a rating is the answer's true value and an error of its person, the judge's
   correlation with the true value has the square j² / r, and that of the mean of k people k r / (1 + (k - 1) r)
   (Spearman and Brown). The judge is worth the k at which both are equal; it may be less than one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, same_length, vector
from mores.stats.intervals import drawn_interval
from mores.stats.resampling import percentiles, resample_sums


def effective_items(correlation: float, rated: int, judged_only: float = math.inf) -> float:
    """Return as how many answers rated by people the `rated` ones count, with those that only the judge rated."""
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation {correlation:g} is not from -1 to 1")
    if rated < 0 or judged_only < 0:
        raise ValueError(f"{rated} rated and {judged_only} judged answers; expected no negative number")
    if not rated:
        return 0.0
    more = 1.0 if math.isinf(judged_only) else judged_only / (rated + judged_only)
    unexplained = 1 - correlation**2 * more
    return rated / unexplained if unexplained > 0 else math.inf


def worth_in_people(judge: float, people: float) -> float | None:
    """Return how many people's mean is as good as the judge, from correlations of judge and person with one person.

    None where people do not agree at all; infinity for a judge that is as good as the true value.
    """
    if people <= 0:
        return None
    explained = judge**2 / people if judge > 0 else 0.0
    if explained >= 1:
        return math.inf
    return explained * (1 - people) / (people * (1 - explained))


@dataclass(frozen=True)
class SideBySide:
    """One person, and the judge, against one other person, on the answers that several people rated."""

    people: float
    """Correlation of two people's ratings of the same answer, whoever they are."""
    people_interval: tuple[float, float]
    judge: float
    """Correlation of the judge with one person."""
    judge_interval: tuple[float, float]
    difference: tuple[float, float]
    """The 95% interval of judge less people."""
    worth: float | None
    """The judge's worth in people (`worth_in_people`)."""
    worth_interval: tuple[float, float] | None
    answers: int
    ratings: int


def side_by_side(
    ratings: list[list[float]], judge: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> SideBySide | None:
    """Compare a judge with people, from the ratings of each answer by two or more people.

    Every rating counts once, with the mean of the other people's. None where people or the judge rate all the same.
    Answers of a group depend on each other: the intervals draw whole groups.
    """
    scores = vector(judge, "judge", finite=True)
    same_length(ratings=np.arange(len(ratings)), judge=scores)
    if any(len(given) < 2 for given in ratings):
        raise ValueError("an answer has fewer than two ratings; leave it out")
    columns = np.array([_sums(given, score) for given, score in zip(ratings, scores, strict=True)]).reshape(-1, 7)
    if not len(columns):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        people, of_judge = _correlations(columns.sum(axis=0)[:, None])[:, 0]
        drawn = _correlations(resample_sums(columns, groups=groups).T)
    if not (np.isfinite(people) and np.isfinite(of_judge)):
        return None
    units = len(columns) if groups is None else np.unique(np.asarray(groups)).size
    drawn_worth = [w for j, p in zip(drawn[1], drawn[0], strict=True) if (w := worth_in_people(j, p)) is not None]
    finite = np.array([min(each, 1e9) for each in drawn_worth])
    return SideBySide(
        people=float(people),
        people_interval=drawn_interval(float(people), drawn[0], units, least=-1.0),
        judge=float(of_judge),
        judge_interval=drawn_interval(float(of_judge), drawn[1], units, least=-1.0),
        difference=percentiles(drawn[1] - drawn[0], units=units),
        worth=worth_in_people(float(of_judge), float(people)),
        worth_interval=percentiles(finite, units=units) if finite.size else None,
        answers=len(columns),
        ratings=int(columns[:, 0].sum()),
    )


def interval_alpha(
    ratings: list[list[float]], groups: npt.ArrayLike | None = None
) -> tuple[float, tuple[float, float]] | None:
    """Return Krippendorff's α for intervals, with its own interval, of answers that two or more people rated.

    The value is that of `agreement.krippendorff_alpha`, but for any number of different ratings: with squared
    differences all that matters are sums. None where all ratings are the same.
    """
    columns = np.array([_sums(given, 0.0)[:3] for given in ratings]).reshape(-1, 3)
    m, total, squares = columns.T
    within = 2 * (m * squares - total**2) / (m - 1)
    rows = np.column_stack([columns, within])

    def alpha(sums: Floats) -> Floats:
        n, x, xx, apart = sums
        spread = 2 * (n * xx - x**2)
        alphas: Floats = 1 - (n - 1) * apart / np.where(spread > 1e-9, spread, np.nan)
        return alphas

    value = float(alpha(rows.sum(axis=0)[:, None])[0]) if len(rows) else math.nan
    if math.isnan(value):
        return None
    units = len(rows) if groups is None else np.unique(np.asarray(groups)).size
    return value, drawn_interval(value, alpha(resample_sums(rows, groups=groups).T), units, least=-1.0)


def _sums(given: list[float], score: float) -> tuple[float, ...]:
    """Return, for one answer: ratings, Σx, Σx², Σ x · mean of the others, and the judge's with each rating."""
    m, total, squares = len(given), sum(given), sum(x * x for x in given)
    return m, total, squares, (total**2 - squares) / (m - 1), m * score, m * score**2, score * total


def _correlations(sums: Floats) -> Floats:
    """Return the correlations of columns of these sums: person with person, and judge with person."""
    n, x, xx, crossed, j, jj, jx = sums
    mean, judged = x / n, j / n
    variance, of_judge = xx / n - mean**2, jj / n - judged**2
    variance, of_judge = (np.where(v > 1e-12, v, np.nan) for v in (variance, of_judge))
    between = (crossed / n - mean**2) / variance
    return np.stack([between, (jx / n - mean * judged) / np.sqrt(variance * of_judge)])
