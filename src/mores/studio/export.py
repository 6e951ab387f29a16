"""What a campaign gives: the accepted items as files of its kind, the same bytes for the same events."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mores.studio.kind import ExportFile
from mores.studio.records import Status
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, read_items

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that its bytes depend on the items alone."""


def files(database: Database, campaign: Campaign) -> Iterator[ExportFile]:
    """The files of the export."""
    yield from campaign.kind.export(campaign.settings, read_items(database, campaign, status=Status.ACCEPTED))


def pack(database: Database, campaign: Campaign) -> bytes:
    """The export as a ZIP archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files(database, campaign):
            archive.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def write(database: Database, campaign: Campaign, folder: Path) -> list[Path]:
    """Write the export into a folder; the files."""
    written = []
    for path, data in files(database, campaign):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        written.append(target)
    return written
