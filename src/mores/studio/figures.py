"""Figures of a campaign, from its votes: agreement, the quality of people's answers, time; pure functions.

    figures = summarise_votes(votes, stages)
    figures.agreement[0].alpha        # value, low, high

A unit is an item at a stage. Where an item came back and was judged again, only its last judged version counts.
Attention checks are not units: they have one known answer and measure people.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.formatting import number, span
from mores.stats import agreement as measures
from mores.stats.annotators import LabelTable, annotator_quality
from mores.stats.classification import Bools, Floats
from mores.stats.distributions import ShareEstimate, share_of
from mores.stats.intervals import Interval, ratio_interval
from mores.stats.marks import AgreementFigure
from mores.studio.copies import find_copies


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
    """The agreement of people at one stage."""

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
    """The work of one person, and its quality."""

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
    """The duration of one answer at a stage."""

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
    copies: Sequence[tuple[str, str]] = ()
    """Pairs of people with more rare answers in common than chance explains."""


Indices = npt.NDArray[np.integer[Any]]


class VoteTable(NamedTuple):
    """Answers column by column, sorted by item, stage and person; names are places in sorted lists."""

    items: Sequence[str]
    stages: Sequence[str]
    people: Sequence[str]
    labels: Sequence[str]
    item: Indices
    stage: Indices
    version: Indices
    person: Indices
    label: Indices
    """-1 where there is none."""
    correct: Floats
    """Not a number where the item is no attention check, and in the next two where something is not known."""
    seconds: Floats
    span: Floats
    offline: Floats

    @property
    def unit(self) -> Indices:
        """The item and stage of each answer, as one number."""
        return self.item.astype(np.intp) * max(1, len(self.stages)) + self.stage

    def last_versions(self) -> Bools:
        """Return which answers are about the last version of an item that was judged at its stage; no checks are."""
        judged, unit = np.isnan(self.correct), self.unit
        last = np.zeros(max(1, len(self.items) * len(self.stages)), dtype=self.version.dtype)
        np.maximum.at(last, unit[judged], self.version[judged])
        newest: Bools = judged & (self.version == last[unit])
        return newest


class _Places(dict[str | None, int]):
    """Names with their places, in the order in which they come."""

    def __missing__(self, name: str | None) -> int:
        return self.setdefault(name, len(self))


def table_given(batches: Iterable[Sequence[Sequence[Any]]]) -> VoteTable:
    """Table answers, which come as rows of the fields of `Given`, some at a time."""
    places = {name: _Places() for name in ("item", "stage", "person", "label")}
    columns: dict[str, list[Any]] = {name: [] for name in Given._fields}
    for rows in batches:
        for name, values in zip(Given._fields, zip(*rows, strict=True), strict=True):
            if name in places:
                columns[name].append(np.fromiter(map(places[name].__getitem__, values), np.int32, len(values)))
            else:
                columns[name].append(np.array(values, dtype=np.int32 if name == "version" else np.float64))
    none = [np.array([], dtype=np.int32)]
    table: dict[str, Any] = {name: np.concatenate(columns.pop(name) or none) for name in Given._fields}
    names = {}
    for name, known in places.items():
        names[name] = sorted(value for value in known if value is not None)
        rank: dict[str | None, int] = {value: place for place, value in enumerate(names[name])} | {None: -1}
        table[name] = np.array([rank[value] for value in known], dtype=np.int32)[table[name]]
    order = np.lexsort((table["person"], table["stage"], table["item"]))
    for name in Given._fields:  # one after the other: all at once would be in memory twice
        table[name] = table[name][order]
    return VoteTable(names["item"], names["stage"], names["person"], names["label"], **table)


def summarise_votes(
    votes: Sequence[Given] | VoteTable,
    stages: Sequence[str],
    written: Mapping[str, tuple[int, float]] | None = None,
    count_seconds: Callable[[float], float] | None = float,
) -> Figures:
    """Return the figures of a campaign; `written` says how many items each person has sent, and in how many seconds.

    `count_seconds` says what a span by the server's clock counts for; None leaves people out.
    """
    table = votes if isinstance(votes, VoteTable) else table_given([votes] if votes else [])
    judged = table.last_versions()
    by_stage = [
        (stage, judged & (table.stage == table.stages.index(stage))) for stage in stages if stage in table.stages
    ]
    told = judged & (table.label >= 0)
    copies = find_copies(table.unit[told], table.person[told], table.label[told])
    return Figures(
        agreement=[agreement for stage, mine in by_stage if (agreement := measure_agreement(stage, table, mine))],
        people=measure_people(table, judged, written or {}, count_seconds) if count_seconds else {},
        times=[time for stage, mine in by_stage if (time := _time(stage, table.seconds[mine]))],
        copies=[(table.people[pair.person], table.people[pair.other]) for pair in copies],
    )


def measure_agreement(stage: str, votes: VoteTable, mine: Bools) -> StageAgreement | None:
    """Return the agreement of one stage's answers, which are `mine`; None where no item has two labels."""
    labelled = np.flatnonzero(mine & (votes.label >= 0))
    answers = np.bincount(votes.item[labelled], minlength=len(votes.items))
    shared = labelled[answers[votes.item[labelled]] >= 2]
    if not len(shared):
        return None
    items, row = np.unique(votes.item[shared], return_inverse=True)
    used, column = np.unique(votes.label[shared], return_inverse=True)
    shape = len(items), len(used)
    counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    table = measures.Votes(tuple(votes.labels[place] for place in used), counts)
    sizes = counts.sum(axis=1)
    alike, pairs = (counts * (counts - 1)).sum(axis=1) / 2, sizes * (sizes - 1) / 2
    people = len(np.unique(votes.person[shared]))
    labels = [votes.labels[place] for place in votes.label[shared]] if people == 2 else []
    name, kappa, kappa_items = _kappa(labels, table)
    return StageAgreement(
        stage=stage,
        items=len(items),
        single=len(labelled) - len(shared),
        votes=int(counts.sum()),
        people=people,
        percent=_figure(float(alike.sum() / pairs.sum()), ratio_interval(alike, pairs)),
        alpha=_figure(measures.krippendorff_alpha(table), measures.krippendorff_alpha_interval(table)),
        kappa=kappa,
        kappa_name=name,
        kappa_items=kappa_items,
    )


def _kappa(pairs: Sequence[str], table: measures.Votes) -> tuple[str, AgreementFigure, int]:
    """Return Cohen's κ of two people, else Fleiss' of the items that have the most usual number of answers.

    `pairs` are the labels of two people, in turn; empty where there are more.
    """
    if pairs:
        first, second = pairs[::2], pairs[1::2]
        interval = measures.cohen_kappa_interval(first, second, table.values)
        return "Cohen's κ", _figure(measures.cohen_kappa(first, second), interval), len(first)
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
    votes: VoteTable,
    judged: Bools,
    written: Mapping[str, tuple[int, float]],
    count_seconds: Callable[[float], float] = float,
) -> dict[str, PersonFigures]:
    """Return what each person did: how many answers, how often with the others, how many checks passed, how long."""
    labelled = judged & (votes.label >= 0)
    units, place = np.unique(votes.unit[labelled], return_inverse=True)
    known, annotator = np.unique(votes.person[labelled], return_inverse=True)
    names = tuple(votes.people[person] for person in known)
    given_labels = votes.label[labelled].astype(np.intp)
    labels = LabelTable(tuple(range(len(units))), names, tuple(votes.labels), place, annotator, given_labels)
    quality = annotator_quality(labels) if len(place) else {}
    order = np.argsort(votes.person, kind="stable")
    ends = np.searchsorted(votes.person[order], np.arange(len(votes.people) + 1))
    numbers = {person: number for number, person in enumerate(votes.people)}
    found = {}
    for person in sorted({*votes.people, *written}):
        number = numbers.get(person)
        given = order[:0] if number is None else order[ends[number] : ends[number + 1]]
        checks, seconds, span = votes.correct[given], votes.seconds[given], votes.span[given]
        passed, timed = checks[~np.isnan(checks)], seconds[seconds > 0].tolist()
        counted = np.where(np.isnan(span), seconds, span).tolist()
        count, writing = written.get(person, (0, 0.0))
        found[person] = PersonFigures(
            votes=len(given),
            agreement=quality[person].agreement if person in quality else None,
            checks=share_of(int(passed.sum()), len(passed)) if len(passed) else None,
            seconds=sum(map(count_seconds, counted)) + writing,
            offline=sum(votes.offline[given].tolist()),
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
    ordered = sorted(times.values())
    for name, seconds in times.items():
        usual = _median_of_others(ordered, seconds)
        if seconds > 3 * usual or 3 * seconds < usual:
            found[name].append("slow" if seconds > usual else "very fast")
    ordered = sorted(share.value for share in shares.values())
    for name, share in shares.items():
        usual = _median_of_others(ordered, share.value)
        if share.n >= TELLING and share.high < usual:
            found[name].append("unlike the others")
    for name, done in people.items():
        if done.checks and done.checks.n > 1 and done.checks.value < 0.5:
            found[name].append("fails attention checks")
    return dict(found)


def _median_of_others(ordered: list[float], own: float) -> float:
    """Return the median of sorted values without one of them; that one where there are no others."""
    place = bisect_left(ordered, own)
    others = ordered[:place] + ordered[place + 1 :] or [own]
    return (others[(len(others) - 1) // 2] + others[len(others) // 2]) / 2


def _time(stage: str, seconds: Floats) -> StageTime | None:
    timed = seconds[seconds > 0]
    if not len(timed):
        return None
    low, middle, high = np.quantile(timed, [0.25, 0.5, 0.75])
    return StageTime(stage, len(timed), float(middle), float(low), float(high))
