"""The columns of a table: one record for each wanted column, good guesses, and a report of what was read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from itertools import chain
from typing import Any, Literal, NamedTuple

from pydantic import Field

from mores.errors import ConfigError, InputError, nearest, suggest
from mores.io.source import TableSource
from mores.types import Record

MOST_NAMES = 12
"""Names of columns that a message lists."""
MOST_PROBLEMS = 20
"""Messages about bad rows that a report holds."""
MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "–", "—"))
"""What people and programs write into cells of metadata and numbers that have no value, in any case."""
_LOOKED_AT = 200
"""Names among which a misspelt one is looked for."""
_CACHED = 1024

Kind = Literal["text", "metadata", "number", "choice"]


@dataclass(frozen=True)
class TableColumn:
    """A column that a reader wants."""

    name: str
    aliases: tuple[str, ...] = ()
    """Its names in other datasets."""
    guesses: tuple[str, ...] = ()
    """Names that are read as this one where neither its name nor an alias is there; case and blanks do not matter."""
    needed: bool = False
    instead: tuple[str, ...] = ()
    """Columns that suffice in its place."""
    kind: Kind = "text"
    """`metadata` and `number` may be missing in many ways, see `MISSING`; a text or a choice is as it is written."""
    near: float = 0.0
    """How similar a name must be to count as misspelt, which is an error; 0 where none does."""
    unless: tuple[str, ...] = ()
    """Columns beside which one of this name is another."""
    competes: bool = False
    """Whether a guess counts as much as an alias: where a row has both, nobody can tell which one is meant."""


LANGUAGE = TableColumn("language", ("lang",), ("language code", "lang code", "locale"), kind="metadata")
REGION = TableColumn("region", ("country",), ("country code", "country name", "region code", "nation"), kind="metadata")
MESSAGES = TableColumn("messages", ("conversations",))
"""A chat: its last answer is the text, and what stands before it the instruction, where no other columns are them."""

TURNS = TableColumn("turns", ("dialogue", "dialog"), unless=("text", MESSAGES.name))
"""A conversation that is judged as a whole: a list of turns, each with a speaker."""


class ColumnMatch(NamedTuple):
    """The wanted columns that a table has, and its others."""

    names: Mapping[str, tuple[str, ...]]
    """The table's names of each wanted column; of several, the row decides."""
    others: tuple[str, ...]
    """Columns that are none of them."""
    single: Mapping[str, str] = {}
    """The same for columns that have one name, which is most."""


@dataclass(frozen=True)
class Wanted:
    """The columns that a reader wants, and how they are recognised."""

    columns: tuple[TableColumn, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    """The table's names of some columns, as the user gave them; an empty one for a column that must not be read."""
    expected: str = ""
    """What a message names where a needed column is missing."""
    own: tuple[str, ...] = ()
    """How the header of a CSV that Mores wrote begins; there, `NA` is Namibia."""
    _matches: dict[tuple[str, ...], ColumnMatch] = field(default_factory=dict, repr=False, compare=False)
    _problems: dict[tuple[tuple[str, ...], bool], str | None] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        for name in self.chosen:
            if name not in names:
                problem = f"no column {name!r} can be read; {suggest(name, names)}choose from {', '.join(names)}"
                raise ConfigError(problem, setting="columns")

    def match(self, names: tuple[str, ...]) -> ColumnMatch:
        """Return which of some names is which column: as the user says, by name or alias, else by a good guess."""
        if match := self._matches.get(names):
            return match
        present, by_form = set(names), dict[str, list[str]]()
        for name in names:
            by_form.setdefault(fold(name), []).append(name)
        found: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            if (theirs := self.chosen.get(column.name)) is not None:
                same = [theirs] if theirs in present else by_form.get(fold(theirs), []) if theirs else []
                found[column.name] = tuple(same[:1])
        taken = {name for theirs in found.values() for name in theirs}
        open_columns = [column for column in self.columns if column.name not in found]
        for column in open_columns:
            known = (column.name, *column.aliases)
            found[column.name] = tuple(name for name in known if name in present and name not in taken)
        taken.update(name for theirs in found.values() for name in theirs)
        for column in open_columns:
            if not found[column.name] or (column.competes and column.name not in present):
                forms = dict.fromkeys(fold(name) for name in (column.name, *column.aliases, *column.guesses))
                guessed = (name for form in forms for name in by_form.get(form, ()) if name not in taken)
                found[column.name] = tuple(dict.fromkeys((*found[column.name], *guessed)))
        found |= {column.name: () for column in open_columns if any(found.get(name) for name in column.unless)}
        taken = {name for theirs in found.values() for name in theirs}
        others = tuple(name for name in dict.fromkeys(names) if name and name not in taken)
        match = ColumnMatch(found, others, {column: theirs[0] for column, theirs in found.items() if len(theirs) == 1})
        if len(self._matches) < _CACHED:
            self._matches[names] = match
        return match

    def known(self, names: Sequence[str]) -> int:
        """Return how many of the wanted columns are among some names."""
        return sum(map(bool, self.match(tuple(names)).names.values()))

    def problem(self, names: tuple[str, ...], *, is_row: bool = False) -> str | None:
        """Return what is wrong with the names of a table's columns, or of a row's fields; None if nothing is.

        A row may lack a field that the user named, if it is not needed: others may have it.
        """
        if (names, is_row) in self._problems:
            return self._problems[names, is_row]
        columns = sorted(self.columns, key=lambda column: column.name not in self.chosen)  # the user's words first
        problem = next(filter(None, (self._problem(column, names, is_row) for column in columns)), None)
        if len(self._problems) < _CACHED:
            self._problems[names, is_row] = problem
        return problem

    def _problem(self, column: TableColumn, names: tuple[str, ...], is_row: bool) -> str | None:
        match, theirs = self.match(names), self.chosen.get(column.name)
        is_needed = column.needed and not any(match.names[name] for name in column.instead)
        if match.names[column.name] or theirs == "" or (theirs and is_row and not is_needed):
            return None
        if theirs:
            return self.absent(column.name, names)
        near = None
        for name in (column.name, *column.aliases) if column.near else ():
            near = near or nearest(name, match.others[:_LOOKED_AT], column.near)
        if near and (is_needed or column.near >= 0.8):  # a misspelt column must not be lost in silence
            return f"no field {column.name!r}, but {near!r}; rename it to {column.name!r}"
        if is_needed:
            return f"no field {column.name!r}; expected {self.expected or repr(column.name)}; found {listed(names)}"
        return None

    def absent(self, column: str, names: Sequence[str]) -> str:
        """Return the message for a column that the user named and the table does not have."""
        theirs = self.chosen[column]
        hint = suggest(theirs, names[:_LOOKED_AT], 0.5)
        return f"no column {theirs!r} to read as {column!r}; {hint}the columns are {listed(names)}"


def fold(name: str) -> str:
    """Return the form in which names of columns are compared: without case, blanks and punctuation."""
    return "".join(sign for sign in name.casefold() if sign.isalnum()) or name


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that two columns have or more, of which a row keeps only one."""
    return [name for name, count in Counter(names).items() if count > 1 and name]


def listed(names: Sequence[str]) -> str:
    """Return the first of some names for a message."""
    return ", ".join(map(repr, names[:MOST_NAMES])) + (" and more" if len(names) > MOST_NAMES else "") or "none"


class TableReport(Record):
    """The report of a table that was read."""

    name: str
    """The file, folder or kind of frame."""
    format: str
    rows: int
    """Rows that were read."""
    columns: dict[str, tuple[str, ...]]
    """The table's names of each column that was found, by ours."""
    unread: tuple[str, ...]
    """Columns that were not read as anything."""
    kept: tuple[str, ...] = ()
    """Those of them whose texts, numbers and truth values stay with the row, and the fields of its metadata."""
    left_out: int = 0
    """Rows that could not be read."""
    problems: tuple[str, ...] = ()
    """The reasons of the first of them."""
    missing: dict[str, dict[str, int]] = Field(default_factory=dict)
    """By column, what was read as no value in how many rows: {"region": {"NA": 3}}."""
    encoding: str = ""
    """Of its text, where it is not UTF-8."""
    delimiter: str = ""
    """Of its cells, where it is not that of the format."""
    log: str = ""
    """The program whose log it is, where its content tells."""
    notes: tuple[str, ...] = ()
    """What was taken for what in an export of another program."""

    @property
    def is_plain(self) -> bool:
        """True if nothing needs to be said: all columns have our names, and nothing was guessed or left out."""
        renamed = any(theirs != (ours,) or ours == MESSAGES.name for ours, theirs in self.columns.items())
        guessed = self.encoding or self.delimiter or self.log or self.notes
        return not (renamed or self.unread or self.left_out or self.missing or guessed)

    def __str__(self) -> str:
        rows = f"{self.rows:,} row" + ("s" if self.rows != 1 else "")
        names = {MESSAGES.name: "instruction" if "text" in self.columns else "text and instruction"}
        names[TURNS.name] = "conversation"
        shown = sorted(self.columns.items(), key=lambda pair: pair[0] not in ("text", *names))
        parts = [f"{names.get(ours, ours)} ← {' or '.join(theirs)}" for ours, theirs in shown]
        if self.log:  # what its program calls them is not for a user to choose
            parts = [ours for ours, _ in shown if ours in ("text", "instruction", LANGUAGE.name, REGION.name)]
        log = f" of a log of {self.log}" if self.log else ""
        text = f"{self.name}, {rows}{log}" + (f": {', '.join(parts)}" if parts else "")
        text += "".join(f"; {note}" for note in self.notes)
        lost = tuple(name for name in self.unread if name not in self.kept)
        for unread, status in ((self.kept, "kept"), (lost, "not kept")):
            more = f" and {len(unread) - MOST_NAMES:,} more" if len(unread) > MOST_NAMES else ""
            listed = f"{', '.join(unread[:MOST_NAMES])}{more}"
            told = f"also kept: {listed}" if self.log and status == "kept" else f"not read: {listed} ({status})"
            text += f"; {told}" if unread else ""
        for column, words in self.missing.items():
            for word, count in words.items():
                text += (
                    f"; {column} {word!r} was read as missing ({count:,})"
                    if word
                    else f"; {column} is empty ({count:,})"
                )
        if self.left_out:
            text += f"; left out: {self.left_out:,}"
        saved = (("encoding", self.encoding), ("delimiter", self.delimiter and repr(self.delimiter)))
        return text + "".join(f"; {name} {value}" for name, value in saved if value)


class ColumnReader:
    """Reads the wanted columns of the rows of one table, and notes what it reads as what."""

    def __init__(self, wanted: Wanted, is_untyped: bool = False) -> None:
        self.wanted = wanted
        self.is_untyped = is_untyped
        """True if words such as `NA` stand for no value; not in a table that Mores wrote."""
        self.rows = 0
        self.left_out = 0
        self.problems: list[str] = []
        self.has_header = False
        self.is_ambiguous = False
        """True if two columns of the table's header may be the same one, so that no other row is clear either."""
        self._kept: dict[str, None] = {}
        self._seen: dict[tuple[str, ...], ColumnMatch] = {}
        self._missing: dict[str, Counter[str]] = {}
        self._may_miss = frozenset(column.name for column in wanted.columns if column.kind in ("metadata", "number"))

    def choose(self, source: TableSource, names: Sequence[str], line: int | None) -> frozenset[str]:
        """Return the columns of a header that must be read; InputError where some are missing or not clear."""
        if problem := self.wanted.problem(tuple(names)):
            raise self._error(source, problem, line)
        match = self.match(tuple(names))
        wanted = frozenset(name for theirs in match.names.values() for name in theirs)
        if twice := repeated(names):
            raise self._error(source, f"two columns {twice[0]!r}; rename one", line)
        own, self.has_header = self.wanted.own, True
        self.is_untyped = source.is_untyped and not (own and tuple(names[: len(own)]) == own)
        return wanted

    @staticmethod
    def _error(source: TableSource, problem: str, line: int | None) -> InputError:
        error = source.error(problem, line)
        error.setting = "columns"
        return error

    def match(self, names: tuple[str, ...]) -> ColumnMatch:
        """Return which of a row's fields is which column."""
        if match := self._seen.get(names):
            return match
        match = self.wanted.match(names)
        if len(self._seen) < _CACHED:
            self._seen[names] = match
        return match

    def name(self, match: ColumnMatch, values: Mapping[str, Any], column: str) -> str | None:
        """Return the name under which a row holds a column: ours before any other."""
        names = match.names[column]
        if len(names) < 2:
            return names[0] if names else None
        if values.get(column) is not None and column in names:
            return column
        filled = [name for name in names if values.get(name) not in (None, "")]
        if len(filled) > 1:
            self.is_ambiguous = self.has_header
            both = " and ".join(map(repr, filled))
            ways = " or ".join(f"{column}={name}" for name in filled)
            raise InputError(f"{both} may each be the {column}; say which one is: {ways}", setting="columns")
        return filled[0] if filled else names[0]

    def value(self, match: ColumnMatch, values: Mapping[str, Any], column: str) -> Any:
        """Return the value of a column in a row; None where it is missing."""
        name = match.single.get(column) or self.name(match, values, column)
        value = None if name is None else values.get(name)
        if isinstance(value, str):
            if self.is_untyped and column in self._may_miss and is_missing(value):
                self._missing.setdefault(column, Counter())[value.strip()] += 1
                return None
            return value
        return None if isinstance(value, float) and math.isnan(value) else value

    def extras(self, match: ColumnMatch, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the texts, numbers and truth values of a row's other columns."""
        kept: dict[str, Any] = {}
        for name in match.others:
            value = values.get(name)
            if isinstance(value, str):
                if value and not (self.is_untyped and is_missing(value)):
                    kept[name] = value
            elif isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
                kept[name] = value
            elif isinstance(value, date | time | Decimal):
                kept[name] = str(value)
        if len(self._kept) < _CACHED:
            self._kept.update(dict.fromkeys(kept))
        return kept

    def check_chosen(self, source: TableSource) -> None:
        """Raise InputError where no row has a column that the user named."""
        names = [name for match in self._seen.values() for name in (*chain(*match.names.values()), *match.others)]
        for column, theirs in self.wanted.chosen.items():
            if theirs and self._seen and not any(match.names[column] for match in self._seen.values()):
                raise self._error(source, self.wanted.absent(column, list(dict.fromkeys(names))), None)

    def bad(self, error: InputError) -> None:
        """Note a row that is left out."""
        self.left_out += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(str(error))

    def report(
        self, source: TableSource, encoding: str = "", delimiter: str = "", log: str = "", notes: Iterable[str] = ()
    ) -> TableReport:
        """Return what was read so far."""
        columns = {
            name: tuple(dict.fromkeys(theirs for match in self._seen.values() for theirs in match.names[name]))
            for name in (column.name for column in self.wanted.columns)
        }
        read = {theirs for names in columns.values() for theirs in names}
        others = dict.fromkeys(name for match in self._seen.values() for name in match.others)
        return TableReport(
            name=source.label,
            format=source.format or "",
            rows=self.rows,
            columns={name: theirs for name, theirs in columns.items() if theirs},
            unread=tuple(name for name in others if name not in read and (name != "metadata" or not self._kept)),
            kept=tuple(self._kept),
            left_out=self.left_out,
            problems=tuple(self.problems),
            missing={name: dict(words) for name, words in self._missing.items()},
            encoding="" if encoding in ("", "utf-8", "utf_8") else encoding,
            delimiter="" if delimiter == {"csv": ",", "tsv": "\t"}.get(source.format or "") else delimiter,
            log=log,
            notes=tuple(notes),
        )


def is_missing(text: str) -> bool:
    """Return whether a cell of an untyped table stands for no value."""
    return len(text) < 20 and text.strip().casefold() in MISSING
