"""A table of numbers before anybody draws or prints it: page, terminal, Markdown and files show the same."""

from __future__ import annotations

from typing import NamedTuple

from mores.report.base.grid import Grid, Row


class Head(NamedTuple):
    """The name of a row or column."""

    label: str
    note: str = ""
    """A few more words, for example how many samples it has."""
    muted: bool = False
    link: str = ""
    """An address that the label leads to."""


class Cell(NamedTuple):
    """One place of a table or heatmap."""

    text: str
    value: float | None = None
    """What the colour of a heatmap shows, -1 to 1; no colour without."""
    small: str = ""
    """Beside the text, for example an interval."""
    hint: str = ""
    """Shown when it is pointed at."""
    star: bool = False
    outlined: bool = False
    n: int | None = None
    """How many samples the value rests on, where it is a value of samples."""

    def shown(self) -> str | tuple[str, str]:
        """For the terminal and for files: the text, with what stands beside it."""
        text = self.text + "*" * self.star
        return (text, self.small) if self.small else text


class Sheet(NamedTuple):
    """Rows, columns and the cells where they meet."""

    title: str
    rows: list[Head]
    columns: list[Head]
    cells: list[list[Cell]]
    note: str = ""

    def turned(self) -> Sheet:
        """Rows as columns and columns as rows."""
        cells = [[row[i] for row in self.cells] for i in range(len(self.columns))]
        return self._replace(rows=self.columns, columns=self.rows, cells=cells)

    def grid(self, corner: str = "") -> Grid:
        """Return the same for the terminal and for files; `corner` names the first column."""
        rows: list[Row] = [
            (f"{row.label} {row.note}".strip(), *(cell.shown() for cell in cells))
            for row, cells in zip(self.rows, self.cells, strict=True)
        ]
        columns = (corner, *(f"{column.label} {column.note}".strip() for column in self.columns))
        return Grid(columns, [("", rows)], self.title, [self.note])
