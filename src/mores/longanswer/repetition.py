"""Repetition in an answer (CaLMQA, Section 3.1): a window of 20 tokens that occurs 4 times or more.

Windows may overlap. The result is exact and takes time linear in the text: a window that occurs so many times begins
with tokens that do, and few others are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mores.longanswer.records import Repetition
from mores.longanswer.tokens import token_spans, tokenize, well_formed

WINDOW, TIMES = 20, 4
Ints = npt.NDArray[np.int64]
_BEGINNING = 6
"""Tokens of a window that are counted first."""
_FACTOR = np.int64(0x1E3779B97F4A7C15)


def find_repetitions(texts: Sequence[str], window: int = WINDOW, times: int = TIMES) -> list[Repetition | None]:
    """Return the most frequent window of each text (the first where several are), if it occurs so many times."""
    if window < 1 or times < 1:
        raise ValueError(f"window {window} and times {times} must be at least 1")
    results: list[Repetition | None] = []
    for text in texts:
        tokens = tokenize(text)
        places = repeated_window(tokens, window, times)
        spans = token_spans(text, tokens, places, window) if places is not None else []
        words = well_formed(text)[slice(*spans[0])] if spans else ""
        results.append(Repetition(times=len(spans), text=words, spans=tuple(spans)) if spans else None)
    return results


def repeated_window(tokens: Sequence[int], window: int = WINDOW, times: int = TIMES) -> Ints | None:
    """Return where the most frequent window begins, in tokens; None where none occurs so many times."""
    count = len(tokens) - window + 1
    if count < times:
        return None
    values = np.array(tokens, np.int64)
    keys = values[:count]
    for at in range(1, min(window, _BEGINNING)):
        keys = keys * _FACTOR + values[at : at + count]
    ordered = np.sort(keys)
    frequent = ordered[times - 1 :][ordered[times - 1 :] == ordered[: count - times + 1]]
    likely = np.flatnonzero(np.isin(keys, frequent)) if frequent.size else frequent
    data, width = values.tobytes(), values.itemsize
    windows = [data[at * width : (at + window) * width] for at in likely.tolist()]
    counts = Counter(windows)
    best = max(counts, key=counts.__getitem__, default=b"")
    return likely[[each == best for each in windows]] if counts[best] >= times else None
