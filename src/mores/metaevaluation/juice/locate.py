"""Where a quotation is in an answer: detectors copy words without their Markdown, and with other white space.

First as the metric's own quotations are found (`mores.metric.spans`: exactly, then without differences of case, width,
white space and kinds of quotation marks); then without Markdown on either side; then without the quotation marks and
punctuation around the quotation. Of several places the one in the paragraphs that the detector named counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from mores.metric.spans import candidates

Place = tuple[int, int]
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_MARKDOWN = re.compile(r"[*_`~]+|^[^\S\n]*(?:#{1,6}|>|[-+•]|\d{1,3}[.)])[^\S\n]+", re.MULTILINE)
"""Emphasis and code anywhere; headings, quotations, bullets and numbers at the start of a line."""
_AROUND = " \t\n\"'“”‘’«»「」.,;:!?…。，"


class Located(NamedTuple):
    """A place in a text, half-open in code points."""

    start: int
    end: int
    elsewhere: bool
    """Whether it is outside of the paragraphs that were named."""


def paragraphs(text: str) -> list[Place]:
    """Return where the paragraphs of a text are: blank lines separate them."""
    starts = [0, *(gap.end() for gap in _BLANK_LINE.finditer(text))]
    ends = [*(gap.start() for gap in _BLANK_LINE.finditer(text)), len(text)]
    return list(zip(starts, ends, strict=True))


def locate(quote: str, text: str, named: Sequence[Place] = ()) -> Located | None:
    """Return where the quotation is, preferably in or between the named paragraphs; None if nowhere."""
    start, end = (min(s for s, _ in named), max(e for _, e in named)) if named else (0, len(text))
    outside: Located | None = None
    for places in _places(quote, text):
        inside = [place for place in places if start <= place[0] and place[1] <= end]
        if inside:
            return Located(*inside[0], elsewhere=False)
        if places and outside is None:
            nearest = min(places, key=lambda place: max(start - place[0], place[1] - end))
            outside = Located(*nearest, elsewhere=True)
    return outside


def _places(quote: str, text: str) -> Iterator[list[Place]]:
    """Yield where it may be, most trusted first."""
    yield from candidates(quote, text)
    plain, positions = _without_markdown(text)
    bare = _without_markdown(quote)[0].strip()
    for wording in dict.fromkeys((bare, bare.strip(_AROUND))):
        for places in candidates(wording, plain):
            yield [(positions[start], positions[end - 1] + 1) for start, end in places]


@lru_cache(maxsize=64)
def _without_markdown(text: str) -> tuple[str, list[int]]:
    """Return the text without Markdown, and where each of its characters is in the original."""
    kept = [True] * len(text)
    for mark in _MARKDOWN.finditer(text):
        kept[mark.start() : mark.end()] = [False] * (mark.end() - mark.start())
    positions = [position for position, keep in enumerate(kept) if keep]
    return "".join(text[position] for position in positions), positions
