"""Cumulative link mixed models of the ratings: ~ model, ~ type, ~ model * type, ~ each aspect (Tables 17 to 22).

The random intercepts are those of annotators within languages. A model that cannot be fitted is a `Regression` with the
reason and without a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from mores.rating.groups import LEVELS
from mores.rating.ratings import Rating
from mores.rating.records import Effect, GroupDifference, Groups, GroupVariance, Regression
from mores.stats.intervals import Z95
from mores.stats.mixed import Fit, MeanContrast, MixedModel, contrasts, fit, means, r_squared
from mores.stats.mixed.comparison import Adjustment
from mores.stats.mixed.design import Columns
from mores.stats.power import contrast_power

MOST_RATINGS = 30
"""A cumulative link model has a threshold between every two ratings; with more, it is the wrong model."""
PREDICTORS = ("model", "type", "model*type", "omissions", "factuality", "language_correct")
"""The fixed effects of each model, in the order of the tables."""


class Fitted(NamedTuple):
    """A model with the rows that it rests on."""

    regression: Regression
    fit: Fit | None
    """None where there is none."""
    rows: Sequence[Rating]
    columns: Columns


def fit_models(ratings: Sequence[Rating], groups: Groups) -> dict[str, Fitted]:
    """Return every model whose columns the ratings have."""
    there = {name for name in ("model", "type", *LEVELS) if any(getattr(r, name) is not None for r in ratings)}
    predictors = [predictor for predictor in PREDICTORS if there.issuperset(predictor.split("*"))]
    return {predictor: fit_model(ratings, groups, predictor) for predictor in predictors}


def fit_model(ratings: Sequence[Rating], groups: Groups, predictor: str) -> Fitted:
    """Return the ratings by one predictor, of the rows that have both."""
    names = predictor.split("*")
    rows = [r for r in ratings if r.rating is not None and all(getattr(r, name) is not None for name in names)]
    random = random_terms(rows)
    formula = " + ".join([f"rating ~ {' * '.join(names)}", *(f"(1 | {term})" for term in random)])
    # The reference comes first: of an aspect the worst level.
    orders = {"model": groups.models, "type": groups.types} | {name: of[::-1] for name, of in LEVELS.items()}
    levels = {name: orders[name] for name in names}
    columns = {name: [plain(getattr(r, name)) for r in rows] for name in ("rating", *names, "language", "annotator")}
    columns["question"] = [r.question_key for r in rows]
    regression = Regression(formula=formula, n=len(rows))
    if len(set(columns["rating"])) > MOST_RATINGS:
        reason = f"{len(set(columns['rating']))} different ratings are too many; round them to {MOST_RATINGS} or fewer"
        return Fitted(regression.model_copy(update={"failure": reason}), None, rows, columns)
    try:
        fitted = fit(MixedModel("rating", (predictor,), random, levels), columns)
    except ValueError as error:
        return Fitted(regression.model_copy(update={"failure": str(error)}), None, rows, columns)
    if fitted.problems:
        failed = {"failure": "; ".join(fitted.problems), "notes": fitted.notes}
        return Fitted(regression.model_copy(update=failed), None, rows, columns)
    return Fitted(describe(fitted, formula, names, len(rows)), fitted, rows, columns)


def random_terms(rows: Sequence[Rating]) -> tuple[str, ...]:
    """Return annotators within languages; what does not vary cannot be a random effect.

    CaLMQA's annotators rated different answers. Where several people rate the same ones, their ratings are not
    independent, and questions are a random effect too.
    """
    languages, annotators = {row.language for row in rows}, {row.annotator for row in rows}
    shared = len({row.answer_key for row in rows}) < len(rows) and len({row.question_key for row in rows}) > 1
    questions = ("question",) * shared
    if len(languages) > 1 and None not in languages:
        return ("language/annotator" if len(annotators) > 1 else "language", *questions)
    return ("annotator", *questions) if len(annotators) > 1 else ()


def plain(value: object) -> object:
    """Return a level as a text, a rating as the whole number that it mostly is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return str(value) if isinstance(value, str) else value


def describe(fitted: Fit, formula: str, names: Sequence[str], n: int) -> Regression:
    """Return a fitted model as a record, with the differences between the groups of its factors."""
    adjust: Adjustment = "tukey" if len(names) == 1 else "bonferroni"
    shares, compared = r_squared(fitted), contrasts(fitted, tuple(reversed(names)), adjust=adjust)
    size = len(means(fitted, names))
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
        differences=tuple(differ(fitted, contrast, size, adjust) for contrast in compared),
    )


def differ(fitted: Fit, contrast: MeanContrast, size: int, adjust: Adjustment) -> GroupDifference:
    """Return a contrast of two among so many means as a record, with what it needs to be shown."""
    need = contrast_power(fitted, contrast, size=size, adjust=adjust)
    return GroupDifference(
        first={name: str(level) for name, level in contrast.first.items()},
        second={name: str(level) for name, level in contrast.second.items()},
        estimate=contrast.estimate,
        se=contrast.se,
        low=contrast.estimate - Z95 * contrast.se,
        high=contrast.estimate + Z95 * contrast.se,
        z=contrast.z,
        p=contrast.p,
        power=need.power,
        more=need.more,
        detectable=need.detectable,
    )


def explained(regressions: Mapping[str, Regression]) -> Iterator[tuple[str, Regression]]:
    """Yield the models of Table 22 in its order."""
    for predictor in ("model", "omissions", "factuality", "language_correct", "type", "model*type"):
        if predictor in regressions:
            yield predictor, regressions[predictor]
