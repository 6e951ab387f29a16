"""Small changes that reverse a claim: a negation, an opposite, another number.

    for change in contrasts("She was born before the war.", "en"): ...   # "after", "was not born"

The words are in `contrast.toml`. A passage that supports a claim refutes the changed claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from mores.factory.errors.rules.edit import UNSPACED, TextEdit, capitalise_like, is_whole
from mores.factory.errors.rules.numbers import numbers
from mores.factory.items import SourceItem, Task
from mores.io.values import read_packaged_toml


def contrasts(text: str, language: str) -> list[TextEdit]:
    """Return the possible changes of a text, each of which alone reverses it."""
    primary = language.split("-")[0]
    item = SourceItem(source="", id="", task=Task.FREEFORM, question="", answer=text, language=language)
    edits = []
    for pattern, replacement in _negations(primary):
        if match := pattern.search(text):
            edits.append(TextEdit(*match.span(), match.expand(replacement), in_part=True))
            break  # two negations in one sentence may mean the same as none
    pattern, opposites = _opposites(primary)
    matches = [match for match in pattern.finditer(text) if primary in UNSPACED or is_whole(text, *match.span())]
    edits += [TextEdit(*each.span(), capitalise_like(each[0], opposites[each[0].casefold()])) for each in matches]
    edits += numbers(item)
    return [edit for edit in edits if edit.new.casefold() != text[edit.start : edit.end].casefold()]


def _words(language: str, kind: str) -> Sequence[Sequence[str]]:
    table: dict[str, dict[str, list[list[str]]]] = read_packaged_toml("mores.training", "contrast.toml")
    return table.get(language, {}).get(kind, ())


@cache
def _negations(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _words(language, "negations"))


@cache
def _opposites(language: str) -> tuple[re.Pattern[str], dict[str, str]]:
    opposites: dict[str, str] = {}
    for first, second in _words(language, "opposites"):
        opposites.setdefault(first.casefold(), second)
        opposites.setdefault(second.casefold(), first)
    longest_first = sorted(opposites, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)", re.IGNORECASE), opposites
