"""Proportional odds: a test that effects are the same at every threshold of a cumulative link model.

Each threshold has a logistic regression of its own, of a rating above it; the test is Wald's that their slopes are
equal (R. Brant, Assessing proportionality in the proportional odds model, Biometrics 46 (1990), 1171-1178), with the
joint covariance of all slopes summed over clusters of rows, because ratings of one question depend on each other, and
as F with as many denominator degrees of freedom as clusters are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import f

from mores.stats.mixed.design import Codes, Floats
from mores.stats.resampling import group_codes

LARGEST = 12.0
"""A slope beyond this has no finite estimate."""


@dataclass(frozen=True, slots=True)
class OddsCheck:
    """A test of proportional odds."""

    p: float
    slopes: Floats
    """Thresholds × effects: the log odds of a rating above each threshold."""


def check_odds(codes: Codes, matrix: Floats, clusters: npt.ArrayLike) -> OddsCheck | None:
    """Return the test for the ratings' places and the columns of their effects; None where data are too few for it."""
    cuts, effects = int(codes.max()), matrix.shape[1]
    names = group_codes(clusters, len(codes))
    size, freedom = int(names.max()) + 1, (cuts - 1) * effects
    if freedom < 1 or size < 2 * freedom + 2:
        return None
    columns = np.column_stack([np.ones(len(codes)), matrix])
    slopes, moves = [], []
    for cut in range(cuts):
        above = (codes > cut).astype(np.float64)
        estimate = np.zeros(effects + 1)
        for _ in range(25):
            chance = expit(columns @ estimate)
            curvature = columns.T @ (columns * (chance * (1 - chance))[:, None])
            try:
                step = np.linalg.solve(curvature, columns.T @ (above - chance))
            except np.linalg.LinAlgError:
                return None
            estimate = estimate + step
            if np.abs(estimate).max() > LARGEST:
                return None
            if np.abs(step).max() < 1e-8:
                break
        scores = columns * (above - expit(columns @ estimate))[:, None]
        summed = np.column_stack([np.bincount(names, column, size) for column in scores.T])
        moves.append((summed @ np.linalg.inv(curvature))[:, 1:])
        slopes.append(estimate[1:])
    moved = np.hstack([move - moves[0] for move in moves[1:]])
    apart = np.concatenate([slope - slopes[0] for slope in slopes[1:]])
    covariance = moved.T @ moved * size / (size - 1)
    if np.linalg.matrix_rank(covariance) < freedom:
        return None
    wald = float(apart @ np.linalg.solve(covariance, apart))
    left = size - freedom
    return OddsCheck(float(f.sf(wald * left / (freedom * (size - 1)), freedom, left)), np.array(slopes))
