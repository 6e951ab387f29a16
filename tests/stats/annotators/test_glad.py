"""GLAD: a plain implementation's gradient, and people and items of known ability and difficulty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.annotators import fit_glad, label_posterior, majority_votes, table_votes
from mores.stats.annotators.glad import MEAN, Glad
from mores.stats.annotators.simulated import draw_crowd

triples = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 4), st.integers(0, 2)),
    min_size=1,
    max_size=40,
    unique_by=lambda triple: triple[:2],
)


def log_posterior(fit: Glad, ability: list[float], easiness: list[float]) -> float:
    """Of abilities and difficulties, summed over the labels of each item, as Section 3 of the paper has it."""
    total, size = 0.0, len(fit.labels)
    for item, b in enumerate(easiness):
        chances = [1 / size] * size
        for at, person, said in zip(fit.table.item, fit.table.annotator, fit.table.label, strict=True):
            if at == item:
                correct = 1 / (1 + np.exp(-ability[person] * np.exp(b)))
                chances = [
                    chance * (correct if label == said else (1 - correct) / (size - 1))
                    for label, chance in enumerate(chances)
                ]
        total += np.log(sum(chances))
    return float(total - sum((x - MEAN) ** 2 for x in (*ability, *easiness)) / 2)


def test_the_end_is_a_maximum() -> None:
    crowd = draw_crowd(12, 5, 3, np.random.default_rng(3), accuracy=(0.4, 0.95), hard=0.3)
    fit = fit_glad(crowd.table(4), tolerance=1e-10)
    ability, easiness = fit.ability.tolist(), fit.easiness.tolist()
    best = log_posterior(fit, ability, easiness)
    assert fit.objective[-1] == pytest.approx(best)
    for values in (ability, easiness):
        for place, value in enumerate(values):
            for step in (-0.05, 0.05):
                values[place] = value + step
                assert log_posterior(fit, ability, easiness) < best
            values[place] = value


@given(triples)
def test_probabilities_and_a_climbing_objective(votes: list[tuple[int, int, int]]) -> None:
    fit = fit_glad(table_votes(votes, labels=[0, 1, 2]))
    assert fit.posterior.sum(axis=1) == pytest.approx(np.ones(len(fit.table.items)))
    assert np.diff(fit.objective).min(initial=0.0) > -1e-8
    item, person, _ = votes[0]
    assert fit.skill(person, item).sum(axis=1) == pytest.approx([1, 1, 1])
    own = [(k, said) for i, k, said in votes if i == item]
    assert label_posterior(fit, own, item) == pytest.approx(fit.posterior[0], abs=1e-6)


def test_abilities_difficulties_and_labels_are_recovered() -> None:
    rng = np.random.default_rng(4)
    ability, easiness = rng.normal(1, 1, 40), rng.normal(0.5, 1, 600)
    truth = rng.integers(0, 2, 600)
    correct = rng.random((600, 40)) < 1 / (1 + np.exp(-ability * np.exp(easiness)[:, None]))
    votes = [
        (i, k, int(truth[i] if correct[i, k] else 1 - truth[i]))
        for i in range(600)
        for k in rng.choice(40, 12, replace=False).tolist()
    ]
    table = table_votes(votes)
    fit = fit_glad(table)
    estimated = dict(zip(fit.table.annotators, fit.ability, strict=True))
    assert np.corrcoef([estimated[k] for k in range(40)], ability)[0, 1] > 0.9
    assert np.corrcoef(fit.easiness, easiness)[0, 1] > 0.5
    majority = [(truth[i] in votes.majority) / len(votes.majority) for i, votes in majority_votes(table).items()]  # type: ignore[index]
    accuracy = (np.array(list(fit.best().values())) == truth).mean()
    assert accuracy > np.mean(majority) + 0.03


def test_hard_items_are_less_easy() -> None:
    crowd = draw_crowd(300, 20, 4, np.random.default_rng(6), accuracy=(0.7, 0.95), hard=0.3)
    fit = fit_glad(crowd.table(12))
    agreement = (crowd.answers == crowd.truth[:, None]).mean(axis=1)
    assert fit.easiness[agreement < 0.55].mean() < fit.easiness[agreement > 0.75].mean() - 0.5


def test_known_items_stay_and_newcomers_are_average() -> None:
    table = table_votes([("x", "ann", "a"), ("x", "bo", "a"), ("y", "ann", "b")])
    fit = fit_glad(table, known={"x": "b"})
    assert fit.best()["x"] == "b"
    assert fit.posterior[0].tolist() == [0, 1]
    assert fit.ability[0] < MEAN  # wrong on the one item that is known
    middle = 1 / (1 + np.exp(-fit.ability.mean() * np.exp(fit.easiness.mean())))
    assert fit.skill("new", "z")[0, 0] == pytest.approx(middle)
    assert fit_glad(table_votes([], labels=["a", "b"])).skill(None)[0, 0] == pytest.approx(1 / (1 + np.exp(-np.e)))
    with pytest.raises(ValueError, match="at least two are needed"):
        fit_glad(table_votes([("x", "ann", "a")]))
