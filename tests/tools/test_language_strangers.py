"""The lists of words of languages that the model does not know, from texts made up here."""

from __future__ import annotations

from tools.language_sources import SENTENCES, WORD_LISTS, Text
from tools.language_strangers import distinctive_words, is_stranger, known_shares, pairs, taken_for, word_shares

SPANISH = ("Toda la gente de aquí dice que la fiesta es para los niños y que no cuesta nada.",) * 30
ASTURIAN = ("Tola xente d'equí diz que la fiesta ye pa los neños y nun cuesta nada.",) * 30


def text(code: str, tag: str, *paragraphs: str, source: str = SENTENCES, weights: tuple[float, ...] = ()) -> Text:
    return Text(code, tag, "Latn", paragraphs, source, weights=weights)


def test_strangers_are_languages_that_the_model_does_not_know() -> None:
    assert [is_stranger(tag) for tag in ("ast", "sco", "es", "arz", "bs", "und")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


def test_shares_are_by_weight_and_single_letters_do_not_count() -> None:
    listed = text("es", "es", "casa y", "cosa", source=WORD_LISTS, weights=(3.0, 1.0))
    shares = word_shares(listed)
    assert {word: share for word, share in shares.items() if share} == {"casa": 0.75, "cosa": 0.25}
    assert known_shares([listed, text("es", "es", "cosa")])["es"]["cosa"] == (0.25 + 1.0) / 2


def test_distinctive_words_are_frequent_here_and_rare_there() -> None:
    mine, other = {"ye": 0.05, "la": 0.05, "casa": 0.001}, {"la": 0.04, "casa": 0.0002}
    assert distinctive_words(mine, other, rare=0.001) == ["ye"]
    assert distinctive_words(mine | {"casa": 0.003}, other, rare=0.001) == ["casa", "ye"]
    assert distinctive_words(mine | {"casa": 0.003}, other, rare=0.0001) == ["ye"]


def test_a_stranger_is_paired_with_the_language_that_it_is_taken_for() -> None:
    assert taken_for(ASTURIAN) == ["es"]
    (line,) = pairs(known_shares([text("es", "es", *SPANISH)]), [text("ast", "ast", *ASTURIAN)])
    assert line == "es ast: diz equí neños nun pa tola xente ye | aquí de dice es gente niños no para toda\n"
    assert pairs({}, [text("ast", "ast", *ASTURIAN)]) == []
