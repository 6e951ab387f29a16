"""The model file: the weight of each n-gram for each language, by script; made by `tools/language_model.py`.

An n-gram, a run of characters, is a number, and a vocabulary has the index of each, for all texts at once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

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


FILE = "model.npz"
STEP = 16.0
"""A weight is stored as a whole number of 1/16 nats."""


@dataclass(frozen=True)
class ScriptModel:
    """The languages of one script; a script of only one language has no n-grams."""

    languages: tuple[str, ...]
    keys: Keys
    counts: npt.NDArray[np.uint8]
    """Weight of each n-gram (rows) for each language (columns), in steps."""
    unseen: npt.NDArray[np.float64]
    """Nats for an n-gram that a language's text did not have: more where there was less text."""
    usual: npt.NDArray[np.float64]
    """Nats per n-gram, those in no list among them, that nearly all held-out text in each language has."""

    @cached_property
    def weights(self) -> npt.NDArray[np.float32]:
        """In nats: the log of how much likelier the n-gram is than one that the language's text did not have."""
        return self.counts.astype(np.float32) / np.float32(STEP)

    def is_unusual(self, column: int, nats: float, total: float) -> bool:
        """Return whether a text fits a language so badly that it is probably in one that the model does not know."""
        if column >= len(self.usual) or not total:  # a language with rules alone, or a script with one language
            return False
        return bool(nats < total * self.usual[column])

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return vocabulary(self.keys)


@dataclass(frozen=True)
class ScoreCalibration:
    """How reliable the scores are, learned from held-out text."""

    scale: float = 0.2
    power: float = 0.9
    """Scores are divided by scale * n-grams ** power: neighbouring n-grams carry almost the same information."""
    sure: tuple[tuple[float, float], ...] = ((0.0, 0.9),)
    """Numbers of n-grams, and the probability from which on the language of such a text is certain."""

    def needed(self, grams: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probability from which on the language of texts is certain, by their number of n-grams."""
        lengths, thresholds = np.array(self.sure).T
        needed: npt.NDArray[np.float64] = np.interp(grams, lengths, thresholds)
        return needed

    def temperature(self, grams: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the divisor of the scores of texts, by their number of n-grams."""
        temperatures: npt.NDArray[np.float64] = np.maximum(1.0, self.scale * np.maximum(grams, 1.0) ** self.power)
        return temperatures


@dataclass(frozen=True)
class DetectionModel:
    """The languages of all scripts, the calibration, and which languages are confused."""

    blocks: Mapping[str, ScriptModel]
    calibration: ScoreCalibration
    confusions: Mapping[str, tuple[str, ...]]
    """The languages that each is confused with on held-out text, the most frequent first."""


def read_model(content: bytes) -> DetectionModel:
    """Return the model of a file's bytes."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        scripts = [name.removesuffix(".languages") for name in arrays if name.endswith(".languages")]
        blocks = {
            script: ScriptModel(
                tuple(map(str, arrays[f"{script}.languages"])),
                arrays[f"{script}.keys"].astype(np.uint64),
                np.ascontiguousarray(arrays[f"{script}.counts"].T).astype(np.uint8),
                *(arrays[f"{script}.{name}"].astype(np.float64) for name in ("unseen", "usual")),
            )
            for script in scripts
        }
        lines = [str(line).split() for line in arrays["confusions"]]
        sure = tuple((float(length), float(least)) for length, least in arrays["sure"])
        scale, power = map(float, arrays["calibration"])
        calibration = ScoreCalibration(scale, power, sure)
        return DetectionModel(blocks, calibration, {first: tuple(near) for first, *near in lines})


@cache
def shipped() -> DetectionModel:
    """Return the model in the package."""
    return read_model((files(__package__) / FILE).read_bytes())
