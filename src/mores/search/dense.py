"""`dense:PATH` and `fused:PATH`: the user's documents by meaning, also in another language than the query's.

`dense` ranks the passages of a corpus by the cosine of their vectors with the query's. `fused` adds BM25, as a share of
what a passage could score at most: where query and passage have words in common, words decide, and elsewhere meaning
does. Both numbers are comparable between queries, which ranks are not: reciprocal rank fusion gives passages with a
common word by chance as much weight as good ones, and `benchmarks/crosslingual.py` measures what that costs.

The vectors of passages are in a file of half-precision numbers that is mapped into memory. It is written under another
name and renamed when it is complete; after an interruption, encoding continues where it stopped. A search compares a
query with every passage, exactly, by products of matrices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import IO

import numpy as np
import numpy.typing as npt

from mores.engine.progress import SILENT, Progress
from mores.errors import InputError, ModelError, StoreError
from mores.io.private import make_folder
from mores.io.source import to_path
from mores.search import encoders, index
from mores.search.base import Found, Query
from mores.search.corpus import SUFFIX, Corpus, names
from mores.search.encoders import Encoder, Floats, open_encoder, unit_vectors
from mores.search.passages import LONGEST as LONGEST_PASSAGE
from mores.search.passages import find_documents
from mores.types import Failure, FailureKind

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

    def __init__(self, numbers: npt.NDArray[np.float16], count: int, size: int, path: Path) -> None:
        if numbers.size != count * size:
            raise _damaged(path, f"it has {numbers.size:,} numbers")
        self._rows = numbers.reshape(count, size)
        sample = self._rows[:: max(1, count // _CHECKED)]
        if not _are_vectors(sample).all():
            raise _damaged(path, "it has numbers that no encoder writes")

    def cosines(self, queries: Floats, places: slice = slice(None)) -> Floats:
        """Return the cosine of each query, a row of length 1, with each passage, or with some."""
        rows = self._rows[places]
        cosines: Floats = np.empty((len(queries), len(rows)), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK].astype(np.float32)
            np.matmul(queries, block.T, out=cosines[:, start : start + _BLOCK])
        return cosines


def open_vectors(
    path: Path, encoder: Encoder, count: int, text: Callable[[int], str], progress: Progress = SILENT
) -> Vectors:
    """Return the vectors in a file, which is made at the first use; `text` is that of the passage at a place."""
    try:
        if not path.exists():
            _encode(path, encoder, count, text, progress)
        numbers = np.memmap(path, np.uint8, "r").view(np.ndarray)
        if numbers.size % _TYPE.itemsize:
            raise _damaged(path, f"it has {numbers.size:,} bytes")
        return Vectors(numbers.view(_TYPE), count, encoder.size, path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written or read ({error}); free some space or set MORES_CACHE") from error


def _encode(path: Path, encoder: Encoder, count: int, text: Callable[[int], str], progress: Progress) -> None:
    """Write the file. Another process that writes the same one is waited for."""
    part = path.with_name(f"{path.name}.part")
    with _alone(part) as file:
        if path.exists():
            part.unlink(missing_ok=True)
            return
        # How many whole vectors an interrupted run left; zeros at the end may be a crash's.
        numbers = np.fromfile(part, _TYPE)
        rows = numbers[: numbers.size // encoder.size * encoder.size].reshape(-1, encoder.size)
        valid = _are_vectors(rows)
        rows = rows[: valid.size if valid.all() else int(valid.argmin())]
        done = int(np.flatnonzero(rows.any(axis=1)).max(initial=-1)) + 1
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


def _are_vectors(rows: npt.NDArray[np.float16]) -> npt.NDArray[np.bool_]:
    """Return whether each row has length 1, or is all zeros."""
    lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
    near: npt.NDArray[np.bool_] = (np.abs(lengths - 1) < _EXACT) | (lengths == 0)
    return near


def _damaged(path: Path, reason: str) -> StoreError:
    return StoreError(f"{path}: damaged vectors ({reason}); delete the file, it is made again")


SOON = 5_000_000
"""Bytes of documents that are encoded in some minutes."""


def is_soon_encoded(path: str | Path) -> bool:
    """Return whether documents can be searched by meaning without a long wait."""
    if not encoders.has_encoder():
        return False
    place = to_path(path)
    if place.suffix.lower() == SUFFIX:
        with suppress(OSError, ValueError):
            opened = index.Index(place)
            return len(opened) * LONGEST_PASSAGE < SOON or opened.has(
                f"vectors.{open_encoder(encoders.SEARCH).identity}"
            )
        return False
    with suppress(InputError, OSError):
        return sum(document.path.stat().st_size for document in find_documents(path)) < SOON
    return False


VERSION = 1
"""Goes up when the same vectors are ranked in another way."""
WORDS = 3.0
"""What a passage with every word of the query is worth beside one with its meaning. Chosen on half of the questions of
`benchmarks/crosslingual.py`."""
REGION = 0.5
"""The share by which the cosine of a passage that names the region counts more; its words count up to twice."""
LONGEST = 1_000
"""Characters of a query that are encoded."""
_AT_ONCE = 2**24
"""Scores that are in memory together, 64 MB."""


class DenseCorpus(Corpus):
    """Documents that are searched by meaning, or `fused` by words and meaning."""

    by_words = False

    def __init__(
        self,
        path: str | Path,
        folder: Path | None = None,
        *,
        fused: bool = True,
        encoder: Encoder | None = None,
        progress: Progress = SILENT,
    ) -> None:
        self.encoder = encoder or open_encoder(encoders.SEARCH)  # before the work of an index
        self.kind = "fused" if fused else "dense"
        super().__init__(path, folder)
        self.identity += f".{VERSION}.{self.encoder.identity}"
        self._fused, self._lock = fused, Lock()
        name = f"vectors.{self.encoder.identity}"
        if self._index.has(name):
            self._vectors = Vectors(self._index.array(name, "<f2"), len(self), self.encoder.size, Path(path))
            return
        try:
            make_folder(self.folder)
        except OSError as error:
            raise StoreError(f"{self.folder}: cannot be written ({error}); set MORES_CACHE to a folder") from error
        self._vectors = open_vectors(self.folder / name, self.encoder, len(self), self.text, progress)

    def _find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return some queries at a time, so that memory is bounded; an empty query finds nothing."""
        asked = [query for query in queries if query.text.strip()]
        step = max(1, _AT_ONCE // len(self))
        batches = (asked[start : start + step] for start in range(0, len(asked), step))
        results = (result for batch in batches for result in self._find_some(batch, k))
        return [next(results) if query.text.strip() else Found() for query in queries]

    def _find_some(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return the results; a text that the encoder cannot read costs its own result alone."""
        try:
            return super()._find(queries, k)
        except ModelError as error:
            if len(queries) > 1:
                return [result for query in queries for result in self._find_some([query], k)]
            return [Found(failure=Failure(kind=FailureKind.MODEL, reason=str(error)))]

    def cosine(self, query: Query, place: int) -> float:
        """Return how near a passage is in meaning to a query."""
        with self._lock:
            vector = unit_vectors(self.encoder, [query.text[:LONGEST]])
        return float(self._vectors.cosines(vector, slice(place, place + 1))[0, 0])

    def scores(self, queries: Sequence[Query]) -> list[index.Floats]:
        """Return the sum of meaning and, if they are fused, words for each passage and query."""
        with self._lock:  # the products use every core, and encoders need not be safe for threads
            vectors = unit_vectors(self.encoder, [query.text[:LONGEST] for query in queries])
            cosines = np.maximum(self._vectors.cosines(vectors), 0)
        ranked = []
        for query, of_query in zip(queries, cosines, strict=True):
            region = names(query.region)
            meaning = self._index.favour(of_query, region, REGION)
            ceiling = self._index.ceiling(query.text) if self._fused else 0.0
            if ceiling:
                meaning += self._index.favour(self._index.scores(query.text), region) * np.float32(WORDS / ceiling)
            ranked.append(meaning)
        return ranked
