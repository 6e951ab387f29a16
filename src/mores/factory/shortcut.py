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
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.factory.scratch import NumberFile, open_for
from mores.types import Record

Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


_ROW = 32
"""Bits of a column in a cell, which are after those of its row."""


def ngrams(texts: Sequence[str], lengths: Iterable[int], bits: int) -> tuple[Small, Integers]:
    """Return the numbers of the n-grams of each text, one text after the other, and where each begins."""
    return _in_rows(_ngram_cells(texts, lengths, bits), len(texts))


def _ngram_cells(texts: Sequence[str], lengths: Iterable[int], bits: int) -> Integers:
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
    cells: Integers = np.concatenate(rows) << _ROW | (mixed >> np.uint64(64 - bits)).astype(np.int64)
    return cells


def _in_rows(cells: Integers, count: int) -> tuple[Small, Integers]:
    """Return the different columns of each of so many rows, one row after the other, and where each begins."""
    cells.sort()
    cells = cells[np.diff(cells, prepend=-1) > 0]
    starts = np.searchsorted(cells, np.arange(count + 1, dtype=np.int64) << _ROW)
    return cells.astype(np.int32), starts


def count_tokens(texts: Iterable[Iterable[str]]) -> Any:
    """Return the count of each token, such as a word, in each text; columns are tokens in order of appearance."""
    from scipy.sparse import csr_matrix

    columns: defaultdict[str, int] = defaultdict(numbers_from().__next__)
    cells, starts = array("i"), array("q", [0])
    for text in texts:
        cells.extend(map(columns.__getitem__, text))
        starts.append(len(cells))
    counts = csr_matrix((np.ones(len(cells), np.int32), cells, starts), shape=(len(starts) - 1, len(columns)))
    counts.sum_duplicates()
    return counts


Labels = npt.NDArray[np.bool_]
Folds = npt.NDArray[np.int8]
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


_Block = tuple[Small, Small, Small]
"""The number of columns of each of some texts, that of different columns, and these."""


class ColumnBlock(NamedTuple):
    """Some of the rows of marked columns, as a matrix of ones of the different columns."""

    rows: Integers
    ones: Any
    units: Integers
    counts: Small
    """The number of columns of each row."""
    times: Integers
    most: int
    """The most columns of a row, here and in the other parts."""

    def __matmul__(self, weights: Integers) -> Integers:
        """Return the product with several weights of each different column: those that are like it have the same."""
        product: Integers = multiply(self.ones, weights, self.most, self.times) * self.units[:, None]
        return product

    def sums(self, values: Integers) -> Integers:
        """Return the product of the transposed matrix with several values of each text."""
        return multiply(self.ones.T, values * self.units[:, None], len(self.units))

    @property
    def lengths(self) -> Integers:
        """The sum of each row."""
        lengths: Integers = self.units * self.counts
        return lengths


class MarkedColumns:
    """The columns of each text: a sparse matrix whose rows have equal lengths, so that a long text weighs no more.

    The columns of many texts are in a file; products are of integers and made in parts, so that they need little room.
    Columns that the same texts have are there once: most runs of characters are always in the same words.
    """

    def __init__(self, blocks: Iterable[_Block], times: Integers, order: Integers | None = None) -> None:
        self.times = times
        """How many columns are like each of the different ones."""
        self._file = open_for(self)
        counts, stored = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for of_text, different, columns in blocks:
            counts.append(of_text)
            stored.append(different)
            self._file.write(columns.tobytes())
        self._counts, self._stored = np.concatenate(counts), np.concatenate(stored)
        self._order = np.arange(len(self._counts)) if order is None else order
        """The row of each of the texts, which are in any order in the file."""
        most = int(self._counts.max(initial=0))
        self._units = np.array([_UNIT // max(1, math.isqrt(count)) for count in range(most + 1)], np.int64)
        """Of each number of columns."""
        self._ones = np.ones(0, np.int64)
        self._only: list[ColumnBlock] = []
        """The matrix, if there is one part only."""

    def __len__(self) -> int:
        return len(self._counts)

    def __getitem__(self, at: Integers | Labels) -> MarkedColumns:
        """Return some of the rows, whose places ascend."""
        assert at.dtype == bool or (np.diff(at) > 0).all()
        is_chosen = np.zeros(len(self), dtype=bool)
        is_chosen[at] = True
        if is_chosen.all():
            return self
        chosen = is_chosen[self._order]

        def blocks() -> Iterator[_Block]:
            for some, columns in self._blocks():
                of_rows, stored = chosen[some], self._stored[some]
                yield self._counts[some][of_rows], stored[of_rows], columns[np.repeat(of_rows, stored)]

        return MarkedColumns(blocks(), self.times, (np.cumsum(is_chosen) - 1)[self._order[chosen]])

    @property
    def width(self) -> int:
        """The number of all columns."""
        return int(self.times.sum())

    def __matmul__(self, weights: Integers) -> Integers:
        """Return the product with a weight of each of all columns, those that are alike one after the other."""
        product, starts = np.empty(len(self), np.int64), np.cumsum(self.times) - self.times
        together = np.add.reduceat(weights, starts) if len(starts) else weights
        for part in self.parts():
            product[part.rows] = part.ones @ together * part.units
        return product

    def sum(self, axis: Literal[0]) -> Integers:
        """Return the sums of the columns, as those of a matrix of SciPy."""
        assert axis == 0
        total = np.zeros(len(self.times), np.int64)
        for part in self.parts():
            total += part.ones.T @ part.units
        return np.repeat(total, self.times)

    def _blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
        """Yield some texts at a time, and their columns."""
        ends = np.cumsum(self._stored, dtype=np.int64)
        first = start = 0
        while first < len(self):
            last = max(first + 1, int(np.searchsorted(ends, start + _CELLS, "right")))
            end = int(ends[last - 1])
            self._file.seek(4 * start)
            yield slice(first, last), np.frombuffer(self._file.read(4 * (end - start)), np.int32)
            first, start = last, end

    def parts(self) -> Iterator[ColumnBlock]:
        """Yield all rows, some at a time."""
        from scipy.sparse import csr_matrix

        yield from self._only
        for some, columns in () if self._only else self._blocks():
            counts, starts = self._counts[some], np.concatenate([[0], np.cumsum(self._stored[some])]).astype(np.int32)
            shape = (len(counts), len(self.times))
            if len(self._ones) < len(columns):  # all parts share them
                self._ones = np.ones(len(columns), np.int64)
            ones = csr_matrix((self._ones[: len(columns)], columns, starts), shape=shape)
            part = ColumnBlock(self._order[some], ones, self._units[counts], counts, self.times, len(self._units) - 1)
            if shape[0] == len(self):
                self._only.append(part)
            yield part


def multiply(ones: Any, values: Integers, most: int, times: Integers | None = None) -> Integers:
    """Return the product of a matrix of ones with several columns of values.

    Each column of the matrix stands for `times` columns; at most `most` of all these are in a row. Two columns of
    values whose sums fit into 32 bits are halves of the same numbers: that takes half the time.
    """
    product, left = np.empty((ones.shape[0], values.shape[1]), np.int64), list(range(values.shape[1]))
    small = np.abs(values).max(axis=0, initial=0) < (1 << 31) // max(1, most)
    if times is not None:
        values = values * times[:, None]
    while left:
        first = left.pop()
        other = left.pop() if left and small[[first, left[-1]]].all() else None
        total = ones @ (values[:, first] if other is None else values[:, first] + (values[:, other] << 32))
        product[:, first] = total if other is None else total.astype(np.int32)
        if other is not None:
            product[:, other] = (total - product[:, first]) >> 32
    return product


class _Marking:
    """The columns of texts that are collected one text after the other, in a file."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._tokens: defaultdict[str, int] = defaultdict(numbers_from().__next__)
        self._columns, self._starts = NumberFile(), list[Integers]()

    def add(self, tokens: Iterable[Iterable[str]], others: Integers | None = None) -> None:
        """Add some texts with the tokens of each, and cells of other columns, which are before those of tokens."""
        known, numbers, ends = self._tokens, array("q"), array("q", [0])
        for text in tokens:
            numbers.extend(map(known.__getitem__, text))
            ends.append(len(numbers))
        text_of = np.repeat(np.arange(len(ends) - 1, dtype=np.int64), np.diff(ends))
        cells = text_of << _ROW | np.asarray(numbers) + self._first
        columns, starts = _in_rows(cells if others is None else np.concatenate([cells, others]), len(ends) - 1)
        self._columns.add(columns)
        self._starts.append(starts)

    def ones(self) -> Any:
        """Return what was collected as a matrix of ones, with the columns of the tokens before the others."""
        from scipy.sparse import csr_matrix

        columns = self._columns.together()
        is_other = columns < self._first
        columns -= self._first
        columns[is_other] += self._first + len(self._tokens)
        counts = np.concatenate([np.zeros(1, np.int64), *map(np.diff, self._starts)])
        shape = (len(counts) - 1, self._first + len(self._tokens))
        return csr_matrix((np.ones(len(columns), np.int8), columns, np.cumsum(counts)), shape=shape)

    def marks(self, texts: Integers | None = None) -> MarkedColumns:
        """Return some of the texts, by their numbers, or all, without columns that few of them have."""
        from scipy.sparse import csr_matrix

        count = sum(map(len, self._starts)) - len(self._starts)
        texts = np.arange(count) if texts is None else texts
        order = np.argsort(texts, kind="stable")
        times_of = np.bincount(texts, minlength=count)
        # Of the texts that have a column, their number, and a sum of random numbers: columns with equal sums are alike.
        sums, draw = np.zeros((self._first + len(self._tokens), 2), np.uint64), np.random.default_rng(0)
        for some, starts, columns in self._blocks(times_of):
            drawn = draw.integers(1 << 64, size=len(some), dtype=np.uint64)
            of_text = np.stack([some, np.where(some > 0, drawn, 0)], axis=1).astype(np.uint64)
            ones = csr_matrix((np.ones(len(columns), np.uint64), columns, starts), shape=(len(some), len(sums)))
            sums += ones.T @ of_text
        left = np.flatnonzero(sums[:, 0] >= min(FEWEST, len(texts)))  # at least those that every text has
        left = left[np.argsort(sums[left, 1], kind="stable")]
        is_new = np.diff(sums[left, 1], prepend=~sums[left[:1], 1]) != 0
        number = np.full(len(sums), -1, np.int32)
        number[left[is_new]] = np.arange(np.count_nonzero(is_new))
        times = np.diff(np.flatnonzero(is_new), append=len(left))

        def blocks() -> Iterator[_Block]:
            for some, starts, columns in self._blocks(times_of):
                text = np.repeat(np.arange(len(some)), some)
                lengths = np.diff(starts)[text]
                ends = np.cumsum(lengths)
                if (some != 1).any():
                    columns = columns[np.arange(lengths.sum()) + np.repeat(starts[text] - ends + lengths, lengths)]
                block = number[columns]
                is_stored = block >= 0
                stored = np.diff(np.concatenate([[0], np.cumsum(is_stored)])[ends], prepend=0)
                block = block[is_stored]
                counts = np.diff(np.concatenate([[0], np.cumsum(times[block])])[np.cumsum(stored)], prepend=0)
                yield counts.astype(np.int32), stored.astype(np.int32), block

        return MarkedColumns(blocks(), times, order)

    def _blocks(self, times: Integers) -> Iterator[tuple[Integers, Integers, Small]]:
        """Yield how often each of some texts is wanted, where its columns begin, and these, without unwanted blocks."""
        ends = np.cumsum([len(starts) - 1 for starts in self._starts])[:-1]
        for number, some in enumerate(np.split(times, ends)):
            if some.any():
                yield some, self._starts[number], self._columns[number]


class SeenTexts(NamedTuple):
    """The features of some texts, and the labels to guess."""

    rows: Any
    correct: Labels
    folds: Folds

    def take(self, at: Integers) -> SeenTexts:
        """Return some of the texts."""
        return SeenTexts(self.rows[at], self.correct[at], self.folds[at])


def see(texts: Iterable[str], correct: Sequence[bool] | Labels, folds: Sequence[int] | Folds) -> SeenTexts:
    """Return texts as the guesser sees them."""
    listed = list(texts)
    rows = Looks(listed.__getitem__)[np.arange(len(listed))]
    return SeenTexts(rows, np.asarray(correct, dtype=bool), np.asarray(folds, dtype=np.int8))


class Looks:
    """Words, characters and shape of numbered texts, each of which is looked at once."""

    def __init__(self, text: Callable[[int], str]) -> None:
        self._text, self._marking = text, _Marking(1 << _BITS)
        self._place, self._count = np.zeros(0, np.int32), 0
        """The place of each text among those that were looked at, from 1 on."""

    def __getitem__(self, numbers: npt.NDArray[np.integer[Any]]) -> MarkedColumns:
        """Return the columns of some of the texts, without columns that few of them have."""
        missing = max(0, int(numbers.max(initial=-1)) + 1 - len(self._place))
        self._place = np.pad(self._place, (0, missing))
        new = numbers[self._place[numbers] == 0]
        new = new[np.sort(np.unique(new, return_index=True)[1])]
        self._place[new] = np.arange(len(new)) + self._count + 1
        self._count += len(new)
        for block in blocks_of(map(self._text, new.tolist())):
            tokens = (["", *_WORDS.findall(text.casefold()), *shape(text)] for text in block)  # "" is in every text
            self._marking.add(tokens, _ngram_cells(list(map(plain, block)), range(1, 5), _BITS))
        return self._marking.marks(self._place[numbers] - 1)


def char_ngrams(
    texts: Iterable[str], lengths: Sequence[int], bits: int, tokens: Callable[[str], Iterable[str]] = lambda _: ()
) -> Any:
    """Return the n-grams of each text, as a matrix of ones with 2^bits columns, after those of its tokens."""
    marking = _Marking(1 << bits)
    for block in blocks_of(texts):
        marking.add(map(tokens, block), _ngram_cells(list(map(plain, block)), lengths, bits))
    return marking.ones()


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
    """Return the different tokens of each text, without those that few texts have."""
    marking, left = _Marking(), iter(texts)
    while block := list(islice(left, 1000)):
        marking.add(block)
    return marking.marks()


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
    if isinstance(classify, int):
        if not numbers:
            return np.zeros(len(correct), np.int64)
        return regress(rows, correct, np.stack([fold != number for number in numbers], axis=1), classify)
    odds = np.zeros(len(correct), np.int64)
    for number in numbers:
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        odds[inside] = classify(rows[outside], correct[outside], rows[inside])
    return odds


def regress(rows: MarkedColumns, correct: Labels, used: Labels, rounds: int = ROUNDS) -> Integers:
    """Return the log-odds of each text by a logistic regression that did not learn from it, or 0 where all did.

    The steps are accelerated, with a size for each column. There is one regression for each column of `used`, which
    says from which texts it learns. They are made together: reading the rows takes most of the time.
    """
    count, n_correct = used.sum(axis=0), used[correct].sum(axis=0)
    # In sixteenths: correct and wrong texts count the same.
    weight_of_correct, weight_of_wrong = 8 * count // n_correct, 8 * count // (count - n_correct)

    def miss(some: Integers, odds: Integers) -> Integers:
        label = correct[some, None]
        weight = np.where(label, weight_of_correct, weight_of_wrong) * used[some]
        missing: Integers = (np.where(label, ONE, 0) - probability(odds // _UNIT**2)) * weight // 16
        return missing

    weights = before = curvature = np.zeros((len(rows.times), used.shape[1]), np.int64)
    for part in rows.parts():
        curvature = curvature + part.sums(part.lengths[:, None] * used[part.rows])
    curvature = curvature // 4 + _UNIT * _UNIT // 4
    for step in range(rounds):
        ahead = weights + (weights - before) * step // (step + 3)
        slope = np.zeros(weights.shape, np.int64)
        for part in rows.parts():
            slope += part.sums(miss(part.rows, part @ ahead))
        slope = slope * _UNIT - ahead * (_UNIT // 4)
        before, weights = weights, ahead + slope * _UNIT // curvature
    odds = np.empty(len(rows), np.int64)
    for part in rows.parts():
        odds[part.rows] = np.where(used[part.rows], 0, part @ weights // _UNIT**2).sum(axis=1)
    return odds


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
