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
"""Share of the passages from which on a word has a row of its own."""
_MOST_ROWS = 128
"""Bounds the memory of the rows: each has a number for every passage."""
_BLOCKS = 16
_WORDS, _PASSAGES = "words.json", "passages.jsonl"

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Hit(NamedTuple):
    """A passage that was found."""

    passage: dict[str, Any]
    score: float


def build_index(folder: Path, passages: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], str]) -> int:
    """Write the index of passages into a folder; `read` says what of a passage is searched. Gives their number.

    Passages are read one at a time; in memory are about 30 bytes for each different word of each of them.
    """
    counted = _Counted()
    places = array("q", [0])
    with (folder / _PASSAGES).open("wb") as file:
        for passage in passages:
            file.write(orjson.dumps(passage) + b"\n")
            places.append(file.tell())
            counted.add(words(read(passage)))
    _save(folder, places=np.frombuffer(places, dtype=np.int64), **_weigh(counted))
    (folder / _WORDS).write_bytes(orjson.dumps(list(counted.numbers)))
    return len(counted.lengths)


class _Counted:
    """How often each word stands in each passage."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words, self.times = array("i"), array("i")
        self.lengths, self.different = array("i"), array("i")

    def add(self, found: list[str]) -> None:
        times = Counter(found)
        numbers = self.numbers
        self.words.extend([numbers.setdefault(word, len(numbers)) for word in times])
        self.times.extend(times.values())
        self.lengths.append(len(found))
        self.different.append(len(times))


def _weigh(counted: _Counted) -> dict[str, npt.NDArray[Any]]:
    """The lists: for each word its passages, in their order, with what it adds to their scores."""
    word, times, lengths, different = (
        np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, np.int32)
        for values in (counted.words, counted.times, counted.lengths, counted.different)
    )
    passage = np.repeat(np.arange(lengths.size, dtype=np.int32), different)
    weights = _weights(word, times, lengths, passage, len(counted.numbers))
    order = np.argsort(word, kind="stable")
    shares = np.bincount(word, minlength=len(counted.numbers))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(shares, dtype=np.int64)])
    return {"starts": starts, "passages": passage[order], "weights": weights[order]}


def _weights(word: Ints, times: Ints, lengths: Ints, passage: Ints, different: int) -> Floats:
    """Robertson's BM25 with the rarity of Lucene."""
    holding = np.bincount(word, minlength=different)
    rarity = np.log1p((lengths.size - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    mean = float(lengths.mean()) if lengths.any() else 1.0
    damping = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)
    weights: Floats = rarity[word] * times / (times + damping[passage])
    return weights.astype(np.float32)


def _save(folder: Path, **arrays: npt.NDArray[Any]) -> None:
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


class Index:
    """An index that is searched."""

    def __init__(self, folder: Path) -> None:
        self._starts: Longs = np.load(folder / "starts.npy")
        self._passages: Ints = _mapped(folder / "passages.npy")
        self._weights: Floats = _mapped(folder / "weights.npy")
        self._places: Longs = np.load(folder / "places.npy")
        with (folder / _PASSAGES).open("rb") as file:
            self._text = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._numbers = {word: n for n, word in enumerate(orjson.loads((folder / _WORDS).read_bytes()))}
        self._rows = dict(self._frequent())

    def __len__(self) -> int:
        return len(self._places) - 1

    def search(self, text: str, k: int, favoured: Sequence[str] = ()) -> list[Hit]:
        """The best k passages that share a word with a text, the best first; of equal ones the earlier first.

        Those that match the first of the `favoured` texts with any match count for more: the best match for twice as
        much. So they come first among passages alike, and no other text can drown the one that was asked.
        """
        scores = self._scores(self._known(text))
        match = next((match for name in favoured if (match := self._scores(self._known(name))).any()), None)
        if match is not None:
            scores *= 1 + match / match.max()
        return [Hit(self._passage(place), float(scores[place])) for place in _best(scores, k)]

    def _known(self, text: str) -> list[int]:
        return [self._numbers[word] for word in words(text) if word in self._numbers]

    def _scores(self, wanted: list[int]) -> Floats:
        rare = [slice(*self._starts[n : n + 2].tolist()) for n in wanted if n not in self._rows]
        scores: Floats = np.zeros(len(self), np.float32)
        if rare:
            passages = np.concatenate([self._passages[part] for part in rare])
            weights = np.concatenate([self._weights[part] for part in rare])
            scores = np.bincount(passages, weights, len(self)).astype(np.float32)
        for number in wanted:
            if number in self._rows:
                scores += self._rows[number]
        return scores

    def _frequent(self) -> Iterator[tuple[int, Floats]]:
        shares = np.diff(self._starts)
        often = np.flatnonzero(shares > max(1, _FREQUENT * len(self)))
        for number in often[np.argsort(-shares[often], kind="stable")][:_MOST_ROWS].tolist():
            part = slice(*self._starts[number : number + 2].tolist())
            row: Floats = np.zeros(len(self), np.float32)
            row[self._passages[part]] = self._weights[part]
            yield number, row

    def _passage(self, place: int) -> dict[str, Any]:
        start, end = self._places[place : place + 2].tolist()
        passage: dict[str, Any] = orjson.loads(self._text[start:end])
        return passage


def _best(scores: Floats, k: int) -> list[int]:
    """The places of the k highest scores above 0; at least k scores reach the k-th highest maximum of a block."""
    bound = np.float32(0)
    blocks = scores.size // _BLOCKS
    if blocks > k:
        highest = scores[: blocks * _BLOCKS].reshape(_BLOCKS, blocks).max(axis=0)
        bound = np.partition(highest, blocks - k)[blocks - k]
    found = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    best: list[int] = found[np.argsort(-scores[found], kind="stable")][:k].tolist()
    return best


def _mapped(path: Path) -> npt.NDArray[Any]:
    mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    return mapped.view(np.ndarray)  # the same memory; slices of a plain array are cheaper
