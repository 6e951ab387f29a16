"""Explanations that name the correct answer.

Verbatim: it occurs code point by code point. Normalised: also with differences of case, width and other
compatibility forms, white space, punctuation, kinds of digits, invisible signs, and diacritics. Both as whole words:

- `a`, `5` or `he` are not found in `banana`, `15`, `1.5`, `I'd` or `the`.
- A part of a word with an apostrophe is a word when it has at least three letters: `Diwali` is named in `Diwali's`, and
  `Italie` in `l'Italie`. Normalised, `Xi'an` is also `Xian`.
- Scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan and others) do not show words: there any
  run of whole grapheme clusters is found, so that a very short answer may be found inside a longer word.
- A word may be followed by a Korean particle: `김치` is named in `김치를`.
- Marks are dropped from Latin, Greek, Cyrillic (not from й and ї), Arabic and Hebrew letters only: in Hindi or Thai
  they are vowels, and in Japanese they make another consonant.
- Inflected forms, synonyms, `U.S.` for `US`, and `1,000` for `1000` are not found; a sign before a number is ignored.
- Negation is not seen: "it is not tea" names tea.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007"
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua980-\ua9df\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Tai, Javanese, Balinese, Japanese and Chinese."""
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_SPACE_BETWEEN_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}])\s+(?=[{_UNSPACED}])")
_LINKERS = "\u1039\u17d2\u200c\u200d"
"""Burmese virama, Khmer coeng, zero-width non-joiner and joiner: the word goes on after them."""
_TRAILING = "\u0e33\u0eb3"
"""Thai and Lao am: letters by category, but half of them stands over the letter before."""
_APOSTROPHES = "'’ʼ＇ʻ‘"
_SEPARATORS = ".,٫٬"
_SHORTEST_PART = 3
_PARTICLE = re.compile(
    "(?:들)?(?:은|는|이|가|을|를|의|에|에서|에게|에는|에도|로|으로|와|과|이나|나|도|만|까지|부터|처럼|보다|이며|며|이고|고|"
    "이다|다|입니다|이라고|라고|이라는|라는|인|들)(?![가-힣])"
)
_MARKED = re.compile("LATIN|GREEK|CYRILLIC|ARABIC|HEBREW")
"""Scripts whose words are also written without marks."""
_CYRILLIC_LETTERS = {"й", "ї"}
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ـ": "", "−": "-"}
    | dict.fromkeys(_APOSTROPHES, "'")
)
_KEPT = "%‰#&@"
"""Punctuation that is read out."""


class Match(NamedTuple):
    """The answer as an explanation names it; verbatim implies normalised."""

    verbatim: bool
    normalised: bool


def match_answer(explanation: str, answer: str) -> Match:
    """Return whether the explanation contains the answer, verbatim and normalised; white space around it is ignored."""
    answer = answer.strip()
    if not answer:
        raise ValueError("the answer is empty; exclude items without one")
    if _has(explanation, answer):
        return Match(verbatim=True, normalised=True)
    text, folded_answer = _fold(explanation), _fold(answer)
    joined = _has(text.replace("'", ""), folded_answer.replace("'", ""))
    return Match(verbatim=False, normalised=joined or _has(text, folded_answer))


def _has(text: str, answer: str) -> bool:
    """Return whether the answer occurs in the text without cutting a word; an empty answer never does."""
    start = text.find(answer) if answer else -1
    while start >= 0:
        end = start + len(answer)
        if not _cuts(text, start) and (not _cuts(text, end) or _PARTICLE.match(text, end) is not None):
            return True
        start = text.find(answer, start + 1)
    return False


def _cuts(text: str, position: int) -> bool:
    """Return whether a word or a grapheme cluster continues across this position."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if before in _LINKERS or after in _LINKERS + _TRAILING or unicodedata.category(after)[0] == "M":
        return True
    if _in_word(before) and _in_word(after):
        return not (_UNSPACED_SIGN.match(before) or _UNSPACED_SIGN.match(after))
    return _cuts_number(text, position) or _cuts_contraction(text, position)


def _cuts_number(text: str, position: int) -> bool:
    """Return whether it is beside a point or comma that is between digits."""
    around = {text[position - 2 : position + 1], text[position - 1 : position + 2]}
    return any(len(s) == 3 and s[0].isdigit() and s[1] in _SEPARATORS and s[2].isdigit() for s in around)


def _cuts_contraction(text: str, position: int) -> bool:
    """Return whether it is beside an apostrophe within a word, with too short a part on the side of the answer."""
    if text[position] in _APOSTROPHES and position + 1 < len(text) and _in_word(text[position + 1]):
        part = text[max(0, position - _SHORTEST_PART) : position]
    elif text[position - 1] in _APOSTROPHES and position > 1 and _in_word(text[position - 2]):
        part = text[position : position + _SHORTEST_PART]
    else:
        return False
    return len(part) < _SHORTEST_PART or not all(map(_in_word, part))


@lru_cache(maxsize=8192)
def _in_word(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LNM"


def _fold(text: str) -> str:
    """Return a text without the differences that do not matter."""
    plain = _without_marks(unicodedata.normalize("NFKC", text).casefold()).translate(_PLAIN)
    visible = "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() else sign
        for sign in plain
        if unicodedata.category(sign) != "Cf"
    )
    closed = _SPACE_BETWEEN_UNSPACED.sub("", visible)
    words = "".join(sign if _stays(closed, place) else " " for place, sign in enumerate(closed))
    return " ".join(words.split())


def _without_marks(text: str) -> str:
    kept: list[str] = []
    drop = False
    for sign in unicodedata.normalize("NFC", text):
        if unicodedata.category(sign) != "Mn":
            bare = sign if sign in _CYRILLIC_LETTERS else _bare(sign)
            drop = _has_optional_marks(bare[0])
            kept.append(bare)
        elif not drop:
            kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=8192)
def _bare(sign: str) -> str:
    """Return a composed letter without its marks, where these may be left out."""
    parts = unicodedata.normalize("NFD", sign)
    return parts[0] if len(parts) > 1 and _has_optional_marks(parts[0]) else sign


@lru_cache(maxsize=8192)
def _has_optional_marks(sign: str) -> bool:
    return _MARKED.match(unicodedata.name(sign, "")) is not None


def _stays(text: str, place: int) -> bool:
    """Return whether a sign is no punctuation, is read out, or stands within a word or number."""
    sign = text[place]
    if unicodedata.category(sign)[0] != "P" or sign in _KEPT:
        return True
    if not 0 < place < len(text) - 1:
        return False
    before, after = text[place - 1], text[place + 1]
    if sign in _SEPARATORS:
        return before.isdigit() and after.isdigit()
    return sign == "'" and _in_word(before) and _in_word(after)
