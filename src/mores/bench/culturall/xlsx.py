"""The rows of a spreadsheet's first sheet, by the names in its first row: the form that CulturALL is released in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from mores.errors import InputError
from mores.factory.sources.rows import Row

_NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read_xlsx(path: Path) -> Iterator[Row | InputError]:
    """The rows, each cell as text; a number is written as the file writes it."""
    try:
        with zipfile.ZipFile(path) as book:
            shared = _shared(book)
            sheet = ET.fromstring(book.read(_first_sheet(book)))
    except (OSError, KeyError, zipfile.BadZipFile, ET.ParseError) as error:
        raise InputError(f"{path}: not a spreadsheet (.xlsx), or a damaged one; get it again") from error
    rows = sheet.iter(f"{_NS}row")
    names = _cells(next(rows, ET.Element("row")), shared)
    for number, row in enumerate(rows, 2):
        cells = _cells(row, shared)
        if any(cells.values()):
            values = {name: cells.get(column, "") for column, name in names.items() if name}
            yield Row(f"{path}:{row.get('r', number)}", path, (), values)


def _first_sheet(book: zipfile.ZipFile) -> str:
    sheets = [name for name in book.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
    if not sheets:
        raise KeyError("no sheet")
    return min(sheets, key=lambda name: (len(name), name))


def _shared(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    return [_text(entry) for entry in ET.fromstring(book.read("xl/sharedStrings.xml")).iter(f"{_NS}si")]


def _cells(row: ET.Element, shared: list[str]) -> dict[str, str]:
    """The texts of a row by the letters of their columns."""
    found = {}
    for place, cell in enumerate(row.iter(f"{_NS}c")):
        column = (cell.get("r") or "").rstrip("0123456789") or str(place)
        value = cell.findtext(f"{_NS}v") or ""
        inline = cell.find(f"{_NS}is")
        if cell.get("t") == "s" and value:
            value = shared[int(value)]
        found[column] = (_text(inline) if inline is not None else _unescaped(value)).strip()
    return found


def _text(entry: ET.Element) -> str:
    """The text of an entry and of its parts in other fonts; the reading of Japanese signs is no part of it."""
    parts = [entry, *entry.findall(f"{_NS}r")]
    return _unescaped("".join(part.findtext(f"{_NS}t") or "" for part in parts))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text)
