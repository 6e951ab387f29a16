"""Spans that people select in a real browser: offsets reproduce the selected text in every script, on every device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from mores.studio.form import FormField, StudioForm, read_form
from mores.studio.web.pages import STATIC, environment
from tests.browser import Browser, Page, binary
from tests.studio.serving import serving

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
TEXTS = {
    "en": "They wear a Saree in Oslo.\nIn the second paragraph nothing is wrong.",
    "ar": "في المغرب يشرب الناس الشاي بالنعناع.\nويأكلون الكسكس يوم الجمعة.",
    "hi": "दिवाली पर लोग क्रिसमस ट्री सजाते हैं और मिठाइयाँ बाँटते हैं।",
    "th": "คนไทยไหว้กันตอนเช้าและกินน้ำพริกกับข้าวเหนียว",
    "ja": "お正月には餅を食べ、神社へ初詣に行きます。",
    "emoji": "A 👩‍👩‍👧‍👦 family in 🇰🇪 says 👍🏽 to e\u0301te\u0301.",
}
SEVERITY = FormField("severity", "Severity", "choice", options=[("minor", "Minor"), ("major", "Major")])
DETAILS = (
    SEVERITY,
    FormField("type", "Type", required=False),
    FormField("explanation", "Why?", "text", required=False),
)
PAGE = """<!doctype html>{% import "forms.html" as forms with context %}<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<link rel="stylesheet" href="{{ visit.static('studio.css') }}"></head>
<body><main><div class="two"><article class="thing">
{% for name, part, text, language in texts %}{{ forms.marked(text, part, name, language) }}{% endfor %}</article>
<form class="sheet">{{ forms.fields(form, values, {}, "en") }}</form></div></main>
<dialog id="keys"><dl class="keys"></dl></dialog></body></html>"""


class Desk:
    """Pages with texts to mark, served as the studio draws them."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.html = ""
        self.app.get("/")(lambda: HTMLResponse(self.html))
        self.app.mount("/static", StaticFiles(directory=STATIC))
        self.address = ""

    def show(self, form: StudioForm, texts: Sequence[tuple[str, str, str, str]], values: Any = None) -> None:
        """Draw a form and the texts (field, part, text, language) that it asks about."""
        visit = SimpleNamespace(static=lambda name: f"/static/{name}")
        template = environment("en").from_string(PAGE)
        self.html = template.render(visit=visit, form=form, texts=texts, values=values or {})


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    desk = Desk()
    with serving(desk.app) as desk.address:
        yield desk


def marking(text: str, **fields: Any) -> StudioForm:
    return StudioForm(
        (FormField("marks", "Errors", "marks", parts={"text": text}, details=DETAILS, missing=True, **fields),)
    )


def opened(desk: Desk, browser: Browser, text: str, language: str = "en", values: Any = None, **window: Any) -> Page:
    desk.show(marking(text), [("marks", "text", text, language)], values)
    page = browser.page(**window)
    page.open(desk.address)
    page.wait("document.documentElement.dataset.marks === 'painted'")
    return page


def marks(page: Page, name: str = "marks") -> list[dict[str, Any]]:
    """What would be sent."""
    return list(json.loads(page.evaluate(f"document.querySelector('textarea[name={name}]').value") or "[]"))


def points(page: Page, text: str, quote: str) -> tuple[float, float, float, float]:
    """Where a quote begins and where it ends on the screen, by the browser's own geometry."""
    start = len(text[: text.index(quote)].encode("utf-16-le")) // 2
    end = start + len(quote.encode("utf-16-le")) // 2
    script = f"""(() => {{
        const node = document.querySelector('.marked').firstChild;
        const box = (from, to) => {{
            const range = document.createRange(); range.setStart(node, from); range.setEnd(node, to);
            return range.getClientRects()[0];
        }};
        const segments = [...new Intl.Segmenter().segment(node.data.slice({start}, {end}))];
        const last = segments.at(-1);
        const first = box({start}, {start} + segments[0].segment.length);
        const final = box({end} - last.segment.length, {end});
        const rtl = getComputedStyle(node.parentElement).direction === "rtl";
        return [rtl ? first.right - 1 : first.left + 1, first.top + first.height / 2,
                rtl ? final.left + 1 : final.right - 1, final.top + final.height / 2];
    }})()"""
    x, y, to_x, to_y = page.evaluate(script)
    return x, y, to_x, to_y


def drag(page: Page, text: str, quote: str) -> None:
    """Select with the mouse from one character to another."""
    x, y, to_x, to_y = points(page, text, quote)
    page.move(x, y)
    page.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    for step in (0.5, 1.0):
        at = {"x": x + (to_x - x) * step, "y": y + (to_y - y) * step}
        page.send("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **at)
    page.wait(f"getSelection().toString() === {json.dumps(quote)}")
    page.send("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)
    page.wait("!document.querySelector('.mark-here').hidden")


QUOTES = {
    "en": ["Saree in Oslo", "Oslo.\nIn the"],
    "ar": ["الناس الشاي", "بالنعناع.\nويأكلون"],
    "hi": ["क्रिसमस ट्री"],
    "th": ["น้ำพริกกับข้าวเหนียว"],
    "ja": ["餅を食べ"],
    "emoji": ["👩‍👩‍👧‍👦", "🇰🇪 says 👍🏽", "e\u0301te\u0301"],
}


def walk(page: Page, quote: str, *, shift: bool = False) -> None:
    """Move the caret over each character of a quote with the arrow that leads on in this script."""
    rtl = page.evaluate("getComputedStyle(document.querySelector('.marked')).direction === 'rtl'")
    presses: int = page.evaluate(f"[...new Intl.Segmenter().segment({json.dumps(quote)})].length")
    for _ in range(presses):
        page.press("ArrowLeft" if rtl else "ArrowRight", shift=shift)


@pytest.mark.often("en", "ar")
@pytest.mark.parametrize("language", QUOTES)
def test_words_that_are_selected_by_mouse_and_by_keyboard_are_the_ones_that_are_sent(
    language: str, desk: Desk, browser: Browser
) -> None:
    text = TEXTS[language]
    page = opened(desk, browser, text, language)
    for quote in QUOTES[language]:
        drag(page, text, quote)
        page.click(".mark-here")
        page.press("ArrowDown")
        [mark] = marks(page)
        assert (mark["quote"], text[mark["start"] : mark["end"]]) == (quote, quote)
        assert mark["severity"] == "major", "the focus is on the first question of the new card"
        assert read_form(marking(text), {"marks": [json.dumps([mark])]})["marks"] == [mark]
        page.click("[data-act=remove]")
        assert page.evaluate("document.activeElement.className") == "marked"
        page.press("Home", ctrl=True)
        walk(page, text[: text.index(quote)])
        walk(page, quote, shift=True)
        assert page.evaluate("document.querySelector('.marks [role=status]').textContent") == quote
        page.press("m")
        assert [(each["start"], each["quote"]) for each in marks(page)] == [(mark["start"], quote)]
        page.press("Escape")
        assert page.evaluate("document.activeElement.className") == "marked", "back in the text, after the mark"
        page.press("z", ctrl=True)
        assert marks(page) == []
    assert page.problems == []
    page.close()


def test_on_a_phone_a_tap_on_the_button_near_marks_what_is_selected_in_whole_characters(
    desk: Desk, browser: Browser
) -> None:
    text = TEXTS["hi"]
    page = opened(desk, browser, text, "hi", width=390, height=800, touch=True)
    start = text.index("क्रिसमस")
    # A phone's own selection, whose handles no emulation draws: it begins inside a character and ends after a space.
    page.evaluate(f"""(() => {{ const node = document.querySelector('.marked').firstChild;
        getSelection().setBaseAndExtent(node, {start + 1}, node, {start + len("क्रिसमस ")}); }})()""")
    page.wait("!document.querySelector('.mark-here').hidden")
    _, y, _, _ = points(page, text, "क्रिसमस")
    button = page.box(".mark-here")
    assert 0 < button[1] - y < 120, "the button is near"
    assert min(button[2:]) >= 44, "a finger can hit it"
    page.tap(".mark-here")
    page.wait("document.querySelector('.mark-here').hidden")
    assert [mark["quote"] for mark in marks(page)] == ["क्रिसमस"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.tap(".mark-list [data-act=go]")
    assert page.evaluate("document.activeElement.className") == "marked"
    page.close()


def highlighted(page: Page, name: str) -> list[str]:
    return list(page.evaluate(f"[...CSS.highlights.get({json.dumps(name)})].map((range) => range.toString())"))


def test_marks_overlap_are_painted_by_severity_and_open_when_they_are_clicked(desk: Desk, browser: Browser) -> None:
    text = TEXTS["ja"]
    given = [
        {"part": "text", "start": 0, "end": 9, "quote": text[0:9], "severity": "minor", "type": "food"},
        {"part": "text", "start": 6, "end": 12, "quote": text[6:12], "severity": "major", "explanation": "why"},
    ]
    page = opened(desk, browser, text, "ja", {"marks": given})
    assert highlighted(page, "mark-minor") == [text[0:9]]
    assert highlighted(page, "mark-major") == [text[6:12]]
    assert highlighted(page, "mark-both") == [text[6:9]]
    assert page.evaluate("document.querySelector('.marked').textContent") == text, "the text stays as it is"
    x, y, _, _ = points(page, text, text[10])
    for kind in ("mousePressed", "mouseReleased"):
        page.send("Input.dispatchMouseEvent", type=kind, x=x + 4, y=y, button="left", clickCount=1)
    assert highlighted(page, "mark-active") == [text[6:12]]
    assert page.evaluate("document.activeElement.closest('li').querySelector('.quote').textContent") == text[6:12]
    assert [mark["explanation"] for mark in marks(page) if mark["severity"] == "major"] == ["why"]
    page.click(".mark-list li:first-child [data-act=remove]")
    assert highlighted(page, "mark-minor") == []
    assert [mark["quote"] for mark in marks(page)] == [text[6:12]]
    page.close()


def test_words_lines_and_all_are_selected_by_keys_and_a_word_is_marked_without_selecting(
    desk: Desk, browser: Browser
) -> None:
    text = TEXTS["en"]
    page = opened(desk, browser, text)
    page.press("Tab")
    page.press("End", shift=True)
    page.press("Enter")
    page.press("Escape")
    page.press("End", ctrl=True)
    page.press("ArrowLeft", ctrl=True, shift=True)
    page.press("ArrowLeft", ctrl=True, shift=True)
    page.press("m")
    page.press("Escape")
    page.press("Home", ctrl=True)
    page.press("m")
    page.press("Escape")
    page.press("a", ctrl=True)
    page.press("m")
    first, second = text.split("\n")
    assert [mark["quote"] for mark in marks(page)] == ["They", first, text, "wrong."]
    assert second.endswith("wrong.")
    page.close()


def test_each_field_has_its_own_texts_and_cards_and_only_the_fields_are_sent(desk: Desk, browser: Browser) -> None:
    parts = {name: TEXTS[name] for name in ("en", "hi")}
    answers = [
        FormField(f"marks_{name}", "Errors", "marks", parts={"answer": text}, details=DETAILS, missing=True)
        for name, text in parts.items()
    ]
    desk.show(StudioForm(tuple(answers)), [(f"marks_{name}", "answer", text, name) for name, text in parts.items()])
    page = browser.page()
    page.open(desk.address)
    page.wait("document.documentElement.dataset.marks === 'painted'")
    page.press("Tab")
    page.press("m")
    page.press("Escape")
    page.press("Tab")
    page.press("m")
    page.click("#f-marks_hi [data-act=missing]")
    assert [mark["quote"] for mark in marks(page, "marks_en")] == ["They"]
    assert [(mark["quote"], mark["start"]) for mark in marks(page, "marks_hi")] == [("दिवाली", 0), ("", None)]
    sent = page.evaluate("[...new FormData(document.querySelector('form')).keys()]")
    assert sent == ["marks_en", "marks_hi"]
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    page.close()


def test_a_hostile_text_is_only_text(desk: Desk, browser: Browser) -> None:
    text = '<img src=x onerror=alert(1)> \u202e reversed \u202c & "quoted" </div><script>alert(2)</script>'
    page = opened(desk, browser, text)
    page.press("Tab")
    page.press("a", ctrl=True)
    page.press("m")
    [mark] = marks(page)
    assert mark["quote"] == text
    assert page.dialogs == []
    assert page.evaluate("document.querySelectorAll('.marked img, .marked script, .mark-list img').length") == 0
    page.close()
