"""The results of a build's long stages, in a hidden folder until the run is complete, so that it can be resumed.

A stage is kept under a hash of everything that decides its result: the build's signature, the code of the factory, and
the stage's input. A stage with another hash is done again. Reading, grouping, making errors by rule, composing texts
and writing are not kept: they are faster than balancing and audits, and sources must be read again to compare them.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from mores.factory.scratch import give_back
from mores.io import file_name, write_text
from mores.io.private import make_folder

T = TypeVar("T")

LEAST = 1.0
"""Seconds; a stage that takes less is not kept, so that small builds write nothing."""


class StageStore:
    """Keeps results of stages in a folder; without one it keeps nothing."""

    def __init__(self, folder: Path | None = None, signature: str = "") -> None:
        self._folder = folder
        self._signature = signature

    def keep(self, stage: str, inputs: Iterable[str], kind: type[T] | Any, make: Callable[[], T]) -> T:
        """Return the result of a stage: the one that an earlier build with the same inputs kept, or a new one.

        `kind` is its type, which JSON must preserve; `inputs` are everything it depends on besides the settings of the
        build.
        """
        if self._folder is None:
            return self._make(make)
        path = self._folder / f"{file_name(stage)}.{_digest(chain((self._signature, _code()), inputs))}.json"
        adapter: TypeAdapter[T] = TypeAdapter(kind)
        try:
            return adapter.validate_python(json.loads(path.read_bytes()))
        except (FileNotFoundError, ValueError):
            started = time.monotonic()
            result = self._make(make)
            if time.monotonic() - started >= LEAST:
                make_folder(self._folder)
                write_text(path, json.dumps(adapter.dump_python(result, mode="json")))  # also half an emoji
            return result

    @staticmethod
    def _make(make: Callable[[], T]) -> T:
        try:
            return make()
        finally:
            give_back()

    def forget(self, stage: str) -> None:
        """Forget the results of a stage, whatever its inputs: it is to be done again."""
        for path in self._folder.glob(f"{file_name(stage)}.*.json") if self._folder else ():
            path.unlink()

    def remove(self) -> None:
        """Remove all results: the build is complete."""
        if self._folder is not None and self._folder.is_dir():
            shutil.rmtree(self._folder)


@cache
def _code() -> str:
    """Return a hash of the factory's files, so that a changed rule does not reuse a result of the old one."""
    folder = Path(str(files("mores.factory")))
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return _digest(f"{path.relative_to(folder)} {blake2b(path.read_bytes()).hexdigest()}" for path in paths)


def _digest(parts: Iterable[str]) -> str:
    total = blake2b(digest_size=8)
    for part in parts:
        total.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return total.hexdigest()
