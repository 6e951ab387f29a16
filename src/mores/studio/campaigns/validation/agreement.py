"""How far people agree in a validation: on each question, and on the words that they mark; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from mores.stats.agreement import Label, Votes, count_votes, krippendorff_alpha, krippendorff_alpha_interval
from mores.stats.marks import AgreementFigure, MarkedText, span_agreement
from mores.studio.campaigns.validation.results import Answer, Judged, metrics_of

QUESTIONS: Mapping[str, Callable[[Answer], Label]] = {
    "Cultural relation": lambda answer: _word(answer.cultural),
    "Error": lambda answer: answer.error.value,
    "Explanation": lambda answer: answer.explanation.value,
    "Severity": lambda answer: _word(answer.severity_ok),
    "Type": lambda answer: _word(answer.type_ok),
    "Changed mind": lambda answer: _word(answer.changed),
}


class Agreement(NamedTuple):
    """Agreement on one question."""

    name: str
    alpha: AgreementFigure
    """Krippendorff's, with its 95% interval; ordinal and without one for likeness."""
    same: float | None
    """The share of pairs of answers to the same sample that are alike."""
    samples: int
    answers: int


class Spans(NamedTuple):
    """Agreement on marked words."""

    f1: float | None
    alpha: float | None
    texts: int


def _word(holds: bool) -> str:
    return "yes" if holds else "no"


def measure(samples: Iterable[Judged]) -> list[Agreement]:
    """Agreement on every question, and on the likeness of each metric's explanations."""
    every = list(samples)
    questions = [
        _agreement(name, [[label(answer) for answer in sample.answers] for sample in every])
        for name, label in QUESTIONS.items()
    ]
    for metric in metrics_of(every):
        rated = [[answer.likeness.get(metric) for answer in sample.answers] for sample in every]
        ratings = [[float(rating) for rating in given if rating is not None] for given in rated]
        questions.append(_agreement(f"Likeness: {metric}", ratings, ordinal=True))
    return [agreement for agreement in questions if agreement.samples]


def _agreement(name: str, labels: Sequence[Sequence[Label]], *, ordinal: bool = False) -> Agreement:
    shared = [given for given in labels if len(given) > 1]
    pairs = [(first, other) for given in shared for place, first in enumerate(given) for other in given[place + 1 :]]
    same = sum(first == other for first, other in pairs) / len(pairs) if pairs else None
    answers = sum(map(len, shared))
    return Agreement(name, _alpha(shared, ordinal), same, len(shared), answers)


def _alpha(labels: Sequence[Sequence[Label]], ordinal: bool) -> AgreementFigure:
    if not labels:
        return AgreementFigure(None)
    most = max(map(len, labels))
    rows = [[given[place] if place < len(given) else None for given in labels] for place in range(most)]
    votes: Votes = count_votes(rows)
    if ordinal:
        return AgreementFigure(krippendorff_alpha(votes, "ordinal"))
    interval = krippendorff_alpha_interval(votes)
    return AgreementFigure(krippendorff_alpha(votes), *(interval or (None, None)))


def measure_spans(texts: Iterable[MarkedText]) -> Spans | None:
    """Agreement on the words that people find wrong; None where no text has two people's marks."""
    spans = span_agreement(texts)
    return Spans(spans.f1.value, spans.alpha.value, spans.texts) if spans else None
