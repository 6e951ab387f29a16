"""A run of `mores train`: a tuned model (see `mores.train.study` for its files) with `run.json` beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from mores.run import Run
from mores.train.records import Trained
from mores.types import Judgement

RESULT = "training.json"


class TrainRun(Run):
    """A tuned model."""

    @cached_property
    def result(self) -> Trained:
        """What it was trained on, how long it took, and how well it decides."""
        return self.record(RESULT, Trained)

    def decisions(self, split: str = "test") -> Iterator[Judgement]:
        """What the model decides about the samples of a split."""
        return self.records(f"decisions.{split}.jsonl", Judgement)
