"""Gates for continuous integration: a result that is not good enough raises a `GateError` (docs/ci.md).

    TextGate(fail_on="major", max_unjudged="2%").check(mores.score(texts, model))
    TextGate(fail_on="major", baseline="earlier").check(run)
    BenchGate(fail_under="60%", baseline="earlier").check([run])

A gate is made before anything is asked: it reads its limits and the baseline, which the new run may overwrite.
In a test of pytest a gate that fails is shown at the line of the test, not inside this module (`__tracebackhide__`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from mores.errors import ConfigError, GateError
from mores.formatting import SIGNIFICANT, count, number, p_value, percent, points
from mores.metric.folder import ScoreRun, open_score_run
from mores.metric.summary import ScoreSummary, doubt, errors, summarise
from mores.run import Run
from mores.settings import Settings, setting
from mores.settings.values import OptionalPath
from mores.types import Judgement, Severity

if TYPE_CHECKING:
    from mores.benchmark.board import BoardEntry

FAIL_ON = {Severity.MAJOR: (Severity.MAJOR,), Severity.MINOR: (Severity.MAJOR, Severity.MINOR)}
"""The severities that each value of `fail_on` forbids."""
UNJUDGED = "Exit with code 3 when more texts or answers cannot be judged, for example 3 or 5%."
UNKNOWN = "Exit with code 3 when the judge can decide nothing about more texts, for example 3 or 5%."
BASELINE = "Folder of an earlier run: exit with code 3 when this one is significantly worse."
SHOWN = 10
"""Most errors and texts that are named beside the reason."""


class TextGate(Settings, table="score-gate"):
    """The gate of judged texts: no error at least as bad as `fail_on`, and a mean score of `fail_under`.

    `baseline` is an earlier run of the same judge over texts with the same ids, which they may not be significantly
    worse than: a paired permutation test of the scores, and of the shares of texts without errors, adjusted for both.
    At most `max_unjudged` of them may be left without a judgement, and `max_unknown` without a decision: a number, or a
    share such as 0.05 or "5%". Without these none may be, for nobody knows what is wrong with them.
    """

    fail_on: Severity | Literal["major", "minor"] | None = setting(
        default=None, kw_only=False, help="Exit with code 3 when a text has an error that is at least this severe."
    )
    fail_under: float | None = setting(
        default=None, kw_only=False, metavar="SCORE", help="Exit with code 3 when the mean score is lower."
    )
    max_unjudged: float | str | None = setting(default=None, kw_only=False, metavar="N|SHARE", help=UNJUDGED)
    max_unknown: float | str | None = setting(default=None, metavar="N|SHARE", help=UNKNOWN)
    baseline: OptionalPath = setting(default=None, place="folder", metavar="RUN", help=BASELINE)

    if TYPE_CHECKING:
        _baseline: ClassVar[dict[str, Judgement]]

    def __post_init__(self) -> None:
        super().__post_init__()
        _Limit(self.max_unjudged)
        _Limit(self.max_unknown, "max_unknown")
        earlier = open_score_run(self.baseline).judgements() if self.baseline else ()
        scored = {judgement.sample_id: judgement for judgement in earlier if judgement.score is not None}
        object.__setattr__(self, "_baseline", scored)

    @property
    def severities(self) -> tuple[Severity, ...]:
        """The severities of errors that no text may have."""
        return FAIL_ON[Severity(self.fail_on)] if self.fail_on else ()

    def check(self, judged: ScoreSummary | ScoreRun | Iterable[Judgement], left_out: int = 0) -> None:
        """Raise GateError where they do not; rows that were left out as unreadable count as not judged.

        Where the judgements are given, notes of the error name the first texts that caused it.
        """
        __tracebackhide__ = True
        if not isinstance(judged, ScoreSummary | ScoreRun):
            judged = list(judged)
        problems = self.find_problems(judged, left_out)
        judgements = judged.judgements() if isinstance(judged, ScoreRun) else judged
        _fail(problems, () if isinstance(judgements, ScoreSummary) else self._causes(judgements))

    def find_problems(self, judged: ScoreSummary | ScoreRun | Sequence[Judgement], left_out: int = 0) -> list[str]:
        """Return where they do not."""
        if isinstance(judged, ScoreRun):
            summary = judged.result
        else:
            summary = judged if isinstance(judged, ScoreSummary) else summarise(judged)
        problems = [] if summary.judged else ["no text could be judged"]
        forbidden = {severity: summary.errors.get(severity, 0) for severity in self.severities}
        if any(forbidden.values()):
            problems.append(", ".join(count(n, f"{severity} error") for severity, n in forbidden.items() if n))
        mean = summary.mean_score
        if self.fail_under is not None and mean is not None and mean < self.fail_under:
            problems.append(f"the mean score {number(mean, 3)} is below {self.fail_under:g}")
        if self.baseline and summary.judged:
            problems += self._worse(judged)
        total = summary.n + left_out
        unjudged = summary.n - summary.judged - summary.unknown + left_out
        asked = self.fail_on is not None or self.fail_under is not None or self.baseline is not None
        if unjudged and asked and not problems and self.max_unjudged is None:
            lack = f"{unjudged:,} of {total:,} texts could not be judged, and may be worse than the others"
            problems.append(f"{lack}; judge them again, or set max_unjudged")
        if summary.unknown and asked and not problems and self.max_unknown is None:
            lack = f"about {summary.unknown:,} of {total:,} texts the judge could decide nothing"
            problems.append(f"{lack}; give evidence about them, or set max_unknown")
        problems += _Limit(self.max_unjudged).problems(unjudged, total, "texts")
        return problems + _Limit(self.max_unknown, "max_unknown").problems(summary.unknown, total, "texts")

    def _worse(self, judged: ScoreSummary | ScoreRun | Sequence[Judgement]) -> list[str]:
        """Return where the texts are significantly worse than those of the baseline."""
        from mores.metaevaluation.compare import UNPAIRED, compare_texts
        from mores.stats.resampling import adjust_p_values

        if isinstance(judged, ScoreSummary):
            raise ConfigError("a baseline is compared text by text; give the run or its judgements, not their counts")
        judgements = judged.judgements() if isinstance(judged, ScoreRun) else judged
        scored = {judgement.sample_id: judgement for judgement in judgements if judgement.score is not None}
        earlier, name = self._baseline, str(self.baseline)
        if not scored.keys() & earlier.keys():
            return [f"no text has a score both here and in {name}; {UNPAIRED}"]
        tests = compare_texts(("this run", name), scored, earlier, setting="baseline").overall
        changes = [
            f"mean score {number(tests[0].difference, 3, signed=True)}",
            f"texts without errors {points(tests[1].difference)} points",
        ]
        return [
            f"significantly worse than {name} on {count(test.n, 'text')}: {change}, p {p_value(float(p))}"
            for test, change, p in zip(tests, changes, adjust_p_values([test.p for test in tests]), strict=True)
            if test.difference < 0 and p < SIGNIFICANT
        ]

    def _causes(self, judgements: Iterable[Judgement]) -> Iterator[str]:
        """Yield each forbidden error, and each text that could not be judged, with its place."""
        for judgement in judgements:
            if judgement.failure:
                yield f"{judgement.sample_id}: not judged: {judgement.failure.reason}"
            elif judgement.score is None:
                yield f"{judgement.sample_id}: not known: {doubt(judgement)}"
            for error in errors(judgement):
                if error.severity in self.severities:
                    yield f"{judgement.sample_id}: {error.severity} error in {error.quote!r}: {error.explanation}"


class BenchGate(Settings, table="bench-gate"):
    """The gate of benchmark runs: `fail_under` in their first figure, a share such as 0.6 or "60%".

    They must reach it whatever the unscored answers are: each counts as bad as it can be.
    `baseline` is the folder of earlier runs, which they may not be significantly worse than: a paired permutation test
    on the questions that have a score in both, adjusted for the number of benchmarks. At most `max_unjudged` of the
    answers may be unscored; without it, a run may also not be worse if all of them are wrong.
    """

    fail_under: float | str | None = setting(
        default=None,
        kw_only=False,
        metavar="SHARE",
        help="Exit with code 3 when the first figure of a benchmark is lower, for example 0.6 or 60%.",
    )
    baseline: OptionalPath = setting(
        default=None,
        kw_only=False,
        place="folder",
        metavar="RUN",
        help=BASELINE,
    )
    max_unjudged: float | str | None = setting(default=None, kw_only=False, metavar="N|SHARE", help=UNJUDGED)

    if TYPE_CHECKING:
        _fail_under: ClassVar[float | None]
        _baseline: ClassVar[list[BoardEntry]]
        _unjudged: ClassVar[_Limit]

    def __post_init__(self) -> None:
        super().__post_init__()
        share = None if self.fail_under is None else _share(self.fail_under, "fail_under")
        object.__setattr__(self, "_fail_under", share)
        object.__setattr__(self, "_baseline", _read(self.baseline) if self.baseline else [])
        object.__setattr__(self, "_unjudged", _Limit(self.max_unjudged))

    def require_baseline(self, names: Iterable[str]) -> None:
        """Raise ConfigError where the baseline has no run of one of these benchmarks; call it before they are run."""
        known = {entry.result.benchmark for entry in self._baseline}
        if missing := [name for name in names if self._baseline and name not in known]:
            raise ConfigError(f"{self.baseline}: there is no run of {missing[0]} in it", setting="baseline")

    def check(self, runs: Iterable[Run | Path | str]) -> None:
        """Raise GateError where a run, which may be given by its folder, does not."""
        __tracebackhide__ = True
        entries = _read(*(run.path if isinstance(run, Run) else run for run in runs))
        problems = []
        for entry in entries:
            name, first, under = entry.result.benchmark, entry.headline, self._fail_under
            shown = f"{name}: {next(iter(entry.result.figures), '')} {percent(first.value)}"
            least = first.bounds[0] if first.bounds else None if first.unscored else first.value
            if under is not None and (first.value is None or first.value < under):
                problems.append(f"{shown} is below {percent(under)}")
            elif under is not None and (least is None or least < under):
                worst = f"{'unknown' if least is None else percent(least)} if they are as bad as they can be"
                problems.append(
                    f"{shown} may be below {percent(under)}:"
                    f" {count(first.unscored, 'answer')} could not be scored, and it is {worst}"
                )
            problems += self._unjudged.problems(first.unscored, first.n + first.unscored, f"answers of {name}")
        _fail(problems + self._worse(entries))

    def _worse(self, entries: Sequence[BoardEntry]) -> list[str]:
        """Return where a run is significantly worse than its baseline, may be, or cannot be compared with it."""
        pairs = [(entry, self._earlier(entry)) for entry in entries] if self._baseline else []
        unshared = [run.result.benchmark for run, other in pairs if not run.credit.keys() & other.credit.keys()]
        problems = [f"{name}: no question has a score in both runs" for name in unshared]
        problems += [f"{name}: significantly worse than {size}" for name, size in _significantly_worse(pairs)]
        if problems or self.max_unjudged is not None:
            return problems
        filled = (
            (replace(run, credit=run.filled(0.0), missing={}), replace(other, credit=other.filled(1.0), missing={}))
            for run, other in pairs
        )
        return [
            f"{name}: if answers without a score are as bad as they can be, significantly worse than {size}; ask again,"
            " or set max_unjudged"
            for name, size in _significantly_worse(filled)
        ]

    def _earlier(self, entry: BoardEntry) -> BoardEntry:
        """Return the one run of the baseline that asks the same."""
        name = entry.result.name
        same = [earlier for earlier in self._baseline if earlier.result.name == name]
        if len(same) == 1:
            return same[0]
        found = f"contains {len(same)} runs of {name}" if same else f"contains no run that asks {name} in the same way"
        raise ConfigError(f"{self.baseline}: {found}; give the folder of one run", setting="baseline")


def _read(*folders: Path | str) -> list[BoardEntry]:
    """Return the runs of benchmarks in folders; what reads them is imported for no help text."""
    from mores.benchmark.board import read_runs

    return read_runs(map(Path, folders))


def _significantly_worse(pairs: Iterable[tuple[BoardEntry, BoardEntry]]) -> Iterator[tuple[str, str]]:
    """Yield the benchmark of each run that is worse than its baseline, and by how much; p is adjusted for all."""
    from mores.benchmark.board import compare_runs
    from mores.stats.resampling import adjust_p_values

    gaps = [(run.result.benchmark, gap) for run, other in pairs if (gap := compare_runs(run, other))]
    adjusted = map(float, adjust_p_values([gap.p for _, gap in gaps])) if gaps else ()
    for (name, gap), p in zip(gaps, adjusted, strict=True):
        if gap.difference < 0 and p < SIGNIFICANT:
            yield name, f"{gap.against}: {points(gap.difference)} points on {gap.n:,} questions, p {p_value(p)}"


class _Limit:
    """A limit: a number, or a share; None is no limit."""

    def __init__(self, value: float | str | None, setting: str = "max_unjudged") -> None:
        self._value, self._lack = value, "could not be judged" if setting == "max_unjudged" else "are not known"
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value):
            value = int(value)
        if value is None or (isinstance(value, int) and value >= 0):
            self._most: float | None = value
        else:
            self._most = _share(value, setting, "a number or a share; give one such as 3 or 5%")

    def problems(self, number: int, total: int, what: str) -> list[str]:
        """Return what to say where there are more than that."""
        if self._most is None or number <= (self._most if isinstance(self._most, int) else self._most * total):
            return []
        return [f"{number:,} of {total:,} {what} {self._lack}; at most {self._value} may be"]


def _share(value: float | str, setting: str, expected: str = "a share; give one such as 0.6 or 60%") -> float:
    """Return a share between 0 and 1, also from a text such as 0.6 or 60%."""
    if isinstance(value, str):
        parts = re.fullmatch(r"(\d{1,3}(?:\.\d+)?|\.\d+)(%?)", value)
        share = float(parts[1]) / (100 if parts[2] else 1) if parts else math.nan
    else:
        share = float(value)
    if not 0 <= share <= 1:
        raise ConfigError(f"{value!r} is not {expected}", setting=setting)
    return share


def _fail(problems: Sequence[str], causes: Iterable[str] = ()) -> None:
    __tracebackhide__ = True
    if problems:
        failed = GateError("; ".join(problems))
        for cause in islice(causes, SHOWN):
            failed.add_note(cause)
        raise failed
