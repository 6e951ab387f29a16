"""Tables in the terminal that lose nothing, however narrow it is.

A `Grid` is laid out for the width that it gets: values with their intervals beside them, else with the intervals below,
else in several tables with the same first column. Words wrap; a number is never broken or cut.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

Cell = str | tuple[str, str]
"""What stands in a place: a value, or a value and its interval."""
Row = Sequence[Cell]
GAP = 2
WORDS = 18
"""A column of words that is wider may be wrapped to this."""
CELL = 200
"""Code points of a text that can reach a cell; rich cuts the rest of the way."""
JOINERS = "\u200c\u200d"
"""Invisible, but part of how Persian, Indic scripts and emoji are written."""
LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$", "✕": r"$\times$", "≤": r"$\leq$", "τ": r"$\tau$", "α": r"$\alpha$", "κ": r"$\kappa$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\to$", **{char: f"\\{char}" for char in "&%$#_{}"},
}  # fmt: skip


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console that prints words unchanged: `openai:m:` is a name, and neither an emoji nor markup."""
    return Console(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)


def print_tables(tables: Iterable[RenderableType], *, stderr: bool = False) -> None:
    """What a command prints: tables with a free line after each, and sentences that are broken only by the terminal."""
    console = plain_console(stderr=stderr)
    for table in tables:
        if isinstance(table, Grid):
            console.print(table, "")
        elif isinstance(table, str):
            console.print(harmless(table), soft_wrap=True)
        else:
            console.print(table)


def tables_html(tables: Iterable[RenderableType]) -> str:
    """Return the same for notebooks."""

    def drawn(table: RenderableType) -> str:
        if isinstance(table, Grid):
            return table.html()
        if isinstance(table, str):
            return f"<p>{escape(harmless(table))}</p>"
        console = Console(record=True, file=io.StringIO(), width=120, highlight=False, markup=False, emoji=False)
        console.print(table)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")

    return "".join(map(drawn, tables))


@dataclass(frozen=True)
class Grid:
    """One table; all of its words are made harmless when it is printed."""

    columns: Sequence[str]
    """Their names; the first column says what a row is."""
    sections: Sequence[tuple[str, Sequence[Row]]]
    """Rows under a heading each; an empty heading is not shown."""
    title: str = ""
    notes: Sequence[str] = ()
    """Lines under the table."""
    words: frozenset[int] = frozenset({0})
    """The columns that hold words, which may be wrapped."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if self.title:
            yield Text(harmless(self.title), style="italic")
        for number, columns in enumerate(self._parts(options.max_width)):
            if number:
                yield ""
            yield self._table(columns, options.max_width)
        for note in filter(None, self.notes):
            yield Text(harmless(note), style="dim")

    def lines(self) -> Iterator[tuple[str, list[Cell]]]:
        """Return every row with the heading that it stands under."""
        return ((heading, list(row)) for heading, rows in self.sections for row in rows)

    def csv(self) -> str:
        """Comma-separated values: a value and its interval are two columns, and the heading is a separate one."""
        rows = list(self.lines())
        pairs = [any(isinstance(row[place], tuple) for _, row in rows) for place in range(len(self.columns))]
        headed = any(heading for heading, _ in rows)
        file = io.StringIO()
        write = csv.writer(file, lineterminator="\n").writerow
        heads = [
            [name, f"{name} (95% interval)"] if pair else [name] for name, pair in zip(self.columns, pairs, strict=True)
        ]
        write(["group"] * headed + [name for head in heads for name in head])
        for heading, row in rows:
            cells = [_ends(cell)[: 1 + pair] for cell, pair in zip(row, pairs, strict=True)]
            write([heading] * headed + [text for cell in cells for text in cell])
        return file.getvalue()

    def latex(self) -> str:
        """Return a table for a paper, with the rules of booktabs."""
        form = "".join("l" if place in self.words else "r" for place in range(len(self.columns)))
        lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", _latex_row(self.columns), r"\midrule"]
        for number, (heading, rows) in enumerate(self.sections):
            if heading:
                lines += [r"\midrule"] * (number > 0)
                lines.append(rf"\multicolumn{{{len(self.columns)}}}{{l}}{{\emph{{{_latex(heading)}}}}} \\")
            lines += [_latex_row([" ".join(filter(None, _ends(cell))) for cell in row]) for row in rows]
        notes = [f"% {plain(note)}" for note in (self.title, *self.notes) if note]
        return "\n".join([*notes, *lines, r"\bottomrule", r"\end{tabular}", ""])

    def html(self) -> str:
        """Return a plain table, for notebooks."""
        head = "".join(f"<th>{escape(harmless(name))}</th>" for name in self.columns)
        body = ""
        for heading, rows in self.sections:
            if heading:
                body += f'<tr><th colspan="{len(self.columns)}">{escape(harmless(heading))}</th></tr>'
            for row in rows:
                cells = (f"<td>{escape(_show(cell, below=False))}</td>" for cell in row)
                body += f"<tr>{''.join(cells)}</tr>"
        caption = f"<caption>{escape(harmless(self.title))}</caption>" if self.title else ""
        notes = "".join(f"<p>{escape(harmless(note))}</p>" for note in self.notes if note)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    _repr_html_ = html

    def _parts(self, room: int) -> Iterator[list[_Column]]:
        """The columns that stand beside each other: all of them, in the widest form that fits, or some at a time."""
        for below, wrapped in ((False, False), (False, True), (True, True)):
            columns = [self._column(place, below, wrapped) for place in range(len(self.columns))]
            if _width(columns) <= room:
                yield columns
                return
        first, *others = columns
        part = [first]
        for column in others:
            if len(part) > 1 and _width([*part, column]) > room:
                yield part
                part = [first]
            part.append(column)
        yield part

    def _column(self, place: int, below: bool, wrapped: bool) -> _Column:
        cells = tuple(_show(row[place], below) for _, rows in self.sections for row in rows)
        lines = list(chain.from_iterable(cell.split("\n") for cell in cells))
        name = harmless(self.columns[place])
        heads = name.split() if wrapped else [name]
        natural = max(map(cell_len, [*lines, *heads, *([self._heading()] if not place else [])]), default=0)
        words = place in self.words
        return _Column(place, name, cells, natural, min(natural, WORDS) if words else natural, words)

    def _heading(self) -> str:
        return max((heading for heading, _ in self.sections), key=cell_len, default="")

    def _table(self, columns: Sequence[_Column], room: int) -> Table:
        view = Table(box=None, pad_edge=False, padding=(0, GAP // 2))
        for column, wide in zip(columns, _widths(columns, room), strict=True):
            justify: JustifyMethod = "left" if column.words else "right"
            view.add_column(Text(column.name), justify=justify, width=wide, overflow="fold")
        rows = zip(*(column.cells for column in columns), strict=True)
        for heading, section in self.sections:
            if heading:
                view.add_row()
                view.add_row(Text(harmless(heading), style="bold"))
            for _ in section:
                view.add_row(*map(Text, next(rows)))
        return view


@dataclass(frozen=True)
class _Column:
    place: int
    name: str
    cells: tuple[str, ...]
    natural: int
    """The width that nothing in it has to be wrapped at."""
    least: int
    """The width that it may be wrapped to."""
    words: bool


def harmless(words: str) -> str:
    """All of a text on one line, without signs that a terminal obeys: names of models and groups are others' words."""
    return " ".join(map(plain, words.split()))


def _ends(cell: Cell) -> tuple[str, str]:
    return (cell, "") if isinstance(cell, str) else cell


def _latex(text: str) -> str:
    return re.sub(r"\*$", r"$^{*}$", "".join(LATEX.get(char, char) for char in plain(text)))


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _show(cell: Cell, below: bool) -> str:
    if isinstance(cell, str):
        return plain(cell)
    return ("\n" if below else " ").join(filter(None, map(plain, cell)))


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)


def _widths(columns: Sequence[_Column], room: int) -> list[int]:
    """Return the widths of columns: no word is broken where all have room, and what is left goes to the first ones."""
    least, natural = [column.least for column in columns], [column.natural for column in columns]
    widths = [_longest_word(column) if column.words else column.least for column in columns]
    room -= GAP * (len(columns) - 1)
    if sum(widths) > room:
        widths = least.copy()
    for place, wish in chain(enumerate(least), enumerate(natural)):
        widths[place] += max(0, min(wish - widths[place], room - sum(widths)))
    return widths


def _longest_word(column: _Column) -> int:
    return max(map(cell_len, chain.from_iterable(cell.split() for cell in (column.name, *column.cells))), default=0)


def plain(text: str) -> str:
    """Return the beginning of `text` on one line, without anything that could steer a terminal."""
    return " ".join("".join(map(_harmless, text[:CELL])).split())


def _harmless(char: str) -> str:
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    if category == "Cc":  # shown as its picture: an escape sequence without its escape is only odd text
        return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "\N{REPLACEMENT CHARACTER}"
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category == "Cf" and char not in JOINERS else char
