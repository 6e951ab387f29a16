"""Dawid and Skene: their own data, a plain implementation, an iteration by hand, and people of known skill."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.annotators import Prior, fit_dawid_skene, label_posterior, table_votes
from tests.stats.annotators.anaesthetists import FIRST, PREVALENCE, VOTES
from tests.stats.annotators.simulated import draw_crowd

Triple = tuple[int, int, int]
one_vote = st.tuples(st.integers(0, 7), st.integers(0, 4), st.integers(0, 2))
triples = st.lists(one_vote, min_size=1, max_size=40, unique_by=lambda triple: triple[:2])


def fit_plainly(votes: list[Triple], labels: int, rounds: int) -> tuple[dict[int, list[float]], list[float]]:
    """Maximum likelihood, as equations 2.3 to 2.5 of the paper are written: posterior and prevalence."""
    items, people = sorted({v[0] for v in votes}), sorted({v[1] for v in votes})
    scale = range(labels)
    posterior = {
        i: [sum(v[0] == i and v[2] == j for v in votes) / sum(v[0] == i for v in votes) for j in scale] for i in items
    }
    for _ in range(rounds):
        prevalence = [sum(posterior[i][j] for i in items) / len(items) for j in scale]
        rates = {}
        for k, j in product(people, scale):
            seen = [sum(posterior[i][j] for i, who, said in votes if who == k and said == m) for m in scale]
            rates[k, j] = [one / sum(seen) if sum(seen) else 1 / labels for one in seen]
        for i in items:
            own = [v for v in votes if v[0] == i]
            joint = [prevalence[j] * prod(rates[k, j][said] for _, k, said in own) for j in scale]
            posterior[i] = [one / sum(joint) for one in joint]
    return posterior, prevalence


# --- as published


def test_the_anaesthetists_error_rates_are_those_of_the_paper() -> None:
    fit = fit_dawid_skene(table_votes(VOTES, repeats=True), prior=Prior.none())
    assert len(VOTES) == 45 * 7
    assert fit.converged
    assert fit.prevalence == pytest.approx(PREVALENCE, abs=0.005)
    assert fit.skill(1) == pytest.approx(np.array(FIRST), abs=0.005)
    best = fit.best()
    assert [best[patient] for patient in (2, 3, 4, 11, 12, 36)] == [4, 2, 2, 4, 3, 4]


@pytest.mark.parametrize("rounds", [1, 2, 10])
def test_maximum_likelihood_is_that_of_a_plain_implementation(rounds: int) -> None:
    votes = [(i, k, label - 1) for i, k, label in VOTES]
    posterior, prevalence = fit_plainly(votes, 4, rounds)
    fit = fit_dawid_skene(table_votes(votes, repeats=True), prior=Prior.none(), limit=rounds)
    assert len(fit.objective) == rounds
    assert fit.posterior == pytest.approx(np.array(list(posterior.values())), abs=1e-9)
    assert fit.prevalence == pytest.approx(prevalence)


def test_an_iteration_by_hand() -> None:
    # Items x: a b; y: a a. Shares of a: 1/2 and 1, so p(a) = 3/4. Person 1 said a, a: π(a|·) = 1 for both labels.
    # Person 2 said b, a: π(a|a) = 1 / 1.5, π(b|b) = 1. So x: a 3/4 · 1/3 to b 1/4 · 1; y: a 3/4 · 2/3 to b 0.
    table = table_votes([("x", 1, "a"), ("x", 2, "b"), ("y", 1, "a"), ("y", 2, "a")])
    fit = fit_dawid_skene(table, prior=Prior.none(), limit=1)
    assert fit.prevalence == pytest.approx([3 / 4, 1 / 4])
    assert fit.skill(2) == pytest.approx(np.array([[2 / 3, 1 / 3], [0, 1]]))
    assert fit.posterior == pytest.approx(np.array([[1 / 2, 1 / 2], [1, 0]]))
    assert fit.objective[0] == pytest.approx(np.log(1 / 2) + np.log(1 / 2))


# --- what always holds


@given(triples, st.booleans(), st.sampled_from([Prior(), Prior.none(), Prior(strength=0.5, prevalence=0.0)]))
def test_probabilities_and_a_climbing_objective(votes: list[Triple], symmetric: bool, prior: Prior) -> None:
    fit = fit_dawid_skene(table_votes(votes, labels=[0, 1, 2]), prior=prior, symmetric=symmetric, limit=200)
    for shares in (fit.posterior, fit.confusion, fit.average, fit.prevalence):
        assert (shares >= 0).all()
        assert shares.sum(axis=-1) == pytest.approx(np.ones(shares.shape[:-1]))
    assert np.diff(fit.objective).min(initial=0.0) > -1e-8


@given(st.lists(one_vote, min_size=1, max_size=40), st.booleans())
def test_an_items_own_votes_do_not_confirm_themselves(votes: list[Triple], symmetric: bool) -> None:
    """The reported probabilities are those of `label_posterior` with the skills that all other items teach."""
    fit = fit_dawid_skene(table_votes(votes, labels=[0, 1, 2], repeats=True), symmetric=symmetric)
    for item, row in zip(fit.table.items, fit.posterior, strict=True):
        own = [(k, label) for i, k, label in votes if i == item]
        assert label_posterior(fit, own, item) == pytest.approx(row, abs=1e-9)


@pytest.mark.slow
@given(triples, st.permutations([0, 1, 2]))
def test_names_and_order_do_not_matter(votes: list[Triple], renamed: list[int]) -> None:
    fit = fit_dawid_skene(table_votes(votes, labels=[0, 1, 2]))
    again = fit_dawid_skene(
        table_votes([(-i, 10 - k, renamed[label]) for i, k, label in reversed(votes)], labels=[0, 1, 2])
    )
    rows = dict(zip(again.table.items, again.posterior, strict=True))
    for item, row in zip(fit.table.items, fit.posterior, strict=True):
        assert rows[-int(item)][renamed] == pytest.approx(row, abs=1e-4)


# --- few votes


def test_few_votes_leave_doubt() -> None:
    table = table_votes([("x", "ann", "yes"), ("x", "bo", "yes"), ("y", "ann", "no")], labels=["no", "yes"])
    assert fit_dawid_skene(table, prior=Prior.none()).posterior.max(axis=1) == pytest.approx([1, 1])
    fit = fit_dawid_skene(table)
    sure = dict(zip(fit.table.items, fit.posterior.max(axis=1), strict=True))
    assert 0.55 < sure["y"] < sure["x"] < 0.97
    assert fit.best() == {"x": "yes", "y": "no"}


def test_a_newcomer_is_average_and_an_old_hand_is_not() -> None:
    crowd = draw_crowd(300, 10, 3, np.random.default_rng(5), accuracy=(0.4, 0.95))
    fit = fit_dawid_skene(crowd.table(6), symmetric=True)
    assert np.array_equal(fit.skill("new"), fit.average)
    assert fit.average[0, 0] == pytest.approx(crowd.accuracy.mean(), abs=0.06)
    assert fit.skill(int(crowd.accuracy.argmax()))[0, 0] > fit.average[0, 0] + 0.1


def test_no_votes_at_all() -> None:
    fit = fit_dawid_skene(table_votes([], labels=["no", "yes"]))
    assert fit.prevalence == pytest.approx([0.5, 0.5])
    assert label_posterior(fit, [("ann", "yes")]) == pytest.approx([0.3, 0.7])


def test_known_items_teach_skills() -> None:
    """Without them nobody can know which of two who always disagree is correct."""
    votes = [(i, "ann", 1) for i in range(20)] + [(i, "bo", 0) for i in range(20)]
    checks = [(100 + i, who, label) for i in range(10) for who, label in (("ann", i % 2), ("bo", 1 - i % 2))]
    table = table_votes(votes + checks)
    fit = fit_dawid_skene(table, known={100 + i: i % 2 for i in range(10)} | {"not asked": 1})
    assert {label for item, label in fit.best().items() if isinstance(item, int) and item < 100} == {1}
    assert fit.accuracy()["ann"] > 0.7 > 0.4 > fit.accuracy()["bo"]
    assert fit.posterior[-1].tolist() == [0, 1]


# --- people of known skill


def test_skills_of_simulated_people_are_recovered() -> None:
    crowd = draw_crowd(2000, 20, 3, np.random.default_rng(1), accuracy=(0.4, 0.95))
    fit = fit_dawid_skene(crowd.table(8))
    estimated = np.einsum("kjj->k", fit.confusion) / 3
    assert np.abs(estimated - crowd.accuracy).max() < 0.05
    assert np.corrcoef(estimated, crowd.accuracy)[0, 1] > 0.99


def test_a_biased_person_has_their_own_matrix() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 600)
    votes: list[tuple[int, str | int, int]] = []
    votes += [(i, k, int(truth[i] if rng.random() < 0.85 else 1 - truth[i])) for i in range(600) for k in range(4)]
    votes += [(i, "yes-sayer", 1 if rng.random() < 0.9 else int(truth[i])) for i in range(600)]
    fit = fit_dawid_skene(table_votes(votes))
    assert fit.skill("yes-sayer") == pytest.approx(np.array([[0.1, 0.9], [0, 1]]), abs=0.05)
    assert (np.array(list(fit.best().values())) == truth).mean() > 0.93  # 94% is the most that four such people can do


@pytest.mark.slow
def test_better_than_the_majority_where_skills_differ() -> None:
    gains = []
    for seed in range(20):
        crowd = draw_crowd(200, 20, 4, np.random.default_rng(seed), accuracy=(0.3, 0.95))
        table = crowd.table(5)
        fit = fit_dawid_skene(table, symmetric=True)
        most = table.counts == table.counts.max(axis=1, keepdims=True)
        by_majority = most[np.arange(200), crowd.truth] / most.sum(axis=1)
        gains.append((fit.posterior.argmax(axis=1) == crowd.truth).mean() - np.mean(by_majority))
    assert np.mean(gains) - 3 * np.std(gains) / np.sqrt(len(gains)) > 0.02


@pytest.mark.slow
def test_probabilities_are_calibrated() -> None:
    sure, correct = [], []
    for seed in range(10):
        crowd = draw_crowd(200, 30, 4, np.random.default_rng(seed), accuracy=(0.4, 0.95))
        posterior = fit_dawid_skene(crowd.table(5)).posterior
        sure.append(posterior.max(axis=1).mean())
        correct.append((posterior.argmax(axis=1) == crowd.truth).mean())
    assert np.mean(sure) == pytest.approx(np.mean(correct), abs=0.03)


# --- bad input


@pytest.mark.parametrize(
    ("votes", "labels", "message"),
    [
        ([("x", 1, "a"), ("x", 1, "b")], None, "1 labelled item 'x' more than once; keep the vote that counts"),
        ([("x", 1, "c")], ["a", "b"], "1 gave item 'x' the label 'c', which is none of ['a', 'b']"),
        ([("x", 1, None)], ["a", "b"], "1 gave item 'x' no label; leave out votes that are missing"),
        ([("x", 1, "a"), ("x", 2, 3)], None, "labels mix names and numbers"),
        ([("x", 1, "a")], ["a", "a"], "a label occurs twice in ['a', 'a']; give each once"),
        ([("x", 1, "a")], None, "labels ['a']; at least two are needed: give all that may be chosen"),
    ],
)
def test_bad_votes_are_named(votes: list[tuple[str, int, str]], labels: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError) as error:
        fit_dawid_skene(table_votes(votes, labels))
    assert message in str(error.value)


def test_bad_settings_are_named() -> None:
    table = table_votes([("x", 1, "a")], ["a", "b"])
    with pytest.raises(ValueError, match="item 'x' is known to be 'z', which is none of the labels"):
        fit_dawid_skene(table, known={"x": "z"})
    with pytest.raises(ValueError, match="accuracy is 70; expected a share between 0 and 1"):
        Prior(accuracy=70)
    with pytest.raises(ValueError, match="a count is negative"):
        Prior(strength=-1)
