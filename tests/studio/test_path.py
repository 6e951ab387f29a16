"""The whole way of one item through the pages: invitation, writing, five verifiers, export, run."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from tests.studio.play import Play


@pytest.mark.slow
def test_from_an_invitation_to_an_exported_question(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"])
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    question = {
        "question": "In Kenya, what do guests get first?",
        "options": ["Tea", "Rice", "A song", "Nothing"],
        "correct": "A",
    }
    author.send("/items", scene="Guests get tea first.", **question, then="submit")
    item = author.item
    author.send(f"/items/{item}/save", **question, then="submit")
    assert play.read(item).stage == "verify"
    for number in range(5):
        verifier = play.person(Role.VERIFIER, f"Verifier {number}")
        assert verifier.take() == item
        verifier.send(f"/items/{item}/vote", answer=["A"], seconds="12")
    assert play.read(item).status is ItemStatus.ACCEPTED
    organiser = play.organiser()
    organiser.open("/overview")
    archive = ZipFile(BytesIO(organiser.send("/export").content))
    assert b'guests get first?",Tea,Rice,A song,Nothing,A,Kenya' in archive.read("data/CulturalBench-Easy.csv")
