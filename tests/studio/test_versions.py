"""Earlier versions of an item: an author brings one back with one click, nobody else can, and exports have them all."""

from __future__ import annotations

import csv
import io
import json

import pytest

from mores.studio.data.exports import make_files
from mores.studio.data.snapshot import read_snapshot
from mores.studio.records import EventKind, ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.items import read_events, rebuild
from tests.studio.play import Play, Player

FIRST = {"scene": "Tea comes first.", "question": "What comes first?", "options": ["Tea", "Rice", "A song", "Bread"]}


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya"], verifiers=1, agreeing=1)


def save(author: Player, item: str, then: str = "save", **changed: object) -> None:
    author.open(f"/items/{item}")
    answer = author.send(f"/items/{item}/save", **FIRST | {"correct": ["A"]} | changed, then=then)
    assert answer.status_code == 200, answer.text


def begin(play: Play) -> tuple[Player, str]:
    """An author with an item of three versions."""
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", **FIRST, correct=["A"], then="save")
    item = author.item
    save(author, item, question="What is served first?")
    save(author, item, question="What does a guest get?", correct=["A", "B"])
    return author, item


def test_an_author_brings_back_a_version_with_one_click(play: Play) -> None:
    author, item = begin(play)
    page = author.open(f"/items/{item}").text
    assert page.count("Bring back this version") == 2
    assert author.send(f"/items/{item}/restore", version="1").url.path.endswith(f"/items/{item}")
    back = play.read(item)
    assert (back.version, back.content["question"], back.content["correct"]) == (4, "What comes first?", ["A"])
    last = read_events(play.database, play.campaign, item)[-1]
    assert (last.kind, last.person) == (EventKind.EDITED, back.author)
    author.open(f"/items/{item}")
    author.send(f"/items/{item}/restore", version="3")
    assert play.read(item).content["question"] == "What does a guest get?", "and nothing was lost"
    rebuild(play.database, [play.campaign])
    assert play.read(item).version == 5


def test_what_was_being_typed_is_a_version_too(play: Play) -> None:
    author, item = begin(play)
    author.open(f"/items/{item}")
    token = {"x-csrf-token": author.hidden()["csrf"]}
    typed = FIRST | {"question": "What was I typing?"}
    path = f"/c/{play.campaign.id}/drafts/{item}"
    assert author.browser.put(path, data=typed, headers=token).status_code == 200
    author.send(f"/items/{item}/restore", version="1")
    questions = [
        event.payload["content"]["question"]
        for event in read_events(play.database, play.campaign, item)
        if event.kind is EventKind.EDITED
    ]
    assert questions[-2:] == ["What was I typing?", "What comes first?"]
    assert "What was I typing?" not in author.filled().values()


def test_nobody_else_brings_back_a_version(play: Play) -> None:
    author, item = begin(play)
    before = play.read(item)
    for other in (play.person(Role.AUTHOR, "Juma"), play.person(Role.VERIFIER, "Wanjiku")):
        other.open()
        assert other.send(f"/items/{item}/restore", version="1").status_code == 404
    organiser = play.organiser()
    organiser.open("/overview")
    assert organiser.send(f"/items/{item}/restore", version="1").status_code == 409
    author.open(f"/items/{item}")
    for version in ("0", "9", "x", ""):
        assert author.send(f"/items/{item}/restore", version=version).status_code == 409
    assert play.read(item) == before


def test_an_item_that_others_have_stays_as_it_is(play: Play) -> None:
    author, item = begin(play)
    save(author, item, then="submit")
    save(author, item, then="submit")
    assert play.read(item).stage == "verify"
    author.open("")
    assert author.send(f"/items/{item}/restore", version="1").status_code == 409


@pytest.mark.slow
def test_exports_have_every_version_also_those_that_were_never_played(play: Play) -> None:
    author, item = begin(play)
    save(author, item, then="submit", question="What does a guest get?", correct=["A", "B"])
    save(author, item, then="submit", question="What does a guest get?", correct=["A"])
    verifier = play.person(Role.VERIFIER, "Wanjiku")
    assert verifier.take() == item
    verifier.send(f"/items/{item}/vote", answer=["A"])
    assert play.read(item).status is ItemStatus.ACCEPTED
    snapshot = read_snapshot(play.database, play.campaign)
    folder = make_files(snapshot, "folder")
    rows = [json.loads(line) for line in folder["versions.jsonl"].splitlines()]
    assert [row["version"] for row in rows] == [1, 2, 3, 4]
    assert [row["content"]["question"] for row in rows[:3]] == [
        "What comes first?",
        "What is served first?",
        "What does a guest get?",
    ]
    assert {row["person"] for row in rows} == {"p1"}
    table = make_files(snapshot, "csv")["versions.csv"].decode()
    assert [row["content.question"] for row in csv.DictReader(io.StringIO(table))][1] == "What is served first?"
