"""A run of `mores rate`: the ratings as they were read, and what they say.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `ratings.jsonl` | one `Rating` per line, in the order of the file |
| `rate.json` | the `RatingStudy` |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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

    def ratings(self) -> Iterator[Rating]:
        """Return every rating, in the order of the file."""
        return self.records(RATINGS, Rating)
