"""A user's own pairs: read from files as people have them, and judged in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.metaevaluation.api import open_dataset
from mores.metaevaluation.folder import MetaRun
from mores.types import Judgement

ROWS = [
    {"id": f"{number}-{correct}", "instruction": f"What is eaten on day {number}?", "text": f"Dish {number}.",
     "correct": correct, "evidence": ["A passage."]}
    for number in range(40)
    for correct in (True, False)
]  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_judge_is_measured_on_a_file_of_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = write(tmp_path / "mine.jsonl", ROWS)
    judged = [
        Judgement(sample_id=row["id"], judge="ana", score=0.9 if row["correct"] else -5.0).model_dump(mode="json")
        for row in ROWS
    ]
    people = write(tmp_path / "ana.jsonl", judged)
    run = mores.meta(pairs, ["excam:fake:clean", str(people)], store=None)
    assert isinstance(run, MetaRun)
    assert run.path == Path("mine.jsonl.meta")
    lines = {advice.metric: advice.line for advice in run.result.advice}
    assert lines["excam:fake:clean"].startswith("excam:fake:clean: not better than guessing here")
    assert "useful here: scaled accuracy 1.00" in lines[str(people)]
    # Learned baselines have nothing to learn from, which goes without saying; nobody said where the errors are.
    assert [evaluation.metric for evaluation in run.result.evaluations][2:] == ["always", "never"]
    assert run.result.notes == ()
    assert all("span_f1" not in evaluation.scores for evaluation in run.result.evaluations)


def test_results_by_a_column_of_the_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [row | {"Writer": ("Ann", "Bo")[place % 4 < 2], "Country": "Japan"} for place, row in enumerate(ROWS)]
    pairs = write(tmp_path / "mine.jsonl", rows)
    judged = [  # knows all texts of one writer, and finds nothing wrong in those of the other
        Judgement(sample_id=row["id"], judge="ana", score=0.9 if row["correct"] or row["Writer"] == "Bo" else -5.0)
        for row in rows
    ]
    people = write(tmp_path / "ana.jsonl", [each.model_dump(mode="json") for each in judged])
    for by, column in (("writer", "Writer"), ("country", "region")):
        run = mores.meta(pairs, [str(people)], baselines="never", by=by, store=None, out=tmp_path / by)
        assert isinstance(run, MetaRun)
        [evaluation, _] = run.result.evaluations
        accuracy = {group: of["scaled_accuracy"].value for group, of in evaluation.by[column].items()}
        assert accuracy == ({"Ann": 1.0, "Bo": 0.0} if by == "writer" else {"JP": 0.5})
        assert column in {each.grouping for each in run.result.group_comparisons}
    some = write(tmp_path / "some.jsonl", [{**row, "Writer": None} if row["Writer"] == "Bo" else row for row in rows])
    run = mores.meta(some, [str(people)], baselines="never", by="writer", store=None, out=tmp_path / "some")
    assert isinstance(run, MetaRun)
    assert set(run.result.counts["Writer"]) == {"Ann", ""}
    with pytest.raises(ConfigError, match="no column 'wrter' to group by; did you mean 'Writer'"):
        mores.meta(pairs, [str(people)], baselines="never", by="wrter", store=None, out=tmp_path / "no")


def test_texts_for_the_same_instruction_depend_on_each_other(tmp_path: Path) -> None:
    golds = open_dataset(write(tmp_path / "mine.jsonl", [*ROWS[:4], {"text": "a", "correct": True}])).golds
    assert [gold.group for gold in golds] == [*[ROWS[0]["instruction"]] * 2, *[ROWS[2]["instruction"]] * 2, "mine:5"]
    assert [bool(gold.report.errors) for gold in golds] == [False, True, False, True, False]
    assert golds[0].sample.evidence[0].text == "A passage."


@pytest.mark.parametrize(
    ("word", "expected"), [("true", True), ("Yes", True), (" 1", True), ("FALSE", False), ("no", False), ("0", False)]
)
def test_spreadsheets_have_words(tmp_path: Path, word: str, expected: bool) -> None:
    (tmp_path / "mine.csv").write_text(f"instruction,text,correct\nWhat?,Tea.,{word}\n", "utf-8")
    [gold] = open_dataset(tmp_path / "mine.csv").golds
    assert gold.report.errors == () or not expected


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"text": "a"}], r"mine.jsonl:1: no field 'correct'; expected true or false"),
        ([ROWS[0], {"text": "a", "correct": "maybe"}], r"mine.jsonl:2: 'correct' is 'maybe'; expected true or false"),
        ([ROWS[0], ROWS[0]], r"mine.jsonl:2: duplicate id '0-True'"),
        ([{"correct": True}], "no field 'text'"),
        ([], "mine.jsonl: it has no pairs"),
    ],
)
def test_files_that_are_not_pairs_say_so(tmp_path: Path, rows: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        _ = open_dataset(write(tmp_path / "mine.jsonl", rows)).golds


def test_a_file_of_pairs_has_no_splits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no splits"):
        open_dataset(write(tmp_path / "mine.jsonl", ROWS), "train")
    assert open_dataset(write(tmp_path / "mine.jsonl", ROWS), limit=10).golds
    assert len(open_dataset(tmp_path / "mine.jsonl", limit=10).golds) == 10
