"""A meta-evaluation from start to end: each metric judges the samples, then all are measured and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mores.engine import SILENT, Asker, Progress
from mores.engine.estimate import Estimate
from mores.engine.loop import interruptible
from mores.errors import ConfigError, InputError
from mores.factory.gold import Gold
from mores.formatting import count
from mores.io import JsonlWriter, write_text
from mores.io.private import make_folder
from mores.metaevaluation.baselines import BASELINES, fit, judge
from mores.metaevaluation.dataset import Dataset, source_of
from mores.metaevaluation.folder import JUDGEMENTS, RESULT, MetaRun
from mores.metaevaluation.judging import MetricJudging, ask_metric, estimate_metric, judgement_files
from mores.metaevaluation.leave_one_out import NONE, collect, leave_one_out
from mores.metaevaluation.records import AnnotationTable, LeaveOneOut
from mores.metaevaluation.scorers import MetricScorer, read_judgements
from mores.metaevaluation.study import MetricJudgements, evaluate_metrics
from mores.metaevaluation.versus import check_data
from mores.metric import Metric
from mores.run import Plan, start_run
from mores.signature import sign
from mores.types import Judgement, Signature


@dataclass
class MetaSession:
    """The metrics that are tested on a dataset."""

    data: Dataset
    scorers: Sequence[MetricScorer]
    open_metric: Callable[[str], Metric]
    """The metric with the model of that name as the judge."""
    leave_one_out: bool = False
    """Also train baselines without each source in turn, and let every `{source}` model judge all samples."""
    votes: Sequence[AnnotationTable] = ()
    progress: Progress = SILENT
    _notes: list[str] = field(default_factory=list)
    _matrices: list[LeaveOneOut] = field(default_factory=list)

    def askers(self) -> list[Asker]:
        """Return every model that is asked."""
        return self._judging(files=False).askers()

    def estimates(self) -> dict[str, Estimate]:
        """Return the number of questions to each model, and their cost."""
        estimates: dict[str, Estimate] = {}
        for scorer in self.scorers:
            for _, call, golds in self._calls(scorer):
                opened = call.open(self.open_metric)
                estimates |= estimate_metric(call.name, opened, (gold.sample for gold in golds))
        return estimates

    def _judging(self, *, files: bool = True) -> MetricJudging:
        """Return the judges of all metrics, one for each source where there are several."""
        judges = [call for scorer in self.scorers for _, call, _ in self._calls(scorer, files=files)]
        return MetricJudging(judges, self.open_metric, self.progress)

    async def run(self, out: Path, *, numbered: bool = False) -> MetaRun:
        """Judge, measure and compare; the run is in the folder `out`, and continues where it stopped."""
        files = judgement_files([scorer.name for scorer in self.scorers])
        judged: dict[str, MetricJudgements] = {}
        with start_run(out, self._plan(files), numbered=numbered, progress=self.progress) as run:
            self._notes, self._matrices = [], []
            if self.data.limit:
                most = f"at most {count(self.data.limit)} of each source, half of them with errors"
                self._notes.append(f"{count(len(self.data.golds))} samples were judged: {most}.")
            make_folder(run.path / JUDGEMENTS)
            for scorer in self.scorers:
                judgements = await self._judge(scorer)
                if judgements is not None:
                    judged[scorer.name] = MetricJudgements(
                        self._write(judgements, run.path / files[scorer.name]), scorer.baseline
                    )
            if not judged:
                raise InputError("no metric could be evaluated: " + "; ".join(self._notes))
            with interruptible():
                for _ in self.progress.track("evaluating", [None], 1):
                    result = evaluate_metrics(self.data, judged, self._matrices, self.votes, self._notes)
            write_text(run.path / RESULT, result.model_dump_json(indent=1) + "\n")
            failures = sum((Counter(evaluation.failures) for evaluation in result.evaluations), Counter[str]())
            files_written = {files[name]: "Judgement" for name in judged}
            run.finish(files={**files_written, RESULT: "Meta"}, failures=failures, headline=result.headline)
        return MetaRun(run.path, run.manifest)

    def _plan(self, files: Mapping[str, str]) -> Plan:
        """Return the plan of the run; its signature covers the judgements in files and the settings of models."""
        data = self.data
        fields = {
            "task": "meta.1",
            "data": data.revision,
            "split": data.split,
            "limit": data.limit or "none",
            "metrics": ",".join(files),
            "judging": self._judging().fingerprint(*(table.model_dump_json().encode() for table in self.votes)),
            "leave-one-out": "yes" if self.leave_one_out else "no",
        }
        settings = {"data": str(data.folder), "split": data.split, "limit": data.limit, "judgements": dict(files)}
        models = [scorer.name for scorer in self.scorers if not scorer.baseline]
        name = data.folder.resolve().name
        return Plan(kind="meta", name=name, model=",".join(models), signature=sign(fields), settings=settings)

    async def _judge(self, scorer: MetricScorer) -> dict[str, Judgement] | None:
        if scorer.baseline:
            with interruptible():
                return self._baseline(scorer.name)
        rows = {source: await self._read(call, golds) for source, call, golds in self._calls(scorer, files=True)}
        if not scorer.split:
            return rows[""]
        if self.leave_one_out or len(rows) > 1:
            self._matrices.append(collect(scorer.name, self.data.golds, rows))
        sources = {gold.sample.id: source_of(gold) for gold in self.data.golds}
        return {name: rows[source][name] for name, source in sources.items() if name in rows.get(source, {})}

    def _calls(self, scorer: MetricScorer, *, files: bool = False) -> Iterator[tuple[str, MetricScorer, list[Gold]]]:
        """Yield the work of a metric: the source of each judge, the judge, and its samples."""
        if scorer.baseline or (scorer.file and not files):
            return
        if not scorer.split:
            yield "", scorer, self.data.golds
            return
        for source in self.data.sources:
            part = [gold for gold in self.data.golds if source_of(gold) == source]
            yield source, scorer.without(source), self.data.golds if self.leave_one_out else part
        if scorer.file and Path(scorer.without(NONE).name).exists():
            yield NONE, scorer.without(NONE), self.data.golds

    async def _read(self, scorer: MetricScorer, golds: list[Gold]) -> dict[str, Judgement]:
        """Return the judgements of a file, or of a model that is asked."""
        if not scorer.file:
            samples = [gold.sample for gold in golds]
            return await ask_metric(scorer.name, scorer.open(self.open_metric), samples, self.progress)
        judgements_read = read_judgements(scorer.name)
        ids = {gold.sample.id for gold in golds}
        if not ids & judgements_read.keys():
            chosen = " that the limit chose" if self.data.limit else ""
            expected = f"a {self.data.split} sample of {self.data.folder}{chosen}"
            raise InputError(f"{scorer.name}: none of its judgements is about {expected}")
        check_data(scorer.name, judgements_read, self.data)
        return {name: judgement for name, judgement in judgements_read.items() if name in ids}

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

    def _write(self, judgements: Mapping[str, Judgement], path: Path) -> dict[str, Judgement]:
        """Return the judgements with the data's revision in their signatures, kept in a file in the samples' order."""
        signed = {}
        for name, judgement in judgements.items():
            signature = Signature((judgement.signature or sign({})) | {"data": self.data.revision})
            signed[name] = judgement.model_copy(update={"signature": signature})
        with JsonlWriter(path) as writer:
            for gold in self.data.golds:
                if gold.sample.id in signed:
                    writer.write(signed[gold.sample.id].repeat(gold.sample))
        return signed
