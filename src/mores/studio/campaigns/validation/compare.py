"""Two versions of a text side by side: which words of each are not in the other, and which are marked as errors.

Words are those of the data factory (Appendix E of ExCAM), so that what is shown as changed is what it counts: scripts
without spaces are compared sign by sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from mores.factory.errors.model import blocks
from mores.language.units import Unit, units

Span = tuple[int, int]


class TextPiece(NamedTuple):
    """A stretch of one version; `text[start:end]` of it."""

    text: str
    changed: bool
    """Not in the other version."""
    marked: bool = False
    """Part of an error, by the gold report."""


class WordChange(NamedTuple):
    """Words that were replaced; one of the two is empty where words were only added or removed."""

    removed: str
    added: str


class TextComparison(NamedTuple):
    """An original beside what became of it."""

    before: Sequence[TextPiece]
    after: Sequence[TextPiece]
    changes: Sequence[WordChange]


def compare(original: str, modified: str, marked: Iterable[Span] = ()) -> TextComparison:
    """Return the pieces of both versions, and the changes in the order of the text."""
    old, new = units(original), units(modified)
    removed, added, changes = [], [], []
    for block in blocks(old, new):
        before, after = _span(old, block.start, block.end), _span(new, block.new_start, block.new_end)
        removed += [before] if before else []
        added += [after] if after else []
        changes.append(WordChange(_cut(original, before), _cut(modified, after)))
    return TextComparison(_pieces(original, removed, ()), _pieces(modified, added, marked), changes)


def _span(words: Sequence[Unit], start: int, end: int) -> Span | None:
    return (words[start].start, words[end - 1].end) if end > start else None


def _cut(text: str, span: Span | None) -> str:
    return text[slice(*span)] if span else ""


def _pieces(text: str, changed: Iterable[Span], marked: Iterable[Span]) -> list[TextPiece]:
    """Return the text cut at every beginning and end of a span."""
    spans, errors = list(changed), list(marked)
    cuts = sorted({0, len(text), *(place for span in (*spans, *errors) for place in span)})
    return [TextPiece(text[start:end], _inside(start, spans), _inside(start, errors)) for start, end in pairwise(cuts)]


def _inside(place: int, spans: Iterable[Span]) -> bool:
    return any(start <= place < end for start, end in spans)
