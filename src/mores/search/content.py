"""The words of a text that say what it is about, and how much of a text a passage covers.

Function words (`in`, `the`, `what`) match by chance. `function_words.txt` lists those of some forty languages; of other
languages, every word counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from mores.search.words import words

VERSION = 1
"""Goes up when the same text has other content words."""
FILE = "function_words.txt"
_EMPTY = re.compile("[\u3040-\u309f]+|.*[的了是在也都就吗呢么们們这這那].*")
"""Japanese pairs without Kanji and Katakana, and Chinese ones with a particle or pronoun."""
_KOREAN = re.compile("[\uac00-\ud7a3]")
_KOREAN_ENDS = "습은는이가을를에의로와과도고며면서다니해하"
_SHORTEST_STEM, _STEM = 3, 0.6
"""Letters of a word that are compared, and their share of it: `eat` is `eaten`, `celebrates` is `celebrated`."""
_OF_TEXT = 2 / 3
"""The weight of the share of the text's words that a passage has; the rest is that of the passage's words."""


def content_words(text: str) -> list[str]:
    """Return the words of a text in their order, without function words."""
    return [word for word in words(text) if is_content(word)]


def is_content(word: str) -> bool:
    """Return whether a word, as `words` gives it, says something about what a text is about."""
    return word not in function_words() and not _EMPTY.fullmatch(word)


@cache
def function_words() -> frozenset[str]:
    """Return the words of the list, as `words` gives them."""
    lines = (files(__package__) / FILE).read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in words(line))


def coverage(text: str, passages: Iterable[str]) -> float:
    """Return how much the best of the passages has in common with a text, from 0 to 1.

    It counts which share of the text's content words is in the passage and, with half the weight, which share of the
    passage's is in the text: a fact is short, and a text about it may be long. A text without content words is covered.
    """
    of_text = _stems(text)
    if not of_text:
        return 1.0
    both = ((_share(of_text, of_passage), _share(of_passage, of_text)) for of_passage in map(_stems, passages))
    return max((_OF_TEXT * of + (1 - _OF_TEXT) * back for of, back in both), default=0.0)


@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    """Return the beginnings of the content words of a text; of a Korean word, the noun or the stem of the verb."""
    stems = set()
    for part in text.split():
        first = words(part)
        if _KOREAN.search(part):
            first = [
                pair[:1] if pair[1:] and pair[1] in _KOREAN_ENDS else pair for pair in first[:1] if is_content(pair)
            ]
        stems |= {_stem(word) for word in first if is_content(word)}
    return frozenset(stems)


def _stem(word: str) -> str:
    return word[: max(_SHORTEST_STEM, round(len(word) * _STEM))] if _is_inflected(word) else word


def _is_inflected(word: str) -> bool:
    """Return whether it is a word of letters, of which the end may differ, and no number or pair of characters."""
    return len(word) >= _SHORTEST_STEM and not word.isdigit() and word < "\u3000"


def _share(stems: frozenset[str], others: frozenset[str]) -> float:
    shared = sum(stem in others or (_is_inflected(stem) and _begins_alike(stem, others)) for stem in stems)
    return shared / len(stems) if stems else 0.0


def _begins_alike(stem: str, others: frozenset[str]) -> bool:
    return any(_is_inflected(other) and (other.startswith(stem) or stem.startswith(other)) for other in others)
