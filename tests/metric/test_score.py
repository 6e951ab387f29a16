"""Eq. 1 of ExCAM on worked examples."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.metric.score import certainty, confidence, score
from mores.models.base import Calibration
from mores.types import Error, ErrorReport, Severity


def report(minor: int, major: int, p: float | None = None) -> ErrorReport:
    severities = [Severity.MINOR] * minor + [Severity.MAJOR] * major
    errors = tuple(Error(side="text", quote="q", severity=s, type="t") for s in severities)
    return ErrorReport(errors=errors, certainty=p)


@pytest.mark.parametrize(
    ("minor", "major", "p", "expected"),
    [
        (1, 0, 0.9, -1.0),
        (0, 1, 0.9, -5.0),
        (2, 1, None, -7.0),
        (3, 2, 0.1, -13.0),
        (0, 0, 0.9, 0.9),
        (0, 0, 1.0, 1.0),
        (0, 0, 1e-12, 1e-12),
        (0, 0, None, 0.0),
    ],
)
def test_eq_1(minor: int, major: int, p: float | None, expected: float) -> None:
    assert score(report(minor, major, p)) == expected


def test_certainty_is_the_geometric_mean_of_the_token_probabilities() -> None:
    # Three tokens with probabilities 1/2, 1/4 and 1: the cube root of 1/8 is 1/2.
    assert certainty([math.log(0.5), math.log(0.25), 0.0]) == pytest.approx(0.5)
    assert certainty([0.0, 0.0]) == 1.0
    assert certainty([]) is None
    assert certainty(None) is None


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=50))
def test_certainty_lies_between_the_extremes(logprobs: list[float]) -> None:
    p = certainty(logprobs)
    assert p is not None
    assert 0 < p <= 1
    assert math.exp(min(logprobs)) * (1 - 1e-9) <= p <= math.exp(max(logprobs)) * (1 + 1e-9)


@pytest.mark.parametrize("bad", [1000.0, 0.5, math.nan, math.inf, -math.inf])
def test_a_number_that_is_no_log_probability_is_no_certainty(bad: float) -> None:
    assert certainty([-0.1, bad]) is None
    assert certainty([-0.1, 1e-9]) == pytest.approx(math.exp(-0.05))


def test_a_certainty_that_is_rounded_above_1_is_1() -> None:
    assert certainty([1e-9]) == 1.0


@pytest.mark.parametrize(
    ("error", "slope", "offset", "found", "not_found"),
    [
        (0.8, 0.5, math.log(3), 6 / 7, 1 / 7),  # odds of 4 to 1; their square root times 3
        (0.5, 2.0, 0.0, 0.5, 0.5),
        (1.0, 1 / 9, 0.0, 10 / 11, 1 / 11),  # certainties count as 1 to a thousand million
        (0.0, 1 / 9, 0.0, 1 / 11, 10 / 11),
    ],
)
def test_confidence_is_the_calibrated_probability_of_the_verdict(
    error: float, slope: float, offset: float, found: float, not_found: float
) -> None:
    calibration = Calibration(slope, offset)
    assert confidence(error, calibration, found=True) == pytest.approx(found)
    assert confidence(error, calibration, found=False) == pytest.approx(not_found)
