"""Spans: offsets always reproduce the quote, in code points, for any Unicode."""

from __future__ import annotations

import time
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.metric.schema import WrittenError
from mores.metric.spans import _fold, align, candidates, cuts, find
from mores.types import Sample, Severity

ANY = st.text(min_size=1, max_size=60)
LETTERS = "aA éèßﬁ Ａ１ \u0301\u0308\u200d\u2060 日本がか\u3099 한글 हिन्दी ไทย שלום العربية 😀👨\u200d👩\u200d👧 “”—-'"
RICH = st.text(st.sampled_from(LETTERS), min_size=1, max_size=40)


def error(quote: str, occurrence: int | None = None, side: str = "text") -> WrittenError:
    return WrittenError.model_validate(
        {"side": side, "quote": quote, "severity": "minor", "type": "t", "explanation": "", "occurrence": occurrence}
    )


@given(st.one_of(ANY, RICH), st.data())
def test_a_quote_from_the_text_is_found_and_its_offsets_reproduce_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    span = find(quote, text)
    if not quote.strip():
        assert span is None
        return
    assert span is not None
    located = text[slice(*span)]
    if next(candidates(quote, text)):  # it occurs as it is, without cutting a word
        assert located == quote
    else:
        assert _fold(located)[0].strip() == _fold(quote)[0].strip()


@given(RICH, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_quote_in_another_normal_form_is_found_whole(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    visible = [i for i, c in enumerate(text) if not c.isspace() and unicodedata.category(c) != "Cf"]
    span = find(unicodedata.normalize(form, text), text)
    if visible:
        assert span is not None
        assert span[0] <= visible[0]
        assert span[1] > visible[-1]


@given(ANY, ANY)
def test_whatever_is_found_lies_in_the_text(quote: str, text: str) -> None:
    span = find(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@given(st.lists(st.tuples(ANY, st.sampled_from(["instruction", "text"])), max_size=5), ANY, ANY)
def test_every_located_error_quotes_its_side(quotes: list[tuple[str, str]], instruction: str, text: str) -> None:
    sample = Sample(id="x", instruction=instruction, text=text)
    for located in align([error(q, side=s) for q, s in quotes], sample):
        if located.located:
            assert sample.side(located.side)[located.start : located.end] == located.quote


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("no germans LIKE", "Well, No Germans like Schnitzel.", "No Germans like"),
        ("Gänse", "Ga\u0308nse am Martinstag", "Ga\u0308nse"),
        ("Ga\u0308nse", "Gänse am Martinstag", "Gänse"),
        ("Gä", "Ga\u0308nse am Martinstag", "Ga\u0308"),
        ("in  Japan\npeople", "In Japan people eat", "In Japan people"),
        ("in Japan people", "In  Japan\n\n\npeople eat", "In  Japan\n\n\npeople"),
        ('"tea time"', "At “tea time” they", "“tea time”"),
        ("10-12", "from 10–12 o'clock", "10–12"),
        ("fine", "A ﬁne day", "ﬁne"),
        ("ABC", "ＡＢＣ社", "ＡＢＣ"),
        ("かばん", "これはかは\u3099んです", "かは\u3099ん"),
        ("می‌خورند", "آنها میخورند", "میخورند"),
        ("STRASSE", "Die Straße", "Straße"),
        ("ab", "a\u2060b", "a\u2060b"),
        ("が 社", "これが\u3000\u2028社です", "が\u3000\u2028社"),
        ("a " + "\u0301\u0302" * 9, "Á a\n" + "\u0301\u0302" * 9, "a\n" + "\u0301\u0302" * 9),
        ("한글", unicodedata.normalize("NFD", "한글"), unicodedata.normalize("NFD", "한글")),
    ],
)
def test_the_differences_that_models_make_are_ignored(quote: str, text: str, expected: str) -> None:
    span = find(quote, text)
    assert span is not None
    assert text[slice(*span)] == expected


@pytest.mark.parametrize(
    ("quote", "text"),
    [("Schnitzel", "Kimchi"), ("", "Kimchi"), ("  \n", "Kim chi"), ("\u200b", "x"), ("f", "ﬁ"), ("Kimchi!", "Kimchi")],
)
def test_what_is_not_there_is_not_found(quote: str, text: str) -> None:
    assert find(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text", "nth", "start"),
    [
        ("tea", "tea and tea and tea", 1, 0),
        ("tea", "tea and tea and tea", 3, 16),
        ("tea", "tea and tea and tea", 4, None),
        ("he", "The man said he ate", 1, 13),
        ("he", "The theme", 1, 1),
        ("日本", "東日本と日本", 1, 1),
        ("日本", "東日本と日本", 2, 4),
        ("Ｔea", "tea and tea", 2, 8),
        ("e", "e\u0301 e", 1, 3),
        ("he", "The cat sat. He ran.", 1, 13),
        ("art", "Start with Art.", 1, 11),
    ],
)
def test_nth_occurrence_and_whole_words_first(quote: str, text: str, nth: int, start: int | None) -> None:
    span = find(quote, text, nth)
    assert (span[0] if span else None) == start


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a tea", {3, 4}),
        ("日本の", set()),  # each sign may be a word
        ("日本a", set()),
        ("\U0001f1ef\U0001f1f5", {1}),  # a flag is two letters
        ("\U0001f1efx", set()),
        ("x\U0001f1ef", set()),
        ("e\u0301x", {1, 2}),
        ("☕\ufe0fx", {1}),
    ],
)
def test_a_place_inside_a_word_or_sign_cuts_it(text: str, places: set[int]) -> None:
    assert {place for place in range(len(text) + 1) if cuts(text, place)} == places


def test_the_same_quote_again_means_the_next_one() -> None:
    sample = Sample(id="x", text="rice, rice and rice")
    aligned = align([error("rice"), error("rice"), error("rice"), error("rice")], sample)
    assert [e.start for e in aligned] == [0, 6, 15, None]
    assert [e.start for e in align([error("rice", 3), error("rice", 1)], sample)] == [15, 0]


def test_no_two_errors_take_the_same_words() -> None:
    sample = Sample(id="x", text="sushi first, then Sushi.")
    assert [e.start for e in align([error("Sushi"), error("Sushi"), error("Sushi")], sample)] == [18, 0, None]


def test_a_span_on_the_wrong_side_is_kept_unlocated() -> None:
    sample = Sample(id="x", instruction="What do Germans eat?", text="Schnitzel.")
    [aligned] = align([error("Schnitzel", side="instruction")], sample)
    assert not aligned.located
    assert (aligned.quote, aligned.severity) == ("Schnitzel", Severity.MINOR)


def test_offsets_count_code_points_not_utf16() -> None:
    sample = Sample(id="x", text="🎎🎏 In Japan 𠮷野家 serves 牛丼")
    assert [e.start for e in align([error("𠮷野家"), error("牛丼")], sample)] == [12, 23]


@pytest.mark.often("False")
@pytest.mark.parametrize("occurrence", [True, False])
def test_a_report_of_thousands_of_errors_is_aligned_in_linear_time(occurrence: bool) -> None:
    errors = [
        WrittenError(side="text", quote="ab", severity=Severity.MINOR, type="x", explanation="",
                     occurrence=number if occurrence else None)
        for number in range(1, 5001)
    ]  # fmt: skip
    started = time.process_time()
    located = align(errors, Sample(id="s", text="ab " * 5000))
    assert time.process_time() - started < 4
    assert len({error.start for error in located}) == 5000
