"""What `mores judge-check` prints."""

from __future__ import annotations

from mores.benchmark.judge_check import JudgeCheckRun
from mores.formatting import between, percent, points, to
from mores.report.base.grid import Grid
from mores.types import Result


def run_tables(run: JudgeCheckRun) -> list[Grid | str]:
    """Return how often a judge grades answers correctly, and which it prefers."""
    check = run.result
    groups = {"": {"all": check.agreement}, "by answer": check.probes, "by language": check.languages}
    sections = [
        (heading, [(name, _cell(result), f"{result.n:,}", f"{result.unscored:,}") for name, result in rows.items()])
        for heading, rows in groups.items()
        if rows
    ]
    notes = [
        f"{name}: called " + ", ".join(f"{grade.replace('_', ' ')} {count:,}" for grade, count in grades.items())
        for name, grades in check.grades.items()
    ]
    notes += [
        f"{name}: called correct {points(bias.value)} points more often ({to(bias.low, bias.high)})"
        for name, bias in check.biases.items()
    ]
    return [Grid(("answers", "graded correctly", "n", "unscored"), sections, "", notes), check.headline]


def _cell(result: Result) -> tuple[str, str]:
    """Return a share and its interval."""
    interval = between(result)
    return percent(result.value), f"({interval})" if interval else ""
