"""Marks that go to Label Studio, pearmut and MQM TSV, and come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mores.errors import InputError
from mores.studio.data.exports import make_files
from mores.studio.data.imports import guess_format, import_items, read_items_files
from mores.studio.data.snapshot import read_snapshot
from mores.studio.records import CampaignItem, Person, Role
from mores.studio.store.database import Database, open_database
from tests.studio.play import Play
from tests.studio.test_marking import absent, add, answer, mark

EMOJI = "On 🎄 they wear a 👘 kimono.\nThen 🍵 tea, last."
SETTINGS: dict[str, Any] = {"languages": ["Swahili"], "taxonomy": "own", "types": ["custom", "dress"]}


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "marking", **SETTINGS)


def played(play: Play) -> dict[str, bytes]:
    """A campaign with two people's marks in a text with emoji, and one in which nothing is wrong; its files."""
    add(play, {"id": "emoji", "text": EMOJI, "instruction": "Winter, please."}, {"id": "fine", "text": "Fine."})
    first = mark("👘 kimono", "major", "dress", EMOJI, explanation="In Oslo?", correction="a coat")
    marks = {"Amina": [first, mark("wear a 👘", "minor", "dress", EMOJI), absent()], "Juma": [mark("tea", text=EMOJI)]}
    for name, given in marks.items():
        player = play.person(Role.ANNOTATOR, name)
        while (item := player.take()) is not None:
            wrong = play.read(item).content["id"] == "emoji"
            player.send(f"/items/{item}/vote", **answer(*(given if wrong else [])))
    snapshot = read_snapshot(play.database, play.campaign)
    return {
        form + "/" + path: data
        for form in ("label-studio", "pearmut", "folder")
        for path, data in make_files(snapshot, form).items()
    }


def said(items: list[CampaignItem]) -> list[list[Any]]:
    """What people answered, by text."""
    return [[vote.answer for vote in item.votes_at("mark")] for item in items]


@pytest.mark.parametrize("path", ["label-studio/tasks.json", "pearmut/annotations.jsonl", "folder/mqm.tsv"])
def test_marks_come_back_from_other_tools(path: str, play: Play, tmp_path: Path) -> None:
    data = played(play)[path]
    if path.startswith("pearmut"):  # without what we keep there for ourselves
        lines = [json.loads(line) for line in data.decode().splitlines()]
        for line in lines:
            for given in line["annotation"]:
                del given["item"]["mores"]
        data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    database = open_database(tmp_path / "other.db")
    other = Play(database, "marking", **SETTINGS)
    rows = read_items_files(other.campaign, [(path.split("/")[-1], data)])
    boss = Person(id=other.organiser_id, roles=frozenset({Role.ORGANISER}))
    done = import_items(database, other.campaign, boss, rows, data)
    assert (done.items, done.answers) == (2, 4)
    before, after = said(play.items()), said(other.items())
    if path.startswith("pearmut"):  # it has no place for these
        lost = {"explanation": "", "correction": ""}
        for texts in before:
            for given in texts:
                given["marks"] = [each | lost for each in given["marks"] if each["start"] is not None]
    assert after == before
    assert [item.content["text"] for item in other.items()] == [EMOJI, "Fine."]
    database.close()


@pytest.mark.slow
def test_label_studio_gets_regions_with_their_answers_and_an_interface_that_names_them(play: Play) -> None:
    files = played(play)
    [first, _] = json.loads(files["label-studio/tasks.json"])
    results = first["annotations"][0]["result"]
    regions = [result for result in results if result["type"] == "labels"]
    assert [(each["value"]["text"], each["value"]["labels"]) for each in regions] == [
        ("wear a 👘", ["minor"]),
        ("👘 kimono", ["major"]),
    ]
    for each in regions:
        assert EMOJI[each["value"]["start"] : each["value"]["end"]] == each["value"]["text"]
        about = {result["from_name"] for result in results if result["id"] == each["id"]}
        assert "marks_text_type" in about
    names = {node.get("name") for node in ElementTree.fromstring(files["label-studio/config.xml"]).iter()}
    assert {result["from_name"] for result in results} <= names


def test_a_label_studio_project_of_others_is_read_where_its_labels_are_severities(play: Play) -> None:
    start = EMOJI.index("tea")
    units = len(EMOJI[:start].encode("utf-16-le")) // 2
    value = {"start": units, "end": units + 3, "text": "tea", "labels": ["Minor"]}
    result = {"id": "x", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    task = {"data": {"text": EMOJI}, "annotations": [{"completed_by": 4, "result": [result]}]}
    free = Play(play.database, "marking", languages=["Swahili"])
    [row] = read_items_files(free.campaign, [("tasks.json", json.dumps([task]).encode())])
    [given] = row.answers
    [read] = given.answer["marks"]
    assert (read["start"], read["quote"], read["severity"], read["type"]) == (start, "tea", "minor", "unspecified")
    value["labels"] = ["Terrible"]
    with pytest.raises(InputError, match=r"task 1: Label Studio 4: .*Severity: Please choose"):
        read_items_files(free.campaign, [("tasks.json", json.dumps([task]).encode())])


def test_pearmuts_texts_by_model_are_one_item_each(play: Play) -> None:
    span = {"start_i": 0, "end_i": 3, "severity": "major", "category": None}
    item = {"item_id": "one", "src": "Guten Tag", "tgt": {"A": "Good day", "B": "Bad day"}}
    given = {"A": {"score": 8, "error_spans": [span]}, "B": {"score": 9, "error_spans": []}}
    line = {"annotation": [given], "actions": [], "item": [item], "user_id": "fox", "item_i": 0}
    free = Play(play.database, "marking", languages=["Swahili"])
    rows = read_items_files(free.campaign, [("log.jsonl", f"{json.dumps(line)}\n".encode())])
    assert [(row.content["id"], row.content["text"], row.content["source"]) for row in rows] == [
        ("one/A", "Good day", "A"),
        ("one/B", "Bad day", "B"),
    ]
    assert [row.answers[0].answer["none"] for row in rows] == [False, True]


def test_an_mqm_file_is_known_by_its_header_and_says_which_line_is_wrong(play: Play) -> None:
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    line = "A\td\t1\t1\trater1\tTee\t<v>Tea</v> last\tdress\tMajor"
    assert guess_format("ratings.tsv", header) == "mqm"
    [row] = read_items_files(play.campaign, [("ratings.tsv", f"{header}\n{line}\n".encode())])
    assert (row.content["text"], row.content["source"], row.answers[0].person) == ("Tea last", "A", "MQM rater1")
    assert row.answers[0].answer["marks"][0]["quote"] == "Tea"
    with pytest.raises(InputError, match=r"ratings\.tsv:2: unknown severity"):
        read_items_files(play.campaign, [("ratings.tsv", f"{header}\n{line.replace('Major', 'Awful')}\n".encode())])
