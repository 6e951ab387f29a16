"""Judgements by a column of their texts: counts, means with intervals, and differences where texts are paired.

Texts are paired if two groups have some for the same instruction in the same language about the same region (whichever
of these the column is not): two models that answer the same questions, or one question about three countries. Texts of
a group for the same instruction count as their mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import isnan, nan
from typing import Any, Protocol

import numpy as np

from mores.errors import ConfigError, suggest
from mores.io.columns import LANGUAGE, REGION, fold
from mores.metric.summary import Kind, ScoreSummary, ScoreTally, state
from mores.stats.results import difference_result, mean_result, share_result
from mores.types import DEFAULT_INSTRUCTION, Judgement, Record, Result, Sample, Severity

MOST_COMPARED = 4
"""Groups that are all compared with each other; of more, each is compared with the largest."""
FEWEST_PAIRS = 2
FEWEST = 10
"""Samples or questions that a group needs, so that judges or models are compared in it."""
PLACES = (LANGUAGE, REGION)
"""Columns that texts have besides their metadata."""
PLACE_NAMES = tuple(place.name for place in PLACES)


class Columned(Protocol):
    """A thing that has further columns of its row."""

    @property
    def metadata(self) -> Mapping[str, Any]: ...


class ColumnGroup(Record):
    """The texts that have the same value in a column."""

    name: str
    """The value; empty for texts that have none."""
    counts: ScoreSummary
    with_errors: Result
    """The share of judged texts that have errors."""
    score: Result
    """The mean score of the judged texts."""


class PairedGroups(Record):
    """The difference of two groups on the instructions that both have texts for: the first less the second."""

    first: str
    second: str
    with_errors: Result
    """Of the shares of texts that have errors; `n` is the number of pairs."""
    score: Result
    """Of the mean scores."""


class ColumnResult(Record):
    """Judgements by the values of one column."""

    column: str
    groups: tuple[ColumnGroup, ...]
    """The largest first."""
    differences: tuple[PairedGroups, ...]
    """Where texts are paired."""


class ColumnTally:
    """Counts judgements by a column, one by one."""

    def __init__(self, column: str, *, paired: bool = True) -> None:
        self.column = column
        self.paired = paired
        """True if it keeps the data for differences, which are not little where instructions are long."""
        self._tallies: dict[str, ScoreTally] = defaultdict(ScoreTally)
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._pairs: dict[tuple[str | None, ...], dict[str, list[tuple[float, float]]]] = defaultdict(dict)

    def add(self, sample: Sample, judgement: Judgement, kind: Kind | None = None) -> None:
        """Count one text."""
        group = value_of(sample, self.column) or ""
        self._tallies[group].add(judgement, kind)
        score = nan if judgement.score is None else judgement.score
        self._scores[group].append(score)
        if self.paired and sample.instruction != DEFAULT_INSTRUCTION:
            places = (getattr(sample, name) for name in PLACE_NAMES if name != self.column)
            found = nan if judgement.score is None else float(state(judgement) == "errors")
            self._pairs[sample.instruction, *places].setdefault(group, []).append((found, score))

    def counts(self) -> dict[str, ScoreSummary]:
        """Return the counts of every group, the largest first."""
        counts = {group: tally.summary() for group, tally in self._tallies.items()}
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1].n, pair[0])))

    def result(self) -> ColumnResult:
        """Return the figures of every group so far."""
        known = {group: [score for score in scores if not isnan(score)] for group, scores in self._scores.items()}
        least = min([float(Severity.MAJOR.weight), *(score for scores in known.values() for score in scores)])
        groups = []
        for group, counts in self.counts().items():
            mean = mean_result("mean score", known[group], least=least)
            mean = mean.model_copy(update={"unscored": counts.n - counts.judged})  # they could be as bad as you like
            share = share_result("with errors", counts.with_errors, counts.judged, counts.n - counts.judged)
            groups.append(ColumnGroup(name=group, counts=counts, with_errors=share, score=mean))
        names = [group.name for group in groups]
        compared = combinations(names, 2) if len(names) <= MOST_COMPARED else ((names[0], name) for name in names[1:])
        differences = (self._difference(first, second, least) for first, second in compared)
        return ColumnResult(column=self.column, groups=tuple(groups), differences=tuple(filter(None, differences)))

    def _difference(self, first: str, second: str, least: float) -> PairedGroups | None:
        shared = {key: texts for key, texts in self._pairs.items() if first in texts and second in texts}
        if len(shared) < FEWEST_PAIRS:
            return None
        codes = np.array([hash(key[0]) for key in shared])
        # Of each group, pairs × (with errors, score); a pair is judged if all of its texts are. Pairs for the same
        # instruction, about other regions or in other languages, depend on each other.
        a, b = (np.array([np.mean(texts[group], axis=0) for texts in shared.values()]) for group in (first, second))
        share = difference_result("with errors", a[:, 0], b[:, 0], groups=codes)
        judged = ~np.isnan(a[:, 1] - b[:, 1])
        score = difference_result("mean score", a[judged, 1], b[judged, 1], groups=codes[judged], least=least)
        score = score.model_copy(update={"unscored": int((~judged).sum())})
        return PairedGroups(first=first, second=second, with_errors=share, score=score)


def order_groups(groups: Iterable[str]) -> list[str]:
    """Return groups in their order; what has no value in the column is in the last one, which is called ""."""
    return sorted(groups, key=lambda group: (not group, group))


def results_by(pairs: Iterable[tuple[Sample, Judgement]], column: str) -> ColumnResult:
    """Return judged texts by a column: the language, the region, or one that their metadata has."""
    tally = ColumnTally(column)
    for sample, judgement in pairs:
        tally.add(sample, judgement)
    return tally.result()


def value_of(row: Columned, column: str, fields: Collection[str] = PLACE_NAMES) -> str | None:
    """Return what a text, answer or rating has in a column; `fields` are columns that are not in its metadata."""
    value = getattr(row, column) if column in fields else row.metadata.get(column)
    return None if value is None else str(value)


def find_columns(
    names: Sequence[str], judged: Iterable[tuple[Sample, Judgement]], read: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the columns of judged texts that a person means, as `find_column` does."""
    kept = dict.fromkeys(column for sample, _ in judged for column in sample.metadata) if names else {}
    return tuple(dict.fromkeys(find_column(name, kept, read or {}) for name in names))


def find_column(name: str, kept: Collection[str], read: Mapping[str, str]) -> str:
    """Return the column that a person means: one that is kept, the language or the region, by any of their names.

    `read` has the table's names of the columns that were read, by ours.
    """
    known = {fold(column): column for column in kept}
    for place in PLACES:
        usual = (read.get(place.name, place.name), place.name, *place.aliases, *place.guesses)
        known |= {fold(word): place.name for word in usual if fold(word) not in known}
    if name in kept and name not in PLACE_NAMES:
        return name
    if fold(name) in known:
        return known[fold(name)]
    names = [*dict.fromkeys((*PLACE_NAMES, *kept))]
    hint = suggest(name, names)
    raise ConfigError(f"no column {name!r} to group by; {hint}there are {', '.join(names)}", setting="by")
