"""Stability: what several answers to the same question are worth (MSQA, Section 4.2.2).

    folder = mores.open_run("bench/msqa/NAME")      # mores bench msqa --samples 100 ...
    result = stability(of_folder(folder), folder.verdicts())

A question with several parts is correct when all are. Answers without a grade are left out: a question counts for n
answers when it has n graded ones, and how many do stands beside each point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from pydantic import Field

from mores.bench.benchmark import Benchmark, Label, Verdict
from mores.bench.score import together
from mores.diagnose.confidence import cluster_of
from mores.diagnose.subject import Subject, shorten
from mores.errors import InputError
from mores.show import between, percent
from mores.stats.classification import Bools, Floats, Ints
from mores.stats.curves import best_of, majority_of, mean_of, plurality_of, worst_of
from mores.stats.results import mean_result, share_result
from mores.types import Item, Record, Result, Signature

MEAN, BEST, WORST, MAJORITY, PLURALITY = "mean", "best", "worst", "majority", "plurality"
ALWAYS, SOMETIMES, NEVER = "always", "sometimes", "never"
GAP, VOTING = "best less worst", "majority less mean"
REACH = 0.9
"""The figures are of so many answers as this share of the questions with any has graded."""
LISTED = 200
"""Sometimes-items that are listed, at most."""
CLUSTERS = 10
"""Clusters of each that are listed, at most."""
FEW = 10
"""With fewer questions nothing is concluded."""


class CurvePoint(Record):
    """A curve at one number of answers."""

    n: int
    value: float
    low: float | None
    high: float | None
    questions: int
    """That have so many graded answers."""


class Cluster(Record):
    """Answers that are the same: the same choice, or the same words."""

    answer: str
    n: int
    right: int
    """How many of them were graded as right; a judge may grade the same words differently."""


class Unstable(Record):
    """A question that is answered rightly sometimes."""

    id: str
    question: str
    reference: str
    language: str | None
    topic: str | None
    right: int
    graded: int
    unscored: int
    clusters: tuple[Cluster, ...]
    """The largest first."""
    more: int
    """Clusters that are not shown."""


class Stability(Record):
    """How far a model's answers change from one time to the next."""

    model: str
    benchmark: str
    signature: Signature
    questions: int
    samples: int
    """Answers to each question."""
    depth: int
    """The number of answers that the figures best, worst, majority and plurality are of."""
    figures: dict[str, Result]
    """Counted in questions; `plurality` only where answers are choices."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    curves: dict[str, tuple[CurvePoint, ...]]
    """By figure, over the number of answers."""
    sometimes: tuple[Unstable, ...]
    """Those nearest to half first."""
    sometimes_in_all: int
    missing: dict[str, int] = Field(default_factory=dict)
    """What could not be used, by why."""
    notes: tuple[str, ...] = ()


# ---- from verdicts to counts -----------------------------------------------------------------------------------


@dataclass
class _Tally:
    """The answers to one question."""

    right: int = 0
    graded: int = 0
    unscored: int = 0
    clusters: dict[int, list[int]] = field(default_factory=dict)
    """Answers and correct ones."""
    shown: dict[int, str] = field(default_factory=dict)

    def add(self, benchmark: Benchmark, parts: Sequence[Verdict]) -> None:
        label = together([part.label for part in parts])
        if label is None:
            self.unscored += 1
            return
        right = label is Label.CORRECT
        self.graded += 1
        self.right += right
        # A number in place of the words, which may be many.
        key = hash(tuple(cluster_of(benchmark, part) for part in parts))
        cluster = self.clusters.setdefault(key, [0, 0])
        cluster[0] += 1
        cluster[1] += right
        if key not in self.shown:
            self.shown[key] = _shown(benchmark, parts)

    @property
    def sizes(self) -> tuple[list[int], list[int]]:
        """Of the clusters of correct answers, and of wrong ones."""
        own = self.clusters.values()
        return [n for n, right in own if 2 * right > n], [n for n, right in own if 2 * right <= n]


def _shown(benchmark: Benchmark, parts: Sequence[Verdict]) -> str:
    said = (part.read if benchmark.candidates is not None else part.answer for part in parts)
    return shorten(" | ".join(one or "?" for one in said))


def count_answers(subject: Subject, verdicts: Iterable[Verdict]) -> tuple[dict[str, _Tally], int]:
    """The answers to each question, and how many there are to each; the parts of a question come together."""
    found = {unit: _Tally() for unit in subject.units}
    samples = 0
    for (unit, sample), parts in groupby(verdicts, lambda verdict: (verdict.unit, verdict.sample)):
        if unit not in found:
            raise InputError(f"{subject.benchmark.name}: a verdict on {unit!r}, which is not asked; give its own items")
        samples = max(samples, sample + 1)
        found[unit].add(subject.benchmark, list(parts))
    return found, samples


# ---- from counts to numbers ------------------------------------------------------------------------------------


def stability(subject: Subject, verdicts: Iterable[Verdict]) -> Stability:
    """What one answer, the best, the worst and the most of n are worth, and which questions change."""
    tallies, samples = count_answers(subject, verdicts)
    table = _Table.of(subject, list(tallies.values()), samples)
    units = list(tallies)
    sometimes = [unit for unit, own in tallies.items() if 0 < own.right < own.graded]
    return Stability(
        model=subject.model, benchmark=subject.benchmark.name, signature=subject.signature, questions=len(units),
        samples=samples, depth=table.depth, figures=table.figures(np.ones(len(units), dtype=np.bool_)),
        by=_by(subject, units, table), curves=table.curves(), sometimes=_listed(subject, tallies, sometimes),
        sometimes_in_all=len(sometimes), missing=_missing(table), notes=tuple(_notes(subject, table)),
    )  # fmt: skip


@dataclass(frozen=True)
class _Table:
    """Questions × n of every curve."""

    right: Ints
    graded: Ints
    unscored: int
    values: dict[str, Floats]
    depth: int

    @classmethod
    def of(cls, subject: Subject, tallies: Sequence[_Tally], samples: int) -> _Table:
        right = np.array([own.right for own in tallies], dtype=np.int64)
        graded = np.array([own.graded for own in tallies], dtype=np.int64)
        ways = {MEAN: mean_of, BEST: best_of, WORST: worst_of, MAJORITY: majority_of}
        values = {name: way(right, graded, samples) for name, way in ways.items()}
        if subject.benchmark.candidates is not None:
            values[PLURALITY] = plurality_of([own.sizes for own in tallies], samples)
        reached = (graded[:, None] > np.arange(samples)).sum(axis=0) >= max(1.0, REACH * (graded > 0).sum())
        depth = int(reached.sum())
        return cls(right, graded, sum(own.unscored for own in tallies), values, depth)

    def figures(self, group: Bools) -> dict[str, Result]:
        """The figures of some questions."""
        gaps = {GAP: self.values[BEST] - self.values[WORST], VOTING: self.values[MAJORITY] - self.values[MEAN]}
        place = slice(self.depth - 1, self.depth) if self.depth else slice(0)
        means = {
            name: _mean(name, values[group, place], len(values[group]), least=-1.0 if name == VOTING else 0.0)
            for name, values in (self.values | gaps).items()
        }
        # Always, sometimes and never right, of the questions with at least two graded answers.
        right, graded = self.right[group], self.graded[group]
        usable = graded > 1
        which = {ALWAYS: right == graded, SOMETIMES: (right > 0) & (right < graded), NEVER: right == 0}
        return means | {
            name: share_result(name, int((some & usable).sum()), int(usable.sum()), int((~usable).sum()))
            for name, some in which.items()
        }

    def curves(self) -> dict[str, tuple[CurvePoint, ...]]:
        """Every figure over the number of answers."""
        return {
            name: tuple(
                CurvePoint(n=n, value=mean.value, low=mean.low, high=mean.high, questions=mean.n)
                for n, mean in enumerate((_mean(name, column, len(column)) for column in values.T), 1)
                if mean.value is not None
            )
            for name, values in self.values.items()
        }


def _mean(name: str, values: Floats, questions: int, least: float = 0.0) -> Result:
    """Over the questions that have a value."""
    known = values[~np.isnan(values)]
    return mean_result(name, known, least=least, unscored=questions - known.size)


def _by(subject: Subject, units: Sequence[str], table: _Table) -> dict[str, dict[str, dict[str, Result]]]:
    first, found = subject.units, dict[str, dict[str, dict[str, Result]]]()
    for name in subject.groupings:
        groups = [subject.benchmark.group(first[unit], name) for unit in units]
        known = sorted({group for group in groups if group is not None})
        if known:
            found[name] = {one: table.figures(np.array([group == one for group in groups])) for one in known}
    return found


def _listed(subject: Subject, tallies: dict[str, _Tally], sometimes: Sequence[str]) -> tuple[Unstable, ...]:
    ranked = sorted(sometimes, key=lambda unit: abs(tallies[unit].right / tallies[unit].graded - 0.5))
    return tuple(_unstable(unit, subject.units[unit], tallies[unit]) for unit in ranked[:LISTED])


def _unstable(unit: str, item: Item, own: _Tally) -> Unstable:
    ranked = sorted(own.clusters.items(), key=lambda cluster: -cluster[1][0])
    return Unstable(
        id=unit, question=shorten(item.prompt), reference=shorten("; ".join(item.target)), language=item.language,
        topic=item.topic, right=own.right, graded=own.graded, unscored=own.unscored,
        clusters=tuple(Cluster(answer=own.shown[key], n=n, right=right) for key, (n, right) in ranked[:CLUSTERS]),
        more=max(0, len(ranked) - CLUSTERS),
    )  # fmt: skip


def _missing(table: _Table) -> dict[str, int]:
    found = {
        "answers without a grade": table.unscored,
        "questions without any graded answer": int((table.graded == 0).sum()),
        "questions with one graded answer only": int((table.graded == 1).sum()),
        f"questions with fewer than {table.depth} graded answers": int((table.graded < table.depth).sum()),
    }
    return {why: number for why, number in found.items() if number}


def _notes(subject: Subject, table: _Table) -> list[str]:
    found = ["majority is of right against not right answers, and half a tie is won"]
    if PLURALITY in table.values:
        found.append("plurality is of the choices, and ties are decided by lot")
    else:
        found.append("answers are in one cluster when their words are the same, so the same meaning may be in several")
    if any(subject.benchmark.unit(item) != item.id for item in subject.items):
        found.append("a question has several parts, and is right when all are")
    return found


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: Stability) -> str:
    """The result in plain words."""
    mean, n = result.figures[MEAN], result.depth
    opening = f"{result.model} answered {result.questions:,} questions of {result.benchmark} {_times(result.samples)}."
    if mean.value is None:
        return f"{opening} No answer could be graded, so nothing can be said.{_left(result)}"
    if n < 2:
        return f"{opening} Whether its answers are stable cannot be said from one graded answer each.{_left(result)}"
    return f"{opening} {_spread(result)} {_kinds(result)} {_meaning(result)}{_left(result)}"


def _times(samples: int) -> str:
    return "once" if samples == 1 else f"{samples} times each"


def _spread(result: Stability) -> str:
    every, n = result.figures, result.depth
    votes = f"the majority of {n} is right for {_told(every[MAJORITY])}"
    if PLURALITY in every:
        votes += f", and the most frequent choice for {_told(every[PLURALITY])}"
    return (
        f"One answer is right with probability {_told(every[MEAN])}. At least one of {n} is right for "
        f"{_told(every[BEST])} of the questions, and all {n} are for {_told(every[WORST])}; {votes}."
    )


def _kinds(result: Stability) -> str:
    always, sometimes, never = (_told(result.figures[name]) for name in (ALWAYS, SOMETIMES, NEVER))
    return (
        f"It is always right on {always} of the questions, sometimes on {sometimes} and never on {never}: the first it "
        "knows, the last it does not, and between them right answers come and go."
    )


def _meaning(result: Stability) -> str:
    change = result.figures[VOTING]
    if change.n < FEW:
        return f"With {change.n} questions, little of this is certain."
    if change.low is not None and change.low > 0:
        return "Voting helps: where it wavers, it is right more often than not."
    if change.high is not None and change.high < 0:
        return "Voting hurts: where it wavers, it is wrong more often than not, so a right answer there may be luck."
    return "Voting changes nothing that can be told from chance; which of several answers is right stays unknown."


def _told(one: Result) -> str:
    if one.value is None:
        return "an unknown share"
    interval = between(one).removesuffix("%")
    return f"{percent(one.value)} ({interval})" if interval else percent(one.value)


def _left(result: Stability) -> str:
    said = "; ".join(f"{number:,} {what}" for what, number in result.missing.items())
    return f" Could not be used: {said}." if said else ""
