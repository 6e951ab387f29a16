"""The whole meta-evaluation of a dataset, from the judgements of each metric; and out of domain, where a metric is
trained without one source and tested on each (ExCAM, Figures 3 and 11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.metaevaluation.advice import advise
from mores.metaevaluation.baselines import BASELINES, SHORTCUT, fit, judge
from mores.metaevaluation.compare import compare_all, compare_groups
from mores.metaevaluation.dataset import Dataset, source_of, without
from mores.metaevaluation.evaluate import Scored, count, evaluate, influences, join, label_groups, scaled_accuracy
from mores.metaevaluation.records import AnnotationTable, Disagreement, LeaveOneOut, Meta
from mores.types import Judgement, Result

MOST_DISAGREEMENTS = 30
NONE = "none"
"""No source is left out."""


@dataclass(frozen=True)
class MetricJudgements:
    """The judgements of one metric, by sample id."""

    judgements: Mapping[str, Judgement]
    baseline: bool = False


def evaluate_metrics(
    data: Dataset,
    judged: Mapping[str, MetricJudgements],
    leave_one_out: Sequence[LeaveOneOut] = (),
    votes: Sequence[AnnotationTable] = (),
    notes: Sequence[str] = (),
) -> Meta:
    """Evaluate every metric and compare them all."""
    golds = data.golds
    scored = {name: join(golds, metric.judgements) for name, metric in judged.items()}
    moved = {name: influences(part) for name, part in scored.items()}
    evaluations = [
        evaluate(name, golds, scored[name], moved[name], baseline=metric.baseline, by=data.groupings)
        for name, metric in judged.items()
    ]
    with_scores = {name: part for name, part in scored.items() if part.golds}
    comparisons = compare_all(with_scores, moved)
    shortcut = next((e.scores["scaled_accuracy"] for e in evaluations if e.metric == SHORTCUT), None)
    return Meta(
        data=data.folder.resolve().name,
        revision=data.revision,
        split=data.split,
        n=len(golds),
        counts=count(label_groups(golds, data.groupings)),
        evaluations=tuple(evaluations),
        advice=tuple(advise(evaluations, comparisons)),
        comparisons=tuple(comparisons),
        group_comparisons=tuple(compare_groups(with_scores, golds, data.groupings)),
        shortcut=shortcut,
        leave_one_out=tuple(leave_one_out),
        disagreements=tuple(_disagreements(golds, scored, judged)),
        votes=tuple(votes),
        notes=tuple(notes),
    )


def _disagreements(
    golds: Sequence[Gold], scored: Mapping[str, Scored], judged: Mapping[str, MetricJudgements]
) -> list[Disagreement]:
    """Return the samples on which verdicts are divided most evenly: of metrics, or else of baselines."""
    chosen = [name for name, metric in judged.items() if not metric.baseline] or list(judged)
    scores: dict[str, dict[str, float]] = {}
    for name in chosen:
        for gold, judgement in zip(scored[name].golds, scored[name].judgements, strict=True):
            scores.setdefault(gold.sample.id, {})[name] = float(judgement.score or 0.0)
    wrong = {name: sum(score < 0 for score in by_metric.values()) for name, by_metric in scores.items()}
    divisions = {name: min(n, len(scores[name]) - n) for name, n in wrong.items()}  # the size of the minority
    divided = [gold for gold in golds if divisions.get(gold.sample.id)]
    divided.sort(key=lambda gold: (-divisions[gold.sample.id], draw(0, gold.sample.id)))
    return [
        Disagreement(gold=gold, scores={name: scores[gold.sample.id].get(name) for name in chosen})
        for gold in divided[:MOST_DISAGREEMENTS]
    ]


def leave_one_out(
    name: str, data: Dataset, follow: Callable[[Iterable[str | None]], Iterable[str | None]] = lambda sources: sources
) -> LeaveOneOut:
    """Return a trainable baseline, fitted without each source in turn; `follow` iterates over the sources."""
    rows: dict[str, Mapping[str, Judgement]] = {}
    for left_out in follow([None, *data.sources]):
        baseline = BASELINES[name]()
        fit(name, baseline, *(without(golds, left_out) for golds in data.learned(baseline.learns)))
        rows[left_out or NONE] = {j.sample_id: j for j in judge(name, baseline, data.golds)}
    return collect(name, data.golds, rows)


def collect(name: str, golds: Sequence[Gold], rows: Mapping[str, Mapping[str, Judgement]]) -> LeaveOneOut:
    """Return the matrix, from the judgements of a metric trained without each source; `none` for all sources."""
    sources = sorted(set(map(source_of, golds)))
    parts = {source: [gold for gold in golds if source_of(gold) == source] for source in sources}
    matrix: dict[str, dict[str, Result]] = {}
    for left_out, judgements in rows.items():
        scored = {source: join(part, judgements) for source, part in parts.items()}
        matrix[left_out] = {source: scaled_accuracy(part) for source, part in scored.items() if part.golds}
    held_out = [row[source].value for source, row in matrix.items() if source in row]
    values = [value for value in held_out if value is not None]
    overall = scaled_accuracy(join(golds, rows[NONE])) if NONE in rows else None
    return LeaveOneOut(metric=name, matrix=matrix, average=fmean(values) if values else None, trained_on_all=overall)
