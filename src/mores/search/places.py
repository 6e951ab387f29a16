"""The countries that a text names, in English or in its own language."""

from __future__ import annotations

from functools import cache

from mores.culture import local_region_name, mentions
from mores.language import detect


def named_countries(text: str, language: str | None = None) -> frozenset[str]:
    """Return the codes of the countries; the language is detected where it is not known and the text is not ASCII."""
    named = {code for mention in mentions(text) for code in mention.countries}
    tag = language or (None if text.isascii() else detect([text])[0].detected)
    if tag and not tag.startswith("en"):
        named |= {code for code, name in _local_names(tag) if name in text}
    return frozenset(named)


@cache
def _local_names(tag: str) -> list[tuple[str, str]]:
    import pycountry

    names = ((land.alpha_2, local_region_name(land.alpha_2, tag)) for land in pycountry.countries)
    return [(code, name) for code, name in names if name]
