"""Small changes that turn a claim around."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.training.pairs import contrasts

CHANGED = [
    ("en", "She was born before the war.", {"She was not born before the war.", "She was born after the war."}),
    ("en", "It is not a fruit.", {"It is a fruit."}),
    ("en", "Many people live there.", {"Few people live there."}),
    ("de", "Das ist ein Fest.", {"Das ist kein Fest."}),
    ("nl", "De man zingt.", {"De vrouw zingt."}),
    ("sv", "Hon är arg.", {"Hon är inte arg."}),
    ("fr", "Le roi est mort.", set()),
    ("es", "La gestión es complicada.", {"La gestión no es complicada."}),
    ("id", "Dia adalah peneliti.", {"Dia bukan peneliti."}),
    ("fa", "این کتاب نیست.", {"این کتاب است."}),
    ("fa", "کتاب نوشته شده است.", set()),
    ("ja", "男性がいます。", {"女性がいます。", "男性がいません。"}),
    ("ko", "길이 있습니다.", {"길이 없습니다."}),
    ("xx", "No language of the list.", set()),
]


@pytest.mark.parametrize(("language", "claim", "expected"), CHANGED)
def test_a_claim_is_turned_around(language: str, claim: str, expected: set[str]) -> None:
    assert {edit.apply(claim) for edit in contrasts(claim, language)} == expected


def test_numbers_are_changed_in_any_language() -> None:
    changed = {edit.apply("Hii ina kilomita 100.") for edit in contrasts("Hii ina kilomita 100.", "sw")}
    assert changed
    assert all(text.startswith("Hii ina kilomita ") and text != "Hii ina kilomita 100." for text in changed)


@pytest.mark.slow
@given(st.text(), st.sampled_from(sorted({language for language, _, _ in CHANGED})))
def test_a_change_is_one_and_its_span_is_in_the_text(claim: str, language: str) -> None:
    for edit in contrasts(claim, language):
        changed = edit.apply(claim)
        start, end = edit.span(claim)
        assert changed != claim
        assert 0 <= start < end <= len(changed)
