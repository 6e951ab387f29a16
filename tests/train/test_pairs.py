"""Claims with passages as samples: what is an error by the evidence, where it is, and that no source gives it away."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.language.units import nearest_sentence
from mores.train.pairs import (
    Exchange,
    Pair,
    Reading,
    balanced,
    differing,
    group,
    mirrored,
    name_of,
    read_pairs,
    read_sentences,
)


def pair(number: int, label: Any = "supported", **changes: Any) -> Pair:
    fields = {
        "id": str(number),
        "claim": f"Festival number {number} takes place in month {number + 100} of the year.",
        "evidence": (f"People say that festival number {number} takes place in month {number + 100}.",),
        "label": label,
        "language": "en",
        "source": "made-up",
    }
    return Pair.model_validate(fields | changes)


def three_labels(count: int = 30) -> list[Pair]:
    return [pair(number, ("supported", "refuted", "unknown")[number % 3]) for number in range(count)]


def test_a_refuted_claim_has_one_error_at_the_words_that_differ_and_cites_its_passage() -> None:
    claim, passage = "In Peru people eat rice cake at Easter.", "In Peru people eat twelve dishes at Easter."
    reading = Reading([pair(1001, "refuted", claim=claim, evidence=(passage,)), *three_labels()])
    golds = [gold for gold in reading.train() if gold.item == "made-up/1001" and gold.maker == "source"]
    assert len(golds) == 2, "as often as supported and undecided claims together"
    for gold in golds:
        [error] = gold.report.errors
        assert error.quote == gold.sample.text[error.start : error.end] == "rice cake"
        [number] = error.evidence
        assert gold.sample.evidence[number - 1].text == passage
        assert error.explanation == f"“rice cake” does not agree with the evidence: “{passage}”"


def test_what_is_supported_or_not_decided_has_no_error() -> None:
    for gold in Reading(three_labels()).train():
        if gold.maker == "source":
            assert bool(gold.report.errors) == (int(gold.item.rpartition("/")[2]) % 3 == 1)


def test_half_of_the_pairs_of_a_source_have_an_error() -> None:
    counts = Counter(bool(gold.report.errors) for gold in Reading(three_labels(300)).train() if gold.maker == "source")
    assert counts[True] == pytest.approx(counts[False], rel=0.15)


def test_a_source_without_refuted_claims_gets_some_that_are_changed() -> None:
    golds = list(Reading([pair(number, "supported") for number in range(40)]).train())
    wrong = [gold for gold in golds if gold.report.errors]
    assert len(wrong) > 15
    for gold in wrong:
        [error] = gold.report.errors
        [number] = error.evidence
        assert gold.maker == "rule:changed"
        assert error.quote.casefold() not in gold.sample.evidence[number - 1].text.casefold().split()
        assert gold.sample.text[error.start : error.end] == error.quote


def test_two_passages_that_contradict_each_other_give_each_claim_both_labels(tmp_path: Path) -> None:
    line = {
        "id": "7", "passages": ["Two cats sleep on a wall.", "Two cats fight on a wall."], "language": "en",
        "claims": ["The animals are resting.", "The cats are not at peace."], "undecided": ["The cats are grey."],
        "source": "made-up",
    }  # fmt: skip
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line) + "\n")
    pairs = read_pairs(tmp_path)
    asleep, fight = line["passages"]
    assert {(pair.claim, pair.evidence[0]): pair.label for pair in pairs[:4]} == {
        ("The animals are resting.", asleep): "supported",
        ("The cats are not at peace.", asleep): "refuted",
        ("The animals are resting.", fight): "refuted",
        ("The cats are not at peace.", fight): "supported",
    }
    assert [(pair.claim, pair.label, pair.evidence[0] in line["passages"]) for pair in pairs[4:]] == [
        ("The cats are grey.", "unknown", True)
    ]
    assert len(set(map(name_of, pairs))) == 5
    assert set(group(pairs).values()) == {"made-up/7-00"}, "what shares a claim or a passage is never parted"
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line | {"claims": ["One."]}) + "\n")
    with pytest.raises(InputError, match=r"en\.contrasts\.jsonl:1: claims.*expected a Contrast"):
        read_pairs(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"claims": ["It rains.", ""]}, r"claims\.1: String should have at least 1 character"),
        ({"claims": ["It rains.", "It rains."]}, "the two claims, are the same"),
        ({"passages": ["It rains.", "It rains."]}, "the two passages, or the two claims, are the same"),
    ],
)
def test_a_contrast_without_one_is_named_with_file_and_line(tmp_path: Path, change: Any, problem: str) -> None:
    line = {
        "id": "1",
        "passages": ["Wet.", "Dry."],
        "claims": ["It rains.", "No rain."],
        "language": "en",
        "source": "x",
    }
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line | change) + "\n")
    with pytest.raises(InputError, match=rf"en\.contrasts\.jsonl:1: .*{problem}"):
        read_pairs(tmp_path)


def test_a_source_whose_claims_have_both_labels_is_taken_as_it_is() -> None:
    halves = {"first": "supported", "second": "refuted"}
    pairs = [
        pair(number, label, id=f"{number} {half}", claim=f"The market of town {number} is held early in the week.",
             evidence=(f"Town {number} trades in the {half} half of the week.",))
        for number in range(30)
        for half, label in halves.items()
    ]  # fmt: skip
    reading = Reading(pairs)
    golds = list(reading.train())
    assert Counter(gold.item for gold in golds) == Counter(map(name_of, reading.trained(pairs)))
    assert Counter(bool(gold.report.errors) for gold in golds) == {True: len(golds) // 2, False: len(golds) // 2}
    assert len(list(Reading(pairs[::2]).train())) > len(reading.trained(pairs[::2])), "half of them say too much"


def test_a_sentence_of_a_passage_is_a_claim_that_it_supports_and_refutes_after_a_change() -> None:
    passages = tuple(f"Festival {n} is old. It was held before the war in {1900 + n}." for n in range(80))
    pairs = [pair(n, "unknown", claim=f"Nobody knows {n}.", evidence=(passages[n],)) for n in range(80)]
    golds = [gold for gold in Reading(pairs).train() if gold.maker in ("rule:lifted", "rule:changed")]
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
    golds = list(Reading(three_labels(120)).sets(most=40))
    assert Counter(bool(gold.report.errors) for gold in golds) == {True: 20, False: 20}
    assert {len(gold.sample.evidence) for gold in golds} == {1}
    assert {gold.maker for gold in golds} == {"source"}


def test_passages_stand_in_any_order_and_others_between_them_decide_nothing() -> None:
    golds = [gold for gold in Reading(three_labels(120)).train() if gold.maker == "source" and gold.report.errors]
    places = Counter(gold.report.errors[0].evidence[0] for gold in golds)
    assert set(places) == {1, 2, 3}
    assert places[2] > len(golds) / 10


def test_nothing_is_both_trained_on_and_measured_on() -> None:
    reading = Reading([*three_labels(300), pair(900, claim=pair(3).claim, label="unknown")])
    train, test = ({gold.group for gold in golds} for golds in (reading.train(), reading.test()))
    assert test
    assert not train & test


def test_pairs_with_a_common_claim_or_passage_are_one_group() -> None:
    first, second, third, other = pair(1), pair(2, claim=pair(1).claim), pair(3, evidence=pair(2).evidence), pair(4)
    groups = group([first, second, third, other])
    assert len({groups[name_of(member)] for member in (first, second, third)}) == 1
    assert groups[name_of(other)] == name_of(other)


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


def test_a_contradiction_holds_both_ways_and_support_decides_nothing_the_other_way() -> None:
    for label, expected in (("refuted", "refuted"), ("supported", "unknown"), ("unknown", "unknown")):
        turned = mirrored(pair(1, label))
        assert turned is not None
        assert (turned.claim, turned.evidence) == (pair(1).evidence[0], (pair(1).claim,))
        assert turned.label == expected
    assert mirrored(pair(1, evidence=("one passage is here", "and another is here"))) is None
    assert mirrored(pair(1, evidence=("long " * 100,))) is None


def test_an_exchange_puts_in_a_word_that_the_passage_does_not_have() -> None:
    pairs = [pair(1), pair(2, claim="The carnival of Oruro is held in February.", evidence=("In February.",))]
    changed = Exchange(pairs).changed(pairs[0], bytes(5))
    assert changed is not None
    claim, (start, end) = changed
    assert claim[start:end] not in pairs[0].evidence[0]
    assert Exchange(pairs).changed(pair(3, evidence=("nothing in common",)), bytes(5)) is None


def test_the_nearest_sentence_of_a_passage() -> None:
    assert nearest_sentence("It rains. The feast is in May. Prices vary.", {"feast", "may"}) == "The feast is in May."


def test_sentences_become_claims_in_their_language(tmp_path: Path) -> None:
    lines = [f"Sentensi ya {number} inasema jambo jipya." for number in range(12)]
    (tmp_path / "sw.txt").write_text("\n".join(lines), "utf-8")
    pairs = read_sentences(tmp_path)
    assert {made.language for made in pairs} == {"sw"}
    assert all((made.claim in made.evidence[0]) == (made.label == "supported") for made in pairs)
    assert Counter(made.label for made in pairs) == {"supported": 3, "unknown": 1}
    many = [pair(number, source="sentences") for number in range(60)]
    assert {gold.item for gold in Reading(many).train()} == set(map(name_of, many)), "none is kept for a test"
    with pytest.raises(InputError, match=r"no \.txt file"):
        read_sentences(tmp_path / "nowhere")
    (tmp_path / "sw.txt").write_text("Moja.\nMbili.\nTatu.\nTatu.\n", "utf-8")
    with pytest.raises(InputError, match="four different sentences; write one sentence per line"):
        read_sentences(tmp_path)


def test_bad_pairs_are_named_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.jsonl file"):
        read_pairs(tmp_path)
    good = pair(1).model_dump(mode="json")
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(good | {'label': 'maybe'})}\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl:2.*label"):
        read_pairs(tmp_path)
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(good)}\n" * 2, "utf-8")
    assert len(read_pairs(tmp_path)) == 1, "the same pair is taken once"
    (tmp_path / "b.jsonl").write_text(json.dumps(good | {"claim": "Another one."}), "utf-8")
    with pytest.raises(InputError, match=r"b\.jsonl: .* names another pair in .*a\.jsonl"):
        read_pairs(tmp_path)
