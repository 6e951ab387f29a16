"""CulturALL in a real browser: five authors at once, a draft, an easy item, reviews, inspiration, `mores bench`."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mores.studio.campaigns.culturall.forms import CRITERIA, REQUIREMENTS
from mores.studio.records import ItemStatus
from mores.studio.store.database import Database
from mores.studio.store.people import sign_in
from tests.browser import Browser, Page, binary
from tests.cli.conftest import Run, home, mores
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor

__all__ = ["home", "mores"]

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
FITS = "document.documentElement.scrollWidth <= innerWidth"
EXPORT = """(async () => {
    const body = new URLSearchParams({csrf: document.body.dataset.token});
    const answer = await fetch(location.pathname.replace("overview", "export"), {method: "POST", body});
    return btoa(String.fromCharCode(...new Uint8Array(await answer.arrayBuffer())));
})()"""
DRAFT = "[Scenario] Mgeni anaingia.\n[Question] Anapewa nini?\n[Answer] Kahawa\n[Explanation] Ni desturi."
ARABIC = {
    "theme": "Heritage",
    "source": "experience",
    "scenario": "عيد القيامة القبطي هذا العام يوم الأحد.",
    "question": "في أي يوم شم النسيم؟",
    "answer": "الاثنين",
    "explanation": "هو اليوم التالي للعيد.",
    "checklist": list(REQUIREMENTS),
}
YES = dict.fromkeys(CRITERIA, "yes")


def script(path: Path, *rows: tuple[str, str]) -> str:
    lines = [json.dumps({"contains": contains, "answer": answer}) + "\n" for contains, answer in rows]
    path.write_text("".join(lines), "utf-8")
    return f"fake:{path}"


def join(page: Page, link: str, name: str, country: str, language: str) -> None:
    page.open(link)
    fill(page, name=name, nationality=country, home=country, languages=language)
    follow(page, "main form button.main")
    if page.evaluate("!!document.querySelector('#own')"):  # who joins by a link for several gets one of their own
        follow(page, ".actions a.main")
    fill(page, agree="yes")
    follow(page, "main form button.main")


def text(page: Page) -> str:
    return str(page.evaluate("document.querySelector('main').innerText"))


def until(condition: Callable[[], bool], timeout: float = 30.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.slow
def test_from_an_invitation_to_a_benchmark(database: Database, browser: Browser, mores: Run, home: Path) -> None:
    easy = (str(ARABIC["question"]), "الاثنين")
    models = [
        script(home / "a.jsonl", easy, ("", "Sijui")),
        script(home / "b.jsonl", easy, ("", "Sijui")),
        script(home / "c.jsonl", ("", "Sijui")),
    ]
    judge = script(home / "judge.jsonl", ("\nSijui\n", "0"), ("\nالاثنين\n", "1"), ("\nKahawa\n", "1"))
    own = script(
        home / "own.jsonl",
        ("You are given a sample", DRAFT),
        ("country code", "ke"),
        ("most appropriate topic", "Social"),
        ("Translate the following", "A guest comes in."),
    )
    play = Play(database, "culturall", model=own, models=models, judge=judge, title="At home")
    base = f"/c/{play.campaign.id}"
    with serving(play.app) as address:
        lead = visitor(browser, address, sign_in(database, play.organiser_id))
        lead.open(f"{address}{base}/people")
        fill(lead, role="author", uses="5")
        follow(lead, 'form[action$="/invite"] button.main')
        link = lead.evaluate("document.querySelector('input.link').value")
        people = {
            "Amina": ("Kenya", "Swahili"),
            "Juma": ("Kenya", "Swahili"),
            "Layla": ("Egypt", "Arabic"),
            "Omar": ("Egypt", "Arabic, English"),
            "Ines": ("Spain", "Spanish"),
        }
        pages = {
            name: visitor(browser, address, width=390 if name == "Layla" else 1280, touch=name == "Layla")
            for name in people
        }
        for name, (country, language) in people.items():
            join(pages[name], link, name, country, language)
        amina, layla = pages["Amina"], pages["Layla"]

        follow(amina, "[data-key=w]")
        fill(amina, theme="Social", source="document", excerpt="Wageni hupewa kahawa.")
        follow(amina, "[value='ask:document']")
        follow(layla, "[data-key=w]")  # meanwhile another author writes
        fill(layla, **ARABIC | {"checklist": list(REQUIREMENTS)[:2]})
        follow(layla, "[value=submit]")
        assert "Tick every point" in text(layla)
        assert layla.evaluate("getComputedStyle(document.getElementById('f-scenario')).direction") == "rtl"
        assert layla.evaluate(FITS)
        fill(layla, checklist=list(REQUIREMENTS))
        follow(layla, "[value=submit]")
        amina.wait("!!document.querySelector('[value^=adopt]')", 30)  # the page loads itself again
        follow(amina, "[value^=adopt]")
        assert amina.evaluate("document.getElementById('f-answer').value") == "Kahawa"
        assert amina.evaluate("document.getElementById('f-excerpt').value") == "Wageni hupewa kahawa."
        fill(amina, checklist=list(REQUIREMENTS))
        follow(amina, "[value=submit]")
        items = {name: pages[name].evaluate("location.pathname.split('/').at(-1)") for name in ("Amina", "Layla")}

        until(lambda: play.read(items["Layla"]).stage == "elevate" and play.read(items["Amina"]).stage == "review")
        layla.wait("!!document.querySelector('form#item [name=strategies]') && document.readyState === 'complete'")
        assert "2 of 3 models answered correctly" in text(layla)
        assert "fake" not in layla.evaluate("document.documentElement.outerHTML")
        first = "document.querySelector('aside .ask').offsetTop < document.querySelector('form#item').offsetTop"
        assert layla.evaluate(first), "on a phone the models' answers come before the form"
        assert layla.evaluate(FITS)
        fill(layla, question="وماذا يأكل الناس في اليوم التالي؟", answer="الفسيخ", strategies=["compositional"])
        follow(layla, "[value=submit]")
        until(lambda: play.read(items["Layla"]).stage == "review")

        for name in ("Juma", "Omar"):  # both have their page open before anybody answers
            pages[name].open(f"{address}{base}")
            follow(pages[name], "[data-key=n]")
        assert pages["Juma"].evaluate("document.getElementById('f-answer').value") == "Kahawa"
        fill(pages["Juma"], **YES, verdict="accept")
        follow(pages["Juma"], "[data-key=Enter]")
        fill(pages["Omar"], **YES, verdict="accept", region="Egypt")
        follow(pages["Omar"], "[data-key=Enter]")
        assert "You changed the item. Choose Revise" in text(pages["Omar"])
        fill(pages["Omar"], region_topic="no", verdict="revise", topic="Food", note="It is from Egypt.")
        follow(pages["Omar"], "[data-key=Enter]")
        done = play.read(items["Layla"])
        assert (done.status, done.region, done.content["topic"]) == (ItemStatus.ACCEPTED, "EG", "Food")
        assert done.results["review"]["changed"] == ["region", "topic"]
        layla.open(f"{address}{base}/items/{items['Layla']}")
        assert "It is from Egypt." in text(layla)
        assert "Omar" not in text(layla)

        pages["Ines"].open(f"{address}{base}")
        follow(pages["Ines"], "[href$=inspiration]")
        assert text(pages["Ines"]).count("A guest comes in.") == 8
        assert "Mgeni" not in text(pages["Ines"])
        follow(pages["Ines"], ".idea .button")
        assert pages["Ines"].evaluate("document.querySelector('[name=source]:checked').value") == "inspiration"
        assert pages["Ines"].evaluate("document.querySelector('[name=inspired_by]').value") in items.values()

        lead.open(f"{address}{base}/figures")
        assert "50.0% (1 of 2; 95% interval 1.3% to 98.7%) · paper: 8.1%" in text(lead)
        lead.open(f"{address}{base}/overview")
        data = base64.b64decode(lead.evaluate(EXPORT))
        bad = [problem for page in (lead, *pages.values()) for problem in page.problems if "422" not in problem]
        assert bad == []
        for page in (lead, *pages.values()):
            page.close()
    ZipFile(BytesIO(data)).extractall(home / "out")
    folder = next(path.parent for path in (home / "out").rglob("__init__.py"))
    knows = script(home / "knows.jsonl", ("Anapewa nini?", "Kahawa"), ("", "Sijui"))
    run = mores("bench", str(folder), "--model", knows, "--judge", judge, "--json")
    assert run.returncode == 0, run.stderr
    [result] = json.loads(run.stdout)
    assert (result["benchmark"], result["questions"], result["figures"]["accuracy"]["value"]) == ("at-home", 2, 0.5)
