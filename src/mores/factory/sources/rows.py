"""The rows of a dataset, access to their fields, and items made of them that keep the contract of `SourceItem`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from mores.culture import region
from mores.errors import InputError
from mores.factory.items import SourceItem, Task

T = TypeVar("T")
OnBad = Callable[[InputError], None]


@dataclass(frozen=True)
class SourceRow:
    """One row, its place, and its fields; errors of a field do not name the place, see `collect`."""

    place: str
    """`file:line` of its start, with its keys where a whole JSON file is one line: `Iran_data.json:1 at /Q-1`."""
    file: Path
    path: tuple[str, ...]
    """The keys of the containers around it in a JSON file."""
    values: Mapping[str, Any]

    def having(self, values: Mapping[str, Any]) -> SourceRow:
        """Return a row at the same place with other fields, such as those of a nested object."""
        return SourceRow(self.place, self.file, self.path, values)

    def text(self, *names: str) -> str:
        """Return the first of these fields that is filled; InputError when none is."""
        value = self.maybe(*names)
        if value is None:
            raise InputError(f"no {' or '.join(map(repr, names))}; expected the published columns")
        return value

    def maybe(self, *names: str) -> str | None:
        """Return the first of these fields that is filled, or None, as text without blanks around it."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                if text := value.strip():
                    return text
            elif isinstance(value, list | dict | bool):
                raise InputError(f"{name!r} is {type(value).__name__}, not a text; expected the published columns")
            elif value is not None:
                return str(value)
        return None

    def list(self, name: str) -> list[Any]:
        """Return a field that is a list."""
        value = self.values.get(name)
        if not isinstance(value, list):
            raise InputError(f"{name!r} is not a list; expected the published columns")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a field that is an object."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise InputError(f"{name!r} is not an object; expected the published columns")
        return value


def collect(
    rows: Iterable[SourceRow | InputError], make: Callable[[SourceRow], T | None], on_bad: OnBad
) -> Iterator[T]:
    """Yield the results of `make`, without None; an error goes to `on_bad`, with the place of its row."""
    for row in rows:
        if isinstance(row, InputError):
            on_bad(row)
            continue
        try:
            result = make(row)
        except InputError as error:
            on_bad(InputError(f"{row.place}: {error}"))
        else:
            if result is not None:
                yield result


def items(
    rows: Iterable[SourceRow | InputError],
    make: Callable[[SourceRow], SourceItem | None],
    on_bad: OnBad,
    *,
    repeated: bool = False,
) -> Iterator[SourceItem]:
    """Return the items of rows, each checked; a second item with the same id is an error, unless `repeated`."""
    seen: dict[str, str] = {}

    def checked(row: SourceRow) -> SourceItem | None:
        item = make(row)
        if item is None:
            return None
        check(item)
        if item.id in seen:
            if repeated:
                return None
            raise InputError(f"duplicate of {seen[item.id]} ({item.id}); remove one")
        seen[item.id] = row.place
        return item

    return collect(rows, checked, on_bad)


def check(item: SourceItem) -> None:
    """Raise InputError when an item breaks the contract, or is a choice whose options are not all told apart."""
    check_answers(item)
    if item.task is Task.QA and (not item.wrong or {item.answer, *item.wrong} != set(item.options)):
        raise InputError("the options are not the correct answer and at least one wrong one; edit or remove the row")


def check_answers(item: SourceItem) -> None:
    """Raise InputError when an item breaks the contract: a correct answer, and wrong ones that are not correct."""
    if not item.question.strip() or not item.answer.strip():
        raise InputError("an empty question or answer; fill it in or remove the row")
    try:
        "".join((item.question, item.answer, item.context or "", *item.wrong, *item.also_correct)).encode()
    except UnicodeEncodeError as error:
        raise InputError("half a character (a lone surrogate) in a text; correct or remove the row") from error
    correct = {fold(text) for text in (item.answer, *item.also_correct)}
    wrong = [fold(text) for text in item.wrong]
    if not correct.isdisjoint(wrong):
        raise InputError("an answer is both correct and wrong; edit or remove the row")
    if len(set(wrong)) < len(wrong) or "" in wrong:
        raise InputError("two wrong answers are the same, or one is empty; correct or remove the row")


@lru_cache(maxsize=32_768)
def fold(text: str) -> str:
    """Return an answer without case, outer punctuation and extra blanks, for comparison."""
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'“”‘’。")


def unique(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts in order, without empty ones and repetitions."""
    by_form: dict[str, str] = {}
    for text in texts:
        by_form.setdefault(fold(text), text.strip())
    by_form.pop("", None)
    return tuple(by_form.values())


def digest(*parts: str) -> str:
    """Return a short, stable id for rows that have none, from their contents."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def letter(options: list[str], answer: str) -> str:
    """Return the option that a letter, or a number counted from 0, names."""
    short = len(answer) < 10  # Python refuses to read a number of thousands of digits
    place = int(answer) if answer.isdecimal() and short else ord(answer.upper()) - ord("A") if len(answer) == 1 else -1
    if not 0 <= place < len(options):
        raise InputError(f"answer {answer[:60]!r} names none of {len(options)} options; correct or remove the row")
    return options[place]


def region_or_none(name: str) -> str | None:
    """Return the region of a culture, or None for religions, peoples and jobs."""
    try:
        return region(name)
    except InputError:
        return None
