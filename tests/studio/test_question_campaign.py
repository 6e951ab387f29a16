"""Long questions through the pages: test, pilot, writing, check, pay, a survey of websites, translations, export."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from mores.benchmark.calmqa import CALMQA
from mores.errors import InputError
from mores.longanswer.collection.candidates import read_candidates
from mores.studio.campaigns import open_kind
from mores.studio.campaigns.questions.forms import RULES, TEST
from mores.studio.data.imports import import_items, read_items_files
from mores.studio.records import ItemStatus, Person, Role
from mores.studio.store.database import Database
from tests.studio.play import Play, Player

QUESTION = {
    "question": "Kwa nini bibi harusi hupakwa hina kabla ya harusi?",
    "translation": "Why is a bride painted with henna before the wedding?",
} | {name: "yes" for name in RULES if name != "plain"}
GOOD = {"problems": ["none"], "same": "yes", "verdict": "accept", "note": ""}


def take_test(player: Player, wrong: int = 0) -> str:
    """Answer the test on the guidelines, the first items wrongly."""
    for number, item in enumerate(TEST):
        player.open("/practice")
        [(name, answer)] = item.answer.items()
        given = answer if number >= wrong else ["specific"] if name == "rules" else ["native"]
        page = player.send("/practice", number=number, **{name: given})
        assert page.status_code == 200, page.text
    return player.open("/practice").text


def write(author: Player, **values: str) -> str:
    author.open("/new")
    page = author.send("/items", **QUESTION | values, language="sw", then="submit")
    assert page.status_code == 200, page.text
    return author.item


def check(reviewer: Player, item: str, **values: object) -> None:
    assert reviewer.take() == item
    page = reviewer.send(f"/items/{item}/vote", **GOOD | values)
    assert "done=" in str(page.url), page.text


def exported(play: Play, folder: Path) -> Path:
    organiser = play.organiser()
    organiser.open("/overview")
    ZipFile(BytesIO(organiser.send("/export").content)).extractall(folder)
    return folder


@pytest.mark.slow
def test_from_the_test_over_the_pilot_to_a_dataset_and_pay(database: Database, tmp_path: Path) -> None:
    pay: dict[str, Any] = {"per_question": 0.65, "per_test": 7.0}
    play = Play(database, "questions", languages=["sw"], pilot=2, **pay)
    author, reviewer = play.person(Role.AUTHOR, "Amina"), play.person(Role.INSPECTOR, "Juma")
    author.open("/new")
    refused = author.send("/items", **QUESTION, language="sw", then="submit")
    assert "Please take the test first." in refused.text
    assert "One word answers it." in take_test(author, wrong=2), "everybody sees the answers afterwards"
    take_test(reviewer)
    item = write(author)
    check(reviewer, item, problems=["long"], verdict="return", note="One word answers it.")
    author.open(f"/items/{item}")
    assert "How does it keep the rules?" in author.page.text if author.page else False
    answer = author.send(f"/items/{item}/save", **QUESTION, clarification="It needs four.", then="submit")
    assert answer.status_code == 200
    check(reviewer, item)
    assert play.read(item).status is ItemStatus.ACCEPTED
    invalid = write(author, question="Chakula kipi ni kitamu?")
    check(reviewer, invalid, problems=["objective"], verdict="invalid", note="It asks for a taste.")
    author.open("/new")
    third = author.send("/items", **QUESTION, language="sw", then="submit")
    assert "Your first items are being looked at." in third.text, "the pilot has two questions"
    [file] = exported(play, tmp_path).glob("data/*.jsonl")
    bad: list[InputError] = []
    [read] = CALMQA.read(tmp_path / "data", bad.append)
    [candidate] = read_candidates(file, bad.append)
    assert not bad
    assert (read.prompt, read.language, read.metadata["kind"]) == (QUESTION["question"], "sw", "specific")
    assert (candidate.question, candidate.translation) == (read.prompt, QUESTION["translation"])
    rows = list(csv.DictReader(StringIO(play.organiser().open("/people/time.csv").text.lstrip("\ufeff"))))
    earned = {row["name"]: row["earned"] for row in rows}
    assert earned["Amina"] == "7.65 USD", "one question in good faith, and the test"
    assert earned["Juma"] == "7.00 USD"


def test_who_fails_the_test_cannot_write(database: Database) -> None:
    play = Play(database, "questions", languages=["sw"])
    author = play.person(Role.AUTHOR, "Amina")
    take_test(author, wrong=3)  # eight of eleven are less than 80%
    author.open("/new")
    assert "Please take the test first." in author.send("/items", **QUESTION, language="sw", then="submit").text


def test_the_check_must_fit_its_verdict(database: Database) -> None:
    play = Play(database, "questions", languages=["sw"], practice=[], pass_share=0)
    author, reviewer = play.person(Role.AUTHOR, "Amina"), play.person(Role.INSPECTOR, "Juma")
    item = write(author)
    assert reviewer.take() == item
    page = reviewer.send(f"/items/{item}/vote", **GOOD | {"problems": ["specific"]})
    assert (page.status_code, "it cannot be accepted" in page.text) == (422, True)
    page = reviewer.send(f"/items/{item}/vote", **GOOD | {"problems": ["specific", "none"]})
    assert "This answer cannot be combined with another." in page.text
    page = reviewer.send(f"/items/{item}/vote", **GOOD | {"verdict": "refuse"})
    assert "Say what is wrong." in page.text


def test_questions_are_taken_from_the_websites_of_the_campaign(database: Database) -> None:
    settings: dict[str, Any] = {
        "source": "websites",
        "websites": ["https://okwave.jp/"],
        "practice": [],
        "pass_share": 0,
    }
    play = Play(database, "questions", languages=["sw"], **settings)
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    values = QUESTION | {"plain": "yes", "answer": "Ni mila.", "language": "sw", "then": "submit"}
    page = author.send("/items", **values, link="https://example.org/q/1")
    assert "Take it from one of these websites: okwave.jp" in page.text
    page = author.send("/items", **values, link="https://sw.okwave.jp/q/1")
    assert page.status_code == 200
    assert play.read(author.item).stage == "check"


def test_a_survey_names_websites(database: Database, tmp_path: Path) -> None:
    play = Play(database, "questions", source="survey", languages=["sw"])
    assert play.campaign.settings.practice == (), "the test is about questions"
    author, reviewer = play.person(Role.AUTHOR, "Amina"), play.person(Role.INSPECTOR, "Juma")
    author.open("/new")
    website = {"website": "https://maswali.example.org/", "criteria": ["many", "topics"], "language": "sw"}
    page = author.send("/items", **website, examples=["Moja?", "Mbili?"], then="submit")
    assert "Give at least 3." in page.text
    page = author.send("/items", **website, examples=["Moja?", "Mbili?", "Tatu?"], then="submit")
    assert page.status_code == 200
    check(reviewer, author.item)
    [row] = csv.DictReader(StringIO((exported(play, tmp_path) / "websites.csv").read_text("utf-8-sig")))
    assert (row["website"], row["examples"]) == ("https://maswali.example.org/", "Moja? | Mbili? | Tatu?")


def test_agnostic_questions_are_translated_by_one_and_checked_by_another(database: Database, tmp_path: Path) -> None:
    play = Play(database, "questions", source="translation", reviewer="author", per_question=2)
    data = json.dumps({"id": "a1", "english": "Why is the sky blue?", "languages": "sw, Spanish"}).encode()
    rows = read_items_files(play.campaign, [("control.jsonl", data)])
    boss = Person(id=play.organiser_id, roles=frozenset({Role.ORGANISER}))
    import_items(database, play.campaign, boss, rows, data)
    assert [item.language for item in play.items()] == ["sw", "es"]
    amina, juma = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = amina.take()
    assert item is not None
    amina.send(f"/items/{item}/vote", question="Kwa nini anga ni buluu?")
    assert amina.take() is None, "nobody checks their own translation, and the other is in Spanish"
    assert juma.take() == item
    assert "Kwa nini anga ni buluu?" in juma.page.text if juma.page else False
    answer = {"problems": ["none"], "verdict": "accept", "note": "", "question": "Kwa nini anga ni ya buluu?"}
    juma.send(f"/items/{item}/vote", **answer)
    assert play.read(item).status is ItemStatus.ACCEPTED
    exported(play, tmp_path)
    [read] = CALMQA.read(tmp_path / "data", lambda error: pytest.fail(str(error)))
    assert (read.prompt, read.metadata["kind"]) == ("Kwa nini anga ni ya buluu?", "agnostic")
    assert read.metadata["english"] == "Why is the sky blue?"
    figures = open_kind("questions").summarise(play.campaign.settings, play.items())
    assert figures["Pay by the piece"] == "2.00 USD for 1"


def test_a_table_without_english_questions_is_refused(database: Database) -> None:
    play = Play(database, "questions", source="translation", languages=["sw"])
    with pytest.raises(InputError, match=r"control\.csv:2: no English question; expected a column 'english'"):
        read_items_files(play.campaign, [("control.csv", b"text\nWhy?\n")])
