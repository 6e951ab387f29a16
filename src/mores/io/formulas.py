"""CSV without live formulas: a text that a spreadsheet would run gets an apostrophe, which reading removes again.

An apostrophe that the text itself has before such a sign is kept by a second one, so nothing is lost.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from types import SimpleNamespace

_SIGNS = "=+-@\t\r\uff1d\uff0b\uff0d\uff20"
"""What a formula begins with; some spreadsheets take the signs of full width, too."""
_FIRST = frozenset("'" + _SIGNS)
_LOOKS_LIVE = re.compile(rf"'*[{re.escape(_SIGNS)}]")
_ESCAPED = re.compile(rf"'+[{re.escape(_SIGNS)}]")
BATCH = 1000
"""Rows whose cells are looked through at once."""
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?%?")


def to_csv(rows: Iterable[Sequence[Hashable]]) -> str:
    """Return comma-separated values, with an apostrophe before each text that looks like a formula; numbers stay."""

    def escape(text: str) -> str:
        return f"'{text}" if _LOOKS_LIVE.match(text) and not _NUMBER.fullmatch(text) else text

    lines: list[str] = []
    # Python 3.11 quotes a carriage return only if lines end with one
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    given = iter(rows)
    while batch := list(islice(given, BATCH)):
        # cells are often alike, and few begin like a formula: looking at each row's cells one by one takes longest
        found = {text for text in set().union(*batch) if isinstance(text, str) and text[:1] in _FIRST}
        live: dict[Hashable, str] = {text: shown for text in found if (shown := escape(text)) != text}
        writer.writerows([[live.get(value, value) for value in row] for row in batch] if live else batch)
    return "".join([f"{line[:-2]}\n" for line in lines])


def unescape(cells: Sequence[str]) -> list[str]:
    """Return the cells of a row without the apostrophes that `to_csv` adds."""
    return [cell[1:] if cell.startswith("'") and _ESCAPED.match(cell) else cell for cell in cells]
