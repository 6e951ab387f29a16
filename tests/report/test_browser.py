"""The page in a real browser: marks sit on the right words, and everything a person does with it works."""

from __future__ import annotations

import json
import random
import re
import struct
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from mores.types import Error, Evidence, FailureKind, Sample, Severity, Side, Signature
from tests.browser import Browser, Page, pixels
from tests.report.conftest import Show
from tests.report.samples import PAIRS, SIGNATURE, Pair, failed, judged, mistake
from tests.report.samples import page as html_of

ALPHABET = [
    "a",
    " ",
    "é",
    "e\u0301",
    "\n",
    "字",
    "𠮷",
    "😀",
    "👨‍👩‍👧",
    "🇯🇵",
    "ع",
    "َ",
    "ש",
    "क",
    "्",
    "ก",
    "็",
    "\u200f",
    "<",
    "&",
]
HOSTILE = "</script><script>window.hacked = 1; alert(1)</script><img src=x onerror='window.hacked = 2'>"
WORST = [7, 0, 3, 1, 4, 8, 2, 5, 10, 11, 9, 6]
"""Places of the samples in the order of the page."""
ORDER = ("q", "state", "severity", "type", "language", "region", "bar", "sort")
"""The filters in the order of the URL."""

MARKS = """[...document.querySelectorAll(".card")].map((card) => ({
    place: Number(card.dataset.place),
    sides: Object.fromEntries(["instruction", "text"].map((name) => {
        const body = card.querySelector(`.side.${name} .body`);
        const pieces = [...body.childNodes].filter((n) => !n.matches || !n.matches(".ref"));
        const marks = pieces.map((n) => [n.textContent, n.dataset ? n.dataset.errors : ""]);
        return [name, {text: body.textContent, marks}];
    })),
}))"""


def in_order(errors: tuple[Error, ...]) -> list[Error]:
    """As the page numbers them: the instruction's, the text's, those that were not found."""
    return sorted(errors, key=lambda e: (not e.located, e.side == "text", e.start or 0, e.end or 0))


def marks_by_hand(sample: Sample, errors: tuple[Error, ...], side: Side) -> list[list[str]]:
    """The marked words of one side: code points that lie in the same errors, worked out one by one."""
    numbered = [(str(n), e) for n, e in enumerate(in_order(errors), 1) if e.side == side and e.located]
    covering = [
        " ".join(n for n, e in numbered if e.start <= i < e.end)  # type: ignore[operator]
        for i in range(len(sample.side(side)))
    ]
    return joined([[char, names] for char, names in zip(sample.side(side), covering, strict=True)])


def joined(pieces: list[list[str]]) -> list[list[str]]:
    """Neighbours of the same errors as one: a number may stand between them."""
    groups = groupby(pieces, key=lambda piece: piece[1])
    return [["".join(piece[0] for piece in group), names] for names, group in groups if names]


def assert_marked(page: Page, pairs: list[Pair]) -> None:
    drawn = page.evaluate(MARKS)
    assert len(drawn) == len(pairs)
    for card in drawn:
        sample, judgement = pairs[card["place"]]
        errors = judgement.report.errors if judgement.report else ()
        for side in ("instruction", "text"):
            shown = card["sides"][side]
            assert shown["text"] == sample.side(side)
            assert joined(shown["marks"]) == marks_by_hand(sample, errors, side)
        for number, error in enumerate(in_order(errors), 1):
            pieces = [text for text, names in card["sides"][error.side]["marks"] if str(number) in names.split()]
            assert "".join(pieces) == (error.quote if error.located else "")


def random_pair(rng: random.Random, number: int) -> Pair:
    """A text of many scripts with up to six errors anywhere, which often overlap, nest and touch."""
    text = "".join(rng.choices(ALPHABET, k=rng.randint(1, 30)))
    sample = Sample(id=f"random-{number}", text=text)
    errors = []
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(text))
        end = rng.randint(start + 1, len(text))
        severity = rng.choice([Severity.MINOR, Severity.MAJOR])
        errors.append(Error(side="text", start=start, end=end, quote=text[start:end], severity=severity, type="t"))
    return judged(sample, *errors)


def places(page: Page) -> list[int]:
    """The cards that are on the page, by their place in the input."""
    found_places: list[int] = page.evaluate(
        "[...document.querySelectorAll('.card:not([hidden])')].map((c) => Number(c.dataset.place))"
    )
    return found_places


def choose(page: Page, name: str, value: str) -> None:
    """Choose an option that the select has, as a person's choice arrives: an input event."""
    assert page.evaluate(
        f"""(() => {{
            const field = document.getElementById({json.dumps(name)});
            field.value = {json.dumps(value)};
            field.dispatchEvent(new Event("input", {{bubbles: true}}));
            return field.value === {json.dumps(value)};
        }})()"""
    ), f"{name} does not offer {value}"


def wait_for_count(page: Page, shown: int) -> None:
    page.wait(f"document.getElementById('count').textContent === 'Showing {shown} of {len(PAIRS)}'")


def popover(page: Page) -> str:
    """The words of the popover once it is open."""
    page.wait("!document.getElementById('popover').hidden")
    return str(page.evaluate("document.getElementById('popover').innerText"))


def wait_closed(page: Page) -> None:
    page.wait("document.getElementById('popover').hidden")


def test_marks_sit_on_the_quotes_in_every_script(show: Show) -> None:
    assert_marked(show(), list(PAIRS))


def test_marks_of_many_random_spans(show: Show) -> None:
    rng = random.Random(20)
    pairs = [random_pair(rng, number) for number in range(50)]
    assert_marked(show(pairs), pairs)


def test_overlaps_show_the_worse_severity(show: Show) -> None:
    sample = Sample(id="a", text="one two three")
    minor = mistake(sample, "one two", Severity.MINOR, "t", "first")
    major = mistake(sample, "two three", Severity.MAJOR, "t", "second")
    page = show([judged(sample, minor, major)])
    drawn = page.evaluate("[...document.querySelectorAll('mark')].map((m) => [m.textContent, m.className])")
    assert drawn == [["one ", "minor"], ["two", "major stacked"], [" three", "major"]]
    page.hover("mark.stacked")
    assert "first" in popover(page)
    assert "second" in popover(page)
    assert page.evaluate("document.querySelectorAll('mark.active').length") == 3


def test_hover_opens_and_leaving_closes(show: Show) -> None:
    page = show()
    page.hover("[data-place='0'] mark.major")
    words = popover(page)
    assert "Major" in words
    assert "incorrect information" in words
    assert "One bows twice, claps twice, bows once." in words
    page.hover("#popover")
    page.evaluate("new Promise((done) => setTimeout(done, 350))")
    assert "One bows twice" in popover(page)  # one can move onto it to read or select
    page.hover("h1")
    wait_closed(page)


def test_keyboard_reaches_each_error_and_escape_closes(show: Show) -> None:
    sample, judgement = PAIRS[0]
    page = show([(sample, judgement)])
    page.evaluate("document.getElementById('sort').focus()")
    assert judgement.report is not None
    for error in judgement.report.errors:
        page.press("Tab")
        assert page.evaluate("document.activeElement.previousSibling.textContent") == error.quote
        assert error.explanation in popover(page)
        assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "popover"
    page.press("Escape")
    wait_closed(page)
    page.press("Enter")
    page.wait("document.querySelector('.error:target') !== null")
    assert error.explanation in page.evaluate("document.querySelector('.error:target').innerText")
    assert page.evaluate("document.getElementById('count').textContent") == "Showing 1 of 1"


@pytest.mark.slow
def test_escape_closes_for_good(show: Show) -> None:
    page = show()
    page.click("[data-place='0'] mark.major")
    popover(page)
    page.press("Escape")
    wait_closed(page)
    page.hover("h1")
    page.evaluate("new Promise((done) => setTimeout(done, 350))")
    wait_closed(page)


@pytest.mark.slow
def test_tap_opens_every_popover_on_the_screen_of_a_phone(show: Show) -> None:
    page = show(width=360, height=640, touch=True)
    count = page.evaluate("[...document.querySelectorAll('mark')].map((m, i) => { m.id = 'mark-' + i; }).length")
    assert count > 15
    for number in range(count):
        page.tap(f"#mark-{number}")
        page.wait(f"document.getElementById('mark-{number}').hasAttribute('aria-describedby')")
        assert popover(page)
        left, top, right, bottom = page.evaluate(
            "(({left, top, right, bottom}) => [left, top, right, bottom])"
            "(document.getElementById('popover').getBoundingClientRect())"
        )
        assert left >= 0
        assert top >= 0
        assert right <= 360
        assert bottom <= 640
        page.press("Escape")  # it may lie over the next mark


def test_a_tap_elsewhere_closes(show: Show) -> None:
    page = show(width=360, height=640, touch=True)
    page.tap("[data-place='7'] mark")
    popover(page)
    page.tap("[data-place='7'] .why")
    wait_closed(page)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, WORST),
        ({"sort": "input"}, list(range(12))),
        ({"state": "errors"}, [7, 0, 3, 1, 4, 8, 2, 5]),
        ({"state": "clean"}, [9, 6]),
        ({"state": "failed"}, [10, 11]),
        ({"severity": "minor"}, [7, 0, 3, 1, 4, 8]),
        ({"severity": "major"}, [7, 0, 3, 1, 4, 8, 2, 5]),
        ({"type": "stereotyping"}, [7, 3]),
        ({"type": "misrepresentation"}, [7, 0, 3, 1, 8, 5]),
        ({"type": "misrepresentation", "severity": "minor"}, [7, 0, 1]),
        ({"language": "en"}, [7, 0]),
        ({"language": "en", "region": "MX"}, [7]),
        ({"region": "JP", "sort": "input"}, [0, 3]),
        ({"bar": "e6"}, [1, 4, 8]),
        ({"bar": "unknown"}, [9]),
        ({"q": "holi"}, [5]),
        ({"q": "  GRAVE "}, [7]),
        ({"q": "𠮷田"}, [3]),
        ({"q": "1,024 tokens"}, [10]),
        ({"q": "eid", "severity": "major", "language": "ar"}, [1]),
        ({"language": "th", "state": "errors"}, []),
    ],
)
def test_filters_work_alone_and_together(shown: Page, chosen: dict[str, str], expected: list[int]) -> None:
    shown.evaluate("void (location.hash = '')")
    wait_for_count(shown, len(PAIRS))
    for name, value in chosen.items():
        choose(shown, name, value)
    used = urlencode({name: chosen[name] for name in ORDER if name in chosen})
    shown.wait(f"location.hash.slice(1) === {json.dumps(used)}")
    wait_for_count(shown, len(expected))
    assert places(shown) == expected
    assert shown.evaluate("document.getElementById('none').hidden") is bool(expected)
    assert shown.evaluate("document.getElementById('reset').hidden") is not bool(chosen)


def test_filters_offer_names_and_counts(shown: Page) -> None:
    offered = shown.evaluate(
        "Object.fromEntries(['type', 'language', 'region'].map((id) =>"
        "[id, [...document.getElementById(id).options].map((o) => o.textContent)]))"
    )
    assert offered["language"][:2] == ["Any", "English (2)"]
    assert "Chinese (Simplified) (1)" in offered["language"]
    assert offered["region"][1] == "Japan (2)"
    assert "misrepresentation (6)" in offered["type"]  # counted once per text, whatever its case


def test_the_hash_restores_the_filters_and_reset_clears_them(show: Show) -> None:
    page = show(fragment="#q=grave&severity=major&type=no-such-type&unknown=1")
    wait_for_count(page, 1)
    assert page.evaluate("[...document.querySelectorAll('#q, #severity, #type')].map((f) => f.value)") == (
        ["grave", "major", ""]
    )
    page.click("#reset")
    wait_for_count(page, 12)
    assert page.evaluate("location.hash") == ""
    page.evaluate("void (location.hash = '#region=JP')")
    wait_for_count(page, 2)


@pytest.mark.slow
def test_typing_in_the_search_field(show: Show) -> None:
    page = show()
    page.click("#q")
    page.type("kettle")
    wait_for_count(page, 0)
    assert "No text matches" in page.evaluate("document.getElementById('none').innerText")


def test_a_bar_filters_and_a_second_click_takes_it_back(show: Show) -> None:
    page = show()
    page.click(".bar[data-bar='e7']")
    wait_for_count(page, 2)
    assert places(page) == [0, 3]
    assert page.evaluate("document.querySelector('[data-bar=e7]').getAttribute('aria-pressed')") == "true"
    page.press("Enter")
    wait_for_count(page, 12)
    page.press(" ")
    wait_for_count(page, 2)


def test_filters_on_a_phone_open_with_a_button(show: Show) -> None:
    page = show(width=360, height=740, touch=True)
    visible = "document.getElementById('severity').checkVisibility()"
    assert not page.evaluate(visible)
    page.tap("#toggle")
    page.wait(visible)
    choose(page, "severity", "minor")
    page.wait("document.getElementById('toggle').textContent === 'Filters (1)'")


AWKWARD = Sample(
    id="id-" + "long" * 60,
    language="de",
    region="DE",
    text="Donaudampfschifffahrtsgesellschaft" * 20 + "\n" + "https://example.org/" + "a" * 300,
    instruction="x" * 400,
)


@pytest.mark.often("360")
@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_nothing_is_wider_than_the_window(show: Show, width: int) -> None:
    awkward = judged(AWKWARD, mistake(AWKWARD, "a" * 300, Severity.MAJOR, "t" * 200, "e" * 500), why="w" * 500)
    gone = failed(AWKWARD.model_copy(update={"language": "l" * 100}), FailureKind.SCHEMA, "r" * 500)
    options = {"title": "T" * 100, "summary": {"Judged": "f" * 200}, "warning": "w" * 300}
    page = show([*PAIRS, awkward, gone], width=width, height=740, touch=width < 500, **options)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.evaluate("document.querySelectorAll('.unfold').forEach((b) => b.click())")
    if width < 900:
        page.click("#toggle")
    page.click("[data-place='12'] mark")
    popover(page)
    assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
    outside = page.evaluate(
        "[...document.querySelectorAll('body *:not(option)')].filter((n) => n.checkVisibility()"
        " && !n.closest('.scroll')"
        f" && n.getBoundingClientRect().right > {width} + 0.5).map((n) => n.outerHTML.slice(0, 80))"
    )
    assert outside == []


@pytest.mark.slow
def test_controls_on_a_phone_are_large_enough_to_tap(show: Show) -> None:
    page = show(width=360, height=740, touch=True)
    page.tap("#toggle")
    page.wait("document.getElementById('sort').checkVisibility()")
    sizes = page.evaluate(
        "[...document.querySelectorAll('button, select, input, summary')].filter((n) => n.checkVisibility())"
        ".map((n) => [n.id || n.tagName, n.getBoundingClientRect().height, n.getBoundingClientRect().width])"
    )
    assert len(sizes) > 20
    assert [size for size in sizes if size[1] < 40 or size[2] < 40] == []


def test_hostile_texts_do_not_run(show: Show) -> None:
    fields = dict.fromkeys(("id", "text", "instruction", "language", "region", "source"), HOSTILE)
    sample = Sample(**fields)
    missing = Error(side="text", quote="javascript:alert(1)" + HOSTILE, severity=Severity.MINOR, type=HOSTILE)
    report = judged(sample, mistake(sample, HOSTILE, Severity.MAJOR, HOSTILE, HOSTILE), missing, why=HOSTILE)
    noted = (
        sample,
        report[1].model_copy(
            update={"notes": (HOSTILE,), "signature": Signature({HOSTILE: HOSTILE}), "judge": HOSTILE}
        ),
    )
    pairs = [noted, failed(sample, FailureKind.PARSE, HOSTILE)]
    page = show(pairs, title=HOSTILE, summary={HOSTILE: HOSTILE}, warning=HOSTILE)
    page.hover("mark")
    assert HOSTILE in popover(page)
    choose(page, "type", HOSTILE.lower())
    page.wait("document.querySelectorAll('.card:not([hidden])').length === 1")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("document.querySelectorAll('img, script').length") == 1
    assert page.evaluate("document.querySelector('.side.text .body').textContent") == HOSTILE


def test_the_policy_refuses_markup_scripts_and_loads(show: Show) -> None:
    page = show()
    refused = "(() => { try { document.body.innerHTML = '<b>'; return false; } catch { return true; } })()"
    assert page.evaluate(refused)
    page.evaluate(
        "void document.body.append(Object.assign(document.createElement('img'), {src: 'http://127.0.0.1:9/x'}))"
    )
    page.wait(lambda: any("img-src" in problem for problem in page.problems))
    assert not [url for url in page.requests if url.startswith("http:")]
    page.problems.clear()


@pytest.mark.parametrize(("place", "direction"), [(1, "rtl"), (2, "rtl"), (3, "ltr"), (5, "ltr"), (0, "ltr")])
def test_direction_and_language_of_the_text(shown: Page, place: int, direction: str) -> None:
    shown.evaluate("void (location.hash = '')")
    wait_for_count(shown, len(PAIRS))
    for side in ("instruction", "text"):
        body = f"document.querySelector(\"[data-place='{place}'] .side.{side} .body\")"
        assert shown.evaluate(f"getComputedStyle({body}).direction") == direction
        assert shown.evaluate(f"{body}.lang") == PAIRS[place][0].language


def test_an_arabic_text_starts_at_the_right(show: Show) -> None:
    page = show()
    body, mark = "[data-place='1'] .side.text .body", "[data-place='1'] mark.major"
    assert page.box(mark)[0] > page.box(body)[0] + page.box(body)[2] / 2


def test_a_right_to_left_language_wins_over_the_first_letter(show: Show) -> None:
    page = show([judged(Sample(id="a", language="ar", text="WhatsApp هو تطبيق"))])
    assert page.evaluate("getComputedStyle(document.querySelector('.side.text .body')).direction") == "rtl"


@pytest.mark.slow
def test_cards_say_what_they_know(show: Show) -> None:
    page = show()

    def words(place: int) -> str:
        page.box(f"[data-place='{place}']")  # what is out of sight has no inner text
        text: str = page.evaluate(f"document.querySelector(\"[data-place='{place}']\").innerText")
        return " ".join(text.split())

    assert "−7 1 major, 2 minor" in words(0)
    assert "English · Japan" in words(0)
    assert "The order of hand-washing" in words(0)
    assert "No errors found by the judge’s knowledge, without evidence p(R) 0.931" in words(6)
    assert "p(R) unknown" in words(9)
    assert "not found in the text: “젓가락을 밥에 꽂아”" in words(8)
    assert "Not judged, the answer was cut off (fault of the text): the answer was cut off after 1,024 tokens" in words(
        10
    )
    page.click("[data-place='9'] summary")
    page.wait("document.querySelector(\"[data-place='9'] details\").open")
    assert "p(R) could not be had: no log-probabilities" in words(9)
    assert str(SIGNATURE) in words(9)


LONG = Sample(id="long", text="Tea is taken at four. " * 70 + "Everybody bows to the kettle. " + "Milk goes in. " * 40)
BOW = mistake(LONG, "Everybody bows to the kettle", Severity.MAJOR, "stereotyping", "Nobody does.")


def test_a_long_text_folds_and_says_how_long_it_is(show: Show) -> None:
    page = show([judged(LONG, BOW)])
    height = "document.querySelector('.side.text .body').offsetHeight"
    folded = page.evaluate(height)
    assert page.evaluate("document.querySelector('.unfold').textContent") == "Show all 2,130 characters"
    page.click(".unfold")
    assert page.evaluate(height) > folded
    assert page.evaluate("document.querySelector('.unfold').textContent") == "Show less"


@pytest.mark.slow
def test_an_error_behind_the_fold_opens_it_when_focused(show: Show) -> None:
    page = show([judged(LONG, BOW)])
    page.evaluate("document.getElementById('sort').focus()")
    page.press("Tab")
    assert page.evaluate("document.activeElement.previousSibling.textContent") == BOW.quote
    assert not page.evaluate("document.querySelector('.body').matches('.folded')")
    assert "Nobody does." in popover(page)


def many(n: int) -> list[Pair]:
    samples = [Sample(id=str(i), language="en", text=f"Text number {i}. " * 40) for i in range(n)]
    return [judged(s, mistake(s, f"number {s.id}.", Severity.MINOR, "t", "e")) for s in samples]


@pytest.mark.slow
def test_two_thousand_cards_are_all_on_the_page_and_those_out_of_sight_cost_nothing(show: Show) -> None:
    page = show(many(2100), limit=2000)
    assert len(places(page)) == 2000
    assert page.evaluate("document.getElementById('count').textContent") == "Showing 2,000 of 2,000"
    assert "the 2,000 worst of 2,100 texts" in page.evaluate("document.querySelector('.left-out').innerText")
    last = "document.querySelector('#cards .card:last-child .about')"
    assert not page.evaluate(f"{last}.checkVisibility({{contentVisibilityAuto: true}})")
    choose(page, "q", "number 1999.")
    page.wait("document.querySelectorAll('.card:not([hidden])').length === 1")


def test_everything_can_be_read_without_the_script(browser: Browser, tmp_path: Path) -> None:
    pairs = [*PAIRS, resting(), judged(LONG, BOW)]
    path = tmp_path / "report.html"
    path.write_text(re.sub("<script>.*?</script>", "", html_of(pairs, title="t"), flags=re.DOTALL), encoding="utf-8")
    tab = browser.page()
    tab.open(path.as_uri())
    assert_marked(tab, pairs)
    for selector in (".body", ".error .about", ".failure", ".evidence[open] .found"):
        seen = tab.evaluate(f"[...document.querySelectorAll('{selector}')].map((n) => n.checkVisibility())")
        assert seen, selector
        assert all(seen), selector
    assert tab.evaluate("document.querySelectorAll('.folded').length") == 0
    controls = "[...document.querySelectorAll('button, input, select')].some((n) => n.checkVisibility())"
    assert not tab.evaluate(controls)  # what would do nothing is not there
    tab.close()


def test_on_paper_everything_is_open_and_inside_the_page(show: Show) -> None:
    page = show([*PAIRS, resting(), judged(LONG, BOW)], dark=True)
    page.send("Emulation.setEmulatedMedia", media="print")
    page.resize(700, 1000)
    hidden = page.evaluate(
        "[...document.querySelectorAll('.card *')].filter((n) => n.tagName !== 'BUTTON' && n.textContent.trim()"
        " && !n.checkVisibility({contentVisibilityAuto: true})).map((n) => n.outerHTML.slice(0, 80))"
    )
    assert hidden == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    folded = page.evaluate(
        "(({scrollHeight, clientHeight}) => scrollHeight - clientHeight)(document.querySelector('.folded'))"
    )
    assert folded <= 1
    assert page.evaluate("document.getElementById('filters').checkVisibility()") is False
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"  # not the dark one


def test_numbers_stand_at_the_end_of_their_words_in_both_directions(show: Show) -> None:
    year = Sample(id="year", language="ar", text="كان ذلك عام 1990 في مصر.")
    page = show([judged(year, mistake(year, "عام 1990", Severity.MAJOR, "t", "e")), PAIRS[0]])
    arabic, english = (
        page.evaluate(
            f"(() => {{ const card = document.querySelector(\"[data-place='{place}']\");"
            " return ['mark', '.ref'].map((s) => card.querySelector(s).getBoundingClientRect())"
            ".map(({left, right}) => [left, right]); })()"
        )
        for place in (0, 1)
    )
    assert arabic[1][1] <= arabic[0][0] + 1  # to the left, not among the digits
    assert english[1][0] >= english[0][1] - 1


def test_copying_the_signature(show: Show) -> None:
    page = show()
    page.click("#copy")
    selected = f"getSelection().toString() === {json.dumps(str(SIGNATURE))}"
    page.wait(f"document.getElementById('copy').textContent === 'Copied' || {selected}")


def background(page: Page, selector: str) -> tuple[int, int, int]:
    """The most frequent colour of an element's first line."""
    flat = [pixel for row in pixels(page.screenshot(page.box(selector))) for pixel in row]
    return max(set(flat), key=flat.count)


@pytest.mark.slow
def test_marks_can_be_seen_and_told_apart(show: Show) -> None:
    page = show()
    card = background(page, "[data-place='0'] .badge + *, [data-place='0'] h3")
    major, minor = background(page, "[data-place='0'] mark.major"), background(page, "[data-place='0'] mark.minor")
    assert card == (255, 255, 255)
    assert len({card, major, minor}) == 3
    styles = page.evaluate(
        "['major', 'minor'].map((c) =>"
        " getComputedStyle(document.querySelector(`[data-place='0'] mark.${c}`)).textDecorationStyle)"
    )
    assert styles == ["solid", "dashed"]  # not by colour alone


@pytest.mark.slow
@pytest.mark.parametrize(("dark", "width", "height"), [(False, 1280, 900), (True, 1280, 900), (False, 360, 740)])
def test_screenshot_is_a_page_of_the_right_size_and_scheme(show: Show, dark: bool, width: int, height: int) -> None:
    page = show(dark=dark, width=width, height=height)
    assert struct.unpack(">II", page.screenshot()[16:24]) == (width, height)
    seen = pixels(page.screenshot((0, 0, 300, 120)))
    assert (len(seen), len(seen[0])) == (120, 300)
    assert len({pixel for row in seen for pixel in row}) > 50
    assert (sum(seen[0][0]) < 150) is dark


def test_text_is_readable_in_both_schemes(show: Show) -> None:
    for dark in (False, True):
        page = show(dark=dark, warning="a warning")
        for selector in (".warning strong", ".badge", ".place", "mark.major", "mark.minor", ".failure", "#count", "dt"):
            assert contrast(page, selector) >= 4.5, (selector, dark)


def contrast(page: Page, selector: str) -> float:
    """The contrast of an element's text with what is painted behind it (WCAG 2.2, 1.4.3)."""
    colours: Any = page.evaluate(
        f"""(() => {{
            let node = document.querySelector({json.dumps(selector)});
            const ink = getComputedStyle(node).color;
            const clear = "rgba(0, 0, 0, 0)";
            while (node && getComputedStyle(node).backgroundColor === clear) node = node.parentElement;
            return [ink, getComputedStyle(node).backgroundColor].map((c) => c.match(/\\d+/g).slice(0, 3).map(Number));
        }})()"""
    )
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[int]) -> float:
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_the_browser_reports_what_goes_wrong(browser: Browser) -> None:
    page = browser.page()
    page.open("data:text/html,<script>console.error('one'); alert('two'); setTimeout(() => { throw 'three' })</script>")
    page.wait(lambda: len(page.problems) == 2)
    assert page.dialogs == ["two"]
    with pytest.raises(RuntimeError, match="four"):
        page.evaluate("(() => { throw new Error('four') })()")
    with pytest.raises(LookupError, match="no element matches #none"):
        page.click("#none")
    page.close()


# Evidence

RESTS = Sample(id="rests", language="en", text="Chopsticks stand upright in the rice.")
PASSAGES = (
    Evidence(
        text="They stand so at funerals.", title="Table manners", source="https://example.org/a?b=1&c", date="2020"
    ),
    Evidence(text=HOSTILE, title=HOSTILE, source="javascript:window.hacked = 3"),
    Evidence(text="Nobody cites this."),
)


def resting() -> Pair:
    """Two errors, one located and one not, that rest on the first two passages."""
    located = mistake(RESTS, "upright", Severity.MAJOR, "wrong norm", "It is rude.").model_copy(
        update={"evidence": (1,)}
    )
    gone = Error(side="text", quote="gone", severity=Severity.MINOR, type="t", evidence=(1, 2))
    _, judgement = judged(RESTS, located, gone)
    return RESTS, judgement.model_copy(update={"evidence": PASSAGES})


def test_evidence_is_listed_with_number_title_text_and_source(show: Show) -> None:
    page = show([resting()])
    assert page.evaluate("document.querySelector('details.evidence').open") is True
    assert page.evaluate("document.querySelector('.evidence summary').textContent") == "Evidence (3, 2 cited)"
    rows = page.evaluate("[...document.querySelectorAll('.evidence li')].map((row) => row.innerText.split('\\n'))")
    lines = [[line for line in row if line] for row in rows]
    assert lines[0] == [
        "[1]", "Table manners", "They stand so at funerals.", "2020 · https://example.org/a?b=1&c",
        "cited for errors 1, 2",
    ]  # fmt: skip
    assert lines[1][:3] == ["[2]", HOSTILE, HOSTILE]
    assert lines[2] == ["[3]", "Nobody cites this."]
    assert page.evaluate("document.querySelectorAll('#e0-2 .rests').length") == 2


def test_a_source_is_a_link_only_where_it_is_of_the_web_and_nothing_hostile_runs(show: Show) -> None:
    page = show([resting()])
    links = page.evaluate("[...document.querySelectorAll('.card .where a')].map((a) => [a.href, a.rel, a.target])")
    assert links == [["https://example.org/a?b=1&c", "noopener noreferrer nofollow", "_blank"]]
    assert page.evaluate("document.querySelectorAll('.card script, .card img').length") == 0
    assert page.evaluate("window.hacked === undefined")


def test_the_popover_shows_what_an_error_rests_on(show: Show) -> None:
    page = show([resting()])
    page.hover("mark")
    words = popover(page)
    assert "wrong norm" in words
    assert "[1] They stand so at funerals." in words
    assert "Nobody cites this." not in words


def test_evidence_that_nobody_cites_is_folded_and_found_by_search(show: Show) -> None:
    sample, judgement = judged(Sample(id="clean", text="Fine."))
    clean = sample, judgement.model_copy(update={"evidence": PASSAGES[2:]})
    page = show([clean, judged(Sample(id="bare", text="Fine."))])
    assert page.evaluate("[...document.querySelectorAll('details.evidence')].map((d) => d.open)") == [False]
    choose(page, "q", "nobody cites")
    page.wait("document.getElementById('count').textContent === 'Showing 1 of 2'")


@pytest.mark.parametrize("width", [320, 1280])
def test_evidence_is_not_wider_than_the_window(show: Show, width: int) -> None:
    sample, judgement = resting()
    long = Evidence(text="x" * 3000, title="y" * 400, source="https://example.org/" + "z" * 1500, date="d" * 200)
    page = show([(sample, judgement.model_copy(update={"evidence": (long, long)}))], width=width, height=740)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.hover("mark")
    popover(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
