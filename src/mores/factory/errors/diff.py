"""The words in which a changed text differs from its original (ExCAM, Appendix E).

The paper splits both into NLTK words without punctuation and compares them with difflib. Here, scripts that write no
spaces are compared by grapheme cluster, and neighbouring differences are one: they count as one error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from mores.language.units import Unit, units

COINCIDENCE = 2
"""Up to this many equal clusters between two differences are chance, in scripts such as Thai with several in a word."""


class ChangedBlock(NamedTuple):
    """Units `start:end` of the original that became units `new_start:new_end`; either may be empty."""

    start: int
    end: int
    new_start: int
    new_end: int


def differences(original: str, modified: str) -> tuple[tuple[int, int], ...]:
    """Spans of `modified` that differ from `original`, in order, in code points; empty when only punctuation does.

    Where words were only left out, the word after them is marked, or the last one at the end of the text.
    """
    before, after = units(original), units(modified)
    changed = blocks(before, after)
    if changed and not after:  # all words are gone
        rest = modified.strip()
        return ((modified.index(rest), modified.index(rest) + len(rest)),) if rest else ()
    marked = _joined(_marked(changed, len(after)), after)
    return tuple((after[start].start, after[end - 1].end) for start, end in marked)


def blocks(before: Sequence[Unit], after: Sequence[Unit]) -> list[ChangedBlock]:
    """Return what was replaced, left out or put in, as indices of units."""
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
    """Return how many units both begin with."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _marked(changed: Iterable[ChangedBlock], count: int) -> Iterator[tuple[int, int]]:
    for block in changed:
        if block.new_start < block.new_end:
            yield block.new_start, block.new_end
        else:
            place = min(block.new_start, count - 1)
            yield place, place + 1


def _joined(ranges: Iterable[tuple[int, int]], after: Sequence[Unit]) -> list[tuple[int, int]]:
    """Neighbouring ranges as one."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and (start <= joined[-1][1] or _inside_word(after[joined[-1][1] - 1 : start + 1])):
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _inside_word(run: Sequence[Unit]) -> bool:
    """Return whether the few units between two changed ones, given with both, are likely to be inside the same word."""
    touching = all(first.end == second.start for first, second in pairwise(run))
    return len(run) <= COINCIDENCE + 2 and touching and all(unit.unspaced and _phonetic(unit) for unit in run)


def _phonetic(unit: Unit) -> bool:
    """Not Chinese or kana, where one sign may be a word."""
    return unit.key[0] < "\u3000" or "\ua980" <= unit.key[0] <= "\uaa7f"
