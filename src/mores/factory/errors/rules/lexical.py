"""Rules that replace expressions from a list: quantifiers, degree and negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mores.factory.errors.rules.edit import UNSPACED, TextEdit, capitalise_like, data, ends_with, is_whole, primary
from mores.factory.items import SourceItem

CONTEXT = 40
"""Code points before a match that are searched for `unless_after`."""


@dataclass(frozen=True)
class Swap:
    """One replacement of a rule's file."""

    pattern: re.Pattern[str]
    to: str
    only_after: re.Pattern[str] | None
    unless_after: tuple[re.Pattern[str], ...]
    spaced: bool

    def edits(self, text: str) -> Iterator[TextEdit]:
        """Yield the edits of a text."""
        for match in self.pattern.finditer(text):
            start, end = match.span()
            before = text[max(0, start - CONTEXT) : start]
            cuts_word = self.spaced and not is_whole(text, start, end)
            lacks_context = self.only_after and not self.only_after.search(before)
            if not (cuts_word or lacks_context or any(pattern.search(before) for pattern in self.unless_after)):
                yield TextEdit(*match.span(), capitalise_like(match[0], match.expand(self.to)), in_part=True)


def lexical(rule: str, item: SourceItem) -> list[TextEdit]:
    """Return the edits of an answer by a rule."""
    taken: set[int] = set()
    edits: list[TextEdit] = []
    for swap in swaps(rule, primary(item)):
        for edit in swap.edits(item.answer):
            covered = set(range(edit.start, edit.end))
            if not covered & taken:  # the first, longer expression counts
                edits.append(edit)
            taken |= covered
    return edits


@cache
def swaps(rule: str, language: str) -> tuple[Swap, ...]:
    """Return the replacements of a rule in a language; none for an unsupported language."""
    table, spaced = data(rule).get(language, {}), language not in UNSPACED

    def fill(expression: str) -> str:
        for name, part in table.get("parts", {}).items():
            expression = expression.replace(f"<{name}>", part)
        return expression

    result = []
    for row in table.get("swaps", ()):
        only, unless = row.get("only_after"), [words for t in (table, row) if (words := t.get("unless_after"))]
        only_after = None if only is None else ends_with(fill(only), spaced)
        unless_after = tuple(ends_with(fill(words), spaced) for words in unless)
        pattern = re.compile(fill(row["from"]), re.IGNORECASE)
        result.append(Swap(pattern, row["to"], only_after, unless_after, spaced))
    return tuple(result)
