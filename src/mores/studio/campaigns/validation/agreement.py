"""How far people agree in a validation, question by question; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mores.metaevaluation.votes import SIMILARITY
from mores.stats.agreement import Label, Votes, count_votes, krippendorff_alpha, krippendorff_alpha_interval
from mores.stats.marks import AgreementFigure
from mores.studio.campaigns.validation.results import JudgedSample, metrics_of

QUESTIONS = {
    "Cultural relation": "culture",
    "Error": "error",
    "Explanation": "explanation",
    "Severity": "severity",
    "Type": "type",
    "Changed mind": "changed",
}


class QuestionAgreement(NamedTuple):
    """Agreement on one question."""

    name: str
    alpha: AgreementFigure
    """Krippendorff's, with its 95% interval; ordinal and without one for likeness."""
    same: float | None
    """The share of pairs of answers to the same sample that are alike."""
    samples: int
    answers: int


def measure(samples: Iterable[JudgedSample]) -> list[QuestionAgreement]:
    """Measure agreement on every question, and on the likeness of each metric's explanations."""
    every = list(samples)
    questions = [
        _agreement(name, [sample.ballot(criterion) for sample in every]) for name, criterion in QUESTIONS.items()
    ]
    for metric in metrics_of(every):
        ratings = [[float(rating) for rating in sample.ballot(f"{SIMILARITY}{metric}")] for sample in every]
        questions.append(_agreement(f"Likeness: {metric}", ratings, ordinal=True))
    return [agreement for agreement in questions if agreement.samples]


def _agreement(name: str, labels: Sequence[Sequence[Label]], *, ordinal: bool = False) -> QuestionAgreement:
    shared = [given for given in labels if len(given) > 1]
    pairs = [(first, other) for given in shared for place, first in enumerate(given) for other in given[place + 1 :]]
    same = sum(first == other for first, other in pairs) / len(pairs) if pairs else None
    answers = sum(map(len, shared))
    return QuestionAgreement(name, _alpha(shared, ordinal), same, len(shared), answers)


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
