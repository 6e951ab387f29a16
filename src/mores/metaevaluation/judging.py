"""A run in which metrics judge samples and are then measured; each is a model, or a file of judgements that exists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path

from mores.engine import SILENT, Asker, Progress
from mores.engine.estimate import Estimate, estimate
from mores.engine.loop import interruptible
from mores.errors import InputError
from mores.io import JsonlWriter, file_name, write_text
from mores.io.private import make_folder
from mores.metaevaluation.folder import JUDGEMENTS
from mores.metaevaluation.juice.records import Juice
from mores.metaevaluation.people.records import People
from mores.metaevaluation.prompted import Prompted
from mores.metaevaluation.records import Meta
from mores.metaevaluation.scorers import MetricScorer, OwnMetric, asker_of, read_judgements
from mores.metric import Metric
from mores.metric.folder import judgements_file
from mores.metric.prompt import places_of
from mores.metric.texts import estimate_judges
from mores.run import Plan, start_run
from mores.types import Judgement, Sample

Judgements = Mapping[str, Judgement]
"""By sample."""


@dataclass
class JudgingSession(ABC):
    """Metrics, how their models are opened, and what they judge."""

    scorers: Sequence[MetricScorer]
    open_metric: Callable[[str], Metric]
    """The metric with the model of that name as the judge."""
    progress: Progress = SILENT

    @property
    @abstractmethod
    def samples(self) -> Sequence[Sample]:
        """The samples that the metrics judge."""

    @abstractmethod
    def plan(self, files: Mapping[str, str]) -> Plan:
        """Return the plan of the run, whose files of judgements are given by metric."""

    @abstractmethod
    def measure(self, judged: Mapping[str, Judgements]) -> tuple[Meta | Juice | People, Iterable[Mapping[str, int]]]:
        """Return the result of what the metrics judged, and the failures of each."""

    def calls(self, scorer: MetricScorer) -> Iterator[tuple[str, MetricScorer, Sequence[Sample]]]:
        """Yield the work of a metric: the source of each judge, where it has several, the judge, and its samples."""
        yield "", scorer, self.samples

    def askers(self) -> list[Asker]:
        """Return every model that is asked."""
        opened = (call.open(self.open_metric) for call, _ in self._calls() if not call.file)
        return [asker for asker in map(asker_of, opened) if asker]

    def estimates(self) -> dict[str, Estimate]:
        """Return the number of questions to each model, and their cost; a user's own metric asks as it likes."""
        estimates: dict[str, Estimate] = {}
        for call, samples in self._calls():
            if not call.file and not isinstance(opened := call.open(self.open_metric), OwnMetric):
                if isinstance(opened, Prompted):
                    metric = opened.metric
                    estimates[call.name] = estimate(metric.asker, opened.jobs(samples), metric.settings.max_tokens)
                else:
                    estimates[call.name] = estimate_judges(opened, partial(iter, samples))
        return estimates

    def fingerprint(self, *more: bytes) -> str:
        """Return eight digits that change with the settings of a model, the judgements in a file, or `more`."""
        digest = blake2b(digest_size=4)
        for call, samples in self._calls():
            if call.file:
                content = judgements_file(call.name).read_bytes() if Path(call.name).exists() else b""
                digest.update(content or str(call).encode())
                continue
            opened = call.open(self.open_metric)
            placed = {"placed": any(map(places_of, samples))} if isinstance(opened, Metric) else {}
            digest.update(str(opened.signature(**placed)).encode())
        digest.update(b"".join(more))
        return digest.hexdigest()

    def _calls(self) -> Iterator[tuple[MetricScorer, Sequence[Sample]]]:
        return ((call, samples) for scorer in self.scorers for _, call, samples in self.calls(scorer))

    async def run(self, out: Path, *, numbered: bool = False) -> Path:
        """Judge and measure; return the run's folder, `out`, in which it continues where it stopped."""
        files: dict[str, str] = {}
        for scorer in self.scorers:
            stem = file_name(scorer.name.removesuffix(".jsonl"))  # `words` and `words.jsonl` may both be given
            names = (f"{JUDGEMENTS}/{name}.jsonl" for name in chain([stem], (f"{stem}-{k}" for k in count(2))))
            used = {file.casefold() for file in files.values()}
            files[scorer.name] = next(name for name in names if name.casefold() not in used)
        with start_run(out, self.plan(files), numbered=numbered, progress=self.progress) as run:
            make_folder(run.path / JUDGEMENTS)
            judged: dict[str, Judgements] = {}
            for scorer in self.scorers:
                if (judgements := await self.judge(scorer)) is not None:
                    judged[scorer.name] = judgements
                    with JsonlWriter(run.path / files[scorer.name]) as writer:
                        for sample in self.samples:
                            if sample.id in judgements:
                                writer.write(judgements[sample.id].repeat(sample))
            with interruptible():
                for _ in self.progress.track("evaluating", [None], 1):
                    result, failures = self.measure(judged)
            kind = type(result).__name__
            write_text(run.path / f"{kind.lower()}.json", result.model_dump_json(indent=1) + "\n")
            written = {files[name]: "Judgement" for name in judged} | {f"{kind.lower()}.json": kind}
            run.finish(files=written, failures=sum(map(Counter, failures), Counter[str]()), headline=result.headline)
        return run.path

    async def judge(self, scorer: MetricScorer) -> Judgements | None:
        """Return the judgements of a metric; None for one that cannot judge these samples."""
        return await self.read(scorer, self.samples)

    async def read(self, scorer: MetricScorer, samples: Sequence[Sample]) -> Judgements:
        """Return the judgements of a file, or of a model that is asked; InputError for a file with none of these."""
        if scorer.file:
            judgements = read_judgements(scorer.name)
            chosen = {sample.id: judgements[sample.id] for sample in samples if sample.id in judgements}
            if not chosen:
                example = f"such as {samples[0].id!r}" if samples else "which has none"
                raise InputError(f"{scorer.name}: none of its judgements is about a text of the data, {example}")
            return chosen
        opened = scorer.open(self.open_metric)
        asker = asker_of(opened)
        async with (
            self.progress.stage(scorer.name, len(samples), asker.price if asker else None) as counts,
            aclosing(opened.stream(samples, counts)) as answers,
        ):
            return {sample.id: judgement async for sample, judgement in answers}
