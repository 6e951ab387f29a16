"""A run of `mores build`: a dataset (see `mores.factory.output` for its files) with `run.json` beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from mores.factory.facts import FACTS, Fact
from mores.factory.gold import Gold
from mores.factory.split import SPLITS
from mores.run import Run

ABOUT = "recipe.json"
FILES = {**{f"{split}.jsonl": "Gold" for split in SPLITS}, FACTS: "Fact"}
"""Record types."""


class BuildRun(Run):
    """A dataset of instruction-text pairs with gold error reports."""

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the dataset's card says, as plain data: recipe, sources, counts and audits."""
        about: dict[str, Any] = json.loads(self.file(ABOUT).read_text("utf-8"))
        return about

    def golds(self, split: str = "test") -> Iterator[Gold]:
        """The pairs of a split: `train`, `dev` or `test`."""
        return self.records(f"{split}.jsonl", Gold)

    def facts(self) -> Iterator[Fact]:
        """What is correct about each item of the dataset."""
        return self.records(FACTS, Fact)
