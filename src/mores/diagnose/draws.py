"""Questions drawn with replacement, as matrices: every figure of every resample is then a product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mores.stats.classification import Floats
from mores.stats.resampling import percentiles

RESAMPLES = 1000
_CELLS = 2_000_000
"""Cells that are held at once."""


def draw_counts(units: int, *, resamples: int = RESAMPLES, seed: int = 0, width: int = 1) -> Iterator[Floats]:
    """Blocks of resamples × units: how often each unit is drawn; `width` cells are later held for each."""
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(1, units, width))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, units, size=(rows, units)) + np.arange(rows)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def bounds(found: Floats) -> tuple[float | None, float | None]:
    """The 95% interval of resampled values; nothing where none is defined."""
    return percentiles(found) if not np.isnan(found).all() else (None, None)


def number(value: float) -> float | None:
    """None for nan."""
    return None if np.isnan(value) else float(value)
