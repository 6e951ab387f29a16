"""Lays a table out for a terminal of any width, so that nothing is lost.

Values have their intervals beside them, else below, else the table is cut into several with the same first column.
Words wrap; a number is never broken or cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from mores.report.base.text import Shown, harmless, join

GAP = 2
WORDS = 18
"""A column of words that is wider may be wrapped to this."""
CUT = 16
"""The least width of a column that is cut."""


class Laid(NamedTuple):
    """The words of a table."""

    names: Sequence[str]
    sections: Sequence[tuple[str, Sequence[Sequence[Shown]]]]
    """Rows under a heading each."""
    words: frozenset[int]
    """The columns that hold words."""
    styles: Sequence[Sequence[str]] = ()
    """How each place of a list looks."""


class _Column(NamedTuple):
    name: str
    cells: tuple[str, ...]
    natural: int
    """The width that nothing in it has to be wrapped at."""
    least: int
    """The width that it may be wrapped to."""
    words: bool


def lay_out(table: Laid, room: int) -> Iterator[RenderableType]:
    """Yield the tables that show it: one with all columns, in the widest form that fits, or several."""
    places = range(len(table.names))
    for below, wrapped in ((False, False), (False, True), (True, True)):
        columns = [_column(table, place, below, wrapped) for place in places]
        if _width(columns) <= room:
            yield _table(table, columns, room)
            return
    first, *others = columns
    part = [first]
    for column in others:
        if len(part) > 1 and _width([*part, column]) > room:
            yield _table(table, part, room)
            yield ""
            part = [first]
        part.append(column)
    yield _table(table, part, room)


def lay_list(table: Laid, limits: Sequence[int]) -> Table:
    """Return a table with a line for each row where it has room: the last column is cut.

    `limits` are the widths at which the others are folded: what is cut off cannot be looked up.
    """
    view = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    rows = [[join(cell) for cell in row] for _, section in table.sections for row in section]
    *names, last = table.names
    for place, (name, most) in enumerate(zip(names, limits, strict=False)):
        widest = max([len(name), *(cell_len(row[place]) for row in rows)])
        justify: JustifyMethod = "left" if place in table.words else "right"
        view.add_column(Text(name), justify=justify, width=min(widest, most), overflow="fold")
    view.add_column(Text(last), min_width=CUT)
    for row, styles in zip(rows, table.styles, strict=True):
        texts = [Text(cell, style=style) for cell, style in zip(row, styles, strict=True)]
        texts[-1].no_wrap, texts[-1].overflow = True, "ellipsis"
        view.add_row(*texts)
    return view


def _column(table: Laid, place: int, below: bool, wrapped: bool) -> _Column:
    cells = tuple(join(row[place], "\n" if below else " ") for _, rows in table.sections for row in rows)
    name = harmless(table.names[place])
    heads = name.split() if wrapped else [name]
    heads += [] if place else [max((heading for heading, _ in table.sections), key=cell_len, default="")]
    natural = max(map(cell_len, chain(heads, *(cell.split("\n") for cell in cells))), default=0)
    words = place in table.words
    return _Column(name, cells, natural, min(natural, WORDS) if words else natural, words)


def _table(table: Laid, columns: Sequence[_Column], room: int) -> Table:
    view = Table(box=None, pad_edge=False, padding=(0, GAP // 2))
    for column, wide in zip(columns, _widths(columns, room), strict=True):
        justify: JustifyMethod = "left" if column.words else "right"
        view.add_column(Text(column.name), justify=justify, width=wide, overflow="fold")
    rows = zip(*(column.cells for column in columns), strict=True)
    for heading, section in table.sections:
        if heading:
            view.add_row()
            view.add_row(Text(harmless(heading), style="bold"))
        for _ in section:
            view.add_row(*map(Text, next(rows)))
    return view


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)


def _widths(columns: Sequence[_Column], room: int) -> list[int]:
    """Return the widths of columns: no word is broken where all have room, and what is left goes to the first ones."""
    least, natural = [column.least for column in columns], [column.natural for column in columns]
    longest = [max(map(cell_len, " ".join((each.name, *each.cells)).split()), default=0) for each in columns]
    widths = [word if column.words else column.least for column, word in zip(columns, longest, strict=True)]
    room -= GAP * (len(columns) - 1)
    if sum(widths) > room:
        widths = least.copy()
    for place, wish in chain(enumerate(least), enumerate(natural)):
        widths[place] += max(0, min(wish - widths[place], room - sum(widths)))
    return widths
