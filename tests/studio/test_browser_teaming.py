"""CulturalTeaming in a real browser: invitation, draft, duel, verifiers by finger and keys, export, `mores bench`."""

from __future__ import annotations

import base64
import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.people import sign_in
from tests.browser import Browser, Page, binary
from tests.cli.conftest import Run, home, mores
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_teaming_play import DRAFT, SCENE, SEVERAL, script

__all__ = ["home", "mores"]

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
FITS = "document.documentElement.scrollWidth <= innerWidth"
EXPORT = """(async () => {
    const body = new URLSearchParams({csrf: document.body.dataset.token});
    const answer = await fetch(location.pathname.replace("overview", "export"), {method: "POST", body});
    return btoa(String.fromCharCode(...new Uint8Array(await answer.arrayBuffer())));
})()"""


def invite(page: Page, address: str, role: str, uses: int) -> str:
    """An organiser makes an invitation; the link that the page shows."""
    page.open(address)
    fill(page, role=role, uses=str(uses))
    follow(page, "form[action$='/invite'] button.main")
    link: str = page.evaluate("document.querySelector('input.link').value")
    return link


def join(page: Page, link: str, name: str) -> None:
    page.open(link)
    fill(page, name=name, nationality="Kenya", home="Kenya", languages="Swahili, English")
    follow(page, "main form button.main")
    if page.evaluate("!!document.querySelector('#own')"):  # who joins by a link for several gets one of their own
        follow(page, ".actions a.main")
    fill(page, agree="yes")
    follow(page, "main form button.main")


def text(page: Page) -> str:
    return str(page.evaluate("document.querySelector('main').innerText"))


def test_from_an_invitation_to_a_benchmark(database: Database, browser: Browser, mores: Run, home: Path) -> None:
    ai = script(
        home / "ai.jsonl",
        ("They tell you a scene", json.dumps(DRAFT)),
        (DRAFT["question"], "B"),
        (SEVERAL["question"], "A"),
    )
    play = Play(database, "culturalteaming", model=ai, regions=["Kenya"], title="Tea in Kenya")
    with serving(play.app) as address:
        people = f"{address}/c/{play.campaign.id}/people"
        organiser = visitor(browser, address, sign_in(database, play.organiser_id))
        author = visitor(browser, address, width=390, height=800, touch=True)
        join(author, invite(organiser, people, "author", 1), "Amina")

        follow(author, "[data-key=w]")
        author.evaluate("document.getElementById('f-scene').scrollIntoView({block: 'center'})")
        author.tap("#f-scene")
        author.type(SCENE)
        follow(author, "[value='ask:draft']")
        author.wait("!!document.querySelector('[value^=adopt]')", 30)  # the page loads itself again
        assert DRAFT["question"] in text(author)
        follow(author, "[value^=adopt]")
        assert author.evaluate("document.getElementsByName('options')[1].value") == DRAFT["options"][1]
        assert author.evaluate("document.querySelector('[name=correct]:checked').value") == "B"
        assert author.evaluate("document.getElementById('f-scene').value") == SCENE
        assert author.evaluate(FITS)
        follow(author, "[value=submit]")
        author.wait("!!document.querySelector('.verdict')")
        assert "The AI is correct." in text(author)
        width = author.evaluate("document.querySelector('.bar .fill').getBoundingClientRect().width")
        track = author.evaluate("document.querySelector('.bar .track').getBoundingClientRect().width")
        assert width / track == pytest.approx(0.905, abs=0.01)
        fill(author, **SEVERAL)
        follow(author, "[value='ask:answer']")
        author.wait("!!document.querySelector('.verdict.won')")
        assert author.evaluate(FITS)
        assert "fake" not in author.evaluate("document.documentElement.outerHTML")
        follow(author, "[value=submit]")
        item = author.evaluate("location.pathname.split('/').at(-1)")
        assert play.read(item).stage == "verify"

        link = invite(organiser, people, "verifier", 2)
        phone, keys = visitor(browser, address, width=390), visitor(browser, address)
        for number, page in enumerate((phone, keys)):
            join(page, link, f"Verifier {number}")
        late, *three = (play.person(Role.VERIFIER, f"Verifier {number}") for number in range(2, 6))
        for page in (phone, keys):  # all have the page open before anybody answers
            follow(page, "[data-key=n]")
        assert [each.take() for each in three] == [item] * 3
        assert late.take() is None
        for page in (phone, keys):
            assert page.evaluate(FITS)
            assert SCENE not in text(page)
        fill(phone, answer=["A"])
        shown = keys.evaluate("[...document.querySelectorAll('.option input')].map((box) => box.value)")
        for letter in ("unknown", *SEVERAL["correct"]):  # the first excludes the others, so they undo it
            key = str(shown.index(letter) + 1)  # the options have numbers in this person's own order
            keys.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            keys.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        checked = keys.evaluate("[...document.querySelectorAll('.option :checked')].map((b) => b.value).sort()")
        assert checked == SEVERAL["correct"]
        for page in (phone, keys):
            follow(page, "[data-key=Enter]")
            assert "Your answer is saved" in text(page)
        for each in three:
            assert "Your answer is saved" in each.send(f"/items/{item}/vote", answer=SEVERAL["correct"]).text
        done = play.read(item)
        assert (done.status, done.results["verify"]["counts"]) == (ItemStatus.ACCEPTED, {"A": 1, "AB": 4})
        author.open(f"{address}/c/{play.campaign.id}/items/{item}")
        assert "A + B" in text(author)

        organiser.open(f"{address}/c/{play.campaign.id}/overview")
        data = base64.b64decode(organiser.evaluate(EXPORT))
        assert [problem for page in (organiser, author, phone, keys) for problem in page.problems] == []
        for page in (organiser, author, phone, keys):
            page.close()
    ZipFile(BytesIO(data)).extractall(home / "out")
    folder = next(path.parent for path in (home / "out").rglob("__init__.py"))
    options = zip("ABCD", SEVERAL["options"], strict=True)
    truths = [(f"Answer: {option}", str(letter in SEVERAL["correct"])) for letter, option in options]
    model = script(home / "model.jsonl", *truths, (SEVERAL["question"], "A"))
    run = mores("bench", str(folder), "--model", model, "--json")
    assert run.returncode == 0, run.stderr
    results = {result["benchmark"]: result["figures"]["accuracy"]["value"] for result in json.loads(run.stdout)}
    assert results["tea-in-kenya-hard"] == 1.0
    assert set(results) == {"tea-in-kenya-easy", "tea-in-kenya-hard"}
