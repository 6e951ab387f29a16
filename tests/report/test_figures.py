"""Figures for a paper: every kind of chart is drawn from the same record as on the page, with its numbers beside it."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

from mores.errors import ConfigError
from mores.report.base import figures
from mores.report.base.blocks import Fold, PageBlock, Section
from mores.report.base.charts import Chart
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid
from tests.report.test_charts import HOSTILE, every_chart

matplotlib = pytest.importorskip("matplotlib")


def write(blocks: Sequence[PageBlock], printed: Sequence[Grid | str], folder: Path) -> list[Path]:
    """The files of these blocks, which open the page, and of what is printed."""
    return figures.write_figures(ResultDocument("", "", printed, opening=blocks), folder)


def kinds(blocks: list[PageBlock]) -> list[str]:
    return [type(block).__name__ for block in blocks]


def test_every_kind_of_chart_can_be_drawn() -> None:
    charts = {kind for base in Chart.__subclasses__() for kind in (base, *base.__subclasses__())}
    assert charts <= set(figures.DRAWN)
    assert {type(block) for block in every_chart("x")} - {Grid} == set(figures.DRAWN)


@pytest.mark.parametrize("block", every_chart(f"$x_1$ {HOSTILE} العربية"), ids=kinds(every_chart("x")))
def test_a_block_becomes_files(block: PageBlock, tmp_path: Path) -> None:
    names = {path.suffix: path for path in write([block], [], tmp_path)}
    if isinstance(block, Grid):
        assert names[".tex"].read_text().count("\\end{tabular}") == 1
    if not isinstance(block, Grid) or ".svg" in names:
        ET.parse(names[".svg"])
        assert names[".pdf"].read_bytes().startswith(b"%PDF")
    rows = list(csv.reader(names[".csv"].read_text("utf-8").splitlines()))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    assert {path.parent for path in names.values()} == {tmp_path}


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


def test_the_same_chart_gives_the_same_files(tmp_path: Path) -> None:
    first, second = (write(every_chart("x")[:1], [], tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.extras.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="figures"):
        write([], [], tmp_path)
