"""Ratings in words: "Strongly agree", in the studio's languages, as numbers of the scale that the words are from.

    read_words({"Agree", "Strongly agree", "Neutral", "Disagree", "Strongly disagree"}, None)   # {"agree": "4", …}

`scales.toml` has the scales. Words that are part of several, such as those of an agreement in five and in seven
points, are read only where all points of one occur or the bounds of the scale decide; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from mores.errors import InputError
from mores.io.columns import listed
from mores.io.values import read_packaged_toml

LABELLED = re.compile(r"\s*(?:\(?(-?\d+)\s*[-–—:=.)]+\s*(?=\D)[^\d]+|[^\d]+\((-?\d+)\)\s*)")
"""A number with its word: `5 - Strongly agree`, `(5) Strongly agree`, `Strongly agree (5)`."""
DECIMAL = re.compile(r"[+-]?(?:\d+,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:,\d{3})+\.\d+)")
"""A number with a decimal comma, or with signs between thousands."""


class RatingScale:
    """A scale in words."""

    def __init__(self, name: str, points: Iterable[Iterable[str]]) -> None:
        self.name = name
        self.points = [[fold_word(word) for word in words] for words in points]
        self.places = {word: place for place, words in enumerate(self.points) for word in words}

    def __str__(self) -> str:
        return f"{self.name.partition('-')[0]} in {len(self.points)} points ({', '.join(p[0] for p in self.points)})"

    def values(self, words: Iterable[str], low: float) -> dict[str, str]:
        """Return the number of each word."""
        return {word: f"{low + self.places[word]:g}" for word in words}


def fold_word(word: str) -> str:
    """Return the form in which words are compared: without case, and without blanks and full stops at the ends."""
    return " ".join(word.casefold().strip(" .!\u200e\u200f").split())


@cache
def scales() -> tuple[tuple[RatingScale, ...], frozenset[str]]:
    """Return the scales that are known, and the words for no rating."""
    table = read_packaged_toml("mores.rating", "scales.toml")
    named = {name: entry for name, entry in table.items() if isinstance(entry, Mapping)}
    return tuple(RatingScale(name, entry["points"]) for name, entry in named.items()), frozenset(
        map(fold_word, table["missing"])
    )


def read_words(
    given: Collection[str], bounds: tuple[float, float] | None, known: Collection[str] = ()
) -> dict[str, str]:
    """Return what each word stands for, "" for no rating; `known` are words that have a meaning already.

    Words that no scale has are left out. InputError where several scales have all of them, in different places.
    """
    every, missing = scales()
    words = {fold_word(text): text for text in given if text.strip()}
    found = {text: "" for word, text in words.items() if word in missing}
    words = {word: text for word, text in words.items() if word not in missing}
    if words and all(text.strip().casefold() in known for text in words.values()):
        return found  # as they have always been read
    for text in list(words.values()):
        if labelled := LABELLED.fullmatch(text):
            found[text] = labelled[1] or labelled[2]
            del words[fold_word(text)]
    words = {word: text for word, text in words.items() if not is_number(text)}
    fitting = [scale for scale in every if words.keys() <= scale.places.keys()] if words else []
    if bounds:
        fitting = [scale for scale in fitting if len(scale.points) == bounds[1] - bounds[0] + 1]
    low = bounds[0] if bounds else 1.0
    whole = [s for s in fitting if {s.places[word] for word in words} == set(range(len(s.points)))]
    readings = {tuple(sorted(scale.values(words, low).items())): scale for scale in whole or fitting}
    if len(readings) > 1:
        ways = "; or ".join(map(str, readings.values()))
        several = len({len(scale.points) for scale in readings.values()}) > 1
        fix = "say its bounds, such as 1-5" if several else "say the number of each word, such as rating.good=4"
        raise InputError(
            f"{listed(list(words.values()))} may be {ways}; {fix}", setting="scale" if several else "alias"
        )
    for scale in readings.values():
        found |= {words[word]: value for word, value in scale.values(words, low).items()}
    return found


def is_number(text: str) -> bool:
    """Return whether a cell is a number, with a point or a comma."""
    try:
        float(text)
    except ValueError:
        return bool(DECIMAL.fullmatch(text.strip()))
    return True


def to_number(text: str) -> float:
    """Return the number in a cell, also with a decimal comma; ValueError where it is none.

    InputError for 1,234, which is a different number in different countries.
    """
    try:
        return float(text)
    except ValueError:
        text = text.strip()
        if not DECIMAL.fullmatch(text):
            raise
    last = max(text.rfind(","), text.rfind("."))
    before, after = re.sub("[.,]", "", text[:last]), text[last + 1 :]
    if text[last] == "," and "." not in text and len(after) == 3:
        raise InputError(f"{text!r} may be {before}.{after} or {before}{after}; write a decimal point, or no comma")
    return float(f"{before}.{after}")
