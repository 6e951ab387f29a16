"""Matching of English texts and answers, as BLEnD's authors do it (their `evaluation/exact_match.py`).

A text gives an answer when it contains it literally, or all lemmas of its words, in any order. The authors lemmatise
with spaCy; here endings are cut off, so that nothing has to be installed and every machine gives the same result:
"mice" is not "mouse", nor "went" "go".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_ENDS = (
    ("sses", "ss"), ("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("zes", "z"), ("oes", "o"),
    ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""),
)  # fmt: skip
MANY = 32_768
"""Texts whose forms are cached: answers are compared with each other, and each is compared many times."""
_TWICE = re.compile(r"([bdgmnprt])\1\Z")


class _Read(NamedTuple):
    """The forms of a text that are compared, as a text that may give an answer and as an answer."""

    lowered: str
    lemmas: frozenset[str]
    forms: tuple[str, ...]
    """Its spellings as an answer; none where it has no letter or digit."""
    needed: frozenset[str]
    """The lemmas of an answer."""
    joined: str
    """Without blanks and punctuation."""


def says(text: str, answer: str) -> bool:
    """Return whether a text gives an answer."""
    return _says(_read(text), _read(answer))


def alike(first: str, second: str) -> bool:
    """Return whether one of two answers gives the other, or they differ only in blanks, as "master chef" may."""
    a, b = _read(first), _read(second)
    return _says(a, b) or _says(b, a) or a.joined == b.joined


def _says(text: _Read, answer: _Read) -> bool:
    for form in answer.forms:  # `any` takes three times as long, and answers are compared a hundred thousand times
        if form in text.lowered:
            return True
    return bool(answer.forms) and answer.needed <= text.lemmas


@lru_cache(maxsize=MANY)
def _read(text: str) -> _Read:
    lowered = text.lower()
    plain = lowered.strip(" .")
    forms = (plain, plain.replace("-", " "), plain.replace(" ", "-")) if any(map(str.isalnum, plain)) else ()
    return _Read(lowered, _lemmas(lowered), tuple(dict.fromkeys(forms)), _lemmas(plain), re.sub(r"[\W_]", "", lowered))


@lru_cache(maxsize=MANY)
def _lemmas(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFD", text).replace("\N{COMBINING ACUTE ACCENT}", "")
    return frozenset(_lemma(word) for word in re.findall(r"[^\W_]+", unicodedata.normalize("NFC", plain)))


def _lemma(word: str) -> str:
    """Return a word without the ending of a plural or a verb."""
    if len(word) > 3:
        word = next((word.removesuffix(end) + replacement for end, replacement in _ENDS if word.endswith(end)), word)
    stem = word.removesuffix("ing").removesuffix("ed")
    if len(stem) > 1 and not set("aeiouy").isdisjoint(stem):
        word = _TWICE.sub(r"\1", stem) if stem != word else word
    return word.removesuffix("e") if len(word) > 3 else word
