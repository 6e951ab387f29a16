"""The decisions of a larger model about unlabelled pairs, for a smaller one to learn from.

    mores train --data grounded --base LARGE --out teacher --evaluate unlabelled
    mores train --data grounded --out student --teacher teacher

The student learns only the decision and the teacher's confidence (Hinton et al., 2015). Several teachers, each of which
may have left out other sources, decide together: by the mean of the log-odds of those that decided.
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
from mores.formatting import count as count_of
from mores.io import read_records
from mores.run import open_run
from mores.training.folder import TrainRun
from mores.types import Judgement, Sample

UNLABELLED = "unlabelled"
"""The name of the file of unlabelled pairs, and of the decisions about them."""
TEMPERATURE = 1.5
"""Log-odds are divided by this: a tuned model is overconfident."""
LEAST_DOUBT = 0.02


class TaughtSample(NamedTuple):
    """A sample, and the teacher's decision about it."""

    sample: Sample
    odds: float
    """Log-odds of an error."""

    @property
    def doubt(self) -> float:
        """The probability that the decision is wrong."""
        other = math.exp(-abs(self.odds) / TEMPERATURE)
        return max(LEAST_DOUBT, other / (1 + other))


def read_labelled(data: Path, teachers: Sequence[Path], leave_out: Collection[str] = ()) -> list[TaughtSample]:
    """Return the decisions of teachers about the unlabelled pairs of a dataset, as many with an error as without."""
    pairs = data / f"{UNLABELLED}.jsonl"
    if not pairs.is_file():
        raise ConfigError(f"{data}: no {pairs.name} in it; `mores build ground` writes it from pairs")
    samples = {sample.id: sample for sample in read_records(pairs, Sample)}
    odds: dict[str, list[float]] = defaultdict(list)
    for teacher in teachers:
        for judgement in _decisions(teacher, leave_out):
            sample = samples.get(judgement.sample_id)
            if sample is None or sample.text != judgement.text or judgement.score is None:
                reason = f"{judgement.sample_id!r} differs from {pairs}; train the teacher again"
                raise InputError(f"{teacher}: {reason}")
            odds[sample.id].append(-judgement.score)
    rows = (TaughtSample(samples[name], fmean(values)) for name, values in odds.items())
    rows = (row for row in rows if row.sample.source not in leave_out)
    kept = sorted(rows, key=lambda row: draw(0, "labelled", row.sample.id))
    wrong, correct = ([row for row in kept if (row.odds > 0) == side] for side in (True, False))
    if not (count := min(len(wrong), len(correct))):
        side = "correct" if correct else "wrong"
        names = ", ".join(map(str, teachers))
        raise InputError(f"{names}: decided that all {count_of(len(kept), 'pair')} are {side}; that teaches nothing")
    return wrong[:count] + correct[:count]


def _decisions(teacher: Path, leave_out: Collection[str]) -> Iterator[Judgement]:
    decisions = teacher / f"decisions.{UNLABELLED}.jsonl"
    if not decisions.is_file():
        fix = f"train the teacher on the same data, and let it decide about {UNLABELLED!r}"
        raise ConfigError(f"{teacher}: no {decisions.name} in it; {fix}", setting="teacher")
    run = open_run(teacher)
    if not isinstance(run, TrainRun):
        raise ConfigError(f"{teacher}: a run of `mores {run.kind}`; give one of `mores train`", setting="teacher")
    without = (run.result.without or "").split(", ")
    if known := sorted(set(leave_out).difference(without)):
        reason = f"it was trained on {known[0]}, so its student would learn it too; train a teacher without it"
        raise ConfigError(f"{teacher}: {reason}", setting="teacher")
    return read_records(decisions, Judgement)
