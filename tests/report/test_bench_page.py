"""The page of benchmark runs: what it says, and that no text or name can do anything in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pycountry
import pytest

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.board import Board, BoardEntry, make_board
from mores.benchmark.score import BenchResult
from mores.report.base.page import draw, render_page
from mores.report.base.shapes import Radar, RadarProfile, Ranks, Shades, World, shades, tiles
from mores.report.bench import AnsweredRun, describe_board, describe_runs
from mores.report.bench import answers as cards_of
from mores.types import Failure, FailureKind, Item, Result, Signature
from tests.browser import Browser, Page
from tests.report.conftest import assert_fits, showing
from tests.report.markup import read_markup
from tests.report.test_meta_page import HOSTILE, Tags, rows, section, words

REGIONS = ("EG", "JP", "BR", "DE", "NG", "IN")
LANGUAGES = ("ar", "ja", "pt", "de", "en")
TIERS = ("hard", "easy", "medium")
LABELS = (Label.INCORRECT, Label.CORRECT, None, Label.CORRECT, Label.NOT_ATTEMPTED)


def number(value: float | None, n: int = 40, unscored: int = 0) -> Result:
    low, high = (None, None) if value is None else (max(0.0, value - 0.05), min(1.0, value + 0.05))
    return Result(name="f", value=value, low=low, high=high, n=n, unscored=unscored)


def made_up(model: str = "model-a", value: float = 0.6, name: str = "made-up", **changes: Any) -> BenchResult:
    def groups(names: tuple[str, ...]) -> dict[str, dict[str, Result]]:
        return {g: {"accuracy": number(min(1, value + i / 20), 10 + 8 * i, i)} for i, g in enumerate(names)}

    fields: dict[str, Any] = {
        "benchmark": name, "title": f"{name.capitalize()}: questions", "model": model, "judge": "judge-x",
        "signature": Signature(task=f"{name}.1", data="d.5", model=model, judge="j"), "questions": 100, "samples": 1,
        "figures": {"accuracy": number(value, 97, 3), "attempted": number(0.9, 97, 3)},
        "by": {"region": groups(REGIONS), "language": groups(LANGUAGES), "tier": groups(TIERS)},
        "rows": number(0.85, 390, 10), "failures": {"parse": 2, "model": 1},
        "references": {"random": 0.0625, "always False": 0.02, "always False, statements": 0.73},
    }  # fmt: skip
    return BenchResult(**fields | changes)


def answers(count: int = 10, text: str = "", parts: int = 1) -> Iterator[tuple[Item, Verdict]]:
    for i in range(count):
        label = LABELS[i % len(LABELS)]
        for part in range(parts):
            item = Item(
                id=f"q{i}.{part}", prompt=f"What is it? Answer: {text or f'option {part}'}", target=(text or "A",),
                language=LANGUAGES[i % 5], region=REGIONS[i % 6], metadata={"tier": TIERS[i % 3]},
            )  # fmt: skip
            failure = None if label else Failure(kind=FailureKind.PARSE, reason=text or "no single choice")
            yield item, Verdict(
                item_id=item.id, unit=f"q{i}", answer=text or f"said {i}", read=text or "B", label=label,
                reason=text or "because", failure=failure,
            )  # fmt: skip


def bench_page(runs: Sequence[AnsweredRun]) -> str:
    return render_page(describe_runs(runs))


def run(count: int = 10, **changes: Any) -> AnsweredRun:
    return AnsweredRun(made_up(**changes), lambda: answers(count))


def cards(html: str) -> list[str]:
    return re.findall(r'<article class="card answer (\w+)"', html)


# ---- numbers ---------------------------------------------------------------------------------------------------


def test_headline_with_interval_references_and_unscored_by_kind() -> None:
    html = words(section(bench_page([run()]), "b1"))
    assert "60.0% 95%: 55.0–65.0% model-a , accuracy. 97 questions scored, 3 unscored" in html
    assert "not graded: 2 answers could not be parsed, 1 request was refused or not answered" in html
    assert "random: 6.2% always False: 2.0%" in html
    assert "not clearly above" not in html


def test_a_score_that_guessing_reaches_says_so() -> None:
    html = words(bench_page([run(value=0.1)]))
    assert "This is not clearly above “random”, which needs no knowledge." in html


def test_statements_stand_beside_questions_with_a_warning() -> None:
    part = section(bench_page([run()]), "b1").split("Statements alone</h3>")[1]
    assert "Flatters" in words(part.split("<table")[0])
    assert rows(part) == [["model-a", "60.0% 55.0–65.0% ✕3", "85.0% 80.0–90.0% ✕10", "73.0%"]]
    assert "Flatters" not in words(bench_page([run(rows=None)]))


def test_all_figures_are_on_the_page() -> None:
    part = section(bench_page([run()]), "b1").split("All figures</summary>")[1]
    assert rows(part)[0][:3] == ["all", "60.0% (55.0–65.0%)", "90.0% (85.0–95.0%)"]
    several = section(bench_page([run(), run(model="model-b")]), "b1").split("All figures</h3>")[1]
    assert rows(several)[0] == ["model-a", "60.0% 55.0–65.0% ✕3", "90.0% 85.0–95.0% ✕3"]


def test_one_model_has_dots_the_weakest_first_and_small_groups_hollow() -> None:
    part = section(bench_page([run()]), "b1").split("Regions</h3>")[1]
    shown = rows(part)
    assert [row[0] for row in shown][:2] == ["Egypt n 10", "Japan n 18"]
    assert shown[1][-1] == "65.0% 60.0–70.0% ✕1"
    assert part.split("<tbody>")[1].split("</tbody>")[0].count('<tr class="few">') == 2


def test_several_models_have_heatmaps() -> None:
    runs = [run(model=f"m{i}", value=0.3 + i / 10) for i in range(3)]
    part = section(bench_page(runs), "b1").split("Regions</h3>")[1]
    assert [row[0] for row in rows(part)] == ["m2", "m1", "m0"]  # the best first
    assert rows(part)[0][1:3] == ["50 n 10", "55 n 18 ✕1"]
    assert 'title="m2, Japan: 55.0% (95% interval 50.0–60.0%), n 18, 1 unscored"' in part


def test_tiers_are_bars_from_the_easiest() -> None:
    html = section(bench_page([run()]), "b1")
    chart = html.split("By tier</figcaption>")[1].split("</figure>")[0]
    assert re.findall(r"<bdi>(\w+) \(n", chart) == ["easy", "medium", "hard"]
    assert chart.count("<rect") == 3


def test_runs_of_one_benchmark_share_a_part_and_variants_do_not() -> None:
    runs = [run(), run(model="b"), run(variant="english"), run(name="other")]
    html = bench_page(runs)
    assert re.findall(r'<section class="part" id="(b\d)"', html) == ["b1", "b2", "b3"]
    assert "Made-up: questions (english)" in html
    assert "3 benchmarks" in html


def test_a_result_of_which_nothing_is_known() -> None:
    empty = made_up(figures={"accuracy": number(None, 0, 5)}, by={}, rows=None, references={}, failures={})
    html = words(bench_page([AnsweredRun(empty)]))
    assert "None" not in html
    assert "nan" not in html
    assert "–" in html
    assert 'id="answers"' not in bench_page([AnsweredRun(empty)])


# ---- charts ----------------------------------------------------------------------------------------------------


def test_every_country_of_the_map_has_its_own_tile() -> None:
    grid = tiles()
    assert len(set(grid.values())) == len(grid) > 195
    known = {country.alpha_2 for country in pycountry.countries} | {"XK"}
    assert set(grid) <= known


def test_the_map_names_and_shades_countries() -> None:
    result = {"EG": number(0.2), "JP": number(0.8, unscored=2), "BR": number(None), "RE": number(0.5)}
    html = draw(World("m", result, Shades(0.2, 0.8)))
    assert 'class="tile known s2" role="img" aria-label="Egypt: 20.0%' in html
    assert 'class="tile known s20" role="img" aria-label="Japan: 80.0% (95% interval 75.0–85.0%), n 40, 2 uns' in html
    assert html.count("known") == 2
    assert "<title>France: no data</title>" in html
    assert "Not on the map: Réunion." in html


def test_scales_end_at_full_tens() -> None:
    assert shades([0.31, 0.78, None]) == pytest.approx(Shades(0.3, 0.8))
    assert shades([0.4]) == pytest.approx(Shades(0.4, 0.5))
    assert shades([]) == Shades(0.0, 1.0)
    assert Shades(0.0, 1.0).at(None) is None
    assert Shades(0.2, 0.8).at(0.8) == 1.0


def test_a_radar_has_its_corners_where_the_scores_are() -> None:
    """Four axes: up, right, down and left of the centre."""
    html = draw(Radar("t", ["n", "e", "s", "w"], [RadarProfile("m", [1.0, 0.5, 0.0, 0.5])]))
    [corners] = [node.points for node in read_markup(html).all("polygon") if "series" in node.attributes["class"]]
    x, y = corners[2]  # no score: the centre
    reach = y - corners[0][1]
    assert reach > 0
    assert corners == [(x, y - reach), (x + reach / 2, y), (x, y), (x - reach / 2, y)]
    assert 'aria-label="m: n 100.0%, e 50.0%, s 0.0%, w 50.0%"' in html


def test_ranks_are_drawn_from_the_top() -> None:
    html = draw(Ranks("t", ["x", "y"], {"a": (1, 2), "b": (2, 1)}))
    assert 'aria-label="a, rank on x 1, y 2"' in html
    falling, rising = read_markup(html).all(".series")
    assert falling.at("x1") < falling.at("x2")
    assert falling.at("y1") == rising.at("y2") < falling.at("y2") == rising.at("y1")
    assert re.findall(r'<li class="t\d" title="(\w)">', html) == ["b", "a"]


def test_many_models_have_radars_of_their_own() -> None:
    html = bench_page([run(model=f"m{i}", count=0) for i in range(6)])
    assert html.count("mean of all models</title>") == 6
    assert "2 more profiles" in html


# ---- answers ---------------------------------------------------------------------------------------------------


def test_wrong_answers_come_first_with_all_that_was_said() -> None:
    html = section(bench_page([run()]), "answers")
    assert cards(html) == ["wrong"] * 2 + ["unscored"] * 2 + ["skipped"] * 2 + ["right"] * 4
    first = words(html.split("<article")[1].split("</article>")[0])
    assert "q0 Egypt · Arabic · hard · model-a · made-up Wrong" in first
    assert "Question What is it? Answer: option 0" in first
    assert "answered said 0 read as B correct answer A Judge because" in first
    assert "The answer could not be parsed (fault of the text): no single choice" in words(html)


def test_the_parts_of_a_question_share_a_card() -> None:
    pairs = list(answers(1, parts=3))
    pairs[1] = (pairs[1][0], pairs[1][1].model_copy(update={"label": Label.CORRECT}))
    html = section(bench_page([AnsweredRun(made_up(), lambda: pairs)]), "answers")
    assert cards(html) == ["wrong"]
    assert re.findall(r'<div class="said (\w+)">', html) == ["wrong", "right", "wrong"]
    assert words(html).count("What is it?") == 1
    assert "option 2" in words(html)


def test_more_answers_than_a_page_holds_are_drawn_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards_of, "EXAMPLES", 20)
    html = bench_page([run(200)])
    shown = cards(html)
    assert len(shown) == 20
    assert {state: shown.count(state) for state in set(shown)} == {"wrong": 13, "unscored": 5, "right": 2}
    assert "Wrong: 40 (13 of them here)" in words(html)
    assert "Not attempted: 40 (none of them here)" in words(html)
    ids = [int(result) for result in re.findall(r"<h3><bdi>q(\d+)", html)]
    assert max(ids) > 150


@pytest.mark.parametrize(
    ("text", "direction"),
    [("hello", "ltr"), ("ما هو الطعام في Cairo؟", "rtl"), ("Answer: ما هو الطعام التقليدي؟", "rtl"), ("123", "auto")],
)
def test_direction_is_that_of_most_letters(text: str, direction: str) -> None:
    item = Item(id="q", prompt=text)
    html = bench_page([AnsweredRun(made_up(), lambda: [(item, Verdict(item_id="q", unit="q", label=Label.INCORRECT))])])
    assert f'dir="{direction}">{text}</p>' in html


# ---- safety ----------------------------------------------------------------------------------------------------


def hostile() -> AnsweredRun:
    by = {HOSTILE: {HOSTILE: {HOSTILE: number(0.5)}, "b": {HOSTILE: number(0.4)}}}
    by["region"] = {f"{HOSTILE}{i}": {HOSTILE: number(i / 9)} for i in range(6)}
    result = made_up(
        benchmark=HOSTILE, title=HOSTILE, model=HOSTILE, judge=HOSTILE, signature=Signature({HOSTILE: HOSTILE}), by=by,
        figures={HOSTILE: number(0.5)}, failures={HOSTILE: 1}, references={HOSTILE: 0.1},
    )  # fmt: skip
    item = Item(id="q", prompt=HOSTILE + "\ud800", target=(HOSTILE,), language=HOSTILE, region=HOSTILE)
    verdict = Verdict(
        item_id="q", unit=HOSTILE, answer=HOSTILE, read=HOSTILE, reason=HOSTILE,
        failure=Failure(kind=FailureKind.PARSE, reason=HOSTILE),
    )  # fmt: skip
    return AnsweredRun(result, lambda: [(item, verdict), *answers(3, HOSTILE)])


def ranked(*runs: AnsweredRun) -> tuple[Board, list[BenchResult]]:
    entries = [BoardEntry(f"f{i}", run.result, {"q": float(i)}) for i, run in enumerate(runs)]
    return make_board(entries, force=True), [run.result for run in runs]


def board_of(*runs: AnsweredRun) -> str:
    return render_page(describe_board(*ranked(*runs)))


def several() -> list[AnsweredRun]:
    """Seven models with long names on two benchmarks."""
    names = [f"a-rather-long-name/of-a-model-{i}-instruct" for i in range(7)]
    values = {"made-up": range(7), "other": (3, 1, 6, 0, 2, 5, 4)}
    return [
        run(4, model=model, value=0.2 + place[i] / 10, name=name)
        for name, place in values.items()
        for i, model in enumerate(names)
    ]


@pytest.mark.parametrize("board", [False, True])
def test_hostile_names_and_texts_are_only_text(board: bool) -> None:
    html = board_of(hostile(), hostile()) if board else bench_page([hostile()])
    html.encode()
    read = Tags(html)
    assert not read.tags & {"img", "iframe", "link"}
    assert html.count("<script>") == 1
    assert not {name for name in read.attributes if name.startswith("on")} | read.attributes & {"style", "src"}
    assert html.count("window.hacked = 1") > 10  # it is shown, though


# ---- in a browser ----------------------------------------------------------------------------------------------

PAGES = {
    "one": lambda: bench_page([run(40)]),
    "several": lambda: bench_page(several()),
    "board": lambda: board_of(*several()),
    "hostile": lambda: bench_page([hostile()]),
}


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield show_page


@pytest.mark.often("hostile")
@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_is_wider_than_the_window(show: Any, name: str) -> None:
    assert_fits(show(PAGES[name]()))


def visible(page: Page) -> list[str]:
    result: list[str] = page.evaluate(
        "[...document.querySelectorAll('.answer')].filter((c) => c.offsetParent).map((c) => c.dataset.state)"
    )
    return result


def choose(page: Page, selector: str, text: str) -> None:
    page.evaluate(
        f"(() => {{ const s = document.querySelector({selector!r});"
        f" s.value = [...s.options].find((o) => o.text.startsWith({text!r})).value;"
        " s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


@pytest.mark.slow
def test_cards_are_filtered_searched_and_shown_in_chunks(show: Any) -> None:
    page = show(bench_page([run(40), run(5, model="b")]))
    assert len(visible(page)) == 25
    page.click("#more")
    assert len(visible(page)) == 45
    choose(page, "[data-filter=state]", "Unscored")
    assert visible(page) == ["unscored"] * 9
    choose(page, "[data-filter=run]", "b:")
    assert visible(page) == ["unscored"]
    assert page.evaluate("document.getElementById('count').textContent") == "1 of 45 answers"
    page.click("#reset")
    choose(page, "[data-filter=group]", "Japan")
    assert len(visible(page)) == 8
    page.click("#reset")
    page.click("#q")
    page.type("SAID 17")
    assert len(visible(page)) == 1
    page.type(" nobody")
    assert visible(page) == []
    assert page.evaluate("document.getElementById('none').offsetParent !== null")


@pytest.mark.slow
def test_without_filters_the_page_has_no_controls(show: Any) -> None:
    page = show(board_of(*several()))
    assert page.evaluate("document.querySelectorAll('select, input').length") == 0


@pytest.mark.slow
def test_shades_come_from_the_style_sheet(show: Any) -> None:
    page = show(bench_page(several()))
    fills = page.evaluate(
        "[...document.querySelectorAll('.world .tile.known rect')].map((r) => getComputedStyle(r).fill)"
    )
    assert len(set(fills)) > 3
    assert page.evaluate("getComputedStyle(document.querySelector('.world .tile:not(.known) rect')).fill") not in fills
