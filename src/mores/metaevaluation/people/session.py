"""Judges against people from start to end: each judge scores the answers that people rated, then all are measured.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `judgements/NAME.jsonl` | the judgements of a metric that was asked, one `Judgement` per line |
| `people.json` | the `People` |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from mores.engine import SILENT, Asker, Progress
from mores.engine.estimate import Estimate
from mores.engine.loop import interruptible
from mores.errors import ConfigError, InputError
from mores.formatting import count, number, span
from mores.io import write_text
from mores.io.private import make_folder
from mores.metaevaluation.folder import JUDGEMENTS
from mores.metaevaluation.judging import MetricJudging, judgement_files, write_judgements
from mores.metaevaluation.people.answers import Aliases, PeopleData
from mores.metaevaluation.people.judges import (
    JudgeScores,
    TableJudge,
    collect_scores,
    read_judgement_file,
    read_table_judge,
)
from mores.metaevaluation.people.measure import measure_judges
from mores.metaevaluation.people.records import People
from mores.metaevaluation.scorers import MetricScorer
from mores.metric import Metric
from mores.run import Plan, Run, start_run
from mores.signature import sign

RESULT = "people.json"


class PeopleRun(Run):
    """Judges against people."""

    @cached_property
    def result(self) -> People:
        """All figures."""
        return self.record(RESULT, People)


@dataclass
class PeopleSession:
    """The judges that are compared with people."""

    data: PeopleData
    judges: Sequence[TableJudge | MetricScorer]
    open_metric: Callable[[str], Metric]
    aliases: Aliases | None = None
    progress: Progress = SILENT

    def __post_init__(self) -> None:
        if not self.judges:
            raise ConfigError("no judge to compare with people; name one", setting="metric")
        if self._judging.scorers and any(answer.text is None for answer in self.data.rated):
            problem = f"{self.data.path}: it has no answers, which {self._judging.scorers[0].name} would read"
            raise InputError(f"{problem}; add a column 'answer', or give a table of scores")

    @cached_property
    def _judging(self) -> MetricJudging:
        """The metrics that are asked."""
        asked = [judge for judge in self.judges if isinstance(judge, MetricScorer) and not judge.file]
        return MetricJudging(asked, self.open_metric, self.progress)

    def askers(self) -> list[Asker]:
        """Return every model that is asked."""
        return self._judging.askers()

    def estimates(self) -> dict[str, Estimate]:
        """Return the number of questions to each model, and their cost."""
        return self._judging.estimates([answer.sample for answer in self.data.rated])

    async def run(self, out: Path, *, numbered: bool = False) -> PeopleRun:
        """Ask, join and measure; the run is in the folder `out`, and continues where it stopped."""
        rated = self.data.rated
        read: dict[str, JudgeScores] = {}
        for judge in self.judges:
            if isinstance(judge, TableJudge):
                read[judge.name] = read_table_judge(judge, rated, self.aliases)
            elif judge.file:
                read[judge.name] = read_judgement_file(judge, rated)
        files = judgement_files([scorer.name for scorer in self._judging.scorers])
        samples = [answer.sample for answer in rated]
        with start_run(out, self._plan(read), numbered=numbered, progress=self.progress) as run:
            make_folder(run.path / JUDGEMENTS)
            for scorer in self._judging.scorers:
                judgements = await self._judging.judge(scorer, samples)
                write_judgements(run.path / files[scorer.name], judgements, samples)
                read[scorer.name] = collect_scores(scorer.name, rated, judgements)
            with interruptible():
                for _ in self.progress.track("evaluating", [None], 1):
                    result = measure_judges(self.data, [read[judge.name] for judge in self.judges])
            write_text(run.path / RESULT, result.model_dump_json(indent=1) + "\n")
            failures = sum((Counter(judge.failures) for judge in result.judges), Counter[str]())
            kinds = dict.fromkeys(files.values(), "Judgement") | {RESULT: "People"}
            run.finish(files=kinds, failures=failures, headline=headline(result))
        return PeopleRun(run.path, run.manifest)

    def _plan(self, read: dict[str, JudgeScores]) -> Plan:
        """Return the plan of the run; its signature covers the scores in files and the settings of models."""
        digest = blake2b(digest_size=4)
        for judged in read.values():
            digest.update(repr((sorted(judged.scores.items()), sorted(judged.marks.items()))).encode())
        fields = {
            "task": "people.1",
            "data": self.data.revision,
            "kind": self.data.kind,
            "judges": ",".join(judge.name for judge in self.judges),
            "judging": digest.hexdigest() + self._judging.fingerprint(),
        }
        settings = {"data": f"{self.data.kind}:{self.data.path}"}
        models = ",".join(scorer.name for scorer in self._judging.scorers)
        name = self.data.path.stem
        return Plan(kind="people", name=name, model=models, signature=sign(fields), settings=settings)


def headline(people: People) -> str:
    """Return the judge that agrees best with people, in one line."""
    best = people.best
    if best is None:
        return "no judge could be compared with people"
    pearson = best.scores["pearson"]
    correlation = f"Pearson r {number(pearson.value)} {span(pearson.low, pearson.high)}".rstrip()
    return f"{best.judge}: {correlation} with people's ratings of {count(best.n)} answers"
