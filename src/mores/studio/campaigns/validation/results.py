"""Figures of people's answers: Tables 3, 12 and 13 of ExCAM and the means of Section 5; pure functions.

    count_votes(samples, people=3)      # Table 3
    majorities(samples)                 # Tables 12 and 13
    likeness(samples)                   # Section 5

Votes and majorities are counted as `mores meta` does (`mores.metaevaluation.votes`). Only samples with all their
answers count. Those that still wait and those that nobody could judge are `Beside`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

from mores.metaevaluation import votes
from mores.stats.agreement import Label, krippendorff_alpha, krippendorff_alpha_interval
from mores.stats.agreement import count_votes as table_votes
from mores.stats.distributions import ShareEstimate, share_of
from mores.stats.marks import AgreementFigure
from mores.stats.paired import PairedDifference, paired_difference
from mores.stats.results import difference_result, mean_result
from mores.types import Result

LEAST, MOST = 1, 5
"""The ends of the scale on which explanations are compared."""


class JudgedSample(NamedTuple):
    """One sample with people's answers."""

    id: str
    language: str
    severity: str
    """By the gold report: minor or major."""
    answers: Mapping[str, Mapping[str, str]] = {}
    """By person and criterion: a value that `mores.metaevaluation.votes` lists."""
    complete: bool = True
    """Whether it has all the answers that it needs."""
    declined: int = 0
    """People who could not judge it."""
    metrics: Mapping[str, bool | None] = {}
    """Whether each metric finds an error in it; None where it failed."""

    def ballot(self, criterion: str) -> list[str]:
        """Return what people say about one criterion."""
        return [given[criterion] for given in self.answers.values() if criterion in given]


CRITERIA: Mapping[str, votes.PositiveClass] = {
    "Culture rel.": votes.CULTURE,
    "Error valid (strict)": votes.ERROR,
    "Error valid (partial)": votes.ERROR_PARTLY,
    "Expl. valid": votes.EXPLANATION,
    "Expl. valid (partial)": votes.EXPLANATION_PARTLY,
}
"""The positive classes. Strict: every marked word is part of an error. Partial: some may be unnecessary."""


class Beside(NamedTuple):
    """Samples that no figure counts, and people who could not judge."""

    waiting: int
    """Samples that have some answers and need more."""
    untouched: int
    """Samples without an answer."""
    declined: int
    """Times that somebody could not judge a sample."""


class Likeness(NamedTuple):
    """The similarity of one metric's explanations to the gold ones."""

    metric: str
    finding: ShareEstimate | None
    """Of the samples with a valid gold explanation, those in which the metric finds an error."""
    failed: int
    """More samples, about which the metric says nothing because it failed."""
    mean: Result
    """Of the samples' mean ratings, from 1 to 5; unscored are explanations that nobody has rated."""
    ratings: int


class MetricDifference(NamedTuple):
    """Two metrics on the samples in which both find an error."""

    first: str
    second: str
    samples: int
    difference: PairedDifference | None
    """None without such a sample."""
    whole: Result
    """The same, with the samples in which one of them failed or nobody rated its explanation as missing."""


def counted(samples: Iterable[JudgedSample]) -> list[JudgedSample]:
    """Return the samples that have all their answers, of at least two people."""
    return [sample for sample in samples if sample.complete and len(sample.answers) > 1]


def beside(samples: Iterable[JudgedSample]) -> Beside:
    """Return what is not counted."""
    every = list(samples)
    known = {sample.id for sample in counted(every)}
    waiting = [sample for sample in every if sample.id not in known]
    return Beside(
        waiting=sum(bool(sample.answers) for sample in waiting),
        untouched=sum(not sample.answers for sample in waiting),
        declined=sum(sample.declined for sample in every),
    )


def undecided(samples: Iterable[JudgedSample]) -> int:
    """Return how many samples are not counted because people could not judge them; others only wait for people."""
    every = list(samples)
    known = {sample.id for sample in counted(every)}
    return sum(sample.id not in known and sample.declined > 0 for sample in every)


def count_votes(samples: Iterable[JudgedSample], people: int) -> dict[str, tuple[int, ...]]:
    """Table 3: of the samples with so many answers, in how many all of them, all but one, …, none say yes."""
    known = counted(samples)
    return {
        name: votes.spread_votes((sample.ballot(positive.criterion) for sample in known), positive, people)
        for name, positive in CRITERIA.items()
    }


def sizes(samples: Iterable[JudgedSample]) -> list[int]:
    """Return how many answers samples have, from the most."""
    return sorted({len(sample.answers) for sample in counted(samples)}, reverse=True)


def majorities(samples: Iterable[JudgedSample]) -> dict[str, ShareEstimate | None]:
    """Table 12, of the samples of one language: in which share of them each criterion holds."""
    known = counted(samples)
    return {name: _share(known, positive) for name, positive in CRITERIA.items()}


def auxiliary(samples: Iterable[JudgedSample]) -> dict[str, ShareEstimate | None]:
    """Table 13: agreement with severity, apart for minor and major errors, and type; how often minds changed."""
    known = counted(samples)
    by_severity = {
        f"Severity OK ({severity})": _share([sample for sample in known if sample.severity == severity], votes.SEVERITY)
        for severity in ("minor", "major")
    }
    return by_severity | {"Type OK": _share(known, votes.TYPE), "Changed mind": _share(known, votes.CHANGED)}


def _share(samples: Sequence[JudgedSample], positive: votes.PositiveClass) -> ShareEstimate | None:
    ballots = (sample.ballot(positive.criterion) for sample in samples)
    return share_of(votes.count_majorities(ballots, positive), len(samples)) if samples else None


# -- Section 5 -------------------------------------------------------------------------------------------------


def with_valid_explanation(samples: Iterable[JudgedSample]) -> list[JudgedSample]:
    """Return the samples to compare explanations on: the gold one is valid by majority (n=90 in the paper).

    In the paper 63 + 15 of 80 samples in Table 3 and 5 + 3 + 4 of 20 in Table 12 are: 90, as Section 5 says.
    """
    return [sample for sample in counted(samples) if votes.holds(sample.ballot("explanation"), votes.EXPLANATION)]


def likeness(samples: Iterable[JudgedSample]) -> list[Likeness]:
    """Return how often each metric finds an error, and how alike its explanations are to the gold ones."""
    valid, found = with_valid_explanation(samples), []
    for metric in metrics_of(valid):
        asked = [sample.metrics[metric] for sample in valid if metric in sample.metrics]
        failed, finding = asked.count(None), asked.count(True)
        means = [rating for sample in valid if (rating := mean_rating(sample, metric)) is not None]
        ratings = sum(len(sample.ballot(f"{votes.SIMILARITY}{metric}")) for sample in valid)
        mean = mean_result("likeness", means, least=LEAST, most=MOST, unscored=finding - len(means))
        share = share_of(finding, len(asked) - failed) if len(asked) > failed else None
        found.append(Likeness(metric, share, failed, mean, ratings))
    return found


def metrics_of(samples: Iterable[JudgedSample]) -> list[str]:
    """Return all metrics, by name."""
    return sorted({metric for sample in samples for metric in sample.metrics})


def mean_rating(sample: JudgedSample, metric: str) -> float | None:
    """Return the mean of what people gave a metric's explanation of one sample; None where nobody rated it."""
    given = sample.ballot(f"{votes.SIMILARITY}{metric}")
    return fmean(map(int, given)) if given else None


def compare_metrics(samples: Iterable[JudgedSample]) -> list[MetricDifference]:
    """Return every two metrics on the samples that both explain, by a paired permutation test of their means."""
    valid = with_valid_explanation(samples)
    pairs = []
    for first, second in combinations(metrics_of(valid), 2):
        both = [sample for sample in valid if False not in (sample.metrics.get(m, False) for m in (first, second))]
        rated = [(mean_rating(sample, first), mean_rating(sample, second)) for sample in both]
        means = [(mine, other) for mine, other in rated if mine is not None and other is not None]
        difference = paired_difference([mine for mine, _ in means], [other for _, other in means], most=MOST - LEAST)
        sides = np.array(rated, dtype=np.float64).reshape(-1, 2).T  # where None is nan
        whole = difference_result("difference", *sides, least=LEAST, most=MOST)
        pairs.append(MetricDifference(first, second, len(means), difference, whole))
    return pairs


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
        ratings = [[float(rating) for rating in sample.ballot(f"{votes.SIMILARITY}{metric}")] for sample in every]
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
    table = table_votes(rows)
    if ordinal:
        return AgreementFigure(krippendorff_alpha(table, "ordinal"))
    interval = krippendorff_alpha_interval(table)
    return AgreementFigure(krippendorff_alpha(table), *(interval or (None, None)))
