"""Countries that an English text names, by their names or by adjectives (`mentions.txt`).

`[mention.countries for mention in mentions("Smoking in South Korea")] == [{"KR"}]`; "Chinatown" names no country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mores.culture.regions import VAGUE, fold, parts_of, territory_name

TABLE = Path(__file__).with_name("mentions.txt")
SHORTEST = 4
"""Characters; a shorter name of a part of a country is often another word."""


class Mention(NamedTuple):
    """A word that names a country."""

    countries: frozenset[str]
    """Their codes; several where the word may mean any of them."""
    is_name: bool
    """Whether it is the name of a country, and not an adjective, which may also be that of a language."""


def mentions(text: str) -> Iterator[Mention]:
    """Yield the countries that a text names, in its order."""
    known = _known()
    for match in _pattern().finditer(text):
        if mention := known[match[1]]:
            yield mention


def mentions_country(text: str, code: str) -> bool:
    """Return whether a text names a country or a part of it."""
    if any(code in mention.countries for mention in mentions(text)):
        return True
    parts = _parts_pattern(code)
    return bool(parts and parts.search(text))


@cache
def _known() -> dict[str, Mention | None]:
    """Return what each word means; None where it names no country."""
    import pycountry

    known: dict[str, Mention | None] = {}
    for country in pycountry.countries:
        of_iso = (country.name, getattr(country, "common_name", country.name))
        spellings = {territory_name(country.alpha_2), *(name for name in of_iso if not re.search("[,(]", name))}
        known |= dict.fromkeys(spellings, Mention(frozenset({country.alpha_2}), True))
    known[territory_name("XK")] = Mention(frozenset({"XK"}), True)
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("-"):
            known |= dict.fromkeys(_words(line[1:]))
        elif line and not line.startswith("#"):
            names, _, adjectives = line.partition(":")
            codes = re.match(r"(?:[A-Z]{2} +)+", names)
            assert codes, line
            countries = frozenset(codes[0].split())
            known |= {name: Mention(countries, True) for name in _words(names[codes.end() :])}
            known |= {adjective: Mention(countries, False) for adjective in _words(adjectives)}
    return known


def _words(names: str) -> list[str]:
    return [name.strip() for name in names.split(";") if name.strip()]


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({_any_of(_known())})s?(?!\w)")


@cache
def _parts_pattern(code: str) -> re.Pattern[str] | None:
    names = {name for name in parts_of(code) if len(name) >= SHORTEST and not VAGUE.issuperset(fold(name).split())}
    return re.compile(rf"(?<!\w)(?:{_any_of(names)})(?!\w)") if names else None


def _any_of(names: dict[str, Mention | None] | set[str]) -> str:
    """Return an expression for any of the names, the longest first."""
    return "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
