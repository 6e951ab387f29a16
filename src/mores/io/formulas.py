"""CSV without live formulas: a text that a spreadsheet would run gets an apostrophe, which reading removes again.

An apostrophe that the text itself has before such a sign is kept by a second one, so nothing is lost.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

_FIRST = frozenset("'=+-@\t\r")
_LOOKS_LIVE = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?%?")


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values, with an apostrophe before each text that looks like a formula; numbers stay."""

    def escape(text: str) -> str:
        return f"'{text}" if _LOOKS_LIVE.match(text) and not _NUMBER.fullmatch(text) else text

    lines: list[str] = []
    # Python 3.11 quotes a carriage return only if lines end with one
    file = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    csv.writer(file, lineterminator="\r\n").writerows(
        # most cells begin like none of these, and a call takes longer than a look
        [escape(value) if isinstance(value, str) and value[:1] in _FIRST else value for value in row]
        for row in rows
    )
    return "".join(lines)


def unescape(cells: Sequence[str]) -> list[str]:
    """Return the cells of a row without the apostrophes that `to_csv` adds."""
    return [cell[1:] if cell.startswith("'") and _ESCAPED.match(cell) else cell for cell in cells]
