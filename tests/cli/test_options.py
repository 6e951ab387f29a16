"""Options that several commands share."""

from __future__ import annotations

import pytest

from mores.engine.cost import Price, read_price
from mores.errors import ConfigError


def test_a_given_price_counts() -> None:
    assert Price(1, 2) == read_price("1,2")
    assert Price(1, 2).cost(500_000, 250_000) == 1.0
    assert read_price("0.40, 1.60") == Price(0.40, 1.60)
    assert read_price("0,0") == Price(0, 0)


@pytest.mark.parametrize("wrong", ["cheap", "1", "1,2,3", "-1,2", "", "nan,1", "inf,1"])
def test_a_price_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match=r"expected two numbers|not negative"):
        read_price(wrong)
