"""The `swap` rule: an answer or a name of one culture replaces that of another.

An answer that another culture gives to the same question comes first; then names of countries and peoples; then
capitalised names that several items of one culture use after the same word ("during Nowruz"). The `Pool` has them all,
by language and kind.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from mores import culture
from mores.factory.errors.rules.edit import (
    AROUND,
    UNSPACED,
    Draw,
    TextEdit,
    capitalise_like,
    data,
    digest,
    ends_with,
    folded,
    is_correct,
    is_whole,
    primary,
)
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
        self.values: dict[K, V] = {}
        self._largest: list[tuple[int, K]] = []

    def get(self, key: K) -> V | None:
        """Return the value of a key, which is added if its digest is small enough."""
        if key in self.values:
            return self.values[key]
        rank = -int.from_bytes(digest(repr(key)))
        if len(self.values) >= self._limit:
            if rank < self._largest[0][0]:
                return None
            del self.values[heapq.heappop(self._largest)[1]]
        heapq.heappush(self._largest, (rank, key))
        self.values[key] = self._new()
        return self.values[key]


class Uses:
    """The items and regions that use a name."""

    def __init__(self) -> None:
        self.regions: set[str] = set()
        self.items: set[bytes] = set()
        self.best = False
        """True if it is the main answer of an item."""

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
        cultures: dict[tuple[str, str], set[str]] = {}
        for (language, _, name), uses in used.values.items():
            cultures.setdefault((language, name), set()).update(uses.regions)
        for (language, context, name), uses in sorted(used.values.items()):
            if len(uses.items) >= FEWEST_USES and len(cultures[language, name]) == 1 and uses.region:
                self._names.setdefault((language, context), {})[name] = uses.region

    def answers(self, item: SourceItem) -> list[tuple[str, str]]:
        """Return answers to the same question that belong to one other region each, with that region."""
        uses_by_answer = self._answers.values.get(question_of(item))
        if uses_by_answer is None:
            return []
        candidates = ((name, uses.region) for name, uses in uses_by_answer.values.items() if uses.best)
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
                NameGroup(names, re.compile(_any_of(names.values()))) for names in _country_names(language, regions)
            ]
        return self._groups[language, source]

    def _add_answer(self, item: SourceItem) -> None:
        short = len(item.answer) <= LONGEST_ANSWER and len(item.answer.split()) <= MOST_WORDS
        if item.task in {Task.QA, Task.FREEFORM} and short and (uses_by_answer := self._answers.get(question_of(item))):
            for answer in (item.answer, *item.also_correct):
                if uses := uses_by_answer.get(answer):
                    uses.add(item)
                    uses.best |= answer == item.answer


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
    names = {name for group in _country_names(language, every) for name in group.values()}
    if language == "en":
        names |= {f"the {name}" for name in names} | set(english["aliases"])
    ends = ("", "") if language in UNSPACED else (r"(?<!\w)", r"(?!\w)")
    return re.compile(f"{ends[0]}{_any_of(names)}{ends[1]}") if names else None


def _any_of(names: Iterable[str]) -> str:
    """Return an expression for any of the names, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))})"


def _country_names(language: str, regions: frozenset[str]) -> list[Names]:
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


VOWELS = "AEIOUaeiou"
_ARTICLE = re.compile(r"(?<!\w)an? $", re.IGNORECASE)
_DIGIT = re.compile(r"\d")  # left to the rule for numbers
_STEM = re.compile(r"(?<=\w{2})(?:es|e|s)$")


def swap(item: SourceItem, pool: Pool, draw: Draw) -> list[TextEdit]:
    """Return edits to answers of other cultures; where there are none, edits of names in the answer."""
    return list(_answers(item, pool)) or [*_countries(item, pool, draw), *_named(item, pool, draw)]


def exchange(item: SourceItem) -> list[TextEdit]:
    """Return edits of the whole answer to wrong ones of the source."""
    fitting = (wrong for wrong in item.wrong if not _DIGIT.search(item.answer + wrong))
    return [TextEdit(0, len(item.answer), wrong) for wrong in fitting]


def _answers(item: SourceItem, pool: Pool) -> Iterator[TextEdit]:
    others = pool.answers(item)
    correct = [_stems(answer) for answer in (item.answer, *item.also_correct)] if others else []
    for name, region in others:
        words = _stems(name)
        # "rice" is not wrong where "fried rice" is correct, nor the other way round.
        if words and not _DIGIT.search(name) and not any(words <= other or other <= words for other in correct):
            yield TextEdit(0, len(item.answer), capitalise_like(item.answer, name), culture.region_name(region))


def _stems(text: str) -> frozenset[str]:
    return frozenset(_STEM.sub("", word) for word in folded(text))


def _countries(item: SourceItem, pool: Pool, draw: Draw) -> Iterator[TextEdit]:
    is_new = cache(lambda name: _is_new(name, item))
    text, language, phrases = item.answer, primary(item), data("swap")["set_phrases"]
    for group in pool.groups(language, item.source):
        for start, end in (match.span() for match in group.pattern.finditer(text)):
            if language not in UNSPACED and not is_whole(text, start, end):
                continue
            # Part of a longer, fixed name: French fries, South American.
            if language in phrases and (
                re.match(rf"\s+(?:{phrases[language]})(?!\w)", text[end : end + AROUND], re.IGNORECASE)
                or ends_with(phrases[f"{language}_before"], True).search(text[max(0, start - 40) : start])
            ):
                continue
            article = _ARTICLE.search(text[max(0, start - 4) : start])
            others = {name for region, name in group.names.items() if apart(region, item.region)} - {text[start:end]}
            if article:
                others = {name for name in others if (name[0] in VOWELS) == (len(article[0].strip()) == 2)}
            if new := draw.pick(name for name in others if is_new(name)):
                yield TextEdit(start, end, new, "another culture")


def _named(item: SourceItem, pool: Pool, draw: Draw) -> Iterator[TextEdit]:
    language = primary(item)
    is_new = cache(lambda name: _is_new(name, item))
    for context, name, start in named(item):
        others = pool.names(language, context)
        home = others.get(name)
        if home is None or is_country(language, name):  # not known to belong to one culture
            continue
        foreign = (new for new, region in others.items() if apart(region, home) and apart(region, item.region))
        fitting = (new for new in foreign if is_new(new) and not is_country(language, new))
        if new := draw.pick(fitting):
            yield TextEdit(start, start + len(name), new, culture.region_name(others[new]))


def _is_new(name: str, item: SourceItem) -> bool:
    """Return whether neither the item's correct answers nor its question contain the name."""
    texts = f"{item.answer}\n{item.question}".casefold()
    return name.casefold() not in texts and not is_correct(name, item)
