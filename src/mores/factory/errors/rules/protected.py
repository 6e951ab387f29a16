"""Parts of a text that no rule may change: sentences about the writer, links, code, numbers of lists and sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from mores.factory.errors.rules.edit import data

UNSPACED = {"zh", "ja", "ko"}
"""Languages without spaces around words of the first person."""

_SENTENCE = re.compile(r"[^.!?。！？।॥؟\n]+(?:\.(?=\w)[^.!?。！？।॥؟\n]*)*[.!?。！？।॥؟]*")
_VERBATIM = re.compile(
    r"```.*?(?:```|$)|`[^`\n]+`|(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.\w+|(?<!\w)[@#]\w+|</?\w[^<>\n]*>"
    r"|(?<![\w-])[\w-]{1,64}\.(?:com|org|net|edu|gov|co|de|jp|cn|kr|in|ru|es|fr|html?|php|pdf)\b\S*",
    re.DOTALL | re.IGNORECASE,
)
_LIST_MARK = re.compile(
    r"(?:^|(?<=[\s.;:,。；：、，]))[ \t>*#_•·-]{0,8}(?:\(\d{1,3}\)|（\d{1,3}）|\[\d{1,3}\]|\d{1,3}[)）\]])(?!\d)"
    r"|^[ \t>*#_•·-]{0,8}\d{1,3}(?:\.\d{1,2}){0,4}[ \t]?[.:、．。-](?!\d)(?=[*_ \t]{0,8}\S)",
    re.MULTILINE,
)
_CITED_YEAR = re.compile(r"[(（\[](?:[^()（）\[\]\d]{0,60}[ ,，])?(?:1[5-9]|20)\d\d[a-z]?(?:, p+\. ?\d+)?[)）\]]")
_SEQUENCE = re.compile(r"\s*\d{1,2}(?:[\s,;.>→–-]+\d{1,2})+\s*\.?\s*\Z")
"""An answer that only orders what was numbered: 2, 4, 1, 3."""
_DIGITS = re.compile(r"\d[\d.,:/-]*")


@lru_cache(maxsize=64)
def protected(text: str, language: str | None) -> bytes:
    """Return for each code point of a text whether it must stay unchanged."""
    if _SEQUENCE.match(text):
        return b"\1" * len(text)
    stays = bytearray(len(text))
    for start, end in (
        *(match.span() for pattern in (_VERBATIM, _LIST_MARK, _CITED_YEAR) for match in pattern.finditer(text)),
        *(match.span(1) for match in _label().finditer(text)),
        *_sentences(text, (language or "").split("-")[0]),
    ):
        stays[start:end] = b"\1" * (end - start)
    return bytes(stays)


def _sentences(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield sentences about the writer, and the digits of those that name a publication."""
    first_person, published = _first_person(language), _published()
    for sentence in _SENTENCE.finditer(text):
        if first_person and first_person.search(sentence[0]):
            yield sentence.span()
        elif published.search(sentence[0]):
            for digits in _DIGITS.finditer(sentence[0]):
                yield sentence.start() + digits.start(), sentence.start() + digits.end()


@cache
def _first_person(language: str) -> re.Pattern[str] | None:
    words = data("protected")["first_person"].get(language)
    if words is None:
        return None
    flags = re.NOFLAG if language == "en" else re.IGNORECASE
    return re.compile(words if language in UNSPACED else rf"(?<![\w’'])(?:{words})(?!\w)", flags)


@cache
def _published() -> re.Pattern[str]:
    return re.compile(data("protected")["published"]["any"], re.IGNORECASE)


@cache
def _label() -> re.Pattern[str]:
    """Return a pattern of the numbers of pages, steps and the like."""
    return re.compile(rf"(?<!\w)(?:{data('protected')['label']['any']})\s?(\d[\d.-]*)", re.IGNORECASE)
