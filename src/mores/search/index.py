"""BM25 over passages: exact, in arrays on disk that are mapped into memory, equal scores in the order of the passages.

Every weight that a word can add to a passage is worked out when the index is built, so that a query only adds them
up. Words that stand in a large share of the passages are kept as whole rows, which add much faster than lists.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from mores.search.words import words

VERSION = 2
K1, B = 1.5, 0.75
"""The usual settings; the rarity of a word is that of Lucene, which is never negative."""
_FREQUENT = 1 / 8
"""A word in at least this share of the passages has a separate row."""
_MOST_ROWS = 128
"""Bounds the memory of the rows: each has a number for every passage."""
_BLOCKS = 16
_WORDS, _PASSAGES, _ARRAYS = "words.json", "passages.jsonl", ("starts", "passages", "weights")

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Postings(NamedTuple):
    """For each word its passages, in their order, with what it adds to their scores."""

    words: list[str]
    size: int
    """How many passages there are."""
    starts: Longs
    passages: Ints
    weights: Floats


def weigh(passages: Iterable[Sequence[str]]) -> Postings:
    """Return Robertson's BM25 with the rarity of Lucene, for passages that are given as their words.

    They are read one at a time; in memory are about 30 bytes for each different word of each of them.
    """
    numbers: dict[str, int] = {}
    counted, frequencies, totals, different = array("i"), array("i"), array("i"), array("i")
    for words_of_passage in passages:
        times = Counter(words_of_passage)
        counted.extend([numbers.setdefault(word, len(numbers)) for word in times])
        frequencies.extend(times.values())
        totals.append(len(words_of_passage))
        different.append(len(times))
    word, frequency, lengths, each = (
        np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, np.int32)
        for values in (counted, frequencies, totals, different)
    )
    passage = np.repeat(np.arange(lengths.size, dtype=np.int32), each)
    holding = np.bincount(word, minlength=len(numbers))
    rarity = _rarity(lengths.size, holding).astype(np.float32)
    mean = float(lengths.mean()) if lengths.any() else 1.0
    damping = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)
    weights = (rarity[word] * frequency / (frequency + damping[passage])).astype(np.float32)
    order = np.argsort(word, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(holding, dtype=np.int64)])
    return Postings(list(numbers), lengths.size, starts, passage[order], weights[order])


def _rarity(passages: int, holding: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return what words are worth that so many of the passages hold, after Lucene."""
    return np.log1p((passages - holding + 0.5) / (holding + 0.5))


class PassageScorer:
    """Adds up the scores of a query's words for each passage."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._numbers = {word: n for n, word in enumerate(postings.words)}
        self._rows = dict(self._frequent())

    def scores(self, query: Iterable[str]) -> Floats:
        """Return the score of each passage for the words of a text."""
        wanted = [self._numbers[word] for word in query if word in self._numbers]
        parts = [self._part(number) for number in wanted if number not in self._rows]
        scores: Floats = np.zeros(self._postings.size, np.float32)
        if parts:
            passages = np.concatenate([self._postings.passages[part] for part in parts])
            weights = np.concatenate([self._postings.weights[part] for part in parts])
            scores = np.bincount(passages, weights, self._postings.size).astype(np.float32)
        for number in wanted:
            if number in self._rows:
                scores += self._rows[number]
        return scores

    def ceiling(self, query: Iterable[str]) -> float:
        """Return what no passage can exceed, however often it holds every word of a query, unknown ones too."""
        parts = (self._part(self._numbers[word]) if word in self._numbers else slice(0, 0) for word in query)
        holding = np.array([part.stop - part.start for part in parts], dtype=np.int64)
        return float(_rarity(self._postings.size, holding).sum())

    def _part(self, number: int) -> slice:
        return slice(*self._postings.starts[number : number + 2].tolist())

    def _frequent(self) -> Iterator[tuple[int, Floats]]:
        shares = np.diff(self._postings.starts)
        often = np.flatnonzero(shares > max(1, _FREQUENT * self._postings.size))
        for number in often[np.argsort(-shares[often], kind="stable")][:_MOST_ROWS].tolist():
            part = self._part(number)
            row: Floats = np.zeros(self._postings.size, np.float32)
            row[self._postings.passages[part]] = self._postings.weights[part]
            yield number, row


def build_index(folder: Path, passages: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], str]) -> int:
    """Write the index of passages into a folder and return their number; `read` gives the text that is searched."""
    places = array("q", [0])
    with (folder / _PASSAGES).open("wb") as file:

        def write(passage: dict[str, Any]) -> list[str]:
            file.write(orjson.dumps(passage) + b"\n")
            places.append(file.tell())
            return words(read(passage))

        postings = weigh(map(write, passages))
    np.save(folder / "places.npy", np.frombuffer(places, dtype=np.int64))
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(postings, name))
    (folder / _WORDS).write_bytes(orjson.dumps(postings.words))
    return postings.size


class Index:
    """An index that is searched."""

    def __init__(self, folder: Path) -> None:
        self._places: Longs = np.load(folder / "places.npy")
        with (folder / _PASSAGES).open("rb") as file:
            self._text = mmap(file.fileno(), 0, access=ACCESS_READ)
        known = orjson.loads((folder / _WORDS).read_bytes())
        arrays = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS)
        # The view is the same memory; slices of a plain array are cheaper.
        self._scorer = PassageScorer(Postings(known, len(self), *(array.view(np.ndarray) for array in arrays)))

    def __len__(self) -> int:
        return len(self._places) - 1

    def scores(self, text: str) -> Floats:
        """Return how well each passage matches the words of a text."""
        return self._scorer.scores(words(text))

    def ceiling(self, text: str) -> float:
        """Return the score that no passage can exceed."""
        return self._scorer.ceiling(words(text))

    def favour(self, scores: Floats, texts: Sequence[str], most: float = 1.0) -> Floats:
        """Return the scores, raised for matches of the first text with any match: the best by the share `most`.

        So they come first among passages alike, and no favoured text can drown the one that was asked.
        """
        matches = (self.scores(text) for text in texts)
        match = next((match for match in matches if match.any()), None)
        return scores if match is None else scores * (1 + most * (match / match.max()))

    def passage(self, place: int) -> dict[str, Any]:
        start, end = self._places[place : place + 2].tolist()
        passage: dict[str, Any] = orjson.loads(self._text[start:end])
        return passage


def best(scores: Floats, k: int) -> list[int]:
    """Return the places of the k highest scores above 0; at least k reach the k-th highest maximum of a block."""
    bound = np.float32(0)
    blocks = scores.size // _BLOCKS
    if blocks > k:
        highest = scores[: blocks * _BLOCKS].reshape(_BLOCKS, blocks).max(axis=0)
        bound = np.partition(highest, blocks - k)[blocks - k]
    places = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    ranked: list[int] = places[np.argsort(-scores[places], kind="stable")][:k].tolist()
    return ranked
