"""How far people who rated the same answers agree: Krippendorff's α, and Cohen's κ of every two annotators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from mores.rating.groups import LEVELS
from mores.rating.ratings import Rating
from mores.rating.records import ColumnAgreement, ErrorSpanAgreement, PairKappa, RatingAgreement
from mores.stats.agreement import Votes, cohen_kappa, count_votes, krippendorff_alpha
from mores.stats.intervals import drawn_interval
from mores.stats.marks import AgreementFigure, MarkedText, SpanMark, span_agreement
from mores.stats.resampling import draw_counts
from mores.types import Result

Given = Mapping[str, float]
"""What each annotator says about an answer."""


def measure_agreement(ratings: Sequence[Rating], scale: Sequence[float]) -> RatingAgreement | None:
    """Return the agreement about ratings and aspects; None where nobody rated the same answer as another."""
    answers: dict[tuple[str, ...], list[Rating]] = defaultdict(list)
    for rating in ratings:
        answers[rating.answer_key].append(rating)
    shared = [members for members in answers.values() if len(members) > 1]
    if not shared:
        return None
    columns = {name: given_values(shared, name) for name in ("rating", *LEVELS)}
    pairs = []
    for first, second in combinations(sorted({name for unit in columns["rating"] for name in unit}), 2):
        both = [(unit[first], unit[second]) for unit in columns["rating"] if first in unit and second in unit]
        if both:
            kappa = cohen_kappa([a for a, _ in both], [b for _, b in both], "quadratic", scale)
            pairs.append(PairKappa(first=first, second=second, n=len(both), kappa=kappa))
    return RatingAgreement(
        shared=len(shared),
        coefficients=tuple(
            ColumnAgreement(column=name, alpha=alpha_of(name, units)) for name, units in columns.items() if units
        ),
        pairs=tuple(pairs),
        spans=agree_on_spans(shared),
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


def alpha_of(name: str, units: Sequence[Given]) -> Result:
    """Return Krippendorff's α for ordered values, with the variance of answers drawn anew."""
    annotators = sorted({annotator for unit in units for annotator in unit})
    votes = count_votes([[unit.get(annotator) for unit in units] for annotator in annotators])
    value = krippendorff_alpha(votes, "ordinal")
    if value is None:
        return Result(name=name, value=None, n=len(units))
    counts = np.asarray(votes.counts)
    drawn = [
        alpha
        for block in draw_counts(len(counts), width=counts.size)
        for weights in block
        if (alpha := krippendorff_alpha(Votes(votes.values, np.repeat(counts, weights.astype(int), axis=0)), "ordinal"))
        is not None
    ]
    unlike = len(counts) * float(1 - ((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    low, high = drawn_interval(value, drawn, unlike, least=-1.0)
    return Result(name=name, value=value, low=low, high=high, n=len(units))


def agree_on_spans(shared: Sequence[Sequence[Rating]]) -> ErrorSpanAgreement | None:
    """Return how far people mark the same words; None where no two people marked errors in the same answer."""
    by_label = {label: span_agreement(marked_texts(shared, label)) for label in ("severity", "type")}
    agreement = by_label["severity"]
    if agreement is None:
        return None
    return ErrorSpanAgreement(
        texts=agreement.texts,
        marked=agreement.marked,
        f1=as_result("F1", agreement.f1, agreement.marked),
        chance=agreement.chance,
        kappa=as_result("kappa", agreement.kappa, agreement.marked),
        alpha=as_result("alpha", agreement.alpha, agreement.texts),
        unitizing=agreement.unitizing,
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
