"""The words that a search compares, in any script, without knowing the language.

- Case, width and other compatibility forms make no difference, nor do accents and vowel points of Latin, Greek,
  Cyrillic, Arabic and Hebrew letters: people leave them out.
- Scripts without spaces (Chinese, Japanese, Thai, Khmer, Burmese and others) give pairs of neighbouring characters, and
  so does Korean, whose words end in particles.
- Words are not reduced to stems: the rules would differ in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from mores.culture import UNSPACED

VERSION = 1
"""Goes up when the same text gives other words: indexes are then built again."""
_PLAIN = re.compile("[a-z0-9]+")
_DROPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]"
)
"""Accents, vowel points, the Arabic stretch, and what is not seen."""
_IN_PAIRS = f"{UNSPACED}\uac00-\ud7a3"
_LAST_MARK = 0x1F000
"""Behind it there are no marks, except selectors of variants, which end a word."""


def words(text: str) -> list[str]:
    """Return the words of a text in their order."""
    if text.isascii():
        return _PLAIN.findall(text.lower())
    folded = _DROPPED.sub("", unicodedata.normalize("NFKD", text).casefold())
    return list(_words(unicodedata.normalize("NFC", folded)))


def _words(text: str) -> Iterator[str]:
    clusters, pattern = _patterns()
    for match in pattern.finditer(text):
        run = match[1]
        if run is None:
            yield match[0]
            continue
        signs = clusters.findall(run)
        yield from map("".join, pairwise(signs)) if len(signs) > 1 else signs


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of a marked character and of a word: Python's `\\w` has no marks and would cut Hindi words."""
    marks = _marks()
    sign = rf"(?=\w)[{_IN_PAIRS}][{marks}]*"
    letter = rf"(?![{_IN_PAIRS}])[^\W_]"
    return re.compile(sign), re.compile(f"((?:{sign})+)|{letter}(?:{letter}|[{marks}])*")


def _marks() -> str:
    """Return every combining mark, as the inside of a character class."""
    codes = [code for code in range(0x300, _LAST_MARK) if unicodedata.category(chr(code))[0] == "M"]
    starts = [code for code in codes if unicodedata.category(chr(code - 1))[0] != "M"]
    ends = [code for code in codes if unicodedata.category(chr(code + 1))[0] != "M"]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
