"""The rows of a spreadsheet's first sheet, by the names in its first row: the form that CulturALL is released in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

from mores.errors import InputError
from mores.factory.sources.rows import SourceRow
from mores.io.packed import BAD_ZIP, Room

_NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

_DAMAGED = (*BAD_ZIP, OSError, KeyError, IndexError, ValueError, ET.ParseError)


def read_xlsx(path: Path) -> Iterator[SourceRow | InputError]:
    """Yield the rows, each cell as text; a number is written as the file writes it."""
    try:
        with zipfile.ZipFile(path) as book:
            room = Room(path)
            names: dict[str, str] | None = None
            for number, (label, cells) in enumerate(_rows(book, room), 1):
                room.take(sum(map(len, cells.values())))  # a long text that many cells share is unpacked in each
                if names is None:
                    names = cells
                elif any(cells.values()):
                    values = {name: cells.get(column, "") for column, name in names.items() if name}
                    yield SourceRow(f"{path}:{label or number}", path, (), values)
    except _DAMAGED as error:
        raise InputError(f"{path}: not a spreadsheet (.xlsx), or a damaged one; get it again") from error


def _rows(book: zipfile.ZipFile, room: Room) -> Iterator[tuple[str | None, dict[str, str]]]:
    """Yield the number of each row of the first sheet, and its texts by the letters of their columns."""
    names = book.namelist()
    texts = _elements(book, "xl/sharedStrings.xml", "si", room) if "xl/sharedStrings.xml" in names else ()
    shared = [_text(entry) for entry in texts]
    for row in _elements(book, _first_sheet(names), "row", room):
        yield row.get("r"), _cells(row, shared)


def _elements(book: zipfile.ZipFile, name: str, tag: str, room: Room) -> Iterator[ET.Element]:
    """Yield the elements of a part of the book, one at a time; a document type, with entities to expand, is refused."""
    with book.open(name) as part:
        data = room.read(part)
    if b"<!DOCTYPE" in data or b"\0" in data:
        raise ET.ParseError("a document type or another encoding, which no spreadsheet has")
    for _, element in ET.iterparse(BytesIO(data)):
        if element.tag == f"{_NS}{tag}":
            yield element
            element.clear()


def _first_sheet(names: list[str]) -> str:
    sheets = [name for name in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
    if not sheets:
        raise KeyError("no sheet")
    return min(sheets, key=lambda name: (len(name), name))


def _cells(row: ET.Element, shared: list[str]) -> dict[str, str]:
    """Return the texts of a row by the letters of their columns."""
    texts = {}
    for place, cell in enumerate(row.iter(f"{_NS}c")):
        column = (cell.get("r") or "").rstrip("0123456789") or str(place)
        value = cell.findtext(f"{_NS}v") or ""
        inline = cell.find(f"{_NS}is")
        if cell.get("t") == "s" and value:
            texts[column] = shared[int(value)]
        else:
            texts[column] = _text(inline) if inline is not None else _unescaped(value).strip()
    return texts


def _text(entry: ET.Element) -> str:
    """Return the text of an entry and of its parts in other fonts; the reading of Japanese signs is no part of it."""
    parts = [entry, *entry.findall(f"{_NS}r")]
    return _unescaped("".join(part.findtext(f"{_NS}t") or "" for part in parts)).strip()


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text)
