"""The result of a training run."""

from __future__ import annotations

from mores.formatting import number
from mores.types import Record, Result, Signature


class Trained(Record):
    """A training run."""

    base: str
    signature: Signature
    samples: int
    """Number of training samples in one epoch."""
    left_out: int
    """Number of samples that were too long."""
    teacher: str | None = None
    """The runs that labelled some of them."""
    taught: int = 0
    """Number of samples that they labelled."""
    sources: dict[str, int]
    """Samples of each source."""
    without: str | None = None
    """The source that was left out."""
    tokens: int
    """Number of tokens in one epoch."""
    seconds: float
    device: str
    decisions: dict[str, dict[str, Result]]
    """By split, then overall (`all`) and by source: scaled accuracy."""


def headline(trained: Trained) -> str:
    """Return the accuracy of the model on each split, in one line."""
    whole = f"all but {trained.without}" if trained.without else "all"
    values = [f"{number(results['all'].value, 3)} on {split}" for split, results in trained.decisions.items()]
    return f"trained on {whole}: " + (f"scaled accuracy {', '.join(values)}" if values else "no split to decide about")
