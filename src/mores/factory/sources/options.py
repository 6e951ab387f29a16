"""Exam questions that cannot stand alone: they speak of their options, or of a picture or a text that is not there.

"Which of the following is true?" asks nothing without its options, and so do a sentence to complete and "which is not".
What gives this away is in `options.toml`, by language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from mores import culture

_QUESTION = re.compile(r"[?？؟՞፧;][\s\"'“”„«»’)\]]*$|[?？؟]\s*[\"“„«‘(]")
"""A question mark at the end (the Greek one is a semicolon), or before a quotation that belongs to the question."""
_FULL_STOP = re.compile(r"(?:(?<=[^\W\d_]{3})|(?<=\w\w[”“\"»]))\.$")
FEW_WORDS = 4
"""Up to this many words are no sentence, and need no full stop."""
_GAP = re.compile(r"_{2,}|\.{3,}|…|\(\s*\)|<mask>")


def needs_options(question: str, options: Iterable[str], language: str) -> bool:
    """Return whether a question is none without its options."""
    is_fragment = not _QUESTION.search(question) or bool(_GAP.search(question))
    return is_fragment or _matches("needs_options", language, question) or refers_to_options(options, language)


def refers_to_options(options: Iterable[str], language: str) -> bool:
    """Return whether one of the options stands for others: "all of the above", "A and B"."""
    kinds = ("any", language)
    return any(_matches("refers_to_options", kind, option) for option in options for kind in kinds)


def without_full_stops(options: Iterable[str]) -> list[str]:
    """Return the options without a full stop at the end, if one of them is too short for a sentence."""
    texts = list(options)
    is_list = any(len(text.split()) <= FEW_WORDS for text in texts)
    return [_FULL_STOP.sub("", text) for text in texts] if is_list else texts


def lacks_material(question: str, language: str) -> bool:
    """Return whether a question is about a picture, a map, a table or a text that is not part of it."""
    return _matches("missing", language, question)


def _matches(kind: str, language: str, text: str) -> bool:
    pattern = _pattern(kind, language)
    return pattern is not None and pattern.search(text) is not None


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Return the expressions of a language as one, whatever its region."""
    expressions = _data()[kind].get(_key(language))
    return re.compile("|".join(f"(?:{e})" for e in expressions), re.IGNORECASE | re.DOTALL) if expressions else None


def _key(language: str) -> str:
    """Serbian in Latin letters is read as Croatian, whose exams it shares."""
    primary = language.split("-")[0]
    return "hr" if primary == "sr" and culture.script(language) == "Latn" else primary


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("mores.factory.sources").joinpath("options.toml").read_text("utf-8"))
