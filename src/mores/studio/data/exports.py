"""Exports: what a campaign gives, in every format, each kept whole, to be downloaded again byte for byte."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select

from mores.canary import FILE as CANARY
from mores.errors import ConfigError, suggest
from mores.hub import with_fields
from mores.studio.data.card import canary_of, hub_fields, one_line, write_card, write_method
from mores.studio.data.label_studio import label_studio_files
from mores.studio.data.pearmut import pearmut_files
from mores.studio.data.snapshot import Snapshot, read_snapshot
from mores.studio.data.tables import JsonTable, table_files, version_rows
from mores.studio.files import ExportFile
from mores.studio.kind import CampaignKind
from mores.studio.progress import report
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now
from mores.studio.store.people import record
from mores.studio.store.tables import exports
from mores.studio.workflow import Unknown

LEVEL = 3
"""How well archives are compressed: the usual 6 takes twice as long, for a seventh less."""
CARD, METHOD = "README.md", "METHOD.md"


@dataclass(frozen=True)
class Format:
    """A way to export a campaign."""

    title: str
    summary: str
    files: Callable[[Snapshot], Iterable[ExportFile]]


def _folder(snapshot: Snapshot) -> Iterator[ExportFile]:
    kind = snapshot.campaign.kind
    yield from kind.export(snapshot.campaign.settings, snapshot.accepted if kind.runs else snapshot.numbered)
    if kind.runs:
        rows = (row for row in version_rows(snapshot) if row["item"] in snapshot.tally.given)
        yield JsonTable().fill(rows).close("versions.jsonl")


FORMATS: Mapping[str, Format] = {
    "folder": Format("Benchmark", "The accepted items as a folder that mores bench runs.", _folder),
    "csv": Format(
        "CSV", "All items, their versions and all votes, for spreadsheets.", partial(table_files, form="csv")
    ),
    "jsonl": Format(
        "JSON Lines", "All items, their versions and all votes, as they are.", partial(table_files, form="jsonl")
    ),
    "parquet": Format(
        "Parquet", "All items, their versions and all votes, for data frames.", partial(table_files, form="parquet")
    ),
    "label-studio": Format("Label Studio", "Items as tasks with annotations.", label_studio_files),
    "pearmut": Format("pearmut", "Items as a campaign, and annotations.", pearmut_files),
}


_JUDGED = Format("Results", "What people judged, as tables and records for other commands.", _folder)


def list_formats(kind: CampaignKind[Any]) -> Mapping[str, Format]:
    """Return the ways to export a campaign of a kind."""
    return FORMATS if kind.runs else {**FORMATS, "folder": _JUDGED}


class Kept(NamedTuple):
    """An export that was made."""

    id: str
    format: str
    last_event: int
    sha256: str
    at: datetime
    size: int


def make_files(snapshot: Snapshot, form: str) -> dict[str, bytes]:
    """Return the files of an export by their paths."""
    return {file.path: file.read() for file in iterate_files(snapshot, form)}


def iterate_files(snapshot: Snapshot, form: str) -> Iterator[ExportFile]:
    """Yield the files of an export, with its card and its paragraph for a paper; large ones are on disk."""
    if form not in FORMATS:
        raise ConfigError(f"unknown format {form!r}; {suggest(form, FORMATS)}there are {', '.join(FORMATS)}")
    files = {file.path: file for file in FORMATS[form].files(snapshot)}  # first: reading the items counts them
    head = files.pop(CARD).read().decode() if CARD in files else f"# {one_line(snapshot.campaign.title)}\n"
    yield ExportFile(CARD, f"{head.rstrip()}\n\n{write_card(snapshot)}".encode())
    yield from files.values()
    if METHOD not in files:
        yield ExportFile(METHOD, f"{write_method(snapshot)}\n".encode())
    if CANARY not in files:
        yield ExportFile(CANARY, f"{canary_of(snapshot)}\n".encode())


def pack(files: Iterable[ExportFile]) -> bytes:
    """Return files as a ZIP archive whose bytes depend on nothing else: the time of each is the first that ZIP has."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for file in files:
            with archive.open(file.path, "w", force_zip64=file.size > zipfile.ZIP64_LIMIT // 2) as member:
                for part in file.parts():
                    member.write(part)
                    report()
    return buffer.getvalue()


def make_export(database: Database, campaign: Campaign, form: str, by: str | None) -> Kept:
    """Make an export and keep it; what is the same as one that is kept is not kept twice."""
    snapshot = read_snapshot(database, campaign)
    data = pack(iterate_files(snapshot, form))
    digest = sha256(data).hexdigest()
    same = (exports.c.campaign == campaign.id, exports.c.format == form, exports.c.sha256 == digest)
    with database.write() as connection:
        known = connection.execute(select(*_KEPT).where(*same)).first()
        record(connection, by, "exported", f"{form}, {len(data):,} B, sha256 {digest}", campaign.id)
        if known:
            return Kept(*known)
        kept = Kept(token_hex(8), form, snapshot.last_event, digest, now(), len(data))
        row = kept._asdict() | {"campaign": campaign.id, "made_by": by, "data": data}
        del row["size"]
        connection.execute(insert(exports), row)
    return kept


_KEPT: tuple[Any, ...] = (
    *(exports.c[name] for name in ("id", "format", "last_event", "sha256", "at")),
    func.length(exports.c.data),
)


def list_exports(database: Database, campaign: Campaign, limit: int = 50) -> list[Kept]:
    """Return the exports that are kept, the newest first."""
    query = select(*_KEPT).where(exports.c.campaign == campaign.id).order_by(exports.c.at.desc()).limit(limit)
    return [Kept(*row) for row in database.fetch(query)]


def read_export(database: Database, campaign: Campaign, identifier: str) -> tuple[str, bytes]:
    """Return the format and the bytes of an export, as they were when it was made."""
    mine = (exports.c.campaign == campaign.id, exports.c.id == identifier)
    for form, data in database.fetch(select(exports.c.format, exports.c.data).where(*mine)):
        return form, bytes(data)
    raise Unknown("There is no such export.")


def write_export(database: Database, campaign: Campaign, form: str, folder: Path) -> list[Path]:
    """Make an export, keep it, and write its files into a folder; the files."""
    kept = make_export(database, campaign, form, None)
    with zipfile.ZipFile(io.BytesIO(read_export(database, campaign, kept.id)[1])) as archive:
        archive.extractall(folder)
        return [folder / name for name in archive.namelist()]


def hub_files(snapshot: Snapshot, form: str) -> dict[str, bytes]:
    """Return the files of an export with a card that the Hub reads."""
    files = make_files(snapshot, form)
    return files | {CARD: with_fields(files[CARD].decode(), hub_fields(snapshot))}
