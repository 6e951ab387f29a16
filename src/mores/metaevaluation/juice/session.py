"""Judges on JuICE from start to end: each metric judges the answers, then all are measured beside the detectors.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `judgements/NAME.jsonl` | the judgements of a metric, one `Judgement` per line |
| `juice.json` | the `Juice` |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mores.engine import SILENT, Asker, Progress
from mores.engine.estimate import Estimate
from mores.engine.loop import interruptible
from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.formatting import count, number
from mores.io import write_text
from mores.io.private import make_folder
from mores.metaevaluation.folder import JUDGEMENTS
from mores.metaevaluation.judging import MetricJudging, judgement_files, write_judgements
from mores.metaevaluation.juice.data import JuiceAnswer, JuiceData
from mores.metaevaluation.juice.records import THRESHOLD, Juice, JuiceScore
from mores.metaevaluation.juice.score import describe_data, marked_by, score_baseline, score_detectors, score_judge
from mores.metaevaluation.scorers import PROMPTED, MetricScorer
from mores.metric import Metric
from mores.registry import split_name
from mores.run import Plan, Run, start_run
from mores.signature import sign
from mores.types import Judgement

RESULT = "juice.json"


class JuiceRun(Run):
    """Judges on JuICE."""

    @cached_property
    def result(self) -> Juice:
        """All figures."""
        return self.record(RESULT, Juice)


@dataclass
class JuiceSession:
    """The metrics that are tested on JuICE."""

    data: JuiceData
    scorers: Sequence[MetricScorer]
    open_metric: Callable[[str], Metric]
    threshold: float = THRESHOLD
    """A marked span finds an error from this intersection over union on."""
    baseline: bool = True
    """Whether a judge that marks every sentence is shown too."""
    limit: int | None = None
    """Most answers that a metric judges."""
    progress: Progress = SILENT

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"the overlap {self.threshold:g} is not from 0 to 1", setting="iou")
        for scorer in self.scorers:
            asked = split_name(scorer.name)[0] in PROMPTED and not scorer.file
            if scorer.baseline or scorer.split or asked:
                problem = f"{scorer.name} marks no spans, which JuICE measures"
                raise ConfigError(f"{problem}; use excam:MODEL or a file of judgements", setting="metric")

    @cached_property
    def answers(self) -> list[JuiceAnswer]:
        """What metrics judge, chosen by id: a larger limit includes a smaller one."""
        answers = self.data.answers
        if self.limit is None or len(answers) <= self.limit:
            return answers
        chosen = sorted((answer.sample.id for answer in answers), key=lambda name: draw(0, name))[: self.limit]
        return [answer for answer in answers if answer.sample.id in set(chosen)]

    @property
    def _judging(self) -> MetricJudging:
        return MetricJudging(self.scorers, self.open_metric, self.progress)

    def askers(self) -> list[Asker]:
        """Return every model that is asked."""
        return self._judging.askers()

    def estimates(self) -> dict[str, Estimate]:
        """Return the number of questions to each model, and their cost."""
        return self._judging.estimates([answer.sample for answer in self.answers])

    async def run(self, out: Path, *, numbered: bool = False) -> JuiceRun:
        """Judge and measure; the run is in the folder `out`, and continues where it stopped."""
        files = judgement_files([scorer.name for scorer in self.scorers])
        samples = [answer.sample for answer in self.answers]
        judged, known = len(self.answers), len(self.data.answers)
        notes = [f"Metrics judged {count(judged)} of the {count(known)} answers."] if judged < known else []
        with start_run(out, self._plan(files), numbered=numbered, progress=self.progress) as run:
            make_folder(run.path / JUDGEMENTS)
            scores: list[JuiceScore] = []
            for scorer in self.scorers:
                judgements = await self._judging.judge(scorer, samples)
                scores.append(self._score(scorer.name, judgements))
                write_judgements(run.path / files[scorer.name], judgements, samples)
            with interruptible():
                for _ in self.progress.track("evaluating", [None], 1):
                    scores += [score_baseline(self.answers, self.threshold)] if self.baseline else []
                    scores += score_detectors(self.data, self.threshold)
                    result = describe_data(self.data, scores, self.threshold, notes)
            write_text(run.path / RESULT, result.model_dump_json(indent=1) + "\n")
            failures = sum((Counter(score.failures) for score in scores), Counter[str]())
            kinds = dict.fromkeys(files.values(), "Judgement") | {RESULT: "Juice"}
            run.finish(files=kinds, failures=failures, headline=headline(result))
        return JuiceRun(run.path, run.manifest)

    def _plan(self, files: Mapping[str, str]) -> Plan:
        fields = {
            "task": "juice.1",
            "data": self.data.revision,
            "limit": self.limit or "none",
            "iou": f"{self.threshold:g}",
            "metrics": ",".join(files) or "none",
            "judging": self._judging.fingerprint(),
        }
        settings = {"data": str(self.data.path), "limit": self.limit, "iou": self.threshold, "judgements": dict(files)}
        name = self.data.path.stem
        return Plan(kind="juice", name=name, model=",".join(files), signature=sign(fields), settings=settings)

    def _score(self, name: str, judgements: Mapping[str, Judgement]) -> JuiceScore:
        failures: Counter[str] = Counter()
        marked = []
        for answer in self.answers:
            judgement = judgements.get(answer.sample.id)
            if judgement is None or judgement.failure:
                failures[judgement.failure.kind.value if judgement and judgement.failure else "missing"] += 1
            elif judgement.report is None:
                failures["no report"] += 1
            else:
                _check_spans(name, answer, judgement)
                marked.append(marked_by(answer, judgement))
        signature = next((j.signature for j in judgements.values() if j.signature), None)
        return score_judge(name, "metric", marked, threshold=self.threshold, failures=failures, signature=signature)


def _check_spans(name: str, answer: JuiceAnswer, judgement: Judgement) -> None:
    """Refuse spans that are not of this text but of another with the same id."""
    assert judgement.report
    for error in judgement.report.errors:
        if error.located and answer.sample.side(error.side)[error.start : error.end] != error.quote:
            problem = f"{name}: {answer.sample.id!r} has no {error.quote!r} at {error.start}:{error.end}"
            raise InputError(f"{problem}; judge the answers of this file")


def headline(juice: Juice) -> str:
    """Return the best judge in one line."""
    best = juice.best
    if best is None:
        return "no metric and no model marked a span"
    scores = {name: number(best.scores[name].value) for name in ("f1", "precision", "recall")}
    values = f"F1 {scores['f1']} (precision {scores['precision']}, recall {scores['recall']})"
    against = "" if best.kind == "metric" else " against the other detectors"
    return f"{best.judge}: {values} of spans{against} at an overlap of {juice.threshold:g}"
