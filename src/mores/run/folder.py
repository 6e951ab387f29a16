"""The folders of runs: starting one, going on with one, finding them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.io import read_record, write_text
from mores.io.private import NO_LINK, make_folder, open_private
from mores.run.manifest import MANIFEST, Manifest, Plan, Status

try:
    import fcntl
except ImportError:  # Windows: no lock
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@dataclass
class Run:
    """A run that this process works on, with its lock."""

    path: Path
    manifest: Manifest
    note: str = ""
    """Why it is not in the folder that was asked for."""

    def finish(
        self,
        *,
        files: Mapping[str, str] | None = None,
        failures: Mapping[str, int] | None = None,
        headline: str = "",
    ) -> None:
        """Say what the run has made; it is complete when the `with` block ends without an error."""
        self._update(files=dict(files or {}), failures=dict(failures or {}), headline=headline)

    def _update(self, **fields: object) -> None:
        self.manifest = self.manifest.model_copy(update=fields)
        write_text(self.path / MANIFEST, self.manifest.model_dump_json(indent=1) + "\n")


@contextmanager
def start_run(folder: Path, plan: Plan) -> Iterator[Run]:
    """A run in `folder`, or in `folder-2`, `folder-3`, … where other runs are there already.

    Where a run with the same signature is there, it goes on. ConfigError while another process works on it.
    """
    for number in count(1):
        path = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        make_folder(path)
        with _locked(path) as locked:
            known = read_manifest(path) if (path / MANIFEST).exists() else None
            if known is not None and known.signature != plan.signature:
                continue
            if not locked:
                raise ConfigError(f"{path}: another process works on this run; wait for it, or choose another folder")
            yield from _work(path, plan, folder)
            return


def _work(path: Path, plan: Plan, folder: Path) -> Iterator[Run]:
    note = "" if path == folder else _different(read_manifest(folder), plan, folder)
    run = Run(path, Manifest(**dict(plan), started=_now()), note)
    run._update()
    try:
        yield run
    except (KeyboardInterrupt, GeneratorExit):
        run._update(status=Status.STOPPED, ended=_now())
        raise
    except BaseException as error:
        run._update(status=Status.FAILED, ended=_now(), error=str(error) or type(error).__name__)
        raise
    run._update(status=Status.COMPLETE, ended=_now())


def _different(known: Manifest, plan: Plan, folder: Path) -> str:
    names = dict.fromkeys((*known.signature, *plan.signature))
    fields = [name for name in names if known.signature.get(name) != plan.signature.get(name)]
    return f"{folder} holds another run (other {', '.join(fields)}), so this one has a folder of its own"


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Whether this process has the folder to itself, for the time of the `with` block."""
    if fcntl is None:
        yield True
        return
    descriptor = open_private(path / LOCK, os.O_RDWR | NO_LINK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def read_manifest(path: Path) -> Manifest:
    """What `run.json` says; InputError where there is none or it cannot be read."""
    try:
        return read_record(path / MANIFEST, Manifest, "run the command that made it again")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no {MANIFEST} in it; give the folder of a run") from None


def find_runs(folder: Path, kind: str | None = None) -> list[Path]:
    """The folders of all runs in a folder and below, in order; InputError where there is none."""
    found = [path.parent for path in sorted(folder.rglob(MANIFEST))]
    if kind:
        found = [path for path in found if read_manifest(path).kind == kind]
    if not found:
        what = f"{kind} run" if kind else "run"
        raise InputError(f"{folder}: there is no {what} in it; give a folder with a {MANIFEST}")
    return found


def _now() -> datetime:
    return datetime.now(UTC)
