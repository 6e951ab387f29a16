"""Explanations: what names an answer, in many scripts, and what does not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.explanations import match_answer


@pytest.mark.parametrize(
    ("explanation", "answer"),
    [
        ("The right answer is green tea.", "green tea"),
        ("It should be A, not B.", "A"),
        ("There are 5 of them.", "5"),
        ("(5)", "5"),
        ("It costs 5%.", "5"),
        ("tea", " tea\n"),
        ("On Diwali's first day", "Diwali"),
        ("C'est l'Italie.", "Italie"),
        ("İstanbul'da", "İstanbul"),
        ("正しくは抹茶です。", "抹茶"),
        ("คำตอบคือข้าวเหนียว", "ข้าวเหนียว"),
        ("应该是5月。", "5"),
        ("김치를 먹는다", "김치"),
        ("정답은 김치입니다.", "김치"),
        ("सही उत्तर चाय है।", "चाय"),
        ("no, and again: no tea!", "no tea"),
        ("banana and a banana", "a"),
        ("???", "?"),
    ],
)
def test_verbatim(explanation: str, answer: str) -> None:
    assert match_answer(explanation, answer) == (True, True)


@pytest.mark.parametrize(
    ("explanation", "answer"),
    [
        ("the answer is GREEN TEA", "Green tea"),
        ("green\n  tea", "green tea"),
        ("Green-tea", "green tea"),
        ("“Green tea”, of course", '"Green tea".'),
        ("the café", "Cafe"),
        ("the cafe\u0301", "caf\u00e9"),
        ("in Łódź", "Lodz"),
        ("in Sao Paulo", "São Paulo"),
        ("STRASSE", "Straße"),
        ("ｇｒｅｅｎ　ｔｅａ", "green tea"),
        ("in Xian", "Xi'an"),
        ("in Xi’an", "Xi'an"),
        ("in Hawaii", "Hawaiʻi"),
        ("on DIWALI's first day", "Diwali"),
        ("St Patricks Day", "St. Patrick's Day"),
        ("صحيح: مُحَمَّد", "محمد"),
        ("أحمد", "احمد"),
        ("το καφές", "καφες"),
        ("зелёный чай", "зеленый чай"),
        ("٥ نجوم", "5"),
        ("東京 タワー", "東京タワー"),
        ("ﾏｯﾁｬです", "マッチャ"),
        ("soft\u00adware", "software"),
        ("istanbul", "İstanbul"),
        ("1.5 litres", "1.5 Litres"),
        ("−5 degrees", "-5"),
    ],
)
def test_normalised_only(explanation: str, answer: str) -> None:
    assert match_answer(explanation, answer) == (False, True)


@pytest.mark.parametrize(
    ("explanation", "answer"),
    [
        ("banana", "a"),
        ("Banana", "A"),
        ("the 15 of them", "5"),
        ("1.5 of them", "5"),
        ("1.5 of them", "1"),
        ("2,5", "5"),
        ("第15回", "5"),
        ("covid19", "19"),
        ("I'd say", "d"),
        ("I'd say", "D"),
        ("don't", "t"),
        ("it's", "S"),
        ("the", "he"),
        ("theatre", "tea"),
        ("cafe\u0301", "cafe\u0300x"),
        ("चायवाला", "चाय"),
        ("कि", "क"),
        ("कि", "को"),
        ("が", "か"),
        ("ក្ក", "ក"),
        ("มี่", "มี"),
        ("мои", "мой"),
        ("동물", "물"),
        ("물고기", "물"),
        ("", "tea"),
        ("tea", "green tea"),
        ("U.S. law", "US"),
        ("1,000", "1000"),
        ("no question", "?"),
    ],
)
def test_not_named(explanation: str, answer: str) -> None:
    assert match_answer(explanation, answer) == (False, False)


def test_a_decomposed_letter_is_not_its_base_verbatim() -> None:
    assert match_answer("the cafe\u0301", "cafe") == (False, True)


@pytest.mark.parametrize("answer", ["", " ", "\n\t"])
def test_refuses_an_empty_answer(answer: str) -> None:
    with pytest.raises(ValueError, match="exclude items without one"):
        match_answer("anything", answer)


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.slow
@given(st.lists(words, max_size=4), words, st.lists(words, max_size=4))
def test_a_word_among_words_is_named(before: list[str], word: str, after: list[str]) -> None:
    text = " ".join([*before, word, *after])
    assert match_answer(text, word) == (True, True)
    assert match_answer(unicodedata.normalize("NFKD", text.upper().casefold()), word.upper()).normalised


@given(texts, texts.filter(str.strip))
def test_verbatim_implies_normalised_and_contained(text: str, answer: str) -> None:
    match = match_answer(text, answer)
    assert match.normalised or not match.verbatim
    assert answer.strip() in text or not match.verbatim


@given(texts.filter(str.strip))
def test_every_text_names_itself(text: str) -> None:
    assert match_answer(text, text).verbatim
