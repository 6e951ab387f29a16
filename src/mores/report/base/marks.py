"""A text cut at its errors: which pieces are marked, and where the number of each error can stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mores.culture import is_rtl
from mores.report.base.names import look_up
from mores.search.ground import cut
from mores.types import DEFAULT_INSTRUCTION, Error, Sample, Severity, Side, TurnSpan

SIDES: tuple[Side, ...] = ("instruction", "text")
JOINERS = "\u200c\u200d"
SKIN_TONES = range(0x1F3FB, 0x1F400)
SEPARATE = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"""Scripts whose letters do not join and whose words need no spaces: a number may stand between two letters."""
QUOTE = 80
"""Code points of a quote where it only stands for its error."""
RESTS = 200
"""Code points of a passage where an error cites it; the whole stands under the text."""
WORD = 40
"""Code points by which a number moves at most to reach the end of its word."""


class Numbered(NamedTuple):
    """An error with its number on the page."""

    number: int
    error: Error
    located: bool
    """Whether its span holds its quote; otherwise it is listed without a mark."""


class MarkedPiece(NamedTuple):
    """A part of a text that lies in the same errors from end to end."""

    text: str
    marked: tuple[Numbered, ...] = ()
    """The errors that cover it."""
    after: tuple[Numbered, ...] = ()
    """The errors whose numbers stand behind it."""
    turn: int | None = None
    """The turn of a conversation that begins with it."""


class MarkedSample(NamedTuple):
    """A sample as a card shows it."""

    place: int
    """Its number on the page."""
    sample: Sample
    rtl: bool
    default_instruction: bool
    sides: Mapping[Side, Sequence[MarkedPiece]]
    errors: Sequence[Mapping[str, Any]]
    worst: Severity
    """The most severe; minor where there is none."""


def mark(
    place: int, sample: Sample, errors: Sequence[Error], evidence: Sequence[Mapping[str, Any]] = ()
) -> MarkedSample:
    """Return both sides of a sample cut at their errors, and the list of these."""
    numbered = number_errors(errors, sample)
    sides = {
        side: cut_at_errors(
            sample.side(side),
            [error_mark for error_mark in numbered if error_mark.located and error_mark.error.side == side],
            sample.turns if side == "text" else (),
        )
        for side in SIDES
    }
    worst = Severity.MAJOR if any(error.severity is Severity.MAJOR for error in errors) else Severity.MINOR
    rtl, default = bool(look_up(is_rtl, sample.language)), sample.instruction == DEFAULT_INSTRUCTION
    return MarkedSample(
        place, sample, rtl, default, sides, [_listed(error_mark, evidence) for error_mark in numbered], worst
    )


def _listed(numbered: Numbered, evidence: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one error of the list; what it cites is shown in short where it is there."""
    cited = dict.fromkeys(numbered.error.evidence)
    short = {number: cut(evidence[number - 1]["text"], RESTS) for number in cited if number <= len(evidence)}
    return {
        "number": numbered.number,
        "error": numbered.error,
        "located": numbered.located,
        "quote": cut(numbered.error.quote, QUOTE) if numbered.located else numbered.error.quote,
        "rests": {number: short.get(number, "") for number in cited},
    }


def number_errors(errors: Sequence[Error], sample: Sample) -> list[Numbered]:
    """Return the errors from 1, as a reader meets them; those that are not in the sample come last."""

    def place(error: Error) -> tuple[bool, int, int, int]:
        located = error.located and sample.side(error.side)[error.start : error.end] == error.quote
        start, end = (error.start or 0, error.end or 0) if located else (0, 0)
        return not located, SIDES.index(error.side), start, end

    ordered = sorted(errors, key=place)
    return [Numbered(number, error, not place(error)[0]) for number, error in enumerate(ordered, 1)]


def cut_at_errors(text: str, errors: Sequence[Numbered], turns: Sequence[TurnSpan] = ()) -> list[MarkedPiece]:
    """Return the text in pieces, cut at every boundary and turn, so that overlapping errors need no nested marks.

    `errors` are those of this side that are located.
    """
    spans = [
        (error, error.error.start or 0, error.error.end or 0, number_place(text, error.error.end or 0))
        for error in errors
    ]
    begins = {turn.start: turn.number for turn in turns}
    edges = sorted({0, len(text), *begins}.union(*((start, end, place) for _, start, end, place in spans)))
    return [
        MarkedPiece(
            text[first:last],
            tuple(error for error, start, end, _ in spans if start <= first and last <= end),
            tuple(error for error, _, _, place in spans if place == last),
            begins.get(first),
        )
        for first, last in pairwise(edges)
    ]


def number_place(text: str, end: int) -> int:
    """Return where the number of an error that ends at `end` can stand: there, or at the end of its word."""
    for at in range(end, min(len(text), end + WORD)):
        if not _belongs_to_the_last(text, at):
            return at
    return len(text) if len(text) < end + WORD else end


def _belongs_to_the_last(text: str, at: int) -> bool:
    before, char = text[at - 1], text[at]
    if unicodedata.category(char)[0] == "M" or char in JOINERS or before in JOINERS or ord(char) in SKIN_TONES:
        return True
    is_word = char.isalpha() and (before.isalpha() or unicodedata.category(before)[0] == "M")
    return is_word and not unicodedata.name(char, "").startswith(SEPARATE)
