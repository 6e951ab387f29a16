"""ExCAM's validation in a real browser: three people from an invitation to the tables, with words marked in Arabic."""

from __future__ import annotations

import base64
import json
from io import BytesIO
from zipfile import ZipFile

import pytest

from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.people import invite, sign_in
from tests.browser import Browser, Page, binary
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_browser_msqa import LIFE, join

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")

GEMMA, PHI = "يؤكل الفسيخ لا الكسكس.", "لا يأكلون البيض."
ROW = {
    "language": "ar",
    "region": "EG",
    "instruction": "ماذا يأكل كثير من المصريين في شمّ النسيم؟",
    "original": "يأكل كثير من المصريين الفسيخ والبيض الملوّن في الحدائق.",
    "text": "يأكل كثير من المصريين الكسكس والبيض الأخضر في الحدائق.",
    "severity": "major",
    "type": "طعام",
    "explanation": "طعام شمّ النسيم هو الفسيخ.",
    "explanations": {"gemma": GEMMA, "phi": PHI},
}
AGREES = {"explained": "valid", "severity_ok": "yes", "type_ok": "yes", "changed": "no"}
POST = """(async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries(VALUES)) body.append(name, value);
    if (ROW) body.append("file", new Blob([ROW]), "rows.jsonl");
    body.append("csrf", document.body.dataset.token);
    const answer = await fetch(PATH, {method: "POST", body});
    return btoa(String.fromCharCode(...new Uint8Array(await answer.arrayBuffer())));
})()"""


def post(page: Page, path: str, row: str = "", **values: str) -> bytes:
    """Send a form of the organiser's page of data; what comes back."""
    script = POST.replace("VALUES", json.dumps(values)).replace("ROW", json.dumps(row)).replace("PATH", repr(path))
    return base64.b64decode(page.evaluate(script))


def quotes(page: Page) -> list[str]:
    """What is marked, as it would be sent."""
    marks = json.loads(page.evaluate("document.querySelector('textarea[name=marks]').value"))
    return [mark["quote"] for mark in marks]


def is_shown(page: Page, field: str) -> bool:
    return bool(page.evaluate(f"document.getElementById('f-{field}').checkVisibility()"))


def remove(page: Page, quote: str) -> None:
    """Take one mark away, by its card."""
    cards = "[...document.querySelectorAll('.mark-list li')]"
    page.evaluate(
        f"{cards}.find((card) => card.textContent.includes({quote!r})).querySelector('[data-act=remove]').click()"
    )


def begin(page: Page, address: str) -> None:
    page.open(address)
    follow(page, "[data-key=n]")
    page.wait("document.documentElement.dataset.marks === 'painted'")


@pytest.mark.slow
def test_three_people_from_an_invitation_to_the_tables(database: Database, browser: Browser) -> None:
    play = Play(database, "validation", main="Arabic", languages=["Arabic"])
    base = f"/c/{play.campaign.id}"
    token = invite(database, play.campaign, Role.ANNOTATOR, play.organiser_id, uses=3)
    with serving(play.app) as address:
        lead = visitor(browser, address, sign_in(database, play.organiser_id))
        lead.open(f"{address}{base}/data")
        assert b"1 items and 0 answers were imported" in post(lead, f"{base}/import", json.dumps(ROW))
        pages = {
            name: visitor(browser, address, width=390 if name == "Bahir" else 1280, touch=name == "Bahir")
            for name in ("Amal", "Bahir", "Celine")
        }
        for name, page in pages.items():
            join(page, f"{address}/join/{token}", name, "Egypt", "Arabic")
            begin(page, f"{address}{base}")
            assert page.evaluate(LIFE), f"{name} has to scroll sideways"
            assert quotes(page) == ["الكسكس", "الأخضر"]
            assert page.evaluate("getComputedStyle(document.querySelector('[data-part=text]')).direction") == "rtl"
            assert ROW["explanation"] not in page.evaluate("document.documentElement.innerHTML")
            assert not is_shown(page, "marks")
            fill(page, cultural="yes", error="valid" if name == "Amal" else "partly")
        follow(pages["Amal"], "[data-key=Enter]")

        bahir, celine = pages["Bahir"], pages["Celine"]
        assert is_shown(bahir, "marks"), "who finds too much marked can change the marks"
        follow(bahir, "[data-key=Enter]")
        assert bahir.evaluate("document.querySelectorAll('#marks-problem').length") == 1
        bahir.wait("document.documentElement.dataset.marks === 'painted'")
        remove(bahir, "الأخضر")
        assert quotes(bahir) == ["الكسكس"]
        follow(bahir, "[data-key=Enter]")

        remove(celine, "الأخضر")
        remove(celine, "الكسكس")
        celine.evaluate(  # the text is in several pieces: the words that differ are elements
            """(() => {
                const text = document.querySelector("[data-part=text]");
                const [first] = text.querySelectorAll("ins");
                text.focus();
                getSelection().setBaseAndExtent(first.previousSibling, first.previousSibling.length - 9,
                    first.firstChild, first.firstChild.length);
            })()"""
        )
        celine.press("m")
        assert quotes(celine) == ["المصريين الكسكس"], "across the edge of a change"
        follow(celine, "[data-key=Enter]")

        for name, page in pages.items():
            assert ROW["explanation"] in page.evaluate("document.querySelector('.thing').textContent")
            assert not is_shown(page, "own_severity")
            assert not is_shown(page, "error_after")
            fill(page, **(AGREES | {"severity_ok": "no" if name == "Celine" else "yes"}))
            if name == "Celine":
                assert is_shown(page, "own_severity")
                fill(page, own_severity="minor")
            follow(page, "[data-key=Enter]")
            shown = page.evaluate("[...document.querySelectorAll('.scale .about')].map((each) => each.textContent)")
            assert sorted(shown) == sorted((GEMMA, PHI))
            ratings = ["5" if text == GEMMA else "2" for text in shown]
            names = page.evaluate("[...document.querySelectorAll('fieldset.scale')].map((each) => each.id.slice(2))")
            assert "gemma" not in page.evaluate("document.documentElement.innerHTML")
            fill(page, **dict(zip(names, ratings, strict=True)))
            follow(page, "[data-key=Enter]")

        [item] = play.items()
        assert (item.status, len(item.votes)) == (ItemStatus.ACCEPTED, 3)
        lead.open(f"{address}{base}/figures")
        cells = lead.evaluate(
            "[...document.querySelectorAll('main tr')].map((row) => row.innerText.split(/\\s*\\t\\s*/))"
        )
        assert ["Error valid (strict)", "0.0", "0.0", "100.0", "0.0"] in cells
        assert ["Error valid (partial)", "100.0", "0.0", "0.0", "0.0"] in cells
        means = {row[0]: row[2].split()[0] for row in cells if row[0] in ("gemma", "phi")}
        assert means == {"gemma": "5.00", "phi": "2.00"}
        lead.open(f"{address}{base}/data")
        archive = ZipFile(BytesIO(post(lead, f"{base}/export", format="folder")))
        problems = [problem for page in (lead, *pages.values()) for problem in page.problems if "422" not in problem]
        assert problems == []
    judged = [json.loads(line) for line in archive.read("judgements.jsonl").decode().splitlines()]
    errors = [[(error["quote"], error["severity"]) for error in each["report"]["errors"]] for each in judged]
    assert sorted(errors) == sorted(
        [
            [("الكسكس", "major"), ("الأخضر", "major")],
            [("الكسكس", "major")],
            [("المصريين الكسكس", "minor")],
        ]
    )
    for each in judged:
        for error in each["report"]["errors"]:
            assert each["text"][error["start"] : error["end"]] == error["quote"]
