"""Numbers, months, weekdays and seasons in a text: in digits, or in a word that `quantities.txt` lists."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from mores.language.units import vocabulary

FILE = "quantities.txt"


def quantities(text: str) -> set[str]:
    """Return the numbers, months, weekdays and seasons that a text names, without regard to case."""
    return {key for key in vocabulary(text) if key in _listed() or any(sign.isdigit() for sign in key)}


@cache
def _listed() -> frozenset[str]:
    lines = (files(__package__) / FILE).read_text("utf-8").splitlines()
    return frozenset(key for line in lines if not line.startswith("#") for key in vocabulary(line))
