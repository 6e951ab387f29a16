"""Cumulative link mixed models of the ratings: ~ model, ~ type, ~ model * type, ~ each aspect (Tables 17 to 22).

The random intercepts are those of annotators within languages, and of questions and answers where they repeat; where
differences are about other raters, also how differently raters see models and types (random slopes). In an analysis as
CaLMQA's they are annotators, and questions only where an answer was rated twice. A model that cannot be fitted is a
`Regression` with the reason and without a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isinf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.rating.groups import LEVELS
from mores.rating.ratings import Rating
from mores.rating.records import (
    Effect,
    GroupDifference,
    Groups,
    GroupVariance,
    Points,
    ProportionalOdds,
    Regression,
)
from mores.stats.mixed import Fit, MeanContrast, MixedModel, contrasts, fit, r_squared
from mores.stats.mixed.comparison import Adjustment, Levels
from mores.stats.mixed.design import Columns
from mores.stats.mixed.odds import check_odds

MOST_RATINGS = 30
"""A cumulative link model has a threshold between every two ratings; with more, it is the wrong model."""
MANY = 20_000
"""Ratings from which a model is first fitted to some of the questions, and annotators are described by these."""
SOME = 10_000
"""Ratings of those questions."""
MOST_LEVELS = 2_000
"""Levels of all random effects but questions and answers: their matrix is dense."""
MOST_WORK = 50_000_000
"""Answers times the square of the levels of random slopes, which makes up most of the work of a fit: some seconds."""
WITHOUT_SLOPES = "how differently raters see {} is left out of it; read the differences in points, which have it"
PREDICTORS = ("model", "type", "model*type", "omissions", "factuality", "language_correct")
"""The fixed effects of each model, in the order of the tables."""


class Fitted(NamedTuple):
    """A model with the rows that it rests on."""

    regression: Regression
    fit: Fit | None
    """None where there is none."""
    rows: Sequence[Rating]
    columns: Columns
    part: Fitted | None = None
    """The same of some of the questions, where there are many ratings."""


def fit_models(ratings: Sequence[Rating], groups: Groups, points: Points | None = None) -> dict[str, Fitted]:
    """Return every model whose columns the ratings have; without `points`, as CaLMQA has them."""
    there = {name for name in ("model", "type", *LEVELS) if any(getattr(r, name) is not None for r in ratings)}
    rows = [rating for rating in ratings if rating.rating is not None]
    columns = read_columns(rows)
    predictors = [predictor for predictor in PREDICTORS if there.issuperset(predictor.split("*"))]
    return {predictor: fit_model(rows, groups, predictor, points, columns) for predictor in predictors}


def read_columns(rows: Sequence[Rating]) -> dict[str, list[object]]:
    """Return all columns of the models."""
    names = ("model", "type", "language", "annotator")
    columns: dict[str, list[object]] = {name: [getattr(row, name) for row in rows] for name in names}
    columns |= {name: [plain(getattr(row, name)) for row in rows] for name in ("rating", *LEVELS)}
    return columns | {"question": [r.question_key for r in rows], "answer": [r.answer_key for r in rows]}


def choose_rows(rows: Sequence[Rating], columns: Columns, kept: Sequence[int]) -> tuple[list[Rating], Columns]:
    """Return some of the rows, and their columns."""
    return [rows[n] for n in kept], {name: [values[n] for n in kept] for name, values in columns.items()}


def fit_model(
    rows: Sequence[Rating],
    groups: Groups,
    predictor: str,
    points: Points | None = None,
    columns: Columns | None = None,
) -> Fitted:
    """Return the ratings by one predictor, of the rows that have both; `columns` are those of all the rows."""
    names = predictor.split("*")
    columns = columns or read_columns(rows)
    if any(None in columns[name] for name in ("rating", *names)):
        needed = list(zip(*(columns[name] for name in ("rating", *names)), strict=True))
        rows, columns = choose_rows(rows, columns, [n for n, values in enumerate(needed) if None not in values])
    random = random_terms(columns, points is not None)
    slopes, cells = random_slopes(columns, random, names) if points and points.over_raters else ((), 0)
    if not slopes:
        return fit_terms(rows, groups, predictor, points, columns, random)
    if len(rows) <= MANY and len(set(columns["answer"])) * cells**2 <= MOST_WORK:
        found = fit_terms(rows, groups, predictor, points, columns, (*random, *slopes))
        if found.fit:
            return found
    found = fit_terms(rows, groups, predictor, points, columns, random)
    notes = (*found.regression.notes, WITHOUT_SLOPES.format(" and ".join(f"{name}s" for name in names)))
    return found._replace(regression=found.regression.model_copy(update={"notes": notes}))


def fit_terms(
    rows: Sequence[Rating],
    groups: Groups,
    predictor: str,
    points: Points | None,
    columns: Columns,
    random: Sequence[str],
) -> Fitted:
    """Return the model with these random terms."""
    names = predictor.split("*")
    formula = " + ".join([f"rating ~ {' * '.join(names)}", *(f"(1 | {term})" for term in random)])
    # The reference comes first: of an aspect the worst level.
    orders = {"model": groups.models, "type": groups.types} | {name: of[::-1] for name, of in LEVELS.items()}
    regression = Regression(formula=formula, n=len(rows))
    model, part = MixedModel("rating", (predictor,), tuple(random), {name: orders[name] for name in names}), None
    failure, fitted = "", None
    if len(ratings := set(columns["rating"])) > MOST_RATINGS:
        failure = f"{len(ratings)} different ratings are too many; round them to {MOST_RATINGS} or fewer"
    elif count_crossed(columns, random) > MOST_LEVELS:
        failure = "annotators, questions and answers are too many for it together; read the differences in points"
    else:
        try:
            if len(rows) > MANY and "question" in random:
                kept = np.flatnonzero(sample_questions(columns["question"]))
                part = Fitted(regression, None, *choose_rows(rows, columns, kept.tolist()))
                part = part._replace(fit=fit(model, part.columns))
            near = part.fit if part and part.fit and part.fit.converged else None
            fitted = fit(model, columns, near)
        except ValueError as error:
            failure = str(error)
    if fitted and fitted.problems:
        regression = regression.model_copy(update={"notes": fitted.notes})
        failure = "; ".join(fitted.problems)
    if failure or fitted is None:
        return Fitted(regression.model_copy(update={"failure": failure}), None, rows, columns)
    described = describe(fitted, formula, names, len(rows), points)
    if points is not None and (odds := check_odds(fitted.design.response.codes, fitted.design.matrix, number(columns))):
        by_cut = dict(zip(fitted.design.names, map(tuple, odds.slopes.T.tolist()), strict=True))
        described = described.model_copy(update={"odds": ProportionalOdds(p=odds.p, by_threshold=by_cut)})
    return Fitted(described, fitted, rows, columns, part and part._replace(regression=described))


def count_crossed(columns: Columns, random: Sequence[str]) -> int:
    """Return the levels of all terms but the largest, and but the questions that the largest, answers, are within: what
    a likelihood holds as a matrix."""
    terms = {name for term in random for name in term.split("/")} & {"annotator", "question", "answer"}
    levels = {name: len(set(columns[name])) for name in terms}
    largest = max(levels, key=lambda name: (levels[name], name), default="")
    return sum(n for name, n in levels.items() if name != largest and (name, largest) != ("question", "answer"))


def sample_questions(questions: Sequence[object]) -> npt.NDArray[np.bool_]:
    """Return the rows of some questions, drawn at random."""
    places = {key: n for n, key in enumerate(dict.fromkeys(questions))}
    codes = np.array([places[key] for key in questions])
    shuffled = np.random.default_rng(0).permutation(len(places))
    return np.asarray(shuffled[codes] < max(30, len(places) * SOME // len(questions)))


def number(columns: Columns) -> list[int]:
    """Return each row's question as a number."""
    codes = {key: code for code, key in enumerate(dict.fromkeys(columns["question"]))}
    return [codes[key] for key in columns["question"]]


def random_terms(columns: Columns, crossed: bool) -> tuple[str, ...]:
    """Return annotators within languages, questions and answers; what does not vary cannot be a random effect.

    CaLMQA's annotators rated different answers, and its models have no effect of questions; where several people rate
    the same answers, their ratings are not independent, and questions are a random effect there too.
    """
    rows, languages, annotators = len(columns["rating"]), set(columns["language"]), set(columns["annotator"])
    questions, answers = len(set(columns["question"])), len(set(columns["answer"]))
    shared = 1 < questions < rows if crossed else answers < rows and questions > 1
    items = ("question",) * shared + ("answer",) * (crossed and questions < answers < rows)
    if len(languages) > 1 and None not in languages:
        return ("language/annotator" if len(annotators) > 1 else "language", *items)
    return ("annotator", *items) if len(annotators) > 1 else items if crossed else ()


def random_slopes(columns: Columns, random: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return how annotators see models and types, and how many levels that has.

    Each term needs annotators who rated several models or types, and some of these repeatedly.
    """
    nest: tuple[str, ...] = ("annotator",) if "annotator" in random else ()
    nest = ("language", "annotator") if "language/annotator" in random else nest
    terms, levels = [], 0
    for name in names if nest else ():
        if name in ("model", "type"):
            people, cells = (
                len(set(zip(*(columns[part] for part in parts), strict=True))) for parts in (nest, (*nest, name))
            )
            if people < cells < len(columns["rating"]):
                terms.append(":".join((*nest, name)))
                levels += cells
    return tuple(terms), levels


def plain(value: object) -> object:
    """Return a level as a text, a rating as the whole number that it mostly is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return str(value) if isinstance(value, str) else value


def describe(fitted: Fit, formula: str, names: Sequence[str], n: int, points: Points | None) -> Regression:
    """Return a fitted model as a record, with the differences between the groups of its factors."""
    adjust: Adjustment = "tukey" if len(names) == 1 else "bonferroni"
    # Few raters or questions: the degrees of freedom of the same difference in points.
    known = {
        (d.first_name, d.second_name): d.df for d in (points.differences.get("*".join(names), ()) if points else ())
    }

    def degrees(first: Levels, second: Levels) -> float:
        found = known.get((" ".join(map(str, first.values())), " ".join(map(str, second.values()))))
        return float("inf") if found is None else found

    shares = r_squared(fitted)
    return Regression(
        formula=formula,
        n=n,
        notes=fitted.notes,
        effects=tuple(Effect(**asdict(coefficient)) for coefficient in fitted.coefficients),
        thresholds=tuple(Effect(**asdict(coefficient)) for coefficient in fitted.thresholds),
        variances=tuple(GroupVariance(**asdict(variance)) for variance in fitted.variances),
        log_likelihood=fitted.log_likelihood,
        aic=fitted.aic,
        marginal=shares.marginal,
        conditional=shares.conditional,
        adjustment=adjust,
        differences=tuple(differ(c) for c in contrasts(fitted, tuple(reversed(names)), adjust=adjust, df=degrees)),
    )


def differ(contrast: MeanContrast, total: float | None = None) -> GroupDifference:
    """Return a contrast as a record, with its size where `total` is the standard deviation of a rating."""
    return GroupDifference(
        first={name: str(level) for name, level in contrast.first.items()},
        second={name: str(level) for name, level in contrast.second.items()},
        estimate=contrast.estimate,
        se=contrast.se,
        low=contrast.low,
        high=contrast.high,
        z=contrast.z,
        p=contrast.p,
        df=None if isinf(contrast.df) else contrast.df,
        size=None if total is None else contrast.estimate / total,
    )


def explained(regressions: Mapping[str, Regression]) -> Iterator[tuple[str, Regression]]:
    """Yield the models of Table 22 in its order."""
    for predictor in ("model", "omissions", "factuality", "language_correct", "type", "model*type"):
        if predictor in regressions:
            yield predictor, regressions[predictor]
