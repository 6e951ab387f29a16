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
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.types import Record

Integers = npt.NDArray[np.int64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


def char_ngrams(texts: Sequence[str], lengths: Iterable[int], bits: int) -> Any:
    """Return the n-grams of each text, padded with spaces, as a matrix of ones with 2^bits columns."""
    from scipy.sparse import csr_matrix

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
    shape = (len(texts), 1 << bits)
    return csr_matrix((np.ones(len(cells), np.int64), cells & ((1 << bits) - 1), starts), shape=shape)


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
_PROBABILITY = np.array([round(ONE / (1 + math.exp(-step / 64))) for step in range(-1024, 1025)], np.int64)


class Shortcut(Record):
    """Scaled accuracy of a guesser: 0 is chance, 1 is always correct."""

    value: float
    error: float
    """Standard error."""
    n: int


class SeenTexts(NamedTuple):
    """The features of some texts, and the labels to guess."""

    rows: Any
    correct: Labels
    folds: Integers

    def take(self, at: Integers) -> SeenTexts:
        """Return some of the texts."""
        return SeenTexts(self.rows[at], self.correct[at], self.folds[at])


def see(texts: Sequence[str], correct: Sequence[bool], folds: Sequence[int]) -> SeenTexts:
    """Return texts as the guesser sees them."""
    return SeenTexts(even_rows(looks(texts)), np.asarray(correct, dtype=bool), np.asarray(folds, dtype=np.int64))


def even_rows(rows: Any) -> Any:
    """Return rows of equal length, so that a long text weighs no more than a short one."""
    counts = np.diff(rows.indptr)
    rows.data = np.repeat(np.array([_UNIT // max(1, math.isqrt(count)) for count in counts.tolist()]), counts)
    return rows


def looks(texts: Sequence[str]) -> Any:
    """Return words, characters and shape of each text as a sparse row of ones, without columns that few texts have."""
    from scipy.sparse import csr_matrix, hstack

    if not texts:
        return csr_matrix((0, 1), dtype=np.int64)
    words = (dict.fromkeys([*re.findall(r"\w+", text.casefold()), *shape(text)]) for text in texts)
    tokens = count_tokens(words)
    rows = hstack([tokens, char_ngrams(list(map(plain, texts)), range(1, 5), 18)]).tocsr()
    common = np.bincount(rows.indices, minlength=rows.shape[1]) >= FEWEST
    return hstack([rows[:, common], csr_matrix(np.ones((len(texts), 1), np.int64))]).tocsr()


def plain(text: str) -> str:
    """Return the text without case and forms of the same letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def shape(text: str) -> Iterator[str]:
    """Yield the shape of a text: its length, digits, capitals, signs and sentences, each as a class."""
    words = text.split()
    counts = {
        "characters": len(text),
        "words": len(words),
        "capitals": sum(word[:1].isupper() for word in words),
        "digits": len(re.findall(r"\d", text)),
        "signs": len(re.findall(r"[^\w\s]|_", text)),
        "sentences": len(re.findall(r"[.!?。！？।؟]+", text)),
        "commas": len(re.findall(r"[,،、，;；]", text)),
    }
    for name, count in counts.items():
        # Classes of numbers: 0 to 7 are one each, then there are four for each doubling.
        extra = max(0, count.bit_length() - 3)
        yield f"\0{name} {(extra << 3) + (count >> extra)}"
    yield f"\0begins {unicodedata.category(text[0]) if text else ''}"
    yield f"\0ends {text[-1] if text and not text[-1].isalnum() else ''}"


def out_of_fold(seen: SeenTexts, classify: Classify | None = None) -> Integers:
    """Return the log-odds that each text is correct, from a guesser fitted on the other folds."""
    rows, correct, fold = seen.rows, seen.correct, seen.folds // 2  # two at a time: half the work
    odds = np.zeros(len(correct), np.int64)
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if 0 < correct[outside].sum() < len(outside):
            odds[inside] = (classify or regress)(rows[outside], correct[outside], rows[inside])
    return odds


def regress(rows: Any, correct: Labels, others: Any, rounds: int = ROUNDS) -> Integers:
    """Return log-odds by a logistic regression: accelerated gradient steps, with a step size for each column."""
    columns = rows.T.tocsr()
    wanted = np.where(correct, ONE, 0)
    count, n_correct = len(correct), int(correct.sum())
    # In sixteenths: correct and wrong texts count the same.
    weight = np.where(correct, 8 * count // n_correct, 8 * count // (count - n_correct))
    curvature = columns @ np.asarray(rows.sum(axis=1)).ravel() // 4 + _UNIT * _UNIT // 4
    weights = before = np.zeros(rows.shape[1], np.int64)
    for step in range(rounds):
        ahead = weights + (weights - before) * step // (step + 3)
        missing = (wanted - probability(rows @ ahead // _UNIT**2)) * weight // 16
        slope = columns @ missing * _UNIT - ahead * (_UNIT // 4)
        before, weights = weights, ahead + slope * _UNIT // curvature
    odds: Integers = others @ weights // _UNIT**2
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


def audit(seen: SeenTexts, classify: Classify | None = None) -> Shortcut:
    """Return the scaled accuracy of a classifier that sees the texts alone."""
    return gain(out_of_fold(seen, classify), seen.correct)
