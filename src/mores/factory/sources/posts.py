"""Posts of forums without links, greetings, list numbers, and without what writers say of themselves.

A changed list number is no cultural error, and neither is a changed age of somebody's daughter. The words that give
such paragraphs away are in `posts.toml`, by language; where it has none, paragraphs stay.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

SHORTEST = 100
"""Bytes of UTF-8 that an answer has at least: fewer are a quip."""
LONGEST_GREETING = 80
"""Characters of a paragraph that only greets; a longer one goes on to say something."""
MOST_PERSONAL = 0.5
"""Share of a post that may be left out; what is left of others has lost its thread."""

_CONTACT = re.compile(
    r"https?://|www\.|\b[\w-]+(\.[\w-]+)*\.(com|net|org|info|co\.kr|go\.kr|or\.kr|co\.jp|ru|de|es|hu|il|cn|in)\b"
    r"|\d{2,4}-\d{3,4}-\d{4}"
)
"""A link or a telephone number."""
_MARKER = re.compile(r"^(?:[-–—•*·▪◦○●]+|\(?\d{1,2}[.)、，ـ:-]+\)?(?!\d)|[IVX]{1,4}\.|[a-z]\))\s*")
_INLINE = re.compile(r"(?<=[。！？；])\s*\d{1,2}[，、.)）]")
"""A list number within a paragraph of Chinese."""
_BLANK = re.compile(r"[\u200b-\u200f\ufeff\u00a0\u3000]")


def clean_answer(text: str, language: str) -> str | None:
    """The paragraphs of an answer that tell of the world, without list markers; None where too little is left."""
    paragraphs = [part for part in _paragraphs(text) if not _is_greeting(part, language)]
    kept = [part for part in paragraphs if not _matches("first_person", language, part)]
    answer = "\n".join(_INLINE.sub("", _MARKER.sub("", part)) for part in kept)
    is_enough = len(answer) >= (1 - MOST_PERSONAL) * len("\n".join(paragraphs))
    return answer if is_enough and len(answer.encode()) >= SHORTEST else None


def clean_question(text: str, language: str) -> str:
    """Return a question without links and greetings; what writers say of themselves may be what they ask about."""
    paragraphs = [part for part in _paragraphs(text) if not _is_greeting(part, language)]
    return "\n".join(paragraphs) or text.strip()


def _paragraphs(text: str) -> list[str]:
    stripped = (" ".join(_BLANK.sub(" ", line).split()) for line in text.splitlines())
    return [line for line in stripped if any(map(str.isalnum, line)) and not _CONTACT.search(line)]


def _is_greeting(paragraph: str, language: str) -> bool:
    return len(paragraph) <= LONGEST_GREETING and _matches("greetings", language, paragraph)


def _matches(kind: str, language: str, paragraph: str) -> bool:
    pattern = _pattern(kind, language)
    return pattern is not None and pattern.search(paragraph) is not None


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Greetings stand at the start of a paragraph, the first person anywhere."""
    expressions = _data()[kind].get(language.split("-")[0])
    start = "^" if kind == "greetings" else ""
    return re.compile(f"{start}(?:{'|'.join(expressions)})", re.IGNORECASE) if expressions else None


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("mores.factory.sources").joinpath("posts.toml").read_text("utf-8"))
