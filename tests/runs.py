"""Folders of runs that tests write by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mores.io import write_text
from mores.run import MANIFEST, Manifest, Status


def write_manifest(folder: Path, kind: str = "bench", **signature: str) -> Path:
    """Make the folder a complete run of this kind, whatever files it holds."""
    folder.mkdir(parents=True, exist_ok=True)
    started = datetime(2025, 1, 1, tzinfo=UTC)
    manifest = Manifest(kind=kind, name="x", signature=signature, status=Status.COMPLETE, started=started)
    write_text(folder / MANIFEST, manifest.model_dump_json())
    return folder
