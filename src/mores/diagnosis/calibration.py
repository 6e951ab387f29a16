"""Calibration: whether a model is as often correct as it is confident (MSQA, Section 4.2.1).

    stated = read_stated(folder / "stated.jsonl")
    result = calibrate(subject_of_run(run, confidence=f"verbalised.{prompts_hash()}"), VERBALISED, verdicts, stated)

Every answer with a grade and a confidence counts, the parts of a question separately; the intervals resample questions.
An answer that is not an attempt is not correct.
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

from mores.benchmark.benchmark import Label, Verdict
from mores.diagnosis.confidence import Confidences
from mores.diagnosis.paired import Subject, shorten
from mores.errors import InputError
from mores.formatting import number, percent, points, to
from mores.stats.calibration import (
    ACCURACY,
    AREA,
    AT_90,
    AT_HALF,
    AUROC,
    CHANCE,
    CONFIDENCE,
    ECE,
    GAIN,
    GAP,
    confidence_results,
    reliability_curve,
)
from mores.stats.resampling import Indices
from mores.stats.selective import ConfidenceCells, make_cells, selective_curve
from mores.types import Failure, FailureKind, Record, Result, Signature

VERBALISED, LIKELIHOOD, AGREEMENT = "verbalised", "log-probability", "agreement"
SOURCES = {
    VERBALISED: "the number from 0 to 100 that it states",
    LIKELIHOOD: "the probability that it assigns to its answer",
    AGREEMENT: "the share of its answers to a question that are the same",
}
COVERAGES = np.arange(1, 21) / 20
CASES = 50
"""At most this many answers are listed."""
FEW = 30
"""With fewer answers, the paragraph draws no conclusion."""
_WHY = {
    FailureKind.PARSE: "no confidence could be read",
    FailureKind.TRUNCATED: "the reply was cut off",
    FailureKind.INPUT: "there is no other answer to compare it with",
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
    """The accuracy if the model gives only its most confident answers."""

    coverage: float
    """The share of answers that it gives."""
    accuracy: float
    low: float | None
    high: float | None
    threshold: float
    """The lowest confidence among them; of equally confident answers a random part is taken."""


class CalibrationCase(Record):
    """One answer and its confidence."""

    id: str
    question: str
    reference: str
    answer: str
    language: str | None
    confidence: float
    label: Label
    why: str
    """The judge's reason."""


class CalibrationResult(Record):
    """The success of one kind of confidence in predicting correct answers."""

    model: str
    benchmark: str
    signature: Signature
    source: str
    """Of `SOURCES`."""
    figures: dict[str, Result]
    """ECE is in percentage points; the others are from 0 to 1."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    bins: tuple[Bar, ...]
    curve: tuple[Point, ...]
    most_confident_mistakes: tuple[CalibrationCase, ...]
    least_confident_hits: tuple[CalibrationCase, ...]
    answers: int
    """All answers; those in `missing` are in no figure."""
    missing: dict[str, int] = Field(default_factory=dict)
    """Answers that could not be used, by reason."""
    not_attempted: int = 0
    """Answers that are not attempts; they count as not correct."""
    notes: tuple[str, ...] = ()


# ---- from answers to numbers -----------------------------------------------------------------------------------


def calibrate(
    subject: Subject, source: str, verdicts: Iterable[Verdict], confidences: Confidences, notes: Sequence[str] = ()
) -> CalibrationResult:
    """Compare confidence with correctness, whatever the source of the confidence."""
    sheet = _Sheet(subject)
    for verdict in verdicts:
        sheet.add(verdict, confidences.get((verdict.item_id, verdict.sample)))
    cells = sheet.cells()
    coverages = COVERAGES[COVERAGES * cells.n.sum() >= 1]  # the curve starts at the coverage of one answer
    points = selective_curve(cells, coverages) if coverages.size else ()
    same = len(set(sheet.confidences)) == 1
    found = {
        f"{sheet.not_attempted} answers are not attempts; they count as not correct": sheet.not_attempted,
        "questions have several answers; the intervals resample whole questions": len(sheet.correct) > cells.units,
        "the confidence is always the same, so it cannot separate correct from incorrect answers": same,
    }
    return CalibrationResult(
        model=subject.model, benchmark=subject.name, signature=subject.signature, source=source,
        figures=confidence_results(cells, sheet.missing.total()), by=sheet.groups(), bins=sheet.bins(),
        curve=tuple(Point(**point._asdict()) for point in points),
        most_confident_mistakes=sheet.mistakes.cases(), least_confident_hits=sheet.hits.cases(),
        answers=len(sheet.confidences) + sheet.missing.total(), missing=dict(sheet.missing),
        not_attempted=sheet.not_attempted, notes=(*notes, *(note for note, holds in found.items() if holds)),
    )  # fmt: skip


@dataclass
class _Shown:
    """The highest-ranked answers, at most `CASES`."""

    heap: list[tuple[float, int, CalibrationCase]] = field(default_factory=list)
    order: count[int] = field(default_factory=lambda: count(0, -1))

    def add(self, rank: float, case: CalibrationCase) -> None:
        entry = (rank, next(self.order), case)
        if len(self.heap) < CASES:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heappushpop(self.heap, entry)

    def cases(self) -> tuple[CalibrationCase, ...]:
        return tuple(case for _, _, case in sorted(self.heap, key=lambda entry: entry[:2], reverse=True))


@dataclass
class _Sheet:
    """Collects answers, and the text of only those that are listed."""

    subject: Subject
    confidences: list[float] = field(default_factory=list)
    correct: list[bool] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    missing_by_item: Counter[str] = field(default_factory=Counter)
    """How many answers to each item are missing."""
    not_attempted: int = 0
    mistakes: _Shown = field(default_factory=_Shown)
    hits: _Shown = field(default_factory=_Shown)

    def add(self, verdict: Verdict, confidence: float | Failure | None) -> None:
        """Add an answer."""
        if verdict.item_id not in self.subject.by_id:
            name = self.subject.benchmark.name
            raise InputError(
                f"{name}: a verdict on {verdict.item_id!r}, which is not an item of the run; give the run's items"
            )
        if verdict.answer is None or verdict.label is None or not isinstance(confidence, float):
            why = "it has no confidence"
            if verdict.answer is None:
                why = "the model gave no answer"
            elif verdict.label is None:
                why = "the answer could not be graded"
            elif isinstance(confidence, Failure):
                why = _WHY.get(confidence.kind, "the model gave no answer")
            self.missing[why] += 1
            self.missing_by_item[verdict.item_id] += 1
            return
        correct = verdict.label is Label.CORRECT
        self.confidences.append(confidence)
        self.correct.append(correct)
        self.items.append(verdict.item_id)
        self.not_attempted += verdict.label is Label.NOT_ATTEMPTED
        if correct:
            self.hits.add(-confidence, self._case(verdict, confidence))
        else:
            self.mistakes.add(confidence, self._case(verdict, confidence))

    def _case(self, verdict: Verdict, confidence: float) -> CalibrationCase:
        item = self.subject.by_id[verdict.item_id]
        return CalibrationCase(
            id=item.id, question=shorten(item.prompt), reference=shorten("; ".join(item.target)),
            answer=shorten(verdict.answer), language=item.language, confidence=confidence,
            label=verdict.label or Label.INCORRECT, why=shorten(verdict.reason),
        )  # fmt: skip

    def cells(self, group: set[str] | None = None) -> ConfidenceCells:
        """Return all answers, or those to the items in `group`."""
        mask = np.array([group is None or item in group for item in self.subject.by_id], dtype=np.bool_)[
            self.item_numbers
        ]
        confidence, correct = np.array(self.confidences, dtype=np.float64), np.array(self.correct, dtype=np.bool_)
        return make_cells(confidence[mask], correct[mask], self.units[mask])

    @cached_property
    def item_numbers(self) -> Indices:
        """The number of each answer's item."""
        number = {item: index for index, item in enumerate(self.subject.by_id)}
        return np.array([number[item] for item in self.items], dtype=np.intp)

    @cached_property
    def units(self) -> Indices:
        """The number of each answer's question."""
        number = {unit: index for index, unit in enumerate(self.subject.units)}
        unit = self.subject.benchmark.unit
        return np.array([number[unit(item)] for item in self.subject.by_id.values()], dtype=np.intp)[self.item_numbers]

    def groups(self) -> dict[str, dict[str, dict[str, Result]]]:
        """Return the figures of every group."""
        groups: dict[str, dict[str, set[str]]] = {name: {} for name in self.subject.groupings}
        for name, item in product(groups, self.subject.items):
            if (group := self.subject.benchmark.group(item, name)) is not None:
                groups[name].setdefault(group, set()).add(item.id)
        return {
            name: {
                group: confidence_results(self.cells(ids), sum(self.missing_by_item[item] for item in ids))
                for group, ids in sorted(by_group.items())
            }
            for name, by_group in groups.items()
            if by_group
        }

    def bins(self) -> tuple[Bar, ...]:
        """Return the reliability diagram."""
        return tuple(
            Bar(
                low=row.low, high=row.high, n=row.n, confidence=row.confidence, accuracy=row.accuracy,
                accuracy_low=row.interval[0] if row.n else None, accuracy_high=row.interval[1] if row.n else None,
            )
            for row in reliability_curve(self.confidences, self.correct, groups=self.units)
        )  # fmt: skip


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: CalibrationResult) -> str:
    """Return the result in plain words."""
    if not result.figures[ACCURACY].n:
        empty = f"No answer of {result.model} to {result.benchmark} has both a grade and a confidence"
        return f"{empty} ({SOURCES[result.source]}), so there is no result.{_left_out(result)}"
    opening = (
        f"Confidence of {result.model} in its answers to {result.benchmark}, measured by {SOURCES[result.source]}:"
    )
    surely = result.figures[AT_90]
    certainty = "Its confidence never reaches 90%."
    if surely.value is not None:
        share = f"{_percent(surely.value)} ({_interval(surely)})"
        certainty = f"Where its confidence is at least 90% ({surely.n:,} answers), {share} are correct."
    figures = result.figures
    confidence, accuracy, error, chance = (figures[name] for name in (CONFIDENCE, ACCURACY, ECE, CHANCE))
    honesty = (
        f"its average confidence is {_percent(confidence.value)}, and {_percent(accuracy.value)} of its {accuracy.n:,} "
        f"answers are correct ({_interval(accuracy)}). Its confidence is off by {_points_of(error)} percentage points "
        f"(expected calibration error, 95% interval {_points_of(error, 'low')} to {_points_of(error, 'high')}; "
        f"a perfectly calibrated model would show up to {_points_of(chance, 'high')} by chance). {_leaning(result)}"
    )
    parts = [opening, honesty, certainty, _ordering(result), _abstaining(result)]
    return " ".join(filter(None, parts)) + _left_out(result)


def _leaning(result: CalibrationResult) -> str:
    error, chance, gap = (result.figures[name] for name in (ECE, CHANCE, GAP))
    if error.n < FEW:
        return f"{error.n} answers are too few to conclude anything."
    if (error.value or 0.0) <= (chance.high or 0.0):
        return "This is within chance: there is no sign that its confidence is wrong."
    if gap.low is not None and gap.low > 0:
        return "It is overconfident."
    if gap.high is not None and gap.high < 0:
        return "It is underconfident."
    return "It is overconfident in some answers and underconfident in others."


def _ordering(result: CalibrationResult) -> str:
    auroc = result.figures[AUROC]
    if auroc.value is None:
        return "All answers have the same grade, so confidence cannot separate correct from incorrect ones."
    telling = auroc.low is not None and auroc.low > 0.5 and auroc.n >= FEW
    worth = (
        "separates correct from incorrect answers, though not always" if telling else "does not show which are correct"
    )
    share = f"{_percent(auroc.value)} of such pairs ({_interval(auroc)})"
    return f"A correct answer has a higher confidence than an incorrect one in {share}: the confidence {worth}."


def _abstaining(result: CalibrationResult) -> str:
    gain, half = result.figures[GAIN], result.figures[AT_HALF]
    if gain.value is None or gain.low is None or gain.high is None:
        return ""
    size = f"{points(gain.value)} points"
    effect = f"has no clear effect: accuracy changes by {size}"
    if gain.low > 0 or gain.high < 0:
        effect = f"{'gains' if gain.low > 0 else 'loses'} {size} of accuracy"
    return (
        f"Giving only the more confident half of its answers {effect}, to {_percent(half.value)} (change "
        f"{to(gain.low, gain.high)}; over all thresholds {_percent(result.figures[AREA].value)})."
    )


def _left_out(result: CalibrationResult) -> str:
    reasons = "; ".join(f"{number:,} because {why}" for why, number in sorted(result.missing.items()))
    left = f" Left out: {sum(result.missing.values()):,} of {result.answers:,} answers ({reasons})." if reasons else ""
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in result.notes)
    return left + notes


def _percent(share: float | None) -> str:
    return "no" if share is None else percent(share)


def _interval(result: Result) -> str:
    return "interval unknown" if result.low is None else f"95% interval {to(result.low, result.high, percent)}"


def _points_of(result: Result, field_name: str = "value") -> str:
    value: float | None = getattr(result, field_name)
    return "?" if value is None else number(value, 1)
