"""What a larger model decides about pairs that nobody labelled, for a smaller one to learn from.

    mores train --data grounded --base LARGE --out teacher --evaluate unlabelled
    mores train --data grounded --out student --teacher teacher

The student learns the decision alone, and how sure the teacher is of it (Hinton et al., 2015).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.io import read_records
from mores.types import Judgement, Sample

UNLABELLED = "unlabelled"
"""The file of a dataset with such pairs, and the name of the decisions about them."""
TEMPERATURE = 1.5
"""Log-odds are divided by this: a tuned model is surer than it is often correct."""
LEAST_DOUBT = 0.02


class Labelled(NamedTuple):
    """A sample, and what the teacher decided about it."""

    sample: Sample
    odds: float
    """Log-odds of an error."""

    @property
    def doubt(self) -> float:
        """The probability that the decision is wrong."""
        other = math.exp(-abs(self.odds) / TEMPERATURE)
        return max(LEAST_DOUBT, other / (1 + other))


def read_labelled(data: Path, teacher: Path, leave_out: Collection[str] = ()) -> list[Labelled]:
    """What a teacher decided about the unlabelled pairs of a dataset: as many with an error as without."""
    pairs, decisions = data / f"{UNLABELLED}.jsonl", teacher / f"decisions.{UNLABELLED}.jsonl"
    if not pairs.is_file():
        raise ConfigError(f"{data}: no {pairs.name} in it; `mores build ground` writes it where it gets pairs")
    if not decisions.is_file():
        reason = (
            f"no {decisions.name} in it; train the teacher on the same data, and let it decide about {UNLABELLED!r}"
        )
        raise ConfigError(f"{teacher}: {reason}", setting="teacher")
    odds = {judgement.sample_id: -judgement.score for judgement in read_records(decisions, Judgement)
            if judgement.score is not None}  # fmt: skip
    samples = {sample.id: sample for sample in read_records(pairs, Sample)}
    if unknown := next((name for name in odds if name not in samples), None):
        raise InputError(f"{decisions}: decides about {unknown!r}, which is not in {pairs}; train the teacher again")
    kept = [name for name in odds if samples[name].source not in leave_out]
    kept.sort(key=lambda name: draw(0, "labelled", name))
    wrong, correct = ([name for name in kept if (odds[name] > 0) == side] for side in (True, False))
    count = min(len(wrong), len(correct))
    if not count:
        side = "correct" if correct else "wrong"
        raise InputError(
            f"{decisions}: the teacher calls all {len(kept):,} pairs {side}; it has learned nothing to teach"
        )
    return [Labelled(samples[name], odds[name]) for name in wrong[:count] + correct[:count]]
