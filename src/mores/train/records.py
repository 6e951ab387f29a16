"""What a training says of itself."""

from __future__ import annotations

from mores.types import Record, Result, Signature


class Trained(Record):
    """One training."""

    base: str
    signature: Signature
    samples: int
    """Trained on, in one epoch."""
    left_out: int
    """Too long."""
    sources: dict[str, int]
    """Samples of each source."""
    without: str | None = None
    """The source that was left out."""
    tokens: int
    """In one epoch."""
    seconds: float
    device: str
    decisions: dict[str, dict[str, Result]]
    """By split, then overall (`all`) and by source: scaled accuracy."""
