"""The model file: the weight of each n-gram for each language, by script; made by `tools/language_model.py`."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from mores.language.grams import Keys, Vocabulary, vocabulary

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
        blocks = {script: _block(arrays, script) for script in scripts}
        lines = [str(line).split() for line in arrays["confusions"]]
        sure = tuple((float(length), float(least)) for length, least in arrays["sure"])
        scale, power = map(float, arrays["calibration"])
        calibration = ScoreCalibration(scale, power, sure)
        return DetectionModel(blocks, calibration, {first: tuple(near) for first, *near in lines})


def _block(arrays: Mapping[str, npt.NDArray[np.generic]], script: str) -> ScriptModel:
    languages = tuple(map(str, arrays[f"{script}.languages"]))
    counts = np.ascontiguousarray(arrays[f"{script}.counts"].T).astype(np.uint8)
    unseen, usual = (arrays[f"{script}.{name}"].astype(np.float64) for name in ("unseen", "usual"))
    return ScriptModel(languages, arrays[f"{script}.keys"].astype(np.uint64), counts, unseen, usual)


@cache
def shipped() -> DetectionModel:
    """Return the model in the package."""
    return read_model((files(__package__) / FILE).read_bytes())
