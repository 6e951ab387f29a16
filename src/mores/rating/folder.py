"""A run of `mores rate`: the ratings as they were read, and what they say.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `ratings.jsonl` | one `Rating` per line, in the order of the file |
| `rate.json` | the `RatingStudy` |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from mores.rating.columns import find_fields, points_by, ratings_by
from mores.rating.population import measure_points
from mores.rating.ratings import Rating
from mores.rating.records import RatingStudy
from mores.run import Run

RATINGS, RESULT = "ratings.jsonl", "rate.json"


class RateRun(Run):
    """The analysis of a file of ratings."""

    @cached_property
    def result(self) -> RatingStudy:
        """All figures."""
        return self.record(RESULT, RatingStudy)

    def result_by(self, columns: Sequence[str]) -> RatingStudy:
        """Return the result with its ratings by these columns of the file too."""
        study, ratings = self.result, list(self.ratings())
        names = [name for name in find_fields(ratings, columns) if name not in study.by and study.scale]
        if not names:
            return study  # without a model, which takes long for a large study
        points, linear = measure_points(ratings, study.groups) if study.points else (None, None)
        fitted = linear if points and points.over_raters else None
        found = {name: ratings_by(ratings, name, study.scale, fitted) for name in names}
        compared = points_by(ratings, names) if study.points else {}
        return study.model_copy(update={"by": study.by | found, "points_by": study.points_by | compared})

    def ratings(self) -> Iterator[Rating]:
        """Return every rating, in the order of the file."""
        return self.records(RATINGS, Rating)
