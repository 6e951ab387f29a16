"""The rows of a file, one at a time: JSON Lines, CSV and TSV, Parquet, plain text, and the logs of other harnesses.

A bad row is a value (an InputError) and the next one follows; what spoils the whole file is raised.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain

import orjson

from mores.errors import InputError
from mores.io.fields import KNOWN, Row, complain
from mores.io.logs import LOGS
from mores.io.parquet import column_names, import_parquet, parquet_values
from mores.io.source import Source, not_utf8, numbered_lines, why_unreadable

Rows = Iterator[Row | InputError]
Lines = Iterator[tuple[int, bytes]]
Check = Callable[[Source, list[str], int | None], None]
"""Raises InputError when a header, with its line, is not what a reader can use."""

LONGEST_CELL = 2**26
"""A longer CSV cell is surely a quote that was never closed, and would take the rest of the file into memory."""


def read_rows(source: Source) -> Rows:
    """Yield the rows of a source of texts, in constant memory."""
    yield from _read(source, _check_columns, KNOWN)


def read_table(source: Source, empty: str) -> tuple[list[Row], list[str]]:
    """All rows of a source with any columns, and the names of these; raises for a bad row, and `empty` without any."""
    rows = []
    for row in _read(source, _check_repeated, None):
        if isinstance(row, InputError):
            raise row
        rows.append(row)
    if not rows:
        raise source.error(empty)
    return rows, list(dict.fromkeys(name for row in rows for name in row.values))


def _read(source: Source, check: Check, wanted: frozenset[str] | None) -> Rows:
    """Yield the rows of a source; of a Parquet file only the wanted columns, or all if that is None."""
    if source.format == "parquet":
        yield from _parquet(source, check, wanted)
        return
    if source.format in LOGS:
        yield from LOGS[source.format](source)
        return
    with source.open() as file:
        lines = numbered_lines(file)
        kind, lines = (source.format, lines) if source.format else _sniff(lines)
        yield from READERS[kind](source, lines, check)


def _sniff(lines: Lines) -> tuple[str, Lines]:
    """Return whether standard input is JSON Lines or plain text, by the first character that is not blank."""
    seen = []
    for number, line in lines:
        seen.append((number, line))
        if line.strip():
            break
    kind = "jsonl" if seen and seen[-1][1].lstrip().startswith(b"{") else "text"
    return kind, chain(seen, lines)


def _text(source: Source, lines: Lines, _check: Check) -> Rows:
    for number, line in lines:
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            yield not_utf8(source, number, error)
            continue
        if text.strip():
            yield Row(number, {"text": text})


def _jsonl(source: Source, lines: Lines, _check: Check) -> Rows:
    filled = ((number, line) for number, line in lines if line.strip())
    first = next(filled, None)
    if first is None:
        return
    if first[1].lstrip().startswith(b"["):
        raise source.error("a JSON array; write one object per line (jq -c '.[]')", first[0])
    for number, line in chain([first], filled):
        yield _json_row(source, number, line)


def _json_row(source: Source, number: int, line: bytes) -> Row | InputError:
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _bad_json(source, number, line, error)
    if not isinstance(values, dict):
        return source.error("not a JSON object; write one object per line", number)
    return Row(number, values)


def _bad_json(source: Source, number: int, line: bytes, error: orjson.JSONDecodeError) -> InputError:
    try:
        line.decode()
    except UnicodeDecodeError as undecodable:
        return not_utf8(source, number, undecodable)
    problem = f"not valid JSON ({error.msg} at column {error.colno})"
    return source.error(f"{problem}; write one JSON object per line", number)


class _Decoder:
    """Lines as text for the csv module; `error` is the first undecodable line since it was last cleared."""

    def __init__(self, source: Source, lines: Lines) -> None:
        self.error: InputError | None = None
        self._source = source
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                self.error = self.error or not_utf8(self._source, number, error)
                yield line.decode(errors="replace")


def _csv(source: Source, lines: Lines, check: Check, delimiter: str) -> Rows:
    records = _records(source, lines, delimiter)
    line, header = next(records, (1, None))
    if header is None:
        return
    if isinstance(header, InputError):
        raise header
    names = [name.strip() for name in header]
    check(source, names, line)
    for line, cells in records:
        if isinstance(cells, InputError):
            yield cells
        elif any(cells[len(names) :]):
            problem = f"{len(cells)} cells under {len(names)} columns"
            yield source.error(f"{problem}; put cells that contain {delimiter!r} in quotes", line)
        else:
            yield Row(line, dict(zip(names, cells, strict=False)))


def _records(source: Source, lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str] | InputError]]:
    """Yield the records of a CSV file, each with the line that it starts on."""
    csv.field_size_limit(LONGEST_CELL)  # the default of 128 KB is less than a long text
    decoder = _Decoder(source, lines)
    reader = csv.reader(decoder, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        decoder.error = None
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fix = 'close every quoted cell, and write "" for a quote inside one'
            yield start, decoder.error or source.error(f"not valid {source.format} ({error}); {fix}", start)
            continue
        if decoder.error or any(cells):  # spreadsheets leave rows of empty cells behind
            yield start, decoder.error or cells


def _check_columns(source: Source, names: list[str], line: int | None) -> None:
    problem = complain(tuple(names))
    if problem:
        raise source.error(problem, line)
    twice = next((name for name in names if name in KNOWN and names.count(name) > 1), None)
    if twice:
        raise source.error(f"two columns {twice!r}; rename one", line)


def _check_repeated(source: Source, names: list[str], line: int | None) -> None:
    if twice := next((name for name in names if name and names.count(name) > 1), None):
        raise source.error(f"two columns {twice!r}; rename one", line)


def _parquet(source: Source, check: Check, wanted: frozenset[str] | None) -> Rows:
    import_parquet()
    with _parquet_errors(source):
        names = column_names(source.path)
        check(source, names, None)
        values = parquet_values(source.path, [name for name in names if wanted is None or name in wanted])
        for number, row in enumerate(values, 1):
            if row is None:
                yield source.error("a string is not valid UTF-8; write it again as UTF-8", number)
            else:
                yield Row(number, row)


@contextmanager
def _parquet_errors(source: Source) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise source.error(why_unreadable(error)) from error
        problem = " ".join(str(error).split())[:200]
        raise source.error(f"not a Parquet file, or a damaged one ({problem}); write it again") from error


READERS: dict[str, Callable[[Source, Lines, Check], Rows]] = {
    "jsonl": _jsonl,
    "csv": partial(_csv, delimiter=","),
    "tsv": partial(_csv, delimiter="\t"),
    "text": _text,
}
