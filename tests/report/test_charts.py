"""The charts as markup: where values stand, well-formed, escaped, and nothing that a policy would refuse."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.report.base.blocks import PageBlock, telling
from mores.report.base.charts import Amounts, GroupedBars, IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Grid, Head, Heat, make_grid
from mores.report.base.page import draw, render_page
from mores.report.base.plots import Axis, BinCount, CurveLine, Curves, ScoreHistogram
from mores.report.base.shapes import Radar, RadarProfile, Ranks, Shades, World, shades
from mores.types import Result

HOSTILE = "</svg></td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def tree(block: PageBlock) -> ET.Element:
    """What is drawn of a block: it is XML too."""
    return ET.fromstring(draw(block))


def words(block: PageBlock) -> list[str]:
    return [text for text in (part.strip() for part in tree(block).itertext()) if text]


def value(value: float | None, low: float | None = None, high: float | None = None, n: int = 30) -> Result:
    return Result(name="v", value=value, low=low, high=high, n=n)


def forest(*rows: IntervalRow, **more: float) -> Intervals:
    return Intervals("t", rows, "number", more, zero="0: guessing")


def table(kind: type[Grid], title: str, rows: Any, columns: Any, cells: Any) -> Grid:
    return make_grid(title, ["", *columns], [(head, *line) for head, line in zip(rows, cells, strict=True)], kind=kind)


def row(kind: type[Grid], *cells: Cell) -> Grid:
    return table(kind, "t", [Head("r")], [Head("c")] * len(cells), [list(cells)])


def every_chart(name: str) -> list[PageBlock]:
    head, cell = [Head(name, name)], [[Cell(name, 0.5, name, name, star=True)]]
    known = value(0.5, 0.4, 0.6)
    return [
        Intervals(name, [IntervalRow(name, known, name, star=True)], "number", {name: 0.1}, name),
        Intervals(name, [IntervalRow(name, known, second=known)], "place", pair=(name, name)),
        GroupedBars(name, [name], {name: [known]}),
        Amounts(name, {name: 3}),
        Stacks(name, [Stack(name, [3])], [StackPart(name, 0)]),
        Curves(name, [CurveLine(name, [0, 1], [0, 1], hints=[name] * 2, n=[1, 2])], Axis(name), name, name),
        ScoreHistogram(name, [0, 1], {name: [3]}, name),
        Radar(name, [name] * 3, [RadarProfile(name, [0.1, 0.2, 0.3], [1, 2, 3])], faint=RadarProfile(name, [0.1] * 3)),
        World(name, {name: known}, Shades(0.0, 1.0)),
        Ranks(name, [name], {name: [1]}),
        table(Heat, name, head, head, cell),
        table(Grid, name, head, head, cell),
    ]


@pytest.mark.parametrize("chart", every_chart(HOSTILE), ids=lambda chart: type(chart).__name__)
def test_names_are_only_text(chart: PageBlock) -> None:
    root = tree(chart)
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "img"}
    assert any(HOSTILE in text for text in root.itertext())
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on")} | attributes & {"style", "href", "src"}


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")))
def test_every_name_gives_well_formed_markup(name: str) -> None:
    for chart in every_chart(name):
        tree(chart)


def places(root: ET.Element, path: str, name: str) -> list[float]:
    return [float((node.get(name) or "").rstrip("%")) for node in root.findall(path)]


def test_a_value_lies_in_its_interval_beside_what_it_is_compared_with() -> None:
    # From 0 to 0.6: the value is in the middle, and its interval begins where the reference is.
    root = tree(forest(IntervalRow("a", value(0.3, 0.15, 0.6)), shortcut=0.15))
    [point] = places(root, ".//circle", "cx")
    [low], [high] = (places(root, ".//line[@class='whisker']", end) for end in ("x1", "x2"))
    zero, reference = places(root, ".//tbody//line", "x1")[:2]
    assert point == pytest.approx(50)
    assert (low, reference) == pytest.approx((zero + (point - zero) / 2,) * 2, abs=0.02)
    assert high == pytest.approx(2 * point - zero)
    assert [text.text for text in root.findall(".//text")] == ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]
    assert "shortcut: 0.15" in words(forest(shortcut=0.15))


def test_values_are_said_in_words() -> None:
    shown = words(forest(IntervalRow("mine", value(0.591, 0.571, 0.611))))
    assert "mine: 0.591 (95% interval [0.57, 0.61]), n 30, 0 unscored" in shown
    assert [word for word in shown if word in ("mine", "0.591", "[0.57, 0.61]")] == ["mine", "0.591", "[0.57, 0.61]"]


def test_rows_without_values() -> None:
    root = tree(
        forest(IntervalRow("a", None), IntervalRow("b", value(0.2)), IntervalRow("c", value(float("nan"), 0.1, 0.2)))
    )
    assert len(root.findall(".//tbody/tr")) == 3
    assert len(root.findall(".//circle")) == 1
    assert [cell.text for cell in root.findall(".//td[@class='value']")] == ["–", "0.200", "–"]


@pytest.mark.parametrize("values", [(-300.0, 900.0), (0.0, 0.0), (-1.0, 1.0), (0.001, 0.002)])
@pytest.mark.parametrize("unit", ["number", "points"])
def test_a_scale_holds_every_value(values: tuple[float, float], unit: Any) -> None:
    root = tree(Intervals("t", [IntervalRow("a", value(v)) for v in values], unit))
    assert all(3 <= place <= 97 for place in places(root, ".//circle", "cx"))
    assert 2 <= len(root.findall(".//text")) <= 16


def test_curves_go_through_their_points() -> None:
    root = tree(Curves("ROC", [CurveLine("a", [0, 0.5, 1], [0, 1, 1])], Axis("x"), "y", "guessing"))
    curve, guess = root.find(".//polyline"), root.find(".//svg[@class='lines']/line[@class='guess']")
    assert curve is not None
    assert guess is not None
    first, middle, last = (tuple(map(float, point.split(","))) for point in (curve.get("points") or "").split())
    ends = [float(guess.get(name) or "") for name in ("x1", "y1", "x2", "y2")]
    assert (*first, *last) == tuple(ends)
    assert middle == ((first[0] + last[0]) / 2, last[1])
    assert words(Curves("ROC", [], Axis("x"), "y"))[1:3] == ["ROC", "y against x: nothing."]


def test_curves_keep_inside_the_square_and_skip_what_is_no_number() -> None:
    inside, outside = (
        tree(Curves("t", [CurveLine("a", xs, ys)], Axis("x"), "y")).find(".//polyline")
        for xs, ys in (([0, 1], [1, 0]), ([-1, float("nan"), 2], [2, 0.5, -1]))
    )
    assert inside is not None
    assert outside is not None
    assert inside.get("points") == outside.get("points")


def test_twenty_lines_look_different() -> None:
    root = tree(Curves("t", [CurveLine(str(i), [0, 1], [0, 1]) for i in range(20)], Axis("x"), "y"))
    assert len({curve.get("class") for curve in root.findall(".//polyline")}) == 20
    assert len(root.findall(".//li")) == 20


def test_the_style_sheet_has_every_class() -> None:
    style = render_page(ResultDocument("", "", ()))
    for name in [*(f"c{i}" for i in range(8)), "d1", "d2", *(f"s{i}" for i in range(1, 21)), "above", "below", "guess"]:
        assert re.search(rf"\.{name} {{", style), name
    assert not re.search(r"url\(|@import|https?:", style)


def test_histogram_heights_are_shares_of_each_kind() -> None:
    # correct: 100% in the second bar; hard: 50% in each, half as high.
    root = tree(ScoreHistogram("m", [-1, 0, 1], {"correct": [0, 8], "hard": [2, 2]}))
    bars = {
        group.get("class"): [(bar.get("x"), bar.get("height")) for bar in group.findall("rect")]
        for group in root.findall(".//g")
    }
    assert bars == {"kind correct": [("53.00%", "38.0")], "kind hard": [("3.00%", "19.0"), ("53.00%", "19.0")]}
    assert "8 correct, most between 0.00 and 1.00; 4 hard, most between −1.00 and 0.00." in words(
        ScoreHistogram("m", [-1, 0, 1], {"correct": [0, 8], "hard": [2, 2]})
    )
    assert [text.text for text in root.findall("./svg/text")] == ["−1", "0", "1"]


@pytest.mark.parametrize(
    ("edges", "counts"),
    [([], {}), ([0, 1], {"correct": [0]}), ([], {"hard": []}), ([float("-inf"), 0, 1], {"soft": [1, 0]})],
)
def test_histogram_of_nothing(edges: list[float], counts: dict[str, list[int]]) -> None:
    assert len(tree(ScoreHistogram("m", edges, counts)).findall(".//g")) == len(counts)


@pytest.mark.parametrize(
    ("value", "classes"),
    [
        (0.0, None), (0.02, None), (0.5, "above s10"), (-0.5, "below s10"), (1.0, "above s20"), (-7.0, "below s20"),
        (None, None), (float("nan"), None), (0.03, "above s1"),
    ],
)  # fmt: skip
def test_heatmap_colours_are_centred_on_zero(value: float | None, classes: str | None) -> None:
    cell = tree(row(Heat, Cell("x", value))).find(".//tbody//td")
    assert cell is not None
    assert cell.get("class") == classes


def test_heatmap_cells() -> None:
    cells = [[Cell("0.59", 0.59, "✕3", "r, c: 0.591 [0.57, 0.61], n = 9", star=True), Cell("–")]]
    root = tree(table(Heat, "t", [Head("r")], [Head("c", "820"), Head("d")], cells))
    first, second = root.findall(".//tbody//td")
    assert ("".join(first.itertext()), first.get("title")) == ("0.59* ✕3", "r, c: 0.591 [0.57, 0.61], n = 9")
    assert (second.text, second.get("class"), second.get("title")) == ("–", "none", None)
    assert [h.get("scope") for h in root.findall(".//th")] == ["col", "col", "row"]
    assert root.get("tabindex") == "0"  # a keyboard can scroll it


@pytest.mark.parametrize(("n", "length", "upright"), [(3, 30, False), (8, 5, False), (8, 30, True)])
def test_many_long_column_names_stand_upright(n: int, length: int, upright: bool) -> None:
    columns = [Head("x" * length)] * n
    shown = draw(table(Heat, "t", [Head("r")], columns, [[Cell("0", 0.0)] * n]))
    assert ('class="heat upright"' in shown) is upright


def test_a_table_has_no_colours() -> None:
    assert "above" not in draw(row(Grid, Cell("1", 1.0)))


def test_rows_and_columns_have_to_fit() -> None:
    with pytest.raises(ValueError, match="zip"):
        draw(table(Heat, "t", [Head("r")], [Head("c")], []))


def test_outlined_cells() -> None:
    rows = [Head(name) for name in "abc"]
    cells = [[Cell("0", 0.0, outlined=i == j) for j in range(3)] for i in range(3)]
    result = [c.get("class") == "outlined" for c in tree(table(Heat, "t", rows, rows, cells)).findall(".//tbody//td")]
    assert result == [i == j for i, j in product(range(3), repeat=2)]


ENOUGH, ONE_SHORT, SINGLE = (
    Result(name="accuracy", value=value, low=0.1, high=1.0, n=n) for value, n in ((0.6, 20), (1.0, 19), (1.0, 1))
)
SMALL = {"FR": ENOUGH, "KE": ONE_SHORT, "JP": SINGLE}


def with_few(results: dict[str, Result]) -> dict[str, PageBlock]:
    """Every kind of chart that shows values of samples."""
    head, sizes = [Head(name) for name in results], [result.n for result in results.values()]
    cells = [[Cell("100", result.value, n=result.n) for result in results.values()]]
    rows = [IntervalRow(name, result) for name, result in results.items()]
    values = [result.value or 0.0 for result in results.values()]
    line = CurveLine("accuracy", values, values, values, values, n=sizes)
    return {
        "heatmap": table(Heat, "t", [Head("row")], head, cells),
        "map": World("t", results, Shades(0.0, 0.6)),
        "bars": GroupedBars("t", list(results), {"m": list(results.values())}),
        "radar": Radar("t", list(results), [RadarProfile("m", values, sizes)]),
        "shares": Intervals("t", rows),
        "points": Intervals("t", rows, "points"),
        "numbers": Intervals("t", rows, "number"),
        "stacks": Stacks(
            "t",
            [Stack(name, [result.n, 0]) for name, result in results.items()],
            [StackPart("a", 0), StackPart("b", 1)],
        ),
        "histogram": ScoreHistogram("t", [0, 1], {name: [result.n] for name, result in results.items()}),
        "curves": Curves("t", [line], Axis("x"), "y", "as sure", [BinCount(0, 1, n) for n in sizes]),
    }


@pytest.mark.parametrize("kind", with_few(SMALL))
def test_few_samples_have_their_sign_their_count_and_a_key_in_every_chart(kind: str) -> None:
    chart = with_few(SMALL)[kind]
    root = tree(chart)
    signs = [node for node in root.iter() if "few" in (node.get("class") or "").split()]
    inside = [node for node in signs if not any(node in list(other) for other in signs)]
    assert len(inside) == 2
    assert all(count in "".join(root.itertext()) for count in ("19", "1"))
    sign = "hatched" if kind == "heatmap" else "hollow"
    assert words(chart).count(f"{sign}: fewer than 20 samples") == 1
    assert "fewer than" not in draw(with_few({"FR": ENOUGH})[kind])


def test_few_samples_have_no_colour_and_their_count_beside_them() -> None:
    charts = with_few(SMALL)
    drawn = {kind: draw(chart) for kind, chart in charts.items()}
    assert re.findall(r'<td class="([\w ]+)">100(?: <small>(.*?)</small>)?</td>', drawn["heatmap"]) == (
        [("above s12", ""), ("few", "n 19"), ("few", "n 1")]
    )
    known = {"".join(t.itertext()): g.get("class") for g in tree(charts["map"]).iter("g") for t in g.iter("text")}
    assert known == {"FR": "tile known s20", "KE19": "tile known few", "JP1": "tile known few"}
    assert re.findall(r"<span title[^>]*>(.*?)</span>", drawn["bars"]) == [
        "60.0%", "100.0% <small>n 19</small>", "100.0% <small>n 1</small>"
    ]  # fmt: skip
    assert re.findall(r"</bdi>(?: <small>(.*?)</small>)?</th>", drawn["shares"]) == ["", "n 19", "n 1"]


def test_a_heatmap_without_enough_samples_anywhere_has_hatched_colours() -> None:
    heat = draw(with_few({"KE": ONE_SHORT, "JP": SINGLE})["heatmap"])
    assert re.findall(r'<td class="([\w ]+)">', heat) == ["few above s20", "few above s20"]
    assert "hatched: fewer than 20 samples" in heat


def test_few_samples_do_not_stretch_a_scale_of_colours() -> None:
    assert shades(telling([*SMALL.values(), None])) == Shades(0.6, 0.7)
    assert shades(telling([SINGLE])) == Shades(0.0, 1.0)


def test_a_baseline_is_a_square_and_hollow_means_few_alone() -> None:
    chart = forest(IntervalRow("a", value(0.1), baseline=True), IntervalRow("b", value(0.2, n=3)))
    assert re.findall(r'<tr(?: class="(\w+)")?>.*?<(rect|circle) class="point"', draw(chart)) == [
        ("muted", "rect"), ("few", "circle")
    ]  # fmt: skip
    assert "a baseline" in words(chart)
