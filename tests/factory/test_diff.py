"""Where two versions of a text differ: by hand in several scripts, and what holds for any two texts."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.errors.model import blocks, differences
from mores.language.units import keys, units


def quotes(original: str, modified: str) -> list[str]:
    return [modified[start:end] for start, end in differences(original, modified)]


@pytest.mark.parametrize(
    ("original", "modified", "expected"),
    [
        ("People eat rice with chopsticks.", "People eat rice with forks.", ["forks"]),
        ("They bow, then sit down.", "They bow then sit down!", []),
        ("In Japan people bow deeply to elders.", "In Japan people hug elders.", ["hug"]),
        ("Tea is served at 4 and cake at 5.", "Tea is served at 3 and cake at 6.", ["3", "6"]),
        ("It costs 1.5 euros.", "It costs 15 euros.", ["15"]),
        ("You should tip.", "You should not tip.", ["not"]),
        ("You should not tip.", "You should tip.", ["tip"]),  # left out: the word after
        ("They eat rice daily.", "They eat rice.", ["rice"]),  # left out at the end: the last word
        ("a well-known dish", "a well-liked dish", ["liked"]),
        ("He can't enter.", "He can enter.", ["can"]),
        ("don't touch", "don’t touch", []),
        ("lunes y martes", "jueves o martes", ["jueves o"]),
        ("中国人过春节时吃饺子。", "中国人过春节时吃粽子。", ["粽"]),
        ("日本では正月に餅を食べます。", "日本では正月に寿司を食べます。", ["寿司"]),
        ("กินข้าวด้วยช้อน", "กินข้าวด้วยมือ", ["มือ"]),
        ("वे हाथ से खाते हैं।", "वे चम्मच से खाते हैं।", ["चम्मच"]),
        ("वे नमस्ते करते हैं", "वे नमस्कार करते हैं", ["नमस्कार"]),
        ("يأكلون التمر في رمضان", "يأكلون الأرز في رمضان", ["الأرز"]),
        ("caf\u00e9 con leche", "cafe\u0301 con leche", []),
        ("Flag 🇯🇵 here", "Flag 🇰🇷 here", ["🇰🇷"]),
        ("rice", "", []),
        ("rice", " … ", ["…"]),
    ],
)
def test_by_hand(original: str, modified: str, expected: list[str]) -> None:
    assert quotes(original, modified) == expected


def test_a_burmese_stack_is_not_cut() -> None:
    assert [(unit.start, unit.end) for unit in units("ဗုဒ္ဓ")] == [(0, 2), (2, 5)]


WORDS = [
    "rice",
    "tea",
    "the",
    "don't",
    "3.5",
    "चाय",
    "नमस्ते",
    "ชา",
    "ข้าว",
    "中",
    "国",
    "のり",
    "é",
    "e\u0301",
    "🇯🇵",
    "👩🏽‍🌾",
]
SIGNS = [" ", ", ", ".", "", "\n", "—", "\u200d", "\u0301"]
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), max_size=20).map(
        lambda parts: "".join(word + sign for word, sign in parts)
    ),
)


@given(texts)
def test_equal_texts_do_not_differ(text: str) -> None:
    assert differences(text, text) == ()
    assert differences(text, f"¡{text}!") == ()


@given(texts, texts)
def test_spans_are_ordered_disjoint_and_inside(original: str, modified: str) -> None:
    spans = differences(original, modified)
    assert all(0 <= start < end <= len(modified) for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(unicodedata.category(modified[start])[0] != "M" or start == 0 or unit_starts(modified, start)
               for start, _ in spans)  # fmt: skip
    if keys(original) != keys(modified) and modified.strip():
        assert spans


def unit_starts(text: str, place: int) -> bool:
    return any(unit.start == place for unit in units(text))


@given(texts, texts)
def test_the_marked_words_explain_the_change(original: str, modified: str) -> None:
    before, after = units(original), units(modified)
    changed = blocks(before, after)
    rebuilt: list[str] = []
    place = 0
    for block in changed:
        rebuilt += [unit.key for unit in after[place : block.new_start]]
        rebuilt += [unit.key for unit in before[block.start : block.end]]
        place = block.new_end
    rebuilt += [unit.key for unit in after[place:]]
    assert rebuilt == [unit.key for unit in before]
    spans = differences(original, modified)
    put_in = [unit for block in changed for unit in after[block.new_start : block.new_end]]
    assert all(any(start <= unit.start and unit.end <= end for start, end in spans) for unit in put_in)


@given(texts)
def test_units_cover_all_letters_and_never_begin_with_a_mark(text: str) -> None:
    all_units = units(text)
    covered = {place for unit in all_units for place in range(unit.start, unit.end)}
    for place, character in enumerate(text):
        if character.isalnum():
            assert place in covered
        if unicodedata.category(character)[0] == "M" and place and text[place - 1].isalnum():
            assert all(unit.start != place for unit in all_units)


@pytest.mark.slow
def test_one_change_in_a_long_text_is_found_quickly() -> None:
    words = ["rice"] * 20_000 + ["tea"] + ["rice"] * 20_000
    started = time.perf_counter()
    assert quotes(" ".join(words), " ".join([*words[:20_000], "coffee", *words[20_001:]])) == ["coffee"]
    assert time.perf_counter() - started < 5  # minutes without trimming
