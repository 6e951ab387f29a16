"""Labels of items and skills of people from their votes: the model of Dawid and Skene.

    fit = fit_dawid_skene(table_votes([("q1", "ann", "yes"), ("q1", "bo", "no"), …]))
    fit.posterior            # items × labels: how probable each label is
    fit.skill("ann")         # true × given: how often Ann gives each label to items of each true label

Each item has one true label, with the prevalence p of its label; a person k who sees an item of label j says l with the
probability π[k, j, l], whatever the others say. A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer
error-rates using the EM algorithm, Applied Statistics 28 (1979), 20-28.

Their maximum likelihood believes that a person who agreed on three items never errs. So skills have Dirichlet priors,
in two steps: first one matrix is fitted for all people together, then each person's is pulled towards it as if it
were `Prior.strength` more votes. A newcomer is thus as good as the average. And since an item's votes would confirm
themselves through the skills that they teach, its probabilities are those by the skills that all other items teach.
(Thirty people who are 40% to 95% accurate, five votes with four labels on each of 200 items: 91% of the labels are
correct. EM is 96% sure of them on average, and 93% without an item's own votes.)
`Prior.none()` is maximum likelihood as published, without any of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mores.stats.agreement import Label
from mores.stats.annotators.votes import LabelTable, Name
from mores.stats.classification import Floats
from mores.stats.resampling import Indices


@dataclass(frozen=True)
class Prior:
    """The belief before any vote, counted in votes."""

    accuracy: float = 0.7
    """How often the average person is correct."""
    votes: float = 4.0
    """How many votes on items of each label that is worth."""
    strength: float = 10.0
    """How many votes on items of each label the skill of the average person is worth to each person's."""
    prevalence: float = 1.0
    """How many more items of each label there are."""

    def __post_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            raise ValueError(f"accuracy is {self.accuracy:g}; expected a share between 0 and 1, such as 0.7")
        if min(self.votes, self.strength, self.prevalence) < 0:
            raise ValueError(f"{self}: a count is negative; expected 0 or more")

    @classmethod
    def none(cls) -> Prior:
        """Return the prior of maximum likelihood."""
        return cls(votes=0.0, strength=0.0, prevalence=0.0)


@dataclass(frozen=True)
class DawidSkene:
    """The fitted model."""

    table: LabelTable
    posterior: Floats
    """Items × labels, by what the other items teach about the people."""
    prevalence: Floats
    """How frequent each label is."""
    confusion: Floats
    """People × true labels × given labels."""
    average: Floats
    """True × given labels: the skill of a person of whom nothing is known."""
    objective: tuple[float, ...]
    """The logarithm of likelihood and prior after each iteration of EM, which never falls."""
    converged: bool
    last: Expected
    """What the skills are made of."""

    @property
    def labels(self) -> tuple[Label, ...]:
        return self.table.labels

    def best(self) -> dict[Name, Label]:
        """Return the most probable label of each item."""
        return {item: self.labels[n] for item, n in zip(self.table.items, self.posterior.argmax(axis=1), strict=True)}

    def skill(self, annotator: Name | None, item: Name | None = None) -> Floats:
        """Return true × given labels, without what the vote on this item taught; the average for a new person."""
        person = self._people.get(annotator)
        if person is None:
            return self.average
        votes = self.last.votes[person].copy()
        for place, label in self._labels_given.get((annotator, item), ()) if self.last.alone else ():
            votes[:, label] -= self.last.posterior[place]
        found: Floats = _shares(votes[None], self.last.symmetric)[0]
        return found

    def accuracy(self) -> dict[Name, float]:
        """Return how often each person is correct on items of the estimated prevalence."""
        correct = np.einsum("kjj,j->k", self.confusion, self.prevalence)
        return dict(zip(self.table.annotators, correct.tolist(), strict=True))

    @cached_property
    def _people(self) -> dict[Name | None, int]:
        return {name: place for place, name in enumerate(self.table.annotators)}

    @cached_property
    def _labels_given(self) -> dict[tuple[Name | None, Name | None], list[tuple[int, int]]]:
        """The places of the item and of the labels that a person gave it."""
        found: dict[tuple[Name | None, Name | None], list[tuple[int, int]]] = {}
        table = self.table
        for item, person, label in zip(
            table.item.tolist(), table.annotator.tolist(), table.label.tolist(), strict=True
        ):
            found.setdefault((table.annotators[person], table.items[item]), []).append((item, label))
        return found


@dataclass(frozen=True)
class Expected:
    """The end of EM."""

    votes: Floats
    """People × true × given labels: how many there are, with those believed before."""
    posterior: Floats
    """Items × labels, by which the votes count for each true label."""
    symmetric: bool
    alone: bool
    """Whether an item's own votes are left out of the skills by which it is judged."""


def fit_dawid_skene(
    table: LabelTable,
    *,
    prior: Prior | None = None,
    known: Mapping[Name, Label] | None = None,
    symmetric: bool = False,
    tolerance: float = 1e-6,
    limit: int = 1000,
) -> DawidSkene:
    """Fit by EM, from the shares of the votes, until no probability changes by more than `tolerance`.

    `known` are items whose label is certain, such as attention checks: they teach skills, but not prevalence.
    `symmetric` is for labels that are interchangeable, such as the options A to D of questions: all are equally
    frequent, and a person has one accuracy and errs equally often to each other label (the one-coin model).
    """
    prior, size = prior or Prior(), len(table.labels)
    if size < 2:
        raise ValueError(f"labels {list(table.labels)}; at least two are needed: give all that may be chosen")
    believed = np.where(np.eye(size, dtype=bool), prior.accuracy, (1 - prior.accuracy) / (size - 1))
    rows = size if symmetric else 1  # one accuracy for all true labels has one prior for all of them
    model = _Model(table, table.known_labels(known), prior.prevalence, symmetric, tolerance, limit)
    everybody = replace(table, annotators=("everybody",), annotator=np.zeros_like(table.annotator))
    average: Floats = replace(model, table=everybody).fit(prior.votes * believed / rows).confusion[0]
    return replace(model.fit(prior.strength * average / rows), average=average)


@dataclass(frozen=True)
class _Model:
    """Everything about a fit but what is believed about the people."""

    table: LabelTable
    known: Indices
    prevalence: float
    symmetric: bool
    tolerance: float
    limit: int

    def fit(self, believed: Floats) -> DawidSkene:
        """Run EM, with so many votes (true × given) added to those of each person."""
        table, counts, sure = self.table, self.table.counts, self.known >= 0
        posterior = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        posterior[sure] = certain = np.eye(counts.shape[1])[self.known[sure]]
        objective: list[float] = []
        converged = False
        while not converged and len(objective) < self.limit:
            votes = self._count(posterior) + believed
            prevalence, confusion, before = self._prevalence(posterior), _shares(votes, self.symmetric), posterior
            with np.errstate(divide="ignore"):  # maximum likelihood may hold a label impossible
                logs = np.log(confusion)
            posterior, likelihood = self._expect(prevalence, logs[table.annotator, :, table.label])
            posterior[sure] = certain
            belief = np.multiply(believed, logs, where=believed > 0, out=np.zeros_like(logs)).sum()
            if self.prevalence:
                belief += self.prevalence * np.log(prevalence).sum()
            objective.append(likelihood + float(belief))
            converged = bool(np.abs(posterior - before).max(initial=0.0) <= self.tolerance)
        alone = bool((believed > 0).all())
        last = Expected(votes, before, self.symmetric, alone)
        if alone:
            posterior, _ = self._expect(prevalence, self._leave_out(last))
            posterior[sure] = certain
        average = _shares(believed[None], self.symmetric)[0]
        return DawidSkene(table, posterior, prevalence, confusion, average, tuple(objective), converged, last)

    def _count(self, posterior: Floats) -> Floats:
        """Count expected votes: people × true × given labels."""
        table, shape = self.table, (len(self.table.annotators), posterior.shape[1])
        places, weights = table.annotator * shape[1] + table.label, posterior[table.item].T
        votes = [
            np.bincount(places, weights=weight, minlength=shape[0] * shape[1]).reshape(shape) for weight in weights
        ]
        return np.stack(votes, axis=1)

    def _prevalence(self, posterior: Floats) -> Floats:
        """Return the prevalence of each label, among items that nobody chose for their labels."""
        total = posterior[self.known < 0].sum(axis=0) + self.prevalence
        even = np.full_like(total, 1 / total.size)
        return even if self.symmetric or not total.any() else np.asarray(total / total.sum(), dtype=np.float64)

    def _expect(self, prevalence: Floats, logs: Floats) -> tuple[Floats, float]:
        """Return each item's probabilities, and the logarithm of the likelihood, from those of votes × true labels."""
        count = len(self.table.items)
        sums = [np.bincount(self.table.item, weights=column, minlength=count) for column in logs.T]
        evidence = np.stack(sums, axis=1)
        with np.errstate(divide="ignore"):
            joint = evidence + np.log(prevalence)
        top = joint.max(axis=1, keepdims=True)
        shares = np.exp(joint - top)
        total = shares.sum(axis=1, keepdims=True)
        chances = np.where(self.known >= 0, evidence[np.arange(count), self.known], (np.log(total) + top)[:, 0])
        return shares / total, float(chances.sum())

    def _leave_out(self, last: Expected) -> Floats:
        """Return votes × true labels: the log-probability of each vote, by the person's votes on other items."""
        table, own = self.table, last.posterior[self.table.item]
        size, place = own.shape[1], np.arange(own.shape[1]) == table.label[:, None]
        pairs = np.unique(table.annotator * len(table.items) + table.item, return_inverse=True)[1]
        if self.symmetric:
            hits = np.einsum("kjj->k", last.votes)[table.annotator] - np.bincount(pairs, weights=own[place])[pairs]
            share = hits / (last.votes.sum(axis=(1, 2))[table.annotator] - np.bincount(pairs)[pairs])
            chances = np.where(place, share[:, None], (1 - share[:, None]) / (size - 1))
        else:
            same = np.unique(pairs * size + table.label, return_inverse=True)[1]
            given = last.votes[table.annotator, :, table.label] - np.bincount(same)[same][:, None] * own
            chances = given / (last.votes.sum(axis=2)[table.annotator] - np.bincount(pairs)[pairs][:, None] * own)
        return np.asarray(np.log(chances), dtype=np.float64)


def _shares(votes: Floats, symmetric: bool) -> Floats:
    """Return people × true × given labels as shares of the given labels; one accuracy for all labels if symmetric."""
    count, size, _ = votes.shape
    if not symmetric:
        total = votes.sum(axis=2, keepdims=True)
        return np.asarray(np.divide(votes, total, out=np.full_like(votes, 1 / size), where=total > 0), dtype=np.float64)
    total = votes.sum(axis=(1, 2))
    share = np.divide(np.einsum("kjj->k", votes), total, out=np.full(count, 1 / size), where=total > 0)[:, None, None]
    return np.asarray(np.where(np.eye(size, dtype=bool), share, (1 - share) / (size - 1)), dtype=np.float64)
