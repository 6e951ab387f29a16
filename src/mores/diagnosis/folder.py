"""A run of `mores diagnose`: the findings of each kind of diagnosis, one file per kind beside `run.json`.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `KIND.json` | the `Findings`: every result with its paragraph in plain words, and what was left out |
| `KIND/…` | the answers of the model and the judge |
| `bench/…`, `samples/…` | runs like those of `mores bench`, if a benchmark was given instead of a run |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mores.benchmark.folder import BenchRun, open_bench_run
from mores.diagnosis import calibration, contamination, errors, locality, retrieval, scale, stability, translation
from mores.diagnosis.calibration import CalibrationResult
from mores.diagnosis.contamination import Contamination
from mores.diagnosis.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnosis.locality import Locality
from mores.diagnosis.retrieval import RetrievalResult
from mores.diagnosis.scale import ItemScale
from mores.diagnosis.stability import MEAN, SOMETIMES, Stability
from mores.diagnosis.translation import SAME_TEXT, TranslationResult
from mores.errors import InputError
from mores.formatting import count, number, percent, points
from mores.io import write_text
from mores.run import Run, open_run
from mores.stats.calibration import ACCURACY, ECE
from mores.types import Record

KINDS = ("calibration", "stability", "retrieval", "translation", "errors", "locality")
"""The kinds that a diagnosis of all has."""
ITEMS, CONTAMINATION = "items", "contamination"


class _Description(NamedTuple):
    """The words and counts that describe a result."""

    paragraph: Callable[[Any], str]
    headline: Callable[[Any], str]
    counted: Callable[[Any], int]
    """How many answers or questions it is based on."""
    failures: Callable[[Any], Mapping[str, int]]


_DESCRIPTIONS: dict[type[Record], _Description] = {
    CalibrationResult: _Description(
        calibration.paragraph,
        lambda result: f"ECE {number(result.figures[ECE].value, 1)} points, {result.source}",
        lambda result: result.figures[ACCURACY].n,
        lambda result: result.missing,
    ),
    Stability: _Description(
        stability.paragraph,
        lambda result: f"{percent(result.figures[SOMETIMES].value)} sometimes correct",
        lambda result: result.figures[MEAN].n,
        lambda result: result.missing,
    ),
    RetrievalResult: _Description(
        retrieval.paragraph,
        lambda result: f"{points(result.change.gain.value)} points with evidence",
        lambda result: result.change.gain.n,
        lambda result: result.left_out,
    ),
    TranslationResult: _Description(
        translation.paragraph,
        lambda result: f"{points(result.change.gain.value)} points {result.names[1]}",
        lambda result: result.change.gain.n,
        lambda result: {reason: count for reason, count in result.left_out.items() if reason != SAME_TEXT},
    ),
    ErrorsResult: _Description(
        errors.paragraph,
        lambda result: f"{count(result.wrong)} wrong answers",
        lambda result: result.wrong - result.unscored,
        lambda result: result.failures,
    ),
    ErrorTable: _Description(
        lambda table: "".join(f"{note[0].upper()}{note[1:]}. " for note in table.notes).strip(),
        lambda _: "",
        lambda _: 0,
        lambda _: {},
    ),
    TypeCheck: _Description(
        errors.check_paragraph,
        lambda result: f"the judge agrees with people in {percent(result.accuracy.value)}",
        lambda _: 0,
        lambda result: result.failures,
    ),
    Locality: _Description(
        locality.paragraph,
        lambda result: (
            f"{count(len(result.models))} models on {count(len(result.benchmarks))} benchmarks by {result.grouping}"
        ),
        lambda result: sum(profile.overall.n for profile in result.profiles),
        lambda _: {},
    ),
    Contamination: _Description(
        contamination.paragraph,
        lambda result: f"{', '.join(result.flagged) or 'no sign'} of having seen the data",
        lambda result: sum(test.seen.n for test in result.tests),
        lambda _: {},
    ),
    ItemScale: _Description(
        scale.paragraph,
        lambda result: f"{count(len(result.models))} models and {count(len(result.questions))} questions on one scale",
        lambda result: len(result.questions),
        lambda _: {},
    ),
}
_NAMES = {record: record.__name__ for record in _DESCRIPTIONS} | {CalibrationResult: "Calibration"}
"""The names of the records in files."""
_RECORDS = {name: record for record, name in _NAMES.items()}


def paragraph(result: Record) -> str:
    """Return a result in plain words."""
    return _DESCRIPTIONS[type(result)].paragraph(result)


@dataclass
class Findings:
    """The results of one kind of diagnosis, and what was skipped."""

    kind: str
    results: list[Record] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """What was skipped, and why."""

    @property
    def file(self) -> str:
        """The name of the file with these findings."""
        return f"{self.kind}.json"

    def add(self, findings: Findings) -> None:
        """Add the findings of another target."""
        self.results += findings.results
        self.left_out |= findings.left_out

    def dump(self) -> dict[str, Any]:
        """Return the findings as JSON."""
        results = [
            {"record": _NAMES[type(result)], "paragraph": paragraph(result), "result": result.model_dump(mode="json")}
            for result in self.results
        ]
        return {"kind": self.kind, "results": results, "left_out": self.left_out}

    def write(self, folder: Path) -> None:
        """Write them to their file."""
        write_text(folder / self.file, json.dumps(self.dump(), indent=1, ensure_ascii=False) + "\n")


class DiagnoseRun(Run):
    """A run of a diagnosis."""

    @cached_property
    def findings(self) -> list[Findings]:
        """The findings of every kind of diagnosis; InputError if there are none yet."""
        if not self.manifest.files:
            raise InputError(
                f"{self.path}: the run has no findings, because it is {self.manifest.status}; diagnose again"
            )
        return [_read(self.file(name)) for name in self.manifest.files]

    @property
    def results(self) -> list[Record]:
        """All results, of all kinds."""
        return [result for findings in self.findings for result in findings.results]

    @property
    def unmeasured(self) -> list[str]:
        """The models with their benchmarks of which no result is based on any answer."""
        counts: Counter[str] = Counter()
        for result in self.results:
            names = (getattr(result, name, "") for name in ("model", "benchmark"))
            counts[", ".join(filter(None, names))] += _DESCRIPTIONS[type(result)].counted(result)
        if not any(counts):
            counts = Counter({"the runs": counts[""]})
        return [name for name, counted in counts.items() if name and not counted]

    def bench_runs(self) -> list[BenchRun]:
        """Return the runs of benchmarks that it analyses."""
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
    """Return the main number of each result."""
    headlines = (
        (part.kind, _DESCRIPTIONS[type(result)].headline(result)) for part in findings for result in part.results
    )
    return "; ".join(f"{kind}: {text}" for kind, text in headlines if text)


def failures_of(findings: Iterable[Findings]) -> dict[str, int]:
    """Return what is missing in the results, by reason."""
    counts: Counter[str] = Counter()
    for part in findings:
        for result in part.results:
            counts.update(_DESCRIPTIONS[type(result)].failures(result))
    return dict(counts)


def open_diagnose_run(path: Path | str) -> DiagnoseRun:
    """Return the run of a diagnosis in a folder."""
    run = open_run(path)
    if not isinstance(run, DiagnoseRun):
        raise InputError(f"{path}: it is a run of mores {run.kind}; give one of mores diagnose")
    return run
