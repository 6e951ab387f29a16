"""The folders of runs: starting one, continuing it, finding them."""

from __future__ import annotations

import os
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TypeVar

from mores.engine.progress import SILENT, Progress
from mores.errors import ConfigError, InputError
from mores.io import read_record, read_records, write_text
from mores.io.private import NO_LINK, make_folder, open_private
from mores.io.write import explain_writing
from mores.registry import Registry
from mores.run.manifest import MANIFEST, Manifest, Plan, Status
from mores.types import Record, Signature
from mores.views import NotebookView

try:
    import fcntl
except ImportError:  # Windows: no lock
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
WORK = ".work"
"""Finished parts of a run that is not complete, for those that keep some."""

KINDS = {
    "bench": "mores.benchmark.folder:BenchRun",
    "judge-check": "mores.benchmark.judge_check:JudgeCheckRun",
    "topics": "mores.benchmark.topics:TopicsRun",
    "diagnose": "mores.diagnosis.folder:DiagnoseRun",
    "score": "mores.metric.folder:ScoreRun",
    "audit": "mores.metric.audit.run:AuditRun",
    "meta": "mores.metaevaluation.folder:MetaRun",
    "juice": "mores.metaevaluation.juice.session:JuiceRun",
    "people": "mores.metaevaluation.people.session:PeopleRun",
    "longform": "mores.longanswer.folder:LongformRun",
    "build": "mores.factory.folder:BuildRun",
    "collect": "mores.longanswer.folder:CollectRun",
    "train": "mores.training.folder:TrainRun",
    "rate": "mores.rating.folder:RateRun",
}
"""Every kind of run, and the class that reads it."""

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Run(NotebookView):
    """A run on disk. Each kind has its own class, which knows its files."""

    path: Path
    manifest: Manifest

    @property
    def kind(self) -> str:
        """The command that made it."""
        return self.manifest.kind

    @property
    def signature(self) -> Signature:
        """The parts that must be the same for two results to be comparable."""
        return self.manifest.signature

    def file(self, name: str) -> Path:
        """Return a file of the run; InputError where it is missing."""
        path = self.path / name
        if not path.is_file():
            raise InputError(f"{self.path}: the run has no {name}; it is {self.manifest.status}: run it again")
        return path

    def records(self, name: str, kind: type[R]) -> Iterator[R]:
        """Return the records of a file of JSON lines."""
        return read_records(self.file(name), kind)

    def record(self, name: str, kind: type[R]) -> R:
        """Return the record that a JSON file holds."""
        return read_record(self.file(name), kind, "run it again")


REGISTRY: Registry[type[Run]] = Registry(
    noun="kind of run",
    group="mores.runs",
    ours=KINDS,
    expected="a subclass of mores.run.Run",
    accepts=lambda value: isinstance(value, type) and issubclass(value, Run),
)


@dataclass
class ActiveRun:
    """A run that this process works on, with its lock."""

    path: Path
    manifest: Manifest

    def finish(
        self,
        *,
        files: Mapping[str, str] | None = None,
        failures: Mapping[str, int] | None = None,
        headline: str = "",
        parents: Iterable[Path] = (),
    ) -> None:
        """Say what the run has made; it is complete when the `with` block ends without an error.

        `parents` are runs that it was made from besides those of its plan.
        """
        here = self.path.resolve()
        more = (Path(os.path.relpath(parent.resolve(), here)).as_posix() for parent in parents)
        every = tuple(dict.fromkeys((*self.manifest.parents, *more)))
        self._update(files=dict(files or {}), failures=dict(failures or {}), headline=headline, parents=every)

    def _update(self, **fields: object) -> None:
        self.manifest = self.manifest.model_copy(update=fields)
        unused = None if self.manifest.configuration else {"configuration"}
        write_text(self.path / MANIFEST, self.manifest.model_dump_json(indent=1, exclude=unused) + "\n")


@contextmanager
def start_run(folder: Path, plan: Plan, *, numbered: bool = True, progress: Progress = SILENT) -> Iterator[ActiveRun]:
    """Start a run in `folder`, or in `folder-2`, `folder-3`, … if other runs are there already; `progress` says so.

    A run with the same signature continues; one that failed before it wrote a file does not count. ConfigError while
    another process works on it, and, unless `numbered`, if the folder holds another run: whoever named a folder must
    not find an old result in it.
    """
    for number in count(1):
        path = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        if path.exists() and not path.is_dir():
            raise ConfigError(f"{path} is a file; name a folder for the run")
        with explain_writing(path):
            make_folder(path)
        with _locked(path) as locked:
            known = read_manifest(path) if (path / MANIFEST).exists() else None
            files = (file for file in path.rglob("*") if not file.is_dir() and file.parent.name != WORK)
            if known and known.status is Status.FAILED and all(file.name in (MANIFEST, LOCK) for file in files):
                known = None
            if known is not None and (known.kind, known.signature) != (plan.kind, plan.signature):
                if not numbered:
                    raise ConfigError(f"{_different(known, plan, folder)}; choose another folder, or remove this one")
                continue
            if not locked:
                raise ConfigError(f"{path}: another process works on this run; wait for it, or choose another folder")
            if path != folder:
                reason = _different(read_manifest(folder), plan, folder)
                progress.note(f"note: {reason}, so this one is in {path}")
            yield from _work(path, plan)
            return


def _work(path: Path, plan: Plan) -> Iterator[ActiveRun]:
    run = ActiveRun(path, Manifest(**dict(plan), started=_now()))
    run._update()
    try:
        yield run
    except (KeyboardInterrupt, GeneratorExit, CancelledError):
        run._update(status=Status.STOPPED, ended=_now())
        raise
    except BaseException as error:
        run._update(status=Status.FAILED, ended=_now(), error=str(error) or type(error).__name__)
        raise
    run._update(status=Status.COMPLETE, ended=_now())


def _different(known: Manifest, plan: Plan, folder: Path) -> str:
    names = dict.fromkeys((*known.signature, *plan.signature))
    fields = [name for name in names if known.signature.get(name) != plan.signature.get(name)]
    what = f"other {', '.join(fields)}" if known.kind == plan.kind else f"of mores {known.kind}"
    return f"{folder} holds another run ({what})"


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Lock the folder for the `with` block; yield whether this process has it to itself."""
    if fcntl is None:
        yield True
        return
    with explain_writing(path / LOCK):
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


def is_working(path: Path) -> bool:
    """Return whether a process works on the run in a folder; where there are no locks, what its manifest says."""
    if fcntl is None:
        return read_manifest(path).status is Status.RUNNING
    try:
        descriptor = os.open(path / LOCK, os.O_RDONLY | NO_LINK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def read_manifest(path: Path) -> Manifest:
    """Return what `run.json` says; InputError where there is none or it cannot be read."""
    try:
        return read_record(path / MANIFEST, Manifest, "run the command that made it again")
    except FileNotFoundError:
        below = [f"{found.parent}" for depth in ("*", "*/*") for found in sorted(path.glob(f"{depth}/{MANIFEST}"))]
        fix = f"such as {below[0]}, which is in it" if below else "one that a command has made"
        raise InputError(f"{path}: there is no {MANIFEST} in it; give the folder of a run, {fix}") from None


def open_run(path: Path | str) -> Run:
    """Return the run in a folder, whatever its kind."""
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest.kind not in REGISTRY.names():
        raise InputError(f"{folder}: {REGISTRY.unknown(manifest.kind)}")
    return REGISTRY.find(manifest.kind)(folder, manifest)


def find_runs(
    folder: Path | str, kind: str | None = None, on_bad: Callable[[InputError], object] | None = None
) -> list[Run]:
    """Return all runs in a folder and below, in order; InputError where there is none.

    `on_bad` is told which cannot be read, such as another program's; without it, the first is an error.
    """
    runs: list[Run] = []
    for path in sorted(Path(folder).rglob(MANIFEST)):
        try:
            runs.append(open_run(path.parent))
        except InputError as error:
            if on_bad is None:
                raise
            on_bad(error)
    if kind:
        runs = [run for run in runs if run.kind == kind]
    if not runs:
        what = f"run of mores {kind}" if kind else "run"
        raise InputError(f"{folder}: there is no {what} in it; give a folder with a {MANIFEST}")
    return runs


def _now() -> datetime:
    return datetime.now(UTC)
