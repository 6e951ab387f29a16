"""All items, their versions and all votes as tables: CSV, JSON Lines and Parquet; the same events give the same bytes.

JSON Lines keeps values as they are. CSV and Parquet have one column for each field; lists and records in it are JSON.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores.io.arrow import import_parquet
from mores.studio.data.snapshot import Snapshot
from mores.studio.figures import Figures, PersonFigures
from mores.studio.kind import ExportFile
from mores.studio.practice import QualificationTest
from mores.studio.provenance import matches_language, matches_region
from mores.studio.records import CampaignItem
from mores.studio.store.items import Campaign
from mores.studio.store.people import Member

Row = dict[str, Any]


def item_rows(snapshot: Snapshot) -> list[Row]:
    """Return the present state of every item, in the order in which they were made."""
    return [
        {
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
        for item in snapshot.items
    ]


def vote_rows(snapshot: Snapshot) -> list[Row]:
    """Return every vote, also about earlier versions, in the order of items."""
    label = snapshot.campaign.kind.label
    return [
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
            "link": snapshot.links.get(vote.standing.link, "") if vote.standing else "",
        }
        for item in snapshot.items
        for vote in sorted(item.votes, key=lambda vote: (vote.version, vote.at, snapshot.number(vote.person)))
    ]


def version_rows(snapshot: Snapshot) -> list[Row]:
    """Return every version of every item, in the order of items; who made it is empty where a stage did."""
    return [
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
    ]


def time_rows(
    campaign: Campaign, members: Iterable[Member], figures: Figures, items: Iterable[CampaignItem]
) -> list[Row]:
    """Return who worked how long and earned what by the piece, with names and the organiser's notes about pay."""
    rows, kind, settings, every = [], campaign.kind, campaign.settings, list(items)
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
    return rows


def table_files(snapshot: Snapshot, form: str) -> Iterator[ExportFile]:
    """Yield `items`, `votes` and `versions` as csv, jsonl or parquet."""
    write = {"csv": to_csv, "jsonl": to_jsonl, "parquet": to_parquet}[form]
    yield ExportFile(f"items.{form}", write(item_rows(snapshot), ("content", "results")))
    yield ExportFile(f"votes.{form}", write(vote_rows(snapshot), ("answer",)))
    yield ExportFile(f"versions.{form}", write(version_rows(snapshot), ("content",)))


def to_jsonl(rows: Sequence[Row], _nested: Sequence[str]) -> bytes:
    """Return one object for each row."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def to_csv(rows: Sequence[Row], nested: Sequence[str]) -> bytes:
    """Return one line for each row; the fields of nested records are columns such as `content.question`."""
    flat = [flatten(row, nested) for row in rows]
    names = columns(flat)
    return ExportFile.of_table("", names, ([row.get(name, "") for name in names] for row in flat)).data


def to_parquet(rows: Sequence[Row], nested: Sequence[str]) -> bytes:
    """Return the columns of the CSV; ConfigError where pyarrow is not installed."""
    parquet = import_parquet()
    import pyarrow as pa

    flat = [flatten(row, nested) for row in rows]
    kinds = {"version": pa.int64(), "returns": pa.int64(), "seconds": pa.float64()}
    arrays = {}
    for name in columns(flat):
        kind = kinds.get(name, pa.string())
        values = [row.get(name) for row in flat]
        if kind == pa.string():
            values = [None if value is None else str(value) for value in values]
        arrays[name] = pa.array(values, kind)
    buffer = io.BytesIO()
    parquet.write_table(pa.table(arrays), buffer)
    return buffer.getvalue()


def columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of all columns, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row))


def flatten(row: Row, nested: Sequence[str]) -> Row:
    """Return a row without records in it."""
    flat: Row = {}
    for name, value in row.items():
        if name in nested:
            flat |= {f"{name}.{inner}": cell(inside) for inner, inside in value.items()}
        else:
            flat[name] = cell(value)
    return flat


def cell(value: Any) -> Any:
    """Return a value as one cell: lists and records as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value
