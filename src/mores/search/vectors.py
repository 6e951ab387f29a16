"""A vector for each passage of a corpus, in a file of half-precision numbers that is mapped into memory.

The file is written under another name and renamed when it is complete; after an interruption, encoding continues where
it stopped. A search compares a query with every passage, exactly, by products of matrices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from mores.engine.progress import SILENT, Progress
from mores.errors import StoreError
from mores.search.encoders import Encoder, Floats, unit_vectors

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TYPE = np.dtype(np.float16)
_WRITTEN = 256
"""Passages that are encoded and written together: what an interruption can cost."""
_BLOCK = 8192
"""Passages that are compared together: 16 MB for 512 numbers each."""
_CHECKED = 256
_EXACT = 0.01
"""How far the length of a row may be from 1, of which half precision keeps three digits."""


class Vectors:
    """The vectors of a corpus. A file that cannot be one of them raises StoreError."""

    def __init__(self, path: Path, count: int, size: int) -> None:
        if path.stat().st_size != count * size * _TYPE.itemsize:
            raise _damaged(path, f"it has {path.stat().st_size:,} bytes")
        self._rows = np.memmap(path, _TYPE, "r", shape=(count, size)).view(np.ndarray)
        sample = self._rows[:: max(1, count // _CHECKED)]
        if not _are_vectors(sample).all():
            raise _damaged(path, "it has numbers that no encoder writes")

    def cosines(self, queries: Floats) -> Floats:
        """Return the cosine of each query, a row of length 1, with each passage."""
        cosines: Floats = np.empty((len(queries), len(self._rows)), np.float32)
        for start in range(0, len(self._rows), _BLOCK):
            block = self._rows[start : start + _BLOCK].astype(np.float32)
            np.matmul(queries, block.T, out=cosines[:, start : start + _BLOCK])
        return cosines


def open_vectors(
    path: Path, encoder: Encoder, count: int, text: Callable[[int], str], progress: Progress = SILENT
) -> Vectors:
    """Return the vectors in a file, which is made at the first use; `text` is that of the passage at a place."""
    try:
        if not path.exists():
            _encode(path, encoder, count, text, progress)
        return Vectors(path, count, encoder.size)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written or read ({error}); free some space or set MORES_CACHE") from error


def _encode(path: Path, encoder: Encoder, count: int, text: Callable[[int], str], progress: Progress) -> None:
    """Write the file. Another process that writes the same one is waited for."""
    part = path.with_name(f"{path.name}.part")
    with _alone(part) as file:
        if path.exists():
            part.unlink(missing_ok=True)
            return
        done = _rows_in(part, encoder.size)
        file.truncate(done * encoder.size * _TYPE.itemsize)
        places = progress.track("encoding passages", range(done, count), count - done)
        while block := list(islice(places, _WRITTEN)):
            file.write(unit_vectors(encoder, [text(place) for place in block]).astype(_TYPE).tobytes())
            file.flush()
        os.fsync(file.fileno())
        part.replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to append to, which no other process appends to meanwhile."""
    with path.open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _rows_in(part: Path, size: int) -> int:
    """Return how many whole vectors an interrupted run left; zeros at the end may be a crash's."""
    numbers = np.fromfile(part, _TYPE)
    rows = numbers[: numbers.size // size * size].reshape(-1, size)
    valid = _are_vectors(rows)
    rows = rows[: valid.size if valid.all() else int(valid.argmin())]
    return int(np.flatnonzero(rows.any(axis=1)).max(initial=-1)) + 1


def _are_vectors(rows: npt.NDArray[np.float16]) -> npt.NDArray[np.bool_]:
    """Return whether each row has length 1, or is all zeros."""
    lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
    near: npt.NDArray[np.bool_] = (np.abs(lengths - 1) < _EXACT) | (lengths == 0)
    return near


def _damaged(path: Path, reason: str) -> StoreError:
    return StoreError(f"{path}: damaged vectors ({reason}); delete the file, it is made again")
