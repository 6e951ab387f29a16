"""Gates for continuous integration: what a run must reach, or the command ends with exit code 3 (docs/ci.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from mores.bench.board import Entry, compare_runs, read_runs
from mores.cli.options import several
from mores.errors import ConfigError, GateError
from mores.metric.summary import Summary
from mores.show import SIGNIFICANT, count, number, p_value, percent, points
from mores.stats.resampling import adjust_p_values
from mores.types import Severity


@dataclass(frozen=True)
class Limit:
    """So many at most, or such a share of all."""

    text: str
    count: int | None = None
    share: float | None = None

    def passed(self, number: int, total: int) -> bool:
        """Whether a number of things stays within it."""
        return number <= self.count if self.count is not None else number <= (self.share or 0.0) * total


class _LimitType(click.ParamType[Limit]):
    name = "N|SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Limit:
        if isinstance(value, Limit):
            return value
        if re.fullmatch(r"\d{1,9}", value):
            return Limit(value, count=int(value))
        return Limit(value, share=SHARE.convert(value, param, ctx))


class _ShareType(click.ParamType[float]):
    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        number = re.fullmatch(r"(\d{1,3}(?:\.\d+)?|\.\d+)(%?)", value)
        share = float(number[1]) / (100 if number[2] else 1) if number else 2.0
        if share > 1:
            self.fail(f"{value!r} is no share; give one such as 0.6 or 60%", param, ctx)
        return share


SHARE = _ShareType()
LIMIT = _LimitType()
_UNJUDGED = click.option("--max-unjudged", type=LIMIT, metavar="N|SHARE",
                         help="Exit with code 3 when more cannot be judged, for example 3 or 5%.")  # fmt: skip
_SCORE = [
    click.option("--fail-on", type=click.Choice([str(Severity.MAJOR), str(Severity.MINOR)]),
                 help="Exit with code 3 when a text has an error that is at least so bad."),
    click.option("--fail-under", type=float, metavar="SCORE", help="Exit with code 3 when the mean score is lower."),
    _UNJUDGED,
]  # fmt: skip
_BENCH = [
    click.option("--fail-under", type=SHARE, metavar="SHARE",
                 help="Exit with code 3 when the first figure of a benchmark is lower, for example 0.6 or 60%."),
    click.option("--baseline", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN",
                 help="Folder of an earlier run: exit with code 3 when this one is significantly worse."),
    _UNJUDGED,
]  # fmt: skip


score_gate_options = several(_SCORE)
"""What a `TextGate` is made of."""
bench_gate_options = several(_BENCH)
"""What `bench_gate` reads."""


@dataclass(frozen=True)
class TextGate:
    """What judged texts must reach."""

    fail_on: str | None
    fail_under: float | None
    max_unjudged: Limit | None

    def check(self, counts: Summary, left_out: int) -> None:
        """GateError where they do not; rows that could not be read count as not judged."""
        problems = [] if counts.judged else ["no text could be judged"]
        bad = [Severity.MAJOR] if self.fail_on == Severity.MAJOR else [Severity.MAJOR, Severity.MINOR]
        found = {severity: counts.errors.get(severity, 0) for severity in bad}
        if self.fail_on and any(found.values()):
            counted = (f"{count(n, f'{name} error')}" for name, n in found.items() if n)
            problems.append(", ".join(counted))
        if self.fail_under is not None and counts.mean_score is not None and counts.mean_score < self.fail_under:
            problems.append(f"the mean score {number(counts.mean_score, 3)} is below {self.fail_under:g}")
        unjudged, total = counts.n - counts.judged + left_out, counts.n + left_out
        problems += _unjudged(self.max_unjudged, unjudged, total, "texts")
        _fail(problems)


@dataclass(frozen=True)
class BenchGate:
    """What the runs of benchmarks must reach."""

    fail_under: float | None
    max_unjudged: Limit | None
    baseline: Sequence[Entry]
    """Read before anything is asked: the new run may take the place of the old one."""

    def check(self, folders: Sequence[Path]) -> None:
        """GateError where a run in these folders does not."""
        entries = read_runs(folders)
        problems = []
        for entry in entries:
            name, first = entry.result.benchmark, entry.headline
            if self.fail_under is not None and (first.value is None or first.value < self.fail_under):
                figure = next(iter(entry.result.figures))
                problems.append(f"{name}: {figure} {percent(first.value)} is below {percent(self.fail_under)}")
            problems += _unjudged(self.max_unjudged, first.unscored, first.n + first.unscored, f"answers of {name}")
        _fail(problems + self._worse(entries))

    def _worse(self, entries: Sequence[Entry]) -> list[str]:
        pairs = [(entry, _same(entry, self.baseline)) for entry in entries] if self.baseline else []
        gaps = [(entry, compare_runs(entry, old)) for entry, old in pairs]
        problems = [f"{entry.result.benchmark}: no question has a score in both runs" for entry, gap in gaps if not gap]
        tested = [(entry, gap) for entry, gap in gaps if gap]
        adjusted = map(float, adjust_p_values([gap.p for _, gap in tested])) if tested else ()
        for (entry, gap), p in zip(tested, adjusted, strict=True):
            if gap.difference < 0 and p < SIGNIFICANT:
                size = f"{points(gap.difference)} points on {gap.n:,} questions, p {p_value(p)}"
                problems.append(f"{entry.result.benchmark}: significantly worse than {gap.against}: {size}")
        return problems


def bench_gate(given: dict[str, Any], names: Sequence[str]) -> BenchGate:
    """The gate that the options describe; they are taken out of `given`."""
    under, unjudged, baseline = (given.pop(name) for name in ("fail_under", "max_unjudged", "baseline"))
    old = read_runs([baseline]) if baseline else []
    if missing := [name for name in names if name not in {entry.result.benchmark for entry in old}] if old else []:
        raise ConfigError(f"--baseline {baseline}: there is no run of {missing[0]} in it")
    return BenchGate(under, unjudged, old)


def _same(entry: Entry, baseline: Sequence[Entry]) -> Entry:
    """The one run of the baseline that asks the same."""
    same = [old for old in baseline if old.result.name == entry.result.name]
    if len(same) == 1:
        return same[0]
    there = f"{len(same)} runs" if same else "no run that asks in the same way"
    raise ConfigError(f"--baseline: there is {there} of {entry.result.name} in it; give the folder of one run")


def _unjudged(limit: Limit | None, number: int, total: int, what: str) -> list[str]:
    if limit is None or limit.passed(number, total):
        return []
    return [f"{number:,} of {total:,} {what} could not be judged; at most {limit.text} may be"]


def _fail(problems: Sequence[str]) -> None:
    if problems:
        raise GateError("; ".join(problems))
