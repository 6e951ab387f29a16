"""What records say in words."""

from __future__ import annotations

import pytest

from mores.rating.records import Annotator, CarelessSign


@pytest.mark.parametrize(
    ("kind", "value", "expected", "words"),
    [
        ("random", -0.046, 0.45, "too little (correlation −0.05, 0.45 expected)"),
        ("straight", 30.0, 3.9, "the same rating 30 times in a row (4 expected)"),
        ("fast", 4.2, 33.4, "4 s for a rating (33 s by the others)"),
        ("position", -0.93, 0.0, "higher the earlier they are shown (log odds 0.9 for each place)"),
        ("position", 0.5, 0.0, "higher the later they are shown (log odds 0.5 for each place)"),
    ],
)
def test_signs_of_carelessness_in_words(kind: str, value: float, expected: float, words: str) -> None:
    assert CarelessSign(kind=kind, p=0.001, value=value, expected=expected).words.endswith(words)


def test_reasons_are_the_worst_sign_and_the_clear_ones() -> None:
    signs = [("fast", 0.001), ("straight", 0.01), ("random", 0.02)]
    person = Annotator(
        name="ann",
        ratings=60,
        mean=3.0,
        signs=tuple(CarelessSign(kind=kind, p=p, value=9.0, expected=30.0) for kind, p in signs),
        careless=True,
    )
    assert [reason[:8] for reason in person.reasons] == ["9 s for ", "the same"]
    assert person.model_copy(update={"careless": False}).reasons == ()
