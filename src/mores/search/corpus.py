"""`corpus:PATH`: BM25 over the user's own documents, a table, a text file or a folder of texts and JSON Lines.

The index is built at the first use and kept in the user's cache, under the hash of the documents: a corpus that has
changed is another one. Nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from mores.cache import cache_folder
from mores.culture import country, region_name
from mores.errors import ConfigError, InputError, StoreError
from mores.io.private import make_folder
from mores.io.source import why_unreadable
from mores.search import index, passages, words
from mores.search.base import Evidence, Found, Query
from mores.search.clean import evidence
from mores.search.content import VERSION as CONTENT
from mores.search.content import is_content
from mores.search.passages import Document, find_documents, read_passages

VERSION = 3
_SETTINGS = (
    VERSION, index.VERSION, words.VERSION, index.K1, index.B, passages.LONGEST, passages.OVERLAP, passages.SHORTEST,
)  # fmt: skip


class Corpus:
    """Documents to search. The same documents have the same identity on every machine."""

    kind = "corpus"
    is_local = True
    """A search costs nothing, so that each sentence of a text can be looked up."""
    by_words = True
    """Whether only passages with the words of a query are found."""

    def __init__(self, path: str | Path, folder: Path | None = None) -> None:
        if not str(path):
            raise ConfigError(f"{self.kind}: needs a file or a folder, for example {self.kind}:documents.jsonl")
        self.name = f"{self.kind}:{path}"
        self._path = path
        self._documents = find_documents(path)
        key = _hash(self._documents)
        self.identity = f"{self.kind}:{key}" + (f".{CONTENT}" if self.by_words else "")
        self.folder = (folder or cache_folder() / "corpora") / key
        """Of the index, and of what others keep about the same documents."""
        if not self.folder.exists():
            self._build(self.folder)
        try:
            self._index = index.Index(self.folder)
        except (OSError, ValueError) as error:
            reason = f"a damaged index ({error}); delete the folder, it is built again"
            raise StoreError(f"{self.folder}: {reason}") from error

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._index)

    def text(self, place: int) -> str:
        """Return what of a passage is searched."""
        return _searched(self.passage(place))

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return the best k passages for each query; what names its region in English counts up to twice.

        A question about a country needs a passage about that country, but above all an answer: a passage that shares
        only the region or function words with the query is not returned. The language makes no difference.
        """
        return await asyncio.to_thread(self._find, queries, k)

    async def close(self) -> None:
        """Do nothing."""

    def scores(self, queries: Sequence[Query]) -> list[index.Floats]:
        """Return how well each passage answers each query."""
        ranked = []
        for query in queries:
            asked = words.words(query.text)
            content = " ".join(word for word in asked if is_content(word))
            scores = self._index.scores(content or query.text)
            if content:
                others = self._index.scores(" ".join(word for word in asked if not is_content(word)))
                scores = np.where(scores > 0, scores + others, np.float32(0))
            ranked.append(self._index.favour(scores, names(query.region)))
        return ranked

    def best(self, scores: index.Floats, query: Query, k: int) -> list[int]:  # noqa: ARG002 - others look at the query
        """Return the places of at most k passages with the highest scores for a query."""
        return index.best(scores, k) if k > 0 else []

    def passage(self, place: int) -> dict[str, Any]:
        """Return what the index has of a passage."""
        return self._index.passage(place)

    def _find(self, queries: Sequence[Query], k: int) -> list[Found]:
        ranked = (self.best(scores, query, k) for query, scores in zip(queries, self.scores(queries), strict=True))
        return [Found(evidence=tuple(map(self._evidence, places))) for places in ranked]

    def _evidence(self, place: int) -> Evidence:
        passage = self.passage(place)
        about, file, line = passage["evidence"], passage["file"], passage["line"]
        return Evidence(**about | {"source": about["source"] or f"{self._documents[file].path}:{line}"})

    def _build(self, folder: Path) -> None:
        """Write under another name and rename when complete; if another process was faster, its index is as good."""
        try:
            make_folder(folder.parent)
            draft = Path(mkdtemp(prefix=".new-", dir=folder.parent))
        except OSError as error:
            raise StoreError(f"{folder.parent}: cannot be written ({error}); set MORES_CACHE to a folder") from error
        try:
            if not index.build_index(draft, self._passages(), _searched):
                raise InputError(f"{self._path}: no text in it; nothing can be found there")
            with suppress(OSError):
                draft.rename(folder)
            if not folder.exists():
                raise StoreError(f"{folder}: cannot be written; set MORES_CACHE to another folder")
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written ({error}); free some space or set MORES_CACHE") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _passages(self) -> Iterator[dict[str, Any]]:
        """Clean passages once, here, and not at every query; the path may change, so it is added at the query."""
        for number, document in enumerate(self._documents):
            for row in read_passages(document):
                piece = evidence(row.text, row.title, row.source, row.date, row.licence)
                if piece is not None:
                    region = {"region": row.region} if row.region else {}
                    yield {"evidence": piece.model_dump(), "file": number, "line": row.line, **region}


def names(region: str | None) -> tuple[str, ...]:
    """Return the name of a region, then that of its country, for a corpus that does not name the region."""
    return () if region is None else tuple(region_name(code) for code in dict.fromkeys((region, country(region))))


def _searched(passage: dict[str, Any]) -> str:
    return f"{passage['evidence']['title']}\n{passage['evidence']['text']}"


def _hash(documents: list[Document]) -> str:
    """Return a hash of names, contents and settings; a time stamp would make a copy another corpus."""
    whole = blake2b(repr(_SETTINGS).encode(), digest_size=16)
    for document in documents:
        try:
            with document.path.open("rb") as file:
                content = file_digest(file, blake2b).digest()
        except OSError as error:
            raise InputError(f"{document.path}: {why_unreadable(error)}") from error
        whole.update(repr((document.name, content)).encode())
    return whole.hexdigest()
