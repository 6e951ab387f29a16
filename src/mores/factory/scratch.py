"""Files without a name for what would need too much memory; few things stay in memory."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Generic, TypeVar
from weakref import finalize

T = TypeVar("T")

IN_MEMORY = 1 << 24
"""Bytes of a file that are kept in memory."""


def open_for(owner: object) -> IO[bytes]:
    """Return a file without a name that is closed with its owner, in memory while it is small."""
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    finalize(owner, file.close)
    return file


class Shelf(Generic[T]):
    """Things in a file: all are put there before the first is taken."""

    def __init__(self) -> None:
        self.file = open_for(self)

    def put(self, thing: T) -> Shelved[T]:
        """Write a thing, and return its place."""
        start = self.file.tell()
        pickle.dump(thing, self.file)
        return Shelved(self, start)


@dataclass(frozen=True, slots=True)
class Shelved(Generic[T]):
    """The place of a thing on a shelf."""

    shelf: Shelf[T]
    start: int

    def take(self) -> T:
        """Read the thing."""
        self.shelf.file.seek(self.start)
        thing: T = pickle.load(self.shelf.file)
        return thing
