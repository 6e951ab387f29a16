"""Exam questions that cannot stand alone: they refer to their options, or to a picture or a text that is missing.

"Which of the following is true?" asks nothing without its options; neither does a sentence to complete, nor "which is
not". The expressions that give this away are in `options.toml`, by language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from mores import culture
from mores.io.values import read_packaged_toml

_QUESTION = re.compile(r"[?？؟՞፧;][\s\"'“”„«»’)\]]*$|[?？؟]\s*[\"“„«‘(]")
"""A question mark at the end (the Greek one is a semicolon), or before a quotation that belongs to the question."""
_FULL_STOP = re.compile(r"(?:(?<=[^\W\d_]{3})|(?<=\w\w[”“\"»]))\.$")
FEW_WORDS = 4
"""Up to this many words are not a sentence, and need no full stop."""
_GAP = re.compile(r"_{2,}|\.{3,}|…|\(\s*\)|<mask>")


def needs_options(question: str, options: Iterable[str], language: str) -> bool:
    """Return whether a question makes no sense without its options."""
    is_fragment = not _QUESTION.search(question) or bool(_GAP.search(question))
    return (
        is_fragment or matches("options", "needs_options", language, question) or refers_to_options(options, language)
    )


def refers_to_options(options: Iterable[str], language: str) -> bool:
    """Return whether one of the options stands for others: "all of the above", "A and B"."""
    tags = ("any", language)
    return any(matches("options", "refers_to_options", tag, option) for option in options for tag in tags)


def without_full_stops(options: Iterable[str]) -> list[str]:
    """Return the options without a full stop at the end, if one of them is too short for a sentence."""
    texts = list(options)
    is_list = any(len(text.split()) <= FEW_WORDS for text in texts)
    return [_FULL_STOP.sub("", text) for text in texts] if is_list else texts


def lacks_material(question: str, language: str) -> bool:
    """Return whether a question is about a picture, a map, a table or a text that is missing."""
    return matches("options", "missing", language, question)


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
