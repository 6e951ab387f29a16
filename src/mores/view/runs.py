"""The runs of a folder: what each is, and how far those have come that are working."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from mores.errors import InputError
from mores.run import MANIFEST, Manifest, Status, is_working, read_manifest

STALE = 1.0
"""Seconds after which the folder is looked through again."""


class Entry(NamedTuple):
    """A run in the list."""

    name: str
    """Its folder, below the folder of the viewer."""
    path: Path
    manifest: Manifest | None
    """None where run.json cannot be read."""
    problem: str
    status: str
    """That of the manifest; `killed` for one that says it is running while no process works on it."""

    @property
    def kind(self) -> str:
        """The command that made it; empty where run.json cannot be read."""
        return self.manifest.kind if self.manifest else ""

    @property
    def model(self) -> str:
        """The model that is measured or that judges."""
        return self.manifest.model if self.manifest else ""

    @property
    def judged(self) -> list[str]:
        """The files of judged texts that it has, or of graded answers."""
        files, wanted = self.manifest.files if self.manifest else {}, "Verdict" if self.kind == "bench" else "Judgement"
        return [name for name, kind in files.items() if kind == wanted and (self.path / name).is_file()]

    def can_compare(self, other: Entry) -> bool:
        """Return whether both have judged texts, or both graded answers."""
        alike = (self.kind == "bench") == (other.kind == "bench")
        return bool(alike and self.judged and other.judged and self.name != other.name)

    def is_about_the_same_as(self, other: Entry) -> bool:
        """Return whether both were made from a file of the same name."""
        return bool(self.manifest and other.manifest and self.manifest.name == other.manifest.name)

    def says(self, words: str) -> bool:
        """Return whether all words are in what the list shows of it."""
        about = self.manifest
        shown = f"{self.name} {about.kind} {about.name} {about.model} {about.headline}" if about else self.name
        return all(word in shown.casefold() for word in words.casefold().split())


class RunFolder:
    """The runs below a folder, the newest first; links to other folders are not followed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._known: dict[Path, tuple[tuple[int, int], Manifest | None, str]] = {}
        self._entries: dict[str, Entry] = {}
        self._at = 0.0
        self._lock = Lock()
        self._counted: dict[Path, tuple[int, int]] = {}

    def entries(self) -> Mapping[str, Entry]:
        """Return all runs by name; each run.json is read again only after it has changed."""
        with self._lock:
            if time.monotonic() - self._at > STALE:
                self._entries = {entry.name: entry for entry in self._find()}
                self._at = time.monotonic()
            return self._entries

    def _find(self) -> list[Entry]:
        found = []
        for root, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            if MANIFEST in files:
                found.append(self._entry(Path(root)))

        def age(entry: Entry) -> tuple[float, str]:
            return entry.manifest.started.timestamp() if entry.manifest else 0.0, entry.name

        return sorted(found, key=age, reverse=True)

    def _entry(self, path: Path) -> Entry:
        name = path.relative_to(self.folder).as_posix()
        try:
            about = (path / MANIFEST).stat()
            key = about.st_mtime_ns, about.st_size
            if self._known.get(path, (None,))[0] != key:
                self._known[path] = key, read_manifest(path), ""
        except (InputError, OSError) as error:
            return Entry(name, path, None, str(error), "unreadable")
        manifest = self._known[path][1]
        assert manifest is not None
        killed = manifest.status is Status.RUNNING and not is_working(path)
        return Entry(name, path, manifest, "", "killed" if killed else manifest.status.value)

    def progress(self, entry: Entry) -> dict[str, int]:
        """Return how many lines each file has that a run is writing; only what is new is read."""
        lines = {}
        for part in sorted(entry.path.glob(".*.part")):
            size, number = self._counted.get(part, (0, 0))
            with suppress(FileNotFoundError), part.open("rb") as file:  # it may be complete now
                if os.fstat(file.fileno()).st_size < size:  # it was begun again
                    size = number = 0
                file.seek(size)
                while block := file.read(1 << 20):
                    size, number = size + len(block), number + block.count(b"\n")
            self._counted[part] = size, number
            lines[part.name[1:].removesuffix(".part")] = number
        return lines
