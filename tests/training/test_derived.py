"""Pairs made of other pairs: what their labels are, and that an exchanged word is a new one."""

from __future__ import annotations

from mores.training.pairs import Exchange, mirror
from tests.training.pairs import pair


def test_a_contradiction_holds_both_ways_and_support_decides_nothing_the_other_way() -> None:
    for label, expected in (("refuted", "refuted"), ("supported", "unknown"), ("unknown", "unknown")):
        turned = mirror(pair(1, label))
        assert turned is not None
        assert (turned.claim, turned.evidence) == (pair(1).evidence[0], (pair(1).claim,))
        assert turned.label == expected
    assert mirror(pair(1, evidence=("one passage is here", "and another is here"))) is None
    assert mirror(pair(1, evidence=("long " * 100,))) is None


def test_an_exchange_puts_in_a_word_that_the_passage_does_not_have() -> None:
    pairs = [pair(1), pair(2, claim="The carnival of Oruro is held in February.", evidence=("In February.",))]
    changed = Exchange(pairs).change(pairs[0], bytes(5))
    assert changed is not None
    claim, (start, end) = changed
    assert claim[start:end] not in pairs[0].evidence[0]
    assert Exchange(pairs).change(pair(3, evidence=("nothing in common",)), bytes(5)) is None
