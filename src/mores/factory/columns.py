"""Columns of texts: sparse matrices of ones, which stay in files and whose products are of integers.

A column stands for a word, a run of characters or a class of shapes. `mores.factory.looks` says which ones a text has,
and `mores.factory.shortcut` learns from them.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count as numbers_from
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.factory.scratch import NumberFile, open_for

Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Labels = npt.NDArray[np.bool_]
Folds = npt.NDArray[np.int8]

ROW = 32
"""Bits of a column in a cell, which are after those of its row."""
FEWEST = 3
"""Minimum texts that have a column for it to be used; a rarer one says nothing about another fold."""
UNIT = 1 << 8
"""The length of a row, whatever its number of columns, and the precision of weights."""
_CELLS = 1 << 21
"""Cells that are multiplied together."""


def in_rows(cells: Integers, count: int) -> tuple[Small, Integers]:
    """Return the different columns of each of so many rows, one row after the other, and where each begins."""
    cells.sort()
    cells = cells[np.diff(cells, prepend=-1) > 0]
    starts = np.searchsorted(cells, np.arange(count + 1, dtype=np.int64) << ROW)
    return cells.astype(np.int32), starts


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
        self._units = np.array([UNIT // max(1, math.isqrt(count)) for count in range(most + 1)], np.int64)
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


class Marking:
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
        cells = text_of << ROW | np.asarray(numbers) + self._first
        columns, starts = in_rows(cells if others is None else np.concatenate([cells, others]), len(ends) - 1)
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
