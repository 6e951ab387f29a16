"""The threshold that divides scores into correct and wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mores.errors import InputError


def best_cut(scores: npt.ArrayLike, correct: npt.ArrayLike) -> float:
    """Return the cut with the highest balanced accuracy if scores at or above it count as correct; the lowest such cut.

    It lies halfway between two neighbouring scores, so that a slightly different score falls on the same side.
    """
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=bool)
    if values.size == 0 or labels.all() or not labels.any():
        raise InputError("a threshold needs both correct and wrong samples")
    levels, level = np.unique(values, return_inverse=True)
    right_below, wrong_below = (
        np.cumsum(np.bincount(level[part], minlength=levels.size)) for part in (labels, ~labels)
    )
    # Whole numbers, so that no rounding decides between two cuts.
    gains = np.concatenate([[0], wrong_below * labels.sum() - right_below * (~labels).sum()])
    best = int(gains.argmax())
    if best == 0:
        return float(levels[0])
    return float(levels[best - 1] + levels[best]) / 2 if best < levels.size else float(np.nextafter(levels[-1], np.inf))
