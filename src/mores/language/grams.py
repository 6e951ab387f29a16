"""Runs of characters (n-grams) as numbers, and the place of each in a vocabulary, for all texts at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.language.scripts import SPACE
from mores.language.text import Ints, Segments

Keys = npt.NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def keys(segments: Segments, order: int) -> tuple[Keys, Ints]:
    """The n-grams of the segments and the segment of each; none holds the space between two words.

    Four characters of 16 bits make one number. Two scripts beyond 16 bits lose their upper bits, which their n-grams,
    that are never compared with those of other scripts, do not need.
    """
    codes = segments.codes
    count = len(codes) - order + 1
    if count <= 0 or not len(segments.starts):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    packed = np.zeros(count, np.uint64)
    inner = np.ones(count, np.bool_)
    for place in range(order):
        part = codes[place : place + count]
        packed = (packed << np.uint64(16)) | (part & 0xFFFF).astype(np.uint64)
        if 0 < place < order - 1:
            inner &= part != SPACE
    inner &= (codes[:count] != SPACE) | (order > 1)
    if order == 2:
        inner &= (codes[:count] != SPACE) | (codes[1 : 1 + count] != SPACE)
    begins = np.zeros(len(codes), np.int64)
    begins[segments.starts] = 1
    return packed[inner], (np.cumsum(begins) - 1)[:count][inner]


@dataclass(frozen=True)
class Vocabulary:
    """Where each n-gram stands in a list, found by hashing with open addressing."""

    slots: Keys
    places: npt.NDArray[np.int32]
    probes: int

    def find(self, wanted: Keys) -> npt.NDArray[np.int32]:
        """The place of each n-gram; -1 where it is none of the list."""
        mask = len(self.slots) - 1
        slot = _hash(wanted, mask)
        found = np.where(self.slots[slot] == wanted, self.places[slot], np.int32(-1))
        left = np.flatnonzero((found < 0) & (self.slots[slot] != 0))
        for _ in range(self.probes):
            if not len(left):
                break
            slot[left] = (slot[left] + 1) & mask
            there = self.slots[slot[left]]
            found[left] = np.where(there == wanted[left], self.places[slot[left]], np.int32(-1))
            left = left[(there != wanted[left]) & (there != 0)]
        return found


def vocabulary(listed: Keys) -> Vocabulary:
    """A vocabulary of n-grams, none of which occurs twice."""
    size = 1 << max(4, int(len(listed) * 4 - 1).bit_length())
    slots, places = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
    slot, left, probes = _hash(listed, size - 1), np.arange(len(listed)), 0
    while len(left):
        wanted = slot[left]
        free = slots[wanted] == 0
        _, first = np.unique(wanted[free], return_index=True)  # of several that want a slot, one gets it
        won = np.flatnonzero(free)[first]
        slots[wanted[won]], places[wanted[won]] = listed[left[won]], left[won]
        left = np.delete(left, won)
        slot[left] = (slot[left] + 1) & (size - 1)
        probes += 1
    return Vocabulary(slots, places, probes)


def _hash(wanted: Keys, mask: int) -> Ints:
    spread: Ints = ((wanted * _MULTIPLIER) >> np.uint64(40)).astype(np.int64) & mask
    return spread
