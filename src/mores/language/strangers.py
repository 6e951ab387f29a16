"""Languages that the model does not know, told from those that it does by their common words.

A text in Asturian fits Spanish as well as many a Spanish text does: letters do not show that the model does not know
its language. But every few words it has one that Spanish does not have (`nun`, `ye`, `pa`), and lacks the common words
that only Spanish has. `strangers.txt.xz` has both lists for each pair of a known language and one that is taken for it,
made by `tools/language_strangers.py`.
"""

from __future__ import annotations

import lzma
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

FILE = "strangers.txt.xz"

Pairs = Mapping[str, tuple[tuple[frozenset[str], frozenset[str]], ...]]
"""By known language, the words that only a stranger has, and those that only the known language has."""


def is_strange(language: str, letters: str) -> bool:
    """Return whether a text in a known language by its letters has more words of a stranger than of its own."""
    pairs = shipped().get(language)
    if not pairs:
        return False
    text = words(letters)
    different = frozenset(text)
    return any(
        sum(map(strange.__contains__, text)) > sum(map(familiar.__contains__, text))
        for strange, familiar in pairs
        if not strange.isdisjoint(different)
    )


def words(letters: str) -> list[str]:
    """Return the words of a text that was reduced to letters; what an apostrophe cuts off is a word of its own."""
    return letters.replace("'", " ").split()


@cache
def shipped() -> Pairs:
    """Return the lists in the package."""
    return read_pairs((files(__package__) / FILE).read_bytes())


def read_pairs(content: bytes) -> Pairs:
    """Return the lists of a file's bytes; a line is `es ast: nun ye | una y`."""
    pairs: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = defaultdict(list)
    for line in lzma.decompress(content).decode("utf-8").splitlines():
        names, _, lists = line.partition(": ")
        strange, familiar = (frozenset(part.split()) for part in lists.split("|"))
        pairs[names.split()[0]].append((strange, familiar))
    return {language: tuple(strangers) for language, strangers in pairs.items()}
