"""What a page says in no language but English: its texts in a made-up language, in which every translation is marked.

In this language `"Give at most {count}."` is `"⟦Give at most ⟧{count}⟦.⟧"`. It knows the texts that
`tools/translations.py` collects and no others, so a text that is not collected, or does not go through `_()`, is not
marked. Names of countries, numbers and dates are those of Chinese, in which no letter is Latin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from typing import Any

from sqlalchemy import select

from mores.culture import language_name
from mores.errors import InputError
from mores.studio.store.database import Database
from mores.studio.store.tables import audit, campaigns, events, invitations, people
from tools.translations import texts

LOCALE = "zh"
NAMES = {"Mores", "MSQA", "CulturALL", "CulturalTeaming", "ExCAM", "CSV", "JSON", "Parquet", "pearmut", "SHA", "AI"}
NAMES |= {"Prolific", "MTurk", "CloudResearch", "Connect", "SONA", "USD", "https"}
"""Names that are the same in every language."""
ATTRIBUTES = ("aria-label", "alt", "title", "placeholder", "label", "data-saved", "data-kept", "data-later")
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "rect"}
LONG = 20
"""A piece of somebody's text that is as long as this is somebody's too."""
ISOLATES = dict.fromkeys(map(ord, "\u2066\u2067\u2068\u2069"))
"""Characters that nobody sees: they keep a text in another script apart."""
_VALUE = re.compile(r"(%\(\w+\)s|\{\w+\})")
_SEPARATOR = re.compile(r", | \+ |;(?: |$)|: | \(|\)")
_WORD = re.compile(r"(?!(?:[A-D]+)\b)\b[A-Za-zÀ-ɏ]{2,}")
"""A word; letters of options, such as `ABD`, are none."""


@cache
def marked() -> Mapping[str, str]:
    """Every text that is collected, in the made-up language."""

    def mark(text: str) -> str:
        parts = _VALUE.split(text)
        return "".join(part if _VALUE.fullmatch(part) else f"⟦{part}⟧" for part in parts if part)

    return {text: mark(text) for text in texts()}


class _Reader(HTMLParser):
    """The texts of a page that people see or hear, without those that say that they are not to be translated."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []

    @property
    def _hidden(self) -> bool:
        return any(hidden for _, hidden in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        hidden = tag in ("code", "kbd", "pre", "script", "style", "textarea") or values.get("translate") == "no"
        if not (hidden or self._hidden):
            self.found += [value for name, value in attrs if name in ATTRIBUTES and value]
        if tag not in EMPTY:
            self._open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.found.append(data)


@cache
def _known(own: tuple[str, ...]) -> tuple[set[str], str]:
    """The texts that people wrote, and the long ones in one text; of thousands, for hundreds of pages."""
    known = {" ".join(text.split()) for text in own}
    return known, "\n".join(text for text in known if len(text) >= LONG)


def unmarked(page: str, own: tuple[str, ...]) -> list[str]:
    """The texts of a page that nobody translates and nobody wrote: `own` are the texts that people wrote."""
    reader = _Reader()
    reader.feed(page)
    known, long = _known(own)

    def is_known(part: str) -> bool:
        piece = part.strip(" :;,·()")
        inside = len(piece) >= LONG and piece.removesuffix("...") in long
        return piece in known or inside or not set(_WORD.findall(piece)) - NAMES

    found = []
    for given in reader.found:
        text = given.translate(ISOLATES)
        rest = [" ".join(part.split()) for part in re.sub(r"⟦[^⟦⟧]*⟧", "\n", text).split("\n")]
        parts = [part for parts in rest for part in re.split(" ?· ?", parts) if not is_known(part)]
        pieces = [piece for part in parts for piece in _SEPARATOR.split(part)]
        if not all(map(is_known, pieces)):
            found.append(" ".join(text.split()))
    return found


def own_texts(database: Database) -> tuple[str, ...]:
    """Every text that people and models wrote: contents, answers, settings, names, notes."""
    found: list[str] = []
    with database.read() as connection:
        for table, names in (
            (events, ("payload",)),
            (campaigns, ("settings", "title")),
            (people, ("name", "email", "languages", "nationality")),
            (invitations, ("note",)),
            (audit, ("detail",)),
        ):
            for row in connection.execute(select(*(table.c[name] for name in names))):
                found += [text for value in row for text in _texts(value)]
    named = [_named(text) for text in found if re.fullmatch(r"[a-z]{2,3}(-\w+)?", text)]  # not in Chinese
    return tuple(dict.fromkeys([*found, *named]))


def _named(text: str) -> str:
    """The name of the language of that code; the text itself where it is none."""
    try:
        return language_name(text)
    except InputError:
        return text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        yield from (line.strip() for line in value.splitlines())
    elif isinstance(value, Mapping):
        if "phrase" not in value:
            for inner in value.values():
                yield from _texts(inner)
        else:
            yield from _texts(value["values"])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
