"""The groups of a study, how their answers were rated, and the levels of each aspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from mores.errors import InputError
from mores.rating.ratings import InLanguage, IssueLevel, Rating
from mores.rating.records import Distribution, Groups, LevelCount
from mores.stats.intervals import mean_interval
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


def distribute(ratings: Sequence[Rating], groups: Groups, scale: tuple[float, ...]) -> Iterator[Distribution]:
    """Yield how the answers of each group were rated; groups without an answer are left out."""
    levels = {"model": groups.models, "type": groups.types, "language": groups.languages}
    for cut in CUTS:
        for names in product(*(levels[column] for column in cut)):
            group = dict(zip(cut, names, strict=True))
            members = [r for r in ratings if all(getattr(r, column) == name for column, name in group.items())]
            if members:
                yield spread(members, scale, **group)


def spread(members: Sequence[Rating], scale: tuple[float, ...], **group: str) -> Distribution:
    """Return how some answers were rated. Ratings of answers to one question are not independent."""
    rated = [(rating.rating, rating.question_key) for rating in members if rating.rating is not None]
    counts = Counter(value for value, _ in rated)
    mean = Result(name="mean", value=None, unscored=len(members))
    if rated:
        values, keys = [value for value, _ in rated], [key for _, key in rated]
        codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        low, high = scale[0], scale[-1]
        if low < high:
            low, high = mean_interval(values, groups=[codes[key] for key in keys], least=low, most=high)
        value, unscored = sum(values) / len(values), len(members) - len(values)
        mean = Result(name="mean", value=value, low=low, high=high, n=len(values), unscored=unscored)
    return Distribution(**group, counts=tuple(counts[value] for value in scale), mean=mean)


def count_levels(ratings: Sequence[Rating], groups: Groups, aspect: str) -> Iterator[LevelCount]:
    """Yield how many answers of each language, model and type have each level of an aspect."""
    for language, model, type_ in product(groups.languages or (None,), groups.models, groups.types or (None,)):
        members = [r for r in ratings if (r.language, r.model, r.type) == (language, model, type_)]
        if members:
            counts = Counter(getattr(rating, aspect) for rating in members)
            levels = {level: counts[level] for level in LEVELS[aspect]}
            yield LevelCount(model=model, type=type_, language=language, counts=levels, missing=counts[None])
