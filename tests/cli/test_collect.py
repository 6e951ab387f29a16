"""`mores collect`, through the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mores.io import read_records
from mores.longanswer.collection import Collected
from mores.longanswer.collection.numbers import Collection
from tests.cli.conftest import Run
from tests.engine.server import Server

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "Why is 15 March a holiday?", "language": "en", "votes": 3},
    {"id": "b", "question": "Why is 15 March a holiday?", "language": "en"},
    {"id": "c", "question": "Is water wet?", "language": "en"},
    {"id": "d", "question": "Miért ünnep március 15?", "language": "Hungarian", "answer": "A forradalom miatt."},
    {"id": "e", "question": "Melyik a legjobb étterem?", "language": "hu"},
    {"id": "f", "question": "Kérem, ne válaszoljon.", "language": "hu"},
]


def answer(prompt: str) -> str:
    if "categorizing" in prompt:
        return "<category>history</category>"
    if prompt.startswith("Your task is to translate"):
        return "Why is 15 March a holiday in Hungary?"
    asked = prompt.partition("<question> ")[2]
    if asked.startswith("Kérem"):
        return "As you wish."
    fails = asked.startswith("Is water" if "are to evaluate" in prompt else "Melyik")
    return f"<explanation>said of it</explanation><result>{'FAIL' if fails else 'PASS'}</result>"


@pytest.fixture
def questions(home: Path) -> Path:
    path = home / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def ids(path: Path) -> list[str]:
    return [question.id for question in read_records(path, Collected)]


@pytest.mark.usefixtures("questions")
def test_everything_is_kept_dropped_or_undecided_and_a_second_run_asks_nothing(mores: Run, home: Path) -> None:
    with Server(answer=answer) as server:
        arguments = ("collect", "questions.jsonl", "--model", "openai:m", "--base-url", server.url, "--json")
        first = mores(*arguments, OPENAI_API_KEY="x")
        assert first.returncode == 0, first.stderr
        calls = len(server.asked)
        second = mores(*arguments, OPENAI_API_KEY="x")
        assert (second.returncode, second.stdout) == (0, first.stdout)
        assert len(server.asked) == calls == 5 + 3 + 1 + 2
    out = home / "collection"
    assert [ids(out / f"{name}.jsonl") for name in ("kept", "dropped", "unscored")] == [["a", "d"], list("bce"), ["f"]]
    collection = Collection.model_validate_json(first.stdout)
    assert collection == Collection.model_validate_json((out / "collection.json").read_bytes())
    assert (collection.kept, collection.dropped, collection.unscored) == (2, 3, 1)
    kept = {question.id: question for question in read_records(out / "kept.jsonl", Collected)}
    assert (kept["a"].extra, kept["a"].category) == ({"votes": 3}, "history")
    assert kept["d"].translation == "Why is 15 March a holiday in Hungary?"
    assert (out / "collection.html").read_text().startswith("<!doctype html>")
    assert "wrote collection; its page is collection/collection.html" in first.stderr


def script(home: Path, *rows: tuple[str, str]) -> str:
    text = "".join(json.dumps({"contains": contains, "answer": answer}) + "\n" for contains, answer in rows)
    (home / "model.jsonl").write_text(text)
    return "fake:model.jsonl"


@pytest.mark.usefixtures("questions")
def test_the_tables(mores: Run, home: Path) -> None:
    model = script(home, ("categorizing", "<category>other</category>"), ("", "<result>PASS</result>"))
    done = mores("collect", "questions.jsonl", "--model", model, "--out", "here")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "duplicate 6 5 1 0" in lines
    assert "Hungarian 3 3 0 0 other" in lines
    assert "English 2 19.5 (9.2) 0 –" in lines
    assert "all 6 5 1 0 other" in lines
    assert (home / "here" / "kept.jsonl").exists()


@pytest.mark.usefixtures("questions", "quick_figures")
def test_figures_for_a_paper(mores: Run, home: Path) -> None:
    pytest.importorskip("matplotlib")
    with Server(answer=answer) as server:
        model = ("--model", "openai:m", "--base-url", server.url)
        done = mores("collect", "questions.jsonl", *model, "--figures", "paper", OPENAI_API_KEY="x")
    assert "into paper" in done.stderr
    assert {path.suffix for path in (home / "paper").iterdir()} >= {".svg", ".csv"}


@pytest.mark.usefixtures("questions")
def test_stages_are_left_out(mores: Run, home: Path) -> None:
    model = script(home, ("", "<result>PASS</result>"))
    skipped = [word for stage in ("quality", "topic", "duplicate") for word in ("--without", stage)]
    done = mores("collect", "questions.jsonl", "--model", model, *skipped, "--json")
    assert done.returncode == 0, done.stderr
    collection = Collection.model_validate_json(done.stdout)
    assert [stage.stage for stage in collection.stages] == ["specificity", "translation"]
    assert collection.signature["stages"] == "specificity+translation"
    assert collection.kept == 6


@pytest.mark.usefixtures("questions")
def test_a_model_that_makes_no_sense_decides_nothing(mores: Run) -> None:
    done = mores("collect", "questions.jsonl", "--model", "fake:broken")
    assert done.returncode == 1
    assert "no question could be decided; the reasons are in collection/unscored.jsonl" in done.stderr
    assert "specificity      5       0        0         5" in done.stdout


def test_bad_rows_stop_the_run_or_are_left_out(mores: Run, home: Path) -> None:
    (home / "q.csv").write_text("question,language\nWhy?,en\nWhy not?,xx-nowhere\n")
    model = script(home, ("categorizing", "<category>other</category>"), ("", "<result>PASS</result>"))
    done = mores("collect", "q.csv", "--model", model)
    assert done.returncode == 1
    assert (
        "q.csv has bad rows, so nothing was sent; correct them, or let bad rows be skipped:\n  q.csv:3: unknown"
        in done.stderr
    )
    done = mores("collect", "q.csv", "--model", model, "--skip-bad", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["candidates"] == 1


def test_standard_input(mores: Run, home: Path) -> None:
    model = script(home, ("categorizing", "<category>other</category>"), ("", "<result>PASS</result>"))
    done = mores("collect", "-", "--model", model, "--json", stdin=json.dumps(ROWS[0]))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == 1
    done = mores("collect", "-", "--model", model, stdin="{}")
    assert "-:1: no 'question'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nothing.jsonl"], 1, "nothing.jsonl: no such file"),
        (["questions.jsonl", "--without", "translation"], 2, "3 questions that are not English have none"),
        (["questions.jsonl", "--without", "speed"], 2, "'speed' is not one of"),
        (["empty.jsonl"], 1, "empty.jsonl: there is no question in it"),
    ],
)
@pytest.mark.usefixtures("questions")
def test_what_is_wrong_is_said_with_the_fix(
    mores: Run, home: Path, arguments: list[str], code: int, message: str
) -> None:
    (home / "empty.jsonl").write_text("")
    done = mores("collect", *arguments, "--model", "fake:clean")
    assert done.returncode == code
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("questions")
def test_a_dry_run_counts_what_would_be_sent_at_most(mores: Run) -> None:
    done = mores("collect", "questions.jsonl", "--model", "openai:m", "--dry-run", "--json", "--price", "1,2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["calls"] == 5 + 5 + 3 + 5
