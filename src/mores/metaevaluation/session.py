"""A meta-evaluation from start to end: each metric judges the samples, then all are measured and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mores.engine.loop import interruptible
from mores.errors import ConfigError, InputError
from mores.formatting import count
from mores.metaevaluation.baselines import BASELINES, fit, judge
from mores.metaevaluation.compare import check_data
from mores.metaevaluation.dataset import Dataset, source_of
from mores.metaevaluation.judging import Judgements, JudgingSession
from mores.metaevaluation.records import AnnotationTable, LeaveOneOut, Meta
from mores.metaevaluation.scorers import MetricScorer, read_judgements
from mores.metaevaluation.study import NONE, MetricJudgements, collect, evaluate_metrics, leave_one_out
from mores.run import Plan
from mores.signature import sign
from mores.types import Judgement, Sample, Signature


@dataclass(kw_only=True)
class MetaSession(JudgingSession):
    """The metrics that are tested on a dataset."""

    data: Dataset
    leave_one_out: bool = False
    """Also train baselines without each source in turn, and let every `{source}` model judge all samples."""
    votes: Sequence[AnnotationTable] = ()
    _notes: list[str] = field(default_factory=list)
    _matrices: list[LeaveOneOut] = field(default_factory=list)

    @property
    def samples(self) -> list[Sample]:
        return [gold.sample for gold in self.data.golds]

    def measure(self, judged: Mapping[str, Judgements]) -> tuple[Meta, Iterable[Mapping[str, int]]]:
        """Measure every metric and compare them all."""
        if not judged:
            raise InputError("no metric could be evaluated: " + "; ".join(self._notes))
        limited = []
        if self.data.limit:
            most = f"at most {count(self.data.limit)} of each source, half of them with errors"
            limited.append(f"{count(len(self.data.golds))} samples were judged: {most}.")
        baselines = {scorer.name for scorer in self.scorers if scorer.baseline}
        metrics = {name: MetricJudgements(judgements, name in baselines) for name, judgements in judged.items()}
        result = evaluate_metrics(self.data, metrics, self._matrices, self.votes, [*limited, *self._notes])
        return result, (evaluation.failures for evaluation in result.evaluations)

    def plan(self, files: Mapping[str, str]) -> Plan:
        """Return the plan of the run; its signature covers the judgements in files and the settings of models."""
        data = self.data
        fields = {
            "task": "meta.1",
            "data": data.revision,
            "split": data.split,
            "limit": data.limit or "none",
            "metrics": ",".join(files),
            "judging": self.fingerprint(*(table.model_dump_json().encode() for table in self.votes)),
            "leave-one-out": "yes" if self.leave_one_out else "no",
        }
        settings = {"data": str(data.folder), "split": data.split, "limit": data.limit, "judgements": dict(files)}
        models = [scorer.name for scorer in self.scorers if not scorer.baseline]
        name = data.folder.resolve().name
        return Plan(kind="meta", name=name, model=",".join(models), signature=sign(fields), settings=settings)

    async def judge(self, scorer: MetricScorer) -> Judgements | None:
        """Return the judgements with the data's revision in their signatures; None for a baseline that cannot learn."""
        if scorer.baseline:
            with interruptible():
                judgements = self._baseline(scorer.name)
        else:
            rows = {source: await self.read(call, samples) for source, call, samples in self.calls(scorer)}
            if scorer.split and (self.leave_one_out or len(rows) > 1):
                self._matrices.append(collect(scorer.name, self.data.golds, rows))
            sources = {gold.sample.id: source_of(gold) if scorer.split else "" for gold in self.data.golds}
            judgements = {name: rows[source][name] for name, source in sources.items() if name in rows.get(source, {})}
        if judgements is None:
            return None
        data = {"data": self.data.revision}
        return {
            name: judgement.model_copy(update={"signature": Signature((judgement.signature or sign({})) | data)})
            for name, judgement in judgements.items()
        }

    def calls(self, scorer: MetricScorer) -> Iterator[tuple[str, MetricScorer, Sequence[Sample]]]:
        """Yield the work of a metric, one judge for each source where its name has `{source}`; a baseline asks none."""
        if scorer.baseline:
            return
        if not scorer.split:
            yield "", scorer, self.samples
            return
        for source in self.data.sources:
            part = [gold.sample for gold in self.data.golds if source_of(gold) == source]
            yield source, scorer.without(source), self.samples if self.leave_one_out else part
        if scorer.file and Path(scorer.without(NONE).name).exists():
            yield NONE, scorer.without(NONE), self.samples

    async def read(self, scorer: MetricScorer, samples: Sequence[Sample]) -> Judgements:
        """Return the judgements of a file, which must be about this dataset, or of a model that is asked."""
        if not scorer.file:
            return await super().read(scorer, samples)
        judgements, ids = read_judgements(scorer.name), {sample.id for sample in samples}
        if not ids & judgements.keys():
            chosen = " that the limit chose" if self.data.limit else ""
            expected = f"a {self.data.split} sample of {self.data.folder}{chosen}"
            raise InputError(f"{scorer.name}: none of its judgements is about {expected}")
        check_data(scorer.name, judgements, self.data)
        return {name: judgement for name, judgement in judgements.items() if name in ids}

    def _baseline(self, name: str) -> dict[str, Judgement] | None:
        """Return the judgements of a baseline; None if it cannot learn from the dataset."""
        baseline, data = BASELINES[name](), self.data
        try:
            for _ in self.progress.track(name, [None], 1):
                if baseline.learns:
                    fit(name, baseline, *data.learned(baseline.learns))
                judgements = {judgement.sample_id: judgement for judgement in judge(name, baseline, data.golds)}
        except (ConfigError, InputError) as error:
            self._note(f"{name} was left out: {error}")
            return None
        if baseline.learns and self.leave_one_out:
            total = len(data.sources) + 1
            try:
                matrix = leave_one_out(
                    name, data, lambda sources: self.progress.track(f"{name} out of domain", sources, total)
                )
                self._matrices.append(matrix)
            except (ConfigError, InputError) as error:
                self._note(f"{name} cannot be trained without each source: {error}")
        return judgements

    def _note(self, note: str) -> None:
        self._notes.append(note)
        self.progress.note(f"note: {note}")
