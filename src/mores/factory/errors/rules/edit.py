"""Shared by the rules: a place to change, a reproducible draw, and the check of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from mores.factory.items import SourceItem
from mores.io.values import read_packaged_toml
from mores.language.units import in_word, keys, units

T = TypeVar("T")
AROUND = 100
"""Code points of context before and after a place: the time stays linear in the text."""
UNSPACED = {"zh", "ja"}
"""Languages that put no spaces between words."""
_HIRAGANA = re.compile("[\u3041-\u309f]")


class TextEdit(NamedTuple):
    """`answer[start:end]` becomes `new`."""

    start: int
    end: int
    new: str
    note: str = ""
    """Part of the explanation, for example `year`."""
    in_part: bool = False
    """Whether unchanged words at its ends stay unmarked. Names are marked as a whole."""

    def shifted(self, by: int) -> TextEdit:
        """Return the edit moved by so many code points."""
        return self._replace(start=self.start + by, end=self.end + by) if by else self

    def apply(self, answer: str) -> str:
        return answer[: self.start] + self.new + answer[self.end :]

    def span(self, answer: str) -> tuple[int, int]:
        """Return the span, in the changed answer, of the words that the edit changed.

        `should` that becomes `should not` marks `not`; where words were only removed, the rest is marked.
        """
        if not self.in_part:
            return self.start, self.start + len(self.new)
        old, new = keys(answer[self.start : self.end]), units(self.new)
        most = min(len(old), len(new))
        head = _shared(old, [unit.key for unit in new], most)
        tail = _shared(old[::-1], [unit.key for unit in new][::-1], most - head)
        changed = new[head : len(new) - tail] or new
        return self.start + changed[0].start, self.start + changed[-1].end


def _shared(old: list[str], new: list[str], most: int) -> int:
    """Return the number of equal words at the start of both; hiragana are endings of words, not words."""
    pairs = enumerate(zip(old[:most], new[:most], strict=True))
    return next((n for n, (a, b) in pairs if a.casefold() != b.casefold() or _HIRAGANA.match(a)), most)


class Draw:
    """Random choices that depend only on the seed, the item and the rule."""

    def __init__(self, seed: int, item: SourceItem, rule: str) -> None:
        self._salt = f"{seed}\0{item.source}\0{item.id}\0{rule}"

    def pick(self, choices: Iterable[str]) -> str | None:
        """Return one of the choices, whatever their order; None where there are none."""
        return min(choices, key=lambda choice: digest(f"{self._salt}\0{choice}"), default=None)

    def sorted(self, choices: Iterable[T], key: Callable[[T], str]) -> list[T]:
        """Return all choices, in an order that does not depend on theirs."""
        listed = list(choices)
        return sorted(listed, key=lambda choice: digest(f"{self._salt}\0{key(choice)}")) if listed[1:] else listed


def digest(text: str) -> bytes:
    """Return uniformly distributed bytes for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def data(rule: str) -> dict[str, Any]:
    """Return the words of a rule."""
    return read_packaged_toml("mores.factory.errors.rules", f"{rule}.toml")


def primary(item: SourceItem) -> str:
    """Return the primary subtag of the item's language, `zh` of `zh-Hans`; empty where it has none."""
    return (item.language or "").split("-")[0]


@lru_cache(maxsize=4096)
def folded(text: str) -> tuple[str, ...]:
    """Return the words of a text without case, for comparing answers."""
    return tuple(key.casefold() for key in keys(text))


def is_correct(words: str, item: SourceItem) -> bool:
    """Return whether the words are in another answer that counts as correct, so that they may be correct here."""
    sought = folded(words) if item.also_correct else ()
    for answer in map(folded, item.also_correct):
        if any(answer[n : n + len(sought)] == sought for n in range(len(answer) - len(sought) + 1)):
            return True
    return False


def is_whole(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` consists of whole words, also with hyphens and apostrophes."""
    return not (_goes_on(text, start - 1, -1) or _goes_on(text, end, 1))


def _goes_on(text: str, place: int, step: int) -> bool:
    if not 0 <= place < len(text):
        return False
    if in_word(text[place]):
        return True
    beyond = text[place + step] if 0 <= place + step < len(text) else " "
    return text[place] in "-‐‑'’" and in_word(beyond) and not (step < 0 and text[place] in "'’")


def capitalise_like(model: str, word: str) -> str:
    """Return the word with a capital where the model begins with one."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


@cache
def ends_with(words: str, spaced: bool) -> re.Pattern[str]:
    """Find one of the words at the end of a text."""
    return re.compile(rf"(?:^|[\s(\"'«“‘¿¡—–-])(?:{words})\s+$" if spaced else rf"(?:{words})$", re.IGNORECASE)
