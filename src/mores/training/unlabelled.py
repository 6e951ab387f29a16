"""Unlabelled claims with passages, for a larger model to label (`mores.training.teacher`).

They are made of the labelled pairs, so that they look like what people write: claims about one passage paired with each
other, reversed claims and passages (`mores.training.contrast`), and pairs whose labels are not trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from mores.factory.drafts import draw
from mores.training.contrast import contrasts
from mores.training.derived import is_statement, mirror
from mores.training.pairs import ClaimPair, name_of

SHARE = 35
"""Percentage of the possible pairs of each kind that are made."""


def make_unlabelled(pairs: Sequence[ClaimPair], untrusted: Sequence[ClaimPair] = (), seed: int = 0) -> list[ClaimPair]:
    """Return new pairs made of labelled and untrusted ones, without duplicates."""
    made: dict[tuple[str, tuple[str, ...]], ClaimPair] = {(pair.claim, pair.evidence): pair for pair in pairs}
    labelled = len(made)
    new = list(_derive(pairs, seed))
    for pair in untrusted:
        new.append(_relabel(pair, "pair", pair.claim, pair.evidence))
        if (reverse := mirror(pair)) and _is_drawn(seed, "mirror", pair):
            new.append(_relabel(pair, "mirror", reverse.claim, reverse.evidence))
    for pair in [*new, *_derive(untrusted, seed)]:
        made.setdefault((pair.claim, pair.evidence), pair)
    return list(made.values())[labelled:]


def _derive(pairs: Iterable[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    by_passages: dict[tuple[str, tuple[str, ...]], list[ClaimPair]] = defaultdict(list)
    for pair in pairs:
        by_passages[pair.source, pair.evidence].append(pair)
    for (_, passages), members in by_passages.items():
        statements = [pair for pair in members if is_statement(pair.claim)]
        for pair in statements:
            for number, other in enumerate(statements):  # another claim about the passage as the passage
                if other.claim != pair.claim and _is_drawn(seed, f"against {number}", pair):
                    yield _relabel(pair, f"against {number}", pair.claim, (other.claim,))
            if _is_drawn(seed, "turned", pair) and (claim := _reverse(pair.claim, pair, seed)):
                yield _relabel(pair, "turned", claim, pair.evidence)
                if _is_drawn(seed, "itself", pair):
                    yield _relabel(pair, "itself", pair.claim, (claim,))
        if statements and is_statement(passages[0]) and _is_drawn(seed, "passage", statements[0]):
            yield from _about_reversed(passages, statements, seed)


def _about_reversed(passages: tuple[str, ...], members: Sequence[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    """Yield two claims and the passage itself, with the first passage reversed."""
    first, *others = passages
    if contrary := _reverse(first, members[0], seed):
        for pair in members[:2]:
            yield _relabel(pair, "passage turned", pair.claim, (contrary, *others))
        yield _relabel(members[0], "passage", first, (contrary,))


def _reverse(text: str, pair: ClaimPair, seed: int) -> str | None:
    edits = contrasts(text, pair.language)
    return edits[draw(seed, "edit", name_of(pair), text)[0] % len(edits)].apply(text) if edits else None


def _is_drawn(seed: int, kind: str, pair: ClaimPair) -> bool:
    return draw(seed, "unlabelled", kind, name_of(pair))[0] % 100 < SHARE


def _relabel(pair: ClaimPair, kind: str, claim: str, evidence: tuple[str, ...]) -> ClaimPair:
    return pair.model_copy(update={"id": f"{pair.id} {kind}", "claim": claim, "evidence": evidence, "label": "unknown"})
