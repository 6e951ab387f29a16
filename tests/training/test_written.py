"""The training data that was written for Mores: readable, in the language of its file, and each pair with one label."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from mores.training.pairs import ClaimPair, name_of, read_pairs

FOLDER = Path(__file__).parents[2] / "examples" / "train"


@cache
def pairs_of(name: str) -> list[ClaimPair]:
    """The pairs of a folder, which take a second to read."""
    return read_pairs(FOLDER / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("contrasts", marks=pytest.mark.slow), "written"])
def test_files_have_their_language_and_each_pair_one_label(name: str) -> None:
    labels: dict[tuple[str, tuple[str, ...]], str] = {}
    languages = {path.name.split(".")[0] for path in (FOLDER / name).glob("*.jsonl")}
    for pair in pairs_of(name):
        assert labels.setdefault((pair.claim, pair.evidence), pair.label) == pair.label
        assert pair.source == f"written_{pair.language}"
        languages.discard(pair.language)
    assert not languages
    assert len(labels) > 19_000


@pytest.mark.slow
def test_the_second_reader_read_pairs_that_are_there() -> None:
    pairs = {name_of(pair): pair.label for pair in pairs_of("contrasts")}
    with (FOLDER / "contrasts" / "second-reader.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert sum(pairs[row["pair"]] == row["answer"] for row in rows) == 376
    assert len(rows) == 380
