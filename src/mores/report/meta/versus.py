"""A comparison of two sets of judgements (`mores compare`) in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from mores.formatting import SIGNIFICANT, number, p_value, span
from mores.metaevaluation.people.records import STATISTICS as PEOPLE
from mores.metaevaluation.records import STATISTICS, JudgementComparison, MetricComparison
from mores.report.base.grid import Grid, Row, make_grid

NAMES = {**PEOPLE, **STATISTICS, "score": "mean score", "error_free": "without error"}


def versus_tables(versus: JudgementComparison, by: str = "source") -> list[Grid | str]:
    """Return the differences by group, those of all samples, and which is better."""
    more = f", {versus.left_out:,} more left out because one of them has no score" if versus.left_out else ""
    title = f"{versus.first} less {versus.second} on {versus.n:,} samples{more}"
    overall = _grid({NAMES[c.statistic]: c for c in versus.overall}, "statistic", title)
    groups = versus.by.get(by)
    broken_down = [_grid(groups, by, f"{_main(groups)} by {by}", adjusted=True)] if groups else []
    return [*broken_down, overall, _headline(versus)]


def _main(groups: Mapping[str, MetricComparison]) -> str:
    statistic = next(iter(groups.values())).statistic
    return "Scaled accuracy" if statistic == "scaled_accuracy" else NAMES[statistic]


def _grid(rows: Mapping[str, MetricComparison], what: str, title: str, *, adjusted: bool = False) -> Grid:
    columns = (what, "difference", "p", *(["adjusted p"] if adjusted else []), "n")
    shown: list[Row] = []
    for name, row in rows.items():
        chances = [p_value(row.p), *([p_value(row.adjusted)] if adjusted else [])]
        shown.append((name, (number(row.difference, 3, signed=True), _interval(row)), *chances, row.n))
    return make_grid(title, columns, shown)


def _interval(row: MetricComparison) -> str:
    return span(row.low, row.high, 3, signed=True)


def _headline(versus: JudgementComparison) -> str:
    """Return which is better by the first statistic, and whether that may be chance."""
    first = versus.overall[0]
    name = NAMES[first.statistic]
    size = f"{number(first.difference, 3, signed=True)} {_interval(first)}, p {p_value(first.p)}"
    if first.p >= SIGNIFICANT:
        return f"no significant difference in {name}: {size}"
    better, worse = (versus.first, versus.second)[:: 1 if first.difference > 0 else -1]
    return f"{better} is better than {worse} in {name}: {size}"
