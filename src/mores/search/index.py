"""BM25 over passages: exact, in one file that is mapped into memory, equal scores in the order of the passages.

Every weight that a word can add to a passage is worked out when the index is built, so that a query only adds them
up. Words that stand in a large share of the passages become whole rows when they are first asked for, which add much
faster than lists.

The file is a ZIP without compression: `about.json`, the passages as JSON Lines, and plain arrays of numbers, each at a
multiple of 64 bytes. Opening it reads next to nothing, however large it is. It is built from blocks of passages, so
that memory is bounded by a block and the number of different words.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from mmap import ACCESS_READ, mmap
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt
import orjson

from mores.io.private import make_part
from mores.search.words import words

VERSION = 2
K1, B = 1.5, 0.75
"""The usual settings; the rarity of a word is that of Lucene, which is never negative."""
_FREQUENT = 1 / 8
"""A word in at least this share of the passages has a separate row."""
_MOST_ROWS = 128
"""Bounds the memory of the rows: each has a number for every passage."""
_REMEMBERED = 1 << 14
"""Words whose places are remembered."""
_BLOCKS = 16
FORMAT = 1
"""Of the file; goes up when an older version of Mores could not read it."""
_BLOCK = 20_000
"""Passages whose words are in memory together when an index is built."""
_ABOUT, _PASSAGES = "about.json", "passages.jsonl"
_ARRAYS = {"places": "<i8", "words": "<u8", "starts": "<i8", "passages": "<i4", "weights": "<f4"}
_ALIGNED = 64
_LOCAL, _ZIP64 = 30, 20
"""Bytes of a member's header before its name, and of the field with sizes above 4 GB."""

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
    weights = (rarity[word] * frequency / (frequency + _damping(lengths)[passage])).astype(np.float32)
    order = np.argsort(word, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(holding, dtype=np.int64)])
    return Postings(list(numbers), lengths.size, starts, passage[order], weights[order])


def _damping(lengths: Ints) -> Floats:
    """Return how much the length of each passage reduces what a word adds."""
    mean = float(lengths.mean()) if lengths.any() else 1.0
    damping: Floats = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)
    return damping


def _rarity(passages: int, holding: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return what words are worth that so many of the passages hold, after Lucene."""
    return np.log1p((passages - holding + 0.5) / (holding + 0.5))


class PassageScorer:
    """Adds up the scores of a query's words for each passage."""

    def __init__(self, postings: Postings, number_of: Callable[[str], int | None] | None = None) -> None:
        self._postings = postings
        self._number_of = number_of or {word: n for n, word in enumerate(postings.words)}.get
        shares = np.diff(postings.starts)
        often = np.flatnonzero(shares > max(1, _FREQUENT * postings.size))
        self._often = frozenset(often[np.argsort(-shares[often], kind="stable")][:_MOST_ROWS].tolist())
        self._rows: dict[int, Floats] = {}

    def scores(self, query: Iterable[str]) -> Floats:
        """Return the score of each passage for the words of a text."""
        wanted = [number for number in map(self._number_of, query) if number is not None]
        parts = [self._part(number) for number in wanted if number not in self._often]
        scores: Floats = np.zeros(self._postings.size, np.float32)
        if parts:
            passages = np.concatenate([self._postings.passages[part] for part in parts])
            weights = np.concatenate([self._postings.weights[part] for part in parts])
            scores = np.bincount(passages, weights, self._postings.size).astype(np.float32)
        for number in wanted:
            if number in self._often:
                scores += self._row(number)
        return scores

    def ceiling(self, query: Iterable[str]) -> float:
        """Return what no passage can exceed, however often it holds every word of a query, unknown ones too."""
        numbers = map(self._number_of, query)
        parts = (slice(0, 0) if number is None else self._part(number) for number in numbers)
        holding = np.array([part.stop - part.start for part in parts], dtype=np.int64)
        return float(_rarity(self._postings.size, holding).sum())

    def _part(self, number: int) -> slice:
        return slice(*self._postings.starts[number : number + 2].tolist())

    def _row(self, number: int) -> Floats:
        """Return what a frequent word adds to each passage."""
        if number not in self._rows:
            part = self._part(number)
            row: Floats = np.zeros(self._postings.size, np.float32)
            row[self._postings.passages[part]] = self._postings.weights[part]
            self._rows[number] = row
        return self._rows[number]


class IndexWriter:
    """Builds an index, passage by passage; `finish` writes the file."""

    def __init__(self, folder: Path, searched: Callable[[dict[str, Any]], str]) -> None:
        self._folder, self._searched = folder, searched
        self._file = (folder / _PASSAGES).open("wb")
        self._digest = blake2b(digest_size=16)
        self._places, self._lengths = array("q", [0]), array("i")
        self._numbers: dict[str, int] = {}
        self._words, self._times, self._different = array("i"), array("i"), array("i")
        self._blocks: list[Path] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, passage: dict[str, Any]) -> None:
        """Take one more passage."""
        line = orjson.dumps(passage) + b"\n"
        self._file.write(line)
        self._digest.update(line)
        self._places.append(self._places[-1] + len(line))
        in_order = words(self._searched(passage))
        times = Counter(in_order)
        self._words.extend([self._numbers.setdefault(word, len(self._numbers)) for word in times])
        self._times.extend(times.values())
        self._lengths.append(len(in_order))
        self._different.append(len(times))
        if len(self._different) == _BLOCK:
            self._end_block()

    def finish(self, path: Path, about: dict[str, Any]) -> None:
        """Write the file; `about` gets the digest of the passages."""
        self._end_block()
        self._file.close()
        folder = self._folder
        np.frombuffer(self._places, np.int64).tofile(folder / "places")
        self._merge()
        about = {"format": FORMAT, "passages": len(self), "digest": self._digest.hexdigest()} | about
        with ZipFile(make_part(path), "w", ZIP_STORED) as archive:
            add_member(archive, _ABOUT, orjson.dumps(about, option=orjson.OPT_INDENT_2))
            for name in (_PASSAGES, *_ARRAYS):
                add_member(archive, name, folder / name)

    def _end_block(self) -> None:
        """Write the words of a block, as hashes in order, with the passages that have them and how often."""
        if not self._different:
            return
        known = np.array([_hash(word) for word in self._numbers], np.uint64)
        first = len(self) - len(self._different)
        order_of_words = np.argsort(known)
        rank = np.empty(len(known), np.int32)
        rank[order_of_words] = np.arange(len(known), dtype=np.int32)
        word = rank[np.frombuffer(self._words, np.int32)] if self._words else np.zeros(0, np.int32)
        passage = np.repeat(np.arange(first, len(self), dtype=np.int32), np.frombuffer(self._different, np.int32))
        order = np.argsort(word, kind="stable")
        block = self._folder / f"block{len(self._blocks)}.npz"
        times = np.frombuffer(self._times, np.int32) if self._times else np.zeros(0, np.int32)
        holding = np.bincount(word, minlength=len(known))
        np.savez(block, words=known[order_of_words], holding=holding, passages=passage[order], times=times[order])
        self._blocks.append(block)
        self._numbers = {}
        self._words, self._times, self._different = array("i"), array("i"), array("i")

    def _merge(self) -> None:
        """Write the postings of all blocks: for each word its passages, in their order, with its weight in each."""
        known, total = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        for block in map(np.load, self._blocks):
            both, places = np.unique(np.concatenate([known, block["words"]]), return_inverse=True)
            sums = np.zeros(len(both), np.int64)
            sums[places[: len(known)]] = total
            sums[places[len(known) :]] += block["holding"]
            known, total = both, sums
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(total)])
        lengths = np.frombuffer(self._lengths, np.int32) if self._lengths else np.zeros(0, np.int32)
        rarity, damping = _rarity(lengths.size, total).astype(np.float32), _damping(lengths)
        known.tofile(self._folder / "words")
        starts.tofile(self._folder / "starts")
        size = max(1, int(starts[-1]))  # an empty file cannot be mapped
        passages = np.memmap(self._folder / "passages", np.int32, "w+", shape=(size,))
        weights = np.memmap(self._folder / "weights", np.float32, "w+", shape=(size,))
        next_place = starts[:-1].copy()
        for block in map(np.load, self._blocks):
            of_word, holding = np.searchsorted(known, block["words"]), block["holding"]
            word = np.repeat(of_word, holding)
            within = np.arange(word.size) - np.repeat(np.cumsum(holding) - holding, holding)
            places = next_place[word] + within
            passages[places] = passage = block["passages"]
            weights[places] = rarity[word] * block["times"] / (block["times"] + damping[passage])
            next_place[of_word] += holding
        passages.flush()
        weights.flush()


def _hash(word: str) -> int:
    """Return 64 bits of a word: among ten million, two have the same in one of 400,000 cases."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def add_member(archive: ZipFile, name: str, content: bytes | Path) -> None:
    """Add a member whose content begins at a multiple of 64 bytes."""
    info = ZipInfo(name)
    assert archive.fp is not None
    before = archive.fp.tell() + _LOCAL + len(name) + _ZIP64 + 4
    info.extra = struct.pack("<HH", 0xD935, -before % _ALIGNED) + bytes(-before % _ALIGNED)
    with archive.open(info, "w", force_zip64=True) as member:
        if isinstance(content, bytes):
            member.write(content)
        else:
            with content.open("rb") as file:
                copyfileobj(file, member, 1 << 20)


def build_index(path: Path, passages: Iterable[dict[str, Any]], searched: Callable[[dict[str, Any]], str]) -> int:
    """Write an index into a file and return the number of passages; `searched` gives the text of one."""
    with TemporaryDirectory(prefix=".index-", dir=path.parent) as folder, IndexWriter(Path(folder), searched) as writer:
        for passage in passages:
            writer.add(passage)
        if len(writer):
            writer.finish(path, {})
        return len(writer)


class Index:
    """An index that is searched. A file that is damaged raises ValueError or OSError."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._bytes = mmap(file.fileno(), 0, access=ACCESS_READ)
            try:
                with ZipFile(file) as archive:
                    self._members = {info.filename: (info.header_offset, info.file_size) for info in archive.infolist()}
            except (BadZipFile, NotImplementedError) as error:
                raise ValueError(str(error)) from error
        if missing := {_ABOUT, _PASSAGES, *_ARRAYS} - self._members.keys():
            raise ValueError(f"no {min(missing)} in it")
        self.about: dict[str, Any] = orjson.loads(self._bytes[slice(*self._place(_ABOUT))])
        if self.about.get("format") != FORMAT:
            raise ValueError(f"written by another version of Mores, in format {self.about.get('format')}")
        self._places, self._words, starts, postings, weights = (
            self.array(name, kind) for name, kind in _ARRAYS.items()
        )
        self._text = self._place(_PASSAGES)[0]
        number_of = lru_cache(_REMEMBERED)(self._number_of)  # the same few words are in most queries
        self._scorer = PassageScorer(Postings([], len(self), starts, postings, weights), number_of)

    def __len__(self) -> int:
        return len(self._places) - 1

    def array(self, name: str, kind: str) -> npt.NDArray[Any]:
        """Return a member as an array of numbers, which is read when it is used."""
        start, end = self._place(name)
        size = np.dtype(kind).itemsize
        if (end - start) % size or end > len(self._bytes):
            raise ValueError(f"{name} has {end - start:,} bytes")
        return np.frombuffer(self._bytes, kind, (end - start) // size, start)

    def has(self, name: str) -> bool:
        """Return whether there is a member of this name."""
        return name in self._members

    def _place(self, name: str) -> tuple[int, int]:
        """Return where a member begins and ends."""
        header, size = self._members[name]
        named, extra = struct.unpack("<HH", self._bytes[header + _LOCAL - 4 : header + _LOCAL])
        start = header + _LOCAL + named + extra
        return start, start + size

    def _number_of(self, word: str) -> int | None:
        wanted = _hash(word)
        place = int(np.searchsorted(self._words, np.uint64(wanted)))
        return place if place < len(self._words) and int(self._words[place]) == wanted else None

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
        """Return a passage as it was given."""
        start, end = self._places[place : place + 2].tolist()
        passage: dict[str, Any] = orjson.loads(self._bytes[self._text + start : self._text + end])
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
