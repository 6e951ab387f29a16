"""Judges against people from start to end: each judge scores the answers that people rated, then all are measured.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `judgements/NAME.jsonl` | the judgements of a metric that was asked, one `Judgement` per line |
| `people.json` | the `People` |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from mores.errors import ConfigError, InputError
from mores.metaevaluation.judging import Judgements, JudgingSession
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
from mores.run import Plan, Run
from mores.signature import sign
from mores.types import Sample

RESULT = "people.json"


class PeopleRun(Run):
    """Judges against people."""

    @cached_property
    def result(self) -> People:
        """All figures."""
        return self.record(RESULT, People)


@dataclass(kw_only=True)
class PeopleSession(JudgingSession):
    """The judges that are compared with people; `scorers` are those that are asked."""

    data: PeopleData
    judges: Sequence[TableJudge | MetricScorer]
    aliases: Aliases | None = None

    def __post_init__(self) -> None:
        if not self.judges:
            raise ConfigError("no judge to compare with people; name one", setting="metric")
        if self.scorers and any(answer.text is None for answer in self.data.rated):
            problem = f"{self.data.path}: it has no answers, which {self.scorers[0].name} would read"
            raise InputError(f"{problem}; add a column 'answer', or give a table of scores")

    @property
    def samples(self) -> list[Sample]:
        return [answer.sample for answer in self.data.rated]

    @cached_property
    def given(self) -> dict[str, JudgeScores]:
        """The scores in files."""
        read: dict[str, JudgeScores] = {}
        for judge in self.judges:
            if isinstance(judge, TableJudge):
                read[judge.name] = read_table_judge(judge, self.data.rated, self.aliases)
            elif judge.file:
                read[judge.name] = read_judgement_file(judge, self.data.rated)
        return read

    def measure(self, judged: Mapping[str, Judgements]) -> tuple[People, Iterable[Mapping[str, int]]]:
        """Measure every judge against people."""
        asked = {name: collect_scores(name, self.data.rated, judgements) for name, judgements in judged.items()}
        result = measure_judges(self.data, [(self.given | asked)[judge.name] for judge in self.judges])
        return result, (judge.failures for judge in result.judges)

    def plan(self, files: Mapping[str, str]) -> Plan:
        """Return the plan of the run; its signature covers the scores in files and the settings of models."""
        digest = blake2b(digest_size=4)
        for judged in self.given.values():
            digest.update(repr((sorted(judged.scores.items()), sorted(judged.marks.items()))).encode())
        fields = {
            "task": "people.1",
            "data": self.data.revision,
            "kind": self.data.kind,
            "judges": ",".join(judge.name for judge in self.judges),
            "judging": digest.hexdigest() + self.fingerprint(),
        }
        settings = {"data": f"{self.data.kind}:{self.data.path}"}
        name = self.data.path.stem
        return Plan(kind="people", name=name, model=",".join(files), signature=sign(fields), settings=settings)
