"""Surprisingly popular answers: capitals, ties, bad predictions."""

from __future__ import annotations

import pytest

from mores.stats.annotators import surprisingly_popular

Voter = tuple[str, dict[str, float] | None]
CAPITALS = ("yes", "no")


def voters(yes: int, no: int, predicted_by_yes: float, predicted_by_no: float) -> list[Voter]:
    """People who answer yes or no and predict a share of yes."""
    votes: list[Voter] = [("yes", {"yes": predicted_by_yes, "no": 1 - predicted_by_yes})] * yes
    return votes + [("no", {"yes": predicted_by_no, "no": 1 - predicted_by_no})] * no


def test_philadelphia_is_not_the_capital_of_pennsylvania() -> None:
    """Most believe that it is and that others do too; those who know that it is Harrisburg expect to be outvoted."""
    result = surprisingly_popular(voters(66, 34, 0.8, 0.7), CAPITALS)
    assert result
    # Predicted: 0.66 · 0.8 + 0.34 · 0.7 = 0.766 yes.
    assert result.answers["yes"].share == 0.66
    assert result.answers["yes"].predicted == pytest.approx(0.766)
    assert result.answers["yes"].surprise == pytest.approx(-0.106)
    assert result.answers["no"].surprise == pytest.approx(0.106)
    assert result.winners == ("no",)
    low, high = result.answers["no"].interval
    assert 0 < low < 0.106 < high < 0.22
    assert result.answers["no"].support > 0.97
    assert (result.voters, result.predictions) == (100, 100)


def test_columbia_is_the_capital_of_south_carolina() -> None:
    """Here those who say no believe that others are with them, and the majority is correct."""
    result = surprisingly_popular(voters(64, 36, 0.65, 0.4), CAPITALS)
    assert result
    assert result.winners == ("yes",)
    assert result.answers["yes"].surprise == pytest.approx(0.64 - (0.64 * 0.65 + 0.36 * 0.4))


def test_few_voters_decide_little() -> None:
    result = surprisingly_popular(voters(3, 2, 0.8, 0.7), CAPITALS)
    assert result
    assert result.winners == ("no",)
    low, high = result.answers["no"].interval
    assert low < 0 < high
    assert 0.6 < result.answers["no"].support < 0.95
    assert sum(answer.support for answer in result.answers.values()) == pytest.approx(1)


def test_guesses_of_what_most_will_answer() -> None:
    """As in verification: an option each, and the option that most others are expected to choose."""
    votes: list[Voter] = [("A", {"A": 1.0}), ("A", {"A": 1.0}), ("A", None), ("B", {"A": 1.0}), ("B", {"C": 1.0})]
    result = surprisingly_popular(votes, "ABCD")
    assert result
    assert {label: round(answer.surprise, 6) for label, answer in result.answers.items()} == {
        "A": -0.15,
        "B": 0.4,
        "C": -0.25,
        "D": 0,
    }
    assert (result.winners, result.voters, result.predictions) == (("B",), 5, 4)


def test_ties_are_kept() -> None:
    result = surprisingly_popular(voters(5, 5, 0.5, 0.5), CAPITALS)
    assert result
    assert result.winners == CAPITALS
    assert result.answers["yes"].support == pytest.approx(0.5, abs=0.1)


def test_the_same_seed_gives_the_same() -> None:
    votes = voters(6, 4, 0.8, 0.7)
    assert surprisingly_popular(votes, CAPITALS, seed=1) == surprisingly_popular(votes, CAPITALS, seed=1)


@pytest.mark.parametrize("votes", [[], [("yes", None)]])
def test_nothing_without_votes_or_predictions(votes: list[Voter]) -> None:
    assert surprisingly_popular(votes, CAPITALS) is None


@pytest.mark.parametrize(
    ("voter", "message"),
    [
        (("perhaps", None), "voter 1: 'perhaps' is none of the answers ['yes', 'no']"),
        (("yes", {"perhaps": 1.0}), "voter 1: 'perhaps' is none of the answers ['yes', 'no']"),
        (
            ("yes", {"yes": 80, "no": 20}),
            "voter 1 predicts {'yes': 80, 'no': 20}; expected shares from 0 that add up to 1",
        ),
        (("yes", {"yes": 1.5, "no": -0.5}), "voter 1 predicts"),
        (("yes", {}), "voter 1 predicts {}; expected shares"),
    ],
)
def test_bad_votes_are_named(voter: Voter, message: str) -> None:
    with pytest.raises(ValueError) as error:
        surprisingly_popular([voter], CAPITALS)
    assert message in str(error.value)
