"""Runs of characters (n-grams) as numbers, and the index of each in a vocabulary, for all texts at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.language.scripts import SPACE
from mores.language.text import Ints, Segments

Keys = npt.NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def keys(segments: Segments, order: int) -> tuple[Keys, Ints]:
    """Return the n-grams of the segments and the segment of each; none holds the space between two words.

    Four characters of 16 bits make one number. Two scripts beyond 16 bits lose their upper bits, which do not matter:
    their n-grams are never compared with those of other scripts.
    """
    codes = segments.codes
    count = len(codes) - order + 1
    if count <= 0 or not len(segments.starts):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    packed = np.zeros(count, np.uint64)
    inner = np.ones(count, np.bool_)
    for offset in range(order):
        part = codes[offset : offset + count]
        packed = (packed << np.uint64(16)) | (part & 0xFFFF).astype(np.uint64)
        if 0 < offset < order - 1:
            inner &= part != SPACE
    inner &= (codes[:count] != SPACE) | (order > 1)
    if order == 2:
        inner &= (codes[:count] != SPACE) | (codes[1 : 1 + count] != SPACE)
    begins = np.zeros(len(codes), np.int64)
    begins[segments.starts] = 1
    return packed[inner], (np.cumsum(begins) - 1)[:count][inner]


@dataclass(frozen=True)
class Vocabulary:
    """The index of each n-gram in a list, by hashing with open addressing."""

    slots: Keys
    indices: npt.NDArray[np.int32]
    probes: int

    def find(self, grams: Keys) -> npt.NDArray[np.int32]:
        """Return the index of each n-gram; -1 if it is not in the list."""
        mask = len(self.slots) - 1
        slot = _hash(grams, mask)
        indices = np.where(self.slots[slot] == grams, self.indices[slot], np.int32(-1))
        open_ = np.flatnonzero((indices < 0) & (self.slots[slot] != 0))
        for _ in range(self.probes):
            if not len(open_):
                break
            slot[open_] = (slot[open_] + 1) & mask
            held = self.slots[slot[open_]]
            indices[open_] = np.where(held == grams[open_], self.indices[slot[open_]], np.int32(-1))
            open_ = open_[(held != grams[open_]) & (held != 0)]
        return indices


def vocabulary(listed: Keys) -> Vocabulary:
    """Return a vocabulary of n-grams, none of which occurs twice."""
    size = 1 << max(4, int(len(listed) * 4 - 1).bit_length())
    slots, indices = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
    slot, open_, probes = _hash(listed, size - 1), np.arange(len(listed)), 0
    while len(open_):
        target = slot[open_]
        free = slots[target] == 0
        _, first = np.unique(target[free], return_index=True)  # of several n-grams for a slot, one gets it
        won = np.flatnonzero(free)[first]
        slots[target[won]], indices[target[won]] = listed[open_[won]], open_[won]
        open_ = np.delete(open_, won)
        slot[open_] = (slot[open_] + 1) & (size - 1)
        probes += 1
    return Vocabulary(slots, indices, probes)


def _hash(grams: Keys, mask: int) -> Ints:
    spread: Ints = ((grams * _MULTIPLIER) >> np.uint64(40)).astype(np.int64) & mask
    return spread
