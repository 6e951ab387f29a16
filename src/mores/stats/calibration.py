"""Whether confidence says how often an answer is right.

Confidence is a probability from 0 to 1, and each answer is right (1, True) or not. Without answers there is no number:
the scores are None, and the bins of a curve are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.stats.intervals import share_interval

BINS = 10
_Array = npt.NDArray[np.float64]


class Bin(NamedTuple):
    """The answers whose confidence is in [low, high); the last bin has its high, too."""

    low: float
    high: float
    n: int
    confidence: float | None
    """Mean confidence; None in an empty bin."""
    accuracy: float | None
    """Share of right answers; None in an empty bin."""
    interval: tuple[float, float]
    """95% interval of the accuracy; (0, 1) in an empty bin."""


def expected_calibration_error(confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = BINS) -> float | None:
    """ECE = Σ_b (n_b/N) |accuracy_b - confidence_b| over equally wide bins; times 100 it is in percentage points.

    M. Pakdaman Naeini et al., Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015;
    C. Guo et al., On calibration of modern neural networks, ICML 2017, Eq. 3. A confidence on the border of two bins
    is in the upper one, and 1 in the last, as in MSQA; Guo et al. put borders into the lower one.
    """
    sure, right = _answers(confidence, correct)
    if not len(sure):
        return None
    # n_b |mean difference| is |sum of differences|, so that no bin needs dividing, not even an empty one.
    gaps = np.bincount(_places(sure, bins), weights=right - sure, minlength=bins)
    return float(np.abs(gaps).sum() / len(sure))


def brier_score(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> float | None:
    """Mean of (confidence - right)²: 0 is best, 0.25 is what 0.5 throughout gives, 1 is always sure and wrong.

    G. W. Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78 (1950), 1-3,
    whose sum over both outcomes is twice this, the usual form for two.
    """
    sure, right = _answers(confidence, correct)
    return float(((sure - right) ** 2).mean()) if len(sure) else None


def reliability_curve(confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = BINS) -> list[Bin]:
    """Confidence and accuracy of each of the equally wide bins of `expected_calibration_error`, empty ones included.

    A. Niculescu-Mizil and R. Caruana, Predicting good probabilities with supervised learning, ICML 2005, section 4.
    """
    sure, right = _answers(confidence, correct)
    places = _places(sure, bins)
    counts = np.bincount(places, minlength=bins).tolist()
    sums = np.bincount(places, weights=sure, minlength=bins).tolist()
    hits = np.bincount(places, weights=right, minlength=bins).astype(int).tolist()
    edges = _edges(bins).tolist()
    return [
        Bin(low, high, n, total / n if n else None, k / n if n else None, share_interval(k, n))
        for low, high, n, total, k in zip(edges[:-1], edges[1:], counts, sums, hits, strict=True)
    ]


def _answers(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[_Array, _Array]:
    """Both as numbers, checked."""
    sure, right = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != right.shape:
        raise ValueError(f"{sure.size} confidences and {right.size} answers; give two lists, one of each per answer")
    if np.isnan(sure).any():
        raise ValueError("a confidence is missing; leave out the answers without one, and say how many")
    if ((sure < 0) | (sure > 1)).any():
        wrong = sure[(sure < 0) | (sure > 1)][0]
        raise ValueError(f"confidence {wrong:g} is not from 0 to 1; divide percentages by 100")
    if not np.isin(right, (0, 1)).all():
        raise ValueError("an answer is neither right (1, True) nor wrong (0, False); leave out what was not judged")
    return sure, right


def _edges(bins: int) -> _Array:
    if bins < 1:
        raise ValueError(f"{bins} bins; give at least 1")
    # Divided, not multiplied by a step: 3/10 is the very number that 0.3 is, and 3 * 0.1 is not.
    return np.arange(bins + 1) / bins


def _places(confidence: _Array, bins: int) -> npt.NDArray[np.intp]:
    """The bin of each confidence."""
    return np.minimum(np.searchsorted(_edges(bins), confidence, side="right") - 1, bins - 1)
