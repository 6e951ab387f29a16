"""The settings and the counts of evidence for samples."""

from __future__ import annotations

from mores.types import Record


class OwnFactCounts(Record):
    """Counts of samples with the fact of their own item among their evidence."""

    samples: int
    own: int
    wrong: int
    """Samples with errors."""
    own_wrong: int
    """Samples with errors and their own fact; queries depend on the text, so it may be found less often."""
    passages: int
    """Passages of all samples."""
    characters: int
    """Characters of all passages."""


class Grounded(Record):
    """The contents of a dataset with evidence, and its origin."""

    mores: str
    passages: int
    """Maximum of a sample."""
    characters: int
    """Maximum of a passage."""
    seed: int
    made_from: dict[str, str]
    """SHA-256 of each file."""
    found: dict[str, dict[str, OwnFactCounts]]
    """By file, then overall (`all`) and by source, of the samples with evidence from the search."""
