"""Agreement of people who rated the same answers: Krippendorff's α, and Cohen's κ of every two annotators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import atanh, sqrt, tanh

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from mores.rating.groups import LEVELS
from mores.rating.ratings import Rating
from mores.rating.records import ColumnAgreement, ErrorSpanAgreement, PairKappa, RatingAgreement
from mores.stats.agreement import FEWEST_SPLIT, FEWEST_UNLIKE, alphas, cohen_kappa
from mores.stats.intervals import TAIL, Z95, drawn_moments, limits_of
from mores.stats.marks import AgreementFigure, MarkedText, SpanMark, span_agreement
from mores.stats.resampling import draw_counts
from mores.types import Result, Severity

FEWEST = 3
"""Raters from which their share of the variance of an agreement is estimated."""
Codes = npt.NDArray[np.intp]
Given = Mapping[str, float]
"""What each annotator says about an answer."""


def measure_agreement(
    ratings: Sequence[Rating], scale: Sequence[float], over_raters: bool = False
) -> RatingAgreement | None:
    """Return the agreement about ratings and aspects; None where nobody rated the same answer as another.

    Intervals are over answers, and over raters too where `over_raters`.
    """
    answers: dict[tuple[str, ...], list[Rating]] = defaultdict(list)
    for rating in ratings:
        answers[rating.answer_key].append(rating)
    shared = [members for members in answers.values() if len(members) > 1]
    if not shared:
        return None
    columns = {name: given_values(shared, name) for name in ("rating", *LEVELS)}
    pairs = []
    table, annotators = tabulate(columns["rating"])
    for i, j in combinations(range(len(annotators)), 2):
        both = ~np.isnan(table[i]) & ~np.isnan(table[j])
        if both.any():
            kappa = cohen_kappa(table[i, both].tolist(), table[j, both].tolist(), "quadratic", scale)
            pairs.append(PairKappa(first=annotators[i], second=annotators[j], n=int(both.sum()), kappa=kappa))
    return RatingAgreement(
        shared=len(shared),
        coefficients=tuple(
            ColumnAgreement(column=name, alpha=alpha_of(name, units, over_raters))
            for name, units in columns.items()
            if units
        ),
        pairs=tuple(pairs),
        spans=agree_on_spans(shared, over_raters),
    )


def given_values(shared: Sequence[Sequence[Rating]], column: str) -> list[Given]:
    """Return what two or more annotators say about each answer, as places on the column's scale."""
    places = {level: float(place) for place, level in enumerate(LEVELS.get(column, ()))}
    units: list[Given] = []
    for members in shared:
        values = {r.annotator: value for r in members if (value := getattr(r, column)) is not None}
        if len(values) > 1:
            units.append({name: places[value] if places else value for name, value in values.items()})
    return units


def tabulate(units: Sequence[Given]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return annotators × answers, nan where somebody did not rate, and the annotators' names."""
    names = sorted({name for unit in units for name in unit})
    place = {name: n for n, name in enumerate(names)}
    table = np.full((len(names), len(units)), np.nan)
    for column, unit in enumerate(units):
        for name, value in unit.items():
            table[place[name], column] = value
    return table, names


def alpha_of(name: str, units: Sequence[Given], over_raters: bool) -> Result:
    """Return Krippendorff's α for ordered values, with the variance of answers drawn anew, and of raters.

    Raters are left out one by one (the jackknife): somebody who is drawn twice would agree with themselves.
    """
    table, names = tabulate(units)
    values, codes = np.unique(table[~np.isnan(table)], return_inverse=True)
    people, answers = np.nonzero(~np.isnan(table))
    rows = count_ratings(answers, codes, (len(units), len(values)))
    everybody = np.ones((1, len(units)))
    value = float(alphas(values.tolist(), rows, everybody, "ordinal")[0])
    if len(units) < 2 or np.isnan(value):
        return Result(name=name, value=None, n=len(units))
    draws = draw_counts(len(units), width=len(units) * min(len(values), 100))
    drawn = np.concatenate([alphas(values.tolist(), rows, weights, "ordinal") for weights in draws])
    totals = np.asarray(rows.sum(axis=0)).ravel()
    unlike = len(units) * float(1 - ((totals / totals.sum()) ** 2).sum())
    middle, variance, size = drawn_moments(value, drawn, unlike, least=-1.0)
    if over_raters and len(names) >= FEWEST:
        without = []
        for n in range(len(names)):
            others = count_ratings(answers[people != n], codes[people != n], rows.shape)
            others = others[np.flatnonzero(np.asarray(others.sum(axis=1)).ravel() > 1)]
            if others.shape[0] > 1:
                without.append(float(alphas(values.tolist(), others, np.ones((1, others.shape[0])), "ordinal")[0]))
        left = np.array([alpha for alpha in without if not np.isnan(alpha)])
        apart = (len(left) - 1) / len(left) * float(((left - left.mean()) ** 2).sum()) / 4 if len(left) else 0.0
        # Student's t with the degrees of freedom of the two variances together.
        both = variance + apart
        df = both**2 / (variance**2 / (len(units) - 1) + apart**2 / (len(names) - 1)) if both else 1.0
        from scipy.stats import t  # not above: it takes 20 MB, which the studio seldom needs

        split = int((rows.max(axis=1).toarray().ravel() < np.asarray(rows.sum(axis=1)).ravel()).sum())
        if split >= FEWEST_SPLIT and unlike >= FEWEST_UNLIKE and abs(value) < 1:  # on the scale of Fisher's z
            reach, z = float(t.isf(TAIL, df)) * 2 * sqrt(both) / (1 - value**2), atanh(value)
            return Result(name=name, value=value, low=tanh(z - reach), high=tanh(z + reach), n=len(units))
        variance = both * (float(t.isf(TAIL, df)) / Z95) ** 2
    low, high = limits_of(middle, variance, size)
    return Result(name=name, value=value, low=2 * low - 1, high=2 * high - 1, n=len(units))


def count_ratings(answers: Codes, codes: Codes, shape: tuple[int, int]) -> csr_matrix:
    """Return answers × values: how many people gave each; without a cell for what nobody gave."""
    return csr_matrix((np.ones(len(codes)), (answers, codes)), shape)


def agree_on_spans(shared: Sequence[Sequence[Rating]], over_raters: bool) -> ErrorSpanAgreement | None:
    """Return how far people mark the same words; None where no two people marked errors in the same answer."""
    has_severity = any(mark.severity for members in shared for rating in members for mark in rating.spans or ())
    weights = {str(each): -float(each.weight) for each in Severity} if over_raters and has_severity else None
    by_label = {
        label: span_agreement(
            marked_texts(shared, label), weights=given, over_raters=over_raters, with_gamma=over_raters and counts
        )
        for label, given, counts in (("severity", weights, has_severity), ("type", None, not has_severity))
    }
    agreement = by_label["severity"]
    if agreement is None:
        return None
    gamma = next(
        (each.gamma for each in by_label.values() if each and each.gamma and each.gamma.value is not None), None
    )
    return ErrorSpanAgreement(
        texts=agreement.texts,
        marked=agreement.marked,
        f1=as_result("F1", agreement.f1, agreement.marked),
        chance=agreement.chance,
        kappa=as_result("kappa", agreement.kappa, agreement.marked),
        alpha=as_result("alpha", agreement.alpha, agreement.texts),
        severity=agreement.weighted and as_result("severity", agreement.weighted, agreement.texts),
        over_raters=over_raters and len(agreement.people) >= FEWEST,
        unitizing=agreement.unitizing,
        gamma=gamma and as_result("gamma", gamma, agreement.marked),
        labels={
            label: as_result(label, each.labels.alpha, each.labels.matched)
            for label, each in by_label.items()
            if each and each.labels
        },
    )


def marked_texts(shared: Sequence[Sequence[Rating]], label: str) -> list[MarkedText]:
    """Return the answers with what each person marked, labelled by severity or type."""
    texts = []
    for members in shared:
        marks = {
            rating.annotator: [SpanMark(m.start, m.end, str(getattr(m, label) or "") or None) for m in rating.spans]
            for rating in members
            if rating.spans is not None
        }
        if members[0].answer:
            texts.append(MarkedText(members[0].answer, marks))
    return texts


def as_result(name: str, figure: AgreementFigure, n: int) -> Result:
    return Result(name=name, value=figure.value, low=figure.low, high=figure.high, n=n)
