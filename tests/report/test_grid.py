"""A table as comma-separated values, LaTeX and HTML."""

from __future__ import annotations

import csv

from mores.report.base.grid import Cell, Grid, Head, make_grid
from tests.report.markup import read_markup

GRID = Grid(
    ("", "accuracy", "n"),
    [("", [("all", ("60.0%*", "(55.0–65.0%)"), "97")]), ("by topic", [("food & <b>drink</b>", ("−1.5", ""), "1,200")])],
    "Made-up: $m_1$",
    ["✕3: not scored"],
)


def test_csv_has_a_column_for_headings_and_for_intervals() -> None:
    assert list(csv.reader(GRID.csv().splitlines())) == [
        ["group", "", "accuracy", "accuracy (95% interval)", "n"],
        ["", "all", "60.0%*", "(55.0–65.0%)", "97"],
        ["by topic", "food & <b>drink</b>", "−1.5", "", "1,200"],
    ]


def test_a_simple_table_has_no_more_columns_in_csv() -> None:
    assert Grid(("name", "n"), [("", [("a", "1")])]).csv() == "name,n\na,1\n"


def test_latex_is_a_table_with_caption_label_and_notes() -> None:
    assert GRID.latex("made-up").splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Made-up: \$m\_1\$}",
        r"\label{tab:made-up}",
        r"\smallskip",
        r"\sbox0{%",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & accuracy & n \\",
        r"\midrule",
        r"all & 60.0\%* (55.0--65.0\%) & 97 \\",
        r"\midrule",
        r"\multicolumn{3}{l}{\emph{by topic}} \\",
        r"food \& \textless{}b\textgreater{}drink\textless{}/b\textgreater{} & $-$1.5 & 1,200 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "}%",
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
        r"\par\smallskip\parbox{\linewidth}{\footnotesize $\times$3: not scored.}",
        r"\end{table}",
    ]


def test_latex_has_no_commands_of_others() -> None:
    shown = Grid(
        ("a\n\\end{tabular}", "b"), [("", [("\\input{x} ~^#{}", "\x1b[31m100%\nnew")])], "t\n\\input{y}"
    ).latex()
    assert "\\input" not in shown.replace("% t \\input{y}", "")
    assert "\x1b" not in shown
    assert shown.count("\\end{tabular}") == 1


def test_html_is_a_plain_table_in_which_words_are_only_words() -> None:
    read = read_markup(GRID.html())
    assert [node.text for node in read.all("td")] == [
        "all", "60.0%* (55.0–65.0%)", "97", "food & <b>drink</b>", "−1.5", "1,200",
    ]  # fmt: skip
    assert read.only("caption").text == "Made-up: $m_1$"
    assert not read.all("b")
    assert GRID._repr_html_() == GRID.html()


def test_a_sheet_becomes_a_grid_with_its_stars_and_notes() -> None:
    row = (Head("a", "n 9"), Cell("0.59", 0.59, "✕3", star=True))
    grid = make_grid("t", ("metric", Head("c", "820")), [row], "* better")
    assert (grid.names, list(grid.lines()), grid.notes) == (
        ["metric", "c 820"], [("", ["a n 9", ("0.59*", "✕3")])], ["* better"],
    )  # fmt: skip
