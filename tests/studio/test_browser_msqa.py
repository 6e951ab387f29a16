"""MSQA's campaign in a real browser: several people at once, from an invitation to an export that runs."""

from __future__ import annotations

import base64
import json
import time
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mores.benchmark import benchmark
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.people import invite, sign_in
from tests.browser import Browser, Page, binary
from tests.studio.msqa_life import INSPECTED, YES
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_msqa_path import FORM, script

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")

ARABIC = {
    "question": "ما اسم الفانوس الذي يحمله الأطفال في رمضان في مصر؟",
    "answer": "فانوس رمضان",
    "culture": "Egyptian",
    "source_desc": "يحمل الأطفال الفوانيس في ليالي رمضان.",
}
LIFE = "document.documentElement.scrollWidth <= innerWidth"


def join(page: Page, link: str, name: str, country: str, language: str) -> None:
    page.open(link)
    fill(page, name=name, nationality=country, home=country, languages=language)
    follow(page, "main form button.main")
    if page.evaluate("!!document.querySelector('#own')"):  # who joins by a link for several gets one of their own
        follow(page, ".actions a.main")
    fill(page, agree="yes")
    follow(page, "main form button.main")


def until(condition: object, timeout: float = 30.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.slow
def test_several_people_from_an_invitation_to_an_export(database: Database, browser: Browser, tmp_path: Path) -> None:
    model = script(
        tmp_path / "model.jsonl",
        ("before they enter a benchmark", "One clear answer.\nVERDICT: UNIQUE"),
        ("into simplified Chinese", '{"question": "什么？", "answer": "灯笼"}'),
        ("Does the candidate answer give", "It does not.\nVERDICT: NOT_CORRECT"),
        ("", "Não sei."),
    )
    places = {"regions": ["Brazil", "Egypt"], "languages": ["Portuguese", "Arabic"]}
    play = Play(database, "msqa", model=model, models=[model], runs=2, validators=1, rounds=1, **places)
    base = f"/c/{play.campaign.id}"
    with serving(play.app) as address:
        lead = visitor(browser, address, sign_in(database, play.organiser_id))
        lead.open(f"{address}{base}/people")
        fill(lead, uses="2")
        lead.evaluate("document.getElementsByName('role')[0].value = 'author'")
        follow(lead, "main form button.main, main form.row button")
        link = lead.evaluate('document.body.innerHTML.match(/http[^"<> ]*join[^"<> ]*/)[0]')
        tokens = {role: invite(database, play.campaign, role, play.organiser_id, uses=2) for role in Role}
        people = {
            "João": (link, "Brazil", "Portuguese"),
            "Amal": (link, "Egypt", "Arabic"),
            "Inês": (f"{address}/join/{tokens[Role.INSPECTOR]}", "Brazil", "Portuguese, Arabic"),
            "Rui": (f"{address}/join/{tokens[Role.VERIFIER]}", "Brazil", "Portuguese"),
            "Nour": (f"{address}/join/{tokens[Role.VERIFIER]}", "Egypt", "Arabic"),
        }
        pages = {
            name: visitor(browser, address, width=390 if name == "Amal" else 1280, touch=name == "Amal")
            for name in people
        }
        for name, (path, country, language) in people.items():
            join(pages[name], path, name, country, language)

        items = {}
        texts = {"João": {}, "Amal": ARABIC}
        for name in texts:
            pages[name].open(f"{address}{base}/new")
            code = {"João": "pt", "Amal": "ar"}[name]
            assert pages[name].evaluate("document.getElementsByName('language')[0].value") == code
            fill(pages[name], source_url=FORM["source_url"], source_kind="encyclopedia")
            follow(pages[name], "[value=submit]")
        for name, changes in texts.items():
            fill(pages[name], **(FORM | changes))
            assert pages[name].evaluate(LIFE), f"{name} has to scroll sideways"
            follow(pages[name], "[value=submit]")
            items[name] = pages[name].evaluate("location.pathname.split('/').at(-1)")
        direction = "getComputedStyle(document.querySelector('.thing .large')).direction"
        assert [pages[name].evaluate(direction) for name in ("João", "Amal")] == ["ltr", "rtl"]
        until(lambda: all(play.read(item).stage == "inspect" for item in items.values()))
        pages["Amal"].wait("document.querySelectorAll('.checks .passed').length === 2", 30)  # it loads itself again

        for _ in items:
            pages["Inês"].open(f"{address}{base}")
            follow(pages["Inês"], "[data-key=n]")
            assert pages["Inês"].evaluate("document.querySelectorAll('.checks .not_done').length") == 1
            follow(pages["Inês"], "[data-key=Enter]")  # nothing is filled in
            assert pages["Inês"].evaluate("document.querySelectorAll('.problem').length") >= 5
            fill(pages["Inês"], **INSPECTED, by_hand_retrieval="yes")
            follow(pages["Inês"], "[data-key=Enter]")
        for name in ("Rui", "Nour"):
            pages[name].open(f"{address}{base}")
            follow(pages[name], "[data-key=n]")
        shown = [pages[name].evaluate("document.querySelector('.thing .large').lang") for name in ("Rui", "Nour")]
        assert shown == ["pt", "ar"]
        for name in ("Nour", "Rui"):
            fill(pages[name], **YES)
            follow(pages[name], "[data-key=Enter]")

        for item in items.values():
            assert play.read(item).stage == "accept"
            lead.open(f"{address}{base}/items/{item}/life")
            fill(lead, format="yes", coherence="yes")
            follow(lead, "[name=outcome][value=next]")
            assert play.read(item).status is ItemStatus.ACCEPTED
        lead.open(f"{address}{base}/overview")
        data = lead.evaluate(
            """(async () => {
                const body = new URLSearchParams({csrf: document.body.dataset.token});
                const answer = await fetch(location.pathname.replace("overview", "export"), {method: "POST", body});
                const bytes = new Uint8Array(await answer.arrayBuffer());
                return btoa(String.fromCharCode(...bytes));
            })()"""
        )
        problems = [problem for page in (lead, *pages.values()) for problem in page.problems if "422" not in problem]
        assert problems == []
    ZipFile(BytesIO(base64.b64decode(data))).extractall(tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "data" / "msqa.jsonl").read_text("utf-8").splitlines()]
    assert {values["language"]: values["answer"] for values in rows} == {"pt": "Caprichoso", "ar": "فانوس رمضان"}
    assert {values["question_zh"] for values in rows} == {"什么？"}
    read = list(benchmark(tmp_path / "out").read(tmp_path / "out" / "data", print))
    assert sorted(item.id for item in read) == sorted(items.values())
