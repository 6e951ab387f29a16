"""The shortcut audit: how well the label can be guessed from the output text alone.

A metric trained on data with shortcuts may learn which answers tend to be wrong instead of what is wrong with them. The
guesser never sees the instruction. It is a logistic regression on words, on runs of one to four characters, for scripts
without spaces, and on the shape of a text, cross-validated over the folds of items that make up the splits.

All of it is integer arithmetic, from the sparse rows of words and character n-grams on: the guesser decides which
answers a dataset has, and sums of floating-point numbers differ between processors.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count as numbers_from
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.factory.scratch import NumberFile, open_for
from mores.types import Record

Integers = npt.NDArray[np.int64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


def char_ngrams(texts: Sequence[str], lengths: Iterable[int], bits: int) -> Any:
    """Return the n-grams of each text, padded with spaces, as a matrix of ones with 2^bits columns."""
    from scipy.sparse import csr_matrix

    lengths, found, counts = tuple(lengths), [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for block in blocks_of(texts):
        columns, at = ngrams(block, lengths, bits)
        found.append(columns.astype(np.int32))
        counts.append(np.diff(at))
    cells, starts = np.concatenate(found), np.cumsum(np.concatenate(counts))
    return csr_matrix((np.ones(len(cells), np.int64), cells, starts), shape=(len(texts), 1 << bits))


def ngrams(texts: Sequence[str], lengths: Iterable[int], bits: int) -> tuple[Integers, Integers]:
    """Return the numbers of the n-grams of each text, one text after the other, and where each begins."""
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
    mixed = np.concatenate(hashes) * _MIX
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
    cells = np.sort(np.concatenate(rows) << bits | (mixed >> np.uint64(64 - bits)).astype(np.int64))
    cells = cells[np.diff(cells, prepend=-1) > 0]
    starts = np.searchsorted(cells, np.arange(len(texts) + 1, dtype=np.int64) << bits)
    return cells & ((1 << bits) - 1), starts


def count_tokens(texts: Iterable[Iterable[str]]) -> Any:
    """Return the count of each token, such as a word, in each text; columns are tokens in order of appearance."""
    from scipy.sparse import csr_matrix

    columns: defaultdict[str, int] = defaultdict(numbers_from().__next__)
    cells, starts = array("q"), array("q", [0])
    for text in texts:
        cells.extend(map(columns.__getitem__, text))
        starts.append(len(cells))
    counts = csr_matrix((np.ones(len(cells), np.int64), cells, starts), shape=(len(starts) - 1, len(columns)))
    counts.sum_duplicates()
    return counts


Labels = npt.NDArray[np.bool_]
Classify = Callable[[Any, Labels, Any], Integers]
"""Learns from rows and their labels, and returns the log-odds that other rows are correct, in any unit."""

ONE = 1 << 12
"""The number 1 in fixed point, of odds and probabilities."""
ROUNDS = 12
"""Steps of a fit: too few to converge, which prevents overfitting."""
FEWEST = 3
"""Minimum texts that have a column for it to be used; a rarer one says nothing about another fold."""
_UNIT = 1 << 8
"""The length of a row, whatever its number of columns, and the precision of weights."""
_BITS = 18
"""Of the numbers of runs of characters."""
_BLOCK = 1 << 17
"""Characters that are looked at together."""
_CELLS = 1 << 21
"""Cells that are multiplied together."""
_WORDS = re.compile(r"\w+")
_PROBABILITY = np.array([round(ONE / (1 + math.exp(-step / 64))) for step in range(-1024, 1025)], np.int64)


class Shortcut(Record):
    """Scaled accuracy of a guesser: 0 is chance, 1 is always correct."""

    value: float
    error: float
    """Standard error."""
    n: int


_Block = tuple[Integers, npt.NDArray[np.int32]]
"""The number of columns of each of some texts, and these columns."""


class MarkedColumns:
    """The columns of each text: a sparse matrix whose rows have equal lengths, so that a long text weighs no more.

    The columns of many texts are in a file; products are of integers and made in parts, so that they need little room.
    """

    def __init__(self, blocks: Iterable[_Block], width: int) -> None:
        self.width = width
        self._file = open_for(self)
        counts = [np.zeros(0, np.int64)]
        for of_text, columns in blocks:
            counts.append(of_text)
            self._file.write(columns.tobytes())
        self._counts = np.concatenate(counts)
        self._starts = np.concatenate([[0], np.cumsum(self._counts)])
        lengths, places = np.unique(self._counts, return_inverse=True)
        self._units = np.array([_UNIT // max(1, math.isqrt(count)) for count in lengths.tolist()], np.int64)[places]
        self._ones = np.ones(0, np.int64)
        self._only: list[tuple[slice, Any]] = []
        """The matrix, if there is one part only."""

    def __len__(self) -> int:
        return len(self._counts)

    def __getitem__(self, at: Integers | Labels) -> MarkedColumns:
        """Return some of the rows, in their order."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[at] = True

        def blocks() -> Iterator[_Block]:
            for rows, columns in self._blocks():
                counts = self._counts[rows]
                yield counts[chosen[rows]], columns[np.repeat(chosen[rows], counts)]

        return MarkedColumns(blocks(), self.width)

    def __matmul__(self, weights: Integers) -> Integers:
        """Return the product with one or several columns of weights."""
        product = np.empty((len(self), *weights.shape[1:]), np.int64)
        most = int(self._counts.max(initial=0))
        for rows, part in self._matrices():
            product[rows] = multiply(part, weights, most)
        return product * self._units.reshape(-1, *[1] * (weights.ndim - 1))

    def sums(self, values: Integers) -> Integers:
        """Return the product of the transposed matrix with one or several values of each text."""
        total = np.zeros((self.width, *values.shape[1:]), np.int64)
        units = self._units.reshape(-1, *[1] * (values.ndim - 1))
        for rows, part in self._matrices():
            total += multiply(part.T, values[rows] * units[rows], rows.stop - rows.start)
        return total

    def sums_of(self, make: Callable[[slice, Integers], Integers], weights: Integers) -> Integers:
        """Return `sums` of what is made of the product with columns of weights, some rows at a time."""
        total, most = np.zeros(weights.shape, np.int64), int(self._counts.max(initial=0))
        for rows, part in self._matrices():
            units = self._units[rows, None]
            made = make(rows, multiply(part, weights, most) * units)
            total += multiply(part.T, made * units, rows.stop - rows.start)
        return total

    def sum(self, axis: int) -> Integers:
        """Return the sums of the columns (0) or of the rows (1)."""
        return self._units * self._counts if axis else self.sums(np.ones(len(self), np.int64))

    def _blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
        """Yield some rows at a time, and their columns."""
        first = 0
        self._file.seek(0)
        while first < len(self):
            limit = self._starts[first] + _CELLS
            last = max(first + 1, int(np.searchsorted(self._starts, limit, "right")) - 1)
            size = int(self._starts[last] - self._starts[first])
            yield slice(first, last), np.frombuffer(self._file.read(4 * size), np.int32)
            first = last

    def _matrices(self) -> Iterator[tuple[slice, Any]]:
        """Yield some rows at a time as a matrix of ones."""
        from scipy.sparse import csr_matrix

        yield from self._only
        for rows, columns in () if self._only else self._blocks():
            starts = (self._starts[rows.start : rows.stop + 1] - self._starts[rows.start]).astype(np.int32)
            shape = (rows.stop - rows.start, self.width)
            if len(self._ones) < len(columns):  # all parts share them
                self._ones = np.ones(len(columns), np.int64)
            part = rows, csr_matrix((self._ones[: len(columns)], columns, starts), shape=shape)
            if shape[0] == len(self):
                self._only.append(part)
            yield part


def multiply(ones: Any, values: Integers, most: int) -> Integers:
    """Return the product of a matrix of ones, at most so many in a row, with one or several columns of values.

    Two columns whose sums fit into 32 bits are halves of the same numbers: that takes half the time.
    """
    if values.ndim == 1:
        product: Integers = ones @ values
        return product
    product, left = np.empty((ones.shape[0], values.shape[1]), np.int64), list(range(values.shape[1]))
    small = np.abs(values).max(axis=0, initial=0) < (1 << 31) // max(1, most)
    while left:
        first = left.pop()
        other = left.pop() if left and small[[first, left[-1]]].all() else None
        total = ones @ (values[:, first] if other is None else values[:, first] + (values[:, other] << 32))
        product[:, first] = total if other is None else total.astype(np.int32)
        if other is not None:
            product[:, other] = (total - product[:, first]) >> 32
    return product


class _Marking:
    """MarkedColumns that are collected text by text; columns that few texts have are left out at the end."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._tokens: defaultdict[str, int] = defaultdict(numbers_from().__next__)
        self._columns, self._counts = NumberFile(), list[Integers]()

    def add(self, tokens: Iterable[Iterable[str]], others: tuple[Integers, Integers] | None = None) -> None:
        """Add some texts with the tokens of each, none twice, and other columns, which are before those of tokens."""
        known, cells, starts = self._tokens, array("i"), array("q", [0])
        for text in tokens:
            cells.extend(map(known.__getitem__, text))
            starts.append(len(cells))
        at = np.array(starts, np.int64)
        found, before = others or (np.zeros(0, np.int64), np.zeros(len(at), np.int64))
        columns = np.empty(len(cells) + len(found), np.int32)
        columns[np.arange(len(cells)) + np.repeat(before[:-1], np.diff(at))] = np.array(cells, np.int32) + self._first
        columns[np.arange(len(found)) + np.repeat(at[1:], np.diff(before))] = found
        self._columns.add(columns)
        self._counts.append(np.diff(at) + np.diff(before))

    def marks(self, everywhere: bool) -> MarkedColumns:
        """Return what was collected, with one more column that every text has if that is wanted."""
        width = self._first + len(self._tokens)
        totals = np.zeros(width, np.int64)
        for columns in self._columns:
            totals += np.bincount(columns, minlength=width)
        kept = totals >= FEWEST
        number, width = (np.cumsum(kept) - 1).astype(np.int32), int(kept.sum())

        def blocks() -> Iterator[_Block]:
            for of_text, columns in zip(self._counts, self._columns, strict=True):
                used = kept[columns]
                left = np.bincount(np.repeat(np.arange(len(of_text)), of_text)[used], minlength=len(of_text))
                block = number[columns[used]]
                yield left + everywhere, np.insert(block, np.cumsum(left), width) if everywhere else block

        return MarkedColumns(blocks(), width + everywhere)


class SeenTexts(NamedTuple):
    """The features of some texts, and the labels to guess."""

    rows: Any
    correct: Labels
    folds: Integers

    def take(self, at: Integers) -> SeenTexts:
        """Return some of the texts."""
        return SeenTexts(self.rows[at], self.correct[at], self.folds[at])


def see(texts: Iterable[str], correct: Sequence[bool] | Labels, folds: Sequence[int] | Integers) -> SeenTexts:
    """Return texts as the guesser sees them."""
    return SeenTexts(looks(texts), np.asarray(correct, dtype=bool), np.asarray(folds, dtype=np.int64))


def looks(texts: Iterable[str]) -> MarkedColumns:
    """Return words, characters and shape of each text, without columns that few texts have."""
    marking = _Marking(1 << _BITS)
    for block in blocks_of(texts):
        words = (dict.fromkeys([*_WORDS.findall(text.casefold()), *shape(text)]) for text in block)
        marking.add(words, ngrams(list(map(plain, block)), range(1, 5), _BITS))
    return marking.marks(everywhere=True)


def blocks_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts that are looked at together: their runs of characters need a hundred times their room."""
    block, size = list[str](), 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def mark(texts: Iterable[Iterable[str]]) -> MarkedColumns:
    """Return the tokens of each text, none of which may be there twice, without those that few texts have."""
    marking = _Marking()
    marking.add(texts)
    return marking.marks(everywhere=False)


def plain(text: str) -> str:
    """Return the text without case and forms of the same letters."""
    return unicodedata.normalize("NFKC", text).casefold()


_SIGNS = {
    "digits": re.compile(r"\d"),
    "signs": re.compile(r"[\W_]"),
    "sentences": re.compile(r"[.!?。！？।؟]+"),
    "commas": re.compile(r"[,،、，;；]"),
}
_NO_DIGITS, _NO_SIGNS, _NO_COMMAS = (
    bytes(sign for sign in range(128) if not pattern.match(chr(sign)))
    for name, pattern in _SIGNS.items()
    if name != "sentences"
)
"""The signs of ASCII that do not count: counting without an expression takes a tenth of the time."""
_ONLY_ENDS = bytes(sign if sign in b".!?" else ord(" ") for sign in range(256))


@lru_cache(maxsize=20_000)
def _class(name: str, count: int) -> str:
    # Classes of numbers: 0 to 7 are one each, then there are four for each doubling.
    extra = max(0, count.bit_length() - 3)
    return f"\0{name} {(extra << 3) + (count >> extra)}"


def shape(text: str) -> Iterator[str]:
    """Yield the shape of a text: its length, digits, capitals, signs and sentences, each as a class."""
    words = text.split()
    spaces = len(text) - sum(map(len, words))
    yield _class("characters", len(text))
    yield _class("words", len(words))
    yield _class("capitals", sum([word[0].isupper() for word in words]))
    if text.isascii():
        letters = text.encode()
        digits, signs, commas = [len(letters.translate(None, others)) for others in (_NO_DIGITS, _NO_SIGNS, _NO_COMMAS)]
        sentences = len(letters.translate(_ONLY_ENDS).split())
    else:
        digits, signs, sentences, commas = [len(pattern.findall(text)) for pattern in _SIGNS.values()]
    yield _class("digits", digits)
    yield _class("signs", signs - spaces)
    yield _class("sentences", sentences)
    yield _class("commas", commas)
    yield f"\0begins {unicodedata.category(text[0]) if text else ''}"
    yield f"\0ends {text[-1] if text and not text[-1].isalnum() else ''}"


def out_of_fold(seen: SeenTexts, classify: Classify | int) -> Integers:
    """Return the log-odds that each text is correct, from a guesser fitted on the other folds.

    The guesser is a classifier, or a logistic regression of `MarkedColumns` with so many steps.
    """
    rows, correct, fold = seen.rows, seen.correct, seen.folds // 2  # two at a time: half the work
    numbers = [n for n in np.unique(fold) if 0 < correct[fold != n].sum() < np.count_nonzero(fold != n)]
    odds = np.zeros(len(correct), np.int64)
    if isinstance(classify, int):
        used = np.stack([fold != number for number in numbers], axis=1) if numbers else np.ones((len(fold), 0), bool)
        for column, of_fit in enumerate(regress(rows, correct, used, classify).T if numbers else ()):
            odds[~used[:, column]] = of_fit[~used[:, column]]
        return odds
    for number in numbers:
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        odds[inside] = classify(rows[outside], correct[outside], rows[inside])
    return odds


def regress(rows: MarkedColumns, correct: Labels, used: Labels, rounds: int = ROUNDS) -> Integers:
    """Return the log-odds of all texts by logistic regressions: accelerated steps, with a size for each column.

    There is one for each column of `used`, which says from which texts it learns. They are made together: reading the
    rows takes most of the time.
    """
    count, n_correct = used.sum(axis=0), used[correct].sum(axis=0)
    # In sixteenths: correct and wrong texts count the same.
    weight_of_correct, weight_of_wrong = 8 * count // n_correct, 8 * count // (count - n_correct)

    def miss(some: slice, odds: Integers) -> Integers:
        label = correct[some, None]
        weight = np.where(label, weight_of_correct, weight_of_wrong) * used[some]
        missing: Integers = (np.where(label, ONE, 0) - probability(odds // _UNIT**2)) * weight // 16
        return missing

    curvature = rows.sums(rows.sum(axis=1)[:, None] * used) // 4 + _UNIT * _UNIT // 4
    weights = before = np.zeros(curvature.shape, np.int64)
    for step in range(rounds):
        ahead = weights + (weights - before) * step // (step + 3)
        slope = rows.sums_of(miss, ahead) * _UNIT - ahead * (_UNIT // 4)
        before, weights = weights, ahead + slope * _UNIT // curvature
    return rows @ weights // _UNIT**2


def probability(odds: Integers) -> Integers:
    """Return the logistic function of log-odds, both in units of `ONE`."""
    return _PROBABILITY[np.clip(odds * 64 // ONE, -1024, 1024) + 1024]


def gain(odds: Integers, correct: Labels) -> Shortcut:
    """Return the scaled accuracy of the guesser: 2 times balanced accuracy, less 1."""
    hit = (odds > 0) == correct
    counts = [int((correct == label).sum()) for label in (True, False)]
    hits = [int(hit[correct == label].sum()) for label in (True, False)]
    rates = [number / count if count else 0.5 for number, count in zip(hits, counts, strict=True)]
    error = math.sqrt(sum(rate * (1 - rate) / max(1, count) for rate, count in zip(rates, counts, strict=True)))
    return Shortcut(value=sum(rates) - 1, error=error, n=len(correct))


def audit(seen: SeenTexts, classify: Classify | int = ROUNDS) -> Shortcut:
    """Return the scaled accuracy of a classifier that sees the texts alone."""
    return gain(out_of_fold(seen, classify), seen.correct)
