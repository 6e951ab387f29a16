"""Which words say what a text is about, and how much of a text passages cover."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.search.content import content_words, coverage, function_words
from mores.search.words import words


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("In which month is the Ethiopian New Year?", ["month", "ethiopian", "new", "year"]),
        ("Wer bringt in Deutschland die Geschenke?", ["bringt", "deutschland", "geschenke"]),
        ("¿Cómo se toma el mate en Argentina?", ["toma", "mate", "argentina"]),
        ("Où est-ce que l'on fête Noël ?", ["fete", "noel"]),
        ("Что пекут на Масленицу?", ["пекут", "масленицу"]),
        ("お茶です", ["お茶", "茶で"]),
        ("这是茶叶", ["茶叶"]),
        ("What is it?", []),
        ("15", ["15"]),
    ],
)
def test_function_words_are_left_out(text: str, result: list[str]) -> None:
    assert content_words(text) == result


def test_numbers_months_and_words_that_mean_something_elsewhere_are_content() -> None:
    kept = "ten tres mai war hat car man mint tea 7"
    assert content_words(kept) == words(kept)
    assert function_words()


@pytest.mark.parametrize(
    ("text", "passages", "expected"),
    [
        ("green tea", ["Green tea!"], 1.0),
        ("green tea", ["black coffee"], 0.0),
        ("green tea", ["tea"], (2 * 1 / 2 + 1) / 3),  # half of the text's words, and all of the passage's
        ("tea", ["black tea, cold milk"], (2 * 1 + 1 / 4) / 3),
        ("green tea", ["milk", "tea"], (2 * 1 / 2 + 1) / 3),  # the best passage counts
        ("They eat", ["It is eaten"], 1.0),
        ("celebrates", ["celebrated"], 1.0),
        ("1512", ["1513"], 0.0),  # numbers have no endings
        ("설날에 먹습니다", ["설날 먹고"], 1.0),
        ("What is it?", ["anything"], 1.0),
        ("green tea", [], 0.0),
    ],
)
def test_coverage(text: str, passages: list[str], expected: float) -> None:
    assert coverage(text, passages) == pytest.approx(expected)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_coverage_is_a_share_and_a_text_covers_itself(text: str, passages: list[str]) -> None:
    assert 0.0 <= coverage(text, passages) <= 1.0
    assert coverage(text, [*passages, text]) == pytest.approx(1.0)
