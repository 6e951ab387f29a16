"""Forum posts without links, greetings, list numbers, and without what writers say about themselves.

A changed list number is not a cultural error, and neither is a changed age of somebody's daughter. The words that mark
such paragraphs are in `posts.toml`, by language; in other languages, paragraphs stay.
"""

from __future__ import annotations

import re

from mores.factory.sources.options import matches

SHORTEST = 100
"""Minimum bytes of UTF-8 of an answer; a shorter one is a quip."""
LONGEST_GREETING = 80
"""Maximum characters of a paragraph that only greets; a longer one says something else too."""
MOST_PERSONAL = 0.5
"""Maximum share of a post that may be left out; beyond it, the rest is incoherent."""

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
    """Return the impersonal paragraphs of an answer, without list markers; None if too little is left."""
    paragraphs = [part for part in _paragraphs(text) if not _is_greeting(part, language)]
    kept = [part for part in paragraphs if not matches("posts", "first_person", language, part)]
    answer = "\n".join(_INLINE.sub("", _MARKER.sub("", part)) for part in kept)
    is_enough = len(answer) >= (1 - MOST_PERSONAL) * len("\n".join(paragraphs))
    return answer if is_enough and len(answer.encode()) >= SHORTEST else None


def clean_question(text: str, language: str) -> str:
    """Return a question without links and greetings; what writers say about themselves may be part of it."""
    paragraphs = [part for part in _paragraphs(text) if not _is_greeting(part, language)]
    return "\n".join(paragraphs) or text.strip()


def _paragraphs(text: str) -> list[str]:
    stripped = (" ".join(_BLANK.sub(" ", line).split()) for line in text.splitlines())
    return [line for line in stripped if any(map(str.isalnum, line)) and not _CONTACT.search(line)]


def _is_greeting(paragraph: str, language: str) -> bool:
    return len(paragraph) <= LONGEST_GREETING and matches("posts", "greetings", language, paragraph, at_start=True)
