"""Which differences between metrics are significant: paired tests on the samples that both scored.

Scaled accuracy is tested by permutation: the verdicts of the two metrics are swapped item by item at random, 1,000
times (ExCAM, Section 4). Statistics over pairs of samples are tested through the influence of each item (see
`stats.influence`): swapping scores would compare one metric's scale with the other's, and would need a pass over all
pairs each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from mores.factory.gold import Gold
from mores.metaevaluation.evaluate import Moved, Scored, influences, label_groups
from mores.metaevaluation.records import MetricComparison
from mores.stats import influence
from mores.stats.paired import PairedDifference, paired_difference
from mores.stats.resampling import adjust_p_values

PERMUTATIONS = 1000
FEWEST = 10
"""Samples that a group needs to be tested."""


def compare_all(metrics: Mapping[str, Scored], moved: Mapping[str, Moved]) -> list[MetricComparison]:
    """Return every pair of metrics, with p-values adjusted within each statistic."""
    comparisons: list[MetricComparison] = []
    for names in combinations(metrics, 2):
        parts = shared(metrics[names[0]], metrics[names[1]])
        influenced = [
            moved[name] if part is metrics[name] else influences(part) for name, part in zip(names, parts, strict=True)
        ]
        comparisons += _compare(names, parts, (influenced[0], influenced[1]))
    return adjust_within_statistics(comparisons)


def compare_scored(names: tuple[str, str], parts: tuple[Scored, Scored]) -> list[MetricComparison]:
    """Return every statistic of two metrics on the same samples."""
    return list(_compare(names, parts, (influences(parts[0]), influences(parts[1]))))


def compare_groups(metrics: Mapping[str, Scored], golds: Sequence[Gold]) -> list[MetricComparison]:
    """Compare the most accurate metric of every group with each other metric, adjusted within the group."""
    comparisons: list[MetricComparison] = []
    members: dict[tuple[str, str], set[str]] = defaultdict(set)
    for gold, groups in zip(golds, label_groups(golds), strict=True):
        for label in groups:
            members[label].add(gold.sample.id)
    for (grouping, group), ids in members.items():
        if len(ids) < FEWEST:
            continue
        scored_parts = {name: scored.among(ids) for name, scored in metrics.items()}
        parts = {name: part for name, part in scored_parts.items() if len(part.golds) >= FEWEST}
        best = max(parts, key=lambda name: float((parts[name].reported == parts[name].wrong).mean()), default="")
        others = [(name, *shared(parts[best], part)) for name, part in parts.items() if name != best]
        tests = [test for name, *pair in others if (test := compare_accuracy(best, name, *pair))]
        comparisons += (
            test.model_copy(update={"grouping": grouping, "group": group}) for test in adjust_comparisons(tests)
        )
    return comparisons


def adjust_within_statistics(comparisons: Iterable[MetricComparison]) -> list[MetricComparison]:
    """Return the comparisons by statistic, with p-values adjusted for the number of each."""
    by_statistic: dict[str, list[MetricComparison]] = defaultdict(list)
    for comparison in comparisons:
        by_statistic[comparison.statistic].append(comparison)
    return [comparison for same in by_statistic.values() for comparison in adjust_comparisons(same)]


def adjust_groups(tests: Mapping[str, MetricComparison | None]) -> dict[str, MetricComparison]:
    """Return the comparisons of the groups that could be tested, with p-values adjusted for their number."""
    tested = {group: test for group, test in tests.items() if test}
    return dict(zip(tested, adjust_comparisons(list(tested.values())), strict=True))


def adjust_comparisons(comparisons: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Return the comparisons with p-values adjusted for their number."""
    if not comparisons:
        return []
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
