"""Regions: countries (ISO 3166-1), their parts (ISO 3166-2), and cultural regions that no standard has (`regions.txt`).

A part belongs to its country: results are broken down by `country`, with the parts beside. A region that lies in
several countries (Kurdistan, Bengal) has a code under XX, which ISO leaves to its users, and is a group of its own:
under one of its countries it would be misplaced, and under each of them counted several times.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import pycountry
from langcodes import Language

from mores.culture.names import close, trie, unknown
from mores.errors import InputError

COUNTRY_ALIASES = {
    "britain": "GB",
    "burma": "MM",
    "democratic republic congo": "CD",
    "dr congo": "CD",
    "drc": "CD",
    "great britain": "GB",
    "holland": "NL",
    "holy see": "VA",
    "hong kong sar": "HK",
    "macau": "MO",
    "macau sar": "MO",
    "macedonia": "MK",
    "somali": "SO",  # also a region of Ethiopia
    "uae": "AE",
    "vatican": "VA",
    "xkx": "XK",
}

# CLDR's names say more than people do ("Hong Kong SAR China", "Congo - Kinshasa").
SHORT_NAMES = {"CD": "DR Congo", "CG": "Republic of the Congo", "HK": "Hong Kong", "MM": "Myanmar", "MO": "Macao"}

# Units of ISO 3166-2 that have a code of their own in ISO 3166-1, which is theirs here.
TWICE = {
    "FI-01": "AX", "FR-971": "GP", "FR-972": "MQ", "FR-973": "GF", "FR-974": "RE", "FR-976": "YT", "NO-21": "SJ",
    "NO-22": "SJ", "NL-BQ1": "BQ-BO", "NL-BQ2": "BQ-SA", "NL-BQ3": "BQ-SE",
} | {
    f"{country}-{code}": code
    for country, codes in {
        "CN": "HK MO TW", "FR": "BL MF NC PF PM TF WF", "NL": "AW CW SX", "US": "AS GU MP PR UM VI",
    }.items()
    for code in codes.split()
}  # fmt: skip

KINDS = {
    "canton", "county", "department", "district", "governorate", "oblast", "prefecture", "province", "region", "state",
    "territory",
}  # fmt: skip
# What says too little without a country, also where it is the whole name of a unit.
VAGUE = KINDS | {
    "area", "capital", "center", "central", "centre", "coast", "delta", "east", "eastern", "far", "highlands",
    "islands", "lakes", "metropolitan", "north", "northeast", "northern", "northwest", "plateau", "rivers",
    "south", "southeast", "southern", "southwest", "unity", "upper", "west", "western",
}  # fmt: skip

TABLE = Path(__file__).with_name("regions.txt")
EXAMPLE = "an ISO 3166 code such as 'BR' or 'ES-CT', or an English name"

_CODE = re.compile(r"\s*([A-Za-z]{2})[-_]([A-Za-z0-9]{1,3}|[A-Za-z]{4,12})\s*")
_QUALIFIED = re.compile(r"([^(),]+)[(,]([^()]+)(?:\)\s*)?")
_ENDS = re.compile(r" (Sheng|Shi|GB-[A-Z]{3})$")


class Part(NamedTuple):
    """A region that is not a country."""

    names: tuple[str, ...]
    """The first is the one that is shown."""
    countries: tuple[str, ...]
    parent: str | None = None
    """The unit of ISO 3166-2 that it is a part of."""


@lru_cache(maxsize=8192)
def region(value: str) -> str:
    """The code of a country, a part of one or a cultural region, from a code or an English name.

    Countries have ISO 3166-1 alpha-2 (and XK for Kosovo), also from alpha-3 and numeric codes. Parts of countries have
    ISO 3166-2, or a longer code of ours where no standard has them; also from "Punjab, Pakistan" and "Kano State".
    """
    codes = _find(value)
    if not codes:
        raise InputError(unknown("region", value, _near(value), EXAMPLE))
    if len(codes) > 1:
        some = [f"{code} in {territory_name(_parts()[code].countries[0])}" for code in codes[:3]]
        several = ", ".join([*some, "…"] if codes[3:] else some)
        raise InputError(f"region {value!r} is the name of {len(codes)} regions ({several}); write the code of one")
    return codes[0]


@lru_cache(maxsize=8192)
def region_name(value: str) -> str:
    """The short English name that people use, for example `South Korea`; `region` reads it as the same region."""
    code = region(value)
    if "-" not in code:
        return territory_name(code)
    name = _parts()[code].names[0]
    shown = (name, f"{name} ({territory_name(code[:2])})", f"{name} ({code})")
    return next(words for words in shown if _find(words) == [code])


@lru_cache(maxsize=8192)
def countries(value: str) -> tuple[str, ...]:
    """The codes of the countries that a region is or lies in."""
    code = region(value)
    return _parts()[code].countries if "-" in code else (code,)


def country(value: str) -> str:
    """The code of the country that a region is or lies in; a region in several countries is its own group."""
    found = countries(value)
    return found[0] if len(found) == 1 else region(value)


def roll_up(value: str) -> tuple[str, str | None]:
    """What a region counts under in a breakdown by country, and the region itself if it is a part of that country.

    What is no region counts under itself: a result must not be lost for a name in the data.
    """
    try:
        code, own = country(value), region(value)
    except InputError:
        return value, None
    return code, own if own != code else None


def find_country(name: str) -> str | None:
    """The code of the one country that a name stands for or lies in; None where there is none."""
    found = {code for one in _find(name) for code in countries(one)}
    return found.pop() if len(found) == 1 else None


def fold(name: str) -> str:
    """A region's name without case, accents, dots, little words: `St. Kitts & Nevis` is `saint kitts nevis`."""
    words: list[str] = re.findall(r"\w+", re.sub(r"[.'’ʻ‘]", "", _plain(name).casefold()))
    if len(words) == 1:  # perhaps a code: AND is Andorra, ST São Tomé, 76 Brazil
        return words[0].zfill(3) if words[0].isdecimal() else words[0]
    return " ".join("saint" if word == "st" else word for word in words if word not in {"the", "and", "of"})


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def _find(value: str) -> list[str]:
    """The codes of all regions that a value may stand for; a country comes before parts of the same name."""
    if code := _from_code(value):
        return [code]
    name = fold(value)
    if name in country_names():
        return [country_names()[name]]
    if name in _ours():  # they say which of several units people mean
        return [_ours()[name]]
    return _units(name) or _qualified(value) or _units(" ".join(word for word in name.split() if word not in KINDS))


def _from_code(value: str) -> str | None:
    match = _CODE.fullmatch(value)
    code = f"{match[1]}-{match[2]}".upper() if match else None
    code = TWICE.get(code, code.replace("UK-", "GB-")) if code else None
    return code if code and ("-" not in code or code in _parts()) else None


def _units(name: str) -> list[str]:
    """The units of a folded name; of a unit and its part with the same name, the unit."""
    codes = [] if VAGUE.issuperset(name.split()) else _named().get(name, [])
    return [code for code in codes if _parts()[code].parent not in codes]


def _qualified(value: str) -> list[str]:
    """The parts of `Punjab, Pakistan` or `La Rioja (ES-LO)`."""
    match = _QUALIFIED.fullmatch(value)
    if match is None:
        return []
    name, place = fold(match[1]), _from_code(match[2]) or country_names().get(fold(match[2]))
    codes = _named().get(name, [])
    if place in codes:
        return [place]
    inside = [code for code in codes if _parts()[code].countries == (place,)]
    return [code for code in inside if _parts()[code].parent not in inside]


@cache
def country_names() -> dict[str, str]:
    """Every folded code and name of a country, and its alpha-2 code."""
    names = trie("territory", "en")
    codes = {country.alpha_2 for country in pycountry.countries} | {"XK"}
    known = {fold(name): names[name][0].decode() for name in names.keys()}  # noqa: SIM118 - a trie is no dict
    known = {name: code for name, code in known.items() if code in codes}
    for one in pycountry.countries:
        known |= {fold(spelling): one.alpha_2 for field, spelling in one if field != "flag"}
    return known | {"xk": "XK"} | COUNTRY_ALIASES


@cache
def _parts() -> dict[str, Part]:
    """Every part of a country and every region of several."""
    known = {}
    for unit in pycountry.subdivisions:
        if unit.code not in TWICE:
            known[unit.code] = Part(
                tuple(_spellings(unit.name, unit.country_code)), (unit.country_code,), unit.parent_code
            )
    for code, names, inside in _table():
        unit = known.get(code)
        known[code] = Part((*names, *unit.names), unit.countries, unit.parent) if unit else Part(names, inside)
    return known


def _table() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Code, names and countries of each line of our table."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, rest = line.split(maxsplit=1)
            names, _, inside = rest.partition(":")
            yield code, tuple(name.strip() for name in names.split(";")), tuple(inside.split()) or (code[:2],)


def _spellings(name: str, country: str) -> Iterator[str]:
    """The names in one of ISO's: `Asturias, Principado de` and `Catalunya [Cataluña]` are two each."""
    for spelling in filter(None, re.split(r"[\[\]()]", name)):
        first, _, rest = _ENDS.sub("", spelling.strip()).partition(", ")
        # What another script is transcribed to is shown without its marks: Bihār, Eşfahān.
        yield first if _is_latin(country) else _plain(first)
        yield from (f"{first}, {rest}", f"{rest} {first}") if rest else ()


@cache
def _is_latin(country: str) -> bool:
    return Language.get(f"und-{country}").maximize().script == "Latn"


@cache
def _ours() -> dict[str, str]:
    """The code of every folded name of our table."""
    return {fold(name): code for code, names, _ in _table() for name in names}


@cache
def _named() -> dict[str, list[str]]:
    """The codes of every folded name of a part."""
    codes: dict[str, list[str]] = defaultdict(list)
    for code, part in _parts().items():
        for name in {fold(name) for name in part.names}:
            codes[name].append(code)
    return dict(codes)


def territory_name(code: str) -> str:
    """The English name of a country, or of a larger region that a language tag may have: `419` is Latin America."""
    return SHORT_NAMES.get(code) or str(Language.make(territory=code).territory_name()).replace(" & ", " and ")


@lru_cache(maxsize=1024)
def _near(value: str) -> tuple[str, ...]:
    """Suggestions: a country or a region of our table before a unit that few know."""
    if match := _CODE.fullmatch(value):
        return _shown(country_names().get(match[1].lower()))
    name = fold(value)
    if VAGUE.issuperset(name.split()):
        return ()
    known = close(name, country_names() | _ours())
    known = known or close(name, (unit for unit in _named() if not VAGUE.issuperset(unit.split())), 0.85)
    return _shown(*(code for word in known for code in _find(word)))


def _shown(*codes: str | None) -> tuple[str, ...]:
    return tuple(f"{region_name(code)} ({code})" for code in dict.fromkeys(codes) if code)[:3]
