"""Made-up runs of `mores judge-check`, `audit`, `topics` and of judges beside others, each shown while it exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from mores.benchmark.judge_check import RESULT, JudgeCheckRun
from mores.benchmark.labels import TOPICS, QuestionLabels
from mores.benchmark.topics import TopicsRun
from mores.io import JsonlWriter, write_text
from mores.metaevaluation.juice.data import JuiceData
from mores.metaevaluation.juice.score import describe_data, score_baseline, score_detectors
from mores.metaevaluation.juice.session import RESULT as JUICE
from mores.metaevaluation.juice.session import JuiceRun
from mores.metaevaluation.people.answers import read_people
from mores.metaevaluation.people.judges import TableJudge, read_table_judge
from mores.metaevaluation.people.measure import measure_judges
from mores.metaevaluation.people.session import RESULT as PEOPLE
from mores.metaevaluation.people.session import PeopleRun
from mores.metric.audit import audit
from mores.metric.audit.run import RESULT as AUDIT
from mores.metric.audit.run import AuditRun
from mores.run import Run, read_manifest
from mores.types import Failure, FailureKind
from tests.benchmark.test_judge_check import judged, never_not_attempted
from tests.metaevaluation.test_juice import EXAMPLE
from tests.metaevaluation.test_people import simulate
from tests.metric.test_audit import CARRIERS, INJECTIONS, JUDGEMENTS
from tests.runs import write_manifest

T = TypeVar("T")


def judge_check(show: Callable[[Run], T]) -> T:
    """A judge that never says "not attempted"."""
    with TemporaryDirectory() as name:
        folder = write_manifest(Path(name), "judge-check", task="msqa.1")
        write_text(folder / RESULT, judged(folder, never_not_attempted).model_dump_json())
        return show(JudgeCheckRun(folder, read_manifest(folder)))


def audited(show: Callable[[Run], T]) -> T:
    """One carrier, which one attack and one control change."""
    with TemporaryDirectory() as name:
        folder = write_manifest(Path(name), "audit", metric="excam.1")
        write_text(folder / AUDIT, audit(JUDGEMENTS, CARRIERS[:1], INJECTIONS, ("end",)).model_dump_json())
        return show(AuditRun(folder, read_manifest(folder)))


def juice(show: Callable[[Run], T]) -> T:
    """The detectors of the five answers that come with the package."""
    with TemporaryDirectory() as name:
        folder = write_manifest(Path(name), "juice", task="juice.1")
        data = JuiceData(EXAMPLE)
        judges = [score_baseline(data.answers), *score_detectors(data)]
        write_text(folder / JUICE, describe_data(data, judges, 0.5).model_dump_json())
        return show(JuiceRun(folder, read_manifest(folder)))


def people(show: Callable[[Run], T]) -> T:
    """Two judges beside three people."""
    with TemporaryDirectory() as name:
        folder = write_manifest(Path(name), "people", task="people.1")
        simulate(folder, questions=20)
        data = read_people("ratings", folder / "people.csv")
        files = [TableJudge(file, folder / file, "") for file in ("good.csv", "poor.csv")]
        result = measure_judges(data, [read_table_judge(judge, data.rated) for judge in files])
        write_text(folder / PEOPLE, result.model_dump_json())
        return show(PeopleRun(folder, read_manifest(folder)))


def topics(show: Callable[[Run], T]) -> T:
    """Two topics, and a question whose answer could not be read."""
    failure = Failure(kind=FailureKind.PARSE, reason="no topic in 'Food <b>or</b> law'; expected a number alone")
    with TemporaryDirectory() as name:
        folder = write_manifest(Path(name), "topics", task="topics.x")
        with JsonlWriter(folder / TOPICS) as writer:
            for number, topic in enumerate(("Food", "Food", "Law")):
                writer.write(QuestionLabels(id=f"q{number}", labels={"topic": topic}))
            writer.write(QuestionLabels(id="q3", failure=failure))
        more = {"settings": {"topics": ["Food", "Law", "Festivals"]}, "failures": {"parse": 1}}
        return show(TopicsRun(folder, read_manifest(folder).model_copy(update=more)))
