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

from mores.rating.ratings import Rating
from mores.rating.records import Groups, Pairwise, Placing, Ranking
from mores.stats.results import mean_result
from mores.types import Result


class ModelComparison(NamedTuple):
    """The models of one comparison with what they are ordered by, the lowest first."""

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


def rank_models(ratings: Sequence[Rating], groups: Groups) -> Ranking | None:
    """Return the ranking of the models; None where nobody compared two of them."""
    trials: dict[tuple[str, ...], list[Rating]] = defaultdict(list)
    for rating in ratings:
        trials[rating.annotator, *rating.question_key].append(rating)
    several = [members for members in trials.values() if len({rating.model for rating in members}) > 1]
    derived = all(rating.rank is None for rating in ratings)
    every = [compare(members, derived) for members in several]
    comparisons = [each for each in every if each.whole]
    if not comparisons:
        return None
    types = [None, *groups.types] if len(groups.types) > 1 else [None]
    return Ranking(
        derived=derived,
        comparisons=len(comparisons),
        left_out=len(several) - len(comparisons),
        placings=tuple(
            placed
            for type_ in types
            for model in groups.models
            if (placed := place([c for c in every if type_ in (None, c.type)], model, type_, len(groups.models)))
        ),
        pairs=tuple(pair for first, second in combinations(groups.models, 2) if (pair := versus(every, first, second))),
    )


def compare(members: Sequence[Rating], derived: bool) -> ModelComparison:
    """Return a comparison, which is not whole where an answer has no place, or a model several answers."""
    ratings = {rating.model: -rating.rating for rating in members if rating.rating is not None}
    ranks = {rating.model: float(rating.rank) for rating in members if rating.rank is not None}
    keys = ratings if derived else ranks
    if len(keys) == len(members):
        return ModelComparison(members[0].question_key, members[0].type, keys)
    nowhere = dict.fromkeys((rating.model for rating in members), math.nan)
    return ModelComparison(members[0].question_key, members[0].type, nowhere, whole=False)


def place(comparisons: Iterable[ModelComparison], model: str, type_: str | None, size: int) -> Placing | None:
    """Return the places of a model in the comparisons that it is part of."""
    met = [each for each in comparisons if model in each.keys]
    if not (played := [each for each in met if each.whole]):
        return None
    places = [each.place(model) for each in played]
    wins = share(f"wins of {model}", [each.win(model) if each.whole else math.nan for each in met], met)
    counts = tuple(places.count(number) for number in range(1, size + 1))
    return Placing(model=model, type=type_, places=counts, wins=wins)


def versus(comparisons: Iterable[ModelComparison], first: str, second: str) -> Pairwise | None:
    """Return two models in the comparisons that both are part of."""
    met = [each for each in comparisons if first in each.keys and second in each.keys]
    gaps = [each.keys[second] - each.keys[first] for each in met]  # nan where the comparison is not whole
    won, tied, lost = (sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap < 0 for gap in gaps))
    if not won + lost + tied:
        return None
    credit = [gap if math.isnan(gap) else 0.5 if not gap else float(gap > 0) for gap in gaps]
    rate = share(f"{first} before {second}", credit, met)
    return Pairwise(first=first, second=second, won=won, tied=tied, lost=lost, rate=rate)


def share(name: str, credit: Sequence[float], met: Sequence[ModelComparison]) -> Result:
    """Return the mean of what was won; several annotators' comparisons of one question are not independent."""
    codes = {key: code for code, key in enumerate(dict.fromkeys(each.question for each in met))}
    return mean_result(name, credit, groups=[codes[each.question] for each in met])
