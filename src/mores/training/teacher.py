"""What a larger model decides about pairs that nobody labelled, for a smaller one to learn from.

    mores train --data grounded --base LARGE --out teacher --evaluate unlabelled
    mores train --data grounded --out student --teacher teacher

The student learns the decision alone, and how sure the teacher is of it (Hinton et al., 2015). Several teachers, each
of which may have left other sources out, decide together: by the mean of the log-odds of those who know.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.io import read_records
from mores.run import open_run
from mores.training.folder import TrainRun
from mores.types import Judgement, Sample

UNLABELLED = "unlabelled"
"""The file of a dataset with such pairs, and the name of the decisions about them."""
TEMPERATURE = 1.5
"""Log-odds are divided by this: a tuned model is surer than it is often correct."""
LEAST_DOUBT = 0.02


class TaughtSample(NamedTuple):
    """A sample, and what the teacher decided about it."""

    sample: Sample
    odds: float
    """Log-odds of an error."""

    @property
    def doubt(self) -> float:
        """The probability that the decision is wrong."""
        other = math.exp(-abs(self.odds) / TEMPERATURE)
        return max(LEAST_DOUBT, other / (1 + other))


def read_labelled(data: Path, teachers: Sequence[Path], leave_out: Collection[str] = ()) -> list[TaughtSample]:
    """Return what teachers decided about the unlabelled pairs of a dataset: as many with an error as without."""
    pairs = data / f"{UNLABELLED}.jsonl"
    if not pairs.is_file():
        raise ConfigError(f"{data}: no {pairs.name} in it; `mores build ground` writes it where it gets pairs")
    samples = {sample.id: sample for sample in read_records(pairs, Sample)}
    odds: dict[str, list[float]] = defaultdict(list)
    for teacher in teachers:
        for judgement in _decisions(teacher, leave_out):
            sample = samples.get(judgement.sample_id)
            if sample is None or sample.text != judgement.text or judgement.score is None:
                reason = f"{judgement.sample_id!r} is not decided about as it is in {pairs}; train the teacher again"
                raise InputError(f"{teacher}: {reason}")
            odds[sample.id].append(-judgement.score)
    rows = (TaughtSample(samples[name], fmean(values)) for name, values in odds.items())
    kept = sorted((row for row in rows if row.sample.source not in leave_out), key=_rank)
    wrong, correct = ([row for row in kept if (row.odds > 0) == side] for side in (True, False))
    if not (count := min(len(wrong), len(correct))):
        side = "correct" if correct else "wrong"
        names = ", ".join(map(str, teachers))
        raise InputError(f"{names}: decided that all {len(kept):,} pairs are {side}; that is nothing to teach")
    return wrong[:count] + correct[:count]


def _decisions(teacher: Path, leave_out: Collection[str]) -> Iterator[Judgement]:
    decisions = teacher / f"decisions.{UNLABELLED}.jsonl"
    if not decisions.is_file():
        reason = (
            f"no {decisions.name} in it; train the teacher on the same data, and let it decide about {UNLABELLED!r}"
        )
        raise ConfigError(f"{teacher}: {reason}", setting="teacher")
    run = open_run(teacher)
    if not isinstance(run, TrainRun):
        raise ConfigError(f"{teacher}: a run of `mores {run.kind}`; give one of `mores train`", setting="teacher")
    without = (run.result.without or "").split(", ")
    if known := sorted(set(leave_out).difference(without)):
        reason = f"it was trained on {known[0]}, which its student would learn from it; train a teacher without it"
        raise ConfigError(f"{teacher}: {reason}", setting="teacher")
    return read_records(decisions, Judgement)


def _rank(row: TaughtSample) -> bytes:
    return draw(0, "labelled", row.sample.id)
