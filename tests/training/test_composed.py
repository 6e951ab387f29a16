"""Texts of several claims: where their errors are, and what their evidence shows."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from mores.metric.claims import decisions_of
from mores.training.composed import _add, compose_claims
from mores.training.pair_samples import PairSamples
from mores.training.pairs import ClaimPair


def pairs(language: str = "en", ending: str = ".") -> list[ClaimPair]:
    labels = ("supported", "refuted", "unknown")
    return [
        ClaimPair(
            id=str(n), claim=f"Claim {n} is about thing{n}{ending}", label=labels[n % 3], language=language, source="a",
            evidence=(f"A passage {'against' if n % 3 == 1 else 'about'} thing{n}.",),
        )
        for n in range(120)
    ]  # fmt: skip


def made(language: str = "en", ending: str = ".") -> list[tuple[str, list[str], list[tuple[str, str]]]]:
    """The texts with their passages and errors: the quote and the passage that it cites."""
    golds = [gold for gold in PairSamples(pairs(language, ending)).train() if gold.maker == "rule:composed"]
    assert golds
    return [
        (
            gold.sample.text,
            [passage.text for passage in gold.sample.evidence],
            [
                (gold.sample.text[error.start : error.end], gold.sample.evidence[error.evidence[0] - 1].text)
                for error in gold.report.errors
            ],
        )
        for gold in golds
    ]


@pytest.mark.parametrize(("language", "ending"), [("en", "."), ("en", ""), ("ja", "。"), ("ja", ""), ("xx", "")])
def test_an_error_is_at_its_claim_and_cites_the_passage_against_it(language: str, ending: str) -> None:
    texts = made(language, ending)
    wrong = [(text, errors) for text, _, errors in texts if errors]
    assert wrong
    for text, (quote, passage) in ((text, error) for text, errors in wrong for error in errors):
        against = re.findall(r"against thing(\d+)", passage)  # several, where all passages are one
        claims = [f"Claim {number} is about thing{number}" for number in against]
        assert all(claim in text for claim in claims)
        assert any(quote in claim for claim in claims)
    assert {len(errors) for _, errors in wrong} > {1, 2}
    assert {len(passages) == 1 for text, passages, _ in texts if text.count("Claim") > 2} == {True, False}


def test_as_many_texts_are_correct_as_wrong_and_have_two_to_five_claims() -> None:
    texts = made()
    assert len({bool(errors) for _, _, errors in texts}) == 2
    counts = Counter(bool(errors) for _, _, errors in texts)
    assert counts[True] == counts[False]
    claims = [text.count("Claim") for text, _, _ in texts]
    assert set(claims) == {2, 3, 4, 5}


@pytest.mark.slow
def test_what_the_evidence_decides_about_each_claim_is_known() -> None:
    label = {f"Claim {n} is about thing{n}": ("supported", "unknown", "unknown")[n % 3] for n in range(120)}
    golds = [gold for gold in PairSamples(pairs()).train() if gold.maker == "rule:composed"]
    for gold in golds:
        text, shown = gold.sample.text, " ".join(passage.text for passage in gold.sample.evidence)
        claims = {text[claim.start : claim.end].rstrip("."): claim.decision for claim in gold.report.claims}
        assert len(claims) == text.count("Claim")
        for claim, decision in claims.items():
            seen = f"{claim.split()[-1]}." in shown
            assert decision == (label[claim] if seen else "unknown")
        decided = decisions_of(gold.report, text)
        assert decided.count("wrong") == len(gold.report.errors)
        assert decided.count("none") == len(decided) - len(claims)


@pytest.mark.slow
def test_some_claims_have_no_passage_and_some_sentences_claim_nothing() -> None:
    texts = made()
    assert any(len(passages) < text.count("Claim") for text, passages, _ in texts)
    assert all(passages for _, passages, _ in texts)
    framed = [text for text, _, _ in texts if len(text.split(". ")) > text.count("Claim")]
    assert len(texts) / 4 < len(framed) < len(texts)


def test_where_nothing_is_correct_or_too_long_there_is_no_text() -> None:
    refuted = [pair.model_copy(update={"label": "refuted"}) for pair in pairs()]
    assert not [gold for gold in PairSamples(refuted).train() if gold.maker == "rule:composed"]
    assert not list(compose_claims([]))


def test_a_claim_ends_like_a_sentence() -> None:
    assert [_add("", claim, "en") for claim in ("It is. ", "It is", "Is it?")] == ["It is. ", "It is. ", "Is it? "]
    assert _add("", "そうです", "ja") == "そうです。"
