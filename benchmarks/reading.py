"""How well tuned metrics read evidence: on sets that they never saw, on facts in other words, across languages.

    mores build free-2 --data DATASETS --out free
    mores build ground free --out grounded --pairs PAIRS --sentences SENTENCES --translated DATASETS/blend
    mores train --data grounded --out fold-1 --recipe recipe.toml --leave-out creak,conjnli,... \\
        --evaluate test,test-covered,test-reworded,test-pairs,test-translated
    python benchmarks/reading.py --data grounded fold-1 fold-2 --out benchmarks/results/reading.jsonl

Scaled accuracy (0 is guessing) of deciding whether a text has an error, with 95% intervals of 2,000 resamplings of the
groups. The mean over sets counts each set once; the mean over several runs takes each set from the first run that left
it out. For this mean a run can also be the name of one whose figures are in `--out` already: its decisions need not be
there, and its sets are taken as normally distributed. `place` is where among the passages the fact of the sample's own
item stands; `language` is the text's.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from mores.factory.gold import Gold
from mores.io import read_records
from mores.training.examples import UNLABELLED
from mores.training.ground import own_facts
from mores.types import Judgement

RESAMPLINGS = 2000
Floats = npt.NDArray[np.float64]
Figure = tuple[float, float, float, int]
"""A value, its interval, and the number of samples."""
Parts = dict[str, list[tuple[bool, str]]]
"""Whether each decision is correct, and its group, by the part of the data."""
Measured = tuple[Figure, Floats]
"""A set's figure, and its resamplings."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "runs", nargs="+", type=Path, help="folders that `mores train` wrote, or names of runs in --out"
    )
    parser.add_argument("--data", required=True, type=Path, help="the dataset that they were trained on")
    parser.add_argument("--out", type=Path, help="where to append a line of JSON for each run")
    given = parser.parse_args()
    golds = read_golds(given.data)
    left_out: dict[str, Measured] = {}
    for run in given.runs:
        if not run.exists():
            left_out = recorded(run.name, given.out) | left_out
            continue
        about = json.loads((run / "training.json").read_text("utf-8"))
        line = {
            "run": run.name,
            **{field: about[field] for field in ("base", "without", "samples", "teacher", "taught", "device")},
            "recipe": tomllib.loads((run / "recipe.toml").read_text("utf-8")),
        }
        figures, sets = measure(run, golds)
        report(line, figures, given.out)
        left_out = sets | left_out
    if len(given.runs) > 1:
        name = " + ".join(run.name for run in given.runs)
        report({"run": name}, mean_over_sets(left_out, golds), given.out)


def report(about: dict[str, object], measured: dict[str, Figure], out: Path | None) -> None:
    """Print the figures, and append them to a file."""
    print(f"\n{about['run']}")
    for name, (value, low, high, count) in measured.items():
        print(f"  {name:36} {value:6.3f} ({low:.3f} to {high:.3f})  {count:,}")
    if out:
        line = about | {
            "measured": {name: [round(number, 3) for number in figure] for name, figure in measured.items()}
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_golds(data: Path) -> dict[str, Gold]:
    """All samples of a dataset with evidence, by file and id; those that were left out are in `train` or `sets`."""
    golds: dict[str, Gold] = {}
    for path in sorted(set(data.glob("*.jsonl")) - {data / f"{UNLABELLED}.jsonl"}):
        split = "left-out" if path.stem in ("train", "sets") else path.stem
        golds |= {f"{split} {gold.sample.id}": gold for gold in read_records(path, Gold)}
    return golds


def measure(run: Path, golds: dict[str, Gold]) -> tuple[dict[str, Figure], dict[str, Measured]]:
    """Every figure of a run by its name, and the sets that it left out."""
    figures: dict[str, Figure] = {}
    left_out: dict[str, Measured] = {}
    for path in sorted(set(run.glob("decisions.*.jsonl")) - {run / f"decisions.{UNLABELLED}.jsonl"}):
        split = path.name.split(".")[1]
        parts = {part: scaled(decisions) for part, decisions in sorted(decided(path, golds).items())}
        figures |= {f"{split} {part}".strip(): figure for part, (figure, _) in parts.items()}
        if split == "left-out":
            left_out = {part: measured for part, measured in parts.items() if part}
            figures |= mean_over_sets(left_out, golds)
    return figures, left_out


def decided(path: Path, golds: dict[str, Gold]) -> Parts:
    """The decisions of one file."""
    split, parts = path.name.split(".")[1], defaultdict[str, list[tuple[bool, str]]](list)
    for decision in read_records(path, Judgement):
        gold = golds[f"{split} {decision.sample_id}"]
        assert decision.score is not None
        correct = (decision.score < 0) == bool(gold.report.errors)
        for part in parts_of(gold, split):
            parts[part].append((correct, gold.group or gold.sample.id))
    return parts


def parts_of(gold: Gold, split: str) -> Iterable[str]:
    """The tables in which a sample counts."""
    yield ""
    yield gold.sample.source or "unknown"
    if split == "test-translated":
        yield f"language {gold.sample.language}"
    if split == "test-covered":
        places = [place for place, piece in enumerate(gold.sample.evidence, 1) if piece.source in own_facts(gold)]
        yield f"place {places[0] if places else 'none'}"


def scaled(decisions: list[tuple[bool, str]]) -> Measured:
    """Scaled accuracy with its interval, and of how many; and the resamplings."""
    draws = resampled(decisions)
    low, high = np.quantile(draws, (0.025, 0.975))
    value = 2 * float(np.mean([correct for correct, _ in decisions])) - 1
    return (value, float(low), float(high), len(decisions)), draws


def resampled(decisions: list[tuple[bool, str]]) -> Floats:
    """Scaled accuracies of resampled groups."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for correct, group in decisions:
        groups[group].append(correct)
    hits = np.array([sum(members) for members in groups.values()], dtype=float)
    sizes = np.array([len(members) for members in groups.values()], dtype=float)
    drawn = np.random.default_rng(0).integers(len(hits), size=(RESAMPLINGS, len(hits)))
    values: Floats = 2 * hits[drawn].sum(1) / sizes[drawn].sum(1) - 1
    return values


def recorded(run: str, results: Path | None) -> dict[str, Measured]:
    """The left-out sets of a run whose figures were written down, with as many draws as there would be resamplings."""
    lines = map(json.loads, results.read_text("utf-8").splitlines()) if results else ()
    row = next((line for line in lines if line["run"] == run), None)
    if row is None:
        raise SystemExit(f"{run}: neither a folder nor a run in {results or '--out'}")
    sets: dict[str, Measured] = {}
    for name, (value, low, high, count) in row["measured"].items():
        if name.startswith("left-out "):
            dice = np.random.default_rng([*name.encode()])
            draws = dice.normal(value, (high - low) / (2 * NormalDist().inv_cdf(0.975)), RESAMPLINGS)
            sets[name.removeprefix("left-out ")] = (value, low, high, count), draws
    return sets


def mean_over_sets(sets: dict[str, Measured], golds: dict[str, Gold]) -> dict[str, Figure]:
    """The mean over left-out sets in English, and over those in other languages."""
    language = {gold.sample.source: gold.sample.language for gold in golds.values()}
    means = {}
    for name, english in (("English sets", True), ("other sets", False)):
        some = [each for part, each in sets.items() if (language.get(part) == "en") == english]
        if some:
            low, high = np.quantile(np.mean([draws for _, draws in some], axis=0), (0.025, 0.975))
            point = float(np.mean([figure[0] for figure, _ in some]))
            means[f"left-out, {name}"] = point, float(low), float(high), sum(figure[3] for figure, _ in some)
    return means


if __name__ == "__main__":
    main()
