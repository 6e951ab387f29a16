"""Duplicate questions: the same ones, and those that are nearly the same.

The same are those of one language that differ in nothing but blanks and the way Unicode writes a character. Nearly the
same are those that share at least `NEAR` of their character 4-grams (Jaccard), case and punctuation aside. None that
reaches the threshold is missed, and few others are looked at: two sets that share so much must share some of their
rarest members (Chaudhuri, Ganti and Kaushik, A primitive operator for similarity joins in data cleaning, ICDE 2006).
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from mores.longanswer.collection.candidates import Candidate
from mores.types import Record

NEAR = 0.8
"""From this share of common 4-grams on, two questions are nearly the same."""
GRAM = 4
WITNESSES = 4
"""More of them leave fewer pairs to compare, and more to find them by."""


class NearDuplicate(Record):
    """A question that is nearly the same as an earlier one of its language."""

    id: str
    of: str
    """The id of the earlier one."""
    similarity: float
    """Jaccard's: common 4-grams over all."""


def same_as_earlier(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return the id of each question that is exactly an earlier one of its language, and the id of that one."""
    first: dict[tuple[str, str], str] = {}
    duplicates = {}
    for candidate in candidates:
        text = " ".join(unicodedata.normalize("NFC", candidate.question).split())
        earlier = first.setdefault((candidate.language, text), candidate.id)
        if earlier != candidate.id:
            duplicates[candidate.id] = earlier
    return duplicates


def near_duplicates(candidates: Iterable[Candidate], threshold: float = NEAR) -> list[NearDuplicate]:
    """Return each question that is nearly the same as an earlier one of its language that is not such a duplicate.

    Without them no two are nearly the same, and each of them is nearly the same as one that is left.
    """
    by_language: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_language[candidate.language].append(candidate)
    return [pair for same_language in by_language.values() for pair in _near(same_language, threshold)]


def _near(candidates: Sequence[Candidate], threshold: float) -> Iterator[NearDuplicate]:
    sets = [grams(candidate.question) for candidate in candidates]
    counts = Counter(gram for members in sets for gram in members)
    by_gram: dict[str, list[int]] = defaultdict(list)
    for place, members in enumerate(sets):
        enough = _witnesses(len(members), threshold)
        # With fewer than its witnesses among so many of its rarest members, too few can be common.
        prefix = len(members) - _common(len(members), threshold) + enough
        rarest = sorted(sorted(members), key=counts.__getitem__)[:prefix]
        shared = Counter(earlier for gram in rarest for earlier in by_gram[gram])
        likely = sorted(
            other for other, n in shared.items() if n >= min(enough, _witnesses(len(sets[other]), threshold))
        )
        near = ((other, similarity(members, sets[other])) for other in likely)
        match = next(((other, value) for other, value in near if value >= threshold), None)
        if match:
            yield NearDuplicate(id=candidates[place].id, of=candidates[match[0]].id, similarity=match[1])
            continue
        for gram in rarest:
            by_gram[gram].append(place)


def _witnesses(size: int, threshold: float) -> int:
    """Return how many of the rarest members two sets must share to be compared: few in small sets."""
    return min(WITNESSES, _common(size, threshold))


def _common(size: int, threshold: float) -> int:
    """Return how many members of a set must be in another that reaches the threshold."""
    return math.ceil(threshold * size - 1e-9)


def similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """Return Jaccard's similarity: common members over all."""
    common = len(first & second)
    return common / (len(first) + len(second) - common)


def grams(text: str) -> frozenset[str]:
    """Return the character 4-grams of a text without case and punctuation, never none; a shorter text is one gram."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # By category: the vowel signs of Indic scripts are not letters, and yet tell words apart.
    plain = " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded).split())
    return frozenset(plain[i : i + GRAM] for i in range(max(1, len(plain) - GRAM + 1)))
