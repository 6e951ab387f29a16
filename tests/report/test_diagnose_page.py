"""The page of diagnoses: what it says, and that no text or name can do anything in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark.benchmark import Label, Verdict
from mores.diagnosis.calibration import SOURCES, VERBALISED, CalibrationResult, calibrate
from mores.diagnosis.change import Uncertain, change_of
from mores.diagnosis.errors import ErrorsResult, compare_models, type_names
from mores.diagnosis.evidence import NAMES
from mores.diagnosis.locality import Locality, measure_locality
from mores.diagnosis.paired import Subject
from mores.diagnosis.retrieval import RetrievalResult
from mores.diagnosis.stability import Stability, measure_stability
from mores.diagnosis.translation import TranslationResult
from mores.errors import InputError
from mores.report import diagnose as pages
from mores.report.base.blocks import walk
from mores.report.base.charts import IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.grid import Grid
from mores.report.base.page import draw, render_page
from mores.report.base.plots import Axis, BinCount, CurveLine, Curves
from mores.report.diagnose import items
from mores.types import Item, Record, Result, Signature
from tests.browser import Browser
from tests.diagnosis.runs import BENCH
from tests.report import diagnose_samples as samples
from tests.report.conftest import assert_fits, showing
from tests.report.markup import read_markup
from tests.report.test_browser import luminance
from tests.report.test_meta_page import HOSTILE, Tags, rows, section, sections, words


@pytest.fixture(scope="module")
def html() -> str:
    return diagnose_page(samples.everything())


def diagnose_page(results: Sequence[Record]) -> str:
    return render_page(pages.describe_diagnoses(results))


def summary(html: str) -> str:
    return words(html.split('aria-label="In short"')[1].split("</section>")[0])


# ---- what it says ----------------------------------------------------------------------------------------------


def test_one_part_for_each_analysis_in_their_order(html: str) -> None:
    expected = ["calibration", "stability", "retrieval", "translation", "errors", "locality", "items", "signatures"]
    assert sections(html) == expected
    assert sections(diagnose_page(samples.everything()[::-1])) == expected
    assert re.findall(r'<li><a href="#(\w+)">', html.split("<nav")[1].split("</nav>")[0]) == expected


def test_only_what_is_there_is_shown() -> None:
    html = diagnose_page([samples.retrieved()])
    assert sections(html) == ["retrieval", "signatures"]
    assert "Calibration" not in words(html)


def test_the_summary_has_the_main_number_of_each_analysis(html: str) -> None:
    told = summary(html)
    stated = samples.calibrations()[0].figures["ECE"].value
    assert f"Calibration Does it know when it knows? {stated:.1f} points" in told
    sometimes = samples.stable().figures["sometimes"].value
    assert sometimes is not None
    assert f"{100 * sometimes:.1f}% 95%:" in told
    assert "+18.8 points" in told  # 24 put right and 6 spoiled of 96
    assert "24 questions corrected, 6 spoiled" in told
    assert "−22.1 points" in told  # 6 won and 25 lost of 86
    assert (
        f"41.4% 95%: 23.5–61.1% of 29 wrong answers with a type have the most frequent one: {type_names()[0]}" in told
    )
    assert "τ" in told


def test_every_paragraph_stands_on_the_page(html: str) -> None:
    said = words(html)
    for one in samples.calibrations():
        assert SOURCES[one.source] in said
    for start in ("Confidence of fake:a-model in", "fake:a-model answered 60 questions of toy 12 times each",
                  "Of 96 questions, fake:a-model answers", "Asked natively, fake:a-model", "32 of 43 graded answers",
                  "Of 19 answers that people classified", "Agreement of first and second on the ranks"):  # fmt: skip
        assert start in said


def test_calibration_has_a_diagram_for_each_source_and_the_mistakes(html: str) -> None:
    part = section(html, "calibration")
    assert re.findall(r"<figcaption><bdi>(.*?)</bdi>", part) == [
        "Reliability: stated", "Reliability: likelihood", "Reliability: agreement", "Selective accuracy",
    ]  # fmt: skip
    stated, likelihood, _ = samples.calibrations()
    figures = {row[0]: row[1:] for row in rows(part.split(f"on toy, {likelihood.source}</caption>")[1])}
    assert figures["ECE"][0] == f"{likelihood.figures['ECE'].value:.1f} points"
    surely = likelihood.figures["accuracy at 90+"]
    assert figures["accuracy at 90+"][0] == f"{100 * (surely.value or 0):.1f}%"
    assert figures["accuracy at 90+"][2] == f"{surely.n:,}"
    assert "no confidence could be read 23" in words(part)
    assert "the answer could not be graded 30" in words(part)
    assert "Counted as not correct not attempted 17" in words(part)
    mistakes = words(part).split("Most confident mistakes (stated)")[1]
    first = stated.most_confident_mistakes[0]
    assert f"{first.id}" in mistakes[:60]
    assert f"{first.confidence:.0%} confident" in mistakes[:200]
    assert "By language" in words(part)
    assert "By topic" in words(part)


def test_stability_has_curves_bars_and_the_clusters(html: str) -> None:
    part = section(html, "stability")
    found = samples.stable()
    assert part.count('<polygon class="band') == 4
    counts = [
        round((found.figures[name].value or 0) * found.figures[name].n) for name in ("always", "sometimes", "never")
    ]
    assert (
        f"All questions: always correct {counts[0]}, sometimes correct {counts[1]}, never correct {counts[2]}" in part
    )
    assert "answers without a grade 48" in words(part)
    first = found.sometimes[0]
    card = words(part.split("<article")[1].split("</article>")[0])
    assert f"{first.correct} of {first.graded} correct" in card
    for cluster in first.clusters:
        assert f"{cluster.answer} {cluster.n} of {first.graded}" in card


def test_retrieval_has_matrix_gain_faults_and_items(html: str) -> None:
    part = section(html, "retrieval")
    assert rows(part) == [
        ["correct without evidence", "30 31.2%", "6 6.2%"], ["wrong without evidence", "24 25.0%", "36 37.5%"],
    ]  # fmt: skip
    faults = "evidence not found 18, found but not used 12, used wrongly 12, undecided 0"
    assert f"All questions: {faults}" in part
    assert "Evidence not found: 18" in words(part)
    assert "Found but not used: 12" in words(part)
    assert "no grade without evidence (parse) 4" in words(part)
    assert "declined with evidence 1" in words(part)
    assert "Arabic: +13.6 points (95% interval −14.8 to +39.4), n 22" in part
    assert "Without evidence Nowhere1 With evidence Nowhere1 Found (1) A page about bread." in words(part)


def test_translation_shows_both_versions_side_by_side(html: str) -> None:
    part = section(html, "translation")
    assert rows(part) == [["correct natively", "40 46.5%", "25 29.1%"], ["wrong natively", "6 7.0%", "15 17.4%"]]
    assert re.search(r"Correct natively, lost in English: \d+ of 25", words(part))
    card = words(part.split('<div class="twins">')[1].split("</article>")[0])
    assert "✓ natively: correct Question" in card
    assert "Answer It is nativo0 Correct answer nativo0 ✗ in English: wrong Question At home." in card
    assert "no grade in English (parse) 3" in words(part)


def test_errors_have_figure_9_table_4_and_the_check_of_the_judge(html: str) -> None:
    part = section(html, "errors")
    assert re.findall(r"<title>(fake:.-model): ", part)[:2] == ["fake:a-model", "fake:b-model"]
    table = rows(part.split('class="plain"')[1])
    assert [row[1] for row in table] == ["24", "14", "12", "6", "2", "0"]
    assert table[0][2] == "41.4% 28.6–55.1% ✕6"
    assert "answers that decline, which are not errors 1" in words(part)
    assert "the judge failed: the answer could not be parsed 3" in words(part)
    check = part.split("<h3>The judge against people")[1]
    assert "Cohen's kappa 0.69" in unescape(check)
    matrix = rows(check.split('class="heat"')[1])
    assert [row[1:3] for row in matrix] == [["8 n 10", "2 n 10"], ["1 n 9", "8 n 9"]]
    assert "Why this type It names a better-known neighbour." in words(part)


def test_a_given_table_of_errors_is_used() -> None:
    table = compare_models([samples.erring(), samples.erring("b-model")])
    html = diagnose_page([table])
    assert sections(html) == ["errors"]
    assert "fake:b-model" in html


def test_locality_marks_what_differs_and_draws_ranks_with_intervals(html: str) -> None:
    part = section(html, "locality")
    profile = samples.local().profiles[0]
    sure = {local.group: local.verdict in ("above", "below") for local in profile.groups}
    drawn = part.split("</figure>")[0]
    assert drawn.count('<b class="star">') == list(sure.values()).count(True) > 0
    moved = samples.local().shifts[0].models[0]
    told = f"{moved.first.rank} ({moved.first.low}–{moved.first.high}) on first"
    assert f"{moved.model}: place {told}" in part
    tau = samples.local().shifts[0].tau.value
    assert tau is not None
    assert f"Kendall’s τ of both: {tau:.2f}".replace("-", "−") in words(part)
    assert "questions without a score 8" in words(part)
    assert "questions without a language 40" in words(part)


def test_what_the_terminal_prints_are_tables_of_the_page() -> None:
    document = pages.describe_diagnoses(samples.everything())
    shown = [block.brief() for block in walk(document.sections) if isinstance(block, Grid)]
    printed = [table.brief() for table in document.printed if isinstance(table, Grid)]
    assert len(printed) > 20
    missing = [grid.title for grid in printed if (grid.names, grid.rows) not in [(s.names, s.rows) for s in shown]]
    assert missing == []


def test_signatures_are_listed_once(html: str) -> None:
    part = section(html, "signatures")
    made = [samples.retrieved().signature, samples.translated().signature, samples.erring().signature]
    assert all(str(signature) in unescape(part) for signature in [*made, samples.stable().signature])
    assert part.count("task:first.1|data:d.4|model:fake:a-model") == 1


@pytest.mark.slow
def test_several_models_stand_under_their_names() -> None:
    html = diagnose_page([samples.stable(), samples.stable("other")])
    part = section(html, "stability")
    assert re.findall(r'<h3 class="who"><bdi>(.*?)</bdi>', part) == ["fake:a-model", "other"]
    assert "fake:a-model on toy" in summary(html)


def test_two_results_of_one_kind_are_both_shown() -> None:
    one = samples.calibrations()[0]
    part = section(diagnose_page([one, one]), "calibration")
    assert part.count(f"on toy, {one.source}</caption>") == 2
    assert "stated #2, by language</caption>" in part


# ---- little and nothing ----------------------------------------------------------------------------------------


def nothing() -> list[Record]:
    """Every analysis of no answers at all."""
    about = Subject(BENCH, [Item(id="q", prompt="?")], "m", Signature())
    ungraded = [Verdict(item_id="q", unit="q", label=None)]
    change, none = change_of([], NAMES), Uncertain(declined={}, ties={})
    empty: dict[str, Any] = {"model": "m", "benchmark": "b", "signature": Signature(), "figures": change.figures}
    changed: dict[str, Any] = empty | {"change": change, "by": {}, "uncertain": none, "left_out": {}}
    return [
        calibrate(about, VERBALISED, ungraded, {}), measure_stability(about, ungraded),
        RetrievalResult(
            **changed, search="x", found_by={}, faults={f: Result(name=f, value=None) for f in ("evidence not found",)},
            faults_by={}, overlap={}, judge=None, judged={}, agreement=None, popularity="", cases=(), cases_in_all=0,
        ),
        TranslationResult(**changed, names=NAMES, lost=(), won=()),
        ErrorsResult(
            **empty | {"figures": {n: Result(name=n, value=None) for n in type_names()}}, judge="j", answers=0,
            declined=0, ungraded=1, wrong=0, counts=dict.fromkeys(type_names(), 0), by={}, cases=(), failures={},
        ),
        measure_locality([samples.ran("m", "b", {"th": 0.5}, [0.1, 0.9])]),
    ]  # fmt: skip


def test_results_of_nothing_are_shown_as_such() -> None:
    html = diagnose_page(nothing())
    said = words(html)
    assert len(sections(html)) == 7
    assert "nan" not in said.casefold()
    assert not re.search(r"\bNone\b(?! of)", said)
    assert "has both a grade and a confidence" in said
    assert "No question has a grade in both versions" in summary(html)


def test_no_results_at_all() -> None:
    html = diagnose_page([])
    assert sections(html) == []
    assert "There is no analysis to show." in words(html)


def test_other_records_are_refused() -> None:
    with pytest.raises(InputError, match="cannot show a Item; give records of Calibration"):
        diagnose_page([Item(id="q", prompt="?")])


# ---- how much --------------------------------------------------------------------------------------------------


def test_lists_are_bounded_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LIST", 7)
    html = diagnose_page([samples.calibrations()[0], samples.stable()])
    assert "Most confident mistakes (stated): 7 of" in words(html)
    assert html.count("<article") == 21


def test_many_models_share_the_room() -> None:
    html = diagnose_page([samples.calibrations()[0].model_copy(update={"model": f"m{i}"}) for i in range(60)])
    assert html.count("<article") == 12 * 2 * 5
    assert "48 more are only in the JSON file." in words(html)


def test_groups_and_texts_are_cut() -> None:
    base = samples.calibrations()[0]
    groups = {f"g{i}": base.by["language"]["ar"] for i in range(500)}
    long = base.most_confident_mistakes[0].model_copy(update={"question": "x" * 100_000})
    html = diagnose_page([base.model_copy(update={"by": {"language": groups}, "most_confident_mistakes": (long,)})])
    assert "440 smaller groups are only in the JSON file." in words(html)
    assert "x" * (items.WORDS - 1) + "…" in html
    assert len(html) < 400_000


# ---- charts ----------------------------------------------------------------------------------------------------


def test_a_bin_is_where_its_numbers_are() -> None:
    line = CurveLine("a", [0.25], [0.5], [0.25], [0.75], ["hint"], [90])
    html = draw(Curves("t", [line], Axis("x"), "y", "sure", [BinCount(0.2, 0.3, 10), BinCount(0.3, 0.4, 0)]))
    chart = read_markup(html).only(".lines")
    diagonal, point, whisker = (chart.only(name) for name in (".guess", ".point", ".whisker"))
    left, right, low, high = (diagonal.at(name) for name in ("x1", "x2", "y1", "y2"))
    assert [(x - left) / (right - left) for x in (point.at("cx"), whisker.at("x1"), whisker.at("x2"))] == [0.25] * 3
    assert [(y - low) / (high - low) for y in (point.at("cy"), whisker.at("y1"), whisker.at("y2"))] == [0.5, 0.25, 0.75]
    assert html.count('class="floor"') == 1
    assert ">10</text>" in html


def test_a_band_goes_there_and_back() -> None:
    line = CurveLine("a", [1, 3], [0.5, 1.0], [0.25, None], [0.75, None])
    html = draw(Curves("t", [line], Axis("n", 1, 3, shares=False), "y"))
    chart = read_markup(html)
    start, end = chart.only("polyline").points
    half = (start[1] - end[1]) / 2
    assert end[0] > start[0]
    assert chart.only(".band").points == [(start[0], start[1] - half), (start[0], start[1] + half)]
    assert "a from 50% to 100%" in html


@pytest.mark.parametrize(
    ("high", "ticks"), [(1, ["1"]), (5, ["1", "2", "3", "4", "5"]), (100, ["1", "20", "40", "60", "80", "100"])]
)
def test_ticks_of_numbers_of_answers(high: int, ticks: list[str]) -> None:
    assert [text for _, text in Axis("n", 1, high, shares=False).ticks()] == ticks


def test_parts_of_a_bar_are_its_shares() -> None:
    html = draw(Stacks("t", [Stack("m", [60, 30, 0])], [StackPart("a", 0), StackPart("b", 9), StackPart("c", 2)]))
    assert re.findall(r'class="(f\d)" x="([\d.]+)%" y="4" width="([\d.]+)%"', html) == [
        ("f0", "0.00", "66.67"), ("f1", "66.67", "33.33"),
    ]  # fmt: skip
    assert "<title>b: 30 (33.3%)</title>" in html
    assert "n 90" in html


def test_changes_stand_on_both_sides_of_zero() -> None:
    one = Result(name="gain", value=-0.25, low=-0.5, high=0.0, n=9, unscored=2)
    html = draw(
        Intervals("t", [IntervalRow("m", one, star=True), IntervalRow("none", None)], "points", zero="no change")
    )
    chart = read_markup(html)
    whisker, foot = chart.only(".whisker"), {text.text: text.at("x") for text in chart.only("tfoot").all("text")}
    assert (whisker.at("x1"), whisker.at("x2")) == (foot["−50.0"], foot["0.0"])
    assert (chart.only(".point").at("cx"), chart.all(".zero")[-1].at("x1")) == (foot["−25.0"], foot["0.0"])
    assert '<tr class="few"><th scope="row"><bdi>m</bdi> <small>n 9</small>' in html
    assert '−25.0<b class="star">*</b> <small>−50.0 to 0.0</small> <small class="out">✕2</small>' in html
    assert "none: no score" in html


def test_ranks_are_drawn_with_their_intervals() -> None:
    first, second = (Result(name="place", value=v, low=low, high=high) for v, low, high in ((1, 1, 2), (3, 2, 3)))
    html = draw(Intervals("t", [IntervalRow("m", first, star=True, second=second)], "place", pair=("x", "y")))
    above, below = read_markup(html).only("tbody").all(".thick")
    assert above.at("y1") < below.at("y1")
    assert above.at("x1") < above.at("x2") == below.at("x1") < below.at("x2")
    assert "m: place 1 (1–2) on x, 3 (2–3) on y" in html
    assert '1 → 3<b class="star">*</b>' in html


# ---- safety ----------------------------------------------------------------------------------------------------

KEPT = {"label", "fault", "source", "verdict", "type", "names", "name"}
"""Fields whose words mean something to the page."""


def poisoned(value: Any, field: str = "") -> Any:
    """The same record with hostile words wherever others may have written them, names of groups and reasons too."""
    if isinstance(value, Record):
        return type(value).model_validate(poisoned({name: getattr(value, name) for name in type(value).model_fields}))
    if isinstance(value, dict):
        if field in ("missing", "left_out", "failures", "judged", "groups"):
            return {f"{HOSTILE}{name}": poisoned(own, "value") for name, own in value.items()}
        if field in ("by", "found_by", "faults_by"):
            return {
                f"{HOSTILE}{name}": {f"{HOSTILE}{group}": poisoned(own, "value") for group, own in groups.items()}
                for name, groups in value.items()
            }
        return {name: poisoned(own, name) for name, own in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(poisoned(own, field) for own in value)
    return HOSTILE + "\ud800" if isinstance(value, str) and field not in KEPT else value


def hostile() -> list[Record]:
    return [poisoned(one) for one in samples.everything()]


def test_hostile_names_and_texts_are_only_text() -> None:
    html = diagnose_page(hostile())
    html.encode()
    read = Tags(html)
    assert not read.tags & {"script", "img", "iframe", "link", "object"}
    assert not {name for name in read.attributes if name.startswith("on")} | read.attributes & {"style", "src"}
    assert html.count("window.hacked = 1") > 300  # it is shown, though
    assert "\u202e" not in words(html.split('class="told"')[1].split("</p>")[0])


# ---- in a browser ----------------------------------------------------------------------------------------------

PAGES = {
    "whole": lambda: diagnose_page(samples.everything()),
    "nothing": lambda: diagnose_page(nothing()),
    "hostile": lambda: diagnose_page(hostile()),
}


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield show_page


@pytest.mark.often("hostile")
@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_is_wider_than_the_window(show: Any, name: str) -> None:
    assert_fits(show(PAGES[name]()))


def test_single_answers_and_groups_are_folded(show: Any, html: str) -> None:
    """Seven analyses of up to four models would be 25,000 pixels tall."""
    page = show(html, unfold=False, width=1280, height=900)
    assert page.evaluate("document.documentElement.scrollHeight") < 16_500
    assert page.evaluate("[...document.querySelectorAll('.card')].every((card) => !card.checkVisibility())")


@pytest.mark.slow
def test_arabic_runs_from_right_to_left(show: Any, html: str) -> None:
    page = show(html)
    found = page.evaluate(
        "[...document.querySelectorAll('.said-of dd')].map((d) => [d.textContent, getComputedStyle(d).direction])"
    )
    assert {way for text, way in found if text.startswith("ما اسم")} == {"rtl"}
    assert {way for text, way in found if text.startswith(("Quel", "설날", "Someone"))} == {"ltr"}


@pytest.mark.slow
def test_the_keyboard_reaches_links_folds_and_wide_tables(show: Any, html: str) -> None:
    page = show(html, unfold=False, width=360, height=740)
    reached = set()
    for _ in range(30):
        page.press("Tab")
        kind = page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className")
        if kind == "SUMMARY." and kind not in reached:
            before = page.evaluate("document.activeElement.parentNode.open")
            page.press("Enter")
            assert page.evaluate("document.activeElement.parentNode.open") is not before
        reached.add(kind)
    assert {"A.", "DIV.scroll", "SUMMARY."} <= reached


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_numbers_in_bars_can_be_read(show: Any, html: str, dark: bool) -> None:
    page = show(html, dark=dark)
    pairs = page.evaluate(
        "[...document.querySelectorAll('.stacks text.rank')].map((t) => [getComputedStyle(t).fill,"
        " getComputedStyle(t.previousElementSibling).fill])"
    )
    assert len(pairs) > 20
    for pair in {tuple(pair) for pair in pairs}:
        ink, ground = (luminance([int(n) for n in re.findall(r"\d+", colour)[:3]]) for colour in pair)
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, pair


@pytest.mark.slow
def test_no_name_of_a_bar_is_broken_on_a_phone(show: Any, html: str) -> None:
    page = show(html, width=360, height=740, touch=True)
    heights = page.evaluate(
        "[...document.querySelectorAll('.stacks th bdi')].filter((b) => b.textContent === 'Chinese')"
        ".map((b) => b.getClientRects().length)"
    )
    assert heights
    assert set(heights) == {1}


def test_the_samples_have_what_the_page_must_show() -> None:
    """Several sources, refusals and clusters, so that the tests above are of all that there is."""
    kinds = [type(one) for one in samples.everything()]
    assert kinds.count(CalibrationResult) == 3
    assert {Stability, Locality} <= set(kinds)
    assert samples.stable().sometimes[0].clusters[0].n > 0
    assert Label.NOT_ATTEMPTED in {case.label for case in samples.calibrations()[0].most_confident_mistakes}
