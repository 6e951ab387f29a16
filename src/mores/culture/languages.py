"""Languages (BCP 47): their tags, names and aliases."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mores.culture.regions import (
    LONGEST,
    UnknownName,
    close,
    code_of,
    common_names,
    country_names,
    find_country,
    fold,
    key,
    territory_name,
    trie,
)
from mores.errors import InputError

if TYPE_CHECKING:
    from langcodes import Language

LANGUAGE_ALIASES = {
    "gã": "gaa",
    "malti": "mt",  # in English also a name of Sauria Paharia
    "north macedonian": "mk",  # INCLUDE
}

SEPARATE = frozenset({"id", "min"})
"""Languages that only ISO 639-3 counts as members of Malay."""

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

_PRIMARY = re.compile(r"[a-z]{2,3}(-|$)")
# Private use and special codes name no language; of these only "und" (unknown) and "mul" (several) are useful.
_PRIVATE = re.compile(r"(^|-)x-|^q[a-t][a-z]\b|^(mis|zxx)\b|-(Qa[ab][a-z]|Zzzz|AA|Q[M-Z]|X[A-JL-Z]|ZZ)(-|$)")
_QUALIFIED = re.compile(r"([^(),]+)[(,]([^()]+)(?:\)\s*)?")


@lru_cache(maxsize=4096)
def language(value: str) -> str:
    """Return the canonical BCP 47 tag of a tag, an ISO 639 code, an English name or an autonym.

    Canonical is what CLDR says: `iw` is `he`, `cmn` is `zh`, `tl` is `fil`, `en-Latn` is `en`.
    """
    if value in common_names() and value.islower():
        return value
    tag = _from_tag(value)
    # Too short for a name and not capitalised like one: "ua" is not a language, but Ua is.
    is_code = len(value.strip()) <= 3 and value.isascii() and not _capitalised(value)
    tag_of_name = None if is_code else _from_name(value)
    if tag and tag_of_name and tag != tag_of_name and _capitalised(value):
        raise InputError(
            f"language {value!r} is the code of {_language_with_tag(tag)} and the name of "
            f"{_language_with_tag(tag_of_name)}; write {tag!r} or {tag_of_name!r}"
        )
    result = tag or tag_of_name
    if result is None:
        example = "a BCP 47 tag such as 'pt-BR' or an English name"
        raise UnknownName("language", value, _near_languages, example)
    return result


OWN_NAMES = {"bal": "Balochi", "rn": "Kirundi"}
"""English names that speakers use, where the tables have others."""


@lru_cache(maxsize=4096)
def language_name(tag: str) -> str:
    """Return the English name of a language, for example `Portuguese (Brazil)`."""
    canonical = language(tag)
    if canonical in common_names():
        return common_names()[canonical][0]
    parsed = parse_tag(canonical)
    details = [parsed.script_name()] if parsed.script else []
    details += [territory_name(parsed.territory)] if parsed.territory else []
    name = OWN_NAMES.get(str(parsed.language)) or str(parsed.language_name())
    return f"{name} ({', '.join(details)})" if details else name


@lru_cache(maxsize=4096)
def base_language(tag: str) -> str:
    """Return the language of a tag without script and region: `zh` for `zh-Hant-TW`."""
    return tag.partition("-")[0].lower()


def is_rtl(tag: str | None) -> bool:
    """Return whether a language is written from right to left, by its script or its likely script; False if unknown."""
    if tag is None:
        return False
    return script(tag) in RTL_SCRIPTS.split()


@lru_cache(maxsize=1024)
def script(tag: str) -> str | None:
    """Return the script of a language, by its tag or most likely: `Cyrl` for `sr`, `Latn` for `sr-Latn`."""
    canonical = language(tag)
    return common_names()[canonical][1] if canonical in common_names() else parse_tag(canonical).maximize().script


def main_language(region: str) -> str:
    """Return the language that most people of a region speak (CLDR's likely one): `de` for `DE`, `hi` for `IN`."""
    return parse_tag(f"und-{region.partition('-')[0]}").maximize().language or "und"


def local_region_name(region: str, tag: str) -> str | None:
    """Return a country's name in a language (CLDR), for example `中国` for `CN` in `zh`; None where it has none."""
    name = str(parse_tag(f"und-{region}").territory_name(language(tag))) if "-" not in region else ""
    is_english = name.isascii() and script(tag) != "Latn"  # what langcodes gives where CLDR has no name
    return None if is_english else name


@lru_cache(maxsize=4096)
def macrolanguage(tag: str) -> str | None:
    """Return the macrolanguage of a language, such as `no` for `nn` and `ku` for `ckb`, or None."""
    base = language(tag).partition("-")[0]
    if base in common_names():
        return common_names()[base][2] or None
    from langcodes.data_dicts import MACROLANGUAGES

    name = None if base in SEPARATE else MACROLANGUAGES.get(base)
    return language(name) if name else None


@lru_cache(maxsize=4096)
def accepts(expected: str, actual: str) -> bool:
    """Return whether a text in the language `actual` counts as being in the `expected` one.

    A macrolanguage accepts its members (ISO 639-3), and a tag without a script any script; regions do not matter.
    """
    expected_tag, actual_tag = language(expected), language(actual)
    if base_language(expected_tag) != base_language(actual_tag) and expected_tag != macrolanguage(actual):
        return False
    return named_script(expected_tag) is None or named_script(actual_tag) in (None, named_script(expected_tag))


def named_script(tag: str) -> str | None:
    """Return the script that a canonical tag names: `Hant` for `zh-Hant-TW`, None for `zh`."""
    return next((part for part in tag.split("-")[1:] if len(part) == 4 and part.isalpha()), None)


def parse_tag(tag: str) -> Language:
    """Return a tag in its parts; what knows them is imported here, because few texts need it and it takes 0.1 s."""
    from langcodes import Language

    return Language.get(tag)


def _from_tag(value: str) -> str | None:
    if len(value) > LONGEST:  # the parser recurses on every subtag
        return None
    from langcodes.tag_parser import LanguageTagError

    try:
        parsed = parse_tag(value.strip())
    except LanguageTagError:
        return None
    tag = parsed.prefer_macrolanguage().simplify_script().to_tag()
    if not parsed.is_valid() or parsed.extlangs or not _PRIMARY.match(tag) or _PRIVATE.search(tag):
        return None
    return str(tag)


def _from_name(value: str) -> str | None:
    name = value.split(";")[0]  # ISO 639-2 lists synonyms: "Dutch; Flemish"
    code = LANGUAGE_ALIASES.get(key(name)) or code_of("language", name) or _from_qualified(name)
    return _from_tag(code) if code else None


def _from_qualified(name: str) -> str | None:
    """Return a name followed by its script or region, as `language_name` writes it: `Chinese (Traditional, Taiwan)`."""
    match = _QUALIFIED.fullmatch(name) if len(name) <= LONGEST else None
    base = code_of("language", match[1]) if match else None
    if match is None or base is None:
        return None
    qualifiers = [code_of("script", part) or find_country(part) for part in match[2].split(",")]
    return "-".join([base, *(part or "?" for part in qualifiers)])


def _capitalised(value: str) -> bool:
    """Return whether it is capitalised like a name: "Mon" may be the language Mon, not the code of Mongolian."""
    return value[:1].isupper() and not value.isupper()


@lru_cache(maxsize=1024)
def _near_languages(value: str) -> tuple[str, ...]:
    if len(value) > LONGEST:
        return ()
    country = country_names().get(fold(value))
    if country:  # "jp" is not a language, but its country has one
        return (_language_with_tag(language(str(parse_tag(f"und-{country}").maximize().language))),)
    names = [value, *close(key(value), trie("language", "en").keys())]
    tags = [_from_name(name) for name in names]
    return tuple(dict.fromkeys(_language_with_tag(tag) for tag in tags if tag))


def _language_with_tag(tag: str) -> str:
    return f"{language_name(tag)} ({tag})"
