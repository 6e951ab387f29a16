"""The cells of the first sheet of an Excel file (.xlsx), row by row, as text.

The parts of the file are parsed as they are unpacked, so that neither a long sheet nor one whose cells share a long
text fills the memory.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from posixpath import normpath
from xml.parsers import expat

from mores.errors import InputError
from mores.io.source import BAD_ZIP, Room, TableSource

Cells = dict[int, str]
"""The texts of a row by the place of their column, from 0."""
MOST_COLUMNS = 2**14
"""Columns that a sheet of Excel may have; no table may have more."""
_CHUNK = 2**16
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_DATE_CODE = re.compile(r'^(?:"[^"]*"|\[[^\]]*\]|\\.|[^"\[\\])*?[ymdhs]', re.I)
_NUMBER = re.compile(r"[+-]?[0-9.]{1,30}(?:E[+-]?[0-9]{1,3})?", re.I)
_DATES = {*range(14, 23), *range(45, 48)}
"""The built-in formats of numbers that are dates and times."""
_DAMAGED = (*BAD_ZIP, OSError, KeyError, IndexError, ValueError, OverflowError, expat.ExpatError)


def read_cells(source: TableSource, notes: set[str]) -> Iterator[tuple[int, Cells]]:
    """Yield the number and the cells of every row that has any; `notes` gets what is not read."""
    room = source.room()
    try:
        with source.open() as file, zipfile.ZipFile(file) as book:
            yield from _Book(book, room, notes).rows()
    except _DAMAGED as error:
        raise source.error("not a spreadsheet (.xlsx), or a damaged one; save it again as .xlsx") from error


class _Book:
    """The parts of a file that say what the cells of its first sheet mean."""

    def __init__(self, book: zipfile.ZipFile, room: Room, notes: set[str]) -> None:
        self._notes = notes
        self._book, self._room, self._names = book, room, set(book.namelist())
        self._start = datetime(1899, 12, 30)  # the day 0 of a calendar in which 1900 is a leap year
        self._shared: list[str] = []
        self._dates: list[bool] = []
        self._errors, self._error = 0, ""
        """Cells of the first sheet with an error, and the first of these."""

    def rows(self) -> Iterator[tuple[int, Cells]]:
        sheet = self._first_sheet()
        self._note_others(sheet)
        for _ in self._elements("xl/sharedStrings.xml", {"si"}):
            self._shared.append(_unescaped(_.text))
        custom: set[str] = set()
        for style in self._elements("xl/styles.xml", {"numFmt", "cellXfs", "xf"}):
            if style.tag == "numFmt" and _DATE_CODE.match(style.get("formatCode", "")):
                custom.add(style.get("numFmtId", ""))
            elif style.tag == "xf" and "cellXfs" in style.inside:
                code = style.get("numFmtId", "0")
                self._dates.append(code in custom or (code.isdecimal() and int(code) in _DATES))
        number, cells, column = 0, Cells(), -1
        for element in self._elements(sheet, {"c", "row"}):
            if element.tag == "c":
                place = element.get("r", "").rstrip("0123456789")
                column = _index(place) if place else column + 1
                if column >= MOST_COLUMNS:
                    raise InputError(f"column {column + 1:,}; a table has at most {MOST_COLUMNS:,}")
                if text := self._text(element):
                    cells[column] = text
                    self._room.take(len(text))  # a long text that many cells share is unpacked in each
            else:
                number = int(element.get("r") or number + 1)
                if cells:
                    yield number, cells
                cells, column = Cells(), -1
        self._note_errors()

    def _first_sheet(self) -> str:
        """Return the part with the sheet that Excel shows first."""
        targets = {part.get("Id"): part.get("Target", "") for part in self._elements("xl/_rels/workbook.xml.rels")}
        for part in self._elements("xl/workbook.xml", {"workbookPr", "sheet"}):
            if part.tag == "workbookPr" and part.get("date1904") in ("1", "true"):
                self._start = datetime(1904, 1, 1)
            name = targets.get(part.get("id"), "") if part.tag == "sheet" else ""
            place = name.removeprefix("/") if name.startswith("/") else normpath(f"xl/{name}")
            if name and place in self._names:
                return place
        return min(self._sheets(), key=lambda name: (len(name), name))

    def _note_others(self, sheet: str) -> None:
        others = sum(any(cell.text for cell in self._elements(name, {"c"})) for name in self._sheets() if name != sheet)
        if others:
            self._notes.add(f"{others:,} other {'sheet is' if others == 1 else 'sheets are'} not read")

    def _note_errors(self) -> None:
        if self._errors:
            what = "cell is an error" if self._errors == 1 else "cells are errors"
            self._notes.add(f"{self._errors:,} {what} of the spreadsheet, such as {self._error}, and read as text")

    def _sheets(self) -> list[str]:
        return [name for name in self._names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]

    def _elements(self, name: str, tags: set[str] | None = None) -> Iterator[_Element]:
        """Yield the elements of a part as they end; a document type, with entities to expand, is refused."""
        if name not in self._names:
            return
        parser = _Parser(tags)
        with self._book.open(name) as part:
            while chunk := part.read(_CHUNK):
                self._room.take(len(chunk))
                yield from parser.feed(chunk)
        yield from parser.feed(b"", is_last=True)

    def _text(self, cell: _Element) -> str:
        """Return a cell as text: numbers in their shortest form, days and times as ISO 8601 writes them."""
        kind, value = cell.get("t", "n"), cell.text
        if not value:
            return ""
        if kind == "s":
            return self._shared[int(value)]
        if kind == "b":
            return "true" if value == "1" else "false"
        if kind == "e":
            self._errors, self._error = self._errors + 1, self._error or value[:20]
        if kind != "n":
            return _unescaped(value)
        if not _NUMBER.fullmatch(value):
            return _unescaped(value)
        style = int(cell.get("s", "0"))
        if style < len(self._dates) and self._dates[style]:
            days = float(value)
            moment = self._start + timedelta(seconds=round(days * 86_400))
            return str(moment.time() if days < 1 else moment.date() if days == int(days) else moment.isoformat())
        if value.isdecimal():
            return value
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


class _Element:
    """An element of XML: its name without a namespace, attributes, the text of its values, and what it stands in."""

    def __init__(self, tag: str, attributes: dict[str, str], inside: tuple[str, ...]) -> None:
        self.tag, self.inside = tag, inside
        self._attributes = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        self.parts: list[str] = []

    def get(self, name: str, default: str = "") -> str:
        return self._attributes.get(name, default)

    @property
    def text(self) -> str:
        return "".join(self.parts)


class _Parser:
    """Collects elements of some names, or of any, with the text of the `v` and `t` in each."""

    def __init__(self, tags: set[str] | None) -> None:
        self._tags = tags
        self._open: list[str] = []
        self._wanted: list[_Element] = []
        self._ended: list[_Element] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse

    def feed(self, data: bytes, is_last: bool = False) -> list[_Element]:
        """Return the elements that end in these bytes."""
        self._ended = []
        self._parser.Parse(data, is_last)
        return self._ended

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self._tags is None or tag in self._tags:
            self._wanted.append(_Element(tag, attributes, tuple(self._open[-1:])))
        # Formulas are not values, and the reading of Japanese signs (rPh) is no part of a text.
        elif tag in ("v", "t") and self._wanted and "rPh" not in self._open:
            self._parser.CharacterDataHandler = self._wanted[-1].parts.append
        self._open.append(tag)
        if len(self._open) > 100:
            raise ValueError("nested too deeply")

    def _end(self, _name: str) -> None:
        tag = self._open.pop()
        if self._wanted and self._wanted[-1].tag == tag and (self._tags is None or tag in self._tags):
            self._ended.append(self._wanted.pop())
        self._parser.CharacterDataHandler = None

    @staticmethod
    def _refuse(*_: object) -> None:
        raise ValueError("a document type, which no spreadsheet has")


def _index(letters: str) -> int:
    """Return the place of the column with these letters, from 0."""
    place = 0
    for letter in letters[:8]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text
