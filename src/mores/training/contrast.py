"""Small changes after which a claim says the contrary: a negation, a contrary word, another number.

    for change in contrasts("She was born before the war.", "en"): ...   # "after", "was not born"

The words are in `contrast.toml`. A claim that a passage supports is refuted by it once it is changed so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from tomllib import loads

from mores.factory.errors.rules.edit import UNSPACED, TextEdit, like, whole
from mores.factory.errors.rules.numbers import numbers
from mores.factory.items import SourceItem, Task


def contrasts(text: str, language: str) -> list[TextEdit]:
    """Return the changes that can be made to a text, of which each alone turns it around."""
    primary = language.split("-")[0]
    item = SourceItem(source="", id="", task=Task.FREEFORM, question="", answer=text, language=language)
    edits = [*_negated(text, primary), *_opposed(text, primary), *numbers(item)]
    return [edit for edit in edits if edit.new.casefold() != text[edit.start : edit.end].casefold()]


def _negated(text: str, language: str) -> Iterator[TextEdit]:
    """Yield one change at most: two negations in one sentence may say the same as none."""
    for pattern, replacement in _negations(language):
        if match := pattern.search(text):
            yield TextEdit(*match.span(), match.expand(replacement), in_part=True)
            return


def _opposed(text: str, language: str) -> Iterator[TextEdit]:
    pattern, opposites = _opposites(language)
    for match in pattern.finditer(text) if opposites else ():
        if language in UNSPACED or whole(text, *match.span()):
            yield TextEdit(*match.span(), like(match[0], opposites[match[0].casefold()]))


@cache
def _words() -> dict[str, dict[str, list[list[str]]]]:
    return loads(files("mores.training").joinpath("contrast.toml").read_text("utf-8"))


@cache
def _negations(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = _words().get(language, {}).get("negations", ())
    return tuple((re.compile(pattern), replacement) for pattern, replacement in rows)


@cache
def _opposites(language: str) -> tuple[re.Pattern[str], dict[str, str]]:
    opposites: dict[str, str] = {}
    for first, second in _words().get(language, {}).get("opposites", ()):
        opposites.setdefault(first.casefold(), second)
        opposites.setdefault(second.casefold(), first)
    longest_first = sorted(opposites, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)", re.IGNORECASE), opposites
