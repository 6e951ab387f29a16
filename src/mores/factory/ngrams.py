"""Words and character n-grams of texts as sparse rows of integers, for scripts with spaces and without.

Everything is integer arithmetic, so that the rows are the same on every processor.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


def char_ngrams(texts: Sequence[str], lengths: Iterable[int], bits: int) -> Any:
    """Return the n-grams of each text, padded with spaces, as a matrix of ones with 2^bits columns."""
    padded = [f" {text} " for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    text_of = np.repeat(np.arange(len(texts), dtype=np.int64), [len(text) for text in padded])
    rows, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for length in lengths:
        last = max(0, len(points) - length + 1)
        total = np.full(last, length, np.uint64)
        for place in range(length):
            total = total * _BASE + points[place : place + last]
        inside = text_of[:last] == text_of[length - 1 : length - 1 + last]
        rows.append(text_of[:last][inside])
        hashes.append(total[inside])
    return presence(np.concatenate(rows), np.concatenate(hashes), len(texts), bits)


def count_tokens(texts: Iterable[Iterable[str]]) -> Any:
    """Return the count of each token, such as a word, in each text; columns are tokens in order of appearance."""
    from scipy.sparse import csr_matrix

    columns: dict[str, int] = {}
    cells, starts = array("q"), array("q", [0])
    for text in texts:
        cells.extend(columns.setdefault(token, len(columns)) for token in text)
        starts.append(len(cells))
    counts = csr_matrix((np.ones(len(cells), np.int64), cells, starts), shape=(len(starts) - 1, len(columns)))
    counts.sum_duplicates()
    return counts


def presence(rows: Integers, hashes: Hashes, count: int, bits: int) -> Any:
    """Return a matrix of `count` rows and 2^bits columns, with ones where a row has a hash."""
    from scipy.sparse import csr_matrix

    mixed = hashes * _MIX
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
    cells = np.sort(rows << bits | (mixed >> np.uint64(64 - bits)).astype(np.int64))
    cells = cells[np.diff(cells, prepend=-1) > 0]
    starts = np.searchsorted(cells, np.arange(count + 1, dtype=np.int64) << bits)
    return csr_matrix((np.ones(len(cells), np.int64), cells & ((1 << bits) - 1), starts), shape=(count, 1 << bits))
