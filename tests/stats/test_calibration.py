"""Calibration: worked examples, where borders fall, and what always holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from mores.stats.calibration import Bin, brier_score, expected_calibration_error, reliability_curve
from mores.stats.intervals import share_interval

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def split(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    return [sure for sure, _ in pairs], [right for _, right in pairs]


def test_by_hand() -> None:
    sure, right = [0.95, 0.91, 0.55, 1.0], [True, False, True, True]
    # Last bin: confidence 2.86/3, accuracy 2/3; the one of 0.55: accuracy 1.
    assert expected_calibration_error(sure, right) == pytest.approx((0.86 + 0.45) / 4)
    assert brier_score(sure, right) == pytest.approx((0.05**2 + 0.91**2 + 0.45**2) / 4)
    curve = reliability_curve(sure, right)
    assert [bin_.n for bin_ in curve] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 3]
    assert curve[9].confidence == pytest.approx(2.86 / 3)
    assert curve[9].accuracy == pytest.approx(2 / 3)
    assert curve[9].interval == share_interval(2, 3)
    assert curve[0] == Bin(0.0, 0.1, 0, None, None, (0.0, 1.0))


def test_errors_of_one_bin_cancel_and_of_two_do_not() -> None:
    assert expected_calibration_error([0.5, 0.5], [1, 0]) == 0
    assert expected_calibration_error([0.4, 0.6], [1, 0]) == pytest.approx(0.6)
    assert expected_calibration_error([0.4, 0.6], [1, 0], bins=1) == pytest.approx(0)


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 15, 20, 100])
def test_percentages_fall_where_whole_numbers_say(bins: int) -> None:
    for percent in range(101):
        curve = reliability_curve([percent / 100], [1], bins)
        assert [bin_.n for bin_ in curve].index(1) == min(percent * bins // 100, bins - 1)


def test_without_answers() -> None:
    assert expected_calibration_error([], []) is None
    assert brier_score([], []) is None
    assert [bin_.n for bin_ in reliability_curve([], [], 2)] == [0, 0]


@given(answers, st.integers(1, 20))
def test_ece_is_the_weighted_gap_of_the_curve(pairs: list[tuple[float, bool]], bins: int) -> None:
    sure, right = split(pairs)
    gaps = (
        bin_.n * abs((bin_.accuracy or 0) - (bin_.confidence or 0)) for bin_ in reliability_curve(sure, right, bins)
    )
    error = expected_calibration_error(sure, right, bins)
    assert error is not None
    assert error == pytest.approx(sum(gaps) / len(pairs), abs=1e-12)
    assert 0 <= error <= 1


@given(answers, st.integers(1, 20))
def test_every_answer_is_in_the_bin_of_its_confidence(pairs: list[tuple[float, bool]], bins: int) -> None:
    curve = reliability_curve(*split(pairs), bins)
    for bin_ in curve[:-1]:
        assert bin_.n == sum(bin_.low <= sure < bin_.high for sure, _ in pairs)
    assert sum(bin_.n for bin_ in curve) == len(pairs)
    for bin_ in curve:
        if bin_.accuracy is not None:
            assert bin_.interval[0] <= bin_.accuracy <= bin_.interval[1]


@given(answers)
def test_brier_is_that_of_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    sure, right = split(pairs)
    assert brier_score(sure, right) == pytest.approx(brier_score_loss(right, sure, labels=[False, True]), abs=1e-12)


@given(answers)
def test_ece_is_at_most_the_mean_error(pairs: list[tuple[float, bool]]) -> None:
    sure, right = split(pairs)
    worst = float(np.abs(np.array(sure) - np.array(right)).mean())
    assert (expected_calibration_error(sure, right) or 0) <= worst + 1e-12


@pytest.mark.parametrize(
    ("sure", "right", "message"),
    [
        ([95, 80], [1, 0], "confidence 95 is not from 0 to 1; divide percentages by 100"),
        ([-0.1], [1], "not from 0 to 1"),
        ([math.inf], [1], "not from 0 to 1"),
        ([math.nan], [1], "leave out the answers without one"),
        ([None], [1], "leave out the answers without one"),
        ([0.5], [0.5], "neither right"),
        ([0.5], [math.nan], "neither right"),
        ([0.5, 0.5], [1], "2 confidences and 1 answers"),
        ([[0.5]], [[1]], "give two lists"),
    ],
)
@pytest.mark.parametrize("score", [expected_calibration_error, brier_score, reliability_curve])
def test_refuses(score: Any, sure: Any, right: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(sure, right)


def test_refuses_no_bins() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        expected_calibration_error([0.5], [1], bins=0)
