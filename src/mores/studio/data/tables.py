"""All items, their versions and all votes as tables: CSV, JSON Lines and Parquet; the same events give the same bytes.

JSON Lines keeps values as they are. CSV and Parquet have one column for each field; lists and records in it are JSON.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores.io import formulas
from mores.io.arrow import import_parquet
from mores.studio.data.snapshot import Snapshot
from mores.studio.figures import Figures, PersonFigures
from mores.studio.kind import ExportFile
from mores.studio.practice import QualificationTest
from mores.studio.provenance import matches_language, matches_region
from mores.studio.records import CampaignItem
from mores.studio.store.items import Campaign
from mores.studio.store.panels import Panel, pay_columns
from mores.studio.store.people import Member

Row = dict[str, Any]
BATCH = 1000
"""Rows of a table that are turned into text at once."""
NUMBERS = {"version": "int", "returns": "int", "seconds": "float"}
"""Columns of Parquet that hold numbers; all others are text."""
WHOLE = (list, dict, bool)
"""What a cell holds as JSON."""
_json = json.JSONEncoder(ensure_ascii=False).encode
END = "\0"
"""Ends a line until all columns are known; no text of the studio has it."""


def item_row(snapshot: Snapshot, item: CampaignItem) -> Row:
    """Return the present state of an item."""
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
        "created": item.created.isoformat(),
        "updated": item.updated.isoformat(),
        "content": item.content,
        "results": snapshot.hide(item.results),
    }


def vote_rows(snapshot: Snapshot, item: CampaignItem) -> Iterator[Row]:
    """Yield every vote about an item, also about earlier versions."""
    label = snapshot.campaign.kind.label
    return (
        {
            "item": item.id,
            "stage": vote.stage,
            "version": vote.version,
            "person": snapshot.number(vote.person),
            "label": label(vote.stage, vote.answer),
            "seconds": vote.seconds,
            "at": vote.at.isoformat(),
            "answer": vote.answer,
            "taken": vote.taken.isoformat() if vote.taken else None,
            "offline": vote.offline,
            "from_region": matches_region(item, vote.standing),
            "knows_language": matches_language(item, vote.standing),
            "link": snapshot.tally.links.get(vote.standing.link, "") if vote.standing else "",
        }
        for vote in sorted(item.votes, key=lambda vote: (vote.version, vote.at, snapshot.number(vote.person)))
    )


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
    items, votes, versions = make(("content", "results")), make(("answer",)), make(("content",))
    for item in snapshot.items:  # reading them is what takes long: once for both
        items.add(item_row(snapshot, item))
        for row in vote_rows(snapshot, item):
            votes.add(row)
    yield ExportFile(f"items.{form}", items.close())
    yield ExportFile(f"votes.{form}", votes.close())
    for row in version_rows(snapshot):
        versions.add(row)
    yield ExportFile(f"versions.{form}", versions.close())


class JsonTable:
    """Rows as JSON Lines."""

    def __init__(self, _nested: Sequence[str]) -> None:
        self._written = io.BytesIO()

    def add(self, row: Row) -> None:
        """Add an object on a line of its own."""
        self._written.write(f"{_json(row)}\n".encode())

    def close(self) -> bytes:
        """Return the file."""
        return self._written.getvalue()


class CsvTable:
    """Rows as CSV; the fields of nested records are columns such as `content.question`.

    A column that only later rows have is not known before: each line ends with a mark that no text can have, in whose
    place its empty cells are put when all columns are known.
    """

    def __init__(self, nested: Sequence[str]) -> None:
        self._nested = nested
        self._names: dict[str, None] = {}
        self._rows: list[Row] = []
        self._parts: list[tuple[int, bytes]] = []

    def add(self, row: Row) -> None:
        """Add a line."""
        self._rows.append(flatten(row, self._nested))
        if len(self._rows) == BATCH:
            self._write()

    def _write(self) -> None:
        rows, names = self._rows, self._names
        names |= dict.fromkeys(name for row in rows for name in row)
        lines = formulas.to_csv([*map(row.get, names), END] for row in rows)
        self._parts.append((len(names), lines.encode()))
        self._rows = []

    def close(self) -> bytes:
        """Return the file."""
        self._write()
        if not self._names:
            return b"\n"
        header = formulas.to_csv([list(self._names)]).encode()
        ends = ((b"," * (len(self._names) - known) + b"\n", part) for known, part in self._parts)
        return b"".join([header, *(part.replace(f",{END}\n".encode(), end) for end, part in ends)])


class ParquetTable:
    """The columns of the CSV as Parquet; ConfigError where pyarrow is not installed."""

    def __init__(self, nested: Sequence[str]) -> None:
        self._parquet = import_parquet()
        self._nested = nested
        self._columns: dict[str, list[Any]] = {}
        self._count = 0

    def add(self, row: Row) -> None:
        """Add a row; columns that earlier ones lack are empty in them."""
        for name, value in flatten(row, self._nested).items():
            column = self._columns.setdefault(name, [])
            column += [None] * (self._count - len(column))
            column.append(value if value is None or name in NUMBERS else str(value))
        self._count += 1

    def close(self) -> bytes:
        """Return the file."""
        import pyarrow as pa

        kinds = {"int": pa.int64(), "float": pa.float64()}
        arrays = {
            name: pa.array(column + [None] * (self._count - len(column)), kinds.get(NUMBERS.get(name, ""), pa.string()))
            for name, column in self._columns.items()
        }
        buffer = io.BytesIO()
        self._parquet.write_table(pa.table(arrays), buffer)
        return buffer.getvalue()


TABLES: Mapping[str, Callable[[Sequence[str]], JsonTable | CsvTable | ParquetTable]] = {
    "csv": CsvTable,
    "jsonl": JsonTable,
    "parquet": ParquetTable,
}


def to_csv(rows: Iterable[Row], nested: Sequence[str]) -> bytes:
    """Return rows as CSV."""
    table = CsvTable(nested)
    for row in rows:
        table.add(row)
    return table.close()


def to_jsonl(rows: Iterable[Row], nested: Sequence[str] = ()) -> bytes:
    """Return one object for each row."""
    table = JsonTable(nested)
    for row in rows:
        table.add(row)
    return table.close()


def flatten(row: Row, nested: Sequence[str]) -> Row:
    """Return a row without records in it: each cell is a number or a text, lists and records are JSON."""
    flat: Row = {}
    for name, value in row.items():
        if name in nested:
            for inner, inside in value.items():
                flat[f"{name}.{inner}"] = _json(inside) if type(inside) in WHOLE else inside
        elif value is True or value is False:
            flat[name] = "true" if value else "false"
        else:
            flat[name] = _json(value) if type(value) in WHOLE else value
    return flat
