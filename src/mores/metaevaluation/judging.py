"""Letting metrics judge samples: each a model that is asked, or a file of judgements that exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path

from mores.engine import SILENT, Asker, Progress
from mores.engine.estimate import Estimate, estimate
from mores.errors import InputError
from mores.io import JsonlWriter, file_name
from mores.metaevaluation.folder import JUDGEMENTS
from mores.metaevaluation.prompted import Prompted
from mores.metaevaluation.scorers import MetricScorer, OpenedMetric, OwnMetric, asker_of, read_judgements
from mores.metric import Metric
from mores.metric.folder import judgements_file
from mores.types import Judgement, Sample


@dataclass
class MetricJudging:
    """Metrics, and how their models are opened."""

    scorers: Sequence[MetricScorer]
    open_metric: Callable[[str], Metric]
    """The metric with the model of that name as the judge."""
    progress: Progress = SILENT

    def askers(self) -> list[Asker]:
        """Return every model that is asked."""
        opened = (scorer.open(self.open_metric) for scorer in self.scorers if not scorer.file)
        return [asker for asker in map(asker_of, opened) if asker]

    def estimates(self, samples: Sequence[Sample]) -> dict[str, Estimate]:
        """Return the number of questions to each model, and their cost."""
        estimates: dict[str, Estimate] = {}
        for scorer in self.scorers:
            if not scorer.file:
                estimates |= estimate_metric(scorer.name, scorer.open(self.open_metric), samples)
        return estimates

    def fingerprint(self, *more: bytes) -> str:
        """Return eight digits that change with the settings of a model, the judgements in a file, or `more`."""
        digest = blake2b(digest_size=4)
        for scorer in self.scorers:
            content = judgements_file(scorer.name).read_bytes() if scorer.file and Path(scorer.name).exists() else b""
            digest.update(content or str(scorer if scorer.file else scorer.open(self.open_metric).signature()).encode())
        digest.update(b"".join(more))
        return digest.hexdigest()

    async def judge(self, scorer: MetricScorer, samples: Sequence[Sample]) -> dict[str, Judgement]:
        """Return the judgements of a metric by sample; InputError for a file that has none of these samples."""
        if scorer.file:
            judgements = read_judgements(scorer.name)
            chosen = {sample.id: judgements[sample.id] for sample in samples if sample.id in judgements}
            if not chosen:
                example = f"such as {samples[0].id!r}" if samples else "which has none"
                raise InputError(f"{scorer.name}: none of its judgements is about a text of the data, {example}")
            return chosen
        return await ask_metric(scorer.name, scorer.open(self.open_metric), samples, self.progress)


async def ask_metric(
    name: str, opened: OpenedMetric, samples: Sequence[Sample], progress: Progress
) -> dict[str, Judgement]:
    """Return the judgements of a metric by sample."""
    asker = asker_of(opened)
    async with (
        progress.stage(name, len(samples), asker.price if asker else None) as counts,
        aclosing(opened.stream(samples, counts)) as judgements,
    ):
        return {sample.id: judgement async for sample, judgement in judgements}


def estimate_metric(name: str, opened: OpenedMetric, samples: Iterable[Sample]) -> dict[str, Estimate]:
    """Return the number of questions to a metric's model, and their cost; nothing for a user's own metric."""
    if isinstance(opened, OwnMetric):
        return {}
    metric = opened.metric if isinstance(opened, Prompted) else opened
    return {name: estimate(metric.asker, opened.jobs(samples), metric.settings.max_tokens)}


def judgement_files(names: Sequence[str]) -> dict[str, str]:
    """Return a file of the run for each metric: `words` and `words.jsonl` may both be given."""
    files: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        stem = file_name(name.removesuffix(".jsonl"))
        free = next(n for n in chain([stem], (f"{stem}-{k}" for k in count(2))) if n.casefold() not in used)
        used.add(free.casefold())
        files[name] = f"{JUDGEMENTS}/{free}.jsonl"
    return files


def write_judgements(path: Path, judgements: Mapping[str, Judgement], samples: Sequence[Sample]) -> None:
    """Write the judgements with their samples, in the order of these."""
    with JsonlWriter(path) as writer:
        for sample in samples:
            if sample.id in judgements:
                writer.write(judgements[sample.id].repeat(sample))
