"""When several judges are better than one: by simulation, and on gold reports with judgements that you have.

    python benchmarks/ensemble.py                                       # simulated judges, in seconds
    python benchmarks/ensemble.py --gold test.jsonl RUN RUN RUN         # runs of `mores score` on its texts

Simulated: half of the texts have an error. A judge finds it with a probability and invents one in correct texts with
another; a share of its mistakes is common to all judges, as models have learnt from the same texts. Figures are the
accuracy of the verdict and the F1 of the marked characters, of the best single judge and of the merged one, with the
difference and its 95% interval over texts. The merging is that of `mores.metric.ensemble`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mores.factory.gold import Gold
from mores.io import read_records
from mores.metric.ensemble import merge
from mores.metric.folder import open_score_run
from mores.stats.results import difference_result, mean_result
from mores.types import Error, ErrorReport, Judgement, Sample, Severity, Signature

TEXT = "".join(f"word{number:02d} " for number in range(20))
Reports = Mapping[str, Sequence[ErrorReport]]


def simulate(
    texts: int, skills: Sequence[tuple[float, float]], common: float, seed: int
) -> tuple[list[Sample], list[ErrorReport], Reports]:
    """Return texts, their true reports, and those of judges with these rates of finding and inventing errors."""
    generator = np.random.default_rng(seed)
    samples = [Sample(id=str(number), text=TEXT) for number in range(texts)]
    truth, reports = [], {f"judge {place}": list[ErrorReport]() for place in range(len(skills))}
    for _ in samples:
        wrong, place, decoy = generator.random() < 0.5, int(generator.integers(0, 18)), int(generator.integers(0, 18))
        truth.append(ErrorReport(errors=(mark(place, 2),) if wrong else ()))
        shared = generator.random()  # the luck that all judges have together
        for of_judge, (finds, invents) in zip(reports.values(), skills, strict=True):
            luck = shared if generator.random() < common else generator.random()
            shift = int(generator.integers(-1, 2))
            if wrong:
                errors = (mark(max(0, place + shift), 2),) if luck < finds else ()
            else:
                own = decoy if generator.random() < common else int(generator.integers(0, 18))
                errors = (mark(own, 2),) if luck > 1 - invents else ()
            of_judge.append(ErrorReport(errors=errors, certainty=0.8))
    return samples, truth, reports


def mark(word: int, words: int) -> Error:
    """Return an error in so many words of the text."""
    start, end = 7 * word, min(7 * (word + words), len(TEXT)) - 1
    return Error(side="text", start=start, end=end, quote=TEXT[start:end], severity=Severity.MINOR, type="simulated")


def merged(samples: Sequence[Sample], reports: Reports) -> list[ErrorReport]:
    """Return what the ensemble says about each text."""
    said = []
    for place, sample in enumerate(samples):
        judgements = {
            name: Judgement.of(sample, judge=name, score=-1.0 if own[place].errors else 0.8, report=own[place])
            for name, own in reports.items()
        }
        said.append(merge(sample, judgements, "ensemble", Signature()).report or ErrorReport())
    return said


def verdicts(truth: Sequence[ErrorReport], said: Sequence[ErrorReport]) -> list[float]:
    """Return for every text whether the verdict, an error or none, is correct."""
    return [float(bool(a.errors) == bool(b.errors)) for a, b in zip(truth, said, strict=True)]


def span_f1(truth: Sequence[ErrorReport], said: Sequence[ErrorReport]) -> float:
    """Return the F1 of marked characters."""
    both = [({*_characters(a)}, {*_characters(b)}) for a, b in zip(truth, said, strict=True)]
    hits, all_ = sum(len(a & b) for a, b in both), sum(len(a) + len(b) for a, b in both)
    return 2 * hits / all_ if all_ else 1.0


def _characters(report: ErrorReport) -> list[tuple[str, int]]:
    return [
        (e.side, at) for e in report.errors if e.start is not None and e.end is not None for at in range(e.start, e.end)
    ]


def compare(samples: Sequence[Sample], truth: Sequence[ErrorReport], reports: Reports) -> dict[str, object]:
    """Return the best judge beside the ensemble."""
    best = max(reports, key=lambda name: float(np.mean(verdicts(truth, reports[name]))))
    ensemble = merged(samples, reports)
    single, several = verdicts(truth, reports[best]), verdicts(truth, ensemble)
    gain = difference_result("gain", several, single)
    return {
        "judges": len(reports), "texts": len(samples),
        "single": {name: round(float(np.mean(verdicts(truth, said))), 3) for name, said in reports.items()},
        "ensemble": round(mean_result("accuracy", several).value or 0.0, 3),
        "gain": [round(value, 3) for value in (gain.value or 0.0, gain.low or 0.0, gain.high or 0.0)],
        "span F1": [round(span_f1(truth, reports[best]), 3), round(span_f1(truth, ensemble), 3)],
    }  # fmt: skip


SCENARIOS = {
    "three alike, independent": ([(0.75, 0.25)] * 3, 0.0),
    "five alike, independent": ([(0.75, 0.25)] * 5, 0.0),
    "three alike, half of the mistakes common": ([(0.75, 0.25)] * 3, 0.5),
    "three alike, all mistakes common": ([(0.75, 0.25)] * 3, 1.0),
    "two alike": ([(0.75, 0.25)] * 2, 0.0),
    "two that invent much": ([(0.9, 0.5)] * 2, 0.0),
    "one good, two weak": ([(0.9, 0.1), (0.6, 0.4), (0.6, 0.4)], 0.0),
    "three near chance": ([(0.55, 0.45)] * 3, 0.0),
}


def main() -> None:
    """Print a line for each scenario, or for the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--texts", type=int, default=4000)
    options = parser.parse_args()
    if not options.gold:
        for name, (skills, common) in SCENARIOS.items():
            print(json.dumps({"scenario": name} | compare(*simulate(options.texts, skills, common, 0))), flush=True)
        return
    golds = {gold.sample.id: gold for gold in read_records(options.gold, Gold)}
    found = {run: {j.sample_id: j for j in open_score_run(run).judgements() if j.report} for run in options.runs}
    shared = [id_ for id_ in golds if all(id_ in judged for judged in found.values())]
    reports = {run: [judged[id_].report or ErrorReport() for id_ in shared] for run, judged in found.items()}
    samples, truth = [golds[id_].sample for id_ in shared], [golds[id_].report for id_ in shared]
    print(json.dumps({"gold": options.gold.name} | compare(samples, truth, reports)))


if __name__ == "__main__":
    main()
