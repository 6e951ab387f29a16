"""The `swap` rule: an answer or a name of one culture replaces that of another.

An answer that another culture gives to the same question comes first; then names of countries, peoples and others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mores import culture
from mores.factory.errors.rules.edit import (
    AROUND,
    UNSPACED,
    Draw,
    TextEdit,
    capitalise_like,
    data,
    ends_with,
    folded,
    is_correct,
    is_whole,
    primary,
)
from mores.factory.errors.rules.pool import Pool, apart, is_country, named
from mores.factory.items import SourceItem

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
    text, language = item.answer, primary(item)
    for group in pool.groups(language, item.source):
        for start, end in (match.span() for match in group.pattern.finditer(text)):
            if (language not in UNSPACED and not is_whole(text, start, end)) or _fixed(text, start, end, language):
                continue
            article = _ARTICLE.search(text[max(0, start - 4) : start])
            others = {name for region, name in group.names.items() if apart(region, item.region)} - {text[start:end]}
            if article:
                others = {name for name in others if (name[0] in VOWELS) == (len(article[0].strip()) == 2)}
            if new := draw.pick(name for name in others if is_new(name)):
                yield TextEdit(start, end, new, "another culture")


def _fixed(text: str, start: int, end: int, language: str) -> bool:
    """Return whether the name is part of a longer, fixed one: French fries, South American."""
    phrases = data("swap")["set_phrases"]
    if language not in phrases:
        return False
    after = re.match(rf"\s+(?:{phrases[language]})(?!\w)", text[end : end + AROUND], re.IGNORECASE)
    return bool(after or ends_with(phrases[f"{language}_before"], True).search(text[max(0, start - 40) : start]))


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
