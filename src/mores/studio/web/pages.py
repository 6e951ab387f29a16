"""Drawing pages: one Jinja environment for the studio and the kinds of campaign, in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_datetime, format_timedelta
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent
from babel.units import format_unit
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined, Template

from mores import formatting as form
from mores.culture import is_rtl, language_name, region_name
from mores.studio.campaigns import all_kinds
from mores.studio.figures import show_figure
from mores.studio.marks import as_json, as_shown
from mores.studio.phrase import Phrase, with_missing

WEB = Path(__file__).parent
STATIC = WEB / "static"
LOCALES = WEB / "locales"
DEFAULT = "en"


@cache
def list_locales() -> dict[str, str]:
    """Return the languages of the pages, with their names in themselves."""
    codes = [DEFAULT, *sorted(path.stem for path in LOCALES.glob("*.po"))]
    return {code: Locale.parse(code).get_display_name(code) or code for code in codes}


@cache
def translate(locale: str) -> Mapping[str, str]:
    """Return the texts of the pages in a language; empty for English, and where a text is not translated."""
    path = LOCALES / f"{locale}.po"
    if not path.exists():
        return {}
    with path.open("rb") as file:
        catalog: Catalog = read_po(file, locale=locale)
    return {str(message.id): str(message.string) for message in catalog if message.id and message.string}


@cache
def hash_static_files() -> str:
    """Return a hash of all style sheets and scripts; it stands in their addresses, so that browsers can keep them."""
    together = b"\0".join(path.read_bytes() for path in sorted(STATIC.iterdir()))
    return blake2b(together, digest_size=6).hexdigest()


def region_in(code: str, locale: str) -> str:
    """Return a region's name in a language of the pages; a part of a country is named as everywhere in Mores."""
    return Locale.parse(locale).territories.get(code) or region_name(code)


def language_in(tag: str, locale: str) -> str:
    """Return a language's name in a language of the pages."""
    known = find_locale(tag)
    name = known.get_display_name(locale) if known else Locale.parse(locale).languages.get(tag)
    return name or language_name(tag)


@lru_cache(maxsize=10_000)
def find_locale(tag: str) -> Locale | None:
    """Return Babel's record of a language, or None; of one that it does not know, Babel looks at every name it has."""
    try:
        return Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def choose_locale(wanted: str, accepted: str) -> str:
    """Return the language of the pages: the one that a person chose, or the best that their browser asks for."""
    if wanted in list_locales():
        return wanted
    for part in accepted[:200].split(","):
        code = part.split(";")[0].strip().split("-")[0].lower()
        if code in list_locales():
            return code
    return DEFAULT


@cache
def translator(locale: str) -> Callable[..., str]:
    """Return the function that translates a text into a language: `_` of the templates."""
    texts = translate(locale)

    def say(text: str, **values: Any) -> str:
        """Return a text in this language; plain, so that it is escaped like any other, whoever wrote what is in it."""
        if not isinstance(text, Phrase):
            return texts.get(text, text) % values if values else texts.get(text, text)
        shown = {name: put(value) for name, value in text.values.items()}
        sentence = texts.get(text.template, text.template)
        return sentence.format(**shown) if shown else sentence

    def put(value: Any) -> Any:
        """Return a value of a phrase in this language."""
        if isinstance(value, str):
            return say(value)
        return format_decimal(value, locale=locale) if type(value) is int else value

    return say


@cache
def environment(locale: str) -> Environment:
    """Return the templates, in one language."""
    kinds = {kind.name: FileSystemLoader(kind.folder) for kind in all_kinds()}
    loader = ChoiceLoader([FileSystemLoader(WEB / "templates"), PrefixLoader(kinds)])
    env = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
        auto_reload=False,
    )
    env.globals["_"] = translator(locale)
    env.filters |= {
        "as_shown": as_shown,
        "marks": as_json,
        "code": form.show_code,
        "number": lambda value: format_decimal(value, locale=locale),
        "share": lambda value: format_percent(value, "#,##0%", locale=locale),
        "date": lambda value: format_datetime(value, "medium", locale=locale),
        "since": lambda value: format_timedelta(value, locale=locale),
        "figure": show_figure,
        "with_missing": lambda shown, figure: with_missing(shown, figure, form.number),
        "share_of": lambda share: f"{form.percent(share.value, 0)} ({form.shares(share.low, share.high, 0)})",
        "spent": lambda seconds: show_duration(seconds, locale),
        "language_name": lambda tag: language_in(tag, locale),
        "region_name": lambda code: region_in(code, locale),
        "direction": lambda tag: "rtl" if tag and is_rtl(tag) else "ltr",
    }
    env.globals |= {"now": lambda: datetime.now(UTC)}
    env.globals |= {"locale": locale, "direction": "rtl" if is_rtl(locale) else "ltr", "locales": list_locales()}
    return env


def show_duration(seconds: float, locale: str = DEFAULT) -> str:
    """Return a time that somebody spent, such as `45 sec`, `3 min 20 sec`, `2 hr 5 min` in English."""
    whole = round(seconds)
    units = ["second"] if whole < 60 else ["minute", "second"] if whole < 3600 else ["hour", "minute"]
    sizes = {"second": whole % 60, "minute": whole // 60 % 60, "hour": whole // 3600}
    return " ".join(format_unit(sizes[unit], f"duration-{unit}", "short", locale=locale) for unit in units)


def render(locale: str, *templates: str, **values: Any) -> str:
    """Return a page as HTML, by the first of the templates that there is."""
    return _choose(environment(locale), templates).render(**values)


@cache
def _choose(environment: Environment, templates: tuple[str, ...]) -> Template:
    return environment.select_template(list(templates))
