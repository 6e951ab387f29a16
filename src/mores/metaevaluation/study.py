"""The whole meta-evaluation of a dataset, from the judgements of each metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.metaevaluation.advice import advise
from mores.metaevaluation.baselines import SHORTCUT
from mores.metaevaluation.compare import compare_all, compare_groups
from mores.metaevaluation.dataset import Dataset
from mores.metaevaluation.evaluate import Scored, count, evaluate, influences, join
from mores.metaevaluation.records import AnnotationTable, Disagreement, LeaveOneOut, Meta, MetricEvaluation
from mores.types import Judgement, Result

MOST_DISAGREEMENTS = 30


@dataclass(frozen=True)
class MetricJudgements:
    """The judgements of one metric, by sample id."""

    judgements: Mapping[str, Judgement]
    baseline: bool = False


def study(
    data: Dataset,
    judged: Mapping[str, MetricJudgements],
    *,
    leave_one_out: Sequence[LeaveOneOut] = (),
    votes: Sequence[AnnotationTable] = (),
    notes: Sequence[str] = (),
) -> Meta:
    """Evaluate every metric and compare them all."""
    golds = data.golds
    scored = {name: join(golds, metric.judgements) for name, metric in judged.items()}
    moved = {name: influences(part) for name, part in scored.items()}
    evaluations = [
        evaluate(name, golds, scored[name], moved[name], baseline=metric.baseline) for name, metric in judged.items()
    ]
    with_scores = {name: part for name, part in scored.items() if part.golds}
    comparisons = compare_all(with_scores, moved)
    return Meta(
        data=data.folder.resolve().name,
        revision=data.revision,
        split=data.split,
        n=len(golds),
        counts=count(golds),
        evaluations=tuple(evaluations),
        advice=tuple(advise(evaluations, comparisons)),
        comparisons=tuple(comparisons),
        group_comparisons=tuple(compare_groups(with_scores, golds)),
        shortcut=_shortcut(evaluations),
        leave_one_out=tuple(leave_one_out),
        disagreements=tuple(_disagreements(golds, scored, judged)),
        votes=tuple(votes),
        notes=tuple(notes),
    )


def _shortcut(evaluations: Sequence[MetricEvaluation]) -> Result | None:
    words = next((evaluation for evaluation in evaluations if evaluation.metric == SHORTCUT), None)
    return words.scores["scaled_accuracy"] if words else None


def _disagreements(
    golds: Sequence[Gold], scored: Mapping[str, Scored], judged: Mapping[str, MetricJudgements]
) -> list[Disagreement]:
    """Samples on which verdicts are divided most evenly: those of metrics, or of baselines if there is nothing else."""
    chosen = [name for name, metric in judged.items() if not metric.baseline] or list(judged)
    scores: dict[str, dict[str, float]] = {}
    for name in chosen:
        for gold, judgement in zip(scored[name].golds, scored[name].judgements, strict=True):
            scores.setdefault(gold.sample.id, {})[name] = float(judgement.score or 0.0)
    divided = sorted((gold for gold in golds if _division(scores.get(gold.sample.id, {}))), key=_order(scores))
    return [
        Disagreement(gold=gold, scores={name: scores[gold.sample.id].get(name) for name in chosen})
        for gold in divided[:MOST_DISAGREEMENTS]
    ]


def _division(scores: Mapping[str, float]) -> int:
    wrong = sum(score < 0 for score in scores.values())
    return min(wrong, len(scores) - wrong)


def _order(scores: Mapping[str, Mapping[str, float]]) -> Callable[[Gold], tuple[int, bytes]]:
    return lambda gold: (-_division(scores[gold.sample.id]), draw(0, gold.sample.id))
