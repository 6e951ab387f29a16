"""The rows of a JSON file: an array of objects, objects that lie deeper, or JSON Lines under another name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mores.io.source import TableSource
from mores.io.values import load_json

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
