"""What evidence samples get, and how often it was their own."""

from __future__ import annotations

from mores.types import Record


class Found(Record):
    """How often the fact of a sample's own item was among its evidence."""

    samples: int
    own: int
    wrong: int
    """Samples with errors."""
    own_wrong: int
    """The same of these alone: what is looked up depends on the text, so it may be found less often."""
    passages: int
    """Of all samples together."""
    characters: int
    """Of all these passages."""


class Grounded(Record):
    """What was made, and from what."""

    mores: str
    passages: int
    """Most of a sample."""
    characters: int
    """Most of a passage."""
    seed: int
    made_from: dict[str, str]
    """SHA-256 of each file."""
    found: dict[str, dict[str, Found]]
    """By file, then overall (`all`) and by source; of the samples that were searched for."""
