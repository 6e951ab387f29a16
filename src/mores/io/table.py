"""A whole table in memory, by our names of its columns."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mores.errors import InputError
from mores.io.columns import ColumnReader, TableReport, Wanted, repeated
from mores.io.exports import TableShape, find_program, unfold
from mores.io.rows import Reading, read_rows
from mores.io.source import TableRow, TableSource, find_source

MOST_CELLS = 100_000_000
"""Cells of a table that is held in memory."""


class WholeTable(NamedTuple):
    """The rows of a table; their values are by our names of the columns, None where one is missing."""

    source: TableSource
    rows: list[TableRow]
    report: TableReport
    others: Sequence[dict[str, Any]] = ()
    """The texts, numbers and truth values of each row's other columns, where they are kept."""


def read_table(
    path: str | Path, wanted: Wanted, empty: str, shape: TableShape | None = None, *, keep: bool = False
) -> WholeTable:
    """Return the wanted columns of all rows; raises for a bad row, and `empty` without any.

    With a shape, exports of surveys and of annotation programs are read too; with `keep`, other columns are kept.
    """
    source, reader = find_source(path), ColumnReader(wanted)
    is_shaped = shape is not None and bool(shape.wide or shape.split)

    def is_export(names: Sequence[str]) -> bool:
        return shape is not None and (is_shaped or bool(wanted.problem(tuple(names)) and find_program(names)))

    twice: list[str] = []

    def choose(table: TableSource, names: Sequence[str], line: int | None) -> Container[str] | None:
        twice[:] = repeated(names)
        return None if is_export(names) else reader.choose(table, names, line)

    reading = Reading(choose, wanted.known)
    rows, names, cells = [], dict[str, None](), 0
    for row in read_rows(source, reading):
        if isinstance(row, InputError):
            raise row
        cells += len(row.values)
        if cells > MOST_CELLS:
            raise source.error(f"more than {MOST_CELLS:,} cells; split the table")
        names.update(dict.fromkeys(row.values))
        rows.append(row)
    if not rows:
        raise source.error(empty)
    notes: tuple[str, ...] = ()
    if shape is not None and is_export(list(names)):
        rows, notes = unfold(source, rows, find_program(list(names)), shape, wanted.chosen)
        names = dict.fromkeys(name for row in rows for name in row.values)
        check_lost(source, [name for name in twice if name not in names])
        reader.choose(source, list(names), None)
    elif not source.is_untyped:  # rows of JSON may have different fields: all of them together have the columns
        reader.choose(source, list(names), None)
    match = reader.match(tuple(names))
    columns = [column for column, theirs in match.names.items() if theirs]
    read = [
        row._replace(values={column: reader.value(match, row.values, column) for column in columns}) for row in rows
    ]
    others: list[dict[str, Any]] = []
    for row in rows if keep else ():
        given = row.values.get("metadata")  # what a file that Mores wrote has of another one
        others.append({**(given if isinstance(given, dict) else {}), **reader.extras(match, row.values)})
    reader.rows = len(read)
    report = reader.report(source, reading.encoding, reading.delimiter, notes=(*notes, *sorted(reading.notes)))
    return WholeTable(source, read, report, others)


def check_lost(source: TableSource, lost: Sequence[str]) -> None:
    """Refuse columns of the same name that are people's answers: only the last would be read."""
    if lost:
        raise source.error(f"two columns {lost[0]!r}; reword the question of one of them, so that both are read", 1)
