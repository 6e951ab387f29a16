"""What the reports of a reader are worth: several errors, severity, texts with prose, and confidence.

    python benchmarks/reader.py errors --gold grounded/several.jsonl NAME=JUDGED.jsonl ... --out RESULTS
    python benchmarks/reader.py ways --gold grounded/several.jsonl whole=A.jsonl claims=B.jsonl --out RESULTS
    python benchmarks/reader.py confidence --data grounded tuned --out RESULTS
    python benchmarks/reader.py examples --gold examples/world.gold.jsonl reader=JUDGED.jsonl

JUDGED is a file of judgements (`judgements.jsonl` of `mores score`) of samples in a file with gold reports. `errors`
counts an error as found where a judge marks words of its sentence, with 95% intervals of resampled texts. `ways`
compares a reader of whole texts with one that reads claim by claim, and with a third that believes the first unless
its certainty is in the lower half. `confidence` fits slope and offset of the log-odds of the decisions that
`mores train` wrote, and measures the calibration error of each source with those of the others. `examples` counts how
texts are shown for which people gave judgements.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from mores.factory.gold import Gold
from mores.io import read_records
from mores.metric.prompt import claim_spans
from mores.metric.summary import doubt
from mores.types import Error, Judgement

Floats = npt.NDArray[np.float64]
LEAST = 500
"""Decisions of a cell whose calibration is measured."""
BINS = 15
WHOLE = 0.8
"""An error that covers more of its sentence marks the whole of it."""
Pair = tuple[Gold, Judgement]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("errors", "ways", "confidence", "examples"))
    parser.add_argument("inputs", nargs="+", help="NAME=JUDGED.jsonl, or folders that `mores train` wrote")
    parser.add_argument("--gold", type=Path, help="samples with gold reports, as `mores build` writes them")
    parser.add_argument("--data", type=Path, help="the dataset that was trained on")
    parser.add_argument("--out", type=Path, help="where to append a line of JSON for each input")
    given = parser.parse_args()
    if given.what == "confidence":
        rows = [
            {"what": "confidence", "run": Path(run).name} | calibrate(Path(run), given.data) for run in given.inputs
        ]
    elif given.what == "examples":
        people = {row.sample_id: row for row in read_records(given.gold, Judgement)}
        named = dict(each.split("=", 1) for each in given.inputs)
        rows = [
            {"what": "examples", "judge": name, "gold": given.gold.name} | as_shown(people, Path(path))
            for name, path in named.items()
        ]
    else:
        golds = {gold.sample.id: gold for gold in read_records(given.gold, Gold)}
        named = dict(each.split("=", 1) for each in given.inputs)
        judged = {name: pair_up(Path(path), golds) for name, path in named.items()}
        if given.what == "ways":
            judged |= {"whole, then by claims": second_look(*judged.values())}
        rows = [{"what": "errors", "judge": name, "gold": given.gold.stem} | count(of) for name, of in judged.items()]
    for row in rows:
        print(json.dumps(row, ensure_ascii=False, indent=1))
        if given.out:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def pair_up(path: Path, golds: dict[str, Gold]) -> list[Pair]:
    """Judgements with the gold reports of their samples."""
    return [(golds[row.sample_id], row) for row in read_records(path, Judgement) if row.sample_id in golds]


def second_look(first: Sequence[Pair], second: Sequence[Pair]) -> list[Pair]:
    """The first judgements, and the second ones where the first judge is less certain than usual."""
    again = {judgement.sample_id: judgement for _, judgement in second}
    sure = [certainty(judgement) for _, judgement in first]
    return [
        (gold, judgement if certainty(judgement) >= median(sure) else again[judgement.sample_id])
        for gold, judgement in first
    ]


def certainty(judgement: Judgement) -> float:
    """p(R), 0 for a failure."""
    return (judgement.report.certainty if judgement.report else None) or 0.0


def count(pairs: Sequence[Pair]) -> dict[str, object]:
    """Every figure of some judgements."""
    rows = [tally(*pair) for pair in pairs]
    several = [row for row in rows if row["gold"] > 1]
    return {
        "texts": len(pairs),
        "failed": sum(judged.report is None for _, judged in pairs),
        "scaled accuracy": resampled(rows, lambda of: 2 * of("verdict", "one") - 1),
        "recall": resampled(rows, lambda of: of("found", "gold")),
        "recall of several": resampled(several, lambda of: of("found", "gold")),
        "precision": resampled(rows, lambda of: of("meant", "marked")),
        "severity": resampled(
            rows, lambda of: (of("minor correct", "minor found") + of("major correct", "major found")) / 2
        ),
        "errors a text": resampled(rows, lambda of: of("marked", "one")),
        "whole sentences": resampled(rows, lambda of: of("whole", "marked")),
        "with a correction": resampled(rows, lambda of: of("corrected", "marked")),
    }


def tally(gold: Gold, judgement: Judgement) -> Counter[str]:
    """What is counted of one text: an error is found if an error is marked in its sentence."""
    spans, marked = claim_spans(gold.sample.text), judgement.report.errors if judgement.report else ()
    counts = Counter(one=1, gold=len(gold.report.errors), marked=len(marked))
    counts["verdict"] += bool(marked) == bool(gold.report.errors)
    for error in gold.report.errors:
        if beside := [other for other in marked if place(other, spans) == place(error, spans) is not None]:
            counts.update(["found", f"{error.severity} found"])
            counts[f"{error.severity} correct"] += beside[0].severity == error.severity
    wrong = {place(error, spans) for error in gold.report.errors}
    for error in marked:
        at = place(error, spans)
        counts["corrected"] += bool(error.correction)
        if at is not None:
            counts["meant"] += at in wrong
            counts["whole"] += (error.end or 0) - (error.start or 0) > WHOLE * (spans[at][1] - spans[at][0])
    return counts


def place(error: Error, spans: Sequence[tuple[int, int]]) -> int | None:
    """Return the sentence of an error."""
    start = error.start
    return None if start is None else next((n for n, span in enumerate(spans) if span[0] <= start < span[1]), None)


def resampled(rows: Sequence[Counter[str]], figure: Callable[[Callable[[str, str], Floats]], Floats]) -> list[float]:
    """A figure of sums over texts with the interval of 2,000 resamplings, and the number of texts."""
    if not rows:
        return []
    drawn = np.random.default_rng(0).integers(len(rows), size=(2000, len(rows)))
    drawn[0] = np.arange(len(rows))

    def ratio(above: str, below: str) -> Floats:
        sums = [np.array([row[name] for row in rows], dtype=float)[drawn].sum(axis=1) for name in (above, below)]
        with np.errstate(invalid="ignore"):
            return np.asarray(sums[0] / sums[1], dtype=np.float64)

    values = figure(ratio)
    if np.isnan(values[0]):
        return []
    low, high = np.nanquantile(values, (0.025, 0.975))
    return [*(round(float(value), 3) for value in (values[0], low, high)), len(rows)]


def as_shown(people: dict[str, Judgement], path: Path) -> dict[str, object]:
    """How texts are shown, those in which people marked errors and the others; the ids of the former."""
    shown: dict[str, Counter[str]] = {"with errors": Counter(), "without": Counter()}
    found: dict[str, list[str]] = {"on the words": [], "elsewhere": []}
    for judged in read_records(path, Judgement):
        gold, report = people[judged.sample_id].report, judged.report
        if gold is None or report is None:
            how = "failed"
        elif report.errors:
            how = "on the words" if any(overlap(*pair) for pair in product(gold.errors, report.errors)) else "elsewhere"
            how = how if gold.errors else "an error"
        else:
            how = "not known" if report.undecided or doubt(judged) else "no error"
        shown["with errors" if gold and gold.errors else "without"][how] += 1
        if how in found:
            found[how].append(judged.sample_id)
    return shown | {"marked": found}


def overlap(first: Error, second: Error) -> bool:
    """Return whether two errors share a place of the same side."""
    if first.side != second.side or None in (first.start, second.start):
        return False
    return max(first.start or 0, second.start or 0) < min(first.end or 0, second.end or 0)


# ---- confidence ------------------------------------------------------------------------------------------------------


def calibrate(run: Path, data: Path) -> dict[str, object]:
    """Slope, offset and calibration errors, with evidence (sets that were left out) and without (the test split)."""
    figures: dict[str, object] = {}
    for name, decisions, split in (("with evidence", "left-out", "sets"), ("without evidence", "test", "test")):
        golds = {gold.sample.id: gold for gold in read_records(data / f"{split}.jsonl", Gold)}
        rows = [(golds[row.sample_id], -(row.score or 0.0)) for row in
                read_records(run / f"decisions.{decisions}.jsonl", Judgement)]  # fmt: skip
        odds, wrong = np.array([odd for _, odd in rows]), np.array([bool(gold.report.errors) for gold, _ in rows])
        sources = np.array([gold.sample.source for gold, _ in rows])
        chance = np.zeros(len(rows))
        for source in np.unique(sources):
            slope, offset = fit(odds[sources != source], wrong[sources != source])
            chance[sources == source] = 1 / (1 + np.exp(-(slope * odds[sources == source] + offset)))
        cells = {"all": np.ones(len(rows), dtype=bool)}
        cells |= {f"source {source}": sources == source for source in np.unique(sources)}
        languages = np.array([gold.sample.language or "" for gold, _ in rows])
        cells |= {f"language {language}": languages == language for language in np.unique(languages)}
        lengths = np.array([len(gold.sample.text) for gold, _ in rows])
        shorter, longer = np.quantile(lengths, (1 / 3, 2 / 3))
        cells |= {"short": lengths <= shorter, "long": lengths > longer}
        figures[name] = {
            "slope, offset": [round(value, 3) for value in fit(odds, wrong)],
            "calibration error": {
                cell: [round(value, 3) for value in errors(chance[of], wrong[of])] + [int(of.sum())]
                for cell, of in cells.items()
                if of.sum() >= LEAST or cell == "all"
            },
            "raw": [round(value, 3) for value in errors(1 / (1 + np.exp(-odds)), wrong)],
        }
    return figures


def fit(odds: Floats, wrong: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset of the log-odds by maximum likelihood (J. Platt, 1999)."""

    def loss(parameters: Floats) -> float:
        logits = np.where(wrong, 1, -1) * (parameters[0] * odds + parameters[1])
        return float(np.logaddexp(0, -logits).mean())

    found = minimize(loss, np.array([0.5, 0.0]), method="BFGS").x
    return float(found[0]), float(found[1])


def errors(chance: Floats, wrong: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The calibration error of the verdicts in bins of equal size, and the same without what noise adds.

    A. Kumar et al., Verified uncertainty calibration, NeurIPS 2019, of squared errors: the root of the debiased sum.
    """
    confidence, correct = np.maximum(chance, 1 - chance), (chance > 0.5) == wrong
    plain = squared = 0.0
    for part in np.array_split(np.argsort(confidence), BINS):
        gap, accuracy = float(correct[part].mean() - confidence[part].mean()), float(correct[part].mean())
        plain += len(part) / len(chance) * abs(gap)
        squared += len(part) / len(chance) * (gap**2 - accuracy * (1 - accuracy) / (len(part) - 1))
    return plain, math.sqrt(max(0.0, squared))


if __name__ == "__main__":
    main()
