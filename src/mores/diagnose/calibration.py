"""Calibration: whether a model's confidence says how often it is correct (MSQA, Section 4.2.1).

    stated = read_stated(folder / "stated.jsonl")
    result = calibrate(of_run(run, confidence=f"verbalised.{prompts_hash()}"), VERBALISED, verdicts, stated)

Every answer counts that has a grade and a confidence, the parts of a question one by one; questions are drawn for the
intervals. An answer that attempts nothing is not correct.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, product

import numpy as np
from pydantic import Field

from mores.bench.benchmark import Label, Verdict
from mores.diagnose.confidence import Confidences
from mores.diagnose.subject import Subject, shorten
from mores.errors import InputError
from mores.show import number, percent, points, to
from mores.stats.calibration import (
    ACCURACY,
    AREA,
    AT_HALF,
    AUROC,
    CHANCE,
    CONFIDENCE,
    ECE,
    GAIN,
    GAP,
    SURELY,
    confidence_results,
    reliability_curve,
)
from mores.stats.resampling import Indices
from mores.stats.selective import Cells, make_cells, selective_curve
from mores.types import Failure, FailureKind, Record, Result, Signature

VERBALISED, LIKELIHOOD, AGREEMENT = "verbalised", "log-probability", "agreement"
SOURCES = {
    VERBALISED: "what it says when asked for a number from 0 to 100",
    LIKELIHOOD: "the probability that it gives to its own words",
    AGREEMENT: "how many of its answers to a question say the same",
}
COVERAGES = np.arange(1, 21) / 20
CASES = 50
"""Answers that are shown, at most."""
FEW = 30
"""With fewer answers nothing is concluded."""
_WHY = {
    FailureKind.PARSE: "no confidence could be read",
    FailureKind.TRUNCATED: "the reply was cut off",
    FailureKind.INPUT: "there is nothing to compare it with",
}


class Bar(Record):
    """One bin of the reliability diagram."""

    low: float
    high: float
    n: int
    confidence: float | None
    """Mean; None in an empty bin."""
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None


class Point(Record):
    """The accuracy when only the surest answers are given."""

    coverage: float
    """The share of the answers that is given."""
    accuracy: float
    low: float | None
    high: float | None
    threshold: float
    """The least confidence among them; of equally sure answers a random part is taken."""


class Case(Record):
    """One answer, and how sure the model was of it."""

    id: str
    question: str
    reference: str
    answer: str
    language: str | None
    confidence: float
    label: Label
    why: str
    """The judge's words."""


class Calibration(Record):
    """What one kind of confidence is worth."""

    model: str
    benchmark: str
    signature: Signature
    source: str
    """Of `SOURCES`."""
    figures: dict[str, Result]
    """ECE is in percentage points, all else from 0 to 1."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    bins: tuple[Bar, ...]
    curve: tuple[Point, ...]
    surest_mistakes: tuple[Case, ...]
    least_sure_hits: tuple[Case, ...]
    answers: int
    """All; those of `missing` are in no figure."""
    missing: dict[str, int] = Field(default_factory=dict)
    """Answers that could not be used, by why."""
    not_attempted: int = 0
    """Answers that assert nothing; they count as not correct."""
    notes: tuple[str, ...] = ()


# ---- from answers to numbers -----------------------------------------------------------------------------------


def calibrate(
    subject: Subject, source: str, verdicts: Iterable[Verdict], confidences: Confidences, notes: Sequence[str] = ()
) -> Calibration:
    """Compare confidence with correctness, wherever the confidence comes from."""
    sheet = _Sheet(subject)
    for verdict in verdicts:
        sheet.add(verdict, confidences.get((verdict.item_id, verdict.sample)))
    cells = sheet.cells()
    return Calibration(
        model=subject.model, benchmark=subject.benchmark.name, signature=subject.signature, source=source,
        figures=confidence_results(cells, sheet.missing.total()), by=sheet.by(), bins=sheet.bins(),
        curve=_points(cells), surest_mistakes=sheet.mistakes.cases(), least_sure_hits=sheet.hits.cases(),
        answers=len(sheet.sure) + sheet.missing.total(), missing=dict(sheet.missing),
        not_attempted=sheet.not_attempted, notes=(*notes, *_notes(sheet, cells)),
    )  # fmt: skip


@dataclass
class _Shown:
    """The answers with the highest rank, at most `CASES`."""

    heap: list[tuple[float, int, Case]] = field(default_factory=list)
    order: count[int] = field(default_factory=lambda: count(0, -1))

    def add(self, rank: float, case: Case) -> None:
        entry = (rank, next(self.order), case)
        if len(self.heap) < CASES:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heappushpop(self.heap, entry)

    def cases(self) -> tuple[Case, ...]:
        return tuple(case for _, _, case in sorted(self.heap, key=lambda entry: entry[:2], reverse=True))


@dataclass
class _Sheet:
    """Collects answers; of their words only what is shown is held."""

    subject: Subject
    sure: list[float] = field(default_factory=list)
    correct: list[bool] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)
    """How many answers to each item are missing."""
    not_attempted: int = 0
    mistakes: _Shown = field(default_factory=_Shown)
    hits: _Shown = field(default_factory=_Shown)

    def add(self, verdict: Verdict, confidence: float | Failure | None) -> None:
        """One more answer."""
        if verdict.item_id not in self.subject.by_id:
            name = self.subject.benchmark.name
            raise InputError(f"{name}: a verdict on {verdict.item_id!r}, which is not asked; give its own items")
        if (why := _lack(verdict, confidence)) is not None or not isinstance(confidence, float):
            self.missing[why or "there is no confidence"] += 1
            self.lacking[verdict.item_id] += 1
            return
        correct = verdict.label is Label.CORRECT
        self.sure.append(confidence)
        self.correct.append(correct)
        self.items.append(verdict.item_id)
        self.not_attempted += verdict.label is Label.NOT_ATTEMPTED
        if correct:
            self.hits.add(-confidence, self._case(verdict, confidence))
        else:
            self.mistakes.add(confidence, self._case(verdict, confidence))

    def _case(self, verdict: Verdict, confidence: float) -> Case:
        item = self.subject.by_id[verdict.item_id]
        return Case(
            id=item.id, question=shorten(item.prompt), reference=shorten("; ".join(item.target)),
            answer=shorten(verdict.answer), language=item.language, confidence=confidence,
            label=verdict.label or Label.INCORRECT, why=shorten(verdict.reason),
        )  # fmt: skip

    def cells(self, group: set[str] | None = None) -> Cells:
        """All answers, or those to some items."""
        kept = np.array([group is None or item in group for item in self.subject.by_id], dtype=np.bool_)[self.places]
        sure, correct = np.array(self.sure, dtype=np.float64), np.array(self.correct, dtype=np.bool_)
        return make_cells(sure[kept], correct[kept], self.units[kept])

    @cached_property
    def places(self) -> Indices:
        """The number of each answer's item."""
        number = {item: place for place, item in enumerate(self.subject.by_id)}
        return np.array([number[item] for item in self.items], dtype=np.intp)

    @cached_property
    def units(self) -> Indices:
        """The number of each answer's question."""
        number = {unit: place for place, unit in enumerate(self.subject.units)}
        unit = self.subject.benchmark.unit
        return np.array([number[unit(item)] for item in self.subject.by_id.values()], dtype=np.intp)[self.places]

    def by(self) -> dict[str, dict[str, dict[str, Result]]]:
        """The figures of every group."""
        groups: dict[str, dict[str, set[str]]] = {name: {} for name in self.subject.groupings}
        for name, item in product(groups, self.subject.items):
            if (group := self.subject.benchmark.group(item, name)) is not None:
                groups[name].setdefault(group, set()).add(item.id)
        return {
            name: {
                group: confidence_results(self.cells(ids), sum(self.lacking[item] for item in ids))
                for group, ids in sorted(by_group.items())
            }
            for name, by_group in groups.items()
            if by_group
        }

    def bins(self) -> tuple[Bar, ...]:
        """The reliability diagram."""
        return tuple(
            Bar(
                low=row.low, high=row.high, n=row.n, confidence=row.confidence, accuracy=row.accuracy,
                accuracy_low=row.interval[0] if row.n else None, accuracy_high=row.interval[1] if row.n else None,
            )
            for row in reliability_curve(self.sure, self.correct, groups=self.units)
        )  # fmt: skip


def _lack(verdict: Verdict, confidence: float | Failure | None) -> str | None:
    """Why an answer cannot be used."""
    if verdict.answer is None:
        return "the model gave no answer"
    if verdict.label is None:
        return "the answer could not be graded"
    if isinstance(confidence, Failure):
        return _WHY.get(confidence.kind, "the model gave no answer")
    return None


def _points(cells: Cells) -> tuple[Point, ...]:
    """The curve, from the coverage of one whole answer on."""
    wanted = COVERAGES[COVERAGES * cells.n.sum() >= 1]
    return tuple(Point(**point._asdict()) for point in selective_curve(cells, wanted)) if wanted.size else ()


def _notes(sheet: _Sheet, cells: Cells) -> list[str]:
    found = []
    if sheet.not_attempted:
        found.append(f"{sheet.not_attempted} answers attempt nothing; they count as not correct")
    if len(sheet.sure) > cells.units:
        found.append("questions have several answers; intervals draw whole questions")
    if len(set(sheet.sure)) == 1:
        found.append("the confidence is always the same, so it cannot tell right from wrong answers")
    return found


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: Calibration) -> str:
    """The result in plain words."""
    if not result.figures[ACCURACY].n:
        return f"{_opening(result)} No answer had both a grade and a confidence, so nothing can be said.{_left(result)}"
    parts = [_opening(result), _honesty(result), _certainty(result), _ordering(result), _abstaining(result)]
    return " ".join(filter(None, parts)) + _left(result)


def _opening(result: Calibration) -> str:
    return f"How sure {result.model} is of its answers to {result.benchmark}, by {SOURCES[result.source]}:"


def _honesty(result: Calibration) -> str:
    every = result.figures
    sure, right, error, chance = (every[name] for name in (CONFIDENCE, ACCURACY, ECE, CHANCE))
    return (
        f"on average it is {_percent(sure.value)} sure, and {_percent(right.value)} of its {right.n:,} answers are "
        f"right ({_interval(right)}). Its confidence is off by {_points_of(error)} percentage points (expected "
        f"calibration error, 95% interval {_points_of(error, 'low')} to {_points_of(error, 'high')}; a model that is "
        f"exactly as often right as it says would show up to {_points_of(chance, 'high')} by chance). "
    ) + _leaning(result)


def _leaning(result: Calibration) -> str:
    error, chance, gap = (result.figures[name] for name in (ECE, CHANCE, GAP))
    if error.n < FEW:
        return f"{error.n} answers are too few to conclude anything."
    if (error.value or 0.0) <= (chance.high or 0.0):
        return "That is no more than chance: nothing here speaks against its confidence."
    if gap.low is not None and gap.low > 0:
        return "It is overconfident."
    if gap.high is not None and gap.high < 0:
        return "It is less sure than it could be."
    return "It is too sure of some answers and not sure enough of others."


def _certainty(result: Calibration) -> str:
    surely = result.figures[SURELY]
    if surely.value is None:
        return "It is never 90% sure or more."
    right = f"{_percent(surely.value)} ({_interval(surely)})"
    return f"Where it is at least 90% sure ({surely.n:,} answers), it is right in {right}."


def _ordering(result: Calibration) -> str:
    found = result.figures[AUROC]
    if found.value is None:
        return "All answers are alike right or wrong, so whether confidence tells them apart cannot be said."
    telling = found.low is not None and found.low > 0.5 and found.n >= FEW
    worth = "tells right from wrong answers, if not always" if telling else "is not shown to tell right from wrong"
    share = f"{_percent(found.value)} of such pairs ({_interval(found)})"
    return f"A right answer is surer than a wrong one in {share}: its confidence {worth}."


def _abstaining(result: Calibration) -> str:
    gain, half = result.figures[GAIN], result.figures[AT_HALF]
    if gain.value is None or gain.low is None or gain.high is None:
        return ""
    effect = "gains" if gain.low > 0 else "loses" if gain.high < 0 else "is not shown to gain or to lose: the change is"
    return (
        f"Giving only the surer half of its answers {effect} {points(gain.value)} points of accuracy, to "
        f"{_percent(half.value)} (change {to(gain.low, gain.high)}; over all thresholds "
        f"{_percent(result.figures[AREA].value)})."
    )


def _left(result: Calibration) -> str:
    said = "; ".join(f"{number:,} because {why}" for why, number in sorted(result.missing.items()))
    left = f" Left out: {sum(result.missing.values()):,} of {result.answers:,} answers ({said})." if said else ""
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in result.notes)
    return left + notes


def _percent(share: float | None) -> str:
    return "no" if share is None else percent(share)


def _interval(one: Result) -> str:
    return "interval unknown" if one.low is None else f"95% interval {to(one.low, one.high, percent)}"


def _points_of(one: Result, which: str = "value") -> str:
    value: float | None = getattr(one, which)
    return "?" if value is None else number(value, 1)
