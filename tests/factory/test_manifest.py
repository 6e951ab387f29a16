"""The manifest names every sample of a dataset, two manifests can be compared, and the check finds what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mores.errors import InputError
from mores.factory.build import build
from mores.factory.built import Built
from mores.factory.folder import MANIFEST, DatasetDifference, ManifestEntry, compare, read_entries, verify
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.factory.output import write
from mores.factory.recipe import BuildRecipe
from mores.io import JsonlWriter, read_records
from mores.types import Error, Severity
from tests.cli.conftest import Run, home, mores
from tests.factory.test_build import put, survey

__all__ = ["home", "mores"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> tuple[BuildRecipe, Built]:
    path = put(tmp_path_factory.mktemp("items"), survey(40), "survey")
    recipe = BuildRecipe(name="test", sources=(path,), sampling="paper")
    return recipe, build(recipe, None)


def put_manifest(path: Path, *rows: tuple[str, str, str]) -> Path:
    with JsonlWriter(path) as writer:
        for name, split, contents in rows:
            source = name.partition("-")[0]
            writer.write(
                ManifestEntry(
                    id=name, split=split, source=source, task=Task.QA, kind="hard", group=name, sha256=contents
                )
            )
    return path


@pytest.mark.slow
def test_every_sample_has_a_line_with_the_sum_of_its_record(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = dataset
    write(built, recipe, tmp_path)
    entries = read_entries(tmp_path)
    assert list(entries) == [gold.sample.id for gold in built.golds]
    for split in ("train", "dev", "test"):
        for line in (tmp_path / f"{split}.jsonl").read_bytes().splitlines():
            gold = Gold.model_validate_json(line)
            entry = entries.pop(gold.sample.id)
            assert entry.sha256 == sha256(line).hexdigest()
            fields = (gold.split, gold.sample.source, gold.task, gold.kind, gold.group)
            assert (entry.split, entry.source, entry.task, entry.kind, entry.group) == fields
    assert entries == {}
    total = sha256((tmp_path / MANIFEST).read_bytes()).hexdigest()
    assert f"{total}  {MANIFEST}\n" in (tmp_path / "SHA256SUMS").read_text()
    assert json.loads((tmp_path / "recipe.json").read_text())["manifest"] == total
    assert total in (tmp_path / "card.md").read_text()


def test_two_manifests_are_compared_by_hand(tmp_path: Path) -> None:
    before = put_manifest(
        tmp_path / "a.jsonl", ("x-1", "train", "1"), ("x-2", "train", "2"), ("x-3", "dev", "3"), ("y-1", "test", "4")
    )
    after = put_manifest(
        tmp_path / "b.jsonl", ("z-1", "train", "7"), ("x-3", "test", "6"), ("x-2", "train", "5"), ("x-1", "train", "1")
    )
    x = DatasetDifference(source="x", same=1, added=(), removed=(), changed=("x-2", "x-3"), moved=("x-3",))
    y = DatasetDifference(source="y", same=0, added=(), removed=("y-1",), changed=(), moved=())
    z = DatasetDifference(source="z", same=0, added=("z-1",), removed=(), changed=(), moved=())
    whole = DatasetDifference(
        source="all", same=1, added=("z-1",), removed=("y-1",), changed=("x-2", "x-3"), moved=("x-3",)
    )  # fmt: skip
    assert compare(before, after) == [x, y, z, whole]
    assert compare(before, before)[-1].is_empty
    back = compare(after, before)[-1]
    assert (back.added, back.removed, back.changed) == (whole.removed, whole.added, whole.changed)


def test_the_command_says_what_differs(mores: Run, home: Path) -> None:
    put_manifest(home / "a.jsonl", *((f"x-{i}", "train", "1") for i in range(10)))
    put_manifest(home / "b.jsonl", ("x-0", "train", "1"), ("x-1", "dev", "2"))
    done = mores("build", "diff", "a.jsonl", "b.jsonl")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].split() == ["x", "1", "0", "8", "1", "1"]
    assert "removed: x-2, x-3, x-4, x-5, x-6 and 3 more\n" in done.stdout
    assert done.stdout.endswith("0 added, 8 removed, 1 changed; 1 the same\n")
    same = mores("build", "diff", "a.jsonl", "a.jsonl")
    assert (same.returncode, same.stdout.splitlines()[-1]) == (0, "the same 10 samples")
    assert json.loads(mores("build", "diff", "a.jsonl", "b.jsonl", "--json").stdout)[-1]["changed"] == ["x-1"]


def test_what_is_no_manifest_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest.jsonl in it; build the dataset again"):
        read_entries(tmp_path)
    with pytest.raises(InputError, match=r"m.jsonl: duplicate id 'x-1'"):
        read_entries(put_manifest(tmp_path / "m.jsonl", ("x-1", "train", "1"), ("x-1", "dev", "1")))
    (tmp_path / MANIFEST).write_text('{"id": "x"}\n')
    with pytest.raises(InputError, match=r"manifest.jsonl:1: split: Field required"):
        read_entries(tmp_path)


# The check of a dataset


def error_at(gold: Gold, start: int, end: int, explanation: str | None = None) -> Error:
    quote = gold.sample.text[start:end]
    told = f"“{quote}” is wrong." if explanation is None else explanation
    return Error(side="text", start=start, end=end, quote=quote, severity=Severity.MAJOR, type="fact", explanation=told)


@pytest.mark.parametrize(
    ("errors", "problem"),
    [
        (lambda gold: [error_at(gold, 0, 3), error_at(gold, 3, 5)], None),
        (lambda gold: [error_at(gold, i, i + 1) for i in range(4)], "is hard, with 4 errors"),
        (lambda _gold: [], "is hard, with 0 errors"),
        (lambda gold: [error_at(gold, 2, 5), error_at(gold, 0, 3)], "the spans 0:3 and 2:5 overlap"),
        (lambda gold: [error_at(gold, 0, 3, "This is wrong.")], "the explanation of 0:3 does not name its quote"),
        (
            lambda gold: [error_at(gold, 0, 3).model_copy(update={"start": 1, "end": 4})],
            "the span 1:4 does not hold its quote",
        ),
        (lambda gold: [error_at(gold, 0, 3).model_copy(update={"start": None, "end": None})], "has no place"),
    ],
    ids=["two apart", "four", "none", "overlap", "quote not named", "wrong span", "no span"],
)
def test_the_check_reads_gold_reports(
    dataset: tuple[BuildRecipe, Built], tmp_path: Path, errors: Callable[[Gold], list[Error]], problem: str | None
) -> None:
    recipe, built = dataset
    golds = list(built.golds)
    place = next(place for place, gold in enumerate(golds) if gold.kind == "hard")
    report = golds[place].report.model_copy(update={"errors": tuple(errors(golds[place]))})
    golds[place] = golds[place].model_copy(update={"report": report})
    write(replace(built, golds=golds), recipe, tmp_path)
    expected = [] if problem is None else [golds[place].sample.id]
    problems = verify(tmp_path)
    assert [line.partition(":")[0] for line in problems] == expected
    assert problem is None or problem in problems[0]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda rows: rows[1:], "is not in manifest.jsonl"),
        (lambda rows: [*rows, rows[0].replace('"id":"', '"id":"more-')], "is in manifest.jsonl, but in no split"),
        (
            lambda rows: [rows[0].replace('"sha256":"', '"sha256":"0'), *rows[1:]],
            "differs from its entry in manifest.jsonl",
        ),
    ],
    ids=["line lost", "line too many", "another sum"],
)
def test_the_check_compares_with_the_manifest(
    dataset: tuple[BuildRecipe, Built], tmp_path: Path, spoil: Callable[[list[str]], list[str]], problem: str
) -> None:
    write(dataset[1], dataset[0], tmp_path)
    path = tmp_path / MANIFEST
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    changed, *problems = verify(tmp_path)
    assert changed == "manifest.jsonl: has been changed (sha256 differs)"
    assert len(problems) == 1
    assert problems[0].endswith(problem)


def test_a_dataset_of_another_edition_is_not_checked(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    write(dataset[1], dataset[0], tmp_path)
    about = json.loads((tmp_path / "recipe.json").read_text())
    del about["edition"]
    (tmp_path / "recipe.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match="edition 1 of the data factory wrote it, and this version reads 2 and 3"):
        verify(tmp_path)
    (tmp_path / "recipe.json").write_text("{")
    with pytest.raises(InputError, match=r"recipe.json: not JSON .*; build the dataset again"):
        verify(tmp_path)


def test_a_record_of_the_manifest_survives_its_file(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    write(dataset[1], dataset[0], tmp_path)
    assert {entry.kind for entry in read_records(tmp_path / MANIFEST, ManifestEntry)} == {"correct", "hard"}


def test_the_check_counts_samples_against_the_cap(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = dataset
    write(built, recipe.model_copy(update={"cap": 10}), tmp_path)
    assert verify(tmp_path) == [f"survey: has {len(built.golds)} samples, and its cap is 10"]
