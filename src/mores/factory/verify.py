"""The check of a dataset on disk (`mores build verify`): that it is as it was built, and as every dataset must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from mores.errors import InputError
from mores.factory.folder import ABOUT, SUMS, read_about
from mores.factory.gold import Gold
from mores.factory.manifest import MANIFEST, ManifestEntry, enter, read_entries, sum_of
from mores.factory.split import SPLITS
from mores.io import read_records
from mores.io.source import numbered_lines


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a dataset; empty when nothing is."""
    if not (folder / SUMS).is_file():
        raise InputError(f"{folder}: no {SUMS} in it; is it a folder that `mores build` wrote?")
    problems = list(_wrong_sums(folder))
    errors, most, counted = _promised(folder / ABOUT)
    listed = read_entries(folder)
    seen: dict[str, str] = {}
    groups: dict[str, str] = {}
    splits, sources = Counter[str](), Counter[str]()
    for split in SPLITS:
        for gold, line in _golds(folder / f"{split}.jsonl"):
            splits[split] += 1
            sources[gold.sample.source or ""] += 1
            problems += _misplaced(gold, split, seen, groups)
            problems += _unlisted(enter(gold, line), listed)
            problems += _unsound(gold, errors)
    problems += [f"{name}: is in {MANIFEST}, but in no split" for name in listed.keys() - seen.keys()]
    if splits != counted:
        problems.append(f"{ABOUT} counts {counted}, the files have {dict(splits)}")
    problems += [
        f"{name}: has {count} samples, and its cap is {most}" for name, count in sources.items() if count > most
    ]
    return problems


def _promised(path: Path) -> tuple[int, int, dict[str, int]]:
    """Return the most errors in a text, the most samples of a source, and the size of each split, by `recipe.json`."""
    match read_about(path):
        case {"recipe": {"errors": int(errors), "cap": int(most)}, "tables": {"split": dict(counted)}}:
            return errors, most, counted
    raise InputError(f"{path}: it lacks a part of the recipe or the counts; build the dataset again")


def _golds(path: Path) -> Iterator[tuple[Gold, bytes]]:
    """Yield the records of a split, each with its line."""
    with path.open("rb") as file:
        lines = (line for _, line in numbered_lines(file) if line.strip())
        yield from zip(read_records(path, Gold), lines, strict=True)


def _misplaced(gold: Gold, split: str, seen: dict[str, str], groups: dict[str, str]) -> Iterator[str]:
    name = gold.sample.id
    if gold.split != split:
        yield f"{name}: says {gold.split}, but is in {split}"
    if seen.get(name) == split:
        yield f"{name}: is in {split} twice"
    if seen.setdefault(name, split) != split or groups.setdefault(gold.group, split) != split:
        yield f"{name}: {gold.group} is in {groups[gold.group]} and in {split}"


def _unlisted(entry: ManifestEntry, listed: dict[str, ManifestEntry]) -> Iterator[str]:
    if entry.id not in listed:
        yield f"{entry.id}: is not in {MANIFEST}"
    elif listed[entry.id] != entry:
        yield f"{entry.id}: is not as {MANIFEST} lists it"


def _unsound(gold: Gold, most: int) -> Iterator[str]:
    """Yield what is wrong with a gold report, in which rules may put so many errors at most."""
    name, errors = gold.sample.id, gold.report.errors
    by_model = gold.maker.startswith("model:")  # it may change more words than it was asked to
    if (gold.kind == "correct") != (not errors) or (len(errors) > most and not by_model):
        yield f"{name}: is {gold.kind}, with {len(errors)} errors"
    spans: list[tuple[str, int, int]] = []
    for error in errors:
        if error.start is None or error.end is None or error.quote is None:
            yield f"{name}: an error has no place in the text"
            continue
        spans.append((error.side, error.start, error.end))
        if gold.sample.side(error.side)[error.start : error.end] != error.quote:
            yield f"{name}: the span {error.start}:{error.end} does not hold its quote"
        if not by_model and error.quote not in error.explanation:
            yield f"{name}: the explanation of {error.start}:{error.end} does not name its quote"
    for (side, start, end), (next_side, next_start, next_end) in pairwise(sorted(spans)):
        if side == next_side and next_start < end:
            yield f"{name}: the spans {start}:{end} and {next_start}:{next_end} overlap"


def _wrong_sums(folder: Path) -> Iterator[str]:
    there = {path.name for path in folder.iterdir() if path.is_file()}
    for line in (folder / SUMS).read_text("utf-8", "replace").splitlines():
        wanted, _, name = line.partition("  ")
        if name not in there:
            yield f"{name}: is missing"
        elif sum_of(folder / name) != wanted:
            yield f"{name}: has been changed (sha256 differs)"
