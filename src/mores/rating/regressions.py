"""Cumulative link mixed models of the ratings: ~ model, ~ type, ~ model * type, ~ each aspect (Tables 17 to 22).

The random intercepts are those of annotators within languages, and of questions and answers where they repeat; in an
analysis as CaLMQA's, of questions only where an answer was rated twice. A model that cannot be fitted is a `Regression`
with the reason and without a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isinf
from typing import NamedTuple

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
MOST_PAIRS = 100_000
"""Pairs of a level of the largest random effect and one of the others: with more, an ordinal model takes minutes."""
PREDICTORS = ("model", "type", "model*type", "omissions", "factuality", "language_correct")
"""The fixed effects of each model, in the order of the tables."""


class Fitted(NamedTuple):
    """A model with the rows that it rests on."""

    regression: Regression
    fit: Fit | None
    """None where there is none."""
    rows: Sequence[Rating]
    columns: Columns


def fit_models(ratings: Sequence[Rating], groups: Groups, points: Points | None = None) -> dict[str, Fitted]:
    """Return every model whose columns the ratings have; without `points`, as CaLMQA has them."""
    there = {name for name in ("model", "type", *LEVELS) if any(getattr(r, name) is not None for r in ratings)}
    predictors = [predictor for predictor in PREDICTORS if there.issuperset(predictor.split("*"))]
    return {predictor: fit_model(ratings, groups, predictor, points) for predictor in predictors}


def fit_model(ratings: Sequence[Rating], groups: Groups, predictor: str, points: Points | None = None) -> Fitted:
    """Return the ratings by one predictor, of the rows that have both."""
    names = predictor.split("*")
    rows = [r for r in ratings if r.rating is not None and all(getattr(r, name) is not None for name in names)]
    random = random_terms(rows, points is not None)
    formula = " + ".join([f"rating ~ {' * '.join(names)}", *(f"(1 | {term})" for term in random)])
    # The reference comes first: of an aspect the worst level.
    orders = {"model": groups.models, "type": groups.types} | {name: of[::-1] for name, of in LEVELS.items()}
    levels = {name: orders[name] for name in names}
    columns = {name: [plain(getattr(r, name)) for r in rows] for name in ("rating", *names, "language", "annotator")}
    columns |= {"question": [r.question_key for r in rows], "answer": [r.answer_key for r in rows]}
    regression = Regression(formula=formula, n=len(rows))
    if len(set(columns["rating"])) > MOST_RATINGS:
        reason = f"{len(set(columns['rating']))} different ratings are too many; round them to {MOST_RATINGS} or fewer"
        return Fitted(regression.model_copy(update={"failure": reason}), None, rows, columns)
    sizes = sorted(len(set(columns[name])) for name in ("annotator", *(set(random) & {"question", "answer"})))
    if sizes[-1] * sum(sizes[:-1]) > MOST_PAIRS:
        reason = f"{len(rows):,} ratings are too many for it; read the differences in points, which rest on all of them"
        return Fitted(regression.model_copy(update={"failure": reason}), None, rows, columns)
    try:
        fitted = fit(MixedModel("rating", (predictor,), random, levels), columns)
    except ValueError as error:
        return Fitted(regression.model_copy(update={"failure": str(error)}), None, rows, columns)
    if fitted.problems:
        failed = {"failure": "; ".join(fitted.problems), "notes": fitted.notes}
        return Fitted(regression.model_copy(update=failed), None, rows, columns)
    described = describe(fitted, formula, names, len(rows), points)
    if points is not None and (odds := check_odds(fitted.design.response.codes, fitted.design.matrix, number(columns))):
        slopes = dict(zip(fitted.design.names, map(tuple, odds.slopes.T.tolist()), strict=True))
        described = described.model_copy(update={"odds": ProportionalOdds(p=odds.p, by_threshold=slopes)})
    return Fitted(described, fitted, rows, columns)


def number(columns: Columns) -> list[int]:
    """Return each row's question as a number."""
    codes = {key: code for code, key in enumerate(dict.fromkeys(columns["question"]))}
    return [codes[key] for key in columns["question"]]


def random_terms(rows: Sequence[Rating], crossed: bool) -> tuple[str, ...]:
    """Return annotators within languages, questions and answers; what does not vary cannot be a random effect.

    CaLMQA's annotators rated different answers, and its models have no effect of questions; where several people rate
    the same answers, their ratings are not independent, and questions are a random effect there too.
    """
    languages, annotators = {row.language for row in rows}, {row.annotator for row in rows}
    questions, answers = len({row.question_key for row in rows}), len({row.answer_key for row in rows})
    shared = 1 < questions < len(rows) if crossed else answers < len(rows) and questions > 1
    items = ("question",) * shared + ("answer",) * (crossed and questions < answers < len(rows))
    if len(languages) > 1 and None not in languages:
        return ("language/annotator" if len(annotators) > 1 else "language", *items)
    return ("annotator", *items) if len(annotators) > 1 else items if crossed else ()


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
