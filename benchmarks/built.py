"""The figures of datasets that `mores build` wrote, in a small file beside the docs that quote them.

    mores build free --data DATASETS --out free
    python benchmarks/built.py free ... --out benchmarks/results/built.jsonl

A line for each dataset: counts, the scaled accuracy of every audit with its standard error, and words of 40 or more texts of a
source that are in more than twice as many wrong as correct texts, or the other way round, with both numbers.
"""  # noqa: E501 - commands

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mores import open_run
from mores.factory.errors.rules.edit import folded
from mores.factory.folder import MANIFEST, BuildRun, sum_of
from mores.factory.split import SPLITS
from mores.factory.words import OFTEN


def unbalanced_words(texts: Iterable[tuple[bool, str]]) -> dict[str, tuple[int, int]]:
    """Return the words of 40 or more texts that are in twice as many wrong as correct texts, or the other way round."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for correct, text in texts:
        for word in dict.fromkeys(folded(text)):
            counts[word][correct] += 1
    return {
        word: (wrong, correct)
        for word, (wrong, correct) in sorted(counts.items())
        if wrong + correct >= OFTEN and max(wrong, correct) > 2 * min(wrong, correct)
    }


def figures(folder: Path) -> dict[str, object]:
    """Return what the docs say of a dataset."""
    run = open_run(folder)
    assert isinstance(run, BuildRun)
    about = run.about
    texts: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    severities: dict[str, int] = defaultdict(int)
    for split in SPLITS:
        for gold in run.golds(split):
            texts[gold.sample.source or ""].append((gold.kind == "correct", gold.sample.text))
            severities[gold.kind] += len(gold.report.errors)
    audits = {"shortcut": about["shortcut"], **about["audits"]}
    return {
        "recipe": about["recipe"]["name"],
        "edition": about["edition"],
        "mores": about["mores"],
        "manifest": sum_of(folder / MANIFEST)[:8],
        "samples": about["samples"],
        **{name: about["tables"][name] for name in ("kind", "language of the text", "errors of a text")},
        "source": {source: len(of) for source, of in sorted(texts.items())},
        "errors": {kind: number for kind, number in severities.items() if number},
        "audits": {
            name: {source: [round(found["value"], 3), round(found["error"], 3)] for source, found in of.items()}
            for name, of in audits.items()
        },
        "unbalanced words": {source: words for source, of in texts.items() if (words := unbalanced_words(of))},
    }


def main() -> None:
    """Write a line for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="folders that `mores build` wrote")
    parser.add_argument("--out", type=Path, help="the file to write")
    options = parser.parse_args()
    lines = [json.dumps(figures(folder), ensure_ascii=False) for folder in options.folders]
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
