"""Judges on JuICE from start to end: each metric judges the answers, then all are measured beside the detectors.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `judgements/NAME.jsonl` | the judgements of a metric, one `Judgement` per line |
| `juice.json` | the `Juice` |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.formatting import count
from mores.metaevaluation.judging import Judgements, JudgingSession
from mores.metaevaluation.juice.data import JuiceAnswer, JuiceData
from mores.metaevaluation.juice.records import THRESHOLD, Juice, JuiceScore
from mores.metaevaluation.juice.score import describe_data, marked_by, score_baseline, score_detectors, score_judge
from mores.metaevaluation.scorers import PROMPTED, MetricScorer
from mores.registry import split_name
from mores.run import Plan, Run
from mores.signature import sign
from mores.types import Sample

RESULT = "juice.json"


class JuiceRun(Run):
    """Judges on JuICE."""

    @cached_property
    def result(self) -> Juice:
        """All figures."""
        return self.record(RESULT, Juice)


@dataclass(kw_only=True)
class JuiceSession(JudgingSession):
    """The metrics that are tested on JuICE."""

    data: JuiceData
    threshold: float = THRESHOLD
    """A marked span finds an error from this intersection over union on."""
    baseline: bool = True
    """Whether a judge that marks every sentence is shown too."""
    limit: int | None = None
    """Most answers that a metric judges."""

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
        """The samples that metrics judge, chosen by id: a larger limit includes a smaller one."""
        answers = self.data.answers
        if self.limit is None or len(answers) <= self.limit:
            return answers
        chosen = sorted((answer.sample.id for answer in answers), key=lambda name: draw(0, name))[: self.limit]
        return [answer for answer in answers if answer.sample.id in set(chosen)]

    @property
    def samples(self) -> list[Sample]:
        return [answer.sample for answer in self.answers]

    async def read(self, scorer: MetricScorer, samples: Sequence[Sample]) -> Judgements:
        """Return the judgements of a metric; InputError for spans that are of another text with the same id."""
        judgements = await super().read(scorer, samples)
        for sample in samples:
            report = judgements[sample.id].report if sample.id in judgements else None
            for error in report.errors if report else ():
                if error.located and sample.side(error.side)[error.start : error.end] != error.quote:
                    problem = f"{scorer.name}: {sample.id!r} has no {error.quote!r} at {error.start}:{error.end}"
                    raise InputError(f"{problem}; judge the answers of this file")
        return judgements

    def measure(self, judged: Mapping[str, Judgements]) -> tuple[Juice, Iterable[Mapping[str, int]]]:
        """Measure the metrics beside the baseline and the detectors of the file."""
        chosen, known = len(self.answers), len(self.data.answers)
        notes = [f"Metrics judged {count(chosen)} of the {count(known)} answers."] if chosen < known else []
        scores = [self._score(name, judgements) for name, judgements in judged.items()]
        scores += [score_baseline(self.answers, self.threshold)] if self.baseline else []
        scores += score_detectors(self.data, self.threshold)
        return describe_data(self.data, scores, self.threshold, notes), (score.failures for score in scores)

    def plan(self, files: Mapping[str, str]) -> Plan:
        fields = {
            "task": "juice.1",
            "data": self.data.revision,
            "limit": self.limit or "none",
            "iou": f"{self.threshold:g}",
            "metrics": ",".join(files) or "none",
            "judging": self.fingerprint(),
        }
        settings = {"data": str(self.data.path), "limit": self.limit, "iou": self.threshold, "judgements": dict(files)}
        name = self.data.path.stem
        return Plan(kind="juice", name=name, model=",".join(files), signature=sign(fields), settings=settings)

    def _score(self, name: str, judgements: Judgements) -> JuiceScore:
        failures: Counter[str] = Counter()
        marked, missing = [], []
        for answer in self.answers:
            judgement = judgements.get(answer.sample.id)
            if judgement and judgement.report and not judgement.failure:
                marked.append(marked_by(answer, judgement))
                continue
            missing.append(answer)
            reason = judgement.failure.kind.value if judgement and judgement.failure else "no report"
            failures[reason if judgement else "missing"] += 1
        signature = next((j.signature for j in judgements.values() if j.signature), None)
        known: dict[str, Any] = {"failures": failures, "missing": missing, "signature": signature}
        return score_judge(name, "metric", marked, threshold=self.threshold, **known)
