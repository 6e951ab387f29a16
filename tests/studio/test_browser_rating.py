"""The rating campaign in a real browser: two people, from an invitation to `mores rate` on the export."""

from __future__ import annotations

import base64
import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from mores.cli import mores
from mores.rating.ratings import read_ratings
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.people import invite, sign_in
from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page, binary
from tests.studio.play import Play
from tests.studio.rating_life import ANSWERS, ROW, bring, letters
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_browser_marks import drag, highlighted
from tests.studio.test_browser_msqa import join

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
KESTREL, HERON, WREN = ANSWERS
RATINGS = {"Amina": {KESTREL: 4, HERON: 5, WREN: 1}, "Juma": {KESTREL: 5, HERON: 4, WREN: 2}}
TEXTS = "[...document.querySelectorAll('.rated .marked')].map((text) => text.firstChild.data)"


def rate_answers(page: Page, name: str, order: list[str], by_model: dict[str, str]) -> None:
    """Fill in what is asked about each answer, as they stand on the page."""
    values: dict[str, str] = {}
    for model in order:
        letter, rating = by_model[model], RATINGS[name][model]
        values |= {f"language_{letter}": "yes", f"factuality_{letter}": "none", f"omissions_{letter}": "minor"}
        values |= {f"comment_{letter}": f"A comment of {name}.", f"rating_{letter}": str(rating)}
    fill(page, **values)


def rank_by_keys(page: Page, places: list[int]) -> None:
    """Give the answers their places from the first to the last, with Tab and digits alone."""
    page.evaluate("document.getElementById('main').focus()")
    for place in places:
        while not page.evaluate("document.activeElement.matches('.ranking input:not(.seen)')"):
            page.press("Tab")
        page.evaluate(
            "document.activeElement.closest('fieldset').querySelectorAll('input').forEach(b => b.classList.add('seen'))"
        )
        page.press(str(place))
    shown = page.evaluate("[...document.querySelectorAll('.ranking :checked')].map((box) => box.value)")
    assert shown == [str(place) for place in places]


def test_two_people_from_an_invitation_to_the_analysis(database: Database, browser: Browser, tmp_path: Path) -> None:
    play = Play(database, "rating", languages=["sw"], raters=2)
    bring(play, ROW)
    [item] = play.items()
    model_of = {text: model for model, text in ANSWERS.items()}
    base = f"/c/{play.campaign.id}"
    orders = {}
    with serving(play.app) as address:
        link = f"{address}/join/{invite(database, play.campaign, Role.ANNOTATOR, play.organiser_id, uses=2)}"
        pages = {"Amina": visitor(browser, address), "Juma": visitor(browser, address, width=390, touch=True)}
        for name, page in pages.items():
            join(page, link, name, "Kenya", "Swahili")
            follow(page, "[data-key=n]")
            page.wait("document.documentElement.dataset.marks === 'painted'")
            texts = page.evaluate(TEXTS)
            orders[name] = [model_of[text] for text in texts]
            if name == "Amina":  # who also marks the first word of the first answer
                drag(page, texts[0], "Guests")
                page.click(".mark-here:not([hidden])")
                page.press("ArrowDown")
                assert highlighted(page, "mark-major") == ["Guests"]
            follow(page, "[data-key=Enter]")  # nothing else is filled in
            assert page.evaluate("document.querySelectorAll('.notice.bad li').length") == 15
            assert page.evaluate("document.querySelector('.notice.bad a').textContent").startswith("Answer 1: ")
            rate_answers(page, name, orders[name], letters(item))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            follow(page, "[data-key=Enter]")
            assert page.evaluate("document.querySelectorAll('.ranking .sheet').length") == 3
            best = sorted(orders[name], key=lambda model: -RATINGS[name][model])
            places = [best.index(model) + 1 for model in orders[name]]
            if name == "Amina":
                rank_by_keys(page, places)
            else:  # a place that is given again leaves the answer that had it
                for place in (places[1], places[0]):
                    page.tap(f".ranking section:first-child input[value='{place}']")
                for number in (2, 3):
                    page.tap(f".ranking section:nth-child({number}) input[value='{places[0]}']")
                checked = "[...document.querySelectorAll('.ranking :checked')].map((box) => box.value)"
                assert page.evaluate(checked) == [str(places[0])]
                for number, place in enumerate(places, 1):
                    page.tap(f".ranking section:nth-child({number}) input[value='{place}']")
            fill(page, reason=f"It is the best, says {name}.")
            follow(page, "[data-key=Enter]")
            html = page.evaluate("document.documentElement.outerHTML")
            assert "Your answer is saved" in html
        assert play.read(item.id).status is ItemStatus.ACCEPTED
        lead = visitor(browser, address, sign_in(database, play.organiser_id))
        lead.open(f"{address}{base}/figures")
        shown = lead.evaluate("[...document.querySelectorAll('tbody')][0].innerText")
        assert shown.index(WREN) > max(shown.index(KESTREL), shown.index(HERON)), "the worst is last"
        data = lead.evaluate(
            """(async () => {
                const body = new URLSearchParams({csrf: document.body.dataset.token, format: "folder"});
                const answer = await fetch(location.pathname.replace("figures", "export"), {method: "POST", body});
                return btoa(String.fromCharCode(...new Uint8Array(await answer.arrayBuffer())));
            })()"""
        )
        problems = [problem for page in (lead, *pages.values()) for problem in page.problems if "422" not in problem]
        assert problems == []
    ZipFile(BytesIO(base64.b64decode(data))).extractall(tmp_path)
    ratings = read_ratings(tmp_path / "ratings.csv")
    assert {(each.annotator, each.model): each.rating for each in ratings} == {
        (annotator, model): float(rating)
        for annotator, name in (("p2", "Amina"), ("p3", "Juma"))
        for model, rating in RATINGS[name].items()
    }
    for annotator, name in (("p2", "Amina"), ("p3", "Juma")):
        seen = sorted((each for each in ratings if each.annotator == annotator), key=lambda each: each.position or 0)
        assert [each.model for each in seen] == orders[name], "the position is where the person saw the answer"
    [mark] = [(each.model, span) for each in ratings for span in each.spans or ()]
    assert (mark[0], mark[1].quote, mark[1].severity) == (orders["Amina"][0], "Guests", "major")
    done = CliRunner().invoke(mores, ["rate", str(tmp_path / "ratings.csv"), "--out", str(tmp_path / "study")])
    assert done.exit_code == 0, done.output
    study = json.loads((tmp_path / "study" / "rate.json").read_text("utf-8"))
    assert study["n"] == 6
    wins = {each["model"]: each["wins"]["value"] for each in study["ranking"]["placings"]}
    assert wins == {KESTREL: 0.5, HERON: 0.5, WREN: 0.0}


@pytest.mark.slow
def test_a_phone_shows_one_answer_at_a_time(database: Database, browser: Browser) -> None:
    play = Play(database, "rating", languages=["sw"], raters=2)
    bring(play, ROW)
    juma = play.person(Role.ANNOTATOR, "Juma")
    seen = "[...document.querySelectorAll('.rated')].map((part) => !part.hidden)"
    with serving(play.app) as address:
        page = visitor(browser, address, juma.browser.cookies[COOKIE], width=390, height=844, touch=True)
        page.open(f"{address}/c/{play.campaign.id}")
        follow(page, "[data-key=n]")
        assert page.evaluate(seen) == [True, False, False]
        assert page.evaluate("document.querySelector('[data-key=Enter]').checkVisibility()") is False
        for shown in ([False, True, False], [False, False, True]):
            page.evaluate("document.querySelector('.pager [data-go=\"1\"]').click()")
            assert page.evaluate(seen) == shown
        assert page.evaluate("document.querySelector('[data-key=Enter]').checkVisibility()")
        follow(page, "[data-key=Enter]")
        assert page.evaluate(seen) == [True, False, False], "what is wrong comes first"
        page.close()
        page = visitor(browser, address, juma.browser.cookies[COOKIE])
        page.open(f"{address}/c/{play.campaign.id}")
        follow(page, "[data-key=n]")
        assert page.evaluate(seen) == [True, True, True]
        page.close()
