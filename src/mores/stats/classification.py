"""Scores as classifiers of the samples that contain an error.

Gold labels are booleans (or 0 and 1), and True, "contains an error", is the positive class. Scores must be higher for
samples that more likely contain an error: negate a quality score, such as the metric's own.

An undefined statistic is None, never NaN; each function documents when. A NaN in the input raises ValueError with its
position, because a sample without a verdict is not a verdict; exclude such samples and count them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RocCurve:
    """One point per distinct score, from (0, 0) to (1, 1): what is predicted when scores >= threshold are errors."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Floats
    """Falling; the first is infinity, at which nothing is predicted."""


@dataclass(frozen=True)
class PrCurve:
    """One point per distinct score, by rising recall, after the point (recall 0, precision 1) that closes the curve."""

    recall: Floats
    precision: Floats
    thresholds: Floats
    """Falling; the first is infinity, at which nothing is predicted."""


def auc(gold: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """Return the area under the ROC curve: how often an error scores above a correct sample; None without both.

    A tie counts one half: this is Mann and Whitney's U / (P·N), and the area under straight lines through `roc_curve`.
    J. A. Hanley and B. J. McNeil, Radiology 143 (1982), 29-36.
    """
    truth, values = _scored(gold, scores)
    errors, others = values[truth], np.sort(values[~truth])
    if not errors.size or not others.size:
        return None
    below, up_to = np.searchsorted(others, errors, "left"), np.searchsorted(others, errors, "right")
    return (int(below.sum()) + int(up_to.sum())) / (2 * errors.size * others.size)


def roc_curve(gold: npt.ArrayLike, scores: npt.ArrayLike) -> RocCurve | None:
    """Return false and true positive rates, FP/N and TP/P, at every threshold; None unless gold has both classes.

    T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27 (2006), 861-874.
    """
    hits, guesses, thresholds = _at_thresholds(gold, scores)
    positives = int(hits[-1])
    negatives = int(guesses[-1]) - positives
    if not positives or not negatives:
        return None
    return RocCurve((guesses - hits) / negatives, hits / positives, thresholds)


def pr_curve(gold: npt.ArrayLike, scores: npt.ArrayLike) -> PrCurve | None:
    """Return recall TP/P and precision TP/(TP+FP) at every threshold; None when gold has no errors.

    J. Davis and M. Goadrich, The relationship between precision-recall and ROC curves, ICML 2006.
    """
    hits, guesses, thresholds = _at_thresholds(gold, scores)
    if not hits[-1]:
        return None
    shares = np.concatenate(([1.0], hits[1:] / guesses[1:]))
    return PrCurve(hits / hits[-1], shares, thresholds)


def _scored(gold: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[Bools, Floats]:
    truth, values = labels(gold, "gold"), vector(scores, "scores")
    same_length(gold=truth, scores=values)
    return truth, values


def _at_thresholds(gold: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[Ints, Ints, Floats]:
    """Count errors and samples that score at least each threshold; thresholds fall from infinity."""
    truth, values = _scored(gold, scores)
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    # Equal scores pass a threshold together, so only the last of a run is a point.
    ends = np.flatnonzero(np.concatenate((ranked[1:] != ranked[:-1], [True] if ranked.size else [])))
    hits = np.cumsum(truth[order], dtype=np.int64)[ends]
    start = np.zeros(1, dtype=np.int64)
    return np.append(start, hits), np.append(start, ends + 1), np.append(np.inf, ranked[ends])


def ratios(above: Floats, below: Floats) -> Floats:
    """Return above / below, element by element, nan where below is 0: for statistics of many resamples at once."""
    quotients: Floats = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)
    return quotients


# -- input -------------------------------------------------------------------------------------------------


def vector(values: npt.ArrayLike, name: str, *, finite: bool = False, missing: bool = False) -> Floats:
    """Return numbers in one dimension; ValueError names the first NaN (unless missing) or infinity (if finite)."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers in one dimension ({error})") from None
    if array.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, found shape {array.shape}; pass one value per sample")
    if not missing:
        _refuse(np.isnan(array), array, name, "exclude that sample everywhere, or score it again")
    if finite:
        _refuse(np.isinf(array), array, name, "expected a finite number")
    return array


def labels(values: npt.ArrayLike, name: str) -> Bools:
    """Return booleans in one dimension, also from 0 and 1; ValueError names the first value that is neither."""
    array = np.asarray(values)
    if array.dtype == np.bool_ and array.ndim == 1:
        return array
    numbers = vector(array, name)
    _refuse((numbers != 0) & (numbers != 1), numbers, name, "expected True or False, or 1 or 0")
    marked: Bools = numbers == 1
    return marked


def same_length(**arrays: npt.NDArray[np.generic]) -> None:
    """Raise ValueError unless all arrays, given by name, have the same number of samples."""
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(array)}" for name, array in arrays.items())
        raise ValueError(f"lengths differ: {lengths}; expected one value per sample in each")


def _refuse(wrong: Bools, array: Floats, name: str, fix: str) -> None:
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(f"{name}[{index}] is {array[index]:g}; {fix}")
