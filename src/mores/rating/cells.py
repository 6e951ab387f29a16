"""One cell of a file of ratings as a value: a text, a number, a time, one of a few words, a list of records."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

import orjson
from pydantic import ValidationError

from mores.errors import InputError, suggest
from mores.rating.scales import to_number
from mores.types import Record

LARGEST = 1_000_000_000
"""The largest number that a cell may have, and the smallest with a minus: squares of larger ones overflow, as
those of numbers that are nearer to 0 than one divided by it vanish."""
Row = Mapping[str, object]
E = TypeVar("E", bound=StrEnum)
R = TypeVar("R", bound=Record)


class RatingCells:
    """Reads cells by column; an empty one is None, and a value that is not known raises InputError."""

    def __init__(self, replacements: Mapping[str, Mapping[str, str]]) -> None:
        self._replacements = {
            column: {name.casefold(): value for name, value in known.items()} for column, known in replacements.items()
        }
        self.replaced: Counter[tuple[str, str, str]] = Counter()
        """The number of times that a column's value was read as another."""
        self._labels: dict[tuple[str, object], str] = {}

    def text(self, column: str, row: Row) -> str | None:
        """Return a text; a number is its digits."""
        value = row.get(column)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool):
            value = str(value).lower()
        if not isinstance(value, str | int | float):
            raise InputError(f"{column!r} is {type(value).__name__}, not a text or a number")
        text = str(value)
        known = self._replacements.get(column, {}).get(text.strip().casefold())
        if known is not None and known != text:
            self.replaced[column, text.strip(), known or "no value"] += 1
            return known or None
        return text if text.strip() else None

    def label(self, column: str, row: Row) -> str | None:
        """Return a name, without the spaces around it."""
        value = row.get(column)
        if value.__class__ is str and (known := self._labels.get((column, value))):  # the same few are in many rows
            return known
        text = self.text(column, row)
        label = text and sys.intern(text.strip())
        if label and text == value and label.casefold() not in self._replacements.get(column, {}):
            self._labels[column, value] = label
        return label

    def needed_label(self, column: str, row: Row) -> str:
        """Return a name that must be there."""
        label = self.label(column, row)
        if label is None:
            raise InputError(f"no {column}; fill in {column!r} or remove the row")
        return label

    def number(self, column: str, row: Row, least: float = -math.inf) -> float | None:
        """Return a finite number of at least `least`."""
        text = self.text(column, row)
        if text is None:
            return None
        try:
            number = to_number(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number < least:
            raise self._unknown(column, text, list(self._replacements.get(column, {})), "a number")
        if abs(number) > LARGEST:
            raise InputError(f"{column} is {number:g}; expected a number from {max(least, -LARGEST):,} to {LARGEST:,}")
        if 0 < abs(number) < 1 / LARGEST:
            raise InputError(f"{column} is {number:g}; expected 0, or a number of {1 / LARGEST:g} or more")
        return number

    def count(self, column: str, row: Row) -> int | None:
        """Return a whole number from 1."""
        number = self.number(column, row, least=1)
        if number is not None and not number.is_integer():
            raise InputError(f"unknown {column} {number:g}; expected a whole number from 1")
        return None if number is None else int(number)

    def time(self, column: str, row: Row) -> datetime | None:
        """Return a time as ISO 8601 writes it."""
        value = row.get(column)
        if isinstance(value, datetime):
            return value
        text = self.text(column, row)
        try:
            return None if text is None else datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise InputError(
                f"unknown time {text!r} in {column!r}; expected one such as 2024-05-01T14:30:00Z"
            ) from error

    def language(self, column: str, row: Row) -> str | None:
        """Return the BCP 47 tag of a language."""
        text = self.text(column, row)
        if text is None:
            return None
        from mores import culture  # 0.1 s of tables, and many files name no language

        try:
            return culture.language(text.strip())
        except InputError as error:
            raise InputError(str(error), setting="alias") from error

    def member(self, column: str, row: Row, members: type[E]) -> E | None:
        """Return one of a few words."""
        text = self.text(column, row)
        if text is None:
            return None
        try:
            return members(text.strip().casefold())
        except ValueError:
            raise self._unknown(column, text, [*map(str, members), *self._replacements.get(column, {})]) from None

    def records(self, column: str, row: Row, record: type[R]) -> list[R] | None:
        """Return a list of records, as a list or as JSON."""
        value = row.get(column)
        if isinstance(value, str):
            if not value.strip():
                return None
            try:
                value = orjson.loads(value)
            except orjson.JSONDecodeError as error:
                raise InputError(f"{column!r} is not valid JSON ({error.msg}); expected a list of objects") from error
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise InputError(f"{column!r} is {type(value).__name__}, not a list of objects")
        entries = []
        for number, entry in enumerate(value, 1):
            fields = {k: v for k, v in entry.items() if v is not None} if isinstance(entry, dict) else entry
            try:
                entries.append(record.model_validate(fields))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = ".".join(map(str, first["loc"])) or "the whole"
                known = ", ".join(record.model_fields)
                raise InputError(f"{column} {number}: {place}: {first['msg']}; its fields are {known}") from error
        return entries

    def _unknown(self, column: str, text: str, known: list[str], kind: str = "") -> InputError:
        hint = suggest(text.strip(), known)
        expected = " or one of ".join(part for part in (kind, ", ".join(known)) if part)
        return InputError(f"unknown {column} {text.strip()!r}; {hint}expected {expected}", setting="alias")
