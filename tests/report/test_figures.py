"""Figures for a paper: every kind of chart is drawn from the same record as on the page, with its numbers beside it."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from mores.errors import ConfigError
from mores.report.base import drawing, figures
from mores.report.base.blocks import Fold, PageBlock, Section
from mores.report.base.charts import Amounts, Chart, IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid
from mores.report.base.plots import Curves, ScoreHistogram
from mores.report.base.shapes import Radar, Ranks
from mores.report.settings import FigureSettings
from mores.types import Result
from tests.report.test_charts import HOSTILE, every_chart

matplotlib = pytest.importorskip("matplotlib")


def write(blocks: Sequence[PageBlock], printed: Sequence[Grid | str], folder: Path) -> list[Path]:
    """The files of these blocks, which open the page, and of what is printed."""
    return figures.write_figures(ResultDocument("", "", printed, opening=blocks), folder)


def kinds(blocks: list[PageBlock]) -> list[str]:
    return [type(block).__name__ for block in blocks]


def test_every_kind_of_chart_can_be_drawn() -> None:
    charts = {kind for base in Chart.__subclasses__() for kind in (base, *base.__subclasses__())}
    assert charts <= set(drawing.DRAWN)
    assert {type(block) for block in every_chart("x")} - {Grid} == set(drawing.DRAWN)


@pytest.fixture
def _only_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PDF, which matplotlib takes as long for again."""
    monkeypatch.setattr(figures, "draw", partial(drawing.draw, kinds=("svg",)))


@pytest.mark.often(
    "Intervals1", "GroupedBars", "Amounts", "Curves", "ScoreHistogram", "Radar", "World", "Ranks", "Grid"
)
@pytest.mark.usefixtures("_only_svg")
@pytest.mark.parametrize("block", every_chart(f"$x_1$ {HOSTILE} العربية"), ids=kinds(every_chart("x")))
def test_a_block_becomes_files(block: PageBlock, tmp_path: Path) -> None:
    names = {path.suffix: path for path in write([block], [], tmp_path)}
    if isinstance(block, Grid):
        assert names[".tex"].read_text().count("\\end{tabular}") == 1
    if not isinstance(block, Grid) or ".svg" in names:
        ET.parse(names[".svg"])
    rows = list(csv.reader(names[".csv"].read_text("utf-8").splitlines()))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    assert {path.parent for path in names.values()} == {tmp_path}


@pytest.mark.slow
@pytest.mark.usefixtures("_only_svg")
def test_names_are_of_the_section_and_the_title_each_once(tmp_path: Path) -> None:
    first, second = every_chart("a/../b")[3], every_chart("العربية")[3]
    section = Section("s", "Ärger: part", [first, Fold("more", [first])], short="Part 1")
    written = write([section, second], ["a line", Grid(("a",), [], "T")], tmp_path / "new")
    assert [path.name for path in written if path.suffix == ".csv"] == [
        "part-1-a-b.csv", "part-1-a-b-2.csv", "part-1.csv", "t.csv",
    ]  # fmt: skip


def test_the_numbers_of_a_chart_are_plain() -> None:
    chart = every_chart("x")[0]
    assert isinstance(chart, Chart)
    assert chart.data() == [["name", "value", "low", "high", "n", "unscored"], ["x", 0.5, 0.4, 0.6, 30, 0]]


@pytest.mark.slow
def test_the_same_chart_gives_the_same_files(tmp_path: Path) -> None:
    first, second = (write(every_chart("x")[:1], [], tmp_path / name) for name in "ab")
    assert [path.suffix for path in first] == [".svg", ".pdf", ".csv"]
    assert first[1].read_bytes().startswith(b"%PDF")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.extras.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="figures"):
        write([], [], tmp_path)


MODELS = ("openai:gpt-4.1", "openai:gpt-4.1-mini", "hf:aya")
SHARES = Intervals(
    "accuracy",
    rows=[
        IntervalRow(name, Result(name="x", value=value, low=value - 0.1, high=value + 0.1, n=50))
        for name, value in zip(MODELS, (0.4, 0.2, 0.7), strict=True)
    ],
)


def texts_of(svg: Path) -> list[str]:
    """The words of a figure, which stay text."""
    words = ("".join(element.itertext()).strip() for element in ET.parse(svg).iter() if element.tag.endswith("}text"))
    return [word for word in words if word]


@pytest.mark.slow
@pytest.mark.usefixtures("_only_svg")
@pytest.mark.parametrize("width", [3.03, pytest.param(6.3, marks=pytest.mark.slow)])
def test_a_figure_is_as_wide_as_the_column(tmp_path: Path, width: float) -> None:
    for number, block in enumerate(every_chart("a name that is rather long")):
        style = FigureSettings(figure_width=width, font_size=7)
        document = ResultDocument("", "", (), opening=[block])
        written = figures.write_figures(document, tmp_path / str(number), style)
        for svg in (path for path in written if path.suffix == ".svg" and not isinstance(block, Grid)):
            found = float(str(ET.parse(svg).getroot().get("width")).removesuffix("pt")) / 72
            is_square = isinstance(block, Curves | Radar)
            assert found <= width + 1e-6 if is_square else found == pytest.approx(width), svg.name
            assert re.search(r"font(-size)?: 7px", svg.read_text("utf-8"))


@pytest.mark.usefixtures("_only_svg")
@pytest.mark.usefixtures("_only_svg")
def test_a_share_of_nothing_has_no_colour(tmp_path: Path) -> None:
    parts = [StackPart("major", 0), StackPart("minor", 1)]

    def bars(folder: str, *counts: list[int]) -> int:
        write([Stacks("shares", [Stack(str(given), given) for given in counts], parts)], [], tmp_path / folder)
        return len(re.findall("<path d=[^>]* clip-path", (tmp_path / folder / "shares.svg").read_text()))

    assert bars("all", [30, 30], [20, 40]) - bars("some", [30, 30], [60, 0]) == 1


def test_names_and_order(tmp_path: Path) -> None:
    names = tmp_path / "names.toml"
    names.write_text('"openai:gpt-4.1" = "GPT-4.1"\n"hf:aya" = "Aya Expanse"\n')
    document = ResultDocument(
        "", "", [Grid(("model", "rank"), [("", [("1. hf:aya", "1")])], "Ranks")], opening=[SHARES]
    )
    orders: dict[Literal["page", "value", "name"], list[str]] = {
        "page": ["GPT-4.1", "openai:gpt-4.1-mini", "Aya Expanse"],
        "value": ["Aya Expanse", "GPT-4.1", "openai:gpt-4.1-mini"],
        "name": ["Aya Expanse", "GPT-4.1", "openai:gpt-4.1-mini"],
    }
    for order, expected in orders.items():
        style = FigureSettings(order=order, names=names)
        written = figures.write_figures(document, tmp_path / order, style)
        rows = list(csv.reader((tmp_path / order / "accuracy.csv").read_text("utf-8").splitlines()))
        assert [row[0] for row in rows[1:]] == expected
        shown = texts_of(tmp_path / order / "accuracy.svg")
        assert [word for word in shown if word in expected] == expected
        [table] = [path for path in written if path.suffix == ".tex"]
        assert "1. Aya Expanse &" in table.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = ", "names.toml: not TOML"),
        ("x = 1", "names.toml: 'x' is not a text; put quotes around both"),
        ('[names]\nx = "y"', "names.toml: 'names' is a section; write every name in quotes"),
        ('gpt-4.1 = "y"', "names.toml: 'gpt-4' is a section; write every name in quotes"),
    ],
)
def test_a_file_of_names_that_cannot_be_read(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "names.toml").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        figures.read_names(tmp_path / "names.toml")


@pytest.mark.slow
@pytest.mark.usefixtures("_only_svg")
def test_ticks_are_round_and_have_one_minus_sign(tmp_path: Path) -> None:
    histogram = ScoreHistogram("scores", counts={"wrong": [3, 2, 1]}, edges=[-5, -2, 0, 1])
    ranks = Ranks("ranks", columns=["one", "two"], ranks={"a": [1, 2], "b": [2, 1]})
    write([histogram, ranks, Amounts("amounts", {"x": 3})], [], tmp_path)
    assert {"−5", "−2"} <= set(texts_of(tmp_path / "scores.svg"))
    assert [word for word in texts_of(tmp_path / "ranks.svg") if word[0].isdigit()] == ["1", "2"]
    words = [word for path in tmp_path.glob("*.svg") for word in texts_of(path)]
    assert not [word for word in words if word.startswith("-")]
    assert all(word.isdigit() for word in texts_of(tmp_path / "amounts.svg") if word != "x")


@pytest.mark.usefixtures("_only_svg")
def test_many_long_names_below_ranks_stand_at_an_angle(tmp_path: Path) -> None:
    """The names of a board of thirteen benchmarks were written over each other."""
    names = [f"culturalbench-easy.{number}-shot.logprob" for number in range(13)]
    write([Ranks("ranks", columns=names, ranks={"a": [1] * 13, "b": [2] * 13})], [], tmp_path)
    assert set(names) <= set(texts_of(tmp_path / "ranks.svg"))
    assert (tmp_path / "ranks.svg").read_text("utf-8").count("rotate(-40") >= 13


XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
"""From linear red, green and blue."""
SEEN = {
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""What people see of linear red, green and blue (Machado et al. 2009, severity 1)."""


@pytest.mark.parametrize("kind", SEEN)
def test_colours_differ_for_people_who_are_colour_blind(kind: str) -> None:
    def lab(colour: str) -> np.ndarray:
        parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        seen = np.clip(np.array(SEEN[kind]) @ linear, 0, 1)
        white, to_xyz = np.array([0.9505, 1, 1.089]), np.array(XYZ)
        ratios = to_xyz @ seen / white
        x, y, z = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
        return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])

    assert min(np.linalg.norm(lab(a) - lab(b)) for a, b in combinations(drawing.PALETTE, 2)) > 15


@pytest.mark.usefixtures("_only_svg")
@pytest.mark.parametrize("sign", [1, -1])
def test_a_star_stands_on_the_side_away_from_zero(sign: int, tmp_path: Path) -> None:
    low, high = sorted((0.05 * sign, 0.6 * sign))
    result = Result(name="a", value=0.3 * sign, low=low, high=high, n=90)
    chart = Intervals("A", [IntervalRow("a", result, star=True)], "number", zero="no difference")
    drawn = {path.suffix: path for path in write([chart], [], tmp_path)}[".svg"].read_text("utf-8")
    [star] = re.findall(r'<text [^>]*?x="([\d.]+)"[^>]*>\*</text>', drawn)
    places = {text: float(x) for x, text in re.findall(r'<text [^>]*?x="([\d.]+)"[^>]*>([−\d.]+)</text>', drawn)}
    assert (float(star) - places["0.0"]) * sign > (places[f"{'−' * (sign < 0)}0.6"] - places["0.0"]) * sign
