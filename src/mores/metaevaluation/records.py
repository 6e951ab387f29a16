"""A meta-evaluation: how well each metric finds the errors of a dataset, and which differences are significant."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from mores.factory.gold import Gold
from mores.formatting import SIGNIFICANT, number
from mores.types import MUCH_MISSING, Record, Result, Signature

STATISTICS = {
    "scaled_accuracy": "S.Acc.",
    "kendall": "Kd",
    "tie_accuracy": "T.Acc.",
    "balanced_accuracy": "bal. acc.",
    "f1": "F1",
    "mcc": "MCC",
    "auc": "AUC",
    "kendall_c": "τ-c",
    "span_f1": "span F1",
    "span_f1_tokens": "span F1 (words)",
    "span_f1_severity": "span F1 (severity)",
    "explanation_verbatim": "answer named 1:1",
    "explanation": "answer named",
    "correct_passed": "correct passed",
    "errors_found": "errors found",
}
"""Every statistic with its short name; the first three are those of ExCAM, Table 4."""

GROUPINGS = ("source", "language", "region", "subregion", "task", "kind")
"""The groupings of results. Regions are countries, subregions their parts. The groups of `kind` are `hard` and
`soft`: the samples with such errors, and the correct samples of the same sources."""


class Curve(Record):
    """Points of a curve, thinned out for drawing."""

    x: tuple[float, ...]
    y: tuple[float, ...]


class ScoreBins(Record):
    """A histogram: counts between neighbouring edges, one list for each kind of sample."""

    edges: tuple[float, ...]
    counts: dict[str, tuple[int, ...]]
    """By `correct`, `hard` and `soft`."""


class MetricEvaluation(Record):
    """One metric on a dataset."""

    metric: str
    signature: Signature
    n: int
    """Samples that it scored."""
    unscored: int
    """Samples that it could not score."""
    failures: dict[str, int] = Field(default_factory=dict)
    """The unscored samples by kind of failure; `not known` if nothing was decided, `missing` without a judgement."""
    scores: dict[str, Result]
    """By the names of `STATISTICS`; an undefined one has no value."""
    by: dict[str, dict[str, dict[str, Result]]] = Field(default_factory=dict)
    """Grouping, group, statistic; without the slow ones."""
    roc: Curve | None = None
    """False positive rate and true positive rate; None if one class is missing."""
    pr: Curve | None = None
    """Recall and precision."""
    distribution: ScoreBins | None = None
    tie_epsilon: float | None = None
    """Scores that differ by at most this are tied in `tie_accuracy`."""
    calibration: dict[str, Result] = Field(default_factory=dict, exclude_if=lambda figures: not figures)
    """How well its confidence predicts whether its verdicts are correct, by the names of `mores.stats.calibration`."""
    baseline: bool = False
    """Whether it needs no model, and is shown for comparison."""

    @property
    def accuracy(self) -> float | None:
        """Its scaled accuracy, if that is a number."""
        result = self.scores.get("scaled_accuracy")
        return result.value if result and result.value is not None and math.isfinite(result.value) else None


class MetricComparison(Record):
    """The difference of two metrics on the samples that both scored."""

    first: str
    second: str
    statistic: str
    difference: float
    """The first minus the second."""
    low: float | None = None
    high: float | None = None
    p: float
    """Two-sided."""
    adjusted: float
    """After Benjamini and Hochberg, over all comparisons of the statistic, or of the group."""
    n: int
    missing: int = Field(0, exclude_if=lambda n: not n)
    """Samples that one of the two could not score, or neither."""
    whole: tuple[float, float] | None = Field(None, exclude_if=lambda ends: ends is None)
    """The 95% interval on all samples, whatever the missing scores are; None where no such interval is defined."""
    grouping: str = ""
    """The grouping, if it is about one group only."""
    group: str = ""

    @property
    def holds(self) -> bool:
        """True if missing scores do not explain the difference; a few may, where no interval says."""
        few = self.missing <= MUCH_MISSING * (self.n + self.missing)
        return self.whole[0] > 0 or self.whole[1] < 0 if self.whole else few

    @property
    def significant(self) -> bool:
        """True if neither chance nor missing scores explain the difference."""
        return self.adjusted < SIGNIFICANT and self.holds


class ChangedVerdict(Record):
    """A text, or a question of a benchmark, on which two runs differ."""

    id: str
    asked: str
    """The question or instruction; the first text where there is neither."""
    first: str
    """What is said of the first: correct or not, the errors, the answer."""
    second: str
    difference: float
    """Above 0 where the first is better."""


class GradedQuestion(Record):
    """A question of a benchmark and the answer of one model."""

    asked: str
    answer: str
    """The first of several."""
    label: str
    """Its grade, in a word."""
    credit: float | None
    """The share of its answers that are correct; None where none has a grade."""


class JudgementComparison(Record):
    """Two sets of judgements, or of graded answers, against each other."""

    first: str
    second: str
    n: int
    """Samples that both scored."""
    left_out: int
    """Samples that only one of them scored, or neither."""
    overall: tuple[MetricComparison, ...]
    by: dict[str, dict[str, MetricComparison]]
    """Grouping and group: the difference in scaled accuracy, score or correct answers. What was asked for comes first;
    it is empty where no group has enough samples."""
    changed: tuple[ChangedVerdict, ...] = ()
    """The texts or questions on which they differ, those that differ most first."""


class LeaveOneOut(Record):
    """A metric that was trained without each source in turn (ExCAM, Figures 3 and 11)."""

    metric: str
    matrix: dict[str, dict[str, Result]]
    """The source that was left out (`none` for all trained on), the source tested on: scaled accuracy."""
    average: float | None
    """Mean over the sources of the accuracy on the one that was left out: AVG (OOD)."""
    trained_on_all: Result | None = None
    """Scaled accuracy on all samples with nothing left out: ALL (ID); None if there is no such model."""


class Disagreement(Record):
    """A sample on which metrics disagree."""

    gold: Gold
    scores: dict[str, float | None]
    """By metric; None if it has none."""


class AnnotationTable(Record):
    """Shares of samples, for example by how many annotators agree (ExCAM, Tables 3, 12 and 13)."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    """By criterion, as many cells as there are columns."""
    note: str = ""


Verdict = Literal["useful", "not better", "worse", "one class", "too few", "missing", "unjudged"]


class Advice(Record):
    """The usefulness of a judge for texts like these, by the rule of `mores.metaevaluation.advice`."""

    metric: str
    verdict: Verdict
    line: str
    """The same in words, with the figures."""
    needed: int | None = None
    """How many pairs to plan for where there are too few."""


class Meta(Record):
    """A whole meta-evaluation."""

    data: str
    """Name of the dataset."""
    revision: str
    """Hash of the split that was judged."""
    split: str
    n: int
    counts: dict[str, dict[str, int]]
    """Grouping, group: samples."""
    evaluations: tuple[MetricEvaluation, ...]
    """In the order in which they were asked for, baselines last."""
    advice: tuple[Advice, ...] = ()
    """On each metric except baselines."""
    comparisons: tuple[MetricComparison, ...] = ()
    """Comparisons of every two metrics."""
    group_comparisons: tuple[MetricComparison, ...] = ()
    """Comparisons of the most accurate metric of each group with every other."""
    shortcut: Result | None = None
    """Scaled accuracy of a bag of words that never sees the instruction, on the same samples."""
    leave_one_out: tuple[LeaveOneOut, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    votes: tuple[AnnotationTable, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader must know, for example which baseline could not be run and why."""

    @property
    def best(self) -> MetricEvaluation | None:
        """The metric with the highest scaled accuracy; a baseline only if there is nothing else."""
        measured = [e for e in self.evaluations if e.accuracy is not None]
        return max([e for e in measured if not e.baseline] or measured, key=lambda e: e.accuracy or 0.0, default=None)

    @property
    def headline(self) -> str:
        """The advice on the best metric, or its scaled accuracy, in one line."""
        best = self.best
        if line := next((advice.line for advice in self.advice if best and advice.metric == best.metric), None):
            return line
        return f"{best.metric}: scaled accuracy {number(best.accuracy)}" if best else "no metric has a score"

    @property
    def silent(self) -> list[str]:
        """The metrics that could score no sample."""
        return [evaluation.metric for evaluation in self.evaluations if not evaluation.n]
