"""Names of languages, regions and models, and the direction in which a text runs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar
from urllib.parse import urlsplit

from mores.culture import language_name, region_name
from mores.errors import InputError

T = TypeVar("T")

LONG = 1200
"""A text with more code points is folded or scrolls."""
NAMES: dict[str, Callable[[str], str]] = {"language": language_name, "region": region_name, "subregion": region_name}
OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")


def look_up(find: Callable[[str], T], code: str | None) -> T | None:
    """Return what is known about a code, if it is valid; a page must not fail because of one."""
    if not code:
        return None
    with suppress(InputError):
        return find(code)
    return None


def group_name(grouping: str, group: str) -> str:
    """Return the English name of a language or region; any other group unchanged."""
    if not group:
        return "not given"
    return (look_up(NAMES[grouping], group) if grouping in NAMES else None) or group


def numbered(names: Iterable[str]) -> Iterator[str]:
    """Yield names; one that comes again has a number: `a`, `a #2`."""
    seen = Counter[str]()
    for name in names:
        seen[name] += 1
        yield f"{name} #{seen[name]}" if seen[name] > 1 else name


def without_overrides(text: str) -> str:
    """Return the text without characters that turn the direction of the words after it."""
    return OVERRIDES.sub("", text)


def isolated(name: str) -> str:
    """Return a name whose letters cannot turn the direction of the sentence around it."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def direction(text: str) -> str:
    """Return the direction of most letters: an Arabic question may begin with an English name or our instruction."""
    kinds = Counter(unicodedata.bidirectional(char) for char in text[:LONG])
    right = kinds["R"] + kinds["AL"]
    return "auto" if not right + kinds["L"] else "rtl" if right > kinds["L"] else "ltr"


def is_web_address(source: str) -> bool:
    """Return whether a source is an http or https address with a host, without anything that an address cannot have."""
    if len(source) > 2000 or any(char.isspace() or not char.isprintable() for char in source):
        return False
    try:
        parts = urlsplit(source)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False
