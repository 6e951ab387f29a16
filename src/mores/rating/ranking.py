"""Which answers people prefer: win rates, places and every two models (CaLMQA, Table 23, Figures 23 and 24).

A comparison is what one annotator says about the answers of several models to one question. Places are those that the
annotator gave; in a file without rankings they follow from the ratings, and answers with the same rating tie. A
comparison in which an answer has no place is missing: whoever is in it might have won or lost it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from mores.rating.ratings import Rating
from mores.rating.records import Groups, Pairwise, Placing, Ranking
from mores.stats.classification import Floats, Ints
from mores.stats.intervals import TAIL, Z95, Interval, limits_of
from mores.stats.results import mean_result
from mores.types import Result

FEWEST = 3
"""Raters from which intervals are about other raters too."""


class ModelComparison(NamedTuple):
    """The models of one comparison with what they are ordered by, the lowest first."""

    annotator: tuple[str | None, str]
    question: tuple[str, str]
    type: str | None
    keys: Mapping[str, float]
    whole: bool = True
    """Whether all of them have a place; otherwise what they are ordered by says nothing."""

    def place(self, model: str) -> int:
        """Return the place of a model; those that tie share the better one."""
        return 1 + sum(key < self.keys[model] for key in self.keys.values())

    def win(self, model: str) -> float:
        """Return what a model has of the first place."""
        best, keys = min(self.keys.values()), [*self.keys.values()]
        return 1 / keys.count(best) if self.keys[model] == best else 0.0


def rank_models(ratings: Sequence[Rating], groups: Groups, over_raters: bool = False) -> Ranking | None:
    """Return the ranking of the models; None where nobody compared two of them.

    Intervals are over questions, and over raters too where `over_raters` and three or more compared.
    """
    trials: dict[tuple[str, ...], list[Rating]] = defaultdict(list)
    for rating in ratings:
        trials[rating.annotator, *rating.question_key].append(rating)
    several = [members for members in trials.values() if len({rating.model for rating in members}) > 1]
    derived = all(rating.rank is None for rating in ratings)
    every = [compare(members, derived) for members in several]
    comparisons = [each for each in every if each.whole]
    if not comparisons:
        return None
    over_raters = over_raters and len({each.annotator for each in comparisons}) >= FEWEST
    types = [None, *groups.types] if len(groups.types) > 1 else [None]
    several_types = {type_: [each for each in every if type_ in (None, each.type)] for type_ in types}
    return Ranking(
        derived=derived,
        over_raters=over_raters,
        comparisons=len(comparisons),
        left_out=len(several) - len(comparisons),
        placings=tuple(
            placed
            for type_ in types
            for model in groups.models
            if (placed := place(several_types[type_], model, type_, len(groups.models), over_raters))
        ),
        pairs=tuple(
            pair
            for first, second in combinations(groups.models, 2)
            if (pair := versus(every, first, second, over_raters))
        ),
    )


def compare(members: Sequence[Rating], derived: bool) -> ModelComparison:
    """Return a comparison, which is not whole where an answer has no place, or a model several answers."""
    ratings = {rating.model: -rating.rating for rating in members if rating.rating is not None}
    ranks = {rating.model: float(rating.rank) for rating in members if rating.rank is not None}
    keys = ratings if derived else ranks
    whole, first = len(keys) == len(members), members[0]
    keys = keys if whole else dict.fromkeys((rating.model for rating in members), math.nan)
    return ModelComparison((first.language, first.annotator), first.question_key, first.type, keys, whole)


def place(
    comparisons: Iterable[ModelComparison], model: str, type_: str | None, size: int, over_raters: bool
) -> Placing | None:
    """Return the places of a model in the comparisons that it is part of."""
    met = [each for each in comparisons if model in each.keys]
    if not (played := [each for each in met if each.whole]):
        return None
    places = [each.place(model) for each in played]
    credit = [each.win(model) if each.whole else math.nan for each in met]
    wins = share(f"wins of {model}", credit, met, over_raters)
    counts = tuple(places.count(number) for number in range(1, size + 1))
    return Placing(model=model, type=type_, places=counts, wins=wins)


def versus(comparisons: Iterable[ModelComparison], first: str, second: str, over_raters: bool) -> Pairwise | None:
    """Return two models in the comparisons that both are part of."""
    met = [each for each in comparisons if first in each.keys and second in each.keys]
    gaps = [each.keys[second] - each.keys[first] for each in met]  # nan where the comparison is not whole
    won, tied, lost = (sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap < 0 for gap in gaps))
    if not won + lost + tied:
        return None
    credit = [gap if math.isnan(gap) else 0.5 if not gap else float(gap > 0) for gap in gaps]
    rate = share(f"{first} before {second}", credit, met, over_raters)
    return Pairwise(first=first, second=second, won=won, tied=tied, lost=lost, rate=rate)


def share(name: str, credit: Sequence[float], met: Sequence[ModelComparison], over_raters: bool) -> Result:
    """Return the mean of what was won; several annotators' comparisons of one question are not independent."""
    codes = {key: code for code, key in enumerate(dict.fromkeys(each.question for each in met))}
    questions = np.array([codes[each.question] for each in met])
    result = mean_result(name, credit, groups=questions)
    people = {key: code for code, key in enumerate(dict.fromkeys(each.annotator for each in met))}
    if not over_raters or len(people) < FEWEST or len(codes) < 2:
        return result
    scored = ~np.isnan(np.array(credit))
    raters = np.array([people[each.annotator] for each in met])
    low, high = crossed_interval(np.array(credit)[scored], raters[scored], questions[scored])
    whole = result.whole and (min(result.whole[0], low), max(result.whole[1], high))
    return result.model_copy(update={"low": low, "high": high, "whole": whole})


def crossed_interval(values: Floats, raters: Ints, questions: Ints) -> Interval:
    """Return the 95% interval of a mean of values from 0 to 1, over other raters and other questions.

    Variances over raters and over questions, each of the sums of a level's values, have the variance of single values
    twice: V = V_r + V_q - V_single (A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007),
    386-411; A. C. Cameron, J. B. Gelbach and D. L. Miller, Journal of Business and Economic Statistics 29 (2011),
    238-249), and no less than either. Student's t with Satterthwaite's degrees of freedom of the two.
    """
    moved = (values - values.mean()) / len(values)
    codes = [np.unique(levels, return_inverse=True)[1] for levels in (raters, questions)]
    sizes = [int(levels.max()) + 1 for levels in codes]
    over = [
        size / max(1, size - 1) * float((np.bincount(levels, moved) ** 2).sum())
        for levels, size in zip(codes, sizes, strict=True)
    ]
    variance = max(sum(over) - float(moved @ moved), *over)
    spread = sum(part**2 / max(1, size - 1) for part, size in zip(over, sizes, strict=True))
    reach = float(t.isf(TAIL, max(1.0, variance**2 / spread))) / Z95 if spread else 1.0
    return limits_of(float(values.mean()), variance * reach**2, float(sizes[1]))
