"""A run of `mores build`: a dataset (see `mores.factory.output` for its files) with `run.json` beside it.

The manifest has one line per sample, with the hash of its record; the SHA-256 of `manifest.jsonl` itself names the
dataset exactly. `mores build diff A B` compares two manifests; `mores build verify` checks that a dataset is unchanged
since it was built, and sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from mores.culture import language
from mores.errors import InputError
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.gold import Gold, Kind
from mores.factory.items import Task
from mores.factory.recipe import EDITIONS
from mores.factory.split import SPLITS
from mores.hub import CARD, TAGS, Upload, licence_name, with_fields
from mores.io import read_records
from mores.io.source import numbered_lines
from mores.io.values import load_json
from mores.run import Run
from mores.types import Record

MANIFEST = "manifest.jsonl"


class ManifestEntry(Record):
    """One sample of a dataset."""

    id: str
    split: str
    source: str
    task: Task
    kind: Kind
    group: str
    sha256: str
    """SHA-256 of its line in the file of its split, without the line break."""


class DatasetDifference(Record):
    """The ids of samples of one source, or of `all`, that differ between two datasets, in order."""

    source: str
    same: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """In both, with different contents."""
    moved: tuple[str, ...]
    """Those of `changed` that are in another split."""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def make_entry(gold: Gold, line: bytes) -> ManifestEntry:
    """Return the manifest entry of a sample that is written as this line."""
    return ManifestEntry(
        id=gold.sample.id,
        split=gold.split,
        source=gold.sample.source or "",
        task=gold.task,
        kind=gold.kind,
        group=gold.group,
        sha256=sha256(line.rstrip(b"\n")).hexdigest(),
    )


def read_entries(place: Path) -> dict[str, ManifestEntry]:
    """Return the samples of a dataset by id, from its folder or from its manifest alone."""
    path = place / MANIFEST if place.is_dir() else place
    if not path.is_file():
        raise InputError(f"{place}: no {MANIFEST} in it; build the dataset again with this version of mores")
    entries: dict[str, ManifestEntry] = {}
    for entry in read_records(path, ManifestEntry):
        if entry.id in entries:
            raise InputError(f"{path}: duplicate id {entry.id!r}; build the dataset again")
        entries[entry.id] = entry
    return entries


def compare(before: Path, after: Path) -> list[DatasetDifference]:
    """Return the samples added, removed and changed from one dataset to another: by source, and last of `all`."""
    old, new = read_entries(before), read_entries(after)
    ids = old.keys() | new.keys()
    source_of = {name: (new.get(name) or old[name]).source for name in ids}
    differences = []
    for source in [*sorted(set(source_of.values())), "all"]:
        names = sorted(name for name in ids if source in (source_of[name], "all"))
        both = [name for name in names if name in old and name in new]
        changed = [name for name in both if old[name].sha256 != new[name].sha256]
        differences.append(
            DatasetDifference(
                source=source,
                same=len(both) - len(changed),
                added=tuple(name for name in names if name not in old),
                removed=tuple(name for name in names if name not in new),
                changed=tuple(changed),
                moved=tuple(name for name in changed if old[name].split != new[name].split),
            )
        )
    return differences


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


ABOUT = "recipe.json"
SUMS = "SHA256SUMS"
FILES = {**{f"{split}.jsonl": "Gold" for split in SPLITS}, MANIFEST: "Entry", FACTS: "Fact"}
"""Record types."""


def read_about(path: Path) -> dict[str, Any]:
    """Return the contents of a `recipe.json`; InputError if another edition of the data factory wrote it."""
    fix = "build the dataset again with this version of mores"
    try:
        about: dict[str, Any] = load_json(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error}); {fix}") from error
    if not isinstance(about, dict):
        raise InputError(f"{path}: not a JSON object; {fix}")
    if (edition := about.get("edition", 1)) not in EDITIONS:
        reason = (
            f"edition {edition} of the data factory wrote it, and this version reads {' and '.join(map(str, EDITIONS))}"
        )
        raise InputError(f"{path}: {reason}; {fix}")
    return about


class BuildRun(Run):
    """A dataset of instruction-text pairs with gold error reports."""

    @cached_property
    def about(self) -> dict[str, Any]:
        """The contents of the dataset's card, as plain data: recipe, sources, counts and audits."""
        return read_about(self.file(ABOUT))

    def golds(self, split: str = "test") -> Iterator[Gold]:
        """Return the pairs of a split: `train`, `dev` or `test`."""
        return self.records(f"{split}.jsonl", Gold)

    def facts(self) -> Iterator[CorrectFact]:
        """Return the correct fact about each item of the dataset."""
        return self.records(FACTS, CorrectFact)

    def entries(self) -> Iterator[ManifestEntry]:
        """Return the entries of the manifest: each sample and the hash of its record."""
        return self.records(MANIFEST, ManifestEntry)

    def upload(self, repository: str) -> Upload:
        """Return an upload to the Hub with the files of the dataset and its card; `mores.hub.push` sends it."""
        names = [line.split(maxsplit=1)[1] for line in self.file(SUMS).read_text("utf-8").splitlines()]
        spoken = [name for name in self.about["tables"].get("language of the text", {}) if name != "unknown"]
        splits = (("train", "train"), ("validation", "dev"), ("test", "test"))
        data_files = [{"split": split, "path": f"{name}.parquet"} for split, name in splits]
        fields = {
            "pretty_name": self.about["recipe"]["name"],
            "license": licence_name(source["licence"] for source in self.about["sources"]),
            "language": sorted({language(name).partition("-")[0] for name in spoken}),
            "tags": TAGS,
            "configs": [{"config_name": "default", "data_files": data_files}],
        }
        card = with_fields(self.file("card.md").read_text("utf-8"), fields)
        files: dict[str, Path | bytes] = {name: self.file(name) for name in (*names, SUMS)}
        message = f"Dataset {self.about['recipe']['name']}, manifest {self.about['manifest']}"
        return Upload(repository, "dataset", files | {CARD: card}, message)


def verify(folder: Path) -> list[str]:
    """Return the problems of a dataset."""
    if not (folder / SUMS).is_file():
        raise InputError(f"{folder}: no {SUMS} in it; is it a folder that `mores build` wrote?")
    problems = list(_wrong_sums(folder))
    match read_about(folder / ABOUT):
        case {"recipe": {"errors": int(errors), "cap": int(most)}, "tables": {"split": dict(counted)}}:
            pass
        case _:
            raise InputError(f"{folder / ABOUT}: it lacks a part of the recipe or the counts; build the dataset again")
    listed = read_entries(folder)
    seen: dict[str, str] = {}
    groups: dict[str, str] = {}
    splits, sources = Counter[str](), Counter[str]()
    for split in SPLITS:
        path = folder / f"{split}.jsonl"
        with path.open("rb") as file:
            lines = (line for _, line in numbered_lines(file) if line.strip())
            for gold, line in zip(read_records(path, Gold), lines, strict=True):
                splits[split] += 1
                sources[gold.sample.source or ""] += 1
                problems += _misplaced(gold, split, seen, groups)
                entry = make_entry(gold, line)
                if entry.id not in listed:
                    problems.append(f"{entry.id}: is not in {MANIFEST}")
                elif listed[entry.id] != entry:
                    problems.append(f"{entry.id}: differs from its entry in {MANIFEST}")
                problems += _unsound(gold, errors)
    problems += [f"{name}: is in {MANIFEST}, but in no split" for name in listed.keys() - seen.keys()]
    if splits != counted:
        problems.append(f"{ABOUT} counts {counted}, the files have {dict(splits)}")
    problems += [
        f"{name}: has {count} samples, and its cap is {most}" for name, count in sources.items() if count > most
    ]
    return problems


def _misplaced(gold: Gold, split: str, seen: dict[str, str], groups: dict[str, str]) -> Iterator[str]:
    name = gold.sample.id
    if gold.split != split:
        yield f"{name}: says {gold.split}, but is in {split}"
    if seen.get(name) == split:
        yield f"{name}: duplicate id in {split}"
    if seen.setdefault(name, split) != split or groups.setdefault(gold.group, split) != split:
        yield f"{name}: {gold.group} is in {groups[gold.group]} and in {split}"


def _unsound(gold: Gold, most: int) -> Iterator[str]:
    """Yield the problems of a gold report; rules may put at most `most` errors into a text."""
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
