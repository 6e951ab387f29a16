"""From verdicts to numbers: every figure of a benchmark, overall and by group, with intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from mores.bench.benchmark import Benchmark, Figure, Label, Verdict, accuracy
from mores.stats.classification import Floats
from mores.stats.intervals import wilson
from mores.stats.resampling import resample_sums
from mores.types import Item, Record, Result

LABELS = tuple(Label)


class BenchResult(Record):
    """What a run says of a model."""

    benchmark: str
    title: str
    model: str
    judge: str | None
    signature: str
    questions: int
    samples: int
    """Answers to each question."""
    figures: dict[str, Result]
    """By name; the first is the headline."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    rows: Result | None = None
    """Share of right parts, where questions have several: it flatters, so it is never the headline."""
    references: dict[str, float] = Field(default_factory=dict)
    """What is reached without knowledge."""
    agreement: float | None = None
    """Krippendorff's α of a panel of judges."""
    failures: dict[str, int] = Field(default_factory=dict)
    """Answers that could not be graded, by kind; they are in no figure."""


class Scores:
    """Adds up verdicts, which come question by question and sample by sample, with the parts of each together."""

    def __init__(self, benchmark: Benchmark, items: Sequence[Item]) -> None:
        self.benchmark, self.items = benchmark, items
        self._parts = Counter(benchmark.unit(item) for item in items)
        self._counts: dict[str, list[int]] = {unit: [0] * len(LABELS) for unit in self._parts}
        self._unscored: Counter[str] = Counter()
        self._rows: Counter[Label] = Counter()
        self._failures: Counter[str] = Counter()
        self._open: list[Verdict] = []
        self._samples = 0

    def add(self, verdict: Verdict) -> None:
        """One more verdict."""
        self._samples = max(self._samples, verdict.sample + 1)
        if verdict.label is None:
            self._failures[verdict.failure.kind.value if verdict.failure else "unknown"] += 1
        else:
            self._rows[verdict.label] += 1
        self._open.append(verdict)
        if len(self._open) == self._parts[verdict.unit]:
            self._close()

    def _close(self) -> None:
        label = together([verdict.label for verdict in self._open])
        unit = self._open[0].unit
        if label is None:
            self._unscored[unit] += 1
        else:
            self._counts[unit][LABELS.index(label)] += 1
        self._open.clear()

    def result(self, model: str, judge: str | None, signature: str) -> BenchResult:
        """All figures."""
        first = {self.benchmark.unit(item): item for item in reversed(self.items)}
        several = max(self._parts.values(), default=1) > 1
        by = {name: self._by(name, first) for name in self.benchmark.groupings}
        return BenchResult(
            benchmark=self.benchmark.name,
            title=self.benchmark.title,
            model=model,
            judge=judge,
            signature=signature,
            questions=len(self._parts),
            samples=self._samples,
            figures=self._figures(list(self._parts)),
            by={name: groups for name, groups in by.items() if groups},
            rows=self._row_accuracy() if several else None,
            references=dict(self.benchmark.references(self.items)),
            failures=dict(self._failures),
        )

    def _by(self, grouping: str, first: dict[str, Item]) -> dict[str, dict[str, Result]]:
        units: dict[str, list[str]] = defaultdict(list)
        for unit, item in first.items():
            if (group := self.benchmark.group(item, grouping)) is not None:
                units[group].append(unit)
        return {group: self._figures(own) for group, own in sorted(units.items())}

    def _figures(self, units: list[str]) -> dict[str, Result]:
        counts = np.array([self._counts[unit] for unit in units], dtype=np.float64).reshape(len(units), len(LABELS))
        unscored = sum(self._unscored[unit] for unit in units)
        return {name: _result(name, figure, counts, unscored) for name, figure in self.benchmark.figures.items()}

    def _row_accuracy(self) -> Result:
        n = self._rows.total()
        right = self._rows[Label.CORRECT]
        low, high = wilson(right, n)
        failed = self._failures.total()
        return Result(name="rows", value=right / n if n else None, low=low, high=high, n=n, unscored=failed)


def together(labels: Sequence[Label | None]) -> Label | None:
    """A question is right when all its parts are, and wrong when one is, also where others could not be read."""
    if Label.INCORRECT in labels:
        return Label.INCORRECT
    if None in labels:
        return None
    return Label.NOT_ATTEMPTED if Label.NOT_ATTEMPTED in labels else Label.CORRECT


def _result(name: str, figure: Figure, counts: Floats, unscored: int) -> Result:
    """A figure with its interval: Wilson's for one answer to each question, else questions are drawn."""
    n = int(counts.sum())
    value = float(figure(counts.sum(axis=0)[:, None])[0])
    if not n or np.isnan(value):
        return Result(name=name, value=None, n=n, unscored=unscored)
    low, high = _interval(figure, counts)
    return Result(name=name, value=value, low=low, high=high, n=n, unscored=unscored)


def _interval(figure: Figure, counts: Floats) -> tuple[float, float]:
    scored = counts[counts.sum(axis=1) > 0]
    if figure is accuracy and (scored.sum(axis=1) == 1).all():
        return wilson(int(scored[:, 0].sum()), len(scored))
    found = figure(resample_sums(scored).T)
    low, high = np.percentile(found[~np.isnan(found)], [2.5, 97.5])
    return float(low), float(high)
