"""Adaptive redundancy: probabilities by hand, the rule, and the votes that it saves."""

from __future__ import annotations

import json
import runpy
import sys
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.annotators import (
    Prior,
    Redundancy,
    decide,
    enough,
    expected_gain,
    fit_dawid_skene,
    label_posterior,
    table_votes,
)
from mores.stats.annotators.redundancy import entropy
from mores.stats.annotators.votes import Name

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "redundancy.py"


@dataclass(frozen=True)
class People:
    """People with one accuracy each, and two labels; anybody else is 80% correct."""

    accuracy: dict[Name | None, float]
    labels: tuple[str, ...] = ("no", "yes")

    @property
    def prevalence(self) -> npt.NDArray[np.float64]:
        return np.array([0.5, 0.5])

    def skill(self, annotator: Name | None, item: Name | None = None) -> npt.NDArray[np.float64]:  # noqa: ARG002
        correct = self.accuracy.get(annotator, 0.8)
        return np.array([[correct, 1 - correct], [1 - correct, correct]])


PEOPLE = People({"ann": 0.9, "bo": 0.6, "guesser": 0.5})


def test_the_posterior_by_hand() -> None:
    # yes by ann, no by bo: yes 0.9 · 0.4 to no 0.1 · 0.6.
    assert label_posterior(PEOPLE, [("ann", "yes"), ("bo", "no")]) == pytest.approx([6 / 42, 36 / 42])
    assert label_posterior(PEOPLE, [("guesser", "yes")]) == pytest.approx([0.5, 0.5])
    assert label_posterior(PEOPLE, []) == pytest.approx([0.5, 0.5])
    many = label_posterior(PEOPLE, [(n, "yes") for n in range(2000)])  # no underflow
    assert many == pytest.approx([0, 1])


def test_the_gain_by_hand() -> None:
    # A vote of a person who is 80% correct, on an item of which nothing is known, is worth 1 bit less its own noise.
    noise = -0.8 * log2(0.8) - 0.2 * log2(0.2)
    assert expected_gain([0.5, 0.5], PEOPLE.skill(None)) == pytest.approx(1 - noise)
    assert expected_gain([0.5, 0.5], PEOPLE.skill("guesser")) == 0
    assert expected_gain([0.0, 1.0], PEOPLE.skill("ann")) == 0
    assert expected_gain([0.5, 0.5], np.eye(2)) == 1


@given(st.floats(0.01, 0.99), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_gain_is_the_expected_fall_of_the_entropy(share: float, first: float, second: float) -> None:
    prior, skill = np.array([share, 1 - share]), np.array([[first, 1 - first], [second, 1 - second]])
    given_vote = [
        (prior * column).sum() * entropy(prior * column / max((prior * column).sum(), 1e-300)) for column in skill.T
    ]
    assert expected_gain(prior, skill) == pytest.approx(entropy(prior) - sum(given_vote), abs=1e-9)


@pytest.mark.parametrize(
    ("votes", "reason", "ask"),
    [
        ([], "few votes", True),
        ([("ann", "yes")], "few votes", True),
        ([("ann", "yes"), ("cy", "yes")], "enough", False),  # 0.72 to 0.02
        ([("ann", "yes"), ("bo", "yes")], "unsure", True),  # 0.54 to 0.04
        ([("ann", "yes"), ("bo", "no"), ("guesser", "no")], "most votes", False),
        ([("ann", "yes"), ("bo", "no"), ("guesser", "no"), ("dee", "no")], "most votes", False),
    ],
)
def test_the_rule(votes: list[tuple[Name, str]], reason: str, ask: bool) -> None:
    decision = decide(PEOPLE, votes, Redundancy(least=2, most=3, threshold=0.95))
    assert (decision.reason, decision.ask) == (reason, ask)
    posterior = label_posterior(PEOPLE, votes)
    assert decision.probability == pytest.approx(posterior.max())
    assert decision.entropy == pytest.approx(entropy(posterior))
    assert decision.gain == pytest.approx(expected_gain(posterior, PEOPLE.skill(None)))
    if len(votes) == 3:
        assert decision.label == "yes"  # ann outweighs the other two


def test_enough() -> None:
    assert enough([0.04, 0.96])
    assert not enough([0.06, 0.94])
    assert enough([0.06, 0.94], threshold=0.9)


def test_the_first_votes_of_a_campaign() -> None:
    """Before skills are known people are taken to be 70% correct, so three have to agree on one of four options."""
    fit = fit_dawid_skene(table_votes([], labels="ABCD"), symmetric=True)
    assert [decide(fit, [(n, "A") for n in range(count)]).ask for count in range(5)] == [True, True, True, False, False]


def test_people_who_never_err_may_not_contradict_each_other() -> None:
    fit = fit_dawid_skene(table_votes([("x", 1, "a"), ("x", 2, "a"), ("y", 1, "b"), ("y", 2, "b")]), prior=Prior.none())
    with pytest.raises(ValueError, match="contradict each other; fit their skills with a prior"):
        label_posterior(fit, [(1, "a"), (2, "b")])
    with pytest.raises(ValueError, match="1 gave the label 'z', which is none of"):
        label_posterior(fit, [(1, "z")])


def test_bad_rules_are_named() -> None:
    with pytest.raises(ValueError, match="at least 5 and at most 3 votes; expected 1 <= least <= most"):
        Redundancy(least=5, most=3)
    with pytest.raises(ValueError, match="threshold is 95; expected a share between 0 and 1"):
        Redundancy(threshold=95)


@pytest.mark.slow
def test_votes_are_saved_at_equal_accuracy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--campaigns", "4", "--items", "100", "--only", "mixed", "--json"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    monkeypatch.setattr(sys, "path", [*sys.path])  # which the script changes
    runpy.run_path(str(SCRIPT), run_name="__main__")
    result = json.loads(capsys.readouterr().out)["mixed"]
    assert 0.2 < result["low"] < result["saved"] < result["high"] < 0.55
    assert result["not_reached"] < 0.1
    assert result["accuracy"] > result["majority"]
    for row in result["adaptive"]:  # a label that is probable enough is correct as often as that
        assert row["accuracy_when_sure"] > row["threshold"] - 0.02
