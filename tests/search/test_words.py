"""The words that a search compares, in many scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.search.words import words


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Diwali's 2 lamps_lit", ["diwali", "s", "2", "lamps", "lit"]),
        ("Café CAFÉ cafe", ["cafe", "cafe", "cafe"]),
        ("Straße ﬁne Ａ１", ["strasse", "fine", "a1"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("日本の茶 is tea", ["日本", "本の", "の茶", "is", "tea"]),
        ("茶", ["茶"]),
        ("茶。酒", ["茶", "酒"]),
        ("김치를", ["김치", "치를"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("བོད་ཡིག", ["བོད", "ཡིག"]),
        ("می‌خواهم كِتاب", ["میخواهم", "كتاب"]),
        ("שָׁלוֹם", ["שלום"]),
        ("ጤና ይስጥልኝ።", ["ጤና", "ይስጥልኝ"]),
        ("ガ か\u3099", ["ガ", "が"]),
        ("\u200b… — !", []),
    ],
)
def test_words(text: str, result: list[str]) -> None:
    assert words(text) == result


@given(st.text())
def test_words_have_no_space_and_do_not_depend_on_how_letters_are_composed(text: str) -> None:
    result = words(text)
    assert all(word and not any(map(str.isspace, word)) for word in result)
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_plain_text_gives_the_same_words_beside_others(text: str) -> None:
    assert words(f"{text} é")[:-1] == words(text)
