"""`corpus:PATH`: BM25 over the user's own documents, a table, a text file or a folder of texts and JSON Lines.

The index is built at the first use and kept in the user's cache, under the hash of the documents: a corpus that has
changed is another one. Nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from mores.cache import cache_folder
from mores.culture import country, region_name
from mores.errors import ConfigError, InputError, StoreError
from mores.io.private import make_folder
from mores.io.source import to_path, why_unreadable
from mores.search import index, passages, words
from mores.search.base import Evidence, Found, Query
from mores.search.clean import evidence
from mores.search.content import VERSION as CONTENT
from mores.search.content import is_content
from mores.search.passages import Document, Passage, find_documents, read_passages

VERSION = 3
SUFFIX = ".corpus"
"""Of a file with passages and their index, which `mores corpus` writes."""
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
        folder = folder or cache_folder() / "corpora"
        place = to_path(path)
        is_built = place.suffix.lower() == SUFFIX and place.is_file()
        self._documents = [] if is_built else find_documents(path)
        key = "" if is_built else _hash(self._documents)
        file = place if is_built else folder / key / f"index{SUFFIX}"
        if not file.exists():
            self._build(file)
        self._file = file
        try:
            self._index = index.Index(file)
        except (OSError, ValueError, struct.error) as error:
            raise self._damaged(error) from error
        if is_built:
            key = blake2b(repr((_SETTINGS, self._index.about["digest"])).encode(), digest_size=16).hexdigest()
        self.identity = f"{self.kind}:{key}" + (f".{CONTENT}" if self.by_words else "")
        self.folder = folder / key
        """Of what others keep about the same documents."""

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._index)

    def text(self, place: int) -> str:
        """Return what of a passage is searched."""
        return searched_text(self.passage(place))

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
        try:
            return self._index.passage(place)
        except (ValueError, IndexError) as error:
            raise self._damaged(error) from error

    def _find(self, queries: Sequence[Query], k: int) -> list[Found]:
        ranked = (self.best(scores, query, k) for query, scores in zip(queries, self.scores(queries), strict=True))
        return [Found(evidence=tuple(map(self._evidence, places))) for places in ranked]

    def _evidence(self, place: int) -> Evidence:
        passage = self.passage(place)
        about = passage["evidence"]
        if not about["source"] and "file" in passage:
            about = about | {"source": f"{self._documents[passage['file']].path}:{passage['line']}"}
        return Evidence(**about)

    def _damaged(self, error: Exception) -> StoreError:
        fix = "delete the file, it is built again" if self._documents else "make it again with mores corpus"
        return StoreError(f"{self._file}: a damaged index ({error}); {fix}")

    def _build(self, file: Path) -> None:
        """Write under another name and rename when complete; if another process was faster, its index is as good."""
        try:
            make_folder(file.parent)
            draft = file.with_name(f".{file.name}.{os.getpid()}.{get_ident()}")
            if not index.build_index(draft, self._passages(), searched_text):
                raise InputError(f"{self._path}: no text in it; nothing can be found there")
            draft.replace(file)
        except OSError as error:
            problem = f"{file}: cannot be written ({error}); free some space or set MORES_CACHE to another folder"
            raise StoreError(problem) from error
        finally:
            with suppress(OSError, UnboundLocalError):
                draft.unlink(missing_ok=True)
                file.parent.rmdir()  # where it is empty

    def _passages(self) -> Iterator[dict[str, Any]]:
        """Clean passages once, here, and not at every query; the path may change, so it is added at the query."""
        for number, document in enumerate(self._documents):
            for row in read_passages(document):
                if passage := as_passage(row):
                    yield passage | {"file": number, "line": row.line}


def names(region: str | None) -> tuple[str, ...]:
    """Return the name of a region, then that of its country, for a corpus that does not name the region."""
    return () if region is None else tuple(region_name(code) for code in dict.fromkeys((region, country(region))))


def as_passage(row: Passage) -> dict[str, Any] | None:
    """Return a passage as an index has it; None when there is nothing to read in it."""
    piece = evidence(row.text, row.title, row.source, row.date, row.licence)
    about = {"language": row.language, "region": row.region}
    return {"evidence": piece.model_dump()} | {name: value for name, value in about.items() if value} if piece else None


def searched_text(passage: dict[str, Any]) -> str:
    """Return what of a passage is searched."""
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
