"""Lookup of names: the tries of langcodes, similar names, the error about an unknown name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

from language_data import names as name_data  # type: ignore[import-untyped]
from language_data.util import data_filename  # type: ignore[import-untyped]

from mores.errors import InputError

LONGEST = 80
"""No name or tag is longer."""


def key(name: str) -> str:
    """Return a name in the form that the tries use."""
    return str(name_data.normalize_name(" ".join(unicodedata.normalize("NFC", name).split())))


@cache
def trie(kind: str, language: str) -> Any:
    """Return codes by name, for a kind (language, script, territory) and a language; `und` is all languages."""
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
