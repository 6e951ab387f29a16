"""Finds a quoted span in the side that it was quoted from.

First exactly; then without the differences that models introduce when they copy: case, width and other
compatibility forms, composed or decomposed accents, white space, kinds of quotation marks and dashes, invisible
characters. Offsets are code points of the original, and `side[start:end]` is what the located error quotes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from mores.metric.schema import WrittenError
from mores.types import Error, Sample

_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼ`´", "'") | dict.fromkeys("“”„‟″«»「」『』", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)
_LINKERS = "\u1039\u17d2\u200d"
"""Burmese virama, Khmer coeng, zero-width joiner: what follows is written together with what is before."""
_TRAILING = re.compile("[\u0e33\u0eb3\u200d\U0001f3fb-\U0001f3ff]")
"""Thai and Lao am, half of which stands over the letter before; what joins the next one; the skin tones of emoji."""
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
"""Half a flag."""
_CONTINUES = re.compile(r"(?<=\s)\s|(?<=\S)(?!\s)[\u0300-\U0010ffff]")
"""White space after white space, and what may be a combining mark."""
_LONG = 9
"""Characters of a unit that is not remembered: no text has it by chance."""
_INVISIBLE = {"\u00ad", "\u034f", "\u061c", "\u180e"}


def align(errors: Iterable[WrittenError], sample: Sample, *, share: bool = False) -> tuple[Error, ...]:
    """Locate every error. A quote without an occurrence means the first place that no error has taken yet.

    Where all are taken, the error has no place, or with `share` that of the first: a constrained model cannot help
    quoting words of the text, however often it says the same.
    """
    taken: set[tuple[str, tuple[int, int]]] = set()
    left: dict[tuple[str, str], Iterator[tuple[int, int]]] = {}  # what was passed over once is taken for good
    located = []
    for error in errors:
        text = sample.side(error.side)
        if error.occurrence:
            span = _nth(candidates(error.quote, text), error.occurrence)
        elif (span := _first(error.quote, text)) is None or (error.side, span) in taken:
            places = candidates(error.quote, text)
            places_left = left.setdefault((error.side, error.quote), chain.from_iterable(places))
            free = (place for place in places_left if (error.side, place) not in taken)
            span = next(free, None) or (find(error.quote, text) if share else None)
        if span:
            taken.add((error.side, span))
        located.append(_error(error, span, sample))
    return tuple(located)


def _first(quote: str, text: str) -> tuple[int, int] | None:
    """Return the first exact occurrence if it cuts no word, as that of most quotes: nothing is more trusted."""
    start = text.find(quote) if quote.strip() else -1
    end = start + len(quote)
    return None if start < 0 or cuts(text, start) or cuts(text, end) else (start, end)


def find(quote: str, text: str, nth: int = 1) -> tuple[int, int] | None:
    """Return the half-open span of the nth occurrence; None when there is none."""
    return _nth(candidates(quote, text), nth)


def candidates(quote: str, text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield where the quote may be, most trusted first: exact matches before normalised ones, whole words before parts.

    The text is normalised only if there is no exact match: most quotes have one, and normalising is costly.
    """
    if not quote.strip():
        return
    exact = _spans(_exact, quote, text)
    yield exact.whole
    normalised = _spans(_normalised, quote, text)
    yield normalised.whole
    yield exact.spans
    yield normalised.spans


class _Spans(NamedTuple):
    spans: list[tuple[int, int]]
    whole: list[tuple[int, int]]
    """Those that do not cut a word: a quoted `he` is not the one in `The`."""


@lru_cache(maxsize=64)  # a report may quote the same words very often
def _spans(find: Callable[[str, str], Iterator[tuple[int, int]]], quote: str, text: str) -> _Spans:
    spans = list(find(quote, text))
    return _Spans(spans, [(start, end) for start, end in spans if not cuts(text, start) and not cuts(text, end)])


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
        evidence=error.evidence and tuple(dict.fromkeys(n for n in error.evidence if n <= len(sample.evidence))),
    )


def _nth(places: Iterable[list[tuple[int, int]]], nth: int) -> tuple[int, int] | None:
    return next((spans[nth - 1] for spans in places if len(spans) >= nth), None)


def cuts(text: str, position: int) -> bool:
    """Return whether this position is inside a word, an accented letter or an emoji."""
    if not 0 < position < len(text) or text[position - 1].isspace():
        return False
    before, after = text[position - 1], text[position]
    if _is_mark(after) or _TRAILING.match(after) or before in _LINKERS:
        return True
    return (_in_word(before) and _in_word(after)) or bool(_FLAG.match(before) and _FLAG.match(after))


@lru_cache(maxsize=8192)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


@lru_cache(maxsize=8192)
def _in_word(character: str) -> bool:
    """Return whether it is part of a word that spaces separate: a letter, a digit, a mark or an invisible sign."""
    from mores.culture import UNSPACED

    if re.match(f"[{UNSPACED}]", character) or "\ufe00" <= character <= "\ufe0f":  # these choose the look of an emoji
        return False
    return character.isalnum() or unicodedata.category(character) in {"Mn", "Mc", "Cf"}


def _exact(quote: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))


def _normalised(quote: str, text: str) -> Iterator[tuple[int, int]]:
    folded_quote = _fold(quote).text.strip()
    if not folded_quote or not (found := list(_exact(folded_quote, _fold(text).text))):
        return
    starts, ends = _places(text)
    for first, last in found:
        start, end = starts.get(first), ends.get(last)
        if start is not None and end is not None:  # not in the middle of a ligature or an accented letter
            yield start, end


class _Folded(NamedTuple):
    text: str
    forms: list[str]
    """Its units: runs of white space, and characters with their combining marks."""
    bounds: list[int]
    """Where these begin in the original, and its end."""


@lru_cache(maxsize=64)
def _fold(text: str) -> _Folded:
    """Return the normalised text."""
    inside = {m.start() for m in _CONTINUES.finditer(text) if m[0].isspace() or unicodedata.combining(m[0])}
    bounds = [place for place in range(len(text) + 1) if place not in inside]
    units = [text[start:end] for start, end in pairwise(bounds)] if inside else list(text)
    form = _form if max(map(len, units), default=0) < _LONG else _form.__wrapped__
    forms = list(map(form, units))
    return _Folded("".join(forms), forms, bounds)


@lru_cache(maxsize=64)
def _places(text: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return where units begin and end in the original, by their places in the normalised text."""
    _, forms, bounds = _fold(text)
    places = [0, *accumulate(map(len, forms))]
    starts = {place: start for place, start, form in zip(places, bounds, forms, strict=False) if form}
    ends = {place: end for place, end, form in zip(places[1:], bounds[1:], forms, strict=True) if form}
    return starts, ends


@lru_cache(maxsize=1 << 14)
def _form(unit: str) -> str:
    if unit.isspace():
        return " "
    visible = "".join(c for c in unit if c not in _INVISIBLE and unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKD", visible).casefold()
    return unicodedata.normalize("NFKD", folded).translate(_SAME)
