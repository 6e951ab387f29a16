"""Rules that put one wording for another by a list of expressions: quantifiers, degree and negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from mores.factory.errors.rules.edit import UNSPACED, TextEdit, data, ends_with, like, primary, whole
from mores.factory.items import SourceItem

CONTEXT = 40
"""Code points before a match in which `unless_after` is looked for."""


@dataclass(frozen=True)
class Swap:
    """One line of a rule's file, ready for use."""

    pattern: re.Pattern[str]
    to: str
    only_after: re.Pattern[str] | None
    unless_after: tuple[re.Pattern[str], ...]
    spaced: bool

    def edits(self, text: str) -> Iterator[TextEdit]:
        for match in self.pattern.finditer(text):
            if self._fits(text, match):
                yield TextEdit(*match.span(), like(match[0], match.expand(self.to)), in_part=True)

    def _fits(self, text: str, match: re.Match[str]) -> bool:
        start, end = match.span()
        before = text[max(0, start - CONTEXT) : start]
        if self.spaced and not whole(text, start, end):
            return False
        if self.only_after and not self.only_after.search(before):
            return False
        return not any(pattern.search(before) for pattern in self.unless_after)


def lexical(rule: str, item: SourceItem) -> list[TextEdit]:
    """Return the places of the answer where an expression of the rule stands, and what is put for it."""
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
    """Return the swaps of a rule in a language; none where the language is left out."""
    table = data(rule).get(language)
    return tuple(_swap(table, row, language not in UNSPACED) for row in table["swaps"]) if table else ()


def _swap(table: dict[str, Any], row: dict[str, str], spaced: bool) -> Swap:
    def fill(expression: str) -> str:
        for name, part in table.get("parts", {}).items():
            expression = expression.replace(f"<{name}>", part)
        return expression

    unless = [words for words in (table.get("unless_after"), row.get("unless_after")) if words]
    return Swap(
        pattern=re.compile(fill(row["from"]), re.IGNORECASE),
        to=row["to"],
        only_after=ends_with(fill(row["only_after"]), spaced) if "only_after" in row else None,
        unless_after=tuple(ends_with(fill(words), spaced) for words in unless),
        spaced=spaced,
    )
