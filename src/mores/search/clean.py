"""Turns other people's texts into evidence. They are hostile: nothing invisible, endless or deceptive gets in."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from mores.search.base import Evidence, Query

LONGEST_TEXT = 2_000
LONGEST_TITLE = 300
LONGEST_SOURCE = 2_000
LONGEST_DATE = LONGEST_LICENCE = 60

# Control characters, soft hyphen, direction overrides, tags and lone surrogates: they hide words from a reader or
# show others. The joiners U+200C and U+200D stay: Persian, Hindi and emoji are spelt with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def writable(query: Query) -> Query:
    """Return the query with U+FFFD for lone surrogates (half an emoji from a model), which no file takes."""
    return query._replace(text=query.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def clean(value: object, longest: int) -> str:
    """Return a text without invisible signs and in one line, at most so long; nothing when it is no text."""
    if not isinstance(value, str):
        return ""
    text = " ".join(_HIDDEN.sub("", value[: 4 * longest]).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def web_address(value: object) -> str:
    """Return an address that a page may link to; nothing when it is not one of the web, for example `javascript:`."""
    address = clean(value, LONGEST_SOURCE + 1)
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    return address if known and len(address) <= LONGEST_SOURCE and " " not in address else ""


def evidence(text: object, title: object = "", source: str = "", date: Any = "", licence: str = "") -> Evidence | None:
    """Return one piece of evidence, cleaned; None when there is nothing to read in it."""
    body = clean(text, LONGEST_TEXT)
    if not body:
        return None
    return Evidence(
        text=body,
        title=clean(title, LONGEST_TITLE),
        source=clean(source, LONGEST_SOURCE),
        date=clean(date, LONGEST_DATE),
        licence=clean(licence, LONGEST_LICENCE),
    )
