"""The marking campaign in a real browser: two people mark, a third checks on a phone, and the export is analysed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mores.cli import mores
from mores.io import read_records
from mores.metaevaluation.juice.records import Juice
from mores.studio.data.exports import write_export
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.people import invite, sign_in
from mores.studio.web.visit import COOKIE
from mores.types import Judgement
from tests.browser import Browser, Page, binary
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_browser_marks import drag, highlighted, marks, walk
from tests.studio.test_browser_msqa import join
from tests.studio.test_marking import add

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
TEXT = "يجتمع المصريون على الإفطار قبل غروب الشمس.\n\nوبعده يأكلون القطايف <b>الساخنة</b>."
WRONG = "قبل غروب الشمس"
HEAVIEST = 60_000
"""Bytes of everything that a page with a text to mark loads besides itself, as it is on the disk."""


def take(page: Page, home: str) -> None:
    page.open(home)
    follow(page, "[data-key=n]")
    page.wait("document.documentElement.dataset.marks === 'painted'")


def choose_type(page: Page, name: str) -> None:
    """Choose in the list of the card that has the focus."""
    page.evaluate(
        f"""(() => {{ const list = document.activeElement.closest('li').querySelector('select');
        list.value = {json.dumps(name)}; list.dispatchEvent(new Event('change', {{bubbles: true}})); }})()"""
    )


def test_from_an_invitation_to_the_analysis(database: Database, browser: Browser, tmp_path: Path) -> None:
    play = Play(database, "marking", taxonomy="juice", languages=["Arabic"], regions=["Egypt"])
    add(play, {"id": "ramadan", "text": TEXT, "instruction": "اكتب عن رمضان.", "language": "ar", "region": "EG"})
    home = f"/c/{play.campaign.id}"
    invitation = invite(database, play.campaign, Role.ANNOTATOR, play.organiser_id)
    cookies = [
        play.person(role, "Somebody", "Egypt", "Arabic").browser.cookies[COOKIE]
        for role in (Role.ANNOTATOR, Role.VERIFIER)
    ]
    with serving(play.app) as address:
        mouse, keys = visitor(browser, address), visitor(browser, address, cookies[0])
        finger = visitor(browser, address, cookies[1], width=390, height=800, touch=True)
        lead = visitor(browser, address, sign_in(database, play.organiser_id))
        join(mouse, f"{address}/join/{invitation}", "Mona", "Egypt", "Arabic")
        assert not [url for url in mouse.requests if "marks.js" in url], "only pages with marks load it"
        take(mouse, address + home)
        loaded = mouse.evaluate("performance.getEntriesByType('resource').map((e) => e.decodedBodySize || 0)")
        assert sum(loaded) < HEAVIEST, loaded
        drag(mouse, TEXT, WRONG)
        mouse.click(".mark-here")
        mouse.press("2")
        choose_type(mouse, "Cultural Inaccuracy")
        assert highlighted(mouse, "mark-major") == [WRONG]
        mouse.wait("document.querySelector('.saved').textContent === 'Draft saved'")
        take(mouse, address + home)
        assert [(mark["quote"], mark["severity"]) for mark in marks(mouse)] == [(WRONG, "major")], "the draft is there"
        follow(mouse, "[data-key=Enter]")

        take(keys, address + home)
        assert marks(keys) == [], "blind"
        follow(keys, "[data-key=Enter]")
        assert "say below that there is none" in keys.evaluate("document.querySelector('.problem').textContent")
        keys.wait("document.documentElement.dataset.marks === 'painted'")
        keys.evaluate("document.querySelector('.marked').focus()")
        keys.press("Home", ctrl=True)
        walk(keys, TEXT[: TEXT.index("غروب")])
        walk(keys, "غروب الشمس.", shift=True)
        keys.press("m")
        keys.press("2")
        choose_type(keys, "Cultural Incoherence")
        keys.click("[data-act=missing]")
        keys.press("1")
        choose_type(keys, "Cultural Missingness")
        follow(keys, "[data-key=Enter]")
        assert play.items()[0].stage == "validate", keys.evaluate("document.querySelector('main').innerText")

        take(finger, address + home)
        assert highlighted(finger, "mark-major") == [WRONG, "غروب الشمس."]
        assert finger.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert finger.evaluate("document.querySelectorAll('.thing b').length") == 0, "a hostile text is only text"
        fill(finger, verdict_0="valid", verdict_1="other", category_1="Cultural Inaccuracy", verdict_2="invalid")
        finger.evaluate("document.getElementsByName('verdict_1')[1].focus()")
        assert highlighted(finger, "mark-active") == ["غروب الشمس."], "the question says which mark it is about"
        follow(finger, "[data-key=Enter]")
        [item] = play.items()
        assert item.status is ItemStatus.ACCEPTED

        lead.open(f"{address}{home}/items/{item.id}/life")
        lead.wait("document.documentElement.dataset.marks === 'painted'")
        assert "found by 2" in lead.evaluate("document.querySelector('.thing').innerText")
        lead.open(f"{address}{home}/figures")
        assert "66.7% (2 of 3)" in lead.evaluate("document.querySelector('main').innerText"), "marks that are valid"
        problems = [problem for page in (mouse, keys, finger, lead) for problem in page.problems]
        assert [problem for problem in problems if "422" not in problem] == [], "only the empty answer was refused"
    check_analysis(play, tmp_path)


def check_analysis(play: Play, folder: Path) -> None:
    write_export(play.database, play.campaign, "folder", folder)
    judgements = list(read_records(folder / "judgements.jsonl", Judgement))
    assert [judgement.score for judgement in judgements] == [-5.0, -6.0]
    for judgement in judgements:
        for error in judgement.report.errors if judgement.report else ():
            assert error.start is None or TEXT[error.start : error.end] == error.quote
    run = CliRunner().invoke
    shown = run(mores, ["show", str(folder / "judgements.jsonl")])
    assert "2 judged; mean score −5.500" in shown.output
    data = ["--data", f"juice:{folder / 'juice.json'}", "--metric", str(folder / "agreed.jsonl")]
    done = run(mores, ["meta", *data, "--out", str(folder / "run"), "--json"])
    assert done.exit_code == 0, done.output
    assert Juice.model_validate_json(done.stdout).judges[0].scores["f1"].value == 1.0
