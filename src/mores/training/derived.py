"""Pairs derived from other pairs: sides swapped, a sentence of the passage as the claim, a claim with another word."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from mores.language.sentences import sentences
from mores.language.units import units, vocabulary
from mores.training.pairs import ClaimPair

SHORTEST, LONGEST_CLAIM = 12, 250
"""Minimum and maximum characters of a claim."""


def is_statement(text: str) -> bool:
    """Return whether the length of a text is that of a claim."""
    return SHORTEST <= len(text) <= LONGEST_CLAIM


def mirror(pair: ClaimPair) -> ClaimPair | None:
    """Return the passage as a claim about the claim, refuted if the claim is; None where one is not a statement."""
    passage = pair.evidence[0]
    if len(pair.evidence) > 1 or not is_statement(passage) or len(pair.claim) < SHORTEST:
        return None
    label = "refuted" if pair.label == "refuted" else "unknown"
    return pair.model_copy(update={"claim": passage, "evidence": (pair.claim,), "label": label})


def lift(pair: ClaimPair, digest: bytes) -> ClaimPair | None:
    """Return a sentence of a passage as a claim, which the passage supports; None where no sentence fits."""
    passage = pair.evidence[digest[0] % len(pair.evidence)]
    parts = [passage[start:end].strip() for start, end in sentences(passage)]
    parts = [part for part in parts if is_statement(part)]
    if not parts:
        return None
    return pair.model_copy(update={"claim": parts[digest[1] % len(parts)], "label": "supported"})


class Exchange:
    """Replaces a word that a supported claim shares with its passage by a word of another claim."""

    def __init__(self, pairs: Iterable[ClaimPair]) -> None:
        self._count: Counter[str] = Counter()
        shapes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for pair in pairs:
            for word in {pair.claim[unit.start : unit.end] for unit in units(pair.claim) if not unit.unspaced}:
                self._count[word] += 1
                shapes[pair.language, shape(word)][word] = None
        self._words = {key: sorted(words) for key, words in shapes.items()}

    def change(self, pair: ClaimPair, digest: bytes) -> tuple[str, tuple[int, int]] | None:
        """Return the claim with another word, and its span; None where no word can be exchanged."""
        passage = set[str]().union(*map(vocabulary, pair.evidence))
        shared = [
            unit
            for unit in units(pair.claim)
            if not unit.unspaced and unit.key.casefold() in passage and (len(unit.key) > 3 or unit.key.isdigit())
        ]
        if not shared:
            return None
        rare = sorted(shared, key=lambda unit: (self._count[pair.claim[unit.start : unit.end]], unit.start))[:3]
        unit = rare[digest[0] % len(rare)]
        old = pair.claim[unit.start : unit.end]
        choices = self._words.get((pair.language, shape(old)), [])
        for step in range(20 if choices else 0):
            place = int.from_bytes(digest[1:5], "big") + 7919 * step
            new = choices[place % len(choices)]
            if new.casefold() not in passage and new.casefold() != old.casefold():
                return f"{pair.claim[: unit.start]}{new}{pair.claim[unit.end :]}", (unit.start, unit.start + len(new))
        return None


def shape(word: str) -> str:
    """Return the shape of a word, a number, or its case and ending, so that an exchange reads well."""
    if any(character.isdigit() for character in word):
        return f"number {len(word)}"
    return f"{'capital' if word[0].isupper() else 'small'} {word[-2:].casefold() if word[0].islower() else ''}"
