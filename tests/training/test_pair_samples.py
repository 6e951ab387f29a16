"""Claims with passages as samples: what is an error by the evidence, where it is, and that no source gives it away."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.language.units import differing
from mores.training.pair_samples import PairSamples, balanced
from mores.training.pairs import SENTENCES, ClaimPair, name_of
from tests.training.pairs import pair


def three_labels(count: int = 30) -> list[ClaimPair]:
    return [pair(number, ("supported", "refuted", "unknown")[number % 3]) for number in range(count)]


def test_a_refuted_claim_has_one_error_at_the_words_that_differ_and_cites_its_passage() -> None:
    claim, passage = "In Peru people eat rice cake at Easter.", "In Peru people eat twelve dishes at Easter."
    samples = PairSamples([pair(1001, "refuted", claim=claim, evidence=(passage,)), *three_labels()])
    golds = [gold for gold in samples.train() if gold.item == "made-up/1001" and gold.maker == "source"]
    assert len(golds) == 2, "as often as supported and undecided claims together"
    for gold in golds:
        [error] = gold.report.errors
        assert error.quote == gold.sample.text[error.start : error.end] == "rice cake"
        [number] = error.evidence
        assert gold.sample.evidence[number - 1].text == passage
        assert error.explanation == f"“rice cake” does not agree with the evidence: “{passage}”"


def test_what_is_supported_or_not_decided_has_no_error() -> None:
    for gold in PairSamples(three_labels()).train():
        if gold.maker == "source":
            assert bool(gold.report.errors) == (int(gold.item.rpartition("/")[2]) % 3 == 1)


@pytest.mark.slow
def test_half_of_the_pairs_of_a_source_have_an_error() -> None:
    counts = Counter(
        bool(gold.report.errors) for gold in PairSamples(three_labels(300)).train() if gold.maker == "source"
    )
    assert counts[True] == pytest.approx(counts[False], rel=0.15)


def test_a_source_without_refuted_claims_gets_some_that_are_changed() -> None:
    golds = list(PairSamples([pair(number, "supported") for number in range(40)]).train())
    wrong = [gold for gold in golds if gold.report.errors]
    assert len(wrong) > 15
    for gold in wrong:
        [error] = gold.report.errors
        [number] = error.evidence
        assert gold.maker == "rule:changed"
        assert error.quote.casefold() not in gold.sample.evidence[number - 1].text.casefold().split()
        assert gold.sample.text[error.start : error.end] == error.quote


def test_a_source_whose_claims_have_both_labels_is_taken_as_it_is() -> None:
    halves = {"first": "supported", "second": "refuted"}
    pairs = [
        pair(number, label, id=f"{number} {half}", claim=f"The market of town {number} is held early in the week.",
             evidence=(f"Town {number} trades in the {half} half of the week.",))
        for number in range(30)
        for half, label in halves.items()
    ]  # fmt: skip
    samples = PairSamples(pairs)
    golds = [gold for gold in samples.train() if gold.maker != "rule:composed"]
    assert Counter(gold.item for gold in golds) == Counter(map(name_of, samples.trained(pairs)))
    assert Counter(bool(gold.report.errors) for gold in golds) == {True: len(golds) // 2, False: len(golds) // 2}
    assert len(list(PairSamples(pairs[::2]).train())) > len(samples.trained(pairs[::2])), "half of them say too much"


def test_a_sentence_of_a_passage_is_a_claim_that_it_supports_and_refutes_after_a_change() -> None:
    passages = tuple(f"Festival {n} is old. It was held before the war in {1900 + n}." for n in range(80))
    pairs = [pair(n, "unknown", claim=f"Nobody knows {n}.", evidence=(passages[n],)) for n in range(80)]
    golds = [gold for gold in PairSamples(pairs).train() if gold.maker in ("rule:lifted", "rule:changed")]
    lifted = [gold for gold in golds if not gold.report.errors]
    assert 15 < len(lifted) < 60, "not near four in ten"
    assert all(any(gold.sample.text in piece.text for piece in gold.sample.evidence) for gold in lifted)
    changed = [gold for gold in golds if gold.report.errors]
    assert changed
    for gold in changed:
        [error] = gold.report.errors
        assert not any(gold.sample.text in piece.text for piece in gold.sample.evidence)
        assert gold.sample.text[error.start : error.end] == error.quote


def test_sets_are_measured_on_as_they_are() -> None:
    golds = list(PairSamples(three_labels(120)).sets(most=40))
    assert Counter(bool(gold.report.errors) for gold in golds) == {True: 20, False: 20}
    assert {len(gold.sample.evidence) for gold in golds} == {1}
    assert {gold.maker for gold in golds} == {"source"}


def test_passages_stand_in_any_order_and_others_between_them_decide_nothing() -> None:
    golds = [gold for gold in PairSamples(three_labels(120)).train() if gold.maker == "source" and gold.report.errors]
    places = Counter(gold.report.errors[0].evidence[0] for gold in golds)
    assert set(places) == {1, 2, 3}
    assert places[2] > len(golds) / 10


def test_nothing_is_both_trained_on_and_measured_on() -> None:
    samples = PairSamples([*three_labels(300), pair(900, claim=pair(3).claim, label="unknown")])
    train, test = ({gold.group for gold in golds} for golds in (samples.train(), samples.test()))
    assert test
    assert not train & test


def test_measured_are_as_many_claims_with_an_error_as_without() -> None:
    chosen = Counter(chosen.label for chosen in balanced(three_labels(90)))
    assert chosen == {"refuted": 30, "supported": 15, "unknown": 15}
    without_unknown = balanced([pair(n, ("supported", "refuted")[n % 2]) for n in range(20)])
    assert Counter(chosen.label for chosen in without_unknown) == {"refuted": 10, "supported": 10}
    assert balanced([pair(1), pair(2)]) == [], "no claim of the source is refuted"


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("The feast is on 5 May.", "The feast is on 7 May.", "5"),
        ("They never eat pork there.", "They eat pork there.", "never"),
        ("A dog runs.", "Nobody sleeps at night.", "A dog runs"),
        ("She ran but was elected.", "She ran but was not elected.", "She ran but was elected"),
        ("عام 2018 تخصصه دار نشر", "عام 2020 تخصصه دار نشر", "2018"),
        ("彼は寿司を食べる。", "彼はラーメンを食べる。", "寿司"),
    ],
)
def test_the_words_that_differ(claim: str, passage: str, expected: str) -> None:
    start, end = differing(claim, passage)
    assert claim[start:end] == expected


@given(st.text(min_size=1, max_size=60), st.text(max_size=60))
def test_what_differs_is_always_part_of_the_claim(claim: str, passage: str) -> None:
    start, end = differing(claim, passage)
    assert 0 <= start < end <= len(claim)


def test_no_claim_that_is_a_plain_sentence_is_kept_for_a_test() -> None:
    many = [pair(number, source=SENTENCES) for number in range(60)]
    assert {gold.item for gold in PairSamples(many).train()} == set(map(name_of, many))
