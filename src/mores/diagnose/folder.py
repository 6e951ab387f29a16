"""A run of `mores diagnose`: the findings of each kind of diagnosis, one file per kind beside `run.json`.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and how far it has come |
| `KIND.json` | the `Findings`: every result with its paragraph in plain words, and what was left out |
| `KIND/…` | what the model and the judge were asked and answered |
| `bench/…`, `samples/…` | runs like those of `mores bench`, where a benchmark was given instead of a run |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mores.bench.folder import BenchRun, open_bench_run
from mores.diagnose import calibration, errors, locality, retrieval, stability, translation
from mores.diagnose.calibration import Calibration
from mores.diagnose.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnose.locality import Locality
from mores.diagnose.retrieval import RetrievalResult
from mores.diagnose.stability import MEAN, SOMETIMES, Stability
from mores.diagnose.translation import SAME_TEXT, TranslationResult
from mores.errors import InputError
from mores.io import write_text
from mores.run import Run, open_run
from mores.show import number, percent, points
from mores.stats.calibration import ACCURACY, ECE
from mores.types import Record

KINDS = ("calibration", "stability", "retrieval", "translation", "errors", "locality")


class _Told(NamedTuple):
    """What is said about a result."""

    paragraph: Callable[[Any], str]
    headline: Callable[[Any], str]
    counted: Callable[[Any], int]
    """How many answers or questions it rests on."""
    failures: Callable[[Any], Mapping[str, int]]


_TOLD: dict[type[Record], _Told] = {
    Calibration: _Told(
        calibration.paragraph,
        lambda result: f"ECE {number(result.figures[ECE].value, 1)} points, {result.source}",
        lambda result: result.figures[ACCURACY].n,
        lambda result: result.missing,
    ),
    Stability: _Told(
        stability.paragraph,
        lambda result: f"{percent(result.figures[SOMETIMES].value)} correct only sometimes",
        lambda result: result.figures[MEAN].n,
        lambda result: result.missing,
    ),
    RetrievalResult: _Told(
        retrieval.paragraph,
        lambda result: f"{points(result.change.gain.value)} points with evidence",
        lambda result: result.change.gain.n,
        lambda result: result.left_out,
    ),
    TranslationResult: _Told(
        translation.paragraph,
        lambda result: f"{points(result.change.gain.value)} points {result.names[1]}",
        lambda result: result.change.gain.n,
        lambda result: {reason: count for reason, count in result.left_out.items() if reason != SAME_TEXT},
    ),
    ErrorsResult: _Told(
        errors.paragraph,
        lambda result: f"{result.wrong:,} wrong answers",
        lambda result: result.wrong - result.unscored,
        lambda result: result.failures,
    ),
    ErrorTable: _Told(
        lambda table: "".join(f"{note[0].upper()}{note[1:]}. " for note in table.notes).strip(),
        lambda _: "",
        lambda _: 0,
        lambda _: {},
    ),
    TypeCheck: _Told(
        errors.check_paragraph,
        lambda result: f"the judge agrees with people in {percent(result.accuracy.value)}",
        lambda _: 0,
        lambda result: result.failures,
    ),
    Locality: _Told(
        locality.paragraph,
        lambda result: f"{len(result.models):,} models on {len(result.benchmarks):,} benchmarks by {result.grouping}",
        lambda result: sum(profile.overall.n for profile in result.profiles),
        lambda _: {},
    ),
}
_RECORDS = {record.__name__: record for record in _TOLD}


def paragraph(result: Record) -> str:
    """A result in plain words."""
    return _TOLD[type(result)].paragraph(result)


@dataclass
class Findings:
    """The results of one kind of diagnosis, and what it could not say."""

    kind: str
    results: list[Record] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """What was not done, and why."""

    @property
    def file(self) -> str:
        """The name of their file."""
        return f"{self.kind}.json"

    def add(self, other: Findings) -> None:
        """Take over the findings of another target."""
        self.results += other.results
        self.left_out |= other.left_out

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        results = [
            {"record": type(result).__name__, "paragraph": paragraph(result), "result": result.model_dump(mode="json")}
            for result in self.results
        ]
        return {"kind": self.kind, "results": results, "left_out": self.left_out}

    def write(self, folder: Path) -> None:
        """Put them into their file."""
        write_text(folder / self.file, json.dumps(self.dump(), indent=1, ensure_ascii=False) + "\n")


class DiagnoseRun(Run):
    """A run of a diagnosis."""

    @cached_property
    def findings(self) -> list[Findings]:
        """Of every kind of diagnosis that was made; InputError before there are any."""
        if not self.manifest.files:
            raise InputError(f"{self.path}: the run has no findings; it is {self.manifest.status}: diagnose again")
        return [_read(self.file(name)) for name in self.manifest.files]

    @property
    def results(self) -> list[Record]:
        """All results, of whatever kind."""
        return [result for each in self.findings for result in each.results]

    @property
    def measured(self) -> bool:
        """Whether any result rests on an answer or a question."""
        return any(_TOLD[type(result)].counted(result) for result in self.results)

    def bench_runs(self) -> list[BenchRun]:
        """The runs of benchmarks that it is about."""
        return [open_bench_run(self.path / parent) for parent in self.manifest.parents]


def _read(path: Path) -> Findings:
    try:
        raw = json.loads(path.read_text("utf-8"))
        results = [
            _RECORDS[entry["record"]].model_validate_json(json.dumps(entry["result"])) for entry in raw["results"]
        ]
        return Findings(raw["kind"], results, raw["left_out"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: it cannot be read ({error}); diagnose again") from None


def headline_of(findings: Iterable[Findings]) -> str:
    """The main number of each result."""
    told = ((each.kind, _TOLD[type(result)].headline(result)) for each in findings for result in each.results)
    return "; ".join(f"{kind}: {text}" for kind, text in told if text)


def failures_of(findings: Iterable[Findings]) -> dict[str, int]:
    """What is missing in the results, by reason."""
    counts: Counter[str] = Counter()
    for each in findings:
        for result in each.results:
            counts.update(_TOLD[type(result)].failures(result))
    return dict(counts)


def open_diagnose_run(path: Path | str) -> DiagnoseRun:
    """The run of a diagnosis in a folder."""
    run = open_run(path)
    if not isinstance(run, DiagnoseRun):
        raise InputError(f"{path}: it is a run of mores {run.kind}; give one of mores diagnose")
    return run
