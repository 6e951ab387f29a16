"""What people's answers come to: Tables 3, 12 and 13 of ExCAM and the means of Section 5; pure functions.

    tables = count_votes(samples, people=3)      # Table 3
    majorities(samples)                          # Tables 12 and 13
    likeness(samples)                            # Section 5

A criterion holds for a sample where more than half of its people say yes; of two, both must ("task-level majority").
Only samples with all their answers count. Those that still wait and those that nobody could judge are `Beside`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from mores.stats.distributions import ShareEstimate, share_of
from mores.stats.paired import PairedDifference, paired_difference
from mores.stats.results import mean_result
from mores.types import Result

LEAST, MOST = 1, 5
"""The ends of the scale on which explanations are compared."""


class Grade(StrEnum):
    """What people say about an error or an explanation (Section 4)."""

    VALID = "valid"
    PARTLY = "partly"
    """An error with unnecessary words in its spans; an explanation that misses or mistakes a part."""
    NOT = "not"


class Answer(NamedTuple):
    """What one person says about one sample."""

    person: str
    cultural: bool
    error: Grade
    explanation: Grade
    severity_ok: bool
    type_ok: bool
    changed: bool
    likeness: Mapping[str, int] = {}
    """By metric, from 1 to 5."""


class Judged(NamedTuple):
    """One sample with people's answers."""

    id: str
    language: str
    severity: str
    """By the gold report: minor or major."""
    answers: tuple[Answer, ...] = ()
    complete: bool = True
    """Whether it has all the answers that it needs."""
    declined: int = 0
    """People who could not judge it."""
    metrics: Mapping[str, bool | None] = {}
    """Whether each metric finds an error in it; None where it failed."""


Criterion = Callable[[Answer], bool]
CULTURE, STRICT, PARTIAL, EXPLAINED = "Culture rel.", "Error valid (strict)", "Error valid (partial)", "Expl. valid"
EXPLAINED_PARTLY = "Expl. valid (partial)"
CRITERIA: Mapping[str, Criterion] = {
    CULTURE: lambda answer: answer.cultural,
    STRICT: lambda answer: answer.error is Grade.VALID,
    PARTIAL: lambda answer: answer.error is not Grade.NOT,
    EXPLAINED: lambda answer: answer.explanation is Grade.VALID,
    EXPLAINED_PARTLY: lambda answer: answer.explanation is not Grade.NOT,
}
"""The positive classes. Strict: every marked word is part of an error. Partial: some may be unnecessary."""
SEVERITY, TYPE, CHANGED = "Severity OK", "Type OK", "Changed mind"
AUXILIARY: Mapping[str, Criterion] = {
    SEVERITY: lambda answer: answer.severity_ok,
    TYPE: lambda answer: answer.type_ok,
    CHANGED: lambda answer: answer.changed,
}


class Beside(NamedTuple):
    """Samples that no figure counts, and people who could not judge."""

    waiting: int
    """Samples that have some answers and need more."""
    untouched: int
    """Samples without an answer."""
    declined: int
    """Times that somebody could not judge a sample."""


class Likeness(NamedTuple):
    """How alike one metric's explanations are to the gold ones."""

    metric: str
    finding: ShareEstimate | None
    """Of the samples with a valid gold explanation, those in which the metric finds an error."""
    failed: int
    """More samples, about which the metric says nothing because it failed."""
    mean: Result
    """Of the samples' mean ratings, from 1 to 5; unscored are explanations that nobody has rated."""
    ratings: int


class Versus(NamedTuple):
    """Two metrics on the samples in which both find an error."""

    first: str
    second: str
    samples: int
    difference: PairedDifference | None
    """None where there is no such sample."""


def holds(sample: Judged, criterion: Criterion) -> bool:
    """Return whether more than half of a sample's people say yes; of two, both."""
    return 2 * sum(map(criterion, sample.answers)) > len(sample.answers)


def counted(samples: Iterable[Judged]) -> list[Judged]:
    """Return the samples that have all their answers, of at least two people."""
    return [sample for sample in samples if sample.complete and len(sample.answers) > 1]


def beside(samples: Iterable[Judged]) -> Beside:
    """Return what is not counted."""
    every = list(samples)
    known = {sample.id for sample in counted(every)}
    waiting = [sample for sample in every if sample.id not in known]
    return Beside(
        waiting=sum(bool(sample.answers) for sample in waiting),
        untouched=sum(not sample.answers for sample in waiting),
        declined=sum(sample.declined for sample in every),
    )


def count_votes(samples: Iterable[Judged], people: int) -> dict[str, tuple[int, ...]]:
    """Table 3: of the samples with so many answers, in how many all of them, all but one, …, none say yes."""
    shared = [sample for sample in counted(samples) if len(sample.answers) == people]
    votes = {name: [sum(map(criterion, sample.answers)) for sample in shared] for name, criterion in CRITERIA.items()}
    return {name: tuple(yes.count(count) for count in range(people, -1, -1)) for name, yes in votes.items()}


def sizes(samples: Iterable[Judged]) -> list[int]:
    """Return how many answers samples have, from the most."""
    return sorted({len(sample.answers) for sample in counted(samples)}, reverse=True)


def majorities(samples: Iterable[Judged]) -> dict[str, ShareEstimate | None]:
    """Table 12, of the samples of one language: in which share of them each criterion holds."""
    known = counted(samples)
    return {name: _share(known, criterion) for name, criterion in CRITERIA.items()}


def auxiliary(samples: Iterable[Judged]) -> dict[str, ShareEstimate | None]:
    """Table 13: agreement with severity, apart for minor and major errors, and type; how often minds changed."""
    known = counted(samples)
    by_severity = {
        f"{SEVERITY} ({severity})": _share(
            [sample for sample in known if sample.severity == severity], AUXILIARY[SEVERITY]
        )
        for severity in ("minor", "major")
    }
    return by_severity | {name: _share(known, AUXILIARY[name]) for name in (TYPE, CHANGED)}


def _share(samples: Sequence[Judged], criterion: Criterion) -> ShareEstimate | None:
    return share_of(sum(holds(sample, criterion) for sample in samples), len(samples)) if samples else None


# -- Section 5 -------------------------------------------------------------------------------------------------


def with_valid_explanation(samples: Iterable[Judged]) -> list[Judged]:
    """The samples to compare explanations on: those whose gold explanation is valid by majority (n=90 in the paper).

    In the paper 63 + 15 of 80 samples in Table 3 and 5 + 3 + 4 of 20 in Table 12 are: 90, as Section 5 says.
    """
    return [sample for sample in counted(samples) if holds(sample, CRITERIA[EXPLAINED])]


def likeness(samples: Iterable[Judged]) -> list[Likeness]:
    """Return how often each metric finds an error, and how alike its explanations are to the gold ones."""
    valid = with_valid_explanation(samples)
    return [_likeness(metric, valid) for metric in metrics_of(valid)]


def metrics_of(samples: Iterable[Judged]) -> list[str]:
    """Return all metrics, by name."""
    return sorted({metric for sample in samples for metric in sample.metrics})


def _likeness(metric: str, samples: Sequence[Judged]) -> Likeness:
    asked = [sample.metrics[metric] for sample in samples if metric in sample.metrics]
    failed = sum(finds is None for finds in asked)
    finding = sum(finds is True for finds in asked)
    means = [rating for sample in samples if (rating := mean_rating(sample, metric)) is not None]
    ratings = sum(metric in answer.likeness for sample in samples for answer in sample.answers)
    mean = mean_result("likeness", means, least=LEAST, most=MOST, unscored=finding - len(means))
    share = share_of(finding, len(asked) - failed) if len(asked) > failed else None
    return Likeness(metric, share, failed, mean, ratings)


def mean_rating(sample: Judged, metric: str) -> float | None:
    """Return the mean of what people gave a metric's explanation of one sample; None where nobody rated it."""
    given = [answer.likeness[metric] for answer in sample.answers if metric in answer.likeness]
    return fmean(given) if given else None


def compare_metrics(samples: Iterable[Judged]) -> list[Versus]:
    """Return every two metrics on the samples that both explain, by a paired permutation test of their means."""
    valid = with_valid_explanation(samples)
    return [_versus(first, second, valid) for first, second in combinations(metrics_of(valid), 2)]


def _versus(first: str, second: str, samples: Sequence[Judged]) -> Versus:
    rated = ((mean_rating(sample, first), mean_rating(sample, second)) for sample in samples)
    means = [(mine, other) for mine, other in rated if mine is not None and other is not None]
    difference = paired_difference([mine for mine, _ in means], [other for _, other in means], most=MOST - LEAST)
    return Versus(first, second, len(means), difference)
