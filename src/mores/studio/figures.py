"""Figures of a campaign, from its votes: agreement, the quality of people's answers, time; pure functions.

    figures = summarise_votes(votes, stages)
    figures.agreement[0].alpha        # value, low, high

A unit is an item at a stage. Where an item came back and was judged again, only its last judged version counts.
Attention checks are not units: they have one known answer and measure people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import numpy as np

from mores.formatting import number, span
from mores.stats import agreement as measures
from mores.stats.annotators import annotator_quality, table_votes
from mores.stats.distributions import ShareEstimate, share_of
from mores.stats.intervals import Interval, ratio_interval
from mores.stats.marks import AgreementFigure


class Given(NamedTuple):
    """One answer of a person, as far as figures need it."""

    item: str
    stage: str
    version: int
    person: str
    label: str | None
    correct: bool | None
    """Of an attention check: whether it was passed; None for any other item."""
    seconds: float
    """As the browser counted them, and never more than the server's clock."""
    span: float | None = None
    """From getting the item to answering, by the server's clock; None where that is not known."""
    offline: float = 0.0
    """Seconds that the answer waited on the person's device; not in `span`."""


@dataclass(frozen=True)
class StageAgreement:
    """How far people agree at one stage."""

    stage: str
    items: int
    """Items that at least two people labelled; all figures are about these."""
    single: int
    """More items, which only one person labelled."""
    votes: int
    people: int
    percent: AgreementFigure
    """The share of pairs of answers to the same item that are alike."""
    alpha: AgreementFigure
    """Krippendorff's α, nominal."""
    kappa: AgreementFigure
    kappa_name: str
    """Cohen's where two people judged, Fleiss' otherwise."""
    kappa_items: int
    """κ needs as many answers about each item: the items that have the most usual number."""


@dataclass(frozen=True)
class PersonFigures:
    """What one person did, and how well."""

    votes: int = 0
    agreement: ShareEstimate | None = None
    """Answers that are the majority of the others'."""
    checks: ShareEstimate | None = None
    """Attention checks that were passed."""
    seconds: float = 0.0
    """Spent on answers and on writing, by the server's clock, with the campaign's least and most for each."""
    offline: float = 0.0
    """More seconds, in which answers waited on the person's device."""
    median_seconds: float | None = None
    """Of one answer."""
    written: int = 0


@dataclass(frozen=True)
class StageTime:
    """How long one answer takes at a stage."""

    stage: str
    votes: int
    median: float
    low: float
    """A quarter of the answers take less."""
    high: float
    """A quarter take more."""


@dataclass(frozen=True)
class Figures:
    """All figures that are made from votes."""

    agreement: Sequence[StageAgreement] = ()
    people: Mapping[str, PersonFigures] = field(default_factory=dict)
    times: Sequence[StageTime] = ()


def summarise_votes(
    votes: Sequence[Given],
    stages: Sequence[str],
    written: Mapping[str, tuple[int, float]] | None = None,
    count_seconds: Callable[[float], float] = float,
) -> Figures:
    """Return the figures of a campaign; `written` says how many items each person has sent, and in how many seconds.

    `count_seconds` says what a span by the server's clock counts for.
    """
    judged = last_versions(vote for vote in votes if vote.correct is None)
    by_stage: dict[str, list[Given]] = defaultdict(list)
    for vote in judged:
        by_stage[vote.stage].append(vote)
    found = (measure_agreement(by_stage[stage]) for stage in stages if stage in by_stage)
    return Figures(
        agreement=[agreement for agreement in found if agreement],
        people=measure_people(votes, judged, written or {}, count_seconds),
        times=[time for stage in stages if (time := _time(stage, by_stage[stage]))],
    )


def last_versions(votes: Iterable[Given]) -> list[Given]:
    """Return the answers about the last version of each item that was judged at each stage."""
    known = list(votes)
    last: dict[tuple[str, str], int] = {}
    for vote in known:
        key = vote.item, vote.stage
        last[key] = max(last.get(key, 0), vote.version)
    return [vote for vote in known if last[vote.item, vote.stage] == vote.version]


def measure_agreement(votes: Sequence[Given]) -> StageAgreement | None:
    """Return the agreement of one stage's answers; None where no item has two labels."""
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for vote in votes:
        if vote.label is not None:
            labels[vote.item][vote.person] = vote.label
    shared = {item: given for item, given in labels.items() if len(given) >= 2}
    if not shared:
        return None
    values = sorted({label for given in shared.values() for label in given.values()})
    place = {value: number for number, value in enumerate(values)}
    counts = np.zeros((len(shared), len(values)))
    for row, given in enumerate(shared.values()):
        for label in given.values():
            counts[row, place[label]] += 1
    table = measures.Votes(tuple(values), counts)
    people = sorted({person for given in shared.values() for person in given})
    sizes = counts.sum(axis=1)
    alike, pairs = (counts * (counts - 1)).sum(axis=1) / 2, sizes * (sizes - 1) / 2
    name, kappa, kappa_items = _kappa(shared, table, people)
    return StageAgreement(
        stage=votes[0].stage,
        items=len(shared),
        single=len(labels) - len(shared),
        votes=int(counts.sum()),
        people=len(people),
        percent=_figure(float(alike.sum() / pairs.sum()), ratio_interval(alike, pairs)),
        alpha=_figure(measures.krippendorff_alpha(table), measures.krippendorff_alpha_interval(table)),
        kappa=kappa,
        kappa_name=name,
        kappa_items=kappa_items,
    )


def _kappa(
    shared: Mapping[str, Mapping[str, str]], table: measures.Votes, people: Sequence[str]
) -> tuple[str, AgreementFigure, int]:
    """Return Cohen's κ of two people, else Fleiss' of the items that have the most usual number of answers."""
    if len(people) == 2:
        pairs = [(given[people[0]], given[people[1]]) for given in shared.values()]
        first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        interval = measures.cohen_kappa_interval(first, second, table.values)
        return "Cohen's κ", _figure(measures.cohen_kappa(first, second), interval), len(pairs)
    counts = np.asarray(table.counts)
    sizes = counts.sum(axis=1).astype(int)
    usual = max(Counter(sizes.tolist()).items(), key=lambda pair: (pair[1], pair[0]))[0]
    same = measures.Votes(table.values, counts[sizes == usual])
    return (
        "Fleiss' κ",
        _figure(measures.fleiss_kappa(same), measures.fleiss_kappa_interval(same)),
        int((sizes == usual).sum()),
    )


def show_figure(figure: AgreementFigure) -> str:
    """Return a figure with its interval: `0.71 [0.65, 0.77]`."""
    return " ".join(filter(None, (number(figure.value), span(figure.low, figure.high))))


def _figure(value: float | None, interval: Interval | None) -> AgreementFigure:
    return AgreementFigure(None) if value is None or interval is None else AgreementFigure(value, *interval)


def measure_people(
    votes: Sequence[Given],
    judged: Sequence[Given],
    written: Mapping[str, tuple[int, float]],
    count_seconds: Callable[[float], float] = float,
) -> dict[str, PersonFigures]:
    """Return what each person did: how many answers, how often with the others, how many checks passed, how long."""
    places: dict[tuple[str, str], int] = {}
    labelled = [
        (places.setdefault((vote.item, vote.stage), len(places)), vote.person, vote.label)
        for vote in judged
        if vote.label is not None
    ]
    quality = annotator_quality(table_votes(labelled)) if labelled else {}
    del labelled, places
    mine: dict[str, list[Given]] = defaultdict(list)
    for vote in votes:
        mine[vote.person].append(vote)
    found = {}
    for person in sorted({*mine, *written}):
        given = mine[person]
        checks = [vote.correct for vote in given if vote.correct is not None]
        timed = [vote.seconds for vote in given if vote.seconds > 0]
        count, seconds = written.get(person, (0, 0.0))
        found[person] = PersonFigures(
            votes=len(given),
            agreement=quality[person].agreement if person in quality else None,
            checks=share_of(sum(checks), len(checks)) if checks else None,
            seconds=sum(count_seconds(vote.seconds if vote.span is None else vote.span) for vote in given) + seconds,
            offline=sum(vote.offline for vote in given),
            median_seconds=median(timed) if timed else None,
            written=count,
        )
    return found


TELLING = 5
"""Answers that somebody must have given before their time is compared with the others'."""


def find_unusual(people: Mapping[str, PersonFigures]) -> dict[str, list[str]]:
    """Return who is slow, very fast, unlike the others or inattentive: something to look at, not a verdict."""
    times = {
        name: done.median_seconds for name, done in people.items() if done.votes >= TELLING and done.median_seconds
    }
    shares = {name: done.agreement for name, done in people.items() if done.agreement}
    found: dict[str, list[str]] = defaultdict(list)
    for name, seconds in times.items():
        usual = median([other for person, other in times.items() if person != name] or [seconds])
        if seconds > 3 * usual or 3 * seconds < usual:
            found[name].append("slow" if seconds > usual else "very fast")
    for name, share in shares.items():
        usual = median([other.value for person, other in shares.items() if person != name] or [share.value])
        if share.n >= TELLING and share.high < usual:
            found[name].append("unlike the others")
    for name, done in people.items():
        if done.checks and done.checks.n > 1 and done.checks.value < 0.5:
            found[name].append("fails attention checks")
    return dict(found)


def _time(stage: str, votes: Sequence[Given]) -> StageTime | None:
    timed = [vote.seconds for vote in votes if vote.seconds > 0]
    if not timed:
        return None
    low, middle, high = np.quantile(timed, [0.25, 0.5, 0.75])
    return StageTime(stage, len(timed), float(middle), float(low), float(high))
