"""Where to cut a score into right and wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def best_cut(scores: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """The cut with the highest balanced accuracy when scores at or above it are called right; the lowest such cut.

    Halfway between two neighbouring scores, so that a score that is a little off falls on the same side.
    """
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(right, dtype=bool)
    if values.size == 0 or labels.all() or not labels.any():
        raise ValueError("a cut needs scores of right and of wrong samples")
    levels, place = np.unique(values, return_inverse=True)
    right_below = np.cumsum(np.bincount(place, weights=labels)) / labels.sum()
    wrong_below = np.cumsum(np.bincount(place, weights=~labels)) / (~labels).sum()
    gains = np.concatenate([[0.0], wrong_below - right_below])
    best = int(gains.argmax())
    if best == 0:
        return float(levels[0])
    return float(levels[best - 1] + levels[best]) / 2 if best < levels.size else float(np.nextafter(levels[-1], np.inf))
