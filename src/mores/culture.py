"""Languages (BCP 47) and regions (ISO 3166-1): the only place that knows their codes, names and aliases.

`language("Brazilian Portuguese") == "pt-BR"`, `region("South Korea") == "KR"`; what is not known is refused with
a suggestion. The data are those of langcodes (CLDR and the IANA registry) and pycountry (ISO); the tables here
hold only what these do not know.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

import pycountry
from langcodes import Language
from langcodes.tag_parser import LanguageTagError
from language_data import names as name_data  # type: ignore[import-untyped]
from language_data.util import data_filename  # type: ignore[import-untyped]

from mores.errors import InputError

LANGUAGE_ALIASES = {
    "gã": "gaa",
    "malti": "mt",  # in English also a name of Sauria Paharia
    "north macedonian": "mk",  # INCLUDE
}

REGION_ALIASES = {
    "britain": "GB",
    "burma": "MM",
    "democratic republic congo": "CD",
    "dr congo": "CD",
    "drc": "CD",
    "england": "GB",
    "great britain": "GB",
    "holland": "NL",
    "holy see": "VA",
    "hong kong sar": "HK",
    "macau": "MO",
    "macau sar": "MO",
    "macedonia": "MK",
    "northern ireland": "GB",
    "scotland": "GB",
    "uae": "AE",
    "vatican": "VA",
    "wales": "GB",
    "xkx": "XK",
}

# CLDR's names say more than people do ("Hong Kong SAR China", "Congo - Kinshasa").
SHORT_NAMES = {"CD": "DR Congo", "CG": "Republic of the Congo", "HK": "Hong Kong", "MM": "Myanmar", "MO": "Macao"}

RTL_SCRIPTS = (
    "Adlm Arab Aran Armi Avst Chrs Cprt Elym Gara Hatr Hebr Hung Khar Lydi Mand Mani Mend Merc Mero "
    "Narb Nbat Nkoo Orkh Ougr Palm Phli Phlp Phnx Prti Rohg Samr Sarb Sogd Sogo Syrc Thaa Yezi"
)

UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007"
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua980-\ua9df\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Inside of a character class: the scripts that put no space between words (Thai, Lao, Tibetan, Burmese, Khmer, Tai,
Javanese, Balinese, Japanese and Chinese)."""

_LONGEST = 80
_PRIMARY = re.compile(r"[a-z]{2,3}(-|$)")
# Private use and special codes name no language: only "und" (unknown) and "mul" (several) say something of a text.
_PRIVATE = re.compile(r"(^|-)x-|^q[a-t][a-z]\b|^(mis|zxx)\b|-(Qa[ab][a-z]|Zzzz|AA|Q[M-Z]|X[A-JL-Z]|ZZ)(-|$)")
_QUALIFIED = re.compile(r"([^(),]+)[(,]([^()]+)\)?\s*")


@lru_cache(maxsize=4096)
def language(value: str) -> str:
    """The canonical BCP 47 tag of a tag, an ISO 639 code, an English name or an autonym.

    Canonical is what CLDR says: `iw` is `he`, `cmn` is `zh`, `tl` is `fil`, `en-Latn` is `en`.
    """
    tag = _from_tag(value)
    named = None if _looks_like_code(value) else _from_name(value)
    if tag and named and tag != named and _capitalised(value):
        raise InputError(
            f"language {value!r} is the code of {_shown_language(tag)} and the name of {_shown_language(named)}; "
            f"write {tag!r} or {named!r}"
        )
    found = tag or named
    if found is None:
        example = "a BCP 47 tag such as 'pt-BR' or an English name"
        raise InputError(_unknown("language", value, _near_languages(value), example))
    return found


OWN_NAMES = {"bal": "Balochi", "rn": "Kirundi"}
"""Names that speakers use in English, where the tables have another."""


@lru_cache(maxsize=4096)
def language_name(tag: str) -> str:
    """The English name of a language, for example `Portuguese (Brazil)`."""
    known = Language.get(language(tag))
    details = [known.script_name()] if known.script else []
    details += [_territory_name(known.territory)] if known.territory else []
    name = OWN_NAMES.get(str(known.language)) or str(known.language_name())
    return f"{name} ({', '.join(details)})" if details else name


@lru_cache(maxsize=4096)
def is_rtl(tag: str | None) -> bool:
    """Whether a language is written from right to left, by its script or the likely one; False when not known."""
    if tag is None:
        return False
    return Language.get(language(tag)).maximize().script in RTL_SCRIPTS.split()


@lru_cache(maxsize=4096)
def region(value: str) -> str:
    """The ISO 3166-1 alpha-2 code (and XK for Kosovo) of an alpha-2, alpha-3 or numeric code or an English name."""
    code = _regions().get(_fold(value))
    if code is None:
        example = "an ISO 3166 code such as 'BR' or an English name"
        raise InputError(_unknown("region", value, _near_regions(value), example))
    return code


@lru_cache(maxsize=4096)
def region_name(code: str) -> str:
    """The short English name that people use, for example `South Korea`."""
    return _territory_name(region(code))


def _from_tag(value: str) -> str | None:
    if len(value) > _LONGEST:  # the parser recurses on every subtag
        return None
    try:
        parsed = Language.get(value.strip())
    except LanguageTagError:
        return None
    tag = parsed.prefer_macrolanguage().simplify_script().to_tag()
    if not parsed.is_valid() or parsed.extlangs or not _PRIMARY.match(tag) or _PRIVATE.search(tag):
        return None
    return str(tag)


def _from_name(value: str) -> str | None:
    name = value.split(";")[0]  # ISO 639-2 lists synonyms: "Dutch; Flemish"
    code = LANGUAGE_ALIASES.get(_key(name)) or _code("language", name) or _from_qualified(name)
    return _from_tag(code) if code else None


def _from_qualified(name: str) -> str | None:
    """A name with its script or region behind it, as `language_name` writes it: `Chinese (Traditional, Taiwan)`."""
    match = _QUALIFIED.fullmatch(name)
    base = _code("language", match[1]) if match else None
    if match is None or base is None:
        return None
    qualifiers = [_code("script", part) or _regions().get(_fold(part)) for part in match[2].split(",")]
    return "-".join([base, *(part or "?" for part in qualifiers)])


def _looks_like_code(value: str) -> bool:
    """Whether it is too short to be a name unless it is written as one: "ua" is no language, though Ua is."""
    return len(value.strip()) <= 3 and value.isascii() and not _capitalised(value)


def _capitalised(value: str) -> bool:
    """Whether it is written as names are; then "Mon" may be the language Mon and not the code of Mongolian."""
    return value[:1].isupper() and not value.isupper()


def _key(name: str) -> str:
    """The form in which the tries of names hold a name."""
    return str(name_data.normalize_name(" ".join(unicodedata.normalize("NFC", name).split())))


@cache
def _trie(kind: str, language: str) -> Any:
    return name_data.load_trie(data_filename(f"trie/{language}/name_to_{kind}.marisa"))


def _code(kind: str, name: str) -> str | None:
    """The code of an exact English name, or of a name in any language that has one meaning only."""
    key = _key(name)
    if re.search(r"[\0\ud800-\udfff]", key):  # the tries cannot look these up
        return None
    # Not Language.find: it takes every word that merely begins with a name ("english1").
    found = (_trie(kind, language).get(key) for language in ("en", "und"))
    return next((codes[0].decode() for codes in found if codes), None)


@cache
def _regions() -> dict[str, str]:
    """Every folded code and name of a region, and its alpha-2 code."""
    trie = _trie("territory", "en")
    codes = {country.alpha_2 for country in pycountry.countries} | {"XK"}
    known = {_fold(name): trie[name][0].decode() for name in trie.keys()}  # noqa: SIM118 - a trie is no dict
    known = {name: code for name, code in known.items() if code in codes}
    for country in pycountry.countries:
        known |= {_fold(spelling): country.alpha_2 for field, spelling in country if field != "flag"}
    return known | {"xk": "XK"} | REGION_ALIASES


def _fold(name: str) -> str:
    """A region's name without case, accents, dots, little words: `St. Kitts & Nevis` is `saint kitts nevis`."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words: list[str] = re.findall(r"\w+", re.sub(r"[.'’]", "", plain.casefold()))
    if len(words) == 1:  # perhaps a code: AND is Andorra, ST São Tomé, 76 Brazil
        return words[0].zfill(3) if words[0].isdecimal() else words[0]
    return " ".join("saint" if word == "st" else word for word in words if word not in {"the", "and", "of"})


def _territory_name(code: str) -> str:
    return SHORT_NAMES.get(code) or str(Language.make(territory=code).territory_name()).replace(" & ", " and ")


@lru_cache(maxsize=1024)
def _near_languages(value: str) -> tuple[str, ...]:
    country = _regions().get(_fold(value))
    if country:  # "jp" is no language, but its country has one
        return (_shown_language(language(str(Language.get(f"und-{country}").maximize().language))),)
    names = [value, *_close(_key(value), _trie("language", "en").keys())]
    tags = [_from_name(name) for name in names]
    return tuple(dict.fromkeys(_shown_language(tag) for tag in tags if tag))


@lru_cache(maxsize=1024)
def _near_regions(value: str) -> tuple[str, ...]:
    codes = (_regions()[name] for name in _close(_fold(value), _regions()))
    return tuple(dict.fromkeys(f"{_territory_name(code)} ({code})" for code in codes))


def _close(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that share their words with a name, or are spelt nearly like it."""
    if not 3 < len(name) < _LONGEST:  # nearly every two letters are close to some code
        return []
    names = [word for word in known if len(word) > 3]
    shared = [word for word in names if f" {name} " in f" {word} " or f" {word} " in f" {name} "]
    return [*sorted(shared, key=len), *get_close_matches(name, names, n=3, cutoff=0.75)][:3]


def _shown_language(tag: str) -> str:
    return f"{language_name(tag)} ({tag})"


def _unknown(kind: str, value: str, near: tuple[str, ...], example: str) -> str:
    shown = value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    fix = f"did you mean {' or '.join(near)}?" if near else f"use {example}"
    return f"unknown {kind} {shown!r}; {fix}"
