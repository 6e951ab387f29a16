"""Paired differences: worked examples, and tests that must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.paired import mcnemar, paired_difference


@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (1, 0, 1.0), (0, 6, 2 / 64), (5, 5, 1.0), (2, 8, 112 / 1024)]
)
def test_mcnemar(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == mcnemar(second, first) == pytest.approx(p)


def test_mcnemar_of_very_many() -> None:
    assert 0 < mcnemar(900, 2000) < 1e-90


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_for_few_samples_both_tests_are_the_same(cells: list[tuple[bool, bool]]) -> None:
    first, second = np.array(cells, dtype=np.float64).T
    result = paired_difference(first, second)
    assert result is not None
    assert result.difference == pytest.approx(float((first - second).mean()))
    assert result.p_value == pytest.approx(mcnemar(int((first > second).sum()), int((first < second).sum())))
    assert -1 <= result.low <= result.difference + 1e-12
    assert result.difference - 1e-12 <= result.high <= 1
    assert result.high > result.low  # never a point, also where nothing changes


def test_samples_of_a_group_are_one() -> None:
    first, second = np.repeat([1.0, 0.0], [16, 4]), np.zeros(20)
    alone = paired_difference(first, second)
    grouped = paired_difference(first, second, groups=np.repeat(np.arange(5), 4))
    assert alone is not None
    assert grouped is not None
    assert alone.difference == grouped.difference == 0.8
    assert grouped.p_value == 2 / 16 > alone.p_value
    assert grouped.low < alone.low
    assert paired_difference([], []) is None


def test_a_thousand_swaps_by_default_of_which_none_is_as_far() -> None:
    result = paired_difference(np.ones(40), np.zeros(40))
    assert result is not None
    assert result.p_value == pytest.approx(1 / 1001)
