"""The charts as markup: places worked out by hand, well-formed, escaped, and nothing that a policy would refuse."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from mores.report.bench_charts import Row, bars, dots, radar
from mores.report.bench_map import Shades, shades, world
from mores.report.charts import Cell, Head, Interval, Series, forest, heatmap, histogram, lines, table
from mores.report.diagnose_charts import Column, Part, Stack, Track, changes, reliability, stacked
from mores.report.few import telling
from mores.report.page import TEMPLATES
from mores.types import Result

HOSTILE = "</svg></td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def tree(markup: str) -> ET.Element:
    """The markup, which is XML too."""
    return ET.fromstring(markup)


def words(markup: str) -> list[str]:
    return [text for text in (part.strip() for part in tree(markup).itertext()) if text]


def every_chart(name: str) -> list[Markup]:
    head, cell = [Head(name, name)], [[Cell(name, 0.5, name, name, star=True)]]
    return [
        forest([Interval(name, 0.5, 0.4, 0.6)], title=name, zero=name, reference=(name, 0.1)),
        lines([Series(name, [0, 1], [0, 1])], title=name, x=name, y=name, diagonal=True),
        histogram([0, 1], {name: [3]}, title=name, note=name),
        heatmap(head, head, cell, title=name),
        table(head, head, cell, title=name),
    ]


@pytest.mark.parametrize("chart", every_chart(HOSTILE), ids=["forest", "lines", "histogram", "heatmap", "table"])
def test_names_are_only_text(chart: Markup) -> None:
    root = tree(chart)
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "img"}
    assert any(HOSTILE in text for text in root.itertext())
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on")} | attributes & {"style", "href", "src"}


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")))
def test_every_name_gives_well_formed_markup(name: str) -> None:
    for chart in every_chart(name):
        tree(chart)


def test_forest_places() -> None:
    # From 0 to 0.6 in steps of 0.1; the drawing begins at 3% of the width and is 94% wide.
    root = tree(forest([Interval("a", 0.3, 0.15, 0.6)], title="t", reference=("shortcut", 0.15)))
    point, whisker = root.find(".//circle"), root.find(".//line[@class='whisker']")
    assert point is not None
    assert whisker is not None
    assert point.get("cx") == "50.00%"
    assert (whisker.get("x1"), whisker.get("x2")) == ("26.50%", "97.00%")
    assert [line.get("x1") for line in root.findall(".//tbody//line")][:2] == ["3.00%", "26.50%"]
    assert [text.text for text in root.findall(".//text")] == ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]
    assert "shortcut: 0.15" in words(str(forest([], title="t", reference=("shortcut", 0.15))))


def test_forest_says_its_numbers_in_words() -> None:
    shown = words(str(forest([Interval("mine", 0.591, 0.571, 0.611)], title="t")))
    assert "mine: 0.591 [0.57, 0.61]" in shown
    assert [word for word in shown if word in ("mine", "0.591", "[0.57, 0.61]")] == ["mine", "0.591", "[0.57, 0.61]"]


def test_forest_without_values() -> None:
    root = tree(forest([Interval("a", None), Interval("b", 0.2), Interval("c", float("nan"), 0.1, 0.2)], title="t"))
    assert len(root.findall(".//tbody/tr")) == 3
    assert len(root.findall(".//circle")) == 1
    assert [cell.text for cell in root.findall(".//td[@class='value']")] == ["–", "0.200", "–"]


@pytest.mark.parametrize("values", [(-300.0, 900.0), (0.0, 0.0), (-1.0, 1.0), (0.001, 0.002)])
def test_forest_scale_holds_every_value(values: tuple[float, float]) -> None:
    root = tree(forest([Interval("a", v) for v in values], title="t"))
    places = [float((c.get("cx") or "").rstrip("%")) for c in root.findall(".//circle")]
    assert all(3 <= place <= 97 for place in places)
    assert 2 <= len(root.findall(".//text")) <= 16


def test_lines_places() -> None:
    root = tree(lines([Series("a", [0, 0.5, 1], [0, 1, 1])], title="ROC", x="x", y="y", diagonal=True))
    curve, guess = root.find(".//polyline"), root.find(".//svg[@class='lines']/line[@class='guess']")
    assert curve is not None
    assert guess is not None
    assert curve.get("points") == "40.0,280.0 176.0,8.0 312.0,8.0"
    assert (guess.get("x1"), guess.get("y1"), guess.get("x2"), guess.get("y2")) == ("40.0", "280.0", "312.0", "8.0")
    assert words(str(lines([], title="ROC", x="x", y="y")))[1:3] == [
        "ROC",
        "y against x, both from 0 to 1, for nothing.",
    ]


def test_lines_keep_inside_the_square_and_skip_what_is_no_number() -> None:
    root = tree(lines([Series("a", [-1, float("nan"), 2], [2, 0.5, -1])], title="t", x="x", y="y"))
    curve = root.find(".//polyline")
    assert curve is not None
    assert curve.get("points") == "40.0,8.0 312.0,280.0"


def test_twenty_lines_look_different() -> None:
    root = tree(lines([Series(str(i), [0, 1], [0, 1]) for i in range(20)], title="t", x="x", y="y"))
    assert len({curve.get("class") for curve in root.findall(".//polyline")}) == 20
    assert len(root.findall(".//li")) == 20


def test_the_style_sheet_has_every_class() -> None:
    style = (TEMPLATES / "charts.css").read_text(encoding="utf-8")
    for name in [*(f"c{i}" for i in range(8)), "d1", "d2", *(f"s{i}" for i in range(1, 21)), "above", "below", "guess"]:
        assert re.search(rf"\.{name} {{", style), name
    assert not re.search(r"url\(|@import|https?:", style)


def test_histogram_heights_are_shares_of_each_kind() -> None:
    # correct: 100% in the second bar; hard: 50% in each, half as high.
    root = tree(histogram([-1, 0, 1], {"correct": [0, 8], "hard": [2, 2]}, title="m"))
    bars = {
        group.get("class"): [(bar.get("x"), bar.get("height")) for bar in group.findall("rect")]
        for group in root.findall(".//g")
    }
    assert bars == {"kind correct": [("53.00%", "38.0")], "kind hard": [("3.00%", "19.0"), ("53.00%", "19.0")]}
    assert "8 correct, most between 0.00 and 1.00; 4 hard, most between −1.00 and 0.00." in words(
        str(histogram([-1, 0, 1], {"correct": [0, 8], "hard": [2, 2]}, title="m"))
    )
    assert [text.text for text in root.findall("./svg/text")] == ["−1", "0", "1"]


@pytest.mark.parametrize(
    ("edges", "counts"),
    [([], {}), ([0, 1], {"correct": [0]}), ([], {"hard": []}), ([float("-inf"), 0, 1], {"soft": [1, 0]})],
)
def test_histogram_of_nothing(edges: list[float], counts: dict[str, list[int]]) -> None:
    assert len(tree(histogram(edges, counts, title="m")).findall(".//g")) == len(counts)


@pytest.mark.parametrize(
    ("value", "classes"),
    [
        (0.0, None), (0.02, None), (0.5, "above s10"), (-0.5, "below s10"), (1.0, "above s20"), (-7.0, "below s20"),
        (None, None), (float("nan"), None), (0.03, "above s1"),
    ],
)  # fmt: skip
def test_heatmap_colours_are_centred_on_zero(value: float | None, classes: str | None) -> None:
    cell = tree(heatmap([Head("r")], [Head("c")], [[Cell("x", value)]], title="t")).find(".//tbody//td")
    assert cell is not None
    assert cell.get("class") == classes


def test_heatmap_cells() -> None:
    cells = [[Cell("0.59", 0.59, "✕3", "r, c: 0.591 [0.57, 0.61], n = 9", star=True), Cell("–")]]
    root = tree(heatmap([Head("r")], [Head("c", "820"), Head("d")], cells, title="t"))
    first, second = root.findall(".//tbody//td")
    assert ("".join(first.itertext()), first.get("title")) == ("0.59* ✕3", "r, c: 0.591 [0.57, 0.61], n = 9")
    assert (second.text, second.get("class"), second.get("title")) == ("–", "none", None)
    assert [h.get("scope") for h in root.findall(".//th")] == ["col", "col", "row"]
    assert root.get("tabindex") == "0"  # a keyboard can scroll it


@pytest.mark.parametrize(("n", "length", "upright"), [(3, 30, False), (8, 5, False), (8, 30, True)])
def test_many_long_column_names_stand_upright(n: int, length: int, upright: bool) -> None:
    columns = [Head("x" * length)] * n
    shown = heatmap([Head("r")], columns, [[Cell("0", 0.0)] * n], title="t")
    assert ('class="heat upright"' in shown) is upright


def test_a_table_has_no_colours() -> None:
    assert "above" not in table([Head("r")], [Head("c")], [[Cell("1", 1.0)]], title="t")


def test_rows_and_columns_have_to_fit() -> None:
    with pytest.raises(ValueError, match="zip"):
        heatmap([Head("r")], [Head("c")], [], title="t")


def test_outlined_cells() -> None:
    rows = [Head(name) for name in "abc"]
    cells = [[Cell("0", 0.0, outlined=i == j) for j in range(3)] for i in range(3)]
    found = [c.get("class") == "outlined" for c in tree(heatmap(rows, rows, cells, title="t")).findall(".//tbody//td")]
    assert found == [i == j for i, j in product(range(3), repeat=2)]


ENOUGH, ONE_SHORT, SINGLE = (
    Result(name="accuracy", value=value, low=0.1, high=1.0, n=n) for value, n in ((0.6, 20), (1.0, 19), (1.0, 1))
)
SMALL = {"FR": ENOUGH, "KE": ONE_SHORT, "JP": SINGLE}


def with_few(results: dict[str, Result]) -> dict[str, Markup]:
    """Every kind of chart that shows values of samples."""
    head, sizes = [Head(name) for name in results], [one.n for one in results.values()]
    cells = [[Cell("100", one.value, n=one.n) for one in results.values()]]
    rows = [Row(name, one) for name, one in results.items()]
    values = [one.value or 0.0 for one in results.values()]
    track = Track("accuracy", values, values, values, values, n=sizes)
    return {
        "heatmap": heatmap([Head("row")], head, cells, title="t"),
        "map": world(results, Shades(0.0, 0.6), title="t"),
        "bars": bars(list(results), {"m": list(results.values())}, title="t"),
        "radar": radar(list(results), [Series("m", (), values, sizes)], title="t"),
        "dots": dots(rows, {}, title="t"),
        "changes": changes(rows, title="t"),
        "stacked": stacked([Stack(name, [one.n, 0]) for name, one in results.items()], [Part("a", 0), Part("b", 1)],
                           title="t"),
        "forest": forest([Interval(name, one.value, n=one.n) for name, one in results.items()], title="t"),
        "histogram": histogram([0, 1], {name: [one.n] for name, one in results.items()}, title="t"),
        "reliability": reliability(track, [Column(0, 1, n) for n in sizes], title="t", x="x", y="y"),
    }  # fmt: skip


@pytest.mark.parametrize("kind", with_few(SMALL))
def test_few_samples_have_their_sign_their_count_and_a_key_in_every_chart(kind: str) -> None:
    drawn = with_few(SMALL)[kind]
    root = tree(drawn)
    signs = [one for one in root.iter() if "few" in (one.get("class") or "").split()]
    inside = [one for one in signs if not any(one in list(other) for other in signs)]
    assert len(inside) == 2
    assert all(count in "".join(root.itertext()) for count in ("19", "1"))
    sign = "hatched" if kind == "heatmap" else "hollow"
    assert words(drawn).count(f"{sign}: fewer than 20 samples") == 1
    assert "fewer than" not in with_few({"FR": ENOUGH})[kind]


def test_few_samples_have_no_colour_and_their_count_beside_them() -> None:
    drawn = with_few(SMALL)
    assert re.findall(r'<td class="([\w ]+)">100(?: <small>(.*?)</small>)?</td>', drawn["heatmap"]) == (
        [("above s12", ""), ("few", "n 19"), ("few", "n 1")]
    )
    known = {"".join(t.itertext()): g.get("class") for g in tree(drawn["map"]).iter("g") for t in g.iter("text")}
    assert known == {"FR": "tile known s20", "KE19": "tile known few", "JP1": "tile known few"}
    assert re.findall(r"<span title[^>]*>(.*?)</span>", drawn["bars"]) == [
        "60.0%", "100.0% <small>n 19</small>", "100.0% <small>n 1</small>"
    ]  # fmt: skip
    assert re.findall(r"</bdi>(?: <small>(.*?)</small>)?</th>", drawn["dots"]) == ["", "n 19", "n 1"]


def test_few_samples_do_not_stretch_a_scale_of_colours() -> None:
    assert shades(telling([*SMALL.values(), None])) == Shades(0.6, 0.7)
    assert shades(telling([SINGLE])) == Shades(0.0, 1.0)


def test_a_baseline_is_a_square_and_hollow_means_few_alone() -> None:
    drawn = forest([Interval("a", 0.1, baseline=True, n=30), Interval("b", 0.2, n=3)], title="t")
    assert re.findall(r'<tr(?: class="(\w+)")?>.*?<(rect|circle) class="point"', drawn) == [
        ("muted", "rect"), ("few", "circle")
    ]  # fmt: skip
    assert "a baseline" in words(drawn)
