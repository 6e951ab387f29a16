"""All items, their versions and all votes as tables: CSV, JSON Lines and Parquet; the same events give the same bytes.

JSON Lines keeps values as they are. CSV and Parquet have one column for each field; lists and records in it are JSON.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar, Self

import numpy as np
from pydantic_core import to_json

from mores.io import formulas
from mores.io.arrow import import_parquet
from mores.studio.data.snapshot import Snapshot
from mores.studio.figures import Figures, PersonFigures
from mores.studio.files import ExportFile, Spool
from mores.studio.practice import QualificationTest
from mores.studio.provenance import matches_language, matches_region
from mores.studio.records import CampaignItem
from mores.studio.store.items import Campaign
from mores.studio.store.panels import Panel, pay_columns
from mores.studio.store.people import Member

Row = dict[str, Any]
BATCH = 100
"""Rows of a table that are turned into text at once."""
NUMBERS = {"version": "int", "returns": "int", "seconds": "float"}
"""Columns of Parquet that hold numbers; all others are text."""
WHOLE = frozenset((list, dict, bool))
"""What a cell holds as JSON."""
GROUP = 20_000
"""Rows of a Parquet file that are in memory at once; a larger table has several groups of rows."""
_json = json.JSONEncoder(ensure_ascii=False).encode
_CELLS: dict[str, str] = {}
_BOOLS = {True: "true", False: "false", None: None}
END = "\0"
"""Ends a line until all columns are known; no text of the studio has it."""


def item_row(snapshot: Snapshot, item: CampaignItem) -> Row:
    """Return the present state of an item."""
    created, updated = write_times([item.created, item.updated])
    return {
        "id": item.id,
        "status": item.status.value,
        "stage": item.stage,
        "version": item.version,
        "region": item.region,
        "language": item.language,
        "author": snapshot.number(item.author),
        "returns": item.returns,
        "note": item.note,
        "created": created,
        "updated": updated,
        "content": item.content,
        "results": snapshot.hide(item.results),
    }


def vote_rows(snapshot: Snapshot, item: CampaignItem) -> Iterator[Row]:
    """Yield every vote about an item, also about earlier versions."""
    label, links, number = snapshot.campaign.kind.label, snapshot.counted.links, snapshot.numbers.get
    times = write_times([vote.at for vote in item.votes])
    taken = iter(write_times([vote.taken for vote in item.votes if vote.taken]))
    votes = [
        (vote.version, at, number(vote.person, ""), vote, next(taken) if vote.taken else None)
        for vote, at in zip(item.votes, times, strict=True)
    ]
    if all(at.endswith("+00:00") for at in times):  # their texts are compared faster
        votes.sort(key=itemgetter(0, 1, 2))
    else:
        votes.sort(key=lambda given: (given[0], given[3].at, given[2]))
    return (
        {
            "item": item.id,
            "stage": vote.stage,
            "version": version,
            "person": person,
            "label": label(vote.stage, vote.answer),
            "seconds": vote.seconds,
            "at": at,
            "answer": vote.answer,
            "taken": taken_at,
            "offline": vote.offline,
            "from_region": matches_region(item, vote.standing),
            "knows_language": matches_language(item, vote.standing),
            "link": links.get(vote.standing.link, "") if vote.standing else "",
        }
        for version, at, person, vote, taken_at in votes
    )


def write_times(times: Sequence[datetime]) -> list[str]:
    """Return times as their `isoformat`, in a fifth of the time where there are several."""
    return to_json(times).decode()[2:-2].replace("Z", "+00:00").split('","') if times else []


def version_rows(snapshot: Snapshot) -> Iterator[Row]:
    """Yield every version of every item, in the order of items; who made it is empty where a stage did."""
    return (
        {
            "item": version.item,
            "version": version.number,
            "stage": version.stage,
            "person": snapshot.number(version.person),
            "at": version.at.isoformat(),
            "region": version.region,
            "language": version.language,
            "content": version.content,
        }
        for version in snapshot.versions
    )


def time_rows(
    campaign: Campaign,
    members: Iterable[Member],
    figures: Figures,
    items: Iterable[CampaignItem],
    hourly: float = 0.0,
    panels: Mapping[str, Panel] | None = None,
) -> list[Row]:
    """Return who worked how long, with names, the organiser's notes about pay, and amounts where they are known."""
    rows: list[Row] = []
    kind, settings, every = campaign.kind, campaign.settings, list(items)
    for member in members:
        identifier = member.person.id
        done = figures.people.get(identifier, PersonFigures())
        finished = bool(settings.practice) and QualificationTest.read(settings, member.test).finished
        rows.append(
            {
                "name": member.name,
                "roles": ", ".join(sorted(role.value for role in member.person.roles)),
                "answers": done.votes,
                "items written": done.written,
                "hours": f"{done.seconds / 3600:.2f}",
                "hours offline, not counted": f"{done.offline / 3600:.2f}",
                "seconds per answer (median)": "" if done.median_seconds is None else f"{done.median_seconds:.0f}",
                **({"earned": kind.earned(settings, every, identifier, finished)} if kind.earned else {}),
                "pay note": member.pay_note,
            }
        )
        if hourly or panels:
            rows[-1] |= pay_columns(member, hourly, (panels or {}).get(member.person.link), done.seconds)
    return rows


def table_files(snapshot: Snapshot, form: str) -> Iterator[ExportFile]:
    """Yield `items`, `votes` and `versions` as csv, jsonl or parquet."""
    make = TABLES[form]
    items, votes = make(("content", "results")), make(("answer",))
    for item in snapshot.read():  # reading them is what takes long: once for both
        items.add(item_row(snapshot, item))
        votes.fill(vote_rows(snapshot, item))
    yield items.close(f"items.{form}")
    yield votes.close(f"votes.{form}")
    yield make(("content",)).fill(version_rows(snapshot)).close(f"versions.{form}")


class RowTable(ABC):
    """Rows that become a file, some at a time."""

    batches: ClassVar[int] = 1
    """How many batches are turned into a part of the file at once."""

    def __init__(self, nested: Sequence[str] = ()) -> None:
        self._nested = nested
        self._rows: list[Row] = []
        self._file = Spool()

    def add(self, row: Row) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == BATCH * self.batches:
            self._write()

    def fill(self, rows: Iterable[Row]) -> Self:
        """Add rows."""
        for row in rows:
            self.add(row)
        return self

    def close(self, path: str) -> ExportFile:
        """Return the file."""
        self._write()
        return ExportFile(path, self._file)

    @abstractmethod
    def _write(self) -> None:
        """Turn the rows that wait into a part of the file."""


class JsonTable(RowTable):
    """Rows as JSON Lines."""

    def _write(self) -> None:
        self._file.write(b"".join([to_json(row) + b"\n" for row in self._rows]))  # in a third of json's time
        self._rows = []


class CsvTable(RowTable):
    """Rows as CSV; the fields of nested records are columns such as `content.question`.

    A column that only later rows have is not known before: each line ends with a mark that no text can have, in whose
    place its empty cells are put when all columns are known.
    """

    def __init__(self, nested: Sequence[str] = ()) -> None:
        super().__init__(nested)
        self._names: dict[str, None] = {}
        self._parts: list[tuple[int, int]] = []
        """The number of columns that were known, and of bytes that were written."""

    def _write(self) -> None:
        names, columns = self._names, to_columns(self._rows, self._nested)
        names |= dict.fromkeys(columns)
        empty, ends = [None] * len(self._rows), [END] * len(self._rows)
        lines = formulas.to_csv(zip(*(columns.get(name, empty) for name in names), ends, strict=True))
        self._parts.append((len(names), self._file.write(lines.encode())))
        self._rows = []

    def close(self, path: str) -> ExportFile:
        """Return the file."""
        self._write()
        written, whole = self._file, Spool()
        whole.write(formulas.to_csv([list(self._names)]).encode() if self._names else b"\n")
        written.seek(0)
        for known, size in self._parts:
            end = b"," * (len(self._names) - known) + b"\n"
            whole.write(written.read(size).replace(f",{END}\n".encode(), end))
        return ExportFile(path, whole)


class ParquetTable(RowTable):
    """The columns of the CSV as Parquet; ConfigError where pyarrow is not installed.

    A column that only later rows have is not known before: groups of rows wait on disk until all columns are known.
    """

    batches = 10

    def __init__(self, nested: Sequence[str] = ()) -> None:
        super().__init__(nested)
        self._parquet = import_parquet()
        self._columns: dict[str, list[Any]] = {}
        """The values of the present group; what later rows lack is missing at the end."""
        self._names: dict[str, None] = {}
        self._count = 0
        self._groups: list[tuple[int, int]] = []
        """The place where each group that waits begins, and its rows."""
        self._waiting = Spool()

    def _write(self) -> None:
        for name, values in to_columns(self._rows, self._nested).items():
            cells = values if name in NUMBERS else [value if value is None else str(value) for value in values]
            column = self._columns.setdefault(name, [])
            column += [_column(name, [None] * (self._count - sum(map(len, column)))), _column(name, cells)]
        self._names |= dict.fromkeys(self._columns)
        self._count += len(self._rows)
        self._rows = []
        if self._count >= GROUP:
            self._wait()

    def _wait(self) -> None:
        """Let the present group wait on disk."""
        import pyarrow as pa

        self._groups.append((self._waiting.tell(), self._count))
        arrays = {}
        for name in list(self._columns):
            column = self._columns.pop(name)
            arrays[name] = pa.concat_arrays([*column, _column(name, [None] * (self._count - sum(map(len, column))))])
        table = pa.table(arrays)
        with pa.ipc.new_stream(self._waiting, table.schema) as stream:
            stream.write_table(table)
        self._count = 0

    def close(self, path: str) -> ExportFile:
        """Return the file."""
        import pyarrow as pa

        self._write()
        if self._count or not self._groups:
            self._wait()
        schema = pa.schema([(name, _kind(name)) for name in self._names])
        with self._parquet.ParquetWriter(self._file, schema) as writer:
            for start, count in self._groups:
                self._waiting.seek(start)
                table = pa.ipc.open_stream(self._waiting).read_all()
                known = set(table.column_names)
                arrays = [table[name] if name in known else pa.nulls(count, _kind(name)) for name in self._names]
                writer.write_table(pa.table(arrays, schema))
        return ExportFile(path, self._file)


def _kind(name: str) -> Any:
    import pyarrow as pa

    return {"int": pa.int64(), "float": pa.float64()}.get(NUMBERS.get(name, ""), pa.string())


def _column(name: str, cells: Sequence[Any]) -> Any:
    """Return a part of a column; `pyarrow.array` would load pandas wherever it is installed."""
    import pyarrow as pa

    kind = _kind(name)
    if name not in NUMBERS:
        builder = pa.lib.StringBuilder()
        builder.append_values(cells)
        return builder.finish()
    if None in cells:
        return pa.array(cells, kind)
    numbers = np.array(cells, dtype=np.int64 if NUMBERS[name] == "int" else np.float64)
    return pa.Array.from_buffers(kind, len(cells), [None, pa.py_buffer(numbers)])


TABLES: Mapping[str, Callable[[Sequence[str]], RowTable]] = {
    "csv": CsvTable,
    "jsonl": JsonTable,
    "parquet": ParquetTable,
}


def to_csv(rows: Iterable[Row], nested: Sequence[str]) -> bytes:
    """Return rows as CSV."""
    return CsvTable(nested).fill(rows).close("").read()


def to_columns(rows: Sequence[Row], nested: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of rows in the order in which they occur: each cell is a number or a text.

    Lists and records are JSON, but the fields of `nested` records are columns of their own.
    """
    columns: dict[str, list[Any]] = {}
    for name, values in _turn(rows).items():
        if name in nested:
            inside = _turn([value or {} for value in values])
            columns |= {f"{name}.{inner}": _cells(cells) for inner, cells in inside.items()}
        else:
            columns[name] = _cells(values)
    return columns


def _turn(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the values of rows by name; None where a row has none."""
    if len(kinds := set(map(tuple, rows))) == 1:  # as most are: looking up each value takes several times as long
        return dict(zip(*kinds, map(list, zip(*(row.values() for row in rows), strict=True)), strict=True))
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}


def _cells(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if WHOLE.isdisjoint(kinds):
        return values
    if kinds <= {bool, type(None)}:
        return [_BOOLS[value] for value in values]
    return [_cell(value) if type(value) in WHOLE else value for value in values]


def _cell(value: Any) -> str:
    """Return JSON; the same short lists come again and again."""
    if type(value) is bool:
        return str(_BOOLS[value])
    text = repr(value)
    if (known := _CELLS.get(text)) is not None:
        return known
    found = _json(value)
    if len(text) < 100 and len(_CELLS) < BATCH:
        _CELLS[text] = found
    return found
