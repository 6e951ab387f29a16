"""An encoder of known truth: it knows a few words in three languages, and counts what each text is about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mores.search.encoders import Floats
from mores.search.words import words

CONCEPTS = [
    {"tea", "tee", "çay"},
    {"coffee", "kaffee", "kahve"},
    {"guest", "guests", "gast", "gäste", "gaste", "misafir"},
    {"bread", "brot", "ekmek"},
    {"wedding", "hochzeit", "düğün", "dugun"},
    {"kava"},
]


class Concepts:
    """One number for each concept: how many words of a text mean it."""

    size = len(CONCEPTS)

    def __init__(self, identity: str = "concepts.1", *, stop_after: int | None = None) -> None:
        self.identity = identity
        self.texts: list[str] = []
        self._stop_after = stop_after

    def encode(self, texts: Sequence[str]) -> Floats:
        """The counts; after some texts it stops working, and it never reads "unreadable"."""
        if self._stop_after is not None and len(self.texts) + len(texts) > self._stop_after:
            raise MemoryError("no more memory")
        if any("unreadable" in text for text in texts):
            raise ValueError("cannot read this")
        self.texts += texts
        rows = [[sum(word in concept for word in words(text)) for concept in CONCEPTS] for text in texts]
        return np.array(rows, np.float32).reshape(-1, self.size)
