"""CulturALL's cross-check (Section 2.4.3): a random sample of the final items, judged once more by someone else."""

from __future__ import annotations

import pytest

from mores.studio.campaigns.culturall.results import CulturallTally, summarise
from mores.studio.kind import count_items
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.items import read_items, rebuild
from tests.studio.play import Play, Player
from tests.studio.test_culturall import ITEM, YES, play_with, write

ACCEPT = YES | {"translation": "nothing", "verdict": "accept"}


@pytest.fixture
def play(database: Database) -> Play:
    return play_with(database, {})


def accepted(author: Player, peer: Player, count: int) -> list[str]:
    """So many items that an author wrote and a peer accepted."""
    items = []
    for number in range(count):
        items.append(write(author, language="sw", question=f"{ITEM['question']} ({number})"))
        peer.take()
        assert peer.page is not None
        peer.send(f"/items/{peer.item}/vote", **peer.filled() | ACCEPT)
    return items


def draw(play: Play, count: int) -> None:
    organiser = play.organiser()
    organiser.open("/figures")
    assert organiser.send("/sample", count=str(count)).status_code == 200


def test_a_sample_is_checked_by_someone_who_neither_wrote_nor_reviewed_it(play: Play) -> None:
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    third = play.person(Role.AUTHOR, "Wanjiku")
    items = accepted(author, peer, 4)
    draw(play, 2)
    drawn = {item for item in items if play.read(item).status is ItemStatus.OPEN}
    assert len(drawn) == 2
    assert {play.read(item).stage for item in drawn} == {"cross_check"}
    assert all(play.read(item).results["review"]["verdict"] == "accept" for item in drawn), "the review is kept"
    assert author.take() is None
    assert peer.take() is None
    checked = third.take()
    assert checked in drawn
    assert third.send(f"/items/{checked}/vote", **YES | {"safe": "no"}).status_code == 422, "with a reason"
    third.send(f"/items/{checked}/vote", **YES, note="")
    assert play.read(str(checked)).status is ItemStatus.ACCEPTED
    other = third.take()
    third.send(f"/items/{other}/vote", **YES | {"safe": "no"}, note="It names a real person.")
    after = play.read(str(other))
    assert (after.status, after.note) == (ItemStatus.REJECTED, "It names a real person.")
    every = list(read_items(play.database, play.campaign))
    figures = summarise(play.campaign.settings, every)
    rate = "50.0% (1 of 2; 95% interval 1.3% to 98.7%) · paper: 100.0%"  # Clopper and Pearson: 1 − 0.975^½, 0.975^½
    assert figures["Meet all criteria, of the cross-checked"] == rate
    paragraph = count_items(CulturallTally(play.campaign.settings), every).method()
    assert "2 were drawn at random and cross-checked by another person; 50.0% met" in paragraph
    rebuild(play.database, [play.campaign])
    assert list(read_items(play.database, play.campaign)) == every


@pytest.mark.slow
def test_a_second_draw_goes_on_and_nothing_is_drawn_twice(play: Play) -> None:
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    items = accepted(author, peer, 3)
    draw(play, 1)
    first = {item for item in items if play.read(item).status is ItemStatus.OPEN}
    third = play.person(Role.AUTHOR, "Wanjiku")
    item = third.take()
    assert {item} == first
    third.send(f"/items/{item}/vote", **YES, note="")
    draw(play, 100)
    second = {item for item in items if play.read(item).status is ItemStatus.OPEN}
    assert second == set(items) - first
    draw(play, 100)
    assert {item for item in items if play.read(item).status is ItemStatus.OPEN} == second
    assert "left to draw from: 0" in play.organiser().open("/figures").text


def test_without_a_cross_check_nothing_is_drawn(database: Database) -> None:
    play = play_with(database, {}, cross_check=0)
    assert "Cross-check" not in play.organiser().open("/figures").text
    organiser = play.organiser()
    organiser.open("/figures")
    assert organiser.send("/sample", count="1").status_code == 404
