"""The page as a file: what it holds, that nothing in it can run or call home, and what it leaves out."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.report.base.marks import number_place
from mores.report.base.page import REPORT
from mores.types import Error, Evidence, FailureKind, Judgement, Sample, Severity, Signature
from tests.report.markup import Node, read_markup
from tests.report.samples import PAIRS, SIGNATURE, Pair, failed, judged, lost, mistake, page

HOSTILE = "</script><script>window.hacked = 1; alert(1)</script><img src=x onerror=alert(1)>"


def cards(html: str) -> list[Node]:
    """The cards of the texts."""
    return read_markup(html).all("article")


def ids(html: str) -> list[str]:
    """The ids of the texts in the order of the page."""
    return [card.only("h2").text for card in cards(html)]


def body(card: Node, side: str = "text") -> Node:
    """The words of one side."""
    [result] = [node for node in card.all(".side") if side in node.attributes["class"].split()]
    return result.only(".body")


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
        "Not judged": "2 1 answer was cut off, 1 answer could not be parsed",
        "Texts with errors": "8 80% of judged",
        "Major errors": "9 −5 each",
        "Minor errors": "9 −1 each",
        "Mean score": "−5.307 over 10, 1 without p(R)",
        "Not found in the text": "1 error",
    }


def test_a_weak_verdict_says_whether_there_was_evidence() -> None:
    sample, judgement = next(pair for pair in PAIRS if not pair[1].evidence and not pair[0].evidence)
    weak = judgement.model_copy(update={"notes": ("weak verdict: it guesses",)})
    little = weak.model_copy(update={"evidence": (Evidence(text="Tea is hot."),)})
    for shown, words in ((weak, "weak, no evidence about it"), (little, "weak, little evidence about it")):
        assert read_markup(page([(sample, shown)], title="t")).only(".weak").text == words


@pytest.mark.slow
def test_weak_verdicts_are_marked_and_counted_at_the_top() -> None:
    reason = "without evidence it guesses <b>"
    weak = [
        (sample, judgement.model_copy(update={"notes": (f"weak verdict: {reason}",)}))
        for sample, judgement in PAIRS[:2]
    ]
    html = page([*weak, *PAIRS[2:]], title="t")
    marked = [card.only("h2").text for card in cards(html) if card.all(".weak")]
    assert sorted(marked) == sorted(sample.id for sample, _ in weak)
    [sentence] = [node.text for node in read_markup(html).all(".warning")]
    assert sentence == f"Weak 2 weak verdicts: {reason}."
    assert not read_markup(page(PAIRS, title="t")).all(".weak")
    assert not read_markup(page(PAIRS, title="t")).all(".warning")


def test_cards_come_worst_first_with_what_the_script_needs() -> None:
    html = page(PAIRS, title="t")
    assert ids(html) == [
        *("dia-de-muertos", "shrine", "new-year", "eid", "spring-festival", "korean-table", "seder", "diwali"),
        *("carnaval", "boishakh", "abendbrot", "loy-krathong"),
    ]
    eid = cards(html)[3]
    assert {name: eid.attributes[f"data-{name}"] for name in ("language-name", "region-name", "state", "place")} == (
        {"language-name": "Arabic", "region-name": "Egypt", "state": "errors", "place": "1"}
    )
    assert body(eid).attributes["dir"] == "rtl"
    assert "−6" in eid.only(".badge").text
    assert "1 major, 1 minor" in eid.only(".badge").text


def test_the_errors_are_listed_under_the_text_with_everything_that_is_known_of_them() -> None:
    sample = Sample(id="a", text="They clap ten times. They shout.", instruction="Shinto monks?")
    passages = (Evidence(text="One claps twice."), Evidence(text="Nobody shouts."))
    late = mistake(sample, "shout", Severity.MINOR, "wrong norm", "It is quiet.")
    early = mistake(sample, "clap ten times", Severity.MAJOR, "incorrect information", "Twice is usual.")
    asked = mistake(sample, "monks", Severity.MINOR, "wrong word", "", side="instruction")
    early = early.model_copy(update={"correction": "clap twice", "evidence": (1, 3)})
    pair = judged(sample, late, lost("bells", Severity.MAJOR, "invented", "No bells."), early, asked)
    html = page([(sample, pair[1].model_copy(update={"evidence": passages}))], title="t")
    listed = [node.only(".about").words for node in cards(html)[0].all(".error")]
    assert listed == [
        "△ Minor wrong word in the instruction: “monks” No explanation given.",
        "▲ Major incorrect information “clap ten times” Twice is usual. Correct: clap twice [1] One claps twice. [3]",
        "△ Minor wrong norm “shout” It is quiet.",
        "▲ Major invented not found in the text: “bells” No bells.",
    ]


def test_the_numbers_of_the_list_stand_at_the_marks_and_link_both_ways() -> None:
    tree = read_markup(page(PAIRS, title="t"))
    names = {node.attributes["id"] for node in tree.all("a") + tree.all("li") if "id" in node.attributes}
    for card in tree.all("article"):
        refs = card.all(".ref")
        numbers = [ref.attributes["data-errors"] for ref in refs]
        located = [node for node in card.all(".error") if "not found" not in node.text]
        assert sorted(numbers) == [node.only(".number").text for node in located]
        links = [link.attributes["href"] for link in card.all("a") if link.attributes["href"].startswith("#")]
        assert {link.removeprefix("#") for link in links} <= names
        assert all(ref.text == "" for ref in refs)  # drawn by the style: whoever copies the text gets the text
    assert body(tree.all("article")[0]).text == PAIRS[7][0].text


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("They clap ten times.", "ten times", "They clap ten times|."),
        ("All Germans.", "German", "All Germans|."),  # not inside a word
        ("يصوم المصريون طوال", "المصري", "يصوم المصريون| طوال"),  # joined letters are not torn
        ("दीये जलाते हैं", "जला", "दीये जलाते| हैं"),
        ("给长辈送一座钟🕰️作为", "送一座", "给长辈送一座|钟🕰️作为"),  # scripts without spaces
        ("밥그릇을 들고", "밥그릇", "밥그릇|을 들고"),
        ("ก็ดี", "ก", "ก็|ดี"),  # but never between a letter and its mark
        ("e\u0301t", "e", "e\u0301t|"),
        ("👨‍👩‍👧 sit", "👨", "👨‍👩‍👧| sit"),
        ("👍🏽!", "👍", "👍🏽|!"),
        ("a" * 200, "a" * 100, "a" * 100 + "|" + "a" * 100),  # a word without end
    ],
)
def test_a_number_stands_where_it_tears_nothing(text: str, quote: str, expected: str) -> None:
    place = number_place(text, text.index(quote) + len(quote))
    assert f"{text[:place]}|{text[place:]}" == expected


def test_a_summary_that_repeats_the_errors_is_left_out() -> None:
    sample = Sample(id="a", text="wrong")
    error = mistake(sample, "wrong", Severity.MINOR, "t", "Why.")
    assert not cards(page([judged(sample, error, why="Why.")], title="t"))[0].all(".explanation")
    assert cards(page([judged(sample, error, why="All in all.")], title="t"))[0].all(".explanation")


def test_header_facts() -> None:
    html = page(PAIRS, title="A & B", summary={"Judged": "texts.jsonl <all>"}, warning="only a <demonstration>")
    assert '<h1 dir="auto">A &amp; B</h1>' in html
    assert "texts.jsonl &lt;all&gt;" in html
    assert "only a &lt;demonstration&gt;" in html
    assert f'<code id="signature">{SIGNATURE}</code>' in html
    assert "openai:made-up-judge</bdi>" in html


def test_the_given_model_and_signature_win() -> None:
    html = page(PAIRS, title="t", summary={"Model": "mine", "signature": "s:1"})
    assert "Judge" not in html.split("</header>")[0].split("<header>")[1]
    assert '<code id="signature">s:1</code>' in html


def test_the_signature_stands_below_what_people_read() -> None:
    html = page(PAIRS, title="t")
    assert "Signature" not in html.split("<main")[0].split("<body")[1]
    assert '<code id="signature">' in html.split("</main>")[1]


def test_several_signatures_are_said_to_be_several() -> None:
    other = [(s, j.model_copy(update={"signature": Signature(metric="other")})) for s, j in PAIRS[:1]]
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
    assert cards(page([(sample, judgement)], title="t"))[0].attributes["data-bar"] == bar


def test_more_than_the_limit_keeps_the_worst_and_says_so() -> None:
    html = page(many(30), title="t", limit=10)
    assert ids(html) == [str(i) for i in range(29, 19, -1)]
    assert "This page holds the 10 worst of 30 texts. The other 20 are left out here; the JSONL has all" in html
    assert tiles(html)["Texts"] == "30"
    assert "left out" not in page(many(10), title="t", limit=10)


def test_a_stream_is_read_once() -> None:
    assert len(cards(page(iter(many(5)), title="t", limit=3))) == 3


def test_a_hostile_text_stays_text() -> None:
    sample = Sample(id=HOSTILE, text=HOSTILE, instruction=HOSTILE, language=HOSTILE, region=HOSTILE, source=HOSTILE)
    report = judged(sample, mistake(sample, HOSTILE, Severity.MAJOR, HOSTILE, HOSTILE), why=HOSTILE)
    html = page([report, failed(sample, FailureKind.PARSE, HOSTILE)], title=HOSTILE, summary={HOSTILE: HOSTILE})
    assert html.count("<script") == html.count("</script>") == 1
    assert "<img" not in html
    [first, _] = cards(html)
    assert body(first).text == first.attributes["data-language-name"] == HOSTILE


@given(st.text(st.characters()))
def test_every_text_survives_the_page(text: str) -> None:
    text += "\r\n\u2028<!--<script>&amp;\0\ud800"
    html = page([judged(Sample(id="a", text=text))], title="t")
    html.encode()
    assert body(cards(html)[0]).text == re.sub("[\0\ud800-\udfff]", "\ufffd", text)


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = re.sub(r"'sha256-.*?'|//  ?\S.*", "", page([], title="t"))  # a hash may look like an address
    assert not re.search(r"https?:|//\w|@import|url\(|\ssrc=|<link|<iframe|fetch\(|XMLHttp", html)


def test_the_script_never_writes_markup() -> None:
    script = (REPORT / "base" / "page.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|</script", script)


def test_a_span_without_its_quote_is_shown_as_not_found() -> None:
    sample = Sample(id="a", text="abcdef")
    wrong = Error(side="text", start=0, end=3, quote="xyz", severity=Severity.MINOR, type="t")
    beyond = Error(side="text", start=5, end=8, quote="fgh", severity=Severity.MINOR, type="t")
    [card] = cards(page([judged(sample, wrong, beyond)], title="t"))
    assert [quote.text for quote in card.all(".quote")] == [
        "not found in the text: “xyz”",
        "not found in the text: “fgh”",
    ]
    assert not card.all("mark") + card.all(".ref")


def test_unknown_codes_are_shown_as_they_are() -> None:
    [card] = cards(page([judged(Sample(id="a", text="a", language="Klingonish", region="??"))], title="t"))
    assert card.only(".place").text == "Klingonish · ??"
    assert body(card).attributes["dir"] == "auto"


def with_evidence(*evidence: Evidence) -> Pair:
    sample, judgement = judged(Sample(id="a", text="x"))
    return sample, judgement.model_copy(update={"evidence": evidence})


def test_evidence_stands_under_the_text_with_what_cites_it() -> None:
    sample = Sample(id="a", text="wrong")
    error = mistake(sample, "wrong", Severity.MINOR, "t", "").model_copy(update={"evidence": (2, 1, 2)})
    _, judgement = judged(sample, error)
    passages = (Evidence(text="First.", title="T", source="https://example.org/a?b=1&c"), Evidence(text="Second."))
    [card] = cards(page([(sample, judgement.model_copy(update={"evidence": passages}))], title="t"))
    assert [node.words for node in card.all(".rests")] == ["[2] Second.", "[1] First."]
    assert [node.words for node in card.all(".passage")] == (
        ["T First. https://example.org/a?b=1&c cited for error 1", "Second. cited for error 1"]
    )
    assert card.only(".where").only("a").attributes["href"] == "https://example.org/a?b=1&c"


def test_the_sample_has_evidence_where_the_judgement_has_none() -> None:
    sample = Sample(id="a", text="x", evidence=(Evidence(text="Its own."),))
    [card] = cards(page([judged(sample)], title="t"))
    assert card.only(".passage").words == "Its own."
    [seen] = cards(page([(sample, with_evidence(Evidence(text="Looked up."))[1])], title="t"))
    assert seen.only(".passage").words == "Looked up."  # what the judge saw


@pytest.mark.parametrize(
    "source",
    ["javascript:alert(1)", "data:text/html,x", "//example.org", "facts.jsonl:3", "https://", "http://a b/", "file:///x",
     "https://good.example@evil.example/", "JAVASCRIPT:alert(1)//https://x.example", ""],
)  # fmt: skip
def test_only_addresses_of_the_web_are_links(source: str) -> None:
    [card] = cards(page([with_evidence(Evidence(text="x", source=source))], title="t"))
    assert not card.all("a")
    assert card.only(".passage").words == f"x {source}".strip()


def test_hostile_evidence_stays_text() -> None:
    hostile = Evidence(text=HOSTILE, title=HOSTILE, source=HOSTILE, date=HOSTILE)
    html = page([with_evidence(hostile)], title="t")
    assert html.count("<script") == html.count("</script>") == 1
    assert "<img" not in html
    assert cards(html)[0].only(".passage").words.startswith(f"{HOSTILE} {HOSTILE}")


def test_endless_evidence_is_cut() -> None:
    endless = Evidence(text="word " * 10_000, title="t" * 10_000)
    html = page([with_evidence(endless)], title="t")
    [card] = cards(html)
    assert len(card.only(".found").text) <= len(card.only(".title").text) == 2000
    assert card.only(".found").text.endswith("word…")
