"""Whether an English text gives an answer, as BLEnD's authors decide it (their `evaluation/exact_match.py`).

It does when it holds the answer letter by letter, or all of the answer's words by their lemmas, in any order. The
authors lemmatise with spaCy; here endings are cut off, so that nothing has to be installed and every machine gives the
same: "mice" is not "mouse", nor "went" "go".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_ENDS = (
    ("sses", "ss"), ("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("zes", "z"), ("oes", "o"),
    ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""),
)  # fmt: skip
MANY = 32_768
"""Texts whose forms are remembered: answers are compared with each other, and each is met many times."""
_TWICE = re.compile(r"([bdgmnprt])\1\Z")


def says(text: str, answer: str) -> bool:
    """Whether a text gives an answer."""
    lowered, forms = text.lower(), _forms(answer)
    if any(form in lowered for form in forms):
        return True
    return bool(forms) and _lemmas(forms[0]) <= _lemmas(lowered)


@lru_cache(maxsize=MANY)
def _forms(answer: str) -> tuple[str, ...]:
    """An answer in each form that it may be written in; none where it has no letter or digit."""
    plain = answer.lower().strip(" .")
    if not any(map(str.isalnum, plain)):
        return ()
    return tuple(dict.fromkeys((plain, plain.replace("-", " "), plain.replace(" ", "-"))))


def alike(first: str, second: str) -> bool:
    """Whether one of two answers gives the other, also where they differ only in blanks, as "master chef" may."""
    return says(first, second) or says(second, first) or _joined(first) == _joined(second)


@lru_cache(maxsize=MANY)
def _joined(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


@lru_cache(maxsize=MANY)
def _lemmas(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFD", text).replace("\N{COMBINING ACUTE ACCENT}", "")
    return frozenset(_lemma(word) for word in re.findall(r"[^\W_]+", unicodedata.normalize("NFC", plain)))


def _lemma(word: str) -> str:
    """A word without the ending of a plural or a verb."""
    if len(word) > 3:
        word = next((word.removesuffix(end) + replacement for end, replacement in _ENDS if word.endswith(end)), word)
    stem = word.removesuffix("ing").removesuffix("ed")
    if len(stem) > 1 and not set("aeiouy").isdisjoint(stem):
        word = _TWICE.sub(r"\1", stem) if stem != word else word
    return word.removesuffix("e") if len(word) > 3 else word
