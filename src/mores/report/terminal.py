"""Tables in the terminal that lose nothing, however narrow it is.

A `Grid` is laid out for the width that it gets: values with their intervals beside them, else with the intervals below,
else in several tables with the same first column. Words wrap; a number is never broken or cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from mores.report.table import plain

Cell = str | tuple[str, str]
"""What stands in a place: a value, or a value and its interval."""
Row = Sequence[Cell]
GAP = 2
WORDS = 18
"""A column of words that is wider may be wrapped to this."""


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """A console that prints words as they are: `openai:m:` is a name, and neither an emoji nor markup."""
    return Console(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)


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
        spare = max(0, room - _width(columns))
        for column in columns:
            wide = min(column.natural, column.least + spare)
            spare -= wide - column.least
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


def _show(cell: Cell, below: bool) -> str:
    if isinstance(cell, str):
        return plain(cell)
    return ("\n" if below else " ").join(filter(None, map(plain, cell)))


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)
