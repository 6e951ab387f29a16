"""Regions: countries (ISO 3166-1), their parts (ISO 3166-2), and cultural regions that no standard has (`regions.txt`).

A part belongs to its country: results are broken down by `country`, and the parts are shown beside it. A region in
several countries (Kurdistan, Bengal) has a code under XX, which ISO leaves to its users, and is a separate group: under
one of its countries it would be misplaced, and under each of them counted several times.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mores.errors import InputError

LONGEST = 80
"""No name or tag is longer."""


@cache
def common_names() -> dict[str, tuple[str, ...]]:
    """Return the name of common languages and countries by tag and code; of a language also script and macrolanguage.

    `names.txt` has them, so that few texts need the tables of langcodes and pycountry, which take 0.3 s to load.
    """
    lines = Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {code: (*fields, *[""] * (3 - len(fields))) for code, *fields in rows}


def key(name: str) -> str:
    """Return a name in the form that the tries use."""
    from language_data import names as name_data  # type: ignore[import-untyped]

    return str(name_data.normalize_name(" ".join(unicodedata.normalize("NFC", name).split())))


@cache
def trie(kind: str, language: str) -> Any:
    """Return codes by name, for a kind (language, script, territory) and a language; `und` is all languages."""
    from language_data import names as name_data
    from language_data.util import data_filename  # type: ignore[import-untyped]

    return name_data.load_trie(data_filename(f"trie/{language}/name_to_{kind}.marisa"))


def code_of(kind: str, name: str) -> str | None:
    """Return the code of an exact English name, or of a name in any language that is unambiguous."""
    normalised = key(name)
    if re.search(r"[\0\ud800-\udfff]", normalised):  # the tries cannot look these up
        return None
    # Not Language.find: it accepts any word that begins with a name ("english1").
    matches = (trie(kind, language).get(normalised) for language in ("en", "und"))
    return next((codes[0].decode() for codes in matches if codes), None)


def close(name: str, candidates: Iterable[str], cutoff: float = 0.75) -> list[str]:
    """Return up to three known names that share words with a name, or otherwise are spelt almost like it."""
    if not 3 < len(name) < LONGEST:  # almost any two letters are close to some code
        return []
    names = [word for word in candidates if len(word) > 3]
    shared = [word for word in names if f" {name} " in f" {word} " or f" {word} " in f" {name} "]
    if shared:
        return sorted(shared, key=lambda word: abs(len(word) - len(name)))[:3]
    return get_close_matches(name, names, n=3, cutoff=cutoff)


class UnknownName(InputError):  # noqa: N818 - reads as what it is
    """A name that is not known: the message has a suggestion, or what is expected.

    Suggestions are found when the message is read: that takes a tenth of a second, and many callers only pass over what
    is not known.
    """

    def __init__(self, kind: str, value: str, find_near: Callable[[str], tuple[str, ...]], example: str) -> None:
        self.value = value if len(value) <= LONGEST else value[:LONGEST] + "…"
        self._details = kind, value, find_near, example
        super().__init__(f"unknown {kind} {self.value!r}")

    @property
    def near(self) -> tuple[str, ...]:
        """Up to three known names that may be meant."""
        _, value, find_near, _ = self._details
        return find_near(value)

    @property
    def args(self) -> tuple[str]:  # type: ignore[override]
        """The message."""
        kind, _, _, example = self._details
        near = self.near
        fix = f"did you mean {' or '.join(near)}?" if near else f"use {example}"
        return (f"unknown {kind} {self.value!r}; {fix}",)

    def __str__(self) -> str:
        return self.args[0]


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
    "ksa": "SA",
    "macau": "MO",
    "macau sar": "MO",
    "macedonia": "MK",
    "somali": "SO",  # also a region of Ethiopia
    "uae": "AE",
    "vatican": "VA",
    "xkx": "XK",
}

# CLDR's names are longer than the usual ones ("Hong Kong SAR China", "Congo - Kinshasa").
SHORT_NAMES = {"CD": "DR Congo", "CG": "Republic of the Congo", "HK": "Hong Kong", "MM": "Myanmar", "MO": "Macao"}

# Units of ISO 3166-2 that also have a code in ISO 3166-1, which is used here.
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
# Words that are too vague without a country, even if they are the whole name of a unit.
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


class RegionPart(NamedTuple):
    """A region that is not a country."""

    names: tuple[str, ...]
    """The first one is shown."""
    countries: tuple[str, ...]
    parent: str | None = None
    """The unit of ISO 3166-2 that contains it."""


@lru_cache(maxsize=8192)
def region(value: str) -> str:
    """Return the code of a country, a part of one or a cultural region, from a code or an English name.

    Countries have ISO 3166-1 alpha-2 (and XK for Kosovo), also from alpha-3 and numeric codes. Parts of countries have
    ISO 3166-2, or a longer code of ours where no standard has them; also from "Punjab, Pakistan" and "Kano State".
    """
    if len(value) == 2 and value.isupper() and value in common_names():
        return value
    codes = _find(value)
    if not codes:
        raise UnknownName("region", value, _near, EXAMPLE)
    if len(codes) > 1:
        examples = [f"{code} in {territory_name(_parts()[code].countries[0])}" for code in codes[:3]]
        several = ", ".join([*examples, "…"] if codes[3:] else examples)
        raise InputError(f"region {value!r} is the name of {len(codes)} regions ({several}); write the code of one")
    return codes[0]


@lru_cache(maxsize=8192)
def region_name(value: str) -> str:
    """Return the short English name that people use, such as `South Korea`, which `region` reads as the same region."""
    code = region(value)
    if "-" not in code:
        return territory_name(code)
    name = _parts()[code].names[0]
    candidates = (name, f"{name} ({territory_name(code[:2])})", f"{name} ({code})")
    return next(words for words in candidates if _find(words) == [code])


@lru_cache(maxsize=8192)
def countries(value: str) -> tuple[str, ...]:
    """Return the codes of the countries that a region is or lies in."""
    code = region(value)
    return _parts()[code].countries if "-" in code else (code,)


def country(value: str) -> str:
    """Return the code of the country that a region is or lies in, or the region's code if it lies in several."""
    codes = countries(value)
    return codes[0] if len(codes) == 1 else region(value)


def roll_up(value: str) -> tuple[str, str | None]:
    """Return the group of a region in a breakdown by country, and the region itself if it is a part of that country.

    An unknown region is its own group: a name in the data must not cost a result.
    """
    try:
        code, itself = country(value), region(value)
    except InputError:
        return value, None
    return code, itself if itself != code else None


def find_country(name: str) -> str | None:
    """Return the code of the only country that a name may mean or lie in, or None."""
    codes = {code for part in _find(name) for code in countries(part)}
    return codes.pop() if len(codes) == 1 else None


def fold(name: str) -> str:
    """Return a region's name without case, accents, dots and short words: `St.

    Kitts & Nevis` is `saint kitts nevis`.
    """
    words: list[str] = re.findall(r"\w+", re.sub(r"[.'’ʻ‘]", "", _plain(name).casefold()))
    if len(words) == 1:  # perhaps a code: AND is Andorra, ST São Tomé, 76 Brazil
        return words[0].zfill(3) if words[0].isdecimal() else words[0]
    return " ".join("saint" if word == "st" else word for word in words if word not in {"the", "and", "of"})


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def _find(value: str) -> list[str]:
    """Return the codes of all regions that a value may mean; a country takes precedence over parts of the same name."""
    if code := _from_code(value):
        return [code]
    name = fold(value)
    if name in country_names():
        return [country_names()[name]]
    if name in _table_codes():  # the table decides which of several units is meant
        return [_table_codes()[name]]
    return _units(name) or _qualified(value) or _units(" ".join(word for word in name.split() if word not in KINDS))


def _from_code(value: str) -> str | None:
    match = _CODE.fullmatch(value)
    code = f"{match[1]}-{match[2]}".upper() if match else None
    code = TWICE.get(code, code.replace("UK-", "GB-")) if code else None
    return code if code and ("-" not in code or code in _parts()) else None


def _units(name: str) -> list[str]:
    """Return the units of a folded name; of a unit and its part with the same name, the unit."""
    codes = [] if VAGUE.issuperset(name.split()) else _codes_by_name().get(name, [])
    return [code for code in codes if _parts()[code].parent not in codes]


def _qualified(value: str) -> list[str]:
    """Return the parts of `Punjab, Pakistan` or `La Rioja (ES-LO)`."""
    match = _QUALIFIED.fullmatch(value)
    if match is None:
        return []
    name, country_code = fold(match[1]), _from_code(match[2]) or country_names().get(fold(match[2]))
    codes = _codes_by_name().get(name, [])
    if country_code in codes:
        return [country_code]
    inside = [code for code in codes if _parts()[code].countries == (country_code,)]
    return [code for code in inside if _parts()[code].parent not in inside]


@cache
def country_names() -> dict[str, str]:
    """Return every folded code and name of a country, and its alpha-2 code."""
    import pycountry

    names = trie("territory", "en")
    codes = {country.alpha_2 for country in pycountry.countries} | {"XK"}
    codes_by_name = {fold(name): names[name][0].decode() for name in names.keys()}  # noqa: SIM118 - a trie is not a dict
    codes_by_name = {name: code for name, code in codes_by_name.items() if code in codes}
    for entry in pycountry.countries:
        codes_by_name |= {fold(spelling): entry.alpha_2 for field, spelling in entry if field != "flag"}
    return codes_by_name | {"xk": "XK"} | COUNTRY_ALIASES


@cache
def _parts() -> dict[str, RegionPart]:
    """Return every part of a country, and every region in several countries."""
    import pycountry

    parts = {}
    for unit in pycountry.subdivisions:
        if unit.code not in TWICE:
            parts[unit.code] = RegionPart(
                tuple(_spellings(unit.name, unit.country_code)), (unit.country_code,), unit.parent_code
            )
    for code, names, inside in _table():
        unit = parts.get(code)
        parts[code] = (
            RegionPart((*names, *unit.names), unit.countries, unit.parent) if unit else RegionPart(names, inside)
        )
    return parts


def parts_of(code: str) -> Iterator[str]:
    """Return the names of the parts of a country."""
    return (name for part in _parts().values() if part.countries == (code,) for name in part.names)


def _table() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return code, names and countries of each line of our table."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, rest = line.split(maxsplit=1)
            names, _, inside = rest.partition(":")
            yield code, tuple(name.strip() for name in names.split(";")), tuple(inside.split()) or (code[:2],)


def _spellings(name: str, country: str) -> Iterator[str]:
    """Yield the names in a name of ISO: `Asturias, Principado de` and `Catalunya [Cataluña]` have two each."""
    for spelling in filter(None, re.split(r"[\[\]()]", name)):
        first, _, rest = _ENDS.sub("", spelling.strip()).partition(", ")
        # Transcriptions of other scripts are shown without diacritics: Bihār, Eşfahān.
        yield first if _is_latin(country) else _plain(first)
        yield from (f"{first}, {rest}", f"{rest} {first}") if rest else ()


@cache
def _is_latin(country: str) -> bool:
    from langcodes import Language

    return Language.get(f"und-{country}").maximize().script == "Latn"


@cache
def _table_codes() -> dict[str, str]:
    """Return the code of every folded name of our table."""
    return {fold(name): code for code, names, _ in _table() for name in names}


@cache
def _codes_by_name() -> dict[str, list[str]]:
    """Return the codes of every folded name of a part."""
    codes: dict[str, list[str]] = defaultdict(list)
    for code, part in _parts().items():
        for name in {fold(name) for name in part.names}:
            codes[name].append(code)
    return dict(codes)


def territory_name(code: str) -> str:
    """Return the English name of a country, or of a larger region of a language tag: `419` is Latin America."""
    if code in common_names():
        return common_names()[code][0]
    from langcodes import Language

    return SHORT_NAMES.get(code) or str(Language.make(territory=code).territory_name()).replace(" & ", " and ")


@lru_cache(maxsize=1024)
def _near(value: str) -> tuple[str, ...]:
    """Return suggestions: countries and regions of our table first, then less known units."""
    if match := _CODE.fullmatch(value):
        return _names_with_codes(country_names().get(match[1].lower()))
    name = fold(value)
    if VAGUE.issuperset(name.split()):
        return ()
    names = close(name, country_names() | _table_codes())
    names = names or close(name, (unit for unit in _codes_by_name() if not VAGUE.issuperset(unit.split())), 0.85)
    return _names_with_codes(*(code for word in names for code in _find(word)))


def _names_with_codes(*codes: str | None) -> tuple[str, ...]:
    return tuple(f"{region_name(code)} ({code})" for code in dict.fromkeys(codes) if code)[:3]
