"""Labels of items, abilities of people and difficulties of items from votes: GLAD.

A person of ability α labels an item of easiness β = exp(b) > 0 correctly with the probability σ(αβ), else with each
other label equally often. An ability of 0 is guessing with two labels, and a negative one is being wrong on purpose.
J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma and J. Movellan, Whose vote should count more: Optimal integration of labels
from labelers of unknown expertise, Advances in Neural Information Processing Systems 22 (2009), 2035-2043.

As in the paper, α and b have normal priors with mean 1 and variance 1. The M step, for which the paper
takes gradients, goes uphill in all abilities at once, then in all difficulties: given the others, each is a problem in
one unknown. So the objective never falls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mores.stats.agreement import Label
from mores.stats.annotators.votes import Name, VoteTable
from mores.stats.classification import Floats
from mores.stats.resampling import Indices

MEAN = 1.0
"""Of the normal priors, whose variance is 1."""
_STEPS = 3
"""Uphill steps of each unknown in one M step."""
_HALVINGS = 10


@dataclass(frozen=True)
class Glad:
    """The fitted model."""

    table: VoteTable
    posterior: Floats
    """Items × labels."""
    ability: Floats
    """Of each person, α."""
    easiness: Floats
    """Of each item, the logarithm b of β: the lower, the more difficult."""
    objective: tuple[float, ...]
    """The logarithm of likelihood and prior after each iteration, which never falls."""
    converged: bool

    @property
    def labels(self) -> tuple[Label, ...]:
        return self.table.labels

    @property
    def prevalence(self) -> Floats:
        """All labels are equally frequent."""
        return np.full(len(self.labels), 1 / len(self.labels))

    def best(self) -> dict[Name, Label]:
        """Return the most probable label of each item."""
        return {item: self.labels[n] for item, n in zip(self.table.items, self.posterior.argmax(axis=1), strict=True)}

    def skill(self, annotator: Name | None, item: Name | None = None) -> Floats:
        """True × given labels of a person on an item; averages for one who, or which, has no votes."""
        people, items, size = self.table.annotators, self.table.items, len(self.labels)
        ability = self.ability[people.index(annotator)] if annotator in people else _mean(self.ability)
        easiness = self.easiness[items.index(item)] if item in items else _mean(self.easiness)
        correct = float(_sigmoid(np.asarray(ability * np.exp(easiness))))
        return np.where(np.eye(size, dtype=bool), correct, (1 - correct) / (size - 1))


def fit_glad(
    table: VoteTable, *, known: Mapping[Name, Label] | None = None, tolerance: float = 1e-5, limit: int = 1000
) -> Glad:
    """Fit by EM, from the shares of the votes, until no probability changes by more than `tolerance`.

    `known` are items whose label is certain, such as attention checks.
    """
    size, places = len(table.labels), table.known_labels(known)
    if size < 2:
        raise ValueError(f"labels {list(table.labels)}; at least two are needed: give all that may be chosen")
    counts = table.counts
    posterior = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    posterior[places >= 0] = certain = np.eye(size)[places[places >= 0]]
    ability, easiness = np.full(len(table.annotators), MEAN), np.full(len(table.items), MEAN)
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < limit:
        correct = posterior[table.item, table.label]
        for _ in range(_STEPS):
            ability = _improve_abilities(table, correct, ability, np.exp(easiness)[table.item])
            easiness = _improve_easiness(table, correct, ability[table.annotator], easiness)
        before = posterior
        posterior, likelihood = _expect(table, places, ability[table.annotator] * np.exp(easiness)[table.item])
        posterior[places >= 0] = certain
        objective.append(likelihood - float(((ability - MEAN) ** 2).sum() + ((easiness - MEAN) ** 2).sum()) / 2)
        converged = bool(np.abs(posterior - before).max(initial=0.0) <= tolerance)
    return Glad(table, posterior, ability, easiness, tuple(objective), converged)


def _expect(table: VoteTable, known: Indices, strength: Floats) -> tuple[Floats, float]:
    """Return each item's probabilities and the logarithm of the likelihood; `strength` is αβ of each vote."""
    shape = len(table.items), len(table.labels)
    right, wrong = _log_sigmoid(strength), _log_sigmoid(-strength) - np.log(shape[1] - 1)
    joint = np.bincount(table.item, weights=wrong, minlength=shape[0])[:, None] - np.log(shape[1])
    places = table.item * shape[1] + table.label
    joint = joint + np.bincount(places, weights=right - wrong, minlength=shape[0] * shape[1]).reshape(shape)
    top = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - top)
    total = shares.sum(axis=1, keepdims=True)
    chances = np.where(known >= 0, joint[np.arange(shape[0]), known], (np.log(total) + top)[:, 0])
    return shares / total, float(chances.sum())


def _improve_abilities(table: VoteTable, correct: Floats, ability: Floats, beta: Floats) -> Floats:
    """Return one step; `correct` is the probability that each vote is, and `beta` that of its item."""
    people, count = table.annotator, len(ability)

    def value(at: Floats) -> Floats:
        found = _log_chance(correct, at[people] * beta)
        return np.bincount(people, weights=found, minlength=count) - (at - MEAN) ** 2 / 2

    chance = _sigmoid(ability[people] * beta)
    slope = np.bincount(people, weights=beta * (correct - chance), minlength=count) - (ability - MEAN)
    bend = np.bincount(people, weights=beta**2 * chance * (1 - chance), minlength=count) + 1
    return _climb(value, ability, slope / bend)


def _improve_easiness(table: VoteTable, correct: Floats, alpha: Floats, easiness: Floats) -> Floats:
    """Return one step by the expected curvature; `alpha` is that of each vote's person."""
    items, count = table.item, len(easiness)

    def value(at: Floats) -> Floats:
        found = _log_chance(correct, alpha * np.exp(at)[items])
        return np.bincount(items, weights=found, minlength=count) - (at - MEAN) ** 2 / 2

    strength = alpha * np.exp(easiness)[items]
    chance = _sigmoid(strength)
    slope = np.bincount(items, weights=strength * (correct - chance), minlength=count) - (easiness - MEAN)
    bend = np.bincount(items, weights=strength**2 * chance * (1 - chance), minlength=count) + 1
    return _climb(value, easiness, slope / bend)


def _climb(value: Callable[[Floats], Floats], at: Floats, step: Floats) -> Floats:
    """Steps of at most 1, each halved until its value does not fall; values do not depend on each other."""
    step, before = np.clip(step, -1.0, 1.0), value(at)
    for _ in range(_HALVINGS):
        falls = value(at + step) < before
        if not falls.any():
            return np.asarray(at + step, dtype=np.float64)
        step = np.where(falls, step / 2, step)
    return np.where(value(at + step) < before, at, at + step)


def _log_chance(correct: Floats, strength: Floats) -> Floats:
    return np.asarray(correct * _log_sigmoid(strength) + (1 - correct) * _log_sigmoid(-strength), dtype=np.float64)


def _sigmoid(x: Floats) -> Floats:
    return np.exp(_log_sigmoid(x))


def _log_sigmoid(x: Floats) -> Floats:
    return -np.logaddexp(0.0, -x)


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else MEAN
