"""The page as a file: what it holds, that nothing in it can run or call home, and what it leaves out."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mores.report.page import TEMPLATES, page
from mores.types import Error, Evidence, FailureKind, Judgement, Sample, Severity
from tests.report.samples import PAIRS, SIGNATURE, Pair, failed, found, judged

HOSTILE = "</script><script>window.hacked = 1; alert(1)</script><img src=x onerror=alert(1)>"


def cards(html: str) -> list[dict[str, Any]]:
    """The data block, read as a browser reads it: up to the first end tag."""
    block = html.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    loaded: list[dict[str, Any]] = json.loads(block)
    return loaded


def tiles(html: str) -> dict[str, str]:
    """The summary tiles by name."""
    block = html.split('<dl class="tiles">')[1].split("</dl>")[0]
    pairs = re.findall(r"<dt>(.*?)</dt><dd.*?>(.*?)</dd>", block, re.DOTALL)
    return {name: " ".join(unescape(re.sub(r"<.*?>", " ", value)).split()) for name, value in pairs}


def many(n: int) -> list[Pair]:
    """`n` texts with scores from -1 downwards, the worst last."""
    samples = [Sample(id=str(i), text="x" * 50) for i in range(n)]
    return [(s, Judgement(sample_id=s.id, judge="j", score=-float(i + 1))) for i, s in enumerate(samples)]


def test_tiles_count_everything() -> None:
    assert tiles(page(PAIRS, title="t")) == {
        "Texts": "12",
        "Judged": "10",
        "Not judged": "2 1 truncated, 1 parse",
        "Texts with errors": "8 80% of judged",
        "Major errors": "9 −5 each",
        "Minor errors": "9 −1 each",
        "Mean score": "−5.307 over 10, 1 without p(R)",
        "Not found in the text": "1 error",
    }


def test_cards_come_worst_first_with_what_the_script_needs() -> None:
    found_cards = cards(page(PAIRS, title="t"))
    assert [card["id"] for card in found_cards] == [
        *("dia-de-muertos", "shrine", "new-year", "eid", "spring-festival", "korean-table", "seder", "diwali"),
        *("carnaval", "boishakh", "abendbrot", "loy-krathong"),
    ]
    eid = next(card for card in found_cards if card["id"] == "eid")
    assert (eid["languageName"], eid["regionName"], eid["rtl"]) == ("Arabic", "Egypt", True)
    assert (eid["score"], eid["counts"], eid["state"], eid["place"]) == ("−6", "1 major, 1 minor", "errors", 1)


def test_header_facts() -> None:
    html = page(PAIRS, title="A & B", summary={"Judged": "texts.jsonl <all>"}, warning="only a <demonstration>")
    assert '<h1 dir="auto">A &amp; B</h1>' in html
    assert "texts.jsonl &lt;all&gt;" in html
    assert "only a &lt;demonstration&gt;" in html
    assert f'<code id="signature">{SIGNATURE}</code>' in html
    assert "openai:made-up-judge</bdi>" in html


def test_the_given_model_and_signature_win() -> None:
    html = page(PAIRS, title="t", summary={"Model": "mine", "signature": "s:1"})
    assert "<dt>Judge</dt>" not in html
    assert '<code id="signature">s:1</code>' in html


def test_several_signatures_are_said_to_be_several() -> None:
    other = [(s, j.model_copy(update={"signature": "other"})) for s, j in PAIRS[:1]]
    assert "2 different ones, see each text" in page([*PAIRS, *other], title="t")


def test_no_warning_no_banner() -> None:
    assert 'class="warning"' not in page(PAIRS, title="t")


def test_an_empty_run_is_a_page_too() -> None:
    html = page([], title="t")
    assert tiles(html)["Mean score"] == "–"
    assert cards(html) == []


def test_distribution_keeps_sums_and_certainties_apart() -> None:
    html = page(PAIRS, title="t")
    counts = dict(re.findall(r'data-bar="(\w+)".*?aria-label="[^"]*: (\d+) texts?"', html))
    assert counts == {"e11": "1", "e7": "2", "e6": "3", "e5": "2", "p9": "1", "unknown": "1"}


@pytest.mark.parametrize(
    ("score", "certainty", "bar"),
    [
        (-1.0, None, "e1"),
        (-10.0, None, "e10"),
        (-11.0, None, "e11"),
        (-60.0, None, "e11"),
        (0.05, 0.05, "p0"),
        (0.5, 0.5, "p5"),
        (1.0, 1.0, "p9"),
        (0.0, None, "unknown"),
    ],
)
def test_each_score_has_its_bar(score: float, certainty: float | None, bar: str) -> None:
    sample = Sample(id="a", text="a")
    pair = judged(sample, certainty=certainty)
    judgement = pair[1].model_copy(update={"score": score})
    assert cards(page([(sample, judgement)], title="t"))[0]["bar"] == bar


def test_more_than_the_limit_keeps_the_worst_and_says_so() -> None:
    html = page(many(30), title="t", limit=10)
    assert [card["id"] for card in cards(html)] == [str(i) for i in range(29, 19, -1)]
    assert "This page holds the 10 worst of 30 texts. The other 20 are left out here; the JSONL has all" in html
    assert tiles(html)["Texts"] == "30"
    assert "left out" not in page(many(10), title="t", limit=10)


def test_a_stream_is_read_once() -> None:
    assert len(cards(page(iter(many(5)), title="t", limit=3))) == 3


def test_a_hostile_text_cannot_leave_the_data_block() -> None:
    sample = Sample(id=HOSTILE, text=HOSTILE, instruction=HOSTILE, language=HOSTILE, region=HOSTILE, source=HOSTILE)
    report = judged(sample, found(sample, HOSTILE, Severity.MAJOR, HOSTILE, HOSTILE), why=HOSTILE)
    html = page([report, failed(sample, FailureKind.PARSE, HOSTILE)], title=HOSTILE, summary={HOSTILE: HOSTILE})
    assert html.count("<script") == html.count("</script>") == 2
    assert "<img" not in html
    assert cards(html)[0]["text"] == cards(html)[0]["languageName"] == HOSTILE


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters()))
def test_every_text_survives_the_data_block(text: str) -> None:
    text += "\u2028\u2029<!--<script>&amp;\ud800"
    html = page([judged(Sample(id="a", text=text))], title="t")
    html.encode()
    assert cards(html)[0]["text"] == text
    assert not re.search("[\u2028\u2029]", html)


def test_only_our_script_and_style_may_run() -> None:
    html = page(PAIRS, title="t")
    policy = unescape(re.findall(r'Content-Security-Policy" content="(.*?)"', html)[0])
    script, style = html.split("<script>")[1].split("</script>")[0], html.split("<style>")[1].split("</style>")[0]
    for kind, source in (("script-src", script), ("style-src", style)):
        digest = b64encode(sha256(source.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r'\sstyle="|\son\w+="', html)


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = page([], title="t")
    assert not re.search(
        r"https?:|//\w|@import|url\(|\ssrc=|<link|<iframe|fetch\(|XMLHttp", re.sub(r"//  ?\S.*", "", html)
    )


def test_the_script_never_writes_markup() -> None:
    script = (TEMPLATES / "score.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|</script", script)


def test_a_span_without_its_quote_is_shown_as_not_found() -> None:
    sample = Sample(id="a", text="abcdef")
    wrong = Error(side="text", start=0, end=3, quote="xyz", severity=Severity.MINOR, type="t")
    beyond = Error(side="text", start=5, end=8, quote="fgh", severity=Severity.MINOR, type="t")
    assert [e["start"] for e in cards(page([judged(sample, wrong, beyond)], title="t"))[0]["errors"]] == [None, None]


def test_unknown_codes_are_shown_as_they_are() -> None:
    card = cards(page([judged(Sample(id="a", text="a", language="Klingonish", region="??"))], title="t"))[0]
    assert (card["languageName"], card["regionName"], card["rtl"]) == ("Klingonish", "??", False)


def with_evidence(*evidence: Evidence) -> Pair:
    sample, judgement = judged(Sample(id="a", text="x"))
    return sample, judgement.model_copy(update={"evidence": evidence})


def test_evidence_and_what_cites_it_are_in_the_data() -> None:
    sample = Sample(id="a", text="wrong")
    error = found(sample, "wrong", Severity.MINOR, "t", "").model_copy(update={"evidence": (2, 1, 2)})
    _, judgement = judged(sample, error)
    passages = (Evidence(text="First.", title="T", source="https://example.org/a?b=1&c"), Evidence(text="Second."))
    [card] = cards(page([(sample, judgement.model_copy(update={"evidence": passages}))], title="t"))
    assert card["errors"][0]["evidence"] == [2, 1]
    assert [(one["text"], one["title"], one["link"]) for one in card["evidence"]] == (
        [("First.", "T", True), ("Second.", "", False)]
    )


def test_the_sample_has_evidence_where_the_judgement_has_none() -> None:
    sample = Sample(id="a", text="x", evidence=(Evidence(text="Its own."),))
    [card] = cards(page([judged(sample)], title="t"))
    assert [one["text"] for one in card["evidence"]] == ["Its own."]
    [seen] = cards(page([(sample, with_evidence(Evidence(text="Looked up."))[1])], title="t"))
    assert [one["text"] for one in seen["evidence"]] == ["Looked up."]  # what the judge saw


@pytest.mark.parametrize(
    "source",
    ["javascript:alert(1)", "data:text/html,x", "//example.org", "facts.jsonl:3", "https://", "http://a b/", "file:///x",
     "https://good.example@evil.example/", "JAVASCRIPT:alert(1)//https://x.example", ""],
)  # fmt: skip
def test_only_addresses_of_the_web_are_links(source: str) -> None:
    [card] = cards(page([with_evidence(Evidence(text="x", source=source))], title="t"))
    assert (card["evidence"][0]["source"], card["evidence"][0]["link"]) == (source, False)


def test_hostile_evidence_cannot_leave_the_data_block() -> None:
    hostile = Evidence(text=HOSTILE, title=HOSTILE, source=HOSTILE, date=HOSTILE)
    html = page([with_evidence(hostile)], title="t")
    assert html.count("<script") == html.count("</script>") == 2
    assert "<img" not in html
    assert cards(html)[0]["evidence"][0]["text"] == HOSTILE


def test_endless_evidence_is_cut() -> None:
    endless = Evidence(text="word " * 10_000, title="t" * 10_000)
    html = page([with_evidence(endless)], title="t")
    shown = cards(html)[0]["evidence"][0]
    assert len(shown["text"]) <= len(shown["title"]) == 2000
    assert shown["text"].endswith("word…")
