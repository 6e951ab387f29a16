"""Ratings by any column of their file: `mores rate --by COLUMN`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from mores.metric.groups import FEWEST, find_column, order_groups, value_of
from mores.rating.groups import RatingColumns, find_groups, spread
from mores.rating.population import measure_points, widen
from mores.rating.ratings import Rating
from mores.rating.records import Distribution, Points
from mores.stats.mixed import Fit

FIELDS = ("language", "type", "annotator", "question_id")
"""Columns that ratings have besides their metadata."""


def find_fields(ratings: Iterable[Rating], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of ratings that a person means, in any case; ConfigError where there is none of a name."""
    kept = dict.fromkeys(FIELDS[1:])
    for rating in ratings if names else ():
        kept |= dict.fromkeys(rating.metadata)
    return tuple(dict.fromkeys(find_column(name, kept, {}) for name in names))


def ratings_by(
    ratings: Sequence[Rating], column: str, scale: tuple[float, ...], fitted: Fit | None
) -> dict[str, tuple[Distribution, ...]]:
    """Return how the answers of each group of a column were rated: those of each model, and of all where several are.

    Those without a value are the last group, called "". With a fit, intervals are about other raters too.
    """
    values = [value_of(rating, column, FIELDS) or "" for rating in ratings]
    models = sorted({rating.model for rating in ratings})
    columns, groups = RatingColumns(ratings), np.array(values, dtype=object)
    rated = np.array([rating.rating is not None for rating in ratings])
    cells = RatingColumns([rating for rating in ratings if rating.rating is not None])
    found: dict[str, list[Distribution]] = {}
    named = order_groups(set(values))
    for value, model in product(named, (None, *models) if len(models) > 1 else models):
        rows = columns.rows_of(model=model) & (groups == value)
        if rows.any():
            group = spread(columns, rows, scale, **({"model": model} if model else {}))
            found.setdefault(value, []).append(widen(group, cells, fitted, scale, rows[rated]) if fitted else group)
    return {value: tuple(each) for value, each in found.items()}


def points_by(ratings: Sequence[Rating], columns: Iterable[str]) -> dict[str, dict[str, Points]]:
    """Return the differences of models in each group, by column, that has some questions."""
    found: dict[str, dict[str, Points]] = {}
    rated = [rating for rating in ratings if rating.rating is not None]
    for column in columns:
        groups: dict[str, list[Rating]] = {}
        for rating in rated:
            if (value := value_of(rating, column, FIELDS)) is not None:
                groups.setdefault(value, []).append(rating)
        for value, rows in sorted(groups.items()):
            if len({row.question_key for row in rows}) >= FEWEST:
                points, _ = measure_points(rows, find_groups(rows))
                if points.differences.get("model"):
                    found.setdefault(column, {})[value] = points
    return found
