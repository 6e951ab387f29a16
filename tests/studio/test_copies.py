"""Accounts that give the same rare answers, which neither skill nor easy items explain."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from mores.studio.copies import FEWEST, find_copies
from mores.studio.data.exports import make_files
from mores.studio.data.snapshot import read_snapshot
from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.store.people import invite
from mores.studio.workflow import Cast, Take
from tests.studio.play import Play
from tests.studio.test_organise import question
from tests.studio.test_provenance import Stage

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "copies.py"))
simulate = BENCHMARK["simulate"]


def find(rows: list[str]) -> list[tuple[int, int, int]]:
    """Compare people whose answers are letters, an item in each row."""
    given = [(item, who, ord(letter)) for item, row in enumerate(rows) for who, letter in enumerate(row)]
    columns = (np.array(column, int) for column in zip(*given, strict=True)) if given else [np.array([], int)] * 3
    return [(pair.person, pair.other, pair.same) for pair in find_copies(*columns)]


SLIPS = ["BAAAAA", "ACAAAA", "AADAAA", "AAABAA", "AAAACA", "AAAAAD", "BCAAAA", "AABDAA", "AAAABC", "BAADAA"] * 3
"""Six people who are wrong now and then, each in their own way."""


def test_the_same_rare_answers_are_found() -> None:
    both = ["AAAABB", "AAAACC", "AAAADD"] * 8
    assert find([*SLIPS, *both]) == [(4, 5, 24)]
    assert find([*SLIPS, *both[:6]]) == [], "most of their rare answers are not the same"
    assert find([*SLIPS, *both[: FEWEST - 1]]) == [], "too few to tell"


@pytest.mark.parametrize(
    "rows",
    [["AAAAA"] * 50, SLIPS, ["ABB"] * 30, ["AAABC", "AAACD", "AAADB"] * 10, ["ABCDEF"] * 30, []],
    ids=["easy", "slips", "three judges", "two poor ones", "nobody agrees", "nothing"],
)
def test_easy_items_and_poor_judges_are_nothing(rows: list[str]) -> None:
    assert find(rows) == []


@pytest.mark.slow
@pytest.mark.parametrize("popular", [5.0, 0.3])
def test_chance_points_out_hardly_anybody(popular: float) -> None:
    chance = np.random.default_rng(1)
    assert sum(bool(find_copies(*simulate(chance, 20, 150, popular))) for _ in range(30)) <= 2


@pytest.mark.parametrize(("make", "how"), [("simulate_strict", 2.0), ("simulate_insiders", 0.15)])
def test_two_people_who_are_strict_or_know_more_are_not_one(make: str, how: float) -> None:
    chance = np.random.default_rng(3)
    assert sum(bool(find_copies(*BENCHMARK[make](chance, 6, 60, how))) for _ in range(40)) <= 5


def test_a_second_account_is_found() -> None:
    chance = np.random.default_rng(2)
    found = [find_copies(*simulate(chance, 20, 150, 0.3, shared=60)) for _ in range(10)]
    assert sum((18, 19) in [(pair.person, pair.other) for pair in pairs] for pairs in found) >= 9


def test_organisers_see_them_settle_them_and_cards_say_them(database: Database) -> None:
    play = Play(database, "culturalteaming", verifiers=6, agreeing=4)
    stage = Stage.__new__(Stage)  # acts by the store
    stage.database, stage.campaign, stage.boss = database, play.campaign, play.organiser_id
    organiser = play.organiser()
    judges = [stage.person(Role.VERIFIER, f"Judge {number}") for number in range(6)]
    for number, row in enumerate([*SLIPS, *["AAAABB", "AAAACC", "AAAADD"] * 8]):
        item = question(play, f"What is {number}?")
        for person, answer in zip(judges, row, strict=True):
            stage.act(person, Take(), item)
            stage.act(person, Cast({"answer": [answer]}), item)
    page = organiser.open("/people").text
    [listed] = re.findall(r'<h2 id="alike">.*?</ul>', page, re.DOTALL)
    assert set(re.findall(r"Judge \d", listed)) == {"Judge 4", "Judge 5"}
    assert "the same rare answers" in listed
    assert "look at their answers before you decide" in page
    said = "1 account may belong to somebody who also has another one."
    assert said in card(play)
    [person] = re.findall(r"/people/(\w+)/alike", listed)
    [other] = re.findall(r'name="other" value="(\w+)"', listed)
    assert organiser.send(f"/people/{person}/alike", other=judges[0], settled="same").status_code == 409
    organiser.send(f"/people/{person}/alike", other=other, settled="same")
    assert 'class="tag">one person' in organiser.open("/people").text
    assert said not in card(play)
    assert "1 account of people who have several count" in card(play)


def test_who_joins_is_told_that_rare_answers_are_compared(database: Database) -> None:
    play = Play(database, "culturalteaming")
    token = invite(database, play.campaign, Role.VERIFIER, play.organiser_id)
    assert "which people gave the same rare answers" in play.browser().get(f"/join/{token}").text


def card(play: Play) -> str:
    return make_files(read_snapshot(play.database, play.campaign), "folder")["README.md"].decode()
