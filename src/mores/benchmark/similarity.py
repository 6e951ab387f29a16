"""How similar a model's choices are to people's: 1 less the Jensen-Shannon distance of the two distributions.

From a few answers to each question it comes out too low, even for a model that answers exactly as people do: three
answers cannot have the shares of a thousand. No correction of the single question holds for few answers, so the figure
is not corrected, and what others reach with as many answers stands beside it (`references_of_samples`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from mores.stats.distributions import jensen_shannon, jensen_shannon_of_draws

SIMILARITY = "similarity"
PERFECT, ALIKE = f"a perfect model, {SIMILARITY}", f"all options alike, {SIMILARITY}"
DRAWS = 20_000
"""Draws over all questions together, and at least 20 of each: enough for three digits."""


def similarity(people: Mapping[str, float], chosen: Mapping[str, float]) -> float | None:
    """Return 1 for the same shares, 0 where no choice is shared; None without a choice."""
    distance = jensen_shannon(list(people.values()), [chosen.get(choice, 0.0) for choice in people])
    return None if distance is None else 1 - distance


def references(people: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return what a model reaches that gives every option the same probability."""
    alike = [similarity(shares, dict.fromkeys(shares, 1.0)) for shares in people]
    values = [value for value in alike if value is not None]
    return {ALIKE: fmean(values)} if values else {}


def references_of_samples(people: Sequence[Mapping[str, float]], answers: Sequence[int]) -> dict[str, float]:
    """Return what two models reach on average from so many answers: one like people, one that draws lots."""
    generator, draws = np.random.default_rng(0), max(20, DRAWS // max(1, len(people)))
    similarities: dict[str, list[float]] = {PERFECT: [], ALIKE: []}
    for opinions, n in zip(people, answers, strict=True):
        shares = list(opinions.values())
        for name, model in ((PERFECT, shares), (ALIKE, [1.0] * len(shares))):
            if n and (distance := jensen_shannon_of_draws(shares, model, n, draws, generator)) is not None:
                similarities[name].append(1 - distance)
    return {name: fmean(values) for name, values in similarities.items() if values}
