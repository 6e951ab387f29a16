"""Which differences between metrics are significant: paired tests on the samples that both scored.

Scaled accuracy is tested by permutation: the verdicts of the two metrics are swapped item by item at random, 1,000
times (ExCAM, Section 4). Statistics over pairs of samples are tested through the influence of each item (see
`stats.influence`): swapping scores would compare one metric's scale with the other's, and would need a pass over all
pairs each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from mores.factory.gold import Gold
from mores.metaevaluation.evaluate import Moved, Scored, influences, labels
from mores.metaevaluation.records import MetricComparison
from mores.stats import influence
from mores.stats.paired import PairedDifference, paired_difference
from mores.stats.resampling import adjust_p_values

PERMUTATIONS = 1000
FEWEST = 10
"""Samples that a group needs to be tested."""


def compare_all(metrics: Mapping[str, Scored], moved: Mapping[str, Moved]) -> list[MetricComparison]:
    """Return every pair of metrics, with p-values adjusted within each statistic."""
    by_statistic: dict[str, list[MetricComparison]] = {}
    for names in combinations(metrics, 2):
        parts = shared(metrics[names[0]], metrics[names[1]])
        influenced = [
            moved[name] if part is metrics[name] else influences(part) for name, part in zip(names, parts, strict=True)
        ]
        for comparison in _compare(names, parts, (influenced[0], influenced[1])):
            by_statistic.setdefault(comparison.statistic, []).append(comparison)
    return [comparison for comparisons in by_statistic.values() for comparison in adjusted(comparisons)]


def compare_scored(names: tuple[str, str], parts: tuple[Scored, Scored]) -> list[MetricComparison]:
    """Return every statistic of two metrics on the same samples."""
    return list(_compare(names, parts, (influences(parts[0]), influences(parts[1]))))


def compare_groups(metrics: Mapping[str, Scored], golds: Sequence[Gold]) -> list[MetricComparison]:
    """In every group, the most accurate metric against each other metric, adjusted within the group."""
    comparisons: list[MetricComparison] = []
    for (grouping, group), members in _members(golds).items():
        if len(members) < FEWEST:
            continue
        scored_parts = {name: scored.among(members) for name, scored in metrics.items()}
        parts = {name: part for name, part in scored_parts.items() if len(part.golds) >= FEWEST}
        tests = [test for test in _against_best(parts) if test]
        labels_of_group = {"grouping": grouping, "group": group}
        comparisons += (
            [comparison.model_copy(update=labels_of_group) for comparison in adjusted(tests)] if tests else []
        )
    return comparisons


def _members(golds: Sequence[Gold]) -> dict[tuple[str, str], set[str]]:
    members: dict[tuple[str, str], set[str]] = defaultdict(set)
    for gold, groups in zip(golds, labels(golds), strict=True):
        for label in groups:
            members[label].add(gold.sample.id)
    return members


def _against_best(parts: Mapping[str, Scored]) -> Iterator[MetricComparison | None]:
    best = max(parts, key=lambda name: float((parts[name].reported == parts[name].wrong).mean()), default=None)
    if best is not None:
        for name in parts:
            if name != best:
                yield compare_accuracy(best, name, *shared(parts[best], parts[name]))


def adjusted(comparisons: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Return the comparisons with p-values adjusted for their number."""
    p_values = adjust_p_values([comparison.p for comparison in comparisons])
    return [c.model_copy(update={"adjusted": float(p)}) for c, p in zip(comparisons, p_values, strict=True)]


def compare_accuracy(first_name: str, second_name: str, first: Scored, second: Scored) -> MetricComparison | None:
    """Return the difference in scaled accuracy of two metrics on the same samples."""
    hits = [(scored.reported == scored.wrong) * 2.0 for scored in (first, second)]
    test = paired_difference(*hits, groups=first.groups, most=2.0, permutations=PERMUTATIONS)
    return test and compared((first_name, second_name), "scaled_accuracy", test, len(first.golds))


def shared(first: Scored, second: Scored) -> tuple[Scored, Scored]:
    """Return both metrics on the samples that both scored, in the same order."""
    at = {gold.sample.id: row for row, gold in enumerate(second.golds)}
    rows = [(row, at[gold.sample.id]) for row, gold in enumerate(first.golds) if gold.sample.id in at]
    if len(rows) == len(first.golds) == len(second.golds) and all(row == other_row for row, other_row in rows):
        return first, second
    return first.take([row for row, _ in rows]), second.take([row for _, row in rows])


def _compare(
    names: tuple[str, str], parts: tuple[Scored, Scored], moved: tuple[Moved, Moved]
) -> Iterator[MetricComparison]:
    if accuracy := compare_accuracy(*names, *parts):
        yield accuracy
    for statistic, first in moved[0].items():
        second = moved[1][statistic]
        if first and second:
            yield compared(names, statistic, influence.compare(first, second, parts[0].groups), len(parts[0].golds))


def compared(
    names: tuple[str, str], statistic: str, test: influence.ZTest | PairedDifference, n: int
) -> MetricComparison:
    """Return the record of a test, its p-value not yet adjusted."""
    return MetricComparison(
        first=names[0], second=names[1], statistic=statistic, difference=test.difference, low=test.low, high=test.high,
        p=test.p_value, adjusted=test.p_value, n=n,
    )  # fmt: skip
