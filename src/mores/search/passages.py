"""A user's documents as passages: paragraphs, joined when they are very short and cut when they are long.

Rows of tables are read as `mores.io` reads them. A row of JSON Lines with a field `text` has all fields by our names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mores.errors import InputError
from mores.io.columns import ColumnReader, TableColumn, Wanted
from mores.io.rows import Reading, read_rows
from mores.io.source import ARROW, BOM, SUFFIXES, TableRow, TableSource, find_source, format_of, not_utf8, to_path

LONGEST, OVERLAP, SHORTEST = 600, 100, 80
"""Characters: of a passage, of what two parts of a long paragraph share, and of a paragraph that stands alone."""
ROWS, TEXTS = (".jsonl", ".ndjson"), (".txt", ".md")
"""The files of a folder that are read; a table in another format is named itself."""
_SENTENCE_END = r"[.!?…。！？।॥။។۔؟][\"'”’»)\]」』]*(?:\s|(?<=[。！？」』]))"
_ENDS = tuple(map(re.compile, (r"\n", _SENTENCE_END, r"\s")))
"""Where a long paragraph is cut, the best first: at the end of a line, of a sentence, of a word."""
_FIELDS = ("title", "source", "url", "date", "language", "region", "licence")
_EXPECTED = f"'text' and, if there are, {', '.join(map(repr, _FIELDS))}"
_WANTED = Wanted(
    (
        TableColumn(
            "text",
            ("passage", "content", "body"),
            ("paragraph", "document", "passage text", "fact", "facts", "evidence", "statement"),
            needed=True,
        ),
        TableColumn("title", (), ("headline", "heading")),
        TableColumn("url", (), ("link", "web address"), kind="metadata"),
        *(TableColumn(name, kind="metadata") for name in ("source", "date", "language", "region")),
        TableColumn("licence", ("license",), kind="metadata"),
    ),
    expected=_EXPECTED,
)


class TextPart(NamedTuple):
    """A part of a text and where it begins, in code points."""

    start: int
    text: str


class Passage(NamedTuple):
    """A passage that is searched and shown, as the document has it."""

    text: str
    line: int
    title: str = ""
    source: str = ""
    """The row's own address, where it has one."""
    date: str = ""
    language: str = ""
    region: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Document:
    """One file of a corpus."""

    path: Path
    """As the user wrote it, for errors and sources."""
    name: str
    """Within the corpus: the same on every machine."""


def find_documents(path: str | Path) -> list[Document]:
    """Return the files of a corpus: one file, or all texts and JSON Lines of a folder and its folders, by name."""
    place = to_path(path)
    if place.is_dir():
        documents = []
        for here, folders, names in os.walk(place):
            folders[:] = (name for name in folders if not name.startswith("."))
            files = (Path(here, name) for name in names if not name.startswith("."))
            known = (file for file in files if file.suffix.lower() in ROWS + TEXTS)
            documents += [Document(file, file.relative_to(place).as_posix()) for file in known]
        if not documents:
            raise InputError(f"{place}: no {', '.join(ROWS + TEXTS)} in this folder; put the corpus there")
        return sorted(documents, key=lambda document: document.name)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder; check the path")
    if place.suffix.lower() not in TEXTS and format_of(place) in (None, "text"):
        raise InputError(f"{place}: not a corpus; give a folder or a file with one of {', '.join(SUFFIXES)}")
    return [Document(place, place.name)]


def read_passages(document: Document) -> Iterator[Passage]:
    """Yield the passages of a file; a bad row raises InputError."""
    by_line = find_source(document.path).format == "text"
    for text in read_texts(document):
        yield from parts(text, by_line)


def parts(text: Passage, by_line: bool) -> Iterator[Passage]:
    """Yield the passages of a text; `by_line` counts lines to where each begins."""
    line, counted = text.line, 0
    for start, part in split(text.text):
        line += text.text.count("\n", counted, start) if by_line else 0
        counted = start
        yield text._replace(text=part, line=line)


def read_texts(document: Document) -> Iterator[Passage]:
    """Yield the texts of a file as they are, each as one passage; a bad row raises InputError."""
    try:
        yield from _read_texts(document)
    except InputError as error:
        error.setting = ""  # columns are chosen for the texts that are judged
        raise


def _read_texts(document: Document) -> Iterator[Passage]:
    source, reader = find_source(document.path), ColumnReader(_WANTED)
    if source.format == "text":
        yield Passage(_decoded(source), 1, source.path.stem)
        return
    for row in read_rows(source, Reading(reader.choose, _WANTED.known)):
        if isinstance(row, InputError):
            raise row
        values = row.values
        if row.source.format != "jsonl" or "text" not in values:
            values = _by_our_names(reader, row)
        if not isinstance(text := values["text"], str):
            raise row.error(f"'text' is not a string; expected {_EXPECTED}")
        for field in _FIELDS:
            if not isinstance(values.get(field), str | None):
                raise row.error(f"{field!r} is not a string; write it in quotes or leave it out")
        title, address, url, *more = (values.get(field) or "" for field in _FIELDS)
        yield Passage(text, row.line, title, address or url, *more)


def _by_our_names(reader: ColumnReader, row: TableRow) -> dict[str, Any]:
    """Return the fields of a row of a table; a row without a text has an empty one."""
    if problem := _WANTED.problem(tuple(row.values), is_row=True):
        raise row.error(problem)
    match = reader.match(tuple(row.values))
    try:
        values = {column.name: reader.value(match, row.values, column.name) for column in _WANTED.columns}
    except InputError as error:
        raise row.error(str(error)) from error
    if row.source.format in ARROW:  # days and numbers are such there
        values = {name: value if value is None else str(value) for name, value in values.items()}
    return values | {"text": "" if values["text"] is None else values["text"]}


def _decoded(source: TableSource) -> str:
    with source.open() as file:
        data = file.read().removeprefix(BOM)
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as undecodable:
        for number, row in enumerate(data.split(b"\n"), 1):
            try:
                row.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error
        raise source.error("not valid UTF-8; save the file as UTF-8") from undecodable


def split(text: str) -> Iterator[TextPart]:
    """Yield the passages of a text, in order; white space at their ends is left out."""
    for start, end in _joined(list(_paragraphs(text))):
        yield from _cut(text, start, end)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the lines between two blank ones begin and end."""
    start: int | None = None
    place = stop = 0
    for line in text.split("\n"):
        if line.strip():
            start = place if start is None else start
            stop = place + len(line.rstrip())
        elif start is not None:
            yield start, stop
            start = None
        place += len(line) + 1
    if start is not None:
        yield start, stop


def _joined(paragraphs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield paragraphs, joining a heading or another very short one with what follows."""
    held: int | None = None
    for place, (start, end) in enumerate(paragraphs):
        begin = start if held is None else held
        if end - begin < SHORTEST and place + 1 < len(paragraphs):
            held = begin
        else:
            yield begin, end
            held = None


def _cut(text: str, start: int, end: int) -> Iterator[TextPart]:
    while end - start > LONGEST:
        low, high = start + LONGEST // 2, start + LONGEST
        stops = ([match.end() for match in pattern.finditer(text, low, high)] for pattern in _ENDS)
        stop = next((ends[-1] for ends in stops if ends), high)  # the last good place; none, as in Chinese
        yield from _trimmed(text, start, stop)
        word = _ENDS[-1].search(text, stop - OVERLAP, stop - 1)
        start = word.end() if word else stop - OVERLAP
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[TextPart]:
    part = text[start:end]
    body = part.strip()
    if body:
        yield TextPart(start + len(part) - len(part.lstrip()), body)
