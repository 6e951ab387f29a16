"""Expressions by language, in TOML files beside the sources, that texts are searched for."""

from __future__ import annotations

import re
from functools import cache

from mores import culture
from mores.io.values import read_packaged_toml


def matches(table: str, kind: str, language: str, text: str, *, at_start: bool = False) -> bool:
    """Return whether a text contains an expression of that kind and language, or starts with one."""
    pattern = _pattern(table, kind, language)
    return pattern is not None and (pattern.match if at_start else pattern.search)(text) is not None


@cache
def _pattern(table: str, kind: str, language: str) -> re.Pattern[str] | None:
    """Return the expressions of a language as one, whatever its region.

    Serbian in Latin letters is read as Croatian, whose exams it shares.
    """
    primary = language.split("-")[0]
    key = "hr" if primary == "sr" and culture.script(language) == "Latn" else primary
    expressions = read_packaged_toml("mores.factory.sources", f"{table}.toml")[kind].get(key)
    return re.compile("|".join(f"(?:{e})" for e in expressions), re.IGNORECASE | re.DOTALL) if expressions else None
