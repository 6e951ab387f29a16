"""Stability: how several answers to the same question differ (MSQA, Section 4.2.2).

    folder = mores.open_run("bench/msqa/NAME")      # mores bench msqa --samples 100 ...
    result = measure_stability(subject_of_folder(folder), folder.verdicts())

A question with several parts is correct if all are. Answers without a grade are excluded: a question counts for n
answers if it has n graded ones, and each point of a curve has the number of such questions. They may be correct or
not, so every figure also has the interval that covers both (`mores.stats.missing`), and no sentence goes beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from pydantic import Field

from mores.benchmark.benchmark import Benchmark, Label, Verdict
from mores.benchmark.score import together
from mores.diagnosis.confidence import cluster_of
from mores.diagnosis.paired import Subject, shorten
from mores.errors import InputError
from mores.formatting import count, headline_interval, percent
from mores.stats.classification import Bools, Floats, Ints
from mores.stats.curves import best_of, majority_of, mean_of, plurality_of, worst_of
from mores.stats.intervals import mean_moments
from mores.stats.missing import Ends, decide, with_missing
from mores.stats.results import mean_result, share_result
from mores.types import Item, Record, Result, Signature

MEAN, BEST, WORST, MAJORITY, PLURALITY = "mean", "best", "worst", "majority", "plurality"
ALWAYS, SOMETIMES, NEVER = "always", "sometimes", "never"
GAP, VOTING = "best less worst", "majority less mean"
REACH = 0.9
"""The figures use the largest number of answers for which this share of the graded questions has enough."""
LISTED = 200
"""At most this many questions that are sometimes correct are listed."""
CLUSTERS = 10
"""At most this many clusters of each are listed."""
FEW = 10
"""With fewer questions, the paragraph draws no conclusion."""


class CurvePoint(Record):
    """A curve at one number of answers."""

    n: int
    value: float
    low: float | None
    high: float | None
    questions: int
    """The questions with at least n graded answers."""


class Cluster(Record):
    """Identical answers: the same choice, or the same words."""

    answer: str
    n: int
    correct: int
    """How many of them were graded as correct; a judge may grade the same words differently."""


class Unstable(Record):
    """A question that is sometimes answered correctly."""

    id: str
    question: str
    reference: str
    language: str | None
    topic: str | None
    correct: int
    graded: int
    unscored: int
    clusters: tuple[Cluster, ...]
    """The largest first."""
    more: int
    """Clusters that are not listed."""


class Stability(Record):
    """The changes of a model's answers from one time to the next."""

    model: str
    benchmark: str
    signature: Signature
    questions: int
    samples: int
    """Answers to each question."""
    depth: int
    """The number of answers behind the figures best, worst, majority and plurality."""
    figures: dict[str, Result]
    """Shares of questions; `plurality` only in multiple choice."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    curves: dict[str, tuple[CurvePoint, ...]]
    """By figure, over the number of answers."""
    sometimes: tuple[Unstable, ...]
    """Those that are correct closest to half the time first."""
    sometimes_in_all: int
    missing: dict[str, int] = Field(default_factory=dict)
    """What could not be used, by reason."""
    notes: tuple[str, ...] = ()


# ---- from verdicts to counts -----------------------------------------------------------------------------------


@dataclass
class _Tally:
    """The answers to one question."""

    correct: int = 0
    graded: int = 0
    unscored: int = 0
    clusters: dict[int, list[int]] = field(default_factory=dict)
    """By hash, the number of answers and of correct ones."""
    shown: dict[int, str] = field(default_factory=dict)

    def add(self, benchmark: Benchmark, parts: Sequence[Verdict]) -> None:
        label = together([part.label for part in parts])
        if label is None:
            self.unscored += 1
            return
        correct = label is Label.CORRECT
        self.graded += 1
        self.correct += correct
        # A hash instead of the words, which may be long.
        key = hash(tuple(cluster_of(benchmark, part) for part in parts))
        cluster = self.clusters.setdefault(key, [0, 0])
        cluster[0] += 1
        cluster[1] += correct
        if key not in self.shown:
            answers = (part.read if benchmark.candidates is not None else part.answer for part in parts)
            self.shown[key] = shorten(" | ".join(answer or "?" for answer in answers))

    @property
    def sizes(self) -> tuple[list[int], list[int]]:
        """The sizes of the clusters of correct answers, and of incorrect ones."""
        clusters = self.clusters.values()
        return [n for n, correct in clusters if 2 * correct > n], [n for n, correct in clusters if 2 * correct <= n]


# ---- from counts to numbers ------------------------------------------------------------------------------------


def measure_stability(subject: Subject, verdicts: Iterable[Verdict]) -> Stability:
    """Measure how often one answer, the best, the worst and the majority of n are correct."""
    tallies, samples = {unit: _Tally() for unit in subject.units}, 0
    for (unit, sample), parts in groupby(verdicts, lambda verdict: (verdict.unit, verdict.sample)):
        if unit not in tallies:
            name = subject.benchmark.name
            raise InputError(f"{name}: a verdict on {unit!r}, which is not an item of the run; give the run's items")
        samples = max(samples, sample + 1)
        tallies[unit].add(subject.benchmark, list(parts))
    table = _Table.make(subject, list(tallies.values()), samples)
    units = list(tallies)
    sometimes = [unit for unit, tally in tallies.items() if 0 < tally.correct < tally.graded]
    ranked = sorted(sometimes, key=lambda unit: abs(tallies[unit].correct / tallies[unit].graded - 0.5))
    missing = {
        "answers without a grade": table.unscored,
        "questions without any graded answer": int((table.graded == 0).sum()),
        "questions with one graded answer only": int((table.graded == 1).sum()),
        f"questions with fewer than {table.depth} graded answers": int((table.graded < table.depth).sum()),
    }
    notes = [
        "the majority is of correct against other answers, and a tie counts as half",
        "plurality is the most frequent choice, with ties broken at random"
        if PLURALITY in table.values
        else "answers are in one cluster if their words are the same, so one meaning may be in several clusters",
    ]
    if any(subject.benchmark.unit(item) != item.id for item in subject.items):
        notes.append("a question has several parts, and is correct if all are")
    return Stability(
        model=subject.model, benchmark=subject.name, signature=subject.signature, questions=len(units),
        samples=samples, depth=table.depth, figures=table.figures(np.ones(len(units), dtype=np.bool_)),
        by=_group_figures(subject, units, table), curves=table.curves(), sometimes_in_all=len(sometimes),
        sometimes=tuple(_unstable(unit, subject.units[unit], tallies[unit]) for unit in ranked[:LISTED]),
        missing={why: number for why, number in missing.items() if number}, notes=tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True)
class _Table:
    """Questions × n of every curve."""

    correct: Ints
    graded: Ints
    lost: Ints
    """How many answers have no grade."""
    unscored: int
    values: dict[str, Floats]
    ends: dict[str, Ends]
    """What the values are at least and at most, where answers have no grade."""
    depth: int

    @classmethod
    def make(cls, subject: Subject, tallies: Sequence[_Tally], samples: int) -> _Table:
        correct = np.array([tally.correct for tally in tallies], dtype=np.int64)
        graded = np.array([tally.graded for tally in tallies], dtype=np.int64)
        lost = samples - graded
        estimators = {MEAN: mean_of, BEST: best_of, WORST: worst_of, MAJORITY: majority_of}
        values = {name: estimator(correct, graded, samples) for name, estimator in estimators.items()}
        ends: dict[str, Ends] = {}
        if lost.any():
            full = np.full_like(graded, samples)
            ends = {
                name: (estimator(correct, full, samples), estimator(correct + lost, full, samples))
                for name, estimator in estimators.items()
            }
            # No more is known of a difference than of both; it is what its question has where all have a grade.
            ends[GAP] = (ends[BEST][0] - ends[WORST][1]).clip(0), ends[BEST][1] - ends[WORST][0]
            ends[VOTING] = ends[MAJORITY][0] - ends[MEAN][1], ends[MAJORITY][1] - ends[MEAN][0]
        if subject.benchmark.candidates is not None:
            values[PLURALITY] = plurality_of([tally.sizes for tally in tallies], samples)
            if ends:
                known = lost[:, None] == 0
                ends[PLURALITY] = np.where(known, values[PLURALITY], 0.0), np.where(known, values[PLURALITY], 1.0)
        reached = (graded[:, None] > np.arange(samples)).sum(axis=0) >= max(1.0, REACH * (graded > 0).sum())
        depth = int(reached.sum())
        return cls(correct, graded, lost, sum(tally.unscored for tally in tallies), values, ends, depth)

    def figures(self, group: Bools) -> dict[str, Result]:
        """Return the figures of some questions."""
        gaps = {GAP: self.values[BEST] - self.values[WORST], VOTING: self.values[MAJORITY] - self.values[MEAN]}
        at = max(self.depth - 1, 0)
        figures = {
            name: mean_result(
                name, values[group, at] if self.depth else np.full(int(group.sum()), np.nan),
                least=-1.0 if name == VOTING else 0.0,
                ends=(self.ends[name][0][group, at], self.ends[name][1][group, at]) if self.ends else None,
            )
            for name, values in (self.values | gaps).items()
        }  # fmt: skip
        # Always, sometimes and never correct, among the questions with at least two graded answers.
        correct, graded, lost = self.correct[group], self.graded[group], self.lost[group]
        usable, mixed = graded > 1, (correct > 0) & (correct < graded)
        kinds = {
            ALWAYS: (correct == graded, (correct == graded) & (lost == 0), correct == graded),
            SOMETIMES: (mixed, mixed, mixed | (lost > 0)),
            NEVER: (correct == 0, (correct == 0) & (lost == 0), correct == 0),
        }
        for name, (members, least, most) in kinds.items():
            share = share_result(name, int((members & usable).sum()), int(usable.sum()))
            share = share.model_copy(update={"unscored": int((~usable).sum())})
            figures[name] = with_missing(share, *map(mean_moments, (least, most))) if lost.any() else share
        return figures

    def curves(self) -> dict[str, tuple[CurvePoint, ...]]:
        """Return every figure over the number of answers."""
        return {
            name: tuple(
                CurvePoint(n=n, value=mean.value, low=mean.low, high=mean.high, questions=mean.n)
                for n, mean in enumerate((mean_result(name, column) for column in values.T), 1)
                if mean.value is not None
            )
            for name, values in self.values.items()
        }


def _group_figures(subject: Subject, units: Sequence[str], table: _Table) -> dict[str, dict[str, dict[str, Result]]]:
    first, figures = subject.units, dict[str, dict[str, dict[str, Result]]]()
    for name in subject.groupings:
        groups = [subject.benchmark.group(first[unit], name) for unit in units]
        distinct = sorted({group for group in groups if group is not None})
        if distinct:
            figures[name] = {value: table.figures(np.array([group == value for group in groups])) for value in distinct}
    return figures


def _unstable(unit: str, item: Item, tally: _Tally) -> Unstable:
    ranked = sorted(tally.clusters.items(), key=lambda cluster: -cluster[1][0])
    return Unstable(
        id=unit, question=shorten(item.prompt), reference=shorten("; ".join(item.target)), language=item.language,
        topic=item.topic, correct=tally.correct, graded=tally.graded, unscored=tally.unscored,
        clusters=tuple(
            Cluster(answer=tally.shown[key], n=n, correct=correct) for key, (n, correct) in ranked[:CLUSTERS]
        ),
        more=max(0, len(ranked) - CLUSTERS),
    )  # fmt: skip


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: Stability) -> str:
    """Return the result in plain words."""
    mean, n = result.figures[MEAN], result.depth
    times = "once" if result.samples == 1 else f"{result.samples} times each"
    opening = f"{result.model} answered {count(result.questions)} questions of {result.benchmark} {times}."
    if mean.value is None:
        return f"{opening} No answer could be graded, so there is no result.{_left_out(result)}"
    if n < 2:
        return (
            f"{opening} One graded answer per question cannot show whether its answers are stable.{_left_out(result)}"
        )
    always, sometimes, never = (_share_words(result.figures[name]) for name in (ALWAYS, SOMETIMES, NEVER))
    kinds = (
        f"It is always correct on {always} of the questions, sometimes on {sometimes} and never on {never}: it knows "
        "the first, does not know the last, and in between correct answers come and go."
    )
    figures = result.figures
    votes = f"the majority of {n} is correct for {_share_words(figures[MAJORITY])}"
    if PLURALITY in figures:
        votes += f", and the most frequent choice for {_share_words(figures[PLURALITY])}"
    spread = (
        f"One answer is correct with probability {_share_words(mean)}. At least one of {n} is correct for "
        f"{_share_words(figures[BEST])} of the questions, and all {n} are for {_share_words(figures[WORST])}; {votes}."
    )
    return f"{opening} {spread} {kinds} {_meaning(figures[VOTING])}{_left_out(result)}"


def _meaning(change: Result) -> str:
    if change.n < FEW:
        return f"With only {change.n} questions, these figures are uncertain."
    if (
        decide(change) == 0
        and change.low is not None
        and change.high is not None
        and not change.low <= 0 <= change.high
    ):
        return "Too many answers have no grade to say whether voting helps."
    if change.low is not None and change.low > 0:
        return "Voting helps: where its answers vary, most of them are correct."
    if change.high is not None and change.high < 0:
        return "Voting hurts: where its answers vary, most of them are wrong, so a correct answer there may be luck."
    return "Voting has no significant effect, so it does not show which of several answers is correct."


def _share_words(result: Result) -> str:
    if result.value is None:
        return "an unknown share"
    interval = headline_interval(result).removesuffix("%")
    return f"{percent(result.value)} ({interval})" if interval else percent(result.value)


def _left_out(result: Stability) -> str:
    reasons = "; ".join(f"{count(number)} {what}" for what, number in result.missing.items())
    return f" Could not be used: {reasons}." if reasons else ""
