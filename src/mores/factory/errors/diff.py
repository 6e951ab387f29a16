"""The words in which a changed text differs from its original (ExCAM, Appendix E).

The paper splits both into NLTK words without punctuation and compares them with difflib. Here, scripts that write no
spaces are compared by grapheme cluster, and neighbouring differences count as one error.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from mores.language.units import Unit, units

COINCIDENCE = 2
"""Up to this many equal clusters between two differences are coincidence in scripts such as Thai."""


class ChangedBlock(NamedTuple):
    """Units `start:end` of the original that became units `new_start:new_end`; either may be empty."""

    start: int
    end: int
    new_start: int
    new_end: int


def differences(original: str, modified: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of `modified` that differ from `original`, in code points; differing punctuation is ignored.

    Where words were only removed, the word after them is marked, or the last one at the end of the text.
    """
    before, after = units(original), units(modified)
    changed = blocks(before, after)
    if changed and not after:  # all words are gone
        rest = modified.strip()
        return ((modified.index(rest), modified.index(rest) + len(rest)),) if rest else ()
    marked: list[tuple[int, int]] = []
    for block in changed:
        start, end = block.new_start, block.new_end
        if start == end:  # words were only removed
            start = min(start, len(after) - 1)
            end = start + 1
        if marked and (start <= marked[-1][1] or _inside_word(after[marked[-1][1] - 1 : start + 1])):
            marked[-1] = marked[-1][0], max(end, marked[-1][1])
        else:
            marked.append((start, end))
    return tuple((after[start].start, after[end - 1].end) for start, end in marked)


def blocks(before: Sequence[Unit], after: Sequence[Unit]) -> list[ChangedBlock]:
    """Return the replaced, removed and inserted units, by index."""
    old, new = [unit.key for unit in before], [unit.key for unit in after]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])  # difflib is quadratic, and most of a text is not changed
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        ChangedBlock(start + head, end + head, new_start + head, new_end + head)
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(old: list[str], new: list[str]) -> int:
    """Return the number of equal units at the start of both."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _inside_word(run: Sequence[Unit]) -> bool:
    """Return whether the few units between two changed ones, given with both, are likely to be inside the same word."""
    touching = all(first.end == second.start for first, second in pairwise(run))
    if len(run) > COINCIDENCE + 2 or not touching or not all(unit.unspaced for unit in run):
        return False
    # Not in Chinese or kana, where one sign may be a word.
    return all(unit.key[0] < "\u3000" or "\ua980" <= unit.key[0] <= "\uaa7f" for unit in run)
