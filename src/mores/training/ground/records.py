"""The settings and the counts of evidence for samples."""

from __future__ import annotations

from pathlib import Path

from mores.search.ground import CHARACTERS
from mores.types import Record


class GroundSettings(Record):
    """The settings of evidence for samples."""

    passages: int = 3
    """Maximum passages of a sample."""
    characters: int = CHARACTERS
    """Maximum characters of a passage."""
    seed: int = 0
    pairs: tuple[Path, ...] = ()
    """Folders with claims and passages about them, see `mores.training.pairs`."""
    untrusted: tuple[Path, ...] = ()
    """Folders with further such pairs, whose labels are not used, see `mores.training.unlabelled`."""
    sentences: Path | None = None
    """A folder with sentences, one text file for each language, to make such pairs of."""
    translated: Path | None = None
    """BLEnD's folder, for facts in another language than the text."""


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
