"""Finds a quoted span in the side that it was quoted from.

First exactly; then without the differences that models introduce when they copy: case, width and other
compatibility forms, composed or decomposed accents, white space, kinds of quotation marks and dashes, invisible
characters. Offsets are code points of the original, and `side[start:end]` is what the located error quotes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from mores.metric.schema import WrittenError
from mores.types import Error, Sample

_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼ`´", "'") | dict.fromkeys("“”„‟″«»「」『』", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese: scripts that put no space between words."""
_INVISIBLE = {"\u00ad", "\u034f", "\u061c", "\u180e"}


def align(errors: Iterable[WrittenError], sample: Sample) -> tuple[Error, ...]:
    """Locate every error. A quote without an occurrence means the first place that no error has taken yet."""
    taken: set[tuple[str, tuple[int, int]]] = set()
    located = []
    for error in errors:
        places = candidates(error.quote, sample.side(error.side))
        if error.occurrence:
            span = _nth(places, error.occurrence)
        else:
            free = (place for spans in places for place in spans if (error.side, place) not in taken)
            span = next(free, None)
        if span:
            taken.add((error.side, span))
        located.append(_error(error, span, sample))
    return tuple(located)


def find(quote: str, text: str, nth: int = 1) -> tuple[int, int] | None:
    """The half-open span of the nth occurrence; None when there is none."""
    return _nth(candidates(quote, text), nth)


def candidates(quote: str, text: str) -> Iterator[list[tuple[int, int]]]:
    """Where the quote may be, most trusted first: exact matches before normalised ones, whole words before parts.

    The text is normalised only if there is no exact match: most quotes have one, and normalising is costly.
    """
    if not quote.strip():
        return
    exact = list(_exact(quote, text))
    yield _whole(exact, text)
    normalised = list(_normalised(quote, text))
    yield _whole(normalised, text)
    yield exact
    yield normalised


def _error(error: WrittenError, span: tuple[int, int] | None, sample: Sample) -> Error:
    start, end = span or (None, None)
    return Error(
        side=error.side,
        start=start,
        end=end,
        quote=sample.side(error.side)[start:end] if span else error.quote,
        severity=error.severity,
        type=error.type,
        explanation=error.explanation,
        correction=error.correction,
        evidence=tuple(dict.fromkeys(number for number in error.evidence if number <= len(sample.evidence))),
    )


def _nth(places: Iterable[list[tuple[int, int]]], nth: int) -> tuple[int, int] | None:
    return next((spans[nth - 1] for spans in places if len(spans) >= nth), None)


def _whole(spans: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """The spans that do not cut a word: a quoted `he` is not the one in `The`."""
    return [(start, end) for start, end in spans if not _cuts(text, start) and not _cuts(text, end)]


def _cuts(text: str, position: int) -> bool:
    """Whether this position is inside a word or an accented letter."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if unicodedata.combining(after):
        return True
    return before.isalnum() and after.isalnum() and not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _exact(quote: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))


def _normalised(quote: str, text: str) -> Iterator[tuple[int, int]]:
    folded_quote = "".join(form for form, _, _ in _units(quote)).strip()
    if not folded_quote:
        return
    folded, starts, ends = _fold(text)
    for first, last in _exact(folded_quote, folded):
        start, end = starts.get(first), ends.get(last)
        if start is not None and end is not None:  # not in the middle of a ligature or an accented letter
            yield start, end


@lru_cache(maxsize=64)
def _fold(text: str) -> tuple[str, dict[int, int], dict[int, int]]:
    """The normalised text, and where its units begin and end in the original, by position in the normalised."""
    parts: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    position = 0
    for form, start, end in _units(text):
        if not form:
            continue
        starts[position] = start
        position += len(form)
        ends[position] = end
        parts.append(form)
    return "".join(parts), starts, ends


def _units(text: str) -> Iterator[tuple[str, int, int]]:
    """Base characters with their combining marks, and runs of white space, each normalised."""
    start = 0
    while start < len(text):
        end = start + 1
        if text[start].isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            yield " ", start, end
        else:
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            yield _form(text[start:end]), start, end
        start = end


def _form(cluster: str) -> str:
    visible = "".join(c for c in cluster if c not in _INVISIBLE and unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKD", visible).casefold()
    return unicodedata.normalize("NFKD", folded).translate(_SAME)
