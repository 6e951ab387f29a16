"""Every screen of the demo in a real browser: wide, on a phone in the dark, and on a phone in Arabic.

`MORES_PICTURES=build/studio pytest tests/studio/test_looks.py` keeps a picture of each (`make pictures`).
"""

from __future__ import annotations

import os
import re
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import update

from mores.studio import app
from mores.studio.serve import prepare
from mores.studio.store.database import Database
from mores.studio.store.tables import items, people
from mores.studio.web import pages
from mores.studio.web.pages import STATIC, hash_static_files
from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page, binary
from tests.studio.looks import Screen, Walk
from tests.studio.serving import follow, serving
from tests.studio.unmarked import LOCALE, marked, own_texts, unmarked

browsing = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
TALLEST = 2600


class View(NamedTuple):
    """How somebody looks at a page."""

    width: int
    dark: bool
    locale: str


WIDE = View(1280, False, "en")
VIEWS = {
    "sample": WIDE,
    "wide": WIDE,
    "squeezed": WIDE,
    "phone": View(390, True, "en"),
    "arabic": View(390, False, "ar"),
}
IN_DOCS = {
    "phone-verifier-culturalteaming-items": "studio-verify.png",
    "wide-author-culturalteaming-items-3": "studio-duel.png",
    "wide-organiser-culturalteaming": "studio-overview.png",
    "wide-organiser-campaigns-new": "studio-new.png",
    "arabic-author-culturalteaming-items-3": "studio-arabic.png",
    "wide-annotator-marking-items": "studio-marking.png",
    "wide-annotator-rating-items": "studio-rating.png",
    "wide-annotator-validation-items": "studio-validation.png",
}
"""The pictures that docs/studio.md shows."""
FAULTS = """((locale) => {
    const faults = [];
    const seen = (node) => node.checkVisibility() && !node.closest("dialog, .skip");
    const shown = (node) => node.outerHTML.slice(0, 120);
    const html = document.documentElement;
    if (html.scrollWidth > innerWidth) faults.push(`wider than the window: ${html.scrollWidth}`);
    if (html.lang !== locale || html.dir !== (locale === "ar" ? "rtl" : "ltr")) faults.push("language");
    if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
    let level = 1;
    for (const heading of document.querySelectorAll("main :is(h1, h2, h3, h4)")) {
        const own = Number(heading.tagName[1]);
        if (own > level + 1) faults.push(`heading skips a level: ${shown(heading)}`);
        level = own;
    }
    const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`two have the id ${id}`);
    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea:not([hidden])")) {
        if (!field.labels.length && !field.ariaLabel) faults.push(`no label: ${shown(field)}`);
    }
    for (const node of document.querySelectorAll("a, button")) {
        if (!node.textContent.trim() && !node.ariaLabel) faults.push(`no name: ${shown(node)}`);
    }
    const targets = "button, select, summary, .button, .option, .top a, :not(label) > input:not([type=hidden])";
    for (const node of document.querySelectorAll(targets)) {
        if (seen(node) && node.getBoundingClientRect().height < 43.5) faults.push(`small: ${shown(node)}`);
    }
    return [...new Set(faults)];
})"""


NARROW = {"a small phone": 320, "a zoom of 200%": 640}
"""Widths in which every page must fit, besides those of the views: what is 1,280 wide has 640 at a zoom of 200%."""
CLIPPED = """(() => {
    const faults = [];
    const html = document.documentElement;
    if (html.scrollWidth > innerWidth) faults.push(`wider than the window: ${html.scrollWidth}`);
    for (const node of document.querySelectorAll("body *:not(input, svg, svg *, option, .skip)")) {
        const style = getComputedStyle(node);
        const shut = ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis";
        if (shut && node.checkVisibility() && node.scrollWidth > node.clientWidth + 1) {
            faults.push(`clipped: ${node.outerHTML.slice(0, 100)}`);
        }
    }
    return faults;
})()"""
PRINTED = """(() => {
    const shown = (node) => node.checkVisibility() && node.getBoundingClientRect().height > 0;
    const left = [...document.querySelectorAll(".top, .foot, .crumbs, .skip, button")].filter(shown);
    const faults = left.map((node) => `printed: ${node.outerHTML.slice(0, 100)}`);
    if (!shown(document.querySelector("h1"))) faults.push("no title");
    return faults;
})()"""


class Looks(NamedTuple):
    """The demo, served."""

    walk: Walk
    screens: list[Screen]
    """Their texts are in the language in which every translation is marked."""
    address: str
    own: tuple[str, ...]
    """What people wrote in the demo."""


SOME = frozenset({"culturalteaming", "marking"})
"""The kinds of campaigns at whose screens `make test` looks."""


@pytest.fixture(scope="module", params=["some", "all"])
def looks(
    request: pytest.FixtureRequest, demo_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Looks]:
    database = prepare(shutil.copy(demo_database, tmp_path_factory.mktemp("looks") / "studio.db"), demo=True).database
    studio = app(database, model="none")
    walk = Walk(studio, database, SOME if request.param == "some" else None)
    with in_marked_language(database):
        screens = walk.all()
    with serving(studio) as address:
        yield Looks(walk, screens, address, own_texts(database))
    database.close()


@contextmanager
def in_marked_language(database: Database) -> Iterator[None]:
    """Everybody reads a language in which every translation is marked; afterwards English."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "translate", lambda _locale: marked())
        forget()
        speak(database, LOCALE)
        yield
        speak(database, "en")
    forget()


def speak(database: Database, locale: str) -> None:
    """Everybody has chosen this language."""
    with database.write() as connection:
        connection.execute(update(people).values(locale=locale))


def forget() -> None:
    """Draw pages anew, with other translations."""
    pages.translator.cache_clear()
    pages.environment.cache_clear()


@browsing
@pytest.mark.often("some-sample")
@pytest.mark.parametrize(
    ("looks", "view"), [("some", "sample"), *(("all", view) for view in VIEWS)], indirect=["looks"], scope="module"
)
def test_every_screen(looks: Looks, browser: Browser, view: str) -> None:
    """As a sample, each kind of page of each role, and those of items in every kind of campaign."""
    width, dark, locale = VIEWS[view]
    screens = list({screen.kind: screen for screen in looks.screens}.values()) if view == "sample" else looks.screens
    speak(looks.walk.database, locale)
    page = browser.page(width=width, height=900, dark=dark, touch=width < 700)
    faults = {}
    for screen in screens:
        page.send("Network.clearBrowserCookies")
        if screen.cookie:
            page.send("Network.setCookie", name=COOKIE, value=screen.cookie, url=looks.address)
        page.problems.clear()
        page.open(f"{looks.address}{screen.path}" + ("" if screen.cookie else f"?lang={locale}"))
        found = [*page.evaluate(f"{FAULTS}('{locale}')"), *(each for each in page.problems if "404" not in each)]
        if view == "squeezed":
            found += squeezed(page)
            page.resize(width, 900)
        if found:
            faults[screen.name] = found
        if (folder := os.environ.get("MORES_PICTURES")) and view != "sample":
            keep_picture(page, Path(folder) / f"{view}-{screen.name}.png", width)
            if name := IN_DOCS.get(f"{view}-{screen.name}"):
                keep_picture(page, Path(folder) / name, width, tallest=860)
    page.close()
    speak(looks.walk.database, "en")
    assert not faults, "\n".join(f"{name}: {fault}" for name, found in faults.items() for fault in found)


def squeezed(page: Page) -> list[str]:
    """What is wrong with an open page on a small phone, at a large zoom, and on paper."""
    found = []
    for name, width in NARROW.items():
        page.resize(width, 900)
        found += [f"{name}: {fault}" for fault in page.evaluate(CLIPPED)]
    page.send("Emulation.setEmulatedMedia", media="print")
    found += [f"on paper: {fault}" for fault in page.evaluate(PRINTED)]
    page.send("Emulation.setEmulatedMedia", media="")
    return found


def keep_picture(page: Page, path: Path, width: int, tallest: int = TALLEST) -> None:
    """Save the whole page, up to a height."""
    height = min(page.evaluate("document.documentElement.scrollHeight"), tallest)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    picture = page.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b64decode(picture["data"]))


@pytest.mark.often("some")
@browsing
def test_shortcuts_and_problems_are_where_people_are(looks: Looks, browser: Browser) -> None:
    screen = next(each for each in looks.screens if each.name.startswith("verifier-culturalteaming-items"))
    page = browser.page()
    page.send("Network.setCookie", name=COOKIE, value=screen.cookie, url=looks.address)
    page.open(f"{looks.address}{screen.path}")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %r, bubbles: true}))"
    page.evaluate(press % "?")
    assert page.evaluate("document.getElementById('keys').open")
    page.press("Escape")
    page.wait("!document.getElementById('keys').open")
    page.evaluate(press % "2")
    assert page.evaluate("[...document.querySelectorAll('.option input')].map((box) => box.checked).indexOf(true)") == 1
    page.evaluate(press % "2")
    follow(page, "[data-key=Enter]")
    assert page.evaluate("document.activeElement.closest('fieldset').getAttribute('aria-invalid')") == "true"
    assert page.evaluate("document.querySelector('[role=alert] a').getAttribute('href')") == "#f-answer"
    page.close()


def at(looks: Looks, browser: Browser, cookie: str, path: str) -> Page:
    """A page as somebody sees it."""
    page = browser.page()
    page.send("Network.setCookie", name=COOKIE, value=cookie, url=looks.address)
    page.open(f"{looks.address}{path}")
    return page


@pytest.mark.often("some")
@browsing
def test_lists_are_walked_by_arrows_and_letters(looks: Looks, browser: Browser) -> None:
    organiser = next(each for each in looks.screens if each.name.startswith("organiser-"))
    author = next(each for each in looks.screens if each.name.startswith("author-culturalteaming-items"))
    lists = {"/c/demo-culturalteaming/items": organiser.cookie, "/c/demo-culturalteaming": author.cookie}
    line = "(document.activeElement.closest('main :is(li, tr)') ?? {}).innerText"
    lines = "[...document.querySelectorAll('main :is(.list > li, tbody > tr)')].map((line) => line.innerText)"
    for path, cookie in lists.items():
        page = at(looks, browser, cookie, path)
        texts = page.evaluate(lines)
        assert len(texts) > 1, path
        places = []
        for key in ("ArrowDown", "ArrowDown", "k", "j", "ArrowUp"):
            page.press(key)
            places.append(texts.index(page.evaluate(line)))
        assert places == [0, 1, 0, 1, 0], path
        page.press("?")
        assert page.evaluate("document.getElementById('keys').open && keys.innerText.length > 99")
        page.press("Escape")
        page.evaluate("window.here = true")
        page.press("Enter")
        page.wait("!window.here && location.pathname.includes('/items/')")
        page.close()


@pytest.mark.often("some")
@browsing
def test_disagreements_are_turned_by_arrows_and_letters(looks: Looks, browser: Browser) -> None:
    organiser = next(each for each in looks.screens if each.name.startswith("organiser-"))
    verified = (items.c.campaign == "demo-culturalteaming", items.c.stage == "verify", items.c.status != "accepted")
    with looks.walk.database.write() as connection:
        assert connection.execute(update(items).where(*verified).values(disputed=True)).rowcount > 1
    page = at(looks, browser, organiser.cookie, "/c/demo-culturalteaming/disagreements")
    seen = []
    for key in ("j", "ArrowLeft", "ArrowRight", "k"):
        page.evaluate("window.here = true")
        page.press(key)
        page.wait("!window.here && document.readyState === 'complete'")
        seen.append(page.evaluate("document.querySelector('.queue span').innerText.match(/[0-9]+/)[0]"))
    page.close()
    assert seen == ["2", "1", "2", "1"]


@pytest.mark.often("some")
def test_pages_are_light_and_static_files_are_kept(looks: Looks) -> None:
    assert looks.walk.too_long == []
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < 67_000
    page = looks.walk.browser().get("/login")
    assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(assets) >= 3
    assert all(asset.endswith(f"?v={hash_static_files()}") for asset in assets)
    assert "immutable" in looks.walk.browser().get(assets[0]).headers["cache-control"]
    assert "immutable" not in looks.walk.browser().get("/static/studio.css?v=old").headers["cache-control"]


@pytest.mark.often("some")
def test_every_text_is_translated(looks: Looks) -> None:
    """What is not marked is what somebody wrote."""
    faults = {}
    for screen in looks.screens:
        if english := unmarked(screen.text, looks.own):
            faults[f"{screen.name} {screen.path}"] = english
    assert not faults, "\n".join(dict.fromkeys(f"{text!r} ({name})" for name in faults for text in faults[name]))


FORM = r'<form method="post" action="([^"]+)"[^>]*>(.*?)</form>'
DONE = ("/logout", "/language", "/open", "/remove", "/decline", "/withdraw", "/export", "/duplicate")
"""Ends of actions that need no values, and so find nothing wrong with any."""


@pytest.mark.often("some")
def test_what_is_wrong_with_a_form_is_translated(looks: Looks) -> None:
    """Every form of the demo, sent once by each role, empty or with values that nobody can use."""
    wrong = {"uses": "x", "name": "", "nationality": "Kenia, Narnia", "number": "0", "source_1": "x", "sure": ""}
    settings = dict.fromkeys(("regions", "languages"), "Narnia") | dict.fromkeys(
        ("pilot", "budget", "hold_hours", "verifiers", "certainty", "runs", "most_correct"), "999999"
    )
    settings |= dict.fromkeys(("check_every", "cutoff", "counted", "reviewer", "practice"), "- x")
    named = ("campaign", "Narnia", "Kenia", "Kenya", "Armenia", "Nara", "Nankina", "AM", "nrb", "nnk", "list.csv")
    own = (*looks.own, *named)
    faults, count, sent = {}, 0, set()
    with in_marked_language(looks.walk.database):
        for screen in looks.screens:
            browser, role = looks.walk.browser(screen.cookie), screen.name.partition("-")[0]
            for action, form in re.findall(FORM, screen.text, re.DOTALL):
                kind = (role, re.sub(r"\b[0-9a-f]{12,16}\b", "", action), *re.findall(r'name="([^"]+)"', form))
                if action.endswith(DONE) or kind in sent:
                    continue
                sent.add(kind)
                hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
                data = hidden | (settings if action.endswith(("settings", "campaigns")) else wrong) | {"then": "submit"}
                answer = browser.post(action, data=data, headers={"accept-language": LOCALE})
                count += answer.status_code in (403, 409, 422)
                if english := unmarked(answer.text, own):
                    faults[action] = english
    assert not faults, "\n".join(dict.fromkeys(f"{text!r} ({name})" for name in faults for text in faults[name]))
    assert count > 20


def luminance(colour: str) -> float:
    """Relative luminance of `#rgb` or `#rrggbb` (WCAG 2.2)."""
    digits = colour.lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read(scheme: str) -> None:
    css = (STATIC / "studio.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", blocks[0 if scheme == "light" else 1]))

    def contrast(ink: str, ground: str) -> float:
        one, other = luminance(colours[ink]), luminance(colours[ground])
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)

    texts = [(ink, ground) for ink in ("ink", "soft", "accent") for ground in ("page", "card", "sunk")]
    texts += [(name, f"{name}-tint") for name in ("accent", "good", "bad", "warn")]
    texts += [("ink", f"{name}-tint") for name in ("accent", "good", "bad", "warn")]
    texts += [("on-accent", "accent"), ("bad", "card"), ("good", "card"), ("warn", "sunk"), ("good", "sunk")]
    assert [pair for pair in texts if contrast(*pair) < 4.5] == []
    assert [pair for pair in (("edge", "card"), ("edge", "page"), ("accent", "page")) if contrast(*pair) < 3] == []
