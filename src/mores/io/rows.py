"""The rows of a table, one at a time, whatever its format.

A bad row is a value (an InputError) and the next one follows; what spoils the whole table is raised.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import orjson

from mores.errors import InputError
from mores.io.arrow import arrow_errors, arrow_rows
from mores.io.encoding import Lines, TextLines, byte_lines
from mores.io.formulas import unescape
from mores.io.logs import LOGS, log_of, read_inspect, read_lm_eval, read_promptfoo
from mores.io.source import ARROW, Rows, TableRow, TableSource, not_utf8, unpack
from mores.io.values import load_json
from mores.io.xlsx import MOST_COLUMNS, read_cells

LONGEST_CELL = 2**26
"""A longer CSV cell is surely a quote that was never closed, and would take the rest of the file into memory."""
DELIMITERS = (",", ";", "\t", "|")
TEXTS = (".txt", ".md")
"""The files of a folder that are texts."""


Choose = Callable[[TableSource, Sequence[str], int | None], Container[str] | None]
"""Takes the names of a table's columns with their line; returns those that must be read, None for all.

Raises InputError where they are not what is needed."""


@dataclass
class Reading:
    """The rules for reading a table, and what was found on the way."""

    choose: Choose = lambda *_: None
    known: Callable[[Sequence[str]], int] = len
    """How many of some names are columns that are looked for: the delimiter that gives the most is the right one."""
    depth: int = 1
    """How many arrays and objects of a JSON file lie around its rows."""
    finds_logs: bool = False
    """Whether JSON that is a log of another program is read as one."""
    paragraphs: bool = False
    """Whether the lines of a plain text up to a blank one are one row."""
    encoding: str = ""
    delimiter: str = ""
    log: str = ""
    """The program whose log it turned out to be."""
    notes: set[str] = field(default_factory=set)
    """What is in the file and not read."""


def read_rows(source: TableSource, reading: Reading | None = None) -> Rows:
    """Yield the rows of a source, in constant memory; only JSON arrays and packed files are unpacked as a whole."""
    reading = reading or Reading()
    for part in unpack(source):
        if part.format in READERS:
            yield from READERS[part.format](part, reading)
            continue
        with part.open() as file:
            reading.encoding, lines = byte_lines(part, file)
            kind, lines = (part.format, lines) if part.format else _sniff(lines, reading)
            yield from LINE_READERS[kind](replace(part, format=kind), lines, reading)


def _sniff(lines: Lines, reading: Reading) -> tuple[str, Lines]:
    """Return whether standard input is JSON, a table or plain text, by the first line that is not blank."""
    seen = []
    for number, line in lines:
        seen.append((number, line))
        if line.strip():
            break
    first = seen[-1][1].lstrip() if seen else b""
    kind = "text"
    if first.startswith(b"{") or (first.startswith(b"[") and first[1:].lstrip()[:1] in (b"{", b"")):
        kind = "jsonl"
    elif len(seen) == 1 and reading.known is not len:
        header = first.decode(errors="replace")
        names = _split(header, sniff_delimiter(header, ",", reading.known))
        kind = "csv" if len(names) > 1 and reading.known(names) == len(names) else "text"
    return kind, chain(seen, lines)


def _text(source: TableSource, lines: Lines, reading: Reading) -> Rows:
    texts = TextLines(source, reading.encoding, lines)
    paragraph, first = "", 0
    for text in chain(texts, [""] if reading.paragraphs else []):
        if texts.error:
            yield texts.error
            texts.error = None
        elif reading.paragraphs and text.strip():
            first = first if paragraph else texts.number
            paragraph += text.rstrip("\r\n") + "\n"
        elif text.strip():
            yield TableRow(source, texts.number, {"text": text.rstrip("\r\n")})
        elif paragraph:
            yield TableRow(source, first, {"text": paragraph.rstrip("\n")})
            paragraph = ""
    reading.encoding = texts.encoding


def _jsonl(source: TableSource, lines: Lines, reading: Reading) -> Rows:
    filled = ((number, line) for number, line in lines if line.strip())
    first = next(filled, None)
    if first is None:
        return
    if first[1].lstrip().startswith(b"[") and not source.is_published:
        yield from _json(source, chain([first], filled), reading)
        return
    loads: Callable[[bytes], Any] = load_json if source.is_published else orjson.loads
    if rows := _log(source, first[1], reading):
        yield from rows
        return
    for number, line in chain([first], lines):
        if not line or line.isspace():
            continue
        try:
            values = loads(line)
        except ValueError as error:
            try:
                line.decode()
            except UnicodeDecodeError as undecodable:
                yield not_utf8(source, number, undecodable)
                continue
            where = f" at column {error.colno}" if isinstance(error, orjson.JSONDecodeError) else ""
            problem = f"not valid JSON ({getattr(error, 'msg', error)}{where})"
            yield source.error(f"{problem}; write one JSON object per line", number)
            continue
        yield _object(source, number, values)


def _log(source: TableSource, text: str | bytes, reading: Reading) -> Rows | None:
    """Return the rows of a log of another program, where the text of a JSON file, or its first line, is of one."""
    kind = ""
    if reading.finds_logs and not source.stdin:
        with suppress(ValueError):  # reported elsewhere if it is not JSON
            kind = log_of(load_json(text))
    if not kind:
        return None
    reading.log = LOGS[kind]
    return READERS[kind](replace(source, format=kind), reading)


def _object(source: TableSource, number: int, values: Any) -> TableRow | InputError:
    if not isinstance(values, dict):
        return source.error("not a JSON object; write one object for each row", number)
    if len(values) > MOST_COLUMNS:
        return source.error(f"{len(values):,} fields; a row has at most {MOST_COLUMNS:,}", number)
    return TableRow(source, number, values)


def _json(source: TableSource, lines: Lines, reading: Reading) -> Rows:
    text = _whole(source, lines)
    is_row = not source.is_published and text.lstrip().startswith("{") and "\n" not in text.strip()
    if is_row or (reading.depth == 1 and is_lines(text)):
        yield from _jsonl(source, ((number, line.encode()) for number, line in enumerate(text.split("\n"), 1)), reading)
    elif source.is_published:
        for number, keys, path, values in json_places(source, text, reading.depth):
            if isinstance(values, dict):
                yield TableRow(source, number, values, path, keys)
            else:
                problem = f"not an object but {type(values).__name__}; expected the published columns"
                yield InputError(f"{source.label}:{number}{keys}: {problem}")
    elif text.strip():
        if not text.lstrip().startswith("["):
            if rows := _log(source, text, reading):
                yield from rows
                return
            fix = "write an array of objects, or one object per line"
            raise source.error(f"one JSON object; {fix}; or, if it is a log, name the format: {', '.join(LOGS)}")
        for number, (_, _, _, values) in enumerate(json_places(source, text, 1), 1):
            yield _object(source, number, values)


def _whole(source: TableSource, lines: Lines) -> str:
    """Return the text of a JSON file."""
    data = bytearray()
    for _, line in lines:
        data += line
        if len(data) > LARGEST:
            raise source.error(f"more than {LARGEST:,} bytes of JSON; write one object per line (.jsonl)")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        problem = f"not valid UTF-8 (byte 0x{data[error.start]:02x})"
        raise source.error(f"{problem}; save the file as UTF-8", number) from error


def _csv(source: TableSource, lines: Lines, reading: Reading, delimiter: str) -> Rows:
    texts = TextLines(source, reading.encoding, lines)
    decoded = iter(texts)
    first, skipped = next(decoded, ""), 0
    if first[:4].lower() == "sep=" and len(first.rstrip("\r\n")) == 5:  # Excel's hint
        delimiter, first, skipped = first[4], next(decoded, ""), 1
    else:
        delimiter = sniff_delimiter(first, delimiter, reading.known)
    reading.delimiter = delimiter
    if '"' not in first:
        check_width(source, first.count(delimiter) + 1, 1 + skipped)
    records = _records(source, texts, chain([first] if first else [], decoded), delimiter, skipped)
    line, header = next(records, (1, None))
    if header is None:
        return
    if isinstance(header, InputError):
        raise header
    names = [name.strip() for name in header]
    check_width(source, len(names), line)
    reading.choose(source, names, line)
    width = len(names)
    for line, cells in records:
        if isinstance(cells, InputError):
            yield cells
        elif len(cells) > width and any(cells[width:]):
            problem = f"{len(cells):,} cells under {width:,} columns"
            yield source.error(f"{problem}; put cells that contain {delimiter!r} in quotes", line)
        else:
            yield TableRow(source, line, dict(zip(names, cells, strict=False)))
    reading.encoding = texts.encoding


def _records(
    source: TableSource, texts: TextLines, lines: Iterator[str], delimiter: str, skipped: int
) -> Iterator[tuple[int, list[str] | InputError]]:
    """Yield the records of a CSV file, each with the line that it starts on."""
    csv.field_size_limit(LONGEST_CELL)  # the default of 128 KB is less than a long text
    is_lenient = source.is_published and source.format == "tsv"
    reader = csv.reader(lines, delimiter=delimiter, strict=not is_lenient)
    while True:
        start = reader.line_num + 1 + skipped
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fix = 'close every quoted cell, and write "" for a quote inside one'
            yield start, texts.error or source.error(f"not valid {source.format} ({error}); {fix}", start)
            texts.error = None
            continue
        if texts.error:
            yield start, texts.error
            texts.error = None
        elif any(cells):  # spreadsheets leave rows of empty cells behind
            yield start, unescape(cells)


def sniff_delimiter(header: str, usual: str, known: Callable[[Sequence[str]], int]) -> str:
    """Return the delimiter of a header: with which it has the most known columns, else the most columns."""

    def rank(delimiter: str) -> tuple[int, int]:
        if '"' not in header:  # counting is enough, however many columns there are
            names = header.split(delimiter, MOST_COLUMNS)[:MOST_COLUMNS]
            return known([name.strip() for name in names]), header.count(delimiter) + 1
        names = _split(header, delimiter)
        return known(names[:MOST_COLUMNS]), len(names)

    return max((usual, *(delimiter for delimiter in DELIMITERS if delimiter != usual)), key=rank)


def _split(header: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error:
        return [header]


def check_width(source: TableSource, count: int, line: int | None) -> None:
    """Raise InputError for a table with more columns than any spreadsheet has."""
    if count > MOST_COLUMNS:
        raise source.error(f"{count:,} columns; a table has at most {MOST_COLUMNS:,}; check the delimiter", line)


def _xlsx(source: TableSource, reading: Reading) -> Rows:
    names: dict[int, str] = {}
    for number, cells in read_cells(source, reading.notes):
        if not names:
            names = {column: name.strip() for column, name in cells.items() if name.strip()}
            reading.choose(source, list(names.values()), number)
        elif any(cells.get(column, "").strip() for column in names):
            yield TableRow(source, number, {name: cells.get(column, "") for column, name in names.items()})


def _arrow(source: TableSource, reading: Reading) -> Rows:
    def choose(names: list[str]) -> Container[str] | None:
        check_width(source, len(names), None)
        return reading.choose(source, names, None)

    with arrow_errors(source):
        for number, values in enumerate(arrow_rows(source, choose), 1):
            if values is None:
                yield source.error("a string is not valid UTF-8; write it again as UTF-8", number)
            else:
                yield TableRow(source, number, values)


def _folder(source: TableSource, reading: Reading) -> Rows:
    paths = [path for path in sorted(source.path.rglob("*")) if path.suffix.lower() in TEXTS and path.is_file()]
    paths = [path for path in paths if not any(part.startswith(".") for part in path.relative_to(source.path).parts)]
    if not paths:
        raise source.error(f"no {' or '.join(TEXTS)} in this folder; name a file in it")
    for number, path in enumerate(paths, 1):
        part = replace(source, path=path, format="text")
        if path.stat().st_size > LONGEST_CELL:
            yield part.error(f"more than {LONGEST_CELL:,} bytes; split it into shorter texts")
            continue
        with part.open() as file:
            reading.encoding, lines = byte_lines(part, file)
            texts = TextLines(part, reading.encoding, lines)
            text = "".join(texts).replace("\r\n", "\n").rstrip("\n")
        if texts.error:
            yield texts.error
        elif text.strip():
            name = path.relative_to(source.path).with_suffix("").as_posix()
            yield TableRow(part, number, {"id": name, "text": text})


READERS: dict[str | None, Callable[[TableSource, Reading], Rows]] = {
    **dict.fromkeys(ARROW, _arrow),
    "xlsx": _xlsx,
    "texts": _folder,
    "inspect": lambda source, _: read_inspect(source),
    "lm-eval": lambda source, _: read_lm_eval(source),
    "promptfoo": lambda source, _: read_promptfoo(source),
}
"""Readers of formats that are not read line by line."""
LINE_READERS: dict[str, Callable[[TableSource, Lines, Reading], Rows]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": partial(_csv, delimiter=","),
    "tsv": partial(_csv, delimiter="\t"),
    "text": _text,
}


LARGEST = 2**30
"""Bytes that a JSON array may have, since it is read as a whole."""
_SPACE = re.compile(r"[ \t\r\n]*")

Place = tuple[int, str, tuple[str, ...], Any]
"""Where a row starts (its line, and its keys where the whole file is one line), the keys around it, and its value."""


def is_lines(text: str) -> bool:
    """Return whether a JSON file has one object in each of several lines."""
    first, _, rest = text.strip().partition("\n")
    try:
        return bool(rest) and first.startswith("{") and isinstance(load_json(first), dict)
    except ValueError:
        return False


def json_places(source: TableSource, text: str, depth: int) -> Iterator[Place]:
    """Yield what lies `depth` arrays and objects deep in a JSON text, with its place."""
    line, counted, is_one_line = 1, 0, "\n" not in text.strip()
    again = "get the file again" if source.is_published else "write it again"
    try:
        for at, path, values in _Walk(text).rows(depth):
            line, counted = line + text.count("\n", counted, at), at
            if len(path) == depth:  # what lies higher is about the file: its name, its task
                yield line, f" at /{'/'.join(path)}" if is_one_line else "", path, values
    except json.JSONDecodeError as error:
        problem = f"not valid JSON ({error.msg} at column {error.colno})"
        raise source.error(f"{problem}; {again}", error.lineno) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets as deep
        raise source.error(f"not valid JSON ({error}); {again}", line) from error


class _Walk:
    """Walks through a JSON text and knows where each row starts, which `json.loads` does not tell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._decoder = json.JSONDecoder()

    def rows(self, depth: int, path: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, ...], Any]]:
        """Yield start, keys and value of all that lies `depth` containers deep, or higher and is no container."""
        self._skip()
        opened = self._text[self._at : self._at + 1]
        if depth == 0 or opened not in {"[", "{"}:
            start = self._at
            yield start, path, self._value()
            return
        self._at += 1
        count = 0
        while not self._take("]" if opened == "[" else "}"):
            if count:
                self._demand(",")
            key = str(count)
            if opened == "{":
                self._skip()
                key = str(self._value())
                self._demand(":")
            yield from self.rows(depth - 1, (*path, key))
            count += 1

    def _value(self) -> Any:
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _take(self, char: str) -> bool:
        self._skip()
        matches = self._text.startswith(char, self._at)
        self._at += matches
        return matches

    def _demand(self, char: str) -> None:
        if not self._take(char):
            raise json.JSONDecodeError(f"Expecting {char!r}", self._text, self._at)
