"""How good the reports of a judge are, word for word, on evenly spread samples of a dataset.

    python benchmarks/reports.py --data DIR --split test-covered [--samples 50] [--model embedded] [--decisions FILE]

Where there is an error and the judge finds one: how many are on the correct words, cite the correct evidence, and name
the correction. With `--decisions`, which `mores train` writes, also how often the report decides the same; then only
samples count about which something was decided: `--split sets` with `decisions.left-out.jsonl` has the sets that were
left out.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from mores.factory.gold import Gold
from mores.io import read_records
from mores.metric import open_metric
from mores.types import Error, Judgement


def main() -> None:
    """Judge, compare, print."""
    options = _options()
    every = list(read_records(Path(options.data) / f"{options.split}.jsonl", Gold))
    decisions = read_records(Path(options.decisions), Judgement) if options.decisions else ()
    decided = {judgement.sample_id: judgement for judgement in decisions}
    if decided:
        every = [gold for gold in every if gold.sample.id in decided]
    golds = every[:: max(1, len(every) // options.samples)][: options.samples]
    judged = open_metric(options.model).judge([gold.sample for gold in golds])
    counts = compare(golds, judged)
    if decided:
        counts["decided the same"] = sum(_agrees(judgement, decided) for judgement in judged)
    for name, count in counts.items():
        print(f"{count:4} {name}")


def compare(golds: Sequence[Gold], judged: Sequence[Judgement]) -> Counter[str]:
    """What is correct in the reports."""
    counts: Counter[str] = Counter(samples=len(golds))
    for gold, judgement in zip(golds, judged, strict=True):
        if judgement.report is None:
            counts["not judged"] += 1
            continue
        counts["correct verdicts"] += bool(judgement.report.errors) == bool(gold.report.errors)
        if judgement.report.errors and gold.report.errors:
            counts["errors found where there is one"] += 1
            counts.update(_same(judgement.report.errors[0], gold.report.errors[0]))
    return counts


def _same(error: Error, gold: Error) -> dict[str, int]:
    return {
        "on the correct words": (error.start, error.end) == (gold.start, gold.end),
        "with the correct citation": error.evidence == gold.evidence,
        "naming the correct words": _named(error) == _named(gold),
    }


def _named(error: Error) -> set[str]:
    """What an explanation quotes besides the error: the words that would be correct, or the evidence."""
    return {quoted.casefold() for quoted in re.findall("“(.*?)”", error.explanation)} - {error.quote.casefold()}


def _agrees(judgement: Judgement, decided: Mapping[str, Judgement]) -> bool:
    scores = [
        candidate.score
        for candidate in (judgement, decided.get(judgement.sample_id))
        if candidate and candidate.score is not None
    ]
    return len(scores) == 2 and (scores[0] < 0) == (scores[1] < 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="a folder of `mores build` or `mores build ground`")
    parser.add_argument("--split", default="test")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--decisions", help="what `mores train` decided about them")
    return parser.parse_args()


if __name__ == "__main__":
    main()
