"""Spans: worked examples, a character-by-character count as in WMT's script, and what always holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.spans import (
    Span,
    SpanCounts,
    characters,
    intersection_over_union,
    match_errors,
    tokens,
)

MINOR, MAJOR = -1.0, -5.0
WORDS = [(0, 3), (4, 8), (9, 10), (11, 20)]

spans = st.lists(
    st.builds(
        lambda start, length, severity: Span(start, start + length, severity),
        st.integers(0, 12),
        st.integers(1, 8),
        st.sampled_from([MINOR, MAJOR]),
    ),
    max_size=5,
)
partial = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def over_words(predicted: Sequence[Span], gold: Sequence[Span], credit: float = 0.5) -> SpanCounts:
    return tokens(predicted, gold, WORDS, credit)


KINDS: list[Callable[..., SpanCounts]] = [characters, over_words]


# --- counts


def test_counts_add_up() -> None:
    total = sum([SpanCounts(1.5, 4, 2), SpanCounts(0.0, 0, 3), SpanCounts(2.0, 2, 2)], SpanCounts())
    assert total == SpanCounts(3.5, 6, 7)
    assert (total.precision, total.recall, total.f1) == (3.5 / 6, 0.5, 7 / 13)


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1"),
    [
        pytest.param(SpanCounts(0, 0, 0), 1, 1, 1, id="nothing to find, nothing predicted"),
        pytest.param(SpanCounts(0, 3, 0), 0, 1, 0, id="nothing to find"),
        pytest.param(SpanCounts(0, 0, 3), 1, 0, 0, id="nothing predicted"),
        pytest.param(SpanCounts(0, 2, 2), 0, 0, 0, id="all wrong"),
    ],
)
def test_empty_sides(counts: SpanCounts, precision: float, recall: float, f1: float) -> None:
    assert (counts.precision, counts.recall, counts.f1) == (precision, recall, f1)


@pytest.mark.parametrize("kind", KINDS)
def test_without_spans(kind: Callable[..., SpanCounts]) -> None:
    assert kind([], []) == SpanCounts(0.0, 0, 0)
    assert kind([], [Span(0, 3)]).f1 == 0
    assert kind([Span(0, 3)], []).f1 == 0


# --- by hand


def test_characters_by_hand() -> None:
    gold = [Span(0, 10, MAJOR), Span(20, 25, MINOR)]
    predicted = [Span(5, 12, MAJOR), Span(20, 22, MAJOR)]
    # 5 characters right, 2 with the wrong severity, 2 beside.
    assert characters(predicted, gold) == SpanCounts(6.0, 9, 15)
    assert characters(predicted, gold, credit=1) == SpanCounts(7.0, 9, 15)
    assert characters(predicted, gold, credit=0) == SpanCounts(5.0, 9, 15)
    assert characters(predicted, gold).f1 == 0.5


def test_a_character_counts_once_and_any_of_its_severities_will_do() -> None:
    both = [Span(0, 4, MAJOR), Span(2, 6, MINOR)]
    assert characters([Span(0, 6, MINOR)], both) == SpanCounts(2 * 0.5 + 4, 6, 6)
    assert characters(both, [Span(0, 6, MINOR)]) == SpanCounts(2 * 0.5 + 4, 6, 6)


def test_a_string_may_be_of_any_length() -> None:
    assert characters([Span(0, 10**15)], [Span(0, 10**15 // 2)]) == SpanCounts(10**15 / 2, 10**15, 10**15 // 2)


def test_tokens_by_hand() -> None:
    # The first span shares one character with the second word, and none of the space between.
    assert over_words([Span(0, 5, MINOR)], [Span(0, 3, MINOR), Span(4, 10, MAJOR)]) == SpanCounts(1.5, 2, 3)
    assert over_words([Span(3, 4, MINOR)], [Span(0, 3, MINOR)]) == SpanCounts(0.0, 0, 1)
    assert tokens([Span(0, 3)], [Span(0, 3)], []) == SpanCounts(0.0, 0, 0)


def test_sides_add_up() -> None:
    predicted = {"instruction": [Span(0, 2)], "text": [Span(0, 4)]}
    gold = {"instruction": [Span(0, 2)], "text": [Span(2, 6)]}
    counts = sum((characters(predicted[side], gold[side]) for side in gold), SpanCounts())
    assert counts == SpanCounts(4.0, 6, 6)


# --- oracles


def naive(predicted: Sequence[Span], gold: Sequence[Span], credit: float) -> SpanCounts:
    """The loop of WMT 2023's script, for two severities."""
    found, ours, theirs = 0.0, 0, 0
    for place in range(30):
        said = {span.severity for span in predicted if span.start <= place < span.end}
        true = {span.severity for span in gold if span.start <= place < span.end}
        ours, theirs = ours + bool(said), theirs + bool(true)
        if said and true:
            found += 1 if said & true else credit
    return SpanCounts(found, ours, theirs)


@given(spans, spans, partial)
def test_characters_are_those_of_the_naive_count(predicted: list[Span], gold: list[Span], credit: float) -> None:
    counts = characters(predicted, gold, credit)
    assert counts == naive(predicted, gold, credit)
    assert tokens(predicted, gold, [(n, n + 1) for n in range(30)], credit) == counts


# --- what always holds


@pytest.mark.parametrize("kind", KINDS)
@given(predicted=spans, gold=spans, credit=partial)
def test_swapping_swaps_precision_and_recall(
    kind: Callable[..., SpanCounts], predicted: list[Span], gold: list[Span], credit: float
) -> None:
    there, back = kind(predicted, gold, credit), kind(gold, predicted, credit)
    assert (there.precision, there.recall, there.f1) == (back.recall, back.precision, back.f1)
    assert 0 <= there.f1 <= 1
    assert 0 <= there.matched <= min(there.predicted, there.gold)


@pytest.mark.parametrize("kind", KINDS)
@given(gold=spans)
def test_gold_is_found_by_itself(kind: Callable[..., SpanCounts], gold: list[Span]) -> None:
    assert kind(gold, gold[::-1]).f1 == 1


@pytest.mark.parametrize("kind", KINDS)
@given(predicted=spans, gold=spans)
def test_more_credit_is_never_less(kind: Callable[..., SpanCounts], predicted: list[Span], gold: list[Span]) -> None:
    matched = [kind(predicted, gold, credit).matched for credit in (0.0, 0.5, 1.0)]
    assert matched == sorted(matched)


# --- what is refused


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("predicted", "credit", "message"),
    [
        ([Span(3, 3)], 0.5, "span 3:3 is empty or negative; exclude spans without a position"),
        ([Span(5, 3)], 0.5, "empty or negative"),
        ([Span(-1, 3)], 0.5, "empty or negative"),
        ([Span(0, 3, math.nan)], 0.5, "give the weight of one"),
        ([Span(0, 3)], 1.5, "not from 0 to 1"),
        ([Span(0, 3)], math.nan, "not from 0 to 1"),
    ],
)
def test_refuses(kind: Callable[..., SpanCounts], predicted: Any, credit: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(predicted, [Span(0, 3)], credit)


def test_refuses_empty_tokens() -> None:
    with pytest.raises(ValueError, match="2:2"):
        tokens([], [], [(0, 2), (2, 2)])


# Errors with several spans


def test_intersection_over_union_by_hand() -> None:
    assert intersection_over_union(Span(0, 4), Span(2, 8)) == 2 / 8
    assert intersection_over_union(Span(0, 4), Span(4, 8)) == 0
    assert intersection_over_union(Span(3, 5), Span(3, 5, MAJOR)) == 1


def test_an_error_is_found_by_any_of_its_spans() -> None:
    errors = [[Span(0, 10), Span(0, 4)], [Span(20, 24)]]
    assert match_errors([Span(0, 4)], errors, 1.0) == [(0, 0)]
    assert match_errors([Span(0, 3), Span(21, 30)], errors, 0.5) == [(0, 0)]
    assert sorted(match_errors([Span(0, 3), Span(21, 30)], errors, 0.0)) == [(0, 0), (1, 1)]
    assert match_errors([Span(10, 20)], errors, 0.0) == []  # touching is not overlapping
    assert match_errors([], errors, 0.5) == match_errors([Span(0, 1)], [], 0.5) == []


def test_more_pairs_before_more_overlap() -> None:
    """The first prediction fits the first error best, but then the second finds nothing."""
    predicted, errors = [Span(0, 10), Span(0, 8)], [[Span(0, 10)], [Span(4, 12)]]
    assert sorted(match_errors(predicted, errors, 0.4)) == [(0, 1), (1, 0)]
    assert match_errors(predicted, errors, 0.9) == [(0, 0)]


@given(spans, spans, st.floats(0, 1))
def test_matching_is_that_of_all_matchings(predicted: list[Span], gold: list[Span], threshold: float) -> None:
    pairs = match_errors(predicted, [[span] for span in gold], threshold)
    overlaps = [intersection_over_union(predicted[p], gold[g]) for p, g in pairs]
    assert all(overlap >= threshold and overlap > 0 for overlap in overlaps)
    assert len({p for p, _ in pairs}) == len({g for _, g in pairs}) == len(pairs)
    fits = {
        (p, g): overlap
        for p, a in enumerate(predicted)
        for g, b in enumerate(gold)
        if (overlap := intersection_over_union(a, b)) >= threshold and overlap > 0
    }
    size, overlap = most_pairs(fits, len(predicted))
    assert len(pairs) == size
    assert sum(overlaps) == pytest.approx(overlap)


def most_pairs(fits: dict[tuple[int, int], float], rows: int, taken: frozenset[int] = frozenset()) -> tuple[int, float]:
    """The most pairs and their overlap, by trying every column for each row."""
    if not rows:
        return 0, 0.0
    row = rows - 1
    best = most_pairs(fits, row, taken)
    for (p, g), overlap in fits.items():
        if p == row and g not in taken:
            size, total = most_pairs(fits, row, taken | {g})
            best = max(best, (size + 1, total + overlap))
    return best


def test_refuses_a_threshold_that_is_none() -> None:
    with pytest.raises(ValueError, match="threshold 2 is not from 0 to 1"):
        match_errors([], [], 2)
