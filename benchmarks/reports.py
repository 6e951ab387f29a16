"""How good the reports of a judge are, word for word, on evenly spread samples of a dataset.

    python benchmarks/reports.py --data DIR --split test-covered [--samples 50] [--model embedded] [--decisions FILE]

Of the errors that it finds where there is one: how many are on the right words, cite the right evidence, and say what
should stand there. With `--decisions`, which `mores train` writes, also how often the report decides the same.
"""

from __future__ import annotations

import argparse
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
    golds = every[:: max(1, len(every) // options.samples)][: options.samples]
    judged = open_metric(options.model).judge([gold.sample for gold in golds])
    counts = compare(golds, judged)
    if options.decisions:
        decided = {one.sample_id: one for one in read_records(Path(options.decisions), Judgement)}
        counts["decided the same"] = sum(_agrees(one, decided) for one in judged)
    for name, count in counts.items():
        print(f"{count:4} {name}")


def compare(golds: Sequence[Gold], judged: Sequence[Judgement]) -> Counter[str]:
    """What is right in the reports."""
    counts: Counter[str] = Counter(samples=len(golds))
    for gold, one in zip(golds, judged, strict=True):
        if one.report is None:
            counts["not judged"] += 1
            continue
        counts["verdicts right"] += bool(one.report.errors) == bool(gold.report.errors)
        if one.report.errors and gold.report.errors:
            counts["errors found where there is one"] += 1
            counts.update(_same(one.report.errors[0], gold.report.errors[0]))
    return counts


def _same(found: Error, wanted: Error) -> dict[str, int]:
    return {
        "on the right words": (found.start, found.end) == (wanted.start, wanted.end),
        "with the right citation": found.evidence == wanted.evidence,
        "with the right explanation": found.explanation == wanted.explanation,
    }


def _agrees(one: Judgement, decided: Mapping[str, Judgement]) -> bool:
    scores = [each.score for each in (one, decided.get(one.sample_id)) if each and each.score is not None]
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
