"""Numbers and times in a text."""

from __future__ import annotations

import pytest

from mores.language.units import quantities


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("On 13 to 15 April", {"13", "15", "april"}),
        ("in the 11th month", {"11th"}),
        ("Am 1. Mai", {"1", "mai"}),
        ("zwölf Gerichte im Winter", {"zwölf", "winter"}),
        ("三月", {"三"}),
        ("It may rain once on the estate", set()),
        ("", set()),
    ],
)
def test_quantities(text: str, result: set[str]) -> None:
    assert quantities(text) == result
