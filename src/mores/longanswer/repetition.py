"""Whether an answer repeats itself (CaLMQA, Section 3.1): a window of 20 tokens that occurs 4 times or more.

Windows may overlap. The result is exact and takes time linear in the text: windows are hashed all at once, those whose
hash is too rare are dropped, and what is left is compared token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.longanswer.records import Repetition
from mores.longanswer.tokens import token_spans, tokenize, well_formed

WINDOW, TIMES = 20, 4
BATCH = 500
"""Texts that are looked at together: enough for NumPy to pay, few enough for memory."""
Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
_FACTOR = 0x9E3779B97F4A7C15
_MIX = (0x9E3779B1, 0x85EBCA77)
"""Odd numbers that tell tokens and texts apart."""


def find_repetitions(texts: Sequence[str], window: int = WINDOW, times: int = TIMES) -> list[Repetition | None]:
    """Return the most frequent window of each text (the first where several are), if it occurs so many times."""
    if window < 1 or times < 1:
        raise ValueError(f"window {window} and times {times} must be at least 1")
    rest = iter(texts)
    results: list[Repetition | None] = []
    while batch := list(islice(rest, BATCH)):
        encoded = [tokenize(text) for text in batch]
        rows = zip(batch, encoded, repeated_windows(encoded, window, times), strict=True)
        results += (_repetition(*row, window) for row in rows)
    return results


def repeated_windows(texts: Sequence[Sequence[int]], window: int = WINDOW, times: int = TIMES) -> list[Ints | None]:
    """Return where the most frequent window of each text begins, in tokens; None where none occurs so many times."""
    stream = _stream(texts)
    places: list[Ints | None] = [None] * len(texts)
    owner = stream.owner  # a window can begin where all its tokens are of one text
    starts = np.flatnonzero(owner[: max(0, owner.size - window + 1)] == owner[window - 1 :])
    if starts.size == 0:
        return places
    hashes = _hash(stream, window)
    starts = starts[_frequent(hashes[starts], times)]
    for text, group in _largest_groups(stream, starts, hashes, window, times).items():
        places[text] = group - stream.first[text]
    return places


class _Stream(NamedTuple):
    """The tokens of all texts, one after the other."""

    tokens: Ints
    owner: Ints
    """The text that each token belongs to."""
    first: Ints
    """Where each text begins."""


def _stream(texts: Sequence[Sequence[int]]) -> _Stream:
    lengths = np.array([len(tokens) for tokens in texts], dtype=np.int64)
    joined = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
    owner = np.repeat(np.arange(lengths.size), lengths)
    return _Stream(joined, owner, np.cumsum(lengths) - lengths)


def _hash(stream: _Stream, window: int) -> Hashes:
    """Return a hash of the window that begins at each token; those of equal windows of one text are equal."""
    hashes = (stream.tokens * _MIX[0] + stream.owner * _MIX[1]).astype(np.uint64)
    size, factor = 1, _FACTOR
    while size < window:  # a longer window is two shorter ones, which may overlap
        step = min(size, window - size)
        hashes = hashes[:-step] * np.uint64(factor) + hashes[step:]
        size, factor = size + step, factor * factor % 2**64
    hashes ^= hashes >> np.uint64(32)  # mixes every bit into the upper ones, which choose the bucket
    hashes *= np.uint64(_FACTOR)
    return hashes


def _frequent(hashes: Hashes, times: int) -> npt.NDArray[np.bool_]:
    """Return the windows whose hash falls where at least so many do: all that occur so many times, and few others."""
    bits = max(1, int(hashes.size).bit_length() + 1)
    buckets = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    kept: npt.NDArray[np.bool_] = np.bincount(buckets)[buckets] >= times
    return kept


def _largest_groups(stream: _Stream, starts: Ints, hashes: Hashes, window: int, times: int) -> dict[int, Ints]:
    """Return, by text, where its most frequent window stands.

    Equal windows have equal hashes, so a group of equal hashes is never too small: where the largest of a text is found
    to hold one window only, no other window is more frequent. Where it holds several, the tokens decide.
    """
    groups = _group(stream.owner, starts, [hashes[starts]], times)
    tokens = stream.tokens
    same = ((tokens[group + at] == tokens[group[0] + at]).all() for group in groups.values() for at in range(window))
    if all(same):
        return groups
    return _group(stream.owner, starts, [tokens[starts + at] for at in range(window)], times)


def _group(owner: Ints, starts: Ints, keys: Sequence[Ints | Hashes], times: int) -> dict[int, Ints]:
    """Return, by text, the largest group of starts with equal keys, the first in the text where several are."""
    owners = owner[starts]
    order = np.lexsort((*keys, owners))
    different = [np.diff(key[order], prepend=key[order[:1]]) != 0 for key in (owners, *keys)]
    first = np.flatnonzero(np.logical_or.reduce(different))
    edges = np.r_[0, first, order.size]
    sizes = np.diff(edges)
    best: dict[int, Ints] = {}
    for at in np.lexsort((starts[order[edges[:-1]]], -sizes)) if order.size else ():
        if sizes[at] < times:
            break
        group = starts[order[edges[at] : edges[at + 1]]]
        best.setdefault(int(owner[group[0]]), group)
    return best


def _repetition(text: str, tokens: Sequence[int], places: Ints | None, window: int) -> Repetition | None:
    if places is None:
        return None
    spans = token_spans(text, tokens, places, window)
    start, end = spans[0]
    return Repetition(times=len(spans), text=well_formed(text)[start:end], spans=tuple(spans))
