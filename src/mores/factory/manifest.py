"""The manifest of a dataset: one line per sample, with the hash of its record, to name a dataset and to compare two.

The SHA-256 of `manifest.jsonl` itself names the dataset exactly. `mores build diff A B` compares two manifests.
"""

from __future__ import annotations

from hashlib import file_digest, sha256
from pathlib import Path

from mores.errors import InputError
from mores.factory.gold import Gold, Kind
from mores.factory.items import Task
from mores.io import read_records
from mores.types import Record

MANIFEST = "manifest.jsonl"


class ManifestEntry(Record):
    """One sample of a dataset."""

    id: str
    split: str
    source: str
    task: Task
    kind: Kind
    group: str
    sha256: str
    """SHA-256 of its line in the file of its split, without the line break."""


class DatasetDifference(Record):
    """The ids of samples of one source, or of `all`, that differ between two datasets, in order."""

    source: str
    same: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """In both, with different contents."""
    moved: tuple[str, ...]
    """Those of `changed` that are in another split."""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def make_entry(gold: Gold, line: bytes) -> ManifestEntry:
    """Return the manifest entry of a sample that is written as this line."""
    return ManifestEntry(
        id=gold.sample.id,
        split=gold.split,
        source=gold.sample.source or "",
        task=gold.task,
        kind=gold.kind,
        group=gold.group,
        sha256=sha256(line.rstrip(b"\n")).hexdigest(),
    )


def read_entries(place: Path) -> dict[str, ManifestEntry]:
    """Return the samples of a dataset by id, from its folder or from its manifest alone."""
    path = place / MANIFEST if place.is_dir() else place
    if not path.is_file():
        raise InputError(f"{place}: no {MANIFEST} in it; build the dataset again with this version of mores")
    entries: dict[str, ManifestEntry] = {}
    for entry in read_records(path, ManifestEntry):
        if entry.id in entries:
            raise InputError(f"{path}: duplicate id {entry.id!r}; build the dataset again")
        entries[entry.id] = entry
    return entries


def compare(before: Path, after: Path) -> list[DatasetDifference]:
    """Return the samples added, removed and changed from one dataset to another: by source, and last of `all`."""
    old, new = read_entries(before), read_entries(after)
    ids = old.keys() | new.keys()
    source_of = {name: (new.get(name) or old[name]).source for name in ids}
    differences = []
    for source in [*sorted(set(source_of.values())), "all"]:
        names = sorted(name for name in ids if source in (source_of[name], "all"))
        both = [name for name in names if name in old and name in new]
        changed = [name for name in both if old[name].sha256 != new[name].sha256]
        differences.append(
            DatasetDifference(
                source=source,
                same=len(both) - len(changed),
                added=tuple(name for name in names if name not in old),
                removed=tuple(name for name in names if name not in new),
                changed=tuple(changed),
                moved=tuple(name for name in changed if old[name].split != new[name].split),
            )
        )
    return differences


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
