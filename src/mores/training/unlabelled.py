"""Claims with passages that nobody labelled, for a larger reader to label (`mores.training.teacher`).

They are about what the labelled pairs are about, so that they look like what people write: the claims about one passage
against each other, claims and passages turned around (`mores.training.contrast`), and pairs whose labels are not
trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from mores.factory.drafts import draw
from mores.training.contrast import contrasts
from mores.training.derived import is_statement, mirrored
from mores.training.pairs import ClaimPair, name_of

SHARE = 35
"""Percent of what could be made of each kind."""


def unlabelled(pairs: Sequence[ClaimPair], untrusted: Sequence[ClaimPair] = (), seed: int = 0) -> list[ClaimPair]:
    """Pairs made of labelled ones and of others; each claim and passages once, and no labelled pair again."""
    made: dict[tuple[str, tuple[str, ...]], ClaimPair] = {(pair.claim, pair.evidence): pair for pair in pairs}
    labelled = len(made)
    for pair in [*_made_of(pairs, seed), *_themselves(untrusted, seed), *_made_of(untrusted, seed)]:
        made.setdefault((pair.claim, pair.evidence), pair)
    return list(made.values())[labelled:]


def _themselves(pairs: Iterable[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    for pair in pairs:
        yield _new(pair, "pair", pair.claim, pair.evidence)
        if (reverse := mirrored(pair)) and _drawn(seed, "mirror", pair):
            yield _new(pair, "mirror", reverse.claim, reverse.evidence)


def _made_of(pairs: Iterable[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    by_passages: dict[tuple[str, tuple[str, ...]], list[ClaimPair]] = defaultdict(list)
    for pair in pairs:
        by_passages[pair.source, pair.evidence].append(pair)
    for (_, passages), members in by_passages.items():
        statements = [pair for pair in members if is_statement(pair.claim)]
        for pair in statements:
            yield from _against(pair, statements, seed)
            yield from _turned(pair, seed)
        if statements and is_statement(passages[0]) and _drawn(seed, "passage", statements[0]):
            yield from _about_turned(passages, statements, seed)


def _against(pair: ClaimPair, members: Sequence[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    """Yield the claim, with other claims about its passage as the passage."""
    for number, other in enumerate(members):
        if other.claim != pair.claim and _drawn(seed, f"against {number}", pair):
            yield _new(pair, f"against {number}", pair.claim, (other.claim,))


def _turned(pair: ClaimPair, seed: int) -> Iterator[ClaimPair]:
    """Yield the claim turned around, and some claims with themselves turned around as the passage."""
    if _drawn(seed, "turned", pair) and (claim := _contrary(pair.claim, pair, seed)):
        yield _new(pair, "turned", claim, pair.evidence)
        if _drawn(seed, "itself", pair):
            yield _new(pair, "itself", pair.claim, (claim,))


def _about_turned(passages: tuple[str, ...], members: Sequence[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    """Yield two claims and the passage itself, with the first passage turned around."""
    first, *others = passages
    if contrary := _contrary(first, members[0], seed):
        for pair in members[:2]:
            yield _new(pair, "passage turned", pair.claim, (contrary, *others))
        yield _new(members[0], "passage", first, (contrary,))


def _contrary(text: str, pair: ClaimPair, seed: int) -> str | None:
    edits = contrasts(text, pair.language)
    return edits[draw(seed, "edit", name_of(pair), text)[0] % len(edits)].apply(text) if edits else None


def _drawn(seed: int, kind: str, pair: ClaimPair) -> bool:
    return draw(seed, "unlabelled", kind, name_of(pair))[0] % 100 < SHARE


def _new(pair: ClaimPair, kind: str, claim: str, evidence: tuple[str, ...]) -> ClaimPair:
    return pair.model_copy(update={"id": f"{pair.id} {kind}", "claim": claim, "evidence": evidence, "label": "unknown"})
