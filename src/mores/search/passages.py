"""A user's documents as passages: paragraphs, joined when they are very short and cut when they are long."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mores.errors import InputError
from mores.io.rows import read_rows
from mores.io.source import BOM, TableSource, not_utf8, to_path

LONGEST, OVERLAP, SHORTEST = 600, 100, 80
"""Characters: of a passage, of what two parts of a long paragraph share, and of a paragraph that stands alone."""
ROWS, TEXTS = (".jsonl", ".ndjson"), (".txt", ".md")
_SENTENCE_END = r"[.!?…。！？।॥။។۔؟][\"'”’»)\]」』]*(?:\s|(?<=[。！？」』]))"
_ENDS = tuple(map(re.compile, (r"\n", _SENTENCE_END, r"\s")))
"""Where a long paragraph is cut, the best first: at the end of a line, of a sentence, of a word."""
_FIELDS = ("title", "source", "url", "date", "language")


class TextPart(NamedTuple):
    """A part of a text and where it begins, in code points."""

    start: int
    text: str


class Passage(NamedTuple):
    """What is searched and shown, as the document has it."""

    text: str
    line: int
    title: str = ""
    source: str = ""
    """The row's own address, where it has one."""
    date: str = ""


@dataclass(frozen=True)
class Document:
    """One file of a corpus."""

    path: Path
    """As the user wrote it, for errors and sources."""
    name: str
    """Within the corpus: the same on every machine."""


def find_documents(path: str | Path) -> list[Document]:
    """Return the files of a corpus: one file, or all of a folder and its folders that can be read, by name."""
    place = to_path(path)
    if place.is_dir():
        files = [file for file in _files(place) if file.suffix.lower() in ROWS + TEXTS]
        documents = [Document(file, file.relative_to(place).as_posix()) for file in files]
        if not documents:
            raise InputError(f"{place}: no {', '.join(ROWS + TEXTS)} in this folder; put the corpus there")
        return sorted(documents, key=lambda document: document.name)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder; check the path")
    if place.suffix.lower() not in ROWS + TEXTS:
        raise InputError(f"{place}: not a corpus; give a folder or a file with one of {', '.join(ROWS + TEXTS)}")
    return [Document(place, place.name)]


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(here, name) for name in names if not name.startswith("."))


def read_passages(document: Document) -> Iterator[Passage]:
    """Yield the passages of a file; a bad row raises InputError."""
    source = TableSource(document.path, "jsonl" if document.path.suffix.lower() in ROWS else "text")
    if source.format == "text":
        yield from _from_text(source)
        return
    for row in read_rows(source):
        if isinstance(row, InputError):
            raise row
        yield from _from_row(source, row.line, row.values)


def _from_text(source: TableSource) -> Iterator[Passage]:
    with source.open() as file:
        data = file.read().removeprefix(BOM)
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _undecodable(source, data) from error
    line, counted = 1, 0
    for start, part in split(text):
        line += text.count("\n", counted, start)
        counted = start
        yield Passage(part, line, source.path.stem)


def _undecodable(source: TableSource, data: bytes) -> InputError:
    for line, part in enumerate(data.split(b"\n"), 1):
        try:
            part.decode()
        except UnicodeDecodeError as error:
            return not_utf8(source, line, error)
    return source.error("not valid UTF-8; save the file as UTF-8")


def _from_row(source: TableSource, line: int, values: Mapping[str, object]) -> Iterator[Passage]:
    text = values.get("text")
    if not isinstance(text, str):
        what = "'text' is not a string" if "text" in values else "no field 'text'"
        raise source.error(f"{what}; expected 'text' and, if there are, {', '.join(map(repr, _FIELDS))}", line)
    for field in _FIELDS:
        if not isinstance(values.get(field), str | None):
            raise source.error(f"{field!r} is not a string; write it in quotes or leave it out", line)
    title, address, url, date = (str(values.get(field) or "") for field in _FIELDS[:4])
    for part in split(text):
        yield Passage(part.text, line, title, address or url, date)


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
        stop = _last_end(text, start + LONGEST // 2, start + LONGEST)
        yield from _trimmed(text, start, stop)
        word = _ENDS[-1].search(text, stop - OVERLAP, stop - 1)
        start = word.end() if word else stop - OVERLAP
    yield from _trimmed(text, start, end)


def _last_end(text: str, low: int, high: int) -> int:
    """Return the last good place to cut between two others; the higher one when there is none, as in Chinese."""
    for pattern in _ENDS:
        stops = [match.end() for match in pattern.finditer(text, low, high)]
        if stops:
            return stops[-1]
    return high


def _trimmed(text: str, start: int, end: int) -> Iterator[TextPart]:
    part = text[start:end]
    body = part.strip()
    if body:
        yield TextPart(start + len(part) - len(part.lstrip()), body)
