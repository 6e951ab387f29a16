"""Places and languages of people, as they write them: countries, cities and languages in any script.

Names are those of CLDR (Babel) in the languages below; cities are those after which it names time zones, and the large
ones of `cities.txt`, each with its country. What is not found is kept as it was typed, and nothing is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from babel import Locale
from babel.core import get_global

from mores.culture import language, region
from mores.errors import InputError

TONGUES = (
    *("en", "ar", "zh", "hi", "es", "sw", "fr", "pt", "ru", "de", "ja", "ko", "id", "bn", "ur", "fa", "tr", "vi", "th"),
    *("it", "pl", "nl", "uk", "ro", "el", "he", "am", "ha", "yo", "ig", "zu", "ta", "te", "mr", "gu", "pa", "ne", "si"),
    *("my", "km", "lo", "ka", "hy", "az", "kk", "uz", "mn", "zh_Hant", "fil", "ms", "hu", "cs", "sv", "fi", "so"),
)
"""The languages in which people may write, whatever the language of the page."""
NameKind = Literal["regions", "places", "languages"]
CODE = 3
"""Letters of the longest code without a part; a language may be called as another's code is written: Ga, and ga."""
CITIES = Path(__file__).with_name("cities.txt")


def find_name(name: str, locale: str, *, is_language: bool = False) -> str | None:
    """Return the code of a region, of the country of a city, or of a language; None where no list has the name."""
    read = language if is_language else region
    try:
        if len(name) <= CODE and read(name) == name:
            return name
        return known_names(locale, is_language).get(fold(name)) or read(name)
    except InputError:
        pass
    tables = [known_names(tag, is_language) for tag in TONGUES]
    tables += [] if is_language else [large_cities(), *map(zone_cities, TONGUES)]
    return next((code for table in tables if (code := table.get(fold(name)))), None)


def split_names(text: str) -> list[str]:
    """Return several names that are written with commas of any script, or on lines."""
    return [part for part in map(str.strip, re.split("[,،、，;؛\n]", text)) if part]


def fold(name: str) -> str:
    """Return a name as it is looked up: without case, accents of Latin letters, and commas and space inside."""
    plain = unicodedata.normalize("NFKD", name) if name.isascii() or name[:1] < "\u0250" else name
    kept = "".join(letter for letter in plain if not unicodedata.combining(letter) or letter > "\u0370")
    return " ".join(unicodedata.normalize("NFKC", kept).casefold().replace(",", " ").split())


@cache
def known_names(locale: str, is_language: bool) -> Mapping[str, str]:
    """Return the codes of languages, or of countries, by their names in a language."""
    names = Locale.parse(locale)
    if is_language:
        return {fold(name): code.replace("_", "-") for code, name in names.languages.items()}
    return {fold(name): code for code, name in names.territories.items() if code.isalpha() and code not in UNREAL}


UNREAL = {"EU", "EZ", "UN", "QO", "XA", "XB", "ZZ"}
"""Territories of CLDR that are no country."""


@cache
def zone_cities(locale: str) -> Mapping[str, str]:
    """Return the countries of the cities after which time zones are named, by their names in a language."""
    names = Locale.parse(locale).time_zones
    found = {}
    for zone, country in get_global("zone_territories").items():
        city = names.get(zone, {}).get("city") or (zone.rpartition("/")[2].replace("_", " ") if locale == "en" else "")
        if city and country.isalpha() and country not in UNREAL and not zone.startswith("Etc/"):
            found[fold(city)] = country
    return found


@cache
def list_places(locale: str, kind: NameKind) -> tuple[str, ...]:
    """Return the names that people choose from, in the language of the page: countries, also cities, or languages."""
    names = Locale.parse(locale)
    if kind == "languages":
        return tuple(sorted(names.languages.values()))
    regions = {
        name.replace(",", "") for code, name in names.territories.items() if code.isalpha() and code not in UNREAL
    }
    zones = get_global("zone_territories") if kind == "places" else ()
    cities = {names.time_zones.get(zone, {}).get("city", "") for zone in zones} - {""}
    if kind == "places" and locale == "en":
        lines = (line.split(None, 1) for line in CITIES.read_text("utf-8").splitlines() if line and line[0] != "#")
        cities |= {name.strip() for _, line in lines for name in line.split(";") if name.isascii()}
    return tuple(sorted(regions | cities))


@cache
def large_cities() -> Mapping[str, str]:
    """Return the countries of large cities by their names."""
    lines = (line.split(None, 1) for line in CITIES.read_text("utf-8").splitlines() if line and line[0] != "#")
    return {fold(name): code for code, names in lines for name in names.split(";")}
