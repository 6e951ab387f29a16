"""A run of `mores build`: a dataset (see `mores.factory.output` for its files) with `run.json` beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from mores.culture import language
from mores.errors import InputError
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.gold import Gold
from mores.factory.manifest import MANIFEST, ManifestEntry
from mores.factory.recipe import EDITION
from mores.factory.split import SPLITS
from mores.hub import CARD, TAGS, Upload, licence_name, with_fields
from mores.io.values import load_json
from mores.run import Run

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
    if (edition := about.get("edition", 1)) != EDITION:
        reason = f"edition {edition} of the data factory wrote it, and this is edition {EDITION}"
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
