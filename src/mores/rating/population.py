"""Means and differences in points of the scale that hold for other raters and other questions like those of the study.

One linear mixed model of all ratings: fixed effects of model, type and language, and random effects of whatever the
design repeats: raters, questions, answers, and how far raters differ about models and types (random slopes). Languages
are those of the study, not a sample of languages. With fewer than three raters (beyond one for each language) nothing
is known about other raters: then they are fixed, and the intervals are about other questions alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

from mores.formatting import count
from mores.rating.groups import RatingColumns
from mores.rating.ratings import Rating
from mores.rating.records import Distribution, Groups, GroupVariance, Points
from mores.rating.regressions import differ
from mores.stats.intervals import TAIL, Z95, Interval, limits_of, mean_moments
from mores.stats.mixed import Fit, MixedModel, contrasts, fit_linear, raw_mean

FEWEST = 3
"""Raters from which their variance is estimated; those who are alone in their language do not count."""
MOST_CELLS = 12
"""Combinations of model and type up to which every two of them are compared."""


def measure_points(ratings: Sequence[Rating], groups: Groups) -> tuple[Points, Fit | None]:
    """Return the linear model of all rows with a rating, and its fit; None where it could not be fitted."""
    rows = [rating for rating in ratings if rating.rating is not None]
    columns: dict[str, list[object]] = {
        "rating": [row.rating for row in rows],
        "model": [row.model for row in rows],
        "annotator": [(row.language, row.annotator) for row in rows],
        "question": [row.question_key for row in rows],
        "answer": [row.answer_key for row in rows],
    }
    columns |= {
        name: [getattr(row, name) for row in rows]
        for name in ("type", "language")
        if all(getattr(row, name) is not None for row in rows)
    }
    number = {name: len(set(values)) for name, values in columns.items()}
    varied = [name for name in ("model", "type") if number.get(name, 0) > 1]
    languages = max(1, number.get("language", 1))
    spare = number["annotator"] - languages
    over_raters = spare >= FEWEST - 1
    beside = ["language"] if languages > 1 else []
    if spare and not over_raters:
        beside = ["annotator"]
    random = random_terms(columns, number, varied if over_raters else None)
    terms = [*(("annotator",) if over_raters else ()), *random]
    formula, failure = "rating ~ 1", "there are no ratings"
    for fixed in fixed_terms(varied, beside) if rows else ():
        formula = " + ".join([f"rating ~ {' + '.join(fixed) or '1'}", *(f"(1 | {term})" for term in terms)])
        levels = {name: tuple(dict.fromkeys(sorted(columns[name], key=str))) for name in beside if name in fixed}
        levels |= {name: getattr(groups, f"{name}s") for name in varied if any(name in term for term in fixed)}
        try:
            fitted = fit_linear(MixedModel("rating", tuple(fixed), tuple(terms), levels), columns)
        except ValueError as error:
            failure = str(error)
            continue
        total = sqrt(sum(variance.variance for variance in fitted.variances))
        left = [variance.group for variance in fitted.variances]
        formula = " + ".join([formula.partition(" + (")[0], *(f"(1 | {term})" for term in terms if term in left)])
        these = number["question"] == 1 or ("question" in terms and "question" not in left)
        return Points(
            formula=formula,
            n=len(rows),
            notes=fitted.notes,
            population=describe_population(over_raters, number, languages, these),
            over_raters=over_raters,
            variances=tuple(GroupVariance(**asdict(variance)) for variance in fitted.variances),
            differences={
                factor: tuple(differ(contrast, total) for contrast in contrasts(fitted, tuple(reversed(names))))
                for factor in ("model", "type", "model*type")
                if set(names := factor.split("*")) <= {name for term in fixed for name in term.split("*")}
                and (len(names) == 1 or (factor in fixed and number["model"] * number["type"] <= MOST_CELLS))
            },
        ), fitted
    return Points(formula=formula, n=len(rows), failure=failure), None


def random_terms(
    columns: Mapping[str, Sequence[object]], number: Mapping[str, int], slopes: Sequence[str] | None
) -> list[str]:
    """Return the terms besides raters that the design can carry: what is repeated, and not by every row or in one."""
    rows, terms = len(columns["rating"]), []
    if 1 < number["question"] < rows:
        terms.append("question")
    if number["question"] < number["answer"] < rows:
        terms.append("answer")
    for name in slopes or ():
        cells = len(set(zip(columns["annotator"], columns[name], strict=True)))
        if number["annotator"] < cells < rows:
            terms.append(f"annotator:{name}")
    return terms


def fixed_terms(varied: Sequence[str], beside: Sequence[str]) -> list[list[str]]:
    """Return the fixed effects to try, the richest first; a design with empty cells cannot carry them all."""
    both = [["model*type", *beside]] if len(varied) == 2 else []
    return [*both, [*varied, *beside], list(varied), *([name] for name in varied)]


def describe_population(over_raters: bool, number: Mapping[str, int], languages: int, these: bool) -> str:
    """Return what the intervals are about; `these` where questions say nothing about others."""
    people, questions = count(number["annotator"], "rater"), count(number["question"], "question")
    if these:
        whose = f"other raters like these {people}" if over_raters else "other ratings by these raters"
        return f"95% intervals of differences are about {whose}: {questions} cannot say how others would be rated"
    if over_raters:
        return f"95% intervals are about other raters and other questions like these {people} and {questions}"
    few = "one rater" if number["annotator"] == 1 else "these raters"
    each = " (one in each language)" if number["annotator"] == languages > 1 else ""
    return (
        f"95% intervals are about other questions like these {questions}, rated by {few}: {people}{each} cannot say "
        "how other raters would rate"
    )


def widen(
    group: Distribution,
    cells: RatingColumns,
    fitted: Fit,
    scale: Sequence[float],
    members: npt.NDArray[np.bool_] | None = None,
) -> Distribution:
    """Return a distribution whose mean has the interval over other raters and questions; `cells` are those of the fit.
    `members` are the group's rows of these, where its names do not say it."""
    mean = group.mean
    if mean.value is None or scale[0] == scale[-1]:
        return group
    if members is None:
        members = cells.rows_of(model=group.model, type=group.type, language=group.language)
    low, high = raters_interval(fitted, members, cells.values[members], cells.questions[members], scale)
    whole = mean.whole and (min(mean.whole[0], low), max(mean.whole[1], high))
    return group.model_copy(update={"mean": mean.model_copy(update={"low": low, "high": high, "whole": whole})})


def raters_interval(
    fitted: Fit,
    members: npt.NDArray[np.bool_],
    values: npt.NDArray[np.float64],
    questions: npt.NDArray[np.int64],
    scale: Sequence[float],
) -> Interval:
    """Return the interval of the plain mean of a fit's rows over other raters and questions.

    The variance is that of the linear model, and the ends are those of a bounded figure with it. What was not seen
    counts as much as one more of so many units: between the questions, as if all ratings of one were alike, and the
    ratings that are worth as much as independent ones (the geometric mean). With questions alone the interval is twice
    as wide as needed where they differ little; with ratings alone it holds 63% where all rate a few questions lowest.
    """
    variance, df = raw_mean(fitted, members)
    least, width = scale[0], scale[-1] - scale[0]
    reach = (t.isf(TAIL, df) if np.isfinite(df) else norm.isf(TAIL)) / Z95
    moments = mean_moments(values, groups=questions, least=least, most=scale[-1])
    assert moments
    value, clustered, units = moments
    alone = float(np.var(values)) / width**2
    independent = min(max(alone / clustered, units), len(values)) if clustered else len(values)
    units = sqrt(units * independent) if alone else units
    low, high = limits_of(value, variance * reach**2 / width**2, units)
    return least + width * low, least + width * high
