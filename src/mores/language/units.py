"""The units in which texts are compared: words where a script writes them apart, grapheme clusters where not.

Python's `\\w` does not know combining marks, so that it would cut Hindi words; these units never do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from mores.language.sentences import sentences

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007"
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua980-\ua9df\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Tai, Javanese, Balinese, Japanese and Chinese."""
_LETTERS_ONLY = re.compile(r"[^\W\d_]")
_LINKERS = "\u1039\u17d2\u200d"
"""Burmese virama, Khmer coeng, zero-width joiner: what follows is written together with what is before."""
_TRAILING = "\u0e33\u0eb3"
"""Thai and Lao am: letters by category, but half of them stands over the letter before."""
_APOSTROPHES = "'’ʼ＇"
_SEPARATORS = ".,٫٬"


class Unit(NamedTuple):
    """A word, a grapheme cluster or a symbol, and where it stands."""

    start: int
    end: int
    key: str
    """What is compared: composed, without punctuation and invisible signs."""
    unspaced: bool = False
    """Whether it is written without spaces to its neighbours."""


@lru_cache(maxsize=64)  # an answer is read many times in a row while its errors are made
def units(text: str) -> tuple[Unit, ...]:
    """Return all units of a text in order; punctuation and white space belong to none."""
    return tuple(_units(text))


def keys(text: str) -> list[str]:
    """Return what is compared of a text."""
    return [unit.key for unit in units(text)]


def vocabulary(text: str) -> set[str]:
    """Return the units of a text without regard to case, each once."""
    return {key.casefold() for key in keys(text)}


def nearest_sentence(passage: str, known: set[str]) -> str:
    """Return the sentence of a passage that shares most units with a vocabulary."""
    parts = [passage[start:end] for start, end in sentences(passage)] or [passage]
    return max(parts, key=lambda part: len(known & vocabulary(part))).strip()


def differing(claim: str, passage: str) -> tuple[int, int]:
    """Return the longest run of words of the claim that are not in the passage; the whole claim if most or none are."""
    words = units(claim)
    known = vocabulary(passage)
    new = [unit.key.casefold() not in known for unit in words]
    if not words:
        return 0, len(claim)
    if not any(new) or sum(new) > 0.6 * len(words):
        return words[0].start, words[-1].end
    runs: list[list[int]] = []  # of new words, with at most one known word between two of them
    for place in (place for place, is_new in enumerate(new) if is_new):
        if runs and place - runs[-1][1] <= 2:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    first, last = max(runs, key=lambda run: (words[run[1]].end - words[run[0]].start, -run[0]))
    return words[first].start, words[last].end


@lru_cache(maxsize=8192)
def kind(character: str) -> str:
    """Return `w` for part of a word, `u` of an unspaced script, `m` mark, `f` format, `s` symbol, `-` for the rest."""
    category = unicodedata.category(character)
    if category[0] == "M" or 0x1F3FB <= ord(character) <= 0x1F3FF:  # also the skin tones of emoji
        return "m"
    if category[0] in "LN":
        return "u" if _UNSPACED.match(character) else "w"
    if category == "Cf":
        return "f"
    return "s" if category in {"Sc", "Sm", "So", "Co", "Cn", "Cs"} else "-"


def in_word(character: str) -> bool:
    """Return whether it is part of a spaced word: a letter, a digit or a mark."""
    return kind(character) in "wm"


def _units(text: str) -> Iterator[Unit]:
    start = 0
    while start < len(text):
        which = kind(text[start])
        if which in "-f":
            start += 1
            continue
        end = _word_end(text, start) if which == "w" else _cluster_end(text, start)
        if key := _key(text[start:end]):
            yield Unit(start, end, key, which == "u")
        start = end


def _word_end(text: str, start: int) -> int:
    """Return where the letters, digits and marks end, with apostrophes between letters, and separators in numbers."""
    end = start + 1
    while end < len(text):
        if kind(text[end]) in "wmf" or (kind(text[end]) == "-" and _joins(text, end)):
            end += 1
        else:
            break
    return end


def _joins(text: str, place: int) -> bool:
    before, here, after = text[place - 1], text[place], text[place + 1 : place + 2]
    if here in _SEPARATORS:
        return before.isdigit() and after.isdigit()
    return here in _APOSTROPHES and bool(after) and kind(after) == "w" and bool(_LETTERS_ONLY.match(after))


def _cluster_end(text: str, start: int) -> int:
    end = start + 1
    if _flag(text[start]) and _flag(text[end : end + 1]):
        end += 1
    while end < len(text):
        linked = text[end - 1] in _LINKERS and kind(text[end]) in "us"
        if kind(text[end]) in "mf" or text[end] in _TRAILING or linked:
            end += 1
        else:
            break
    return end


def _flag(character: str) -> bool:
    return bool(character) and 0x1F1E6 <= ord(character) <= 0x1F1FF


def _key(word: str) -> str:
    """Return what is compared; points and commas between digits stay: 1.5 is not 15."""
    if word.isascii() and word.isalpha():
        return word
    visible = "".join(c for c in word if c not in _APOSTROPHES and kind(c) != "f")
    return unicodedata.normalize("NFC", visible)


FILE = "quantities.txt"


def quantities(text: str) -> set[str]:
    """Return the numbers, months, weekdays and seasons that a text names, without regard to case."""
    return {key for key in vocabulary(text) if key in _listed() or any(sign.isdigit() for sign in key)}


@cache
def _listed() -> frozenset[str]:
    lines = (files(__package__) / FILE).read_text("utf-8").splitlines()
    return frozenset(key for line in lines if not line.startswith("#") for key in vocabulary(line))
