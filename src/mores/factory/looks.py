"""Words, runs of characters and the shape of texts, each as a column."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count as numbers_from
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.factory.columns import ROW, Integers, MarkedColumns, Marking, Small, in_rows

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_BITS = 18
"""Of the numbers of runs of characters."""
_BLOCK = 1 << 17
"""Characters that are looked at together."""
_WORDS = re.compile(r"\w+")


def ngrams(texts: Sequence[str], lengths: Sequence[int], bits: int) -> tuple[Small, Integers]:
    """Return the numbers of the n-grams of each text, one text after the other, and where each begins."""
    return in_rows(_ngram_cells(texts, lengths, bits), len(texts))


def _ngram_cells(texts: Sequence[str], lengths: Sequence[int], bits: int) -> Integers:
    """Return the text and the number of each n-gram, as one integer."""
    padded = [f" {text} " for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    text_of = np.repeat(np.arange(len(texts), dtype=np.int64), [len(text) for text in padded])
    rows, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    total = np.zeros(len(points), np.uint64)
    for length in range(1, max(lengths) + 1):
        last = max(0, len(points) - length + 1)
        total = total[:last] * _BASE + points[length - 1 :]
        if length in lengths:
            inside = text_of[:last] == text_of[length - 1 :]
            rows.append(text_of[:last][inside])
            # As if each began with its length: those of different lengths differ.
            hashes.append(total[inside] + np.uint64(length * pow(int(_BASE), length, 1 << 64) % (1 << 64)))
    mixed = np.concatenate(hashes) * _MIX
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
    cells: Integers = np.concatenate(rows) << ROW | (mixed >> np.uint64(64 - bits)).astype(np.int64)
    return cells


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


class Looks:
    """Words, characters and shape of numbered texts, each of which is looked at once."""

    def __init__(self, text: Callable[[int], str]) -> None:
        self._text, self._marking = text, Marking(1 << _BITS)
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
    marking = Marking(1 << bits)
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
    marking, left = Marking(), iter(texts)
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
