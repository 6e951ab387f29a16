"""The groups of a study, how their answers were rated, and the levels of each aspect."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from mores.errors import InputError
from mores.rating.ratings import InLanguage, IssueLevel, Rating
from mores.rating.records import Distribution, Groups, LevelCount, sort_by_mean
from mores.stats.results import difference_result, mean_result
from mores.types import Result

TYPES = ("specific", "agnostic")
"""CaLMQA's types of questions, in the order of its tables; others follow in the order of their names."""
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
LONGEST = 11
"""A scale of whole numbers with so many places is shown with all of them, used or not."""
LEVELS = {
    "language_correct": tuple(map(str, InLanguage)),
    "factuality": tuple(map(str, IssueLevel)),
    "omissions": tuple(map(str, IssueLevel)),
}
"""The levels of each aspect, from good to bad."""
CUTS = ((), ("model",), ("type",), ("language",), ("model", "type"), ("language", "model", "type"))
"""What distributions are broken down by."""


def find_groups(ratings: Sequence[Rating]) -> Groups:
    """Return the models, types, languages and annotators that occur."""
    types = {rating.type for rating in ratings if rating.type}
    return Groups(
        models=tuple(sorted({rating.model for rating in ratings})),
        types=(*(name for name in TYPES if name in types), *sorted(types.difference(TYPES))),
        languages=tuple(sorted({rating.language for rating in ratings if rating.language})),
        annotators=tuple(sorted({rating.annotator for rating in ratings})),
    )


def find_scale(ratings: Iterable[Rating], given: tuple[float, float] | None) -> tuple[tuple[float, ...], bool]:
    """Return the ratings that can be given, and whether that is known rather than what occurs.

    Whole numbers from 1 to 5 are CaLMQA's scale. Without a given scale, any others are taken for all that there are.
    """
    values = sorted({rating.rating for rating in ratings if rating.rating is not None})
    if not values:
        return (), False
    low, high = map(float, given or (values[0], values[-1]))
    for value in values:
        if not low <= value <= high:
            raise InputError(f"a rating of {value:g} is not on the scale from {low:g} to {high:g}", setting="scale")
    whole = all(value.is_integer() for value in (low, high, *values))
    if given is None and whole and set(values) <= set(FIVE):
        return FIVE, True
    if whole and high - low < LONGEST:
        return tuple(float(value) for value in range(int(low), int(high) + 1)), given is not None
    return tuple(sorted({low, *values, high})), given is not None


class RatingColumns:
    """The columns that ratings are grouped by, to find the rows of a group."""

    def __init__(self, ratings: Sequence[Rating]) -> None:
        self._columns = {
            name: np.array([getattr(rating, name) for rating in ratings], dtype=object)
            for name in ("model", "type", "language")
        }
        codes: dict[tuple[str, str], int] = {}
        self.questions = np.array([codes.setdefault(rating.question_key, len(codes)) for rating in ratings])
        """The question of each row, as a number."""
        self.values = np.array([np.nan if rating.rating is None else rating.rating for rating in ratings])
        """Each row's rating; nan where there is none."""

    def rows_of(self, **group: str | None) -> npt.NDArray[np.bool_]:
        """Return which rows have these values; None stands for any."""
        rows = np.ones(len(self.questions), dtype=bool)
        for name, value in group.items():
            rows &= True if value is None else self._columns[name] == value
        return rows


def distribute(ratings: Sequence[Rating], groups: Groups, scale: tuple[float, ...]) -> Iterator[Distribution]:
    """Yield how the answers of each group were rated; groups without an answer are left out."""
    levels = {"model": groups.models, "type": groups.types, "language": groups.languages}
    columns = RatingColumns(ratings)
    for cut in CUTS:
        for names in product(*(levels[column] for column in cut)):
            group = dict(zip(cut, names, strict=True))
            rows = columns.rows_of(**group)
            if rows.any():
                yield spread(columns, rows, scale, **group)


def spread(columns: RatingColumns, rows: npt.NDArray[np.bool_], scale: tuple[float, ...], **group: str) -> Distribution:
    """Return how some answers were rated. Ratings of answers to one question are not independent."""
    values, questions = columns.values[rows], columns.questions[rows]
    rated = values[~np.isnan(values)]
    mean = Result(name="mean", value=None, unscored=len(values) - len(rated))
    if len(rated):
        update = {"low": scale[0], "high": scale[-1], "n": len(rated)}
        if scale[0] < scale[-1]:
            mean, update = mean_result("mean", values, groups=questions, least=scale[0], most=scale[-1]), {}
        mean = mean.model_copy(update={**update, "value": sum(rated.tolist()) / len(rated)})
    return Distribution(**group, counts=tuple(int((rated == value).sum()) for value in scale), mean=mean)


def compare_best(ratings: Sequence[Rating], means: Sequence[Distribution], scale: Sequence[float]) -> dict[str, Result]:
    """Return the highest mean less that of each other model, on the questions of both; nothing if all are rated."""
    if not any(each.mean.unscored for each in means) or len(scale) < 2:
        return {}
    given: dict[str, dict[tuple[str, str], list[float]]] = {str(each.model): defaultdict(list) for each in means}
    for rating in ratings:
        given[rating.model][rating.question_key].append(np.nan if rating.rating is None else rating.rating)
    best, *others = map(str, (each.model for each in sort_by_mean(means)))
    gaps = {}
    for other in others:
        shared = [key for key in given[best] if key in given[other]]
        sides = [[np.array(given[model][key]) for key in shared] for model in (best, other)]
        values = [[np.nan if np.isnan(x).all() else float(np.nanmean(x)) for x in side] for side in sides]
        worst, best_case = (
            [np.array([np.nan_to_num(x, nan=end).mean() for x in side]) for side in sides]
            for end in (scale[0], scale[-1])
        )
        ends = ((worst[0], best_case[0]), (worst[1], best_case[1]))
        name, (least, most) = f"{best} less {other}", (scale[0], scale[-1])
        gaps[other] = difference_result(name, *values, least=least, most=most, ends=ends)
    return gaps


def count_levels(ratings: Sequence[Rating], groups: Groups, aspect: str) -> Iterator[LevelCount]:
    """Yield how many answers of each language, model and type have each level of an aspect."""
    for language, model, type_ in product(groups.languages or (None,), groups.models, groups.types or (None,)):
        members = [r for r in ratings if (r.language, r.model, r.type) == (language, model, type_)]
        if members:
            counts = Counter(getattr(rating, aspect) for rating in members)
            levels = {level: counts[level] for level in LEVELS[aspect]}
            yield LevelCount(model=model, type=type_, language=language, counts=levels, missing=counts[None])
