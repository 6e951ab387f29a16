"""English glosses, word by word, of texts in languages that the encoder does not know.

A bag of English words is no translation, but its vector is near to that of the text in English, and a search compares
vectors. `glosses/README.md` says where the words come from; `tools/glosses.py` makes the file. A word that is not in it
is read without its prefixes, or as the word that begins most like it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from mores.culture import base_language
from mores.language import detect
from mores.search.words import words

VERSION = 1
"""Goes up when the same text has another gloss."""
FILE = Path(__file__).parent / "glosses" / "glosses.zip"
LANGUAGES = frozenset(["am", "bn", "el", "fa", "he", "hi", "sw", "ta", "ur", "vi"])
LONGEST = 3
"""Words that have a gloss together."""
_SCRIPTS = {
    "am": re.compile("[\u1200-\u137f]"),
    "bn": re.compile("[\u0980-\u09ff]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "ta": re.compile("[\u0b80-\u0bff]"),
}
"""Scripts whose texts are read in this language: the encoder knows no other that is written in them."""
_ARABIC = re.compile("[\u0600-\u06ff]")
"""Script of Persian, Urdu and Arabic, which the encoder knows: the likeliest language counts, certain or not."""
_PREFIXES = {
    "am": re.compile("(?:ስለ|እንደ|እስከ|ወደ|የ|በ|ለ|ከ|እ|አል|ይ|ት|ተ|ያ|አ|ሚ|ም|ማ|መ)+?"),
    "fa": re.compile("(?:نمی|می|بی|نا)"),
    "he": re.compile("[והבלכמש]{1,3}?"),
    "sw": re.compile("(?:ku|kw|wa|mw|m|w|u|a|ha|hu|i|ya|za|li|zi|ki|vi|tu|ni|na|ta|me|si|o|ye|lo|cho|zo|yo|ji)+?"),
}
_SHORTEST = 2
"""Letters of a word without its prefix; two words that are taken for one have more in common."""
_ALIKE, _ENDING = 0.6, 0.4
"""The share of two words that they have in common, and of a word that another one is the beginning of."""
_FOLDED = str.maketrans("يىكةھہۃሐኀሃሓኃሑኁሒኂሔኄሕኅሖኆሠሡሢሣሤሥሦዐዑዒዓዔዕዖኣጸጹጺጻጼጽጾ", "ییکههههሀሀሀሀሀሁሁሂሂሄሄህህሆሆሰሱሲሳሴስሶአኡኢአኤእኦአፀፁፂፃፄፅፆ")
"""Letters of Arabic and Ethiopic script that people write for each other."""
_VIETNAMESE = re.compile(r"[^\W\d_]+")


def spelled(text: str, language: str) -> list[str]:
    """Return the words of a text as a table has them; Vietnamese ones keep their accents."""
    if language == "vi":
        return _VIETNAMESE.findall(unicodedata.normalize("NFC", text).lower())
    return [word.translate(_FOLDED) for word in words(text)]


class Glossary:
    """The English words for those of a language, most of them one for one."""

    def __init__(self, language: str, table: dict[str, str]) -> None:
        self._language, self._table = language, table
        self._sorted = sorted(table)

    def gloss(self, text: str) -> str:
        """Return the English words for those of a text that are known, in their order."""
        return " ".join(filter(None, self._glosses(spelled(text, self._language))))

    def _glosses(self, asked: Sequence[str]) -> Iterator[str]:
        place = 0
        while place < len(asked):
            for number in range(min(LONGEST, len(asked) - place), 0, -1):
                known = self._table.get(" ".join(asked[place : place + number]))
                if known is not None:
                    break
            yield self._like(asked[place]) if known is None else known
            place += number

    def _like(self, word: str) -> str:
        """Return the gloss of a word that is not in the table, nothing if no other is like it."""
        for end in range(1, len(word) - _SHORTEST + 1) if self._language in _PREFIXES else ():
            if word[end:] in self._table and _PREFIXES[self._language].fullmatch(word[:end]):
                return self._table[word[end:]]
        place = bisect_left(self._sorted, word)
        near = ((_shared(word, other), other) for other in self._sorted[max(0, place - 4) : place + 4])
        shared, other = max(near, key=lambda pair: (pair[0], -len(pair[1])), default=(0, ""))
        longer = max(len(word), len(other))
        enough = shared > _SHORTEST and (
            shared >= _ALIKE * longer or (shared >= _ENDING * longer and shared >= len(other) - 1)
        )
        return self._table[other] if enough and self._language != "vi" else ""


def _shared(first: str, second: str) -> int:
    """Return how many letters two words have in common at their beginnings."""
    return next(
        (n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )


@cache
def open_glossary(language: str) -> Glossary:
    """Return the words of a language, read once."""
    with ZipFile(FILE) as archive:
        lines = archive.read(f"{language}.tsv").decode("utf-8").splitlines()
    return Glossary(language, dict(line.split("\t") for line in lines))


def glossed(texts: Sequence[str]) -> list[str]:
    """Return the texts, with English glosses in place of those in languages that have them."""
    languages = list(map(_language_of_script, texts))
    unknown = [place for place, language in enumerate(languages) if language is None]
    for place, found in zip(unknown, detect([texts[place] for place in unknown]), strict=True):
        is_arabic = _ARABIC.search(texts[place])
        tag = found.detected or (found.language if is_arabic else None)
        languages[place] = base_language(tag) if tag else None
    return [
        open_glossary(language).gloss(text) or text if language in LANGUAGES else text
        for text, language in zip(texts, languages, strict=True)
    ]


def _language_of_script(text: str) -> str | None:
    if text.isascii():
        return None
    half = sum(map(str.isalpha, text)) / 2
    return next((tag for tag, script in _SCRIPTS.items() if len(script.findall(text)) > half), None)
