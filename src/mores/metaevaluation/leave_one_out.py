"""Out of domain: train without one source, test on each (ExCAM, Figures 3 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from mores.factory.gold import Gold
from mores.metaevaluation.baselines import BASELINES, fit, judge
from mores.metaevaluation.dataset import Dataset, source_of, without
from mores.metaevaluation.evaluate import join, scaled_accuracy
from mores.metaevaluation.records import LeaveOneOut
from mores.types import Judgement, Result

NONE = "none"
"""Nothing left out."""


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
