"""The model file: the weight of each n-gram for each language, by script; made by `tools/language_model.py`.

An n-gram, a run of two to five characters, is a number, and a vocabulary has the index of each, for all texts at once.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from mores.language.scripts import SPACE
from mores.language.text import Ints, Segments

Keys = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

ORDERS = (2, 3, 4, 5)
_BITS = np.uint64(12)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def n_grams(codes: npt.NDArray[np.uint32]) -> Iterator[tuple[Keys, npt.NDArray[np.bool_]]]:
    """Yield, order by order, the n-gram that begins at each character, and whether it stays within a word.

    Five characters of 12 bits make one number, and a shift by 12 bits gives the n-gram without its last character. No
    two letters of a script that has n-grams have the same lower 12 bits; none of them is the space, which is 1, or 0.
    """
    space = codes == SPACE
    letters = np.where(space, 1, (codes + 16) & 0xFFF).astype(np.uint64)
    packed, within = letters, ~space | np.append(~space[1:], True)
    for order in ORDERS:
        packed = packed[:-1] << _BITS | letters[order - 1 :]
        within = within[:-1] & (~space[order - 2 : -1] | (order == 2))
        yield packed, within


def keys(segments: Segments, order: int) -> tuple[Keys, Ints]:
    """Return the n-grams of the segments and the segment of each; none holds the space between two words."""
    if not len(segments.starts):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    packed, within = dict(zip(ORDERS, n_grams(segments.codes), strict=True))[order]
    return packed[within], segments.segment_of()[: len(packed)][within]


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
        held = self.slots[slot]
        here = held == grams
        indices = np.where(here, self.indices[slot], np.int32(-1))
        open_ = np.flatnonzero(~here & (held != 0))
        for _ in range(self.probes):
            if not len(open_):
                break
            slot[open_] = (slot[open_] + 1) & mask
            held = self.slots[slot[open_]]
            here = held == grams[open_]
            indices[open_] = np.where(here, self.indices[slot[open_]], np.int32(-1))
            open_ = open_[~here & (held != 0)]
        return indices


def vocabulary(listed: Keys) -> Vocabulary:
    """Return a vocabulary of n-grams, none of which occurs twice."""
    size = 1 << max(4, int(len(listed) * 2 - 1).bit_length())
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
    """N-grams in ascending order, with each all that it begins with."""
    counts: npt.NDArray[np.uint8]
    """Weight of each n-gram (rows) for each language (columns), in steps."""
    unseen: npt.NDArray[np.float64]
    """Nats for an n-gram that a language's text did not have: more where there was less text."""
    usual: npt.NDArray[np.float64]
    """Nats per n-gram, those in no list among them, that nearly all held-out text in each language has."""

    @cached_property
    def depths(self) -> Ints:
        """The number of n-grams that each begins with, itself among them; the last is zero."""
        bounds = np.uint64(1) << _BITS * np.arange(1, ORDERS[-1], dtype=np.uint64)
        return np.append(np.searchsorted(bounds, self.keys), 0)

    @cached_property
    def sums(self) -> npt.NDArray[np.uint16]:
        """Weight of each n-gram and of all that it begins with, in steps; the last row is zero.

        A weight in nats is the log of how much likelier the n-gram is than one that the language's text did not have.
        """
        sums = np.zeros((len(self.keys) + 1, len(self.languages)), np.uint16)
        sums[:-1] = self.counts
        for order in ORDERS[1:]:
            rows = np.flatnonzero(self.depths == order - 1)
            sums[rows] += sums[self.vocabulary.find(self.keys[rows] >> _BITS)]
        return sums

    @cached_property
    def largest(self) -> npt.NDArray[np.uint16]:
        """The largest number in each row of `sums`."""
        largest: npt.NDArray[np.uint16] = self.sums.max(axis=1)
        return largest

    def longest(self, codes: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        """Return the row of the longest n-gram that begins at each character, -1 if none, and how many there may be."""
        rows, possible = np.full(len(codes), -1, np.int32), np.zeros(len(codes), np.uint8)
        pairs, *longer = n_grams(codes)
        at: Ints = np.arange(len(codes))
        for packed, within in longer:  # most begin with three known letters, so two are looked up last
            possible[: len(within)] += within
            at = at[: np.searchsorted(at, len(within))]
            at = at[within[at]]
            found = self.vocabulary.find(packed[at])
            at = at[found >= 0]
            rows[at] = found[found >= 0]
        packed, within = pairs
        possible[: len(within)] += within
        at = np.flatnonzero(within & (rows[: len(within)] < 0))
        rows[at] = self.vocabulary.find(packed[at])
        return rows, possible

    def are_unusual(self, columns: Ints, nats: Floats, totals: Floats) -> npt.NDArray[np.bool_]:
        """Return whether texts fit a language so badly that they are probably in one that the model does not know."""
        # Nothing is unusual in a language with rules alone, or in a script with one language.
        usual = np.append(self.usual, -np.inf)[np.minimum(columns, len(self.usual))]
        unusual: npt.NDArray[np.bool_] = (totals > 0) & (nats < np.maximum(totals, 1) * usual)
        return unusual

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return vocabulary(self.keys)


@dataclass(frozen=True)
class ScoreCalibration:
    """The reliability of the scores, learned from held-out text."""

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
                np.cumsum(arrays[f"{script}.keys"], dtype=np.uint64),
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
