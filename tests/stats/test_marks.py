"""Agreement on marked spans: worked by hand, Krippendorff's published example, and what must not matter."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from mores.stats.agreement import Votes, cohen_kappa, krippendorff_alpha
from mores.stats.classification import Floats
from mores.stats.intervals import limits_of
from mores.stats.marks import (
    MarkAgreement,
    MarkedText,
    SpanMark,
    figure,
    match,
    single_variance,
    span_agreement,
    trim,
    unitizing_alpha,
)


def of(text: str, words: str, label: str | None = None) -> SpanMark:
    start = text.index(words)
    return SpanMark(start, start + len(words), label)


TEXT = "abcd efgh ijkl mnop."


def test_f1_chance_and_kappa_by_hand() -> None:
    """Ann marks 9 of 20 characters (abcd efgh), Bo 9 (efgh ijkl); they share efgh."""
    agreement = span_agreement([MarkedText(TEXT, {"ann": [of(TEXT, "abcd efgh")], "bo": [of(TEXT, "efgh ijkl")]})])
    assert agreement
    assert agreement.f1.value == pytest.approx(2 * 4 / 18)
    chance = 2 * (9 * 9 / 20) / 18
    assert agreement.chance == pytest.approx(chance)
    assert agreement.kappa.value == pytest.approx((8 / 18 - chance) / (1 - chance))
    by_ann, by_bo = [int(n < 9) for n in range(20)], [int(5 <= n < 14) for n in range(20)]
    assert agreement.kappa.value == pytest.approx(cohen_kappa(by_ann, by_bo))
    (pair,) = agreement.pairs
    assert (pair.first, pair.second, pair.texts, pair.blank) == ("ann", "bo", 1, 0)
    assert pair.f1 == agreement.f1
    assert agreement.labels is None


def test_alpha_is_krippendorffs_over_the_characters() -> None:
    """Three people on the first text, two on the second, on which both find nothing."""
    texts = [
        MarkedText(TEXT, {"ann": [SpanMark(0, 4)], "bo": [SpanMark(0, 9)], "cy": [SpanMark(5, 14)]}),
        MarkedText("nothing wrong", {"ann": [], "bo": []}),
    ]
    masks = np.array([[0 <= n < 4, 0 <= n < 9, 5 <= n < 14] for n in range(20)]).sum(axis=1)
    counts = [[3 - k, k] for k in masks] + [[2, 0]] * 13
    agreement = span_agreement(texts)
    assert agreement
    assert agreement.alpha.value == pytest.approx(krippendorff_alpha(Votes((0.0, 1.0), counts)))
    assert (agreement.texts, agreement.marked, agreement.people) == (2, 1, ("ann", "bo", "cy"))
    assert {(p.first, p.second): (p.texts, p.blank) for p in agreement.pairs} == {
        ("ann", "bo"): (2, 1),
        ("ann", "cy"): (1, 0),
        ("bo", "cy"): (1, 0),
    }


def test_weighted_alpha_is_krippendorffs_for_interval_data() -> None:
    """Of the package krippendorff, over characters; ann's second mark, within the first, has the larger weight."""
    marks = {
        "ann": [SpanMark(0, 9, "minor"), SpanMark(5, 9, "major")],
        "bo": [SpanMark(0, 9, "major")],
        "cy": [SpanMark(5, 14)],
    }
    weighed = [[1.0] * 5 + [5.0] * 4 + [0.0] * 11, [5.0] * 9 + [0.0] * 11, [0.0] * 5 + [1.0] * 9 + [0.0] * 6]
    agreement = span_agreement([MarkedText(TEXT, marks)], weights={"minor": 1.0, "major": 5.0})
    assert agreement
    assert agreement.weighted
    expected = krippendorff.alpha(np.array(weighed), level_of_measurement="interval")
    assert agreement.weighted.value == pytest.approx(expected)


def test_intervals_over_people_are_wider_where_people_differ() -> None:
    """Two who mark the same and a third who marks elsewhere: without that one, everybody agrees."""
    same, other = [SpanMark(0, 4)], [SpanMark(5, 9)]
    texts = [MarkedText(TEXT, {"ann": same, "bo": same, "cy": other if n % 2 else same}) for n in range(30)]
    texts_only, both = span_agreement(texts), span_agreement(texts, over_raters=True)
    assert texts_only
    assert both
    for name in ("f1", "kappa", "alpha"):
        one, two = getattr(texts_only, name), getattr(both, name)
        assert one.value == two.value
        assert two.low < one.low < one.high < two.high
    # By hand: F1 is 1 without cy and 1/2 without another, and 2/3 of everybody; the jackknife's error is 1/3.
    assert both.f1.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(("people", "texts", "even"), [(4, 20, True), (3, 20, False), (4, 19, False)])
def test_intervals_over_four_people_are_of_fishers_z(people: int, texts: int, even: bool) -> None:
    """From 20 marked texts on, both ends of z = atanh(2 F1 - 1) are as far away."""
    marks = of(TEXT, "abcd"), of(TEXT, "abcd efgh")
    read = [MarkedText(TEXT, {f"p{p}": [marks[n * (p + 1) % 3 == 0]] for p in range(people)}) for n in range(texts)]
    agreement = span_agreement(read, over_raters=True)
    assert agreement
    f1 = agreement.f1
    low, value, high = np.arctanh(2 * np.array([f1.low, f1.value, f1.high], dtype=np.float64) - 1)
    assert bool(abs(high - 2 * value + low) < 1e-6) is even


def test_the_variance_of_single_marks_is_taken_off_once() -> None:
    """By hand for a mean, whose value without x is (S - x) / (N - 1); in all 5 texts 4 people have a number each."""
    values = np.random.default_rng(0).normal(size=(5, 4))

    def mean(sums: Floats) -> Floats:
        return np.asarray(sums[..., 0] / sums[..., 1])

    rows = np.column_stack([values.sum(axis=1), np.full(5, 4.0)])
    without = [np.column_stack([values.sum(axis=1) - values[:, n], np.full(5, 3.0)]) for n in range(4)]
    left = (values.sum() - values) / 19
    by_hand = 3 / 4 * ((left - left.mean(axis=1, keepdims=True)) ** 2).sum()
    assert single_variance(mean, rows, without) == pytest.approx(by_hand)
    assert single_variance(mean, rows, [rows, rows]) == 0, "nobody read anything"


def test_variances_of_texts_and_of_people_are_added_with_the_degrees_of_freedom_of_both() -> None:
    """Both are V = 0.05² of 20 texts and three people; Satterthwaite's are (2 V)² / (V² / 19 + V² / 2)."""
    rows, weights = np.repeat([[1.0, 1.0], [0.0, 1.0]], 10, axis=0), np.repeat([2, 1, 0], [1, 18, 1]).astype(np.uint8)
    draws, apart = [np.stack([weights, weights[::-1]])], 0.05 * np.sqrt(3 / 4)
    without = [np.array([[0.5 + gap, 1.0]]) for gap in (-apart, 0.0, apart)]

    def mean(sums: Floats) -> Floats:
        return np.asarray(sums[..., 0] / sums[..., 1])

    variance = 2 * 0.05**2 * (t.isf(0.025, 4 / (1 / 19 + 1 / 2)) / 1.959964) ** 2
    low, high = limits_of(0.5, float(variance), 20)
    found = figure(mean, rows, draws, 20, without=without)
    assert (found.low, found.high) == pytest.approx((low, high))
    scaled = figure(lambda sums: 2 * mean(sums) - 1, rows, draws, 20, least=-1.0, without=without)
    assert (scaled.low, scaled.high) == pytest.approx((2 * low - 1, 2 * high - 1))


@pytest.mark.slow
@pytest.mark.parametrize("people", [3, 6])
def test_intervals_of_marks_hold_for_other_people(people: int) -> None:
    """Each finds three errors in a text as often as they are careful; the truth is that of many people and texts."""

    def study(seed: int, texts: int = 20) -> MarkAgreement:
        rng = np.random.default_rng([people, seed])
        care, drawn = np.clip(rng.normal(0.7, 0.2, people), 0, 1).tolist(), []
        for _ in range(texts):
            errors = rng.integers(0, 20, 3).tolist()
            drawn.append({f"p{p}": [e for e in errors if rng.random() < c] for p, c in enumerate(care)})
        text = " ".join(f"word{n:02d}" for n in range(20))
        marked = [{p: [SpanMark(7 * e, 7 * e + 6) for e in found] for p, found in each.items()} for each in drawn]
        found = span_agreement([MarkedText(text, each) for each in marked], over_raters=True)
        assert found
        return found

    truth = np.mean([study(1000 + seed, 60).alpha.value or 0 for seed in range(100)])
    held = [(one.low or 0) <= truth <= (one.high or 0) for one in (study(seed).alpha for seed in range(200))]
    assert np.mean(held) >= 0.93


def test_unitizing_alpha_is_krippendorffs_example() -> None:
    """Content Analysis (2004), page 254: a continuum of 300 from 150 on; α_U of c is 0.7286, and 1 of k."""
    first, second = [(75, 145), (220, 250)], [(70, 150), (205, 225), (250, 270)]
    assert unitizing_alpha(300, [first, second]) == pytest.approx(0.7286, abs=1e-4)
    assert unitizing_alpha(300, [[(30, 90), (150, 200)]] * 2) == 1.0


def test_unitizing_alpha_without_anything_to_compare() -> None:
    assert unitizing_alpha(20, [[], []]) is None
    with pytest.raises(ValueError, match="at least two"):
        unitizing_alpha(20, [[(1, 2)]])
    with pytest.raises(ValueError, match="overlap; join"):
        unitizing_alpha(20, [[(1, 5), (3, 8)], []])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("say (hello world), please", "hello world"),
        ("قال: «مرحبا بك»، ثم ذهب", "مرحبا بك"),
        ("彼は「東京タワー」、と言った。", "東京タワー"),
        ("他说:“长城。”", "长城"),
        ("เขาไป \u200bวัดพระแก้ว\u200b ๚๛", "วัดพระแก้ว"),
        ("यह ताज महल। है", "ताज महल"),
        ("¿Dónde está \u202bx\u202c?", "Dónde está \u202bx"),
    ],
)
def test_punctuation_and_white_space_of_every_script_are_trimmed(text: str, words: str) -> None:
    start = text.index(words)
    end = start + len(words)
    wider_start = next(n for n in range(start, -1, -1) if n == 0 or text[n - 1].isalpha())
    wider_end = next((n for n in range(end, len(text)) if text[n].isalpha()), len(text))
    assert (wider_start, wider_end) != (start, end)
    for low in range(wider_start, start + 1):
        for high in range(end, wider_end + 1):
            assert trim(text, low, high) == (start, end)


def test_marks_and_vowel_signs_at_the_ends_are_kept() -> None:
    assert trim("ตำ่ นา", 0, 3) == (0, 3)
    assert trim("हिन्दी।", 0, 7) == (0, 6)
    assert trim("a👍🏽 ", 0, 4) == (0, 3)
    assert trim("5 €", 0, 3) == (0, 3)


def test_punctuation_alone_can_be_marked_but_white_space_cannot() -> None:
    assert trim("wrong ?! ", 5, 9) == (6, 8)
    assert trim("a \u200b\n b", 1, 4) is None
    agreement = span_agreement([MarkedText("a   b", {"ann": [SpanMark(1, 3)], "bo": []})])
    assert agreement
    assert agreement.f1.value is None
    assert agreement.marked == 0


@pytest.mark.parametrize(("start", "end"), [(0, 99), (3, 3), (-1, 2), (5, 2)])
def test_spans_outside_the_text_are_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="empty or outside its text of 20"):
        span_agreement([MarkedText(TEXT, {"ann": [SpanMark(start, end)], "bo": []})])


WORDS = st.lists(st.sampled_from(["ab", "cde", "f", "قال", "東京", "วัด"]), min_size=3, max_size=8)
GAPS = [" ", ", ", "، ", "。", " – ", "\u200b"]


@pytest.mark.slow
@given(st.data())
def test_stray_spaces_and_commas_labels_and_names_change_nothing(data: st.DataObject) -> None:
    words = data.draw(WORDS)
    gaps = data.draw(st.lists(st.sampled_from(GAPS), min_size=len(words), max_size=len(words)))
    text, places = "", []
    for word, gap in zip(words, gaps, strict=True):
        places.append((len(text), len(text) + len(word), len(text) + len(word) + len(gap)))
        text += word + gap

    def draw_marks(*, stray: bool, chosen: list[tuple[int, int, str]]) -> list[SpanMark]:
        marks = []
        for first, last, label in chosen:
            end = data.draw(st.integers(places[last][1], places[last][2])) if stray else places[last][1]
            start_least = places[first - 1][1] if first else 0
            start = data.draw(st.integers(start_least, places[first][0])) if stray else places[first][0]
            marks.append(SpanMark(start, end, label.upper() if stray else label))
        return marks

    index = st.integers(0, len(words) - 1)
    span = st.tuples(index, index, st.sampled_from(["a", "b"])).map(lambda s: (min(s[:2]), max(s[:2]), s[2]))
    chosen = [data.draw(st.lists(span, max_size=3)) for _ in range(2)]
    plain, stray = (
        span_agreement(
            [MarkedText(text, {p: draw_marks(stray=s, chosen=c) for p, c in zip("xy", chosen, strict=True)})],
            resamples=20,
        )
        for s in (False, True)
    )
    assert plain == stray


def test_a_mark_in_two_parts_is_the_mark() -> None:
    whole, parts = [of(TEXT, "abcd efgh")], [of(TEXT, "abcd"), of(TEXT, "efgh ")]
    agreement = span_agreement([MarkedText(TEXT, {"ann": whole, "bo": parts})])
    assert agreement
    assert (agreement.f1.value, agreement.kappa.value, agreement.alpha.value, agreement.unitizing) == (1, 1, 1, 1)
    assert agreement.f1.low is not None
    assert agreement.f1.low < 1  # one text is not certainty


def draw_texts(rng: np.random.Generator, count: int, copy: float = 0.0) -> list[MarkedText]:
    """Two people mark one to three spans of 20 characters in texts of 400 letters; `copy` is how often they agree."""
    texts = []
    for _ in range(count):
        amounts = rng.integers(1, 4, 2)
        ann, bo = (
            [SpanMark(n, n + 20, "ab"[n % 2]) for n in rng.integers(0, 380, k).tolist()] for k in amounts.tolist()
        )
        texts.append(MarkedText("x" * 400, {"ann": ann, "bo": ann if rng.random() < copy else bo}))
    return texts


@pytest.mark.slow
def test_random_marking_agrees_by_chance_only() -> None:
    agreement = span_agreement(draw_texts(np.random.default_rng(0), 1500), resamples=20)
    assert agreement
    assert agreement.f1.value == pytest.approx(agreement.chance, abs=0.015)
    assert agreement.kappa.value == pytest.approx(0, abs=0.02)
    assert agreement.alpha.value == pytest.approx(0, abs=0.02)
    assert agreement.unitizing == pytest.approx(0, abs=0.05)
    assert agreement.labels
    assert agreement.labels.alpha.value == pytest.approx(0, abs=0.1)


@pytest.mark.slow
def test_intervals_hold_the_agreement_of_many_texts() -> None:
    """30 texts, half of them marked alike, against 1,000 of the same kind."""
    whole = span_agreement(draw_texts(np.random.default_rng(1), 1000, copy=0.5), resamples=10)
    assert whole
    held = np.zeros(3)
    for seed in range(2, 32):
        sample = span_agreement(draw_texts(np.random.default_rng(seed), 30, copy=0.5), resamples=100)
        assert sample
        for n, (own, truth) in enumerate(
            [(sample.f1, whole.f1), (sample.kappa, whole.kappa), (sample.alpha, whole.alpha)]
        ):
            assert own.low is not None
            assert own.high is not None
            assert truth.value is not None
            held[n] += own.low <= truth.value <= own.high
    assert (held >= 27).all(), held


def test_labels_are_compared_on_matched_marks() -> None:
    """Four matched pairs, of which three agree: labels a a b a and a a b b, so n_a = 5, n_b = 3 of 8."""
    text = "aaaa bbbb cccc dddd eeee"
    ann = [of(text, "aaaa", "a"), of(text, "bbbb", "a"), of(text, "cccc", "b"), of(text, "dddd", "a")]
    bo = [of(text, "aaaa", "a"), of(text, "bbb", "a"), of(text, "cccc d", "b"), of(text, "dddd", "b"), of(text, "eeee")]
    agreement = span_agreement([MarkedText(text, {"ann": ann, "bo": bo})])
    assert agreement
    assert agreement.labels
    assert (agreement.labels.matched, agreement.labels.same) == (4, 3)
    assert agreement.labels.alpha.value == pytest.approx(1 - 7 * 2 * 1 / (64 - 25 - 9))


def test_each_mark_is_matched_once_and_with_what_it_overlaps_most() -> None:
    text = "aaaa bbbb cccc dddd"
    long, short = of(text, "aaaa bbbb cccc"), of(text, "cccc")
    assert match(text, [long], [short, of(text, "aaaa bbbb")]) == [(long, of(text, "aaaa bbbb"))]
    assert match(text, [of(text, "aaaa")], [of(text, "dddd")]) == []
    assert match(text, [], [short]) == []


def test_texts_of_one_reader_are_nothing_to_compare() -> None:
    assert span_agreement([MarkedText(TEXT, {"ann": [SpanMark(0, 4)]})]) is None
