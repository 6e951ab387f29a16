"""Line ends of texts: those of a file stay as they are, and what people type has those of the HTML standard."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from mores.studio.campaigns.culturall.forms import CRITERIA
from mores.studio.manage import import_files
from mores.studio.records import Role
from mores.studio.store.database import Database
from tests.cli.conftest import run_in_process
from tests.studio import rating_life, test_culturall, test_msqa_path, test_question_campaign, test_validation
from tests.studio.play import Play, Player

ENDS = "One.\r\nTwo is last.\r\n\r\nThree\rfour.\nFive."
PLACE = {"region": "KE", "language": "sw"}
MARK = {"part": "text", "start": ENDS.index("last"), "end": ENDS.index("four"), "quote": "last. \n \nThree\n"}
"""A mark over several line ends, as a browser has them."""


def lines(*names: str) -> dict[str, str]:
    return {name: f"{name}: {ENDS}" for name in names}


ANSWERS = {f"answer_{model}": f" {model}: {ENDS}\r\n" for model in ("good", "bad")}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "marking": ({}, {"id": "t", "instruction": f"Say: {ENDS}", "text": ENDS}),
    "validation": (
        {},
        test_validation.ROW
        | lines("original_instruction", "instruction", "explanation")
        | {"original": ENDS.replace("last", "first"), "text": ENDS, "explanations": ""},
    ),
    "rating": ({}, lines("question", "reference") | ANSWERS),
    "culturalteaming": (
        {},
        lines("question") | {f"options_{n}": f"{n}. {ENDS}" for n in range(1, 5)} | {"correct": "A"},
    ),
    "culturall": (
        {},
        {name: value for name, value in test_culturall.ITEM.items() if isinstance(value, str)}
        | {f"checklist_{n}": name for n, name in enumerate(test_culturall.ITEM["checklist"], 1)}
        | lines("scenario", "question", "answer", "explanation")
        | {"leave": "yes"},
    ),
    "msqa": ({}, test_msqa_path.FORM | lines("question", "source_desc")),
    "questions": ({}, test_question_campaign.QUESTION | lines("question", "translation")),
    "translations": ({"source": "translation"}, {"id": "q", **lines("english")}),
}


def bring(play: Play, row: Mapping[str, Any], form: str) -> None:
    """Import a row as an organiser does, in a file that ends its own lines in the same way."""
    sent = f"{json.dumps(row)}\r\n"
    if form == "csv":
        file = io.StringIO(newline="")
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
        sent = file.getvalue()
    page = rating_life.bring(play, name=f"rows.{form}", text=sent)
    assert "1 item" in page, re.findall(r'role="alert">(.*?)</', page, re.DOTALL)


def begin(database: Database, case: str, **settings: Any) -> Play:
    kind = "questions" if case == "translations" else case
    return Play(database, kind, **{"languages": ["sw"], "regions": ["Kenya"]} | CASES[case][0] | settings)


def texts(value: Any) -> set[str]:
    """All texts in a value with a line end as on Windows."""
    if isinstance(value, dict):
        return set().union(*map(texts, value.values()))
    if isinstance(value, list):
        return set().union(*map(texts, value))
    return {value} if isinstance(value, str) and "\r\n" in value else set()


@pytest.mark.often(
    "marking-csv", "rating-jsonl", "rating-csv", "culturall-jsonl", "msqa-csv", "questions-csv", "translations-csv"
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("case", CASES)
def test_imported_texts_are_exported_as_they_were(database: Database, case: str, form: str) -> None:
    play, row = begin(database, case), CASES[case][1] | PLACE
    bring(play, row, form)
    exported = download(play, "jsonl")["items.jsonl"]
    assert texts(json.loads(exported)["content"]) == texts(row)
    again = begin(database, case)
    bring(again, json.loads(exported), "jsonl")
    assert [item.content for item in again.items()] == [item.content for item in play.items()]


def download(play: Play, form: str = "folder") -> dict[str, str]:
    organiser = play.organiser()
    organiser.open("/overview")
    with ZipFile(io.BytesIO(organiser.send("/export", format=form).content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def judge(play: Play, *steps: dict[str, Any]) -> Player:
    """Let somebody judge the only item."""
    person = play.person(Role.ANNOTATOR, "Juma")
    item = person.take()
    for number, step in enumerate(steps, 1):
        person.open(f"/items/{item}")
        done = person.send(f"/items/{item}/vote", step=str(number), **step)
        assert done.status_code == 200, done.text
    return person


def check_files(folder: Path, files: Mapping[str, str], sample: Mapping[str, Any]) -> None:
    """Show judgements beside the text as it was before it was imported; their quotes are at their places."""
    judgement = json.loads(files["judgements.jsonl"])
    [error] = judgement["report"]["errors"]
    assert sample["text"][error["start"] : error["end"]] == error["quote"]
    (folder / "texts.jsonl").write_text(json.dumps({**sample, "id": judgement["sample_id"]}) + "\n")
    (folder / "judgements.jsonl").write_bytes(files["judgements.jsonl"].encode())
    done = run_in_process(folder, ("show", "texts.jsonl", "judgements.jsonl"))
    assert done.returncode == 0, done.stderr


DETAILS = {"severity": "major", "type": "x", "explanation": "", "correction": ""}


@pytest.mark.slow
def test_marks_are_of_the_text_that_was_imported(database: Database, tmp_path: Path) -> None:
    play = begin(database, "marking", markers=1, validated=False)
    bring(play, CASES["marking"][1] | PLACE, "csv")
    person = judge(play, {"marks": json.dumps([MARK | DETAILS])})
    assert person.page is not None
    files = download(play)
    assert json.loads(files["texts.jsonl"])["text"] == ENDS
    assert json.loads(files["juice.json"])["t"]["response_text"] == ENDS
    check_files(tmp_path, files, {"text": ENDS})


def test_validated_errors_are_of_the_text_that_was_imported(database: Database, tmp_path: Path) -> None:
    play = begin(database, "validation", people_elsewhere=2)
    error = {"side": "text", "start": MARK["start"], "end": MARK["end"]}
    bring(play, CASES["validation"][1] | PLACE | {"errors": [error]}, "jsonl")
    first = test_validation.STEP_1 | {"marks": json.dumps([MARK])}
    judge(play, first, test_validation.STEP_2)
    files = download(play)
    assert json.loads(files["samples.jsonl"])["text"] == ENDS
    check_files(tmp_path, files, {"text": ENDS})
    [gold] = json.loads(files["gold.jsonl"])["report"]["errors"]
    assert gold["quote"] == ENDS[gold["start"] : gold["end"]]


def test_ratings_are_of_the_answer_that_was_imported(database: Database, tmp_path: Path) -> None:
    play = begin(database, "rating", raters=1)
    answers = {"good": ENDS, "bad": ENDS.replace("last", "lost")}
    bring(play, {"question": "Why?", **PLACE, "answers": answers}, "jsonl")
    [item] = play.items()
    letter = rating_life.letters(item)["good"]
    marked = {f"spans_{letter}": json.dumps([MARK | {"severity": "major", "explanation": ""}])}
    first = rating_life.opinion(item, {"good": 5, "bad": 2}, **marked)
    judge(play, first, rating_life.places(item, "good", "bad") | {"reason": "It is better."})
    files = download(play)
    rows = list(csv.DictReader(io.StringIO(files["ratings.csv"], newline="")))
    assert {row["model"]: row["answer"] for row in rows} == answers
    (tmp_path / "ratings.csv").write_bytes(files["ratings.csv"].encode())
    of_a_metric = [
        {"sample_id": model, "instruction": "Why?", "text": text, "judge": "metric", "score": score}
        for (model, text), score in zip(answers.items(), (0, -5), strict=True)
    ]
    (tmp_path / "metric.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in of_a_metric))
    command = ("meta", "--data", "ratings:ratings.csv", "--metric", "metric.jsonl", "--out", "out")
    done = run_in_process(tmp_path, command)
    assert done.returncode == 0, done.stderr
    marks = [line for line in files["judgements.jsonl"].splitlines() if json.loads(line)["report"]["errors"]]
    check_files(tmp_path, {"judgements.jsonl": marks[0]}, {"text": ENDS, "instruction": "Why?"})


def test_a_reviewer_who_leaves_a_text_as_it_is_keeps_its_line_ends(database: Database) -> None:
    play = begin(database, "culturall")
    row = CASES["culturall"][1] | PLACE
    bring(play, row, "csv")
    reviewer = play.person(Role.AUTHOR, "Juma")
    item = reviewer.take()
    assert item is not None
    sent = {name: re.sub("\r\n|\r|\n", "\r\n", text) for name, text in reviewer.filled().items()}  # as browsers do
    typed = {"explanation": "Seven.\r\nEight.", "verdict": "revise", "note": "Better."}
    found = dict.fromkeys(CRITERIA, "yes") | {"translation": "nothing", "requirements": "no"}
    done = reviewer.send(f"/items/{item}/vote", **sent | found | typed)
    assert "done=" in str(done.url), done.text
    content = play.read(item).content
    assert {name: content[name] for name in ("scenario", "question", "answer")} == lines(
        "scenario", "question", "answer"
    )
    assert content["explanation"] == "Seven.\nEight.", "typed"
    assert play.read(item).results["review"]["changed"] == ["explanation"]


def test_an_author_who_sends_an_imported_text_back_as_it_is_changes_nothing(database: Database, tmp_path: Path) -> None:
    play = begin(database, "culturall")
    author = play.person(Role.AUTHOR, "Amina")
    row = {name: value for name, value in (CASES["culturall"][1] | PLACE).items() if name != "leave"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    done = import_files(
        tmp_path / "studio.db", play.campaign.id, [tmp_path / "rows.jsonl"], "", "create", to_authors=True
    )
    assert done.items == 1
    [before] = play.items()
    author.open(f"/items/{before.id}")
    sent = {name: re.sub("\r\n|\r|\n", "\r\n", text) for name, text in author.filled().items()}
    assert sent["scenario"].count("\r\n") == ENDS.count("\r") + ENDS.count("\n") - ENDS.count("\r\n")
    saved = author.send(f"/items/{before.id}/save", **sent, checklist=before.content["checklist"], then="save")
    assert saved.status_code == 200
    assert play.read(before.id) == before
