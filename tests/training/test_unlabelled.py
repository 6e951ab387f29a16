"""Pairs that nobody labelled: what they are made of, and that no labelled pair is among them."""

from __future__ import annotations

from typing import Any

from mores.training.pairs import ClaimPair, contrasts, make_unlabelled

PASSAGE = "The old man was born before the war."


def pair(number: int, claim: str, **changes: Any) -> ClaimPair:
    fields = {"id": str(number), "claim": claim, "evidence": (PASSAGE,), "label": "supported", "language": "en"}
    return ClaimPair.model_validate({"source": "made-up"} | fields | changes)


def many(count: int = 40) -> list[ClaimPair]:
    """Three claims about each of many passages."""
    return [
        pair(3 * n + k, f"Man {n} {what}.", evidence=(f"Man {n} was born before the war of {n}.",))
        for n in range(count)
        for k, what in enumerate(("was born early", "was born after the war", "is not a soldier"))
    ]


def test_the_claims_about_one_passage_stand_against_each_other() -> None:
    made = make_unlabelled(many())
    claims = {each.claim for each in many()}
    against = [each for each in made if " against " in each.id]
    assert 50 <= len(against) <= 130, "about a third of six for each passage"
    for each in against:
        assert {each.claim, *each.evidence} <= claims
        assert each.claim not in each.evidence
        assert each.claim.split()[1] == each.evidence[0].split()[1], "about the same passage"


def test_claims_and_passages_are_turned_around() -> None:
    made = make_unlabelled(many())
    claims = {each.id: each.claim for each in many()}
    turned = {each.id.removesuffix(" turned"): each.claim for each in made if each.id.removesuffix(" turned") in claims}
    assert 25 <= len(turned) <= 65, "about a third of the claims"
    for name, claim in turned.items():
        assert claim in {edit.apply(claims[name]) for edit in contrasts(claims[name], "en")}
    passages = {each.evidence[0] for each in made if " passage" in each.id}
    assert passages
    assert not passages & {each.evidence[0] for each in many()}


def test_nothing_labelled_comes_again_and_each_pair_once() -> None:
    mirrored = pair(900, many()[0].claim, evidence=(many()[1].claim,))
    made = make_unlabelled(
        [*many(), mirrored], [*many()[:1], pair(901, "He is older than the war.", source="doubtful")]
    )
    keys = [(each.claim, each.evidence) for each in made]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {(each.claim, each.evidence) for each in [*many(), mirrored]}
    assert "901 pair" in {each.id for each in made}
    assert {each.label for each in made} == {"unknown"}


def test_what_is_no_statement_is_not_used_and_the_seed_decides() -> None:
    assert not make_unlabelled([pair(1, "No."), pair(2, "x" * 300)])
    assert make_unlabelled(many(), seed=1) == make_unlabelled(many(), seed=1) != make_unlabelled(many(), seed=2)
