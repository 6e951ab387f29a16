"""Files without a name for what would need too much memory; few things stay in memory."""

from __future__ import annotations

import errno
import pickle
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import SEEK_END
from tempfile import SpooledTemporaryFile, gettempdir
from typing import IO, Any, Generic, TypeVar
from weakref import finalize

import numpy as np
import numpy.typing as npt

from mores.errors import StoreError

T = TypeVar("T")

IN_MEMORY = 1 << 22
"""Bytes of a file that are kept in memory."""
_SIZE = 8
"""Bytes of the size of a thing on a shelf, so that it is read at once."""


def open_for(owner: object) -> IO[bytes]:
    """Return a file without a name that is closed with its owner, in memory while it is small."""
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    finalize(owner, _close, file)
    return file


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # a full disk, which was said when it was written to
        file.close()


@contextmanager
def explain_full_disk() -> Iterator[None]:
    """Turn the error of a full disk under these files, which have no name, into ours, with the fix."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT} or error.filename:
            raise
        fix = "free some space there, or name a folder with more in the variable TMPDIR, and run again"
        raise StoreError(f"{gettempdir()}: the disk is full of items and drafts; {fix}") from error


def give_back() -> None:
    """Return freed memory to the system: glibc keeps what many small arrays took; other C libraries have no need."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).malloc_trim(0)


class Shelf(Generic[T]):
    """Things in a file, which are taken by their place."""

    def __init__(self) -> None:
        self.file = open_for(self)
        self._end = 0
        self._at_end = True

    def put(self, thing: T) -> int:
        """Write a thing, and return its place."""
        if not self._at_end:
            self.file.seek(self._end)
            self._at_end = True
        place, pickled = self._end, pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
        self._end += self.file.write(len(pickled).to_bytes(_SIZE) + pickled)
        return place

    def take(self, place: int) -> T:
        """Read the thing at a place."""
        self.file.seek(place)
        self._at_end = False
        thing: T = pickle.loads(self.file.read(int.from_bytes(self.file.read(_SIZE))))
        return thing


class NumberFile:
    """Arrays of small integers in a file, which are read by their number."""

    def __init__(self) -> None:
        self._file = open_for(self)
        self._starts = array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return map(self.__getitem__, range(len(self)))

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Write an array."""
        self._file.seek(0, SEEK_END)
        self._starts.append(self._starts[-1] + self._file.write(numbers.astype(np.int32).tobytes()))

    def __getitem__(self, number: int) -> npt.NDArray[np.int32]:
        start, end = self._starts[number], self._starts[number + 1]
        self._file.seek(start)
        return np.frombuffer(self._file.read(end - start), np.int32)

    def together(self) -> npt.NDArray[np.int32]:
        """Return all arrays as one."""
        whole, end = np.empty(self._starts[-1] // 4, np.int32), 0
        for some in self:
            whole[end : end + len(some)] = some
            end += len(some)
        return whole


class TextFile:
    """Texts in a file, which are read by their number."""

    def __init__(self) -> None:
        self._file = open_for(self)
        self._starts = array("q", [0])
        self._at_end = True

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def append(self, text: str) -> None:
        """Write a text."""
        if not self._at_end:
            self._file.seek(self._starts[-1])
            self._at_end = True
        self._starts.append(self._starts[-1] + self._file.write(text.encode("utf-8", "surrogatepass")))

    def __getitem__(self, number: int) -> str:
        start, end = self._starts[number], self._starts[number + 1]
        self._file.seek(start)
        self._at_end = False
        return self._file.read(end - start).decode("utf-8", "surrogatepass")
