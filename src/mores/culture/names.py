"""Lookup of names: the tries of langcodes, similar names, the message about an unknown name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

from language_data import names as name_data  # type: ignore[import-untyped]
from language_data.util import data_filename  # type: ignore[import-untyped]

LONGEST = 80
"""No name or tag is longer."""


def key(name: str) -> str:
    """The form in which the tries hold a name."""
    return str(name_data.normalize_name(" ".join(unicodedata.normalize("NFC", name).split())))


@cache
def trie(kind: str, language: str) -> Any:
    """Codes by name, for a kind (language, script, territory) and a language, `und` for all of them."""
    return name_data.load_trie(data_filename(f"trie/{language}/name_to_{kind}.marisa"))


def code_of(kind: str, name: str) -> str | None:
    """The code of an exact English name, or of a name in any language that has one meaning only."""
    wanted = key(name)
    if re.search(r"[\0\ud800-\udfff]", wanted):  # the tries cannot look these up
        return None
    # Not Language.find: it takes every word that merely begins with a name ("english1").
    found = (trie(kind, language).get(wanted) for language in ("en", "und"))
    return next((codes[0].decode() for codes in found if codes), None)


def close(name: str, known: Iterable[str], cutoff: float = 0.75) -> list[str]:
    """Up to three known names that share their words with a name, or else are spelt nearly like it."""
    if not 3 < len(name) < LONGEST:  # nearly every two letters are close to some code
        return []
    names = [word for word in known if len(word) > 3]
    shared = [word for word in names if f" {name} " in f" {word} " or f" {word} " in f" {name} "]
    if shared:
        return sorted(shared, key=lambda word: abs(len(word) - len(name)))[:3]
    return get_close_matches(name, names, n=3, cutoff=cutoff)


def unknown(kind: str, value: str, near: Iterable[str], example: str) -> str:
    """The message about an unknown value: a suggestion, or what is expected."""
    shown = value if len(value) <= LONGEST else value[:LONGEST] + "…"
    meant = " or ".join(near)
    fix = f"did you mean {meant}?" if meant else f"use {example}"
    return f"unknown {kind} {shown!r}; {fix}"
