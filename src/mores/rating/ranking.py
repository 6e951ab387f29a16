"""The answers that people prefer: win rates, places and every two models (CaLMQA, Table 23, Figures 23 and 24).

A comparison is what one annotator says about the answers of several models to one question. Places are those that the
annotator gave; in a file without rankings they follow from the ratings, and answers with the same rating tie. A
comparison in which an answer has no place is missing: whoever is in it might have won or lost it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.rating.ratings import Rating
from mores.rating.records import Groups, Pairwise, Placing, Ranking
from mores.stats.classification import Floats, Ints
from mores.stats.intervals import TAIL, Z95, Interval, limits_of
from mores.stats.results import mean_result
from mores.types import Result

FEWEST = 3
"""Raters from which intervals are about other raters too; those who are alone in their language do not count."""


class Comparisons(NamedTuple):
    """Comparisons × models: what the models are ordered by, the lowest first."""

    keys: Floats
    """nan where a model is not compared, and in a whole row where one of its answers has no place, or a model several
    answers: what they are ordered by then says nothing."""
    met: npt.NDArray[np.bool_]
    """Which models are compared."""
    raters: Ints
    questions: Ints
    types: npt.NDArray[np.object_]

    def of(self, rows: npt.NDArray[np.bool_]) -> Comparisons:
        """Return some of the comparisons."""
        return Comparisons(self.keys[rows], self.met[rows], self.raters[rows], self.questions[rows], self.types[rows])

    @property
    def whole(self) -> npt.NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.keys).all(axis=1))


def rank_models(ratings: Sequence[Rating], groups: Groups, over_raters: bool = False) -> Ranking | None:
    """Return the ranking of the models; None where nobody compared two of them.

    Intervals are over questions, and over raters too where `over_raters` and three or more compared.
    """
    trials: dict[tuple[str, ...], list[Rating]] = defaultdict(list)
    for rating in ratings:
        trials[rating.annotator, *rating.question_key].append(rating)
    several = [members for members in trials.values() if len({rating.model for rating in members}) > 1]
    derived = all(rating.rank is None for rating in ratings)
    every = compare(several, groups.models, derived)
    if not every.whole.any():
        return None
    firsts = [members[0] for members, whole in zip(several, every.whole.tolist(), strict=True) if whole]
    languages, people = {r.language for r in firsts}, {(r.language, r.annotator) for r in firsts}
    over_raters = (
        over_raters and len(people) - len(languages) >= FEWEST - 1 and len({r.question_key for r in firsts}) > 1
    )
    types = [None, *groups.types] if len(groups.types) > 1 else [None]
    of_type = {type_: every if type_ is None else every.of(every.types == type_) for type_ in types}
    return Ranking(
        derived=derived,
        over_raters=over_raters,
        comparisons=int(every.whole.sum()),
        left_out=int((~every.whole).sum()),
        placings=tuple(
            placed
            for type_ in types
            for model in groups.models
            if (placed := place(of_type[type_], groups.models, model, type_, over_raters))
        ),
        pairs=tuple(
            pair
            for first, second in combinations(groups.models, 2)
            if (pair := versus(every, groups.models, first, second, over_raters))
        ),
    )


def compare(trials: Sequence[Sequence[Rating]], models: Sequence[str], derived: bool) -> Comparisons:
    """Return the answers that a person gave a place among each other, by their ratings where no row has a rank."""
    column = {model: n for n, model in enumerate(models)}
    every, sizes = [rating for members in trials for rating in members], [len(members) for members in trials]
    rows, columns = np.repeat(np.arange(len(trials)), sizes), np.array([column[r.model] for r in every], dtype=np.intp)
    ranks = [rating.rating if derived else rating.rank for rating in every]
    places = np.array([np.nan if rank is None else -rank if derived else rank for rank in ranks])
    keys, met = np.full((len(trials), len(models)), np.nan), np.zeros((len(trials), len(models)), dtype=bool)
    keys[rows, columns], met[rows, columns] = places, True
    unplaced = np.bincount(rows, np.isnan(places), len(trials)) > 0
    keys[unplaced | (met.sum(axis=1) < sizes)] = np.nan
    firsts = [members[0] for members in trials]
    raters, questions = dict[tuple[str | None, str], int](), dict[tuple[str, str], int]()
    return Comparisons(
        keys,
        met,
        np.array([raters.setdefault((r.language, r.annotator), len(raters)) for r in firsts], dtype=np.intp),
        np.array([questions.setdefault(r.question_key, len(questions)) for r in firsts], dtype=np.intp),
        np.array([r.type for r in firsts], dtype=object),
    )


def place(
    comparisons: Comparisons, models: Sequence[str], model: str, type_: str | None, over_raters: bool
) -> Placing | None:
    """Return the places of a model in the comparisons that it is part of; those that tie share the better one."""
    n = models.index(model)
    met = comparisons.of(comparisons.met[:, n])
    played = met.whole
    if not played.any():
        return None
    better, equal = (met.keys < met.keys[:, [n]]).sum(axis=1), (met.keys == met.keys[:, [n]]).sum(axis=1)
    credit = np.full(len(played), np.nan)
    credit[played] = (better[played] == 0) / equal[played]  # what it has of the first place
    counts = np.bincount(better[played], minlength=len(models)).tolist()
    wins = share(f"wins of {model}", credit, met, over_raters)
    return Placing(model=model, type=type_, places=tuple(counts), wins=wins)


def versus(
    comparisons: Comparisons, models: Sequence[str], first: str, second: str, over_raters: bool
) -> Pairwise | None:
    """Return two models in the comparisons that both are part of."""
    one, two = models.index(first), models.index(second)
    met = comparisons.of(comparisons.met[:, one] & comparisons.met[:, two])
    gaps = met.keys[:, two] - met.keys[:, one]
    won, tied, lost = (int(count.sum()) for count in (gaps > 0, gaps == 0, gaps < 0))
    if not won + lost + tied:
        return None
    rate = share(f"{first} before {second}", (np.sign(gaps) + 1) / 2, met, over_raters)
    return Pairwise(first=first, second=second, won=won, tied=tied, lost=lost, rate=rate)


def share(name: str, credit: Floats, met: Comparisons, over_raters: bool) -> Result:
    """Return the mean of what was won; several annotators' comparisons of one question are not independent."""
    result = mean_result(name, credit, groups=met.questions)
    if not over_raters or len(np.unique(met.raters)) < FEWEST or len(np.unique(met.questions)) < 2:
        return result
    scored = ~np.isnan(credit)
    low, high = crossed_interval(credit[scored], met.raters[scored], met.questions[scored])
    whole = result.whole and (min(result.whole[0], low), max(result.whole[1], high))
    return result.model_copy(update={"low": low, "high": high, "whole": whole})


def crossed_interval(values: Floats, raters: Ints, questions: Ints) -> Interval:
    """Return the 95% interval of a mean of values from 0 to 1, over other raters and other questions.

    Variances over raters and over questions, each of the sums of a level's values, have the variance of single values
    twice: V = V_r + V_q - V_single (A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007),
    386-411; A. C. Cameron, J. B. Gelbach and D. L. Miller, Journal of Business and Economic Statistics 29 (2011),
    238-249), and no less than either. Student's t with Satterthwaite's degrees of freedom of the two.
    """
    from scipy.stats import t  # not above: it takes 20 MB, which the studio seldom needs

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
