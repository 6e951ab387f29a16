"""People of known skill who vote on items of known label, to see what methods and rules make of their votes.

crowd = draw_crowd(items=200, people=30, labels=4, rng=np.random.default_rng(0))
fit = fit_dawid_skene(crowd.table(votes=5))
(fit.posterior.argmax(axis=1) == crowd.truth).mean()
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mores.stats.annotators.votes import LabelTable
from mores.stats.classification import Floats
from mores.stats.resampling import Indices


@dataclass(frozen=True)
class Crowd:
    """What everybody would answer to everything, and in which order each item meets people."""

    truth: Indices
    """Of each item; labels are numbers from 0."""
    accuracy: Floats
    """Of each person, on items that are not hard."""
    labels: int
    answers: Indices
    """Items × people."""
    order: Indices
    """Items × people: who is asked first, second, …"""

    def table(self, votes: int | Indices) -> LabelTable:
        """Return the votes when each item is asked so many times; one number for all items, or one of each."""
        items, people = self.order.shape
        asked = np.arange(people) < np.broadcast_to(votes, items)[:, None]
        item, turn = np.nonzero(asked)
        person = self.order[item, turn]
        names = tuple(range(items)), tuple(range(people)), tuple(range(self.labels))
        return LabelTable(*names, item, person, self.answers[item, person])


def draw_crowd(
    items: int,
    people: int,
    labels: int,
    rng: np.random.Generator,
    *,
    accuracy: tuple[float, float] = (0.5, 0.95),
    hard: float = 0.0,
) -> Crowd:
    """People whose accuracy is evenly spread between two bounds; who errs gives any other label.

    On the share `hard` of the items everybody knows only a third as much beyond guessing.
    """
    skill = rng.uniform(*accuracy, people)
    guess = 1 / labels
    knows = np.where(rng.random(items) < hard, 1 / 3, 1.0)
    truth = rng.integers(0, labels, items)
    correct = rng.random((items, people)) < guess + (skill - guess) * knows[:, None]
    wrong = (truth[:, None] + rng.integers(1, labels, (items, people))) % labels
    order = rng.permuted(np.tile(np.arange(people), (items, 1)), axis=1)
    return Crowd(truth, skill, labels, np.where(correct, truth[:, None], wrong), order)
