"""The replacements of the `swap` rule: names that items of one culture use, by language and kind.

Three kinds of name: short answers to the same question asked of another culture; capitalised names that several items
of one culture use after the same word ("during Nowruz"); names of the cultures themselves.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from mores import culture
from mores.factory.errors.rules.edit import UNSPACED, data, digest, folded, primary
from mores.factory.items import SourceItem, Task

CATEGORIES = 20_000
PER_CATEGORY = 64
NAMES = 50_000
"""Maximum numbers kept. Beyond them, a sample is kept that does not depend on the order of items."""
FEWEST_USES = 2
LONGEST_ANSWER = 40
MOST_WORDS = 5

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Names = dict[str, str]
"""Names and codes of regions."""


@dataclass(frozen=True)
class NameGroup:
    """Names that may stand for one another, by the code of their region."""

    names: Names
    pattern: re.Pattern[str]


class Bounded(Generic[K, V]):
    """A dict of the `limit` keys with the smallest digests among all that were requested.

    A key that is in it at the end has been in it since the first request, so its value is complete.
    """

    def __init__(self, limit: int, new: Callable[[], V]) -> None:
        self._limit = limit
        self._new = new
        self._values: dict[K, V] = {}
        self._largest: list[tuple[int, K]] = []

    def get(self, key: K) -> V | None:
        """Return the value of a key, which is added if its digest is small enough."""
        if key in self._values:
            return self._values[key]
        rank = -int.from_bytes(digest(repr(key)))
        if len(self._values) >= self._limit:
            if rank < self._largest[0][0]:
                return None
            del self._values[heapq.heappop(self._largest)[1]]
        heapq.heappush(self._largest, (rank, key))
        self._values[key] = self._new()
        return self._values[key]

    def find(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        return self._values.get(key)

    def items(self) -> Iterable[tuple[K, V]]:
        return self._values.items()


class Uses:
    """The items and regions that use a name."""

    def __init__(self) -> None:
        self.regions: set[str] = set()
        self.items: set[bytes] = set()
        self.best = False
        """Whether it is the main answer of an item."""

    def add(self, item: SourceItem) -> None:
        self.regions.add(item.region or "")
        if len(self.items) < FEWEST_USES:
            self.items.add(digest(f"{item.source}\0{item.id}"))

    @property
    def region(self) -> str | None:
        """The only region that uses it, or None."""
        return next(iter(self.regions)) if len(self.regions) == 1 else None


class Pool:
    """Culture-bound names of a set of items; the same for the same items in any order."""

    def __init__(self, items: Iterable[SourceItem]) -> None:
        self._regions: dict[str, set[str]] = {}
        self._answers: Bounded[tuple[str, ...], Bounded[str, Uses]] = Bounded(
            CATEGORIES, lambda: Bounded(PER_CATEGORY, Uses)
        )
        used: Bounded[tuple[str, str, str], Uses] = Bounded(NAMES, Uses)
        for item in items:
            if item.region:
                self._regions.setdefault(item.source, set()).add(item.region)
                self._add_answer(item)
                for context, name, _ in named(item):
                    if uses := used.get((primary(item), context, name)):
                        uses.add(item)
        self._names: dict[tuple[str, str], Names] = {}
        self._groups: dict[tuple[str, str], list[NameGroup]] = {}
        self._add_names(used)

    def answers(self, item: SourceItem) -> list[tuple[str, str]]:
        """Return answers to the same question that belong to one other region each, with that region."""
        uses_by_answer = self._answers.find(question_of(item))
        if uses_by_answer is None:
            return []
        candidates = ((name, uses.region) for name, uses in uses_by_answer.items() if uses.best)
        return sorted((name, region) for name, region in candidates if region and apart(region, item.region))

    def names(self, language: str, context: str) -> Names:
        """Return the names that follow a word, and the region of each."""
        return self._names.get((language, context), {})

    def groups(self, language: str, source: str) -> list[NameGroup]:
        """Return names of countries and peoples in groups within which they may replace each other.

        Only those that a source itself is about: any other name would reveal that a text was changed.
        """
        if (language, source) not in self._groups:
            regions = frozenset(self._regions.get(source, ()))
            self._groups[language, source] = [
                NameGroup(names, re.compile(_any_of(names.values()))) for names in _countries(language, regions)
            ]
        return self._groups[language, source]

    def _add_answer(self, item: SourceItem) -> None:
        short = len(item.answer) <= LONGEST_ANSWER and len(item.answer.split()) <= MOST_WORDS
        if item.task in {Task.QA, Task.FREEFORM} and short and (uses_by_answer := self._answers.get(question_of(item))):
            for answer in (item.answer, *item.also_correct):
                if uses := uses_by_answer.get(answer):
                    uses.add(item)
                    uses.best |= answer == item.answer

    def _add_names(self, used: Bounded[tuple[str, str, str], Uses]) -> None:
        cultures: dict[tuple[str, str], set[str]] = {}
        for (language, _, name), uses in used.items():
            cultures.setdefault((language, name), set()).update(uses.regions)
        for (language, context, name), uses in sorted(used.items()):
            if len(uses.items) >= FEWEST_USES and len(cultures[language, name]) == 1 and uses.region:
                self._names.setdefault((language, context), {})[name] = uses.region


def apart(first: str, second: str | None) -> bool:
    """Return whether two regions have no country in common: an answer from Java is not wrong in Indonesia."""
    return second is None or set(culture.countries(first)).isdisjoint(culture.countries(second))


def question_of(item: SourceItem) -> tuple[str, ...]:
    """Return language and words of the question without the names of countries, the same for every culture."""
    language = primary(item)
    pattern = _masked(language)
    words = pattern.sub(" ", item.question) if pattern else item.question
    if item.region and language == "en":  # a part of a country too
        words = words.replace(culture.region_name(item.region), " ")
    return (language, *folded(words))


def named(item: SourceItem) -> Iterator[tuple[str, str, int]]:
    """Yield the capitalised names of the answer: the word before, the name, and its start."""
    pattern = _contexts(primary(item))
    for match in pattern.finditer(item.answer) if pattern else ():
        yield match[1].casefold(), match[2], match.start(2)


@cache
def _contexts(language: str) -> re.Pattern[str] | None:
    words = data("swap")["contexts"].get(language)
    capital = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]*\w"
    name = rf"({capital}(?: (?:(?:de|del|of|al|bin) )?{capital}){{0,3}})"
    return re.compile(rf"(?<!\w)(?i:({'|'.join(words)})) {name}(?![\w-])") if words else None


def is_country(language: str, name: str) -> bool:
    """Return whether a name is that of a country or a people."""
    pattern = _masked(language)
    return bool(pattern and pattern.fullmatch(name))


@cache
def _masked(language: str) -> re.Pattern[str] | None:
    """Return a pattern of the names of countries in a question."""
    english = data("swap")["english"]
    every = frozenset(data("swap")["demonyms"]) | frozenset(english["article"])
    names = {name for group in _countries(language, every) for name in group.values()}
    if language == "en":
        names |= {f"the {name}" for name in names} | set(english["aliases"])
    ends = ("", "") if language in UNSPACED else (r"(?<!\w)", r"(?!\w)")
    return re.compile(f"{ends[0]}{_any_of(names)}{ends[1]}") if names else None


def _any_of(names: Iterable[str]) -> str:
    """Return an expression for any of the names, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))})"


def _countries(language: str, regions: frozenset[str]) -> list[Names]:
    """Return the names of these regions in a language, in groups."""
    groups: list[Names] = data("swap")["countries"].get(language, [])
    if language == "en":
        article = data("swap")["english"]["article"]
        names = {code: culture.region_name(code) for code in sorted(regions)}
        with_article = {code: name for code, name in names.items() if code in article}
        without = {code: name for code, name in names.items() if code not in article}
        groups = [with_article, without, data("swap")["demonyms"]]
    chosen = [{code: name for code, name in group.items() if code in regions} for group in groups]
    return [group for group in chosen if group]
