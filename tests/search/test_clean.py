"""Evidence is what others wrote: nothing hidden or endless gets through."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.search.clean import clean, evidence, web_address


@pytest.mark.slow
@given(st.text(max_size=300), st.integers(1, 100))
def test_cleaned_text_is_short_visible_and_stays_as_it_is(text: str, longest: int) -> None:
    cleaned = clean(text, longest)
    assert len(cleaned) <= longest
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in cleaned)
    assert clean(cleaned, longest) == cleaned


def test_what_is_hidden_goes_and_what_is_spelt_with_joiners_stays() -> None:
    assert clean("a\u202eb\u2066c\u200bd\ufeffe\U000e0061f\x1b[31m", 50) == "abcdef[31m"
    assert clean("می‌خواهم 👩‍🌾 ❤️", 50) == "می‌خواهم 👩‍🌾 ❤️"
    assert clean("half \ud83d emoji", 50) == "half emoji"
    assert clean("one\n\n\ttwo\u2028three", 50) == "one two three"
    assert clean("x" * 60, 50) == "x" * 49 + "…"
    assert clean(None, 50) == clean(5, 50) == ""


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/ü?q=1#x", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://", False),
        ("http://[::", False),
        ("//example.org", False),
        ("https://example.org/a b", False),
        ("https://example.org/" + "x" * 3000, False),
        (None, False),
    ],
)
def test_addresses(address: object, kept: bool) -> None:
    assert web_address(address) == (address if kept else "")


def test_evidence_without_text_is_none() -> None:
    assert evidence(" \u200b ", "Title") is None
    piece = evidence("text", None, "x" * 5000, 1999)
    assert piece is not None
    assert (piece.title, len(piece.source), piece.date) == ("", 2000, "")
