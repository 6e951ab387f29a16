"""Several judges of the same answers: the majority counts, and how far they agree is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mores.benchmark.benchmark import Label, Verdict
from mores.io import JsonlWriter, read_records
from mores.stats.agreement import krippendorff_alpha
from mores.types import Failure, FailureKind

LABELS = tuple(Label)


def combine(judged: dict[str, Path], path: Path) -> float | None:
    """Write the majority's verdict on every answer to a file; return Krippendorff's α, None where it is undefined."""
    votes = bytearray()
    with JsonlWriter(path) as writer:
        for verdicts in zip(*(read_records(file, Verdict) for file in judged.values()), strict=True):
            votes += bytes(LABELS.index(verdict.label) if verdict.label else 255 for verdict in verdicts)
            writer.write(_majority(list(judged), verdicts))
    ratings = np.frombuffer(bytes(votes), dtype=np.uint8).reshape(-1, len(judged)).T.astype(np.float64)
    ratings[ratings == 255] = np.nan
    return krippendorff_alpha(ratings.tolist(), "nominal") if ratings.size else None


def _majority(judges: Sequence[str], verdicts: Sequence[Verdict]) -> Verdict:
    """Return the label that more than half of the judges who gave one agree on; their words stand in the reason."""
    labels = Counter(verdict.label for verdict in verdicts if verdict.label)
    words = [v.label.value if v.label else f"unscored ({v.failure.reason if v.failure else ''})" for v in verdicts]
    judgements = "; ".join(f"{judge}: {said}" for judge, said in zip(judges, words, strict=True))
    first = verdicts[0]
    if labels:
        label, count = labels.most_common(1)[0]
        if 2 * count > labels.total():
            return first.model_copy(update={"label": label, "reason": judgements, "failure": None, "read": None})
    reason = f"there is no majority: {judgements}" if labels else f"no judge gave a grade: {judgements}"
    failure = Failure(kind=FailureKind.MODEL, reason=reason)
    return first.model_copy(update={"label": None, "reason": "", "failure": failure, "read": None})
