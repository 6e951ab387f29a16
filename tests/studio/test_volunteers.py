"""What docs/volunteers.md says, step by step, in a real browser: an organiser, and volunteers on phones.

`MORES_PICTURES=docs pytest tests/studio/test_volunteers.py` takes the pictures of that page (`make pictures`).
"""

from __future__ import annotations

import base64
import os
import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from mores.studio import app
from mores.studio.serve import prepare
from mores.studio.store.campaigns import list_campaigns
from tests.browser import Browser, Page, binary
from tests.studio.serving import choose_file, fill, follow, serving, visitor
from tests.studio.test_browser_marking import take
from tests.studio.test_browser_marks import drag
from tests.studio.test_browser_teaming import EXPORT
from tests.studio.test_looks import keep_picture

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
DOCS = Path(__file__).parents[2] / "docs"
WRONG = "a live goat for the judge"
TABLE = f"""Question asked,Answer,Country,Language
What do guests bring to a wedding?,Guests usually bring {WRONG} who marries the couple.,Kenya,English
What is ruracio?,At ruracio two Kikuyu families meet and agree on the gifts before a wedding.,Kenya,English
"""
ELSEWHERE = """(() => {
    document.querySelector(".notice.bad").remove();
    document.querySelector("input.link").value = "http://192.168.1.7:8000/join/…";
})()"""
"""The page as it is at an address that others can open."""
TYPE = """(() => {
    const field = [...document.querySelectorAll("li [data-name]")].find((each) => each.type === "text");
    field.value = "incorrect information";
    field.dispatchEvent(new Event("input", {bubbles: true}));
})()"""


def picture(page: Page, name: str, width: int, tallest: int = 900) -> None:
    """Keep a picture of a step that the docs show."""
    assert f"volunteers-{name}.png" in (DOCS / "volunteers.md").read_text("utf-8")
    if folder := os.environ.get("MORES_PICTURES"):
        keep_picture(page, Path(folder) / f"volunteers-{name}.png", width, tallest)


def text(page: Page) -> str:
    return str(page.evaluate("document.querySelector('main').innerText"))


@pytest.mark.slow
def test_the_path_of_the_docs(browser: Browser, tmp_path: Path) -> None:
    start = prepare(tmp_path / "weddings.db")
    table = tmp_path / "answers.csv"
    table.write_text(TABLE)
    with serving(app(start.database, model="none")) as address:
        lead = visitor(browser, address, width=1000, height=800)
        lead.open(f"{address}{start.links['organiser']}")
        follow(lead, "main form button")
        follow(lead, ".actions a")
        picture(lead, "goals", 1000)
        follow(lead, "a[href$='kind=marking']")
        fill(lead, title="Weddings in Kenya", regions="Kenya", languages="English", target="2")
        picture(lead, "new", 1000, 760)
        follow(lead, "main form button.main")

        [campaign] = list_campaigns(start.database)
        here = f"{address}/c/{campaign.id}"
        lead.open(f"{here}/data")
        choose_file(lead, "form[action$='/import'] input[type=file]", table)
        follow(lead, "form[action$='/import'] button")
        assert re.search(r"Question asked\s+instruction", text(lead))
        picture(lead, "import", 1000)
        follow(lead, "main form button.main")
        assert "2 items and 0 answers were imported." in text(lead)

        lead.open(f"{here}/people")
        fill(lead, role=["annotator", "verifier"], uses="20")
        follow(lead, "form[action$='/invite'] button.main")
        link = lead.evaluate("document.querySelector('input.link').value")
        assert "This address works on this computer only." in text(lead)
        lead.evaluate(ELSEWHERE)
        picture(lead, "invite", 1000, 540)

        phones = {}
        for name in ("Achieng", "Baraka", "Chebet"):
            phones[name] = phone = visitor(browser, address, width=390, height=800, touch=True)
            phone.open(link)
            fill(phone, name=name, nationality="Kenya", home="Nairobi", languages="English, Swahili")
            if name == "Achieng":
                picture(phone, "join", 390)
            follow(phone, "main form button.main")
            phone.open(here)
            fill(phone, agree="yes")
            follow(phone, "main form button.main")

        for name in ("Achieng", "Baraka"):
            phone = phones[name]
            for _ in range(2):
                take(phone, here)
                shown = str(phone.evaluate("document.querySelector('.marked').textContent"))
                if WRONG in shown:
                    drag(phone, shown, WRONG)
                    phone.click(".mark-here")
                    phone.press("2")
                    phone.evaluate(TYPE)
                else:
                    fill(phone, none="yes")
                if WRONG in shown and name == "Achieng":
                    picture(phone, "mark", 390)
                follow(phone, "[data-key=Enter]")
        phone = phones["Chebet"]
        take(phone, here)
        fill(phone, verdict_0="valid", verdict_1="valid")
        follow(phone, "[data-key=Enter]")

        lead.open(f"{here}/overview")
        assert "2 of 2 accepted" in text(lead)
        picture(lead, "overview", 1000)
        packed = base64.b64decode(lead.evaluate(EXPORT))
    start.database.close()
    with zipfile.ZipFile(BytesIO(packed)) as files:
        [card] = [files.read(name).decode() for name in files.namelist() if name.endswith("README.md")]
    assert "3 people" in card
