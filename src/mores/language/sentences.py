"""Sentences of any script, by rules and without a model.

Spans are half-open, count code points, come in order, do not overlap, and hold all that is not space. What ends a
sentence: the full stops of a script (。 ۔ । ። ։ ។ ။ and their like), `. ! ? …` where what follows can begin a sentence,
and a line break, unless the sentence continues with a small letter. Thai and Lao have no full stop: a long stretch ends
at the next space. A heading, a bullet and a row of a table are separate sentences.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

Span = tuple[int, int]
LONG_ENOUGH = 40
"""Code points of Thai or Lao after which a space is taken for the end of a sentence."""

_CLOSING = r"[\"'”’»›)\]}」』）】》〉〕*_`~]"
_OPENING = r"[\"'“‘„«‹(\[{「『（【《〈¿¡*_`~]"
_FULL_STOPS = "。｡！？؟۔܀܁܂߹।॥෴။།༎።፧፨᙮᠃᠉។៕᥄᥅᪨-᪫᭚᭛᭞᭟᰻᰼᱾᱿‼⁇-⁉⸮꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧉꩝-꩟꫰꫱꯫։"
"""They end a sentence whatever follows: Unicode's Sentence_Terminal, without `. ! ?`, and the Tibetan shad."""
_END = re.compile(
    rf"(?P<full>(?:[{_FULL_STOPS}]|፡፡|．(?!\d))[{_FULL_STOPS}.!?…]*{_CLOSING}*)"
    r"|(?P<half>(?:(?<![.!?…])[.!?…]++|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e]|(?<=[\u0531-\u0588]):)"
    rf"{_CLOSING}*+)(?=\s|\Z)"
    r"|(?P<gap>(?<=[\u0e01-\u0eff])[ \u00a0]+(?=[\u0e01-\u0eff]))"
    r"|(?P<bullet>(?<![ \t])[ \t]++(?=[•▪◦‣●]\s))"
)
_ONE_DOT = re.compile(rf"\.{_CLOSING}*")
_NEWLINE = r"(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])"
_BREAK = re.compile(rf"{_NEWLINE}\s*")
_WRAPPED = re.compile(rf"(?<=[\w,;–—-]){_NEWLINE}[ \t]*(?=\w)")
_MARKER = re.compile(
    r"\s*+(?:[>|]\s*+)*+(?:#{1,6}\s|[*_]{0,3}(?:[-+*•▪◦‣●–—·]|\(?(?:\d{1,3}|[A-Za-z])[.)])[*_]{0,3}\s)[*_\s]*+"
)
"""A heading, a bullet or the number of an item. Possessive, as elsewhere here: hostile texts take linear time."""
_NEXT = re.compile(rf"\s*{_OPENING}*(?P<word>\w\.|[\w'’]{{0,30}})")
_WORD = re.compile(r"[^\s\"'“”‘’«»(\[{）)…!?*_]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")
_INITIAL = re.compile(r"(?:^|(?P<before>\d?)\s|[.\"'“„«(*_-])(?P<letter>[^\W\d_])$")
_QUOTED_ON = re.compile("[とっはがをにのもでや、，,：:;；]")
"""What continues a sentence behind a quotation that ends with a full stop: 「なぜ？」と聞いた。"""


def sentences(text: str) -> list[Span]:
    """Return the sentences of a text, as spans."""
    spans: list[Span] = []
    for start, end in _lines(text):
        spans += _trimmed(text, start, end)
    return spans


def _lines(text: str) -> Iterator[Span]:
    """Yield the stretches between line breaks that end a sentence."""
    start = 0
    for match in _BREAK.finditer(text):
        # Only wrapped: one break, no mark before it, and a small letter after it.
        is_wrapped = _WRAPPED.match(text, match.start()) and text[match.end()].islower() and text[start] not in "#|"
        if not is_wrapped or _MARKER.match(text, match.end()):
            yield start, match.start()
            start = match.end()
    yield start, len(text)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of a line without spaces around them; one without a letter or digit joins the one before."""
    last: Span | None = None
    for piece_start, piece_end in _pieces(text, start, end):
        piece = text[piece_start:piece_end]
        if not piece.strip():
            continue
        span = (piece_start + len(piece) - len(piece.lstrip()), piece_start + len(piece.rstrip()))
        if last is None:
            last = span
        elif any(map(str.isalnum, piece)):
            yield last
            last = span
        else:
            last = (last[0], span[1])
    if last is not None:
        yield last


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    marker = _MARKER.match(text, start, end)
    at = marker.end() if marker else start
    for match in _END.finditer(text, at, end):
        if _ends(text, start, match, end):
            yield start, match.end()
            start = match.end()
    yield start, end


def _ends(text: str, start: int, match: re.Match[str], end: int) -> bool:
    """Return whether a sentence that began at `start` ends with this mark."""
    match match.lastgroup:
        case "bullet":
            return True
        case "gap":
            return match.start() - start >= LONG_ENOUGH
        case "full":
            closed = text[match.end() - 1] in "」』）”’》】)\"'"
            return not (closed and _QUOTED_ON.match(text, match.end(), end))
    following = _NEXT.match(text, match.end(), end)
    word = following["word"] if following else ""
    if word[:1].islower():
        return False
    return not _ONE_DOT.fullmatch(match[0]) or not _stays_inside(text, start, match.start(), word)


def _stays_inside(text: str, start: int, dot: int, following: str) -> bool:
    """Return whether a full stop belongs to a number, an initial or an abbreviation."""
    match = _WORD.search(text, max(start, dot - 30), dot)
    word = match[0].casefold() if match else ""
    lists = _words()
    if word.isdecimal():
        numbers_an_item = dot - start < 10 and text[start:dot].strip() == word
        return len(word) <= 3 and (numbers_an_item or following.casefold() in lists["ordinal"])
    if word in lists["title"] or (word in lists["number"] and following[:1].isdecimal()):
        return True
    if following.casefold() in lists["starter"]:
        return False
    return word in lists["usual"] or bool(_DOTTED.fullmatch(word)) or _is_initial(text, dot)


def _is_initial(text: str, dot: int) -> bool:
    """Return one letter, as in `J. R. R. Tolkien` or `د. أحمد`, but not a unit behind a number, as in `1867 г.`."""
    match = _INITIAL.search(text, max(0, dot - 4), dot)
    if match is None:
        return False
    letter = match["letter"]
    can_be = letter.lower() != letter.upper() or "\u0620" <= letter <= "\u064a"
    return can_be and not (letter.islower() and match["before"])


@cache
def _words() -> dict[str, frozenset[str]]:
    lists = tomllib.loads(files("mores.language").joinpath("sentences.toml").read_text("utf-8"))
    return {name: frozenset(words.split()) for name, words in lists.items()}
