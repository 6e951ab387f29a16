"""Metrics that need no language model: what any metric has to beat.

| name | what it does |
| --- | --- |
| `always`, `never` | finds an error in every sample, or in none |
| `majority` | the verdict that holds for most training samples of the source |
| `words` | bag of words of the text alone: a classifier that never sees the instruction |
| `words-both` | bag of words of the instruction and of the text |
| `similarity` | how similar the text is to the name of the country (CulturalBench), by character n-grams |
| `similarity-minilm`, `similarity-use` | the same by meaning, with an encoder in English or in 16 languages |
| `retrieval` | how well the text agrees with the nearest training facts, found by BM25 |

A score below 0 reports an error, as for every metric. To add a baseline, write a class of the protocol `Baseline` in a
file of this folder, and a line in `BASELINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from mores.errors import InputError
from mores.factory.gold import Gold
from mores.metaevaluation.baselines.constant import Constant, Majority, Words
from mores.metaevaluation.baselines.retrieval import RetrievalBaseline
from mores.metaevaluation.baselines.similarity import Similarity
from mores.signature import sign
from mores.types import Failure, FailureKind, Judgement


class Baseline(Protocol):
    """Scores samples, perhaps after learning from training samples."""

    learns: tuple[str, ...]
    """The splits that it learns from, `train` and `dev`; empty if it does not learn."""
    version: str
    """Changes when its scores do."""

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        """Learn from samples and their gold reports; thresholds are set on `dev`."""

    def scores(self, golds: Sequence[Gold]) -> Sequence[float | str]:
        """Return the score of each sample, below 0 for an error, or why it has none.

        It must not use the gold reports.
        """


BASELINES: dict[str, Callable[[], Baseline]] = {
    "always": lambda: Constant(-1.0),
    "never": lambda: Constant(0.0),
    "majority": Majority,
    "words": lambda: Words(both=False),
    "words-both": lambda: Words(both=True),
    "similarity": Similarity,
    "similarity-minilm": lambda: Similarity("minilm"),
    "similarity-use": lambda: Similarity("use"),
    "retrieval": RetrievalBaseline,
}
NEEDS: dict[str, tuple[str, ...]] = {
    "words": ("sklearn", "scipy"),
    "words-both": ("sklearn", "scipy"),
    "similarity": ("sklearn",),
}
"""The libraries that baselines need."""
ALL = tuple(name for name in BASELINES if not name.startswith("similarity-"))
"""Those that need nothing beyond the extra `meta`, so that all of them are the same ones everywhere."""
SHORTCUT = "words"
"""The baseline that never sees the instruction."""


def fit(name: str, baseline: Baseline, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
    """Fit a baseline; InputError unless there are samples with and without errors."""
    for split, golds in (("train", train), ("dev", dev)):
        if split in baseline.learns and len({bool(gold.report.errors) for gold in golds}) < 2:
            raise InputError(f"{name} learns from {split}.jsonl, which must have correct and wrong samples")
    baseline.fit(train, dev)


def judge(name: str, baseline: Baseline, golds: Sequence[Gold]) -> Iterator[Judgement]:
    """Yield the scores of a baseline as judgements, like those of any metric."""
    signature = sign({"metric": f"{name}.{baseline.version}"})
    for gold, score in zip(golds, baseline.scores(golds), strict=True):
        failure = Failure(kind=FailureKind.INPUT, reason=score) if isinstance(score, str) else None
        value = None if isinstance(score, str) else float(score)
        yield Judgement.of(gold.sample, judge=name, score=value, failure=failure, signature=signature)
