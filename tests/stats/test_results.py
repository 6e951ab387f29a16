"""Shares and means as records: their numbers, and nothing where there is nothing."""

from __future__ import annotations

import pytest

from mores.stats.intervals import mean_interval, share_interval
from mores.stats.results import mean_result, share_result
from mores.types import Result


def test_a_share() -> None:
    low, high = share_interval(3, 4)
    assert share_result("hits", 3, 4) == Result(name="hits", value=0.75, low=low, high=high, n=4)
    assert share_result("hits", 0, 0) == Result(name="hits", value=None)


def test_a_mean() -> None:
    values, groups = [0.5, -0.5, 1.5], ["a", "a", "b"]
    low, high = mean_interval(values, groups=groups, least=-1.0, most=2.0)
    result = mean_result("m", values, groups=groups, least=-1.0, most=2.0)
    assert result == Result(name="m", value=0.5, low=low, high=high, n=3)
    assert mean_result("m", []) == Result(name="m", value=None)
    with pytest.raises(ValueError, match="expected 0 to 1"):
        mean_result("m", [0.5, 1.5])
