"""Which answers are the same: the same choice, or the same words."""

from __future__ import annotations

import unicodedata

from mores.bench.benchmark import Benchmark, Verdict
from mores.models.written import without_thoughts


def cluster_of(benchmark: Benchmark, verdict: Verdict) -> str | None:
    """What tells an answer apart: its choice where it chooses, else its words; None without an answer.

    What was read in a free answer does not count: it may be the judge's word, which knows the right answer.
    """
    if benchmark.candidates is not None:
        return verdict.read
    return None if verdict.answer is None else normalise(without_thoughts(verdict.answer))


def normalise(text: str) -> str:
    """The words of a text, without case, punctuation and forms of the same sign; marks of vowels and tones stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(_PLAIN).split())


class _Plain(dict[int, int]):
    """Every sign by its code: letters, marks and numbers as they are, a blank for all else; filled as they occur."""

    def __missing__(self, code: int) -> int:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_PLAIN = _Plain()
