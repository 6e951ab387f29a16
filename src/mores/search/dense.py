"""`dense:PATH` and `fused:PATH`: the user's documents by meaning, also in another language than the query's.

`dense` ranks the passages of a corpus by the cosine of their vectors with the query's. `fused` adds BM25, as a share of
what a passage could score at most: where query and passage have words in common, words decide, and elsewhere meaning
does. Both numbers are comparable between queries, which ranks are not: reciprocal rank fusion gives passages with a
common word by chance as much weight as good ones, and `benchmarks/crosslingual.py` measures what that costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from mores.engine.progress import SILENT, Progress
from mores.errors import ModelError
from mores.search import index
from mores.search.base import Found, Query
from mores.search.corpus import Corpus, names
from mores.search.encoders import Encoder, open_encoder, unit_vectors
from mores.search.vectors import open_vectors
from mores.types import Failure, FailureKind

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
        self._encoder = encoder or open_encoder("use")  # before the work of an index
        self.kind = "fused" if fused else "dense"
        super().__init__(path, folder)
        self.identity += f".{VERSION}.{self._encoder.identity}"
        self._fused, self._lock = fused, Lock()
        file = self.folder / f"vectors.{self._encoder.identity}"
        self._vectors = open_vectors(file, self._encoder, len(self), self.text, progress)

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
            scores = self._scores(queries)
        except ModelError as error:
            if len(queries) > 1:
                return [result for query in queries for result in self._find_some([query], k)]
            return [Found(failure=Failure(kind=FailureKind.MODEL, reason=str(error)))]
        return [Found(evidence=self._best(of_query, k)) for of_query in scores]

    def _scores(self, queries: Sequence[Query]) -> list[index.Floats]:
        with self._lock:  # the products use every core, and encoders need not be safe for threads
            vectors = unit_vectors(self._encoder, [query.text[:LONGEST] for query in queries])
            cosines = np.maximum(self._vectors.cosines(vectors), 0)
        return list(self._ranked(queries, cosines))

    def _ranked(self, queries: Sequence[Query], cosines: index.Floats) -> Iterator[index.Floats]:
        for query, of_query in zip(queries, cosines, strict=True):
            region = names(query.region)
            meaning = self._index.favour(of_query, region, REGION)
            ceiling = self._index.ceiling(query.text) if self._fused else 0.0
            if ceiling:
                meaning += self._index.favour(self._index.scores(query.text), region) * np.float32(WORDS / ceiling)
            yield meaning
