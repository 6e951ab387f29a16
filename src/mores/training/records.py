"""The result of a training."""

from __future__ import annotations

from mores.formatting import number
from mores.types import Record, Result, Signature


class Trained(Record):
    """One training."""

    base: str
    signature: Signature
    samples: int
    """Trained on, in one epoch."""
    left_out: int
    """Too long."""
    teacher: str | None = None
    """The runs that labelled some of them."""
    taught: int = 0
    """How many those labelled."""
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


def headline(trained: Trained) -> str:
    """Return how well the model decides, by split."""
    whole = f"all but {trained.without}" if trained.without else "all"
    values = [f"{number(results['all'].value, 3)} on {split}" for split, results in trained.decisions.items()]
    return f"trained on {whole}: " + (f"scaled accuracy {', '.join(values)}" if values else "no split to decide about")
