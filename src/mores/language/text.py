"""Texts as arrays: cleaned, cut into segments (about a sentence each), and reduced to the letters of one script.

A segment has only the letters of its main script, so Latin names in a Chinese text do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mores.language.scripts import APOSTROPHE, NAMES, NUMBERS, SPACE, tables

Ints = npt.NDArray[np.int64]

SEGMENT = 60
"""After this many letters, the next end of a sentence starts a new segment."""
_PARTS = 10
"""The weights of letters are whole numbers of these parts."""

_CODE = re.compile(r"```[^`\0]*```|`[^`\0\n]*`|\{[^{};\0]{0,500};[^{}\0]{0,2000}\}|\b[a-z0-9]+_\w+")
_QUERY = re.compile(
    r"\b(?:SELECT\b[^;\n\0]{1,200}?\bFROM|UPDATE\s[^\s\0]+\sSET|INSERT INTO|DELETE FROM|(?:CREATE|ALTER|DROP) TABLE)\b"
    r"[^;\n\0]*;?"
)
"""SQL, whose words are English; people write it in capitals."""
_LINK = re.compile(r"(?:https?://|www\.)[^\s\0<>()\[\]]+|[@#]\w[\w.-]*|&[a-z]{2,8};")
_TAG = re.compile(r"</?[a-z][^<>\0]{0,200}>")
_REMOVED = ((_CODE, ("`", "{", "_")), (_LINK, ("://", "www.", "@", "#", "&")), (_TAG, ("<",)))
"""What is not text, in lower case, and strings of which each has one: a search for these is far faster."""
_OLD_VOWEL = "\u0647\u200c"
"""A vowel of Sorani in old fonts, he and a non-joiner; Persian has them too, but beside no letter of Sorani."""
_SORANI = re.compile("[ێۆڵڕ]")
_PRESENT = str.maketrans({"ك": "ک", "ي": "ی", "ى": "ی"})


@dataclass(frozen=True)
class Segments:
    """The letters of some texts; the segments of a text follow one another."""

    codes: npt.NDArray[np.uint32]
    """Folded code points of all segments in turn: letters, a space before each word and one after all."""
    starts: Ints
    """Where each segment begins in `codes`."""
    text: Ints
    """The text that each segment belongs to."""
    script: Ints
    """The script that each segment is mostly in; see `NAMES`."""
    size: npt.NDArray[np.float64]
    """The letters of each segment, in letters of an alphabet."""
    texts: int

    def letters(self, index: int) -> str:
        """Return the letters of a segment, with a space before each word."""
        letters, bounds = self._decoded
        return letters[bounds[index] : bounds[index + 1]]

    @cached_property
    def _decoded(self) -> tuple[str, list[int]]:
        """The letters of all segments, and where each begins and the last one ends."""
        letters = self.codes.tobytes().decode("utf-32-le", "surrogatepass")
        return letters, [*self.starts.tolist(), len(letters)]

    def segment_of(self) -> Ints:
        """Return the segment of each character."""
        begins = np.zeros(len(self.codes), np.int64)
        begins[self.starts] = 1
        segment: Ints = np.cumsum(begins) - 1
        return segment


def segments(texts: Sequence[str]) -> Segments:
    """Return the segments of some texts; a text without letters has none."""
    codes = _codes(texts)
    properties = tables()
    breaks = codes == 0
    text = np.cumsum(breaks) - 1
    script = properties.script[codes]
    # An apostrophe before a Latin letter is a letter in many languages; a closing quote is not.
    script[:-1][(codes[:-1] == APOSTROPHE) & (script[1:] == NUMBERS["Latn"])] = NUMBERS["Latn"]
    weight = properties.weight[script] * (script > 0)
    segment, owner = _cut(codes, breaks, text, weight)
    cells = np.bincount(segment * len(NAMES) + script, weights=weight, minlength=len(owner) * len(NAMES))
    by_script = cells.reshape(len(owner), len(NAMES))
    main, size = by_script.argmax(axis=1), by_script.max(axis=1, initial=0)
    # Only the letters of the main script, each word after a space.
    positions = np.flatnonzero((script == main[segment]) & (script > 0))
    segment_of = segment[positions]
    begins = np.ones(len(positions), np.bool_)
    begins[1:] = (positions[1:] != positions[:-1] + 1) | (segment_of[1:] != segment_of[:-1])
    spaced = np.append(np.insert(codes[positions], np.flatnonzero(begins), SPACE), np.uint32(SPACE))
    with_letters = np.flatnonzero(size > 0)
    # Each begins a word, before which as many spaces stand as words began.
    first = np.searchsorted(segment_of, with_letters)
    starts = first + np.cumsum(begins)[first] - 1
    return Segments(spaced, starts, owner[with_letters], main[with_letters], size[with_letters], len(texts))


def _codes(texts: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return code points of all texts, each after a 0: lower case, composed, without marks that are often omitted."""
    # Each text on its own: most are composed, which is found quickly, and only the others are.
    joined = "".join("\0" + unicodedata.normalize("NFC", text.replace("\0", " ")) for text in texts)
    if any(word in joined for word in ("SELECT", "UPDATE", "INSERT", "DELETE", "TABLE")):
        joined = _QUERY.sub(" ", joined)
    joined = joined.lower()
    for pattern, signs in _REMOVED:
        if any(sign in joined for sign in signs):  # none reaches over a 0, and few texts have any
            parts = (
                pattern.sub(" ", part) if any(sign in part for sign in signs) else part for part in joined.split("\0")
            )
            joined = "\0".join(parts)
    if _OLD_VOWEL in joined:
        joined = "\0".join(
            part.replace(_OLD_VOWEL, "ە").translate(_PRESENT) if _OLD_VOWEL in part and _SORANI.search(part) else part
            for part in joined.split("\0")
        )
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    properties = tables()
    return properties.fold[codes[~properties.drop[codes]]]


def _cut(
    codes: npt.NDArray[np.uint32], breaks: npt.NDArray[np.bool_], text: Ints, weight: npt.NDArray[np.float32]
) -> tuple[Ints, Ints]:
    """Return the segment of each character, and the text of each segment."""
    letters_so_far = np.cumsum(np.rint(weight * _PARTS), dtype=np.int64)
    before = letters_so_far[breaks]
    # A segment begins with its text, or at an end of a sentence where enough letters came since the text began.
    places = np.flatnonzero(breaks | tables().end[codes])
    of_text = text[places]
    part = (letters_so_far[places] - before[of_text]) // (SEGMENT * _PARTS)
    mark = np.maximum.accumulate(part + of_text * (1 + int(part.max(initial=0))))
    new = np.zeros(len(codes), np.bool_)
    new[places[np.diff(mark, prepend=-1) > 0]] = True
    return np.cumsum(new) - 1, text[new]
