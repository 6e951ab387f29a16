"""A figure of a benchmark from labels, as `mores.benchmark.score` has it.

Only the standard library is used: every exported task has a copy of this code (`mores.harness.export`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

LABELS = ("correct", "incorrect", "not_attempted")

Answer = tuple[str, int, int, str | None]
"""The question that an answer is part of, how many parts that has, which sample it is, and its label; None: unread."""


def figure(answers: Iterable[Answer], above: tuple[float, ...], below: tuple[float, ...]) -> float:
    """Return a ratio of sums of the labels of questions, each with its weight; nan where no question has a label.

    A question is correct when all its parts are. One with a part that is unread, or missing, is left out.
    """
    questions: dict[tuple[str, int, int], list[str | None]] = defaultdict(list)
    for unit, parts, sample, label in answers:
        questions[unit, parts, sample].append(label)
    read = [labels for (_, parts, _), labels in questions.items() if len(labels) == parts and None not in labels]
    worst = ("incorrect", "not_attempted", "correct")
    counts = Counter(next(label for label in worst if label in labels) for labels in read)
    part, whole = (
        sum(w * counts[label] for w, label in zip(weights, LABELS, strict=True)) for weights in (above, below)
    )
    return part / whole if whole else float("nan")
