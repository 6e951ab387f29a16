"""What the rules share: a place to change, a draw that the seed and the item decide, and the check of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from tomllib import loads
from typing import Any, TypeVar

from mores.factory.items import SourceItem
from mores.language.units import in_word, keys, units

T = TypeVar("T")
AROUND = 100
"""Code points before and after a place that can tell what stands there: the time stays linear in the text."""
UNSPACED = {"zh", "ja"}
"""Languages that put no spaces between words."""
_HIRAGANA = re.compile("[\u3041-\u309f]")


@dataclass(frozen=True)
class TextEdit:
    """`answer[start:end]` becomes `new`."""

    start: int
    end: int
    new: str
    note: str = ""
    """What the explanation says besides the words, for example `year`."""
    in_part: bool = False
    """Whether unchanged words at its ends stay unmarked. Names are marked as a whole."""

    def shifted(self, by: int) -> TextEdit:
        """Return the same edit in a text that has so many code points more before it."""
        return replace(self, start=self.start + by, end=self.end + by)

    def apply(self, answer: str) -> str:
        return answer[: self.start] + self.new + answer[self.end :]

    def span(self, answer: str) -> tuple[int, int]:
        """Return where the words stand, in the changed answer, that the edit really changed.

        `should` that becomes `should not` marks `not`; where words were only left out, what remains is marked.
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
    """Return how many words both begin with; hiragana are endings of words, not words."""
    pairs = enumerate(zip(old[:most], new[:most], strict=True))
    return next((n for n, (a, b) in pairs if a.casefold() != b.casefold() or _HIRAGANA.match(a)), most)


class Draw:
    """Chance that only the seed, the item and the rule decide: the same on every machine, in any order of items."""

    def __init__(self, seed: int, item: SourceItem, rule: str) -> None:
        self._salt = f"{seed}\0{item.source}\0{item.id}\0{rule}"

    def pick(self, choices: Iterable[T], key: Callable[[T], str] = str) -> T | None:
        """Return one of the choices, whatever their order; None where there are none."""
        return min(choices, key=lambda choice: digest(f"{self._salt}\0{key(choice)}"), default=None)

    def sorted(self, choices: Iterable[T], key: Callable[[T], str]) -> list[T]:
        """Return all choices, in an order that does not depend on theirs."""
        return sorted(choices, key=lambda choice: digest(f"{self._salt}\0{key(choice)}"))

    def order(self, edits: Iterable[TextEdit]) -> list[TextEdit]:
        """Edits in the order in which they are preferred."""
        return self.sorted(edits, key=lambda edit: f"{edit.start}\0{edit.new}")


def digest(text: str) -> bytes:
    """Evenly spread bytes of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@cache
def data(rule: str) -> dict[str, Any]:
    """Return the words of a rule."""
    return loads(files("mores.factory.errors.rules").joinpath(f"{rule}.toml").read_text("utf-8"))


def primary(item: SourceItem) -> str:
    """Return the primary subtag of the item's language, `zh` of `zh-Hans`; empty where it has none."""
    return (item.language or "").split("-")[0]


@lru_cache(maxsize=4096)
def folded(text: str) -> tuple[str, ...]:
    """Return the words of a text without case, for comparing answers."""
    return tuple(key.casefold() for key in keys(text))


def is_correct(words: str, item: SourceItem) -> bool:
    """Return whether the words are in another answer that counts as correct, so that they may be correct here."""
    sought = folded(words)
    for answer in map(folded, item.also_correct):
        if any(answer[n : n + len(sought)] == sought for n in range(len(answer) - len(sought) + 1)):
            return True
    return False


def whole(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` cuts no word, and none that continues with a hyphen or an apostrophe."""
    return not (_goes_on(text, start - 1, -1) or _goes_on(text, end, 1))


def _goes_on(text: str, place: int, step: int) -> bool:
    if not 0 <= place < len(text):
        return False
    if in_word(text[place]):
        return True
    beyond = text[place + step] if 0 <= place + step < len(text) else " "
    return text[place] in "-‐‑'’" and in_word(beyond) and not (step < 0 and text[place] in "'’")


def like(model: str, word: str) -> str:
    """Return the word with a capital where the model begins with one."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


@cache
def ends_with(words: str, spaced: bool) -> re.Pattern[str]:
    """Find one of the words at the end of a text."""
    return re.compile(rf"(?:^|[\s(\"'«“‘¿¡—–-])(?:{words})\s+$" if spaced else rf"(?:{words})$", re.IGNORECASE)
