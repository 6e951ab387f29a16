"""Training without a source, the dataset on disk, and what a whole study says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mores.errors import ConfigError, InputError
from mores.factory.gold import Gold
from mores.io import JsonlWriter
from mores.metaevaluation.baselines import BASELINES
from mores.metaevaluation.dataset import Dataset, without
from mores.metaevaluation.evaluate import join, scaled_accuracy
from mores.metaevaluation.study import (
    MOST_DISAGREEMENTS,
    NONE,
    MetricJudgements,
    collect,
    evaluate_metrics,
    leave_one_out,
)
from tests.metaevaluation.golds import labelled, scores

SOURCES = ("a", "b", "c", None)
SHOWN = ("a", "b", "c", "unknown")


def folder(tmp_path: Path, sources: Sequence[str | None] = SOURCES, count: int = 8) -> Path:
    """A dataset with so many samples of each source in each split, every other one wrong."""
    for split in ("train", "dev", "test"):
        with JsonlWriter(tmp_path / f"{split}.jsonl") as writer:
            for source in sources:
                for i in range(count):
                    writer.write(labelled(f"{split}-{source}-{i}", i % 2 == 0, source=source, split=split))
    return tmp_path


@dataclass
class Spy:
    """Remembers what it was given, and finds errors only in sources that it saw."""

    learns: tuple[str, ...] = ("train", "dev")
    version: str = "1"
    train: list[Gold] = field(default_factory=list)
    dev: list[Gold] = field(default_factory=list)
    scored: list[Gold] = field(default_factory=list)

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        self.train, self.dev = list(train), list(dev)

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        self.scored = list(golds)
        seen = {gold.sample.source for gold in self.train}
        return [-1.0 if gold.report.errors and gold.sample.source in seen else 0.0 for gold in golds]


@pytest.fixture
def spies(monkeypatch: pytest.MonkeyPatch) -> list[Spy]:
    spies: list[Spy] = []

    def make() -> Spy:
        spies.append(Spy())
        return spies[-1]

    monkeypatch.setitem(BASELINES, "spy", make)
    return spies


# Leaving out


def test_trained_without_a_source_means_that_it_saw_none_of_it(spies: list[Spy], tmp_path: Path) -> None:
    data = Dataset(folder(tmp_path))
    found = leave_one_out("spy", data)
    assert list(found.matrix) == [NONE, *SHOWN]
    everything, *others = spies
    assert {gold.sample.source for gold in everything.train} == set(SOURCES)
    for left_out, spy in zip(SOURCES, others, strict=True):
        for own in (spy.train, spy.dev):
            assert {gold.sample.source for gold in own} == set(SOURCES) - {left_out}
            assert len(own) == 3 * 8
        assert {gold.split for gold in spy.train} == {"train"}
        assert {gold.split for gold in spy.dev} == {"dev"}
        assert spy.scored == data.golds


def test_the_average_is_that_of_the_diagonal(spies: list[Spy], tmp_path: Path) -> None:
    found = leave_one_out("spy", Dataset(folder(tmp_path)))
    assert spies
    assert found.metric == "spy"
    for left_out, row in found.matrix.items():
        # Without having seen a source, it is right about the right half only.
        assert {source: result.value for source, result in row.items()} == {
            source: 0 if source == left_out else 1 for source in SHOWN
        }
        assert {result.n for result in row.values()} == {8}
    assert found.average == 0


def test_the_average_by_hand() -> None:
    golds = [labelled(f"{source}{i}", i % 2 == 0, source=source) for source in "ab" for i in range(4)]
    of_a = scores(golds, [-1, 0, -1, 0, 0, 0, 0, 0])  # 1 on a, 0 on b
    of_b = scores(golds, [0, 0, 0, 0, -1, 0, 0, None])  # 0 on a, 2 of 3 right on b
    found = collect("m", golds, {"a": of_a, "b": of_b, NONE: of_a})
    assert found.matrix["b"]["b"].value == pytest.approx(1 / 3)
    assert (found.matrix["b"]["b"].n, found.matrix["b"]["b"].unscored) == (3, 1)
    assert found.average == pytest.approx((1 + 1 / 3) / 2)
    assert found.trained_on_all == scaled_accuracy(join(golds, of_a))
    only_own = collect("m", golds, {"a": dict(list(of_a.items())[:4])})
    assert set(only_own.matrix["a"]) == {"a"}
    assert only_own.trained_on_all is None
    assert collect("m", golds, {NONE: of_a}).average is None
    assert collect("m", golds, {"a": {}}).average is None


def test_progress_is_told(spies: list[Spy], tmp_path: Path) -> None:
    told: list[str | None] = []

    def follow(things: Iterable[str | None]) -> list[str | None]:
        told.extend(things)
        return told

    leave_one_out("spy", Dataset(folder(tmp_path)), follow)
    assert told == [None, *SHOWN]
    assert len(spies) == 5


def test_one_source_alone_cannot_be_left_out(spies: list[Spy], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"spy learns from train.jsonl, which must have correct and wrong samples"):
        leave_one_out("spy", Dataset(folder(tmp_path, ["a"])))
    assert len(spies) == 2


# The dataset


def test_what_is_judged_is_never_learned_from(tmp_path: Path) -> None:
    folder(tmp_path)
    for split in ("train", "dev"):
        with pytest.raises(ConfigError, match=f"the judged split [(]{split}[)] cannot be learned from"):
            getattr(Dataset(tmp_path, split), split)
    assert {gold.split for gold in Dataset(tmp_path, "dev").golds} == {"dev"}
    assert len(Dataset(tmp_path).everything) == 3 * len(Dataset(tmp_path).golds)


def test_a_sample_that_is_there_twice(tmp_path: Path) -> None:
    folder(tmp_path)
    with (tmp_path / "test.jsonl").open("a") as file:
        file.write((tmp_path / "test.jsonl").read_text().splitlines()[0] + "\n")
    with pytest.raises(InputError, match=r"test.jsonl: duplicate id '.+'; see `mores build verify`"):
        _ = Dataset(tmp_path).golds


def test_splits_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test.jsonl: no such file; give a folder that `mores build` wrote"):
        Dataset(tmp_path)
    folder(tmp_path)
    (tmp_path / "train.jsonl").unlink()
    assert Dataset(tmp_path).train == []
    (tmp_path / "test.jsonl").write_text("")
    with pytest.raises(InputError, match="it has no samples"):
        _ = Dataset(tmp_path).golds


def test_a_limit_is_even_and_a_larger_one_holds_a_smaller(tmp_path: Path) -> None:
    folder(tmp_path)
    ids = {limit: [gold.sample.id for gold in Dataset(tmp_path, limit=limit).golds] for limit in (2, 4, 6, 100)}
    assert [len(own) for own in ids.values()] == [8, 16, 24, 32]
    assert set(ids[2]) < set(ids[4]) < set(ids[6]) < set(ids[100])
    assert ids[4] == [name for name in ids[100] if name in ids[4]]
    four = Dataset(tmp_path, limit=4).golds
    assert sum(bool(gold.report.errors) for gold in four if gold.sample.source == "a") == 2


def test_the_revision_changes_with_the_split(tmp_path: Path) -> None:
    folder(tmp_path)
    revision = Dataset(tmp_path).revision
    assert Dataset(tmp_path).revision == revision
    assert Dataset(tmp_path, limit=2).revision == revision
    path = tmp_path / "test.jsonl"
    path.write_text(path.read_text().replace("bread", "Bread", 1).replace("bread", "Bread", 1))
    assert Dataset(tmp_path).revision != revision


def test_without_a_source() -> None:
    golds = [labelled("a", True, source="a"), labelled("b", True, source=None)]
    assert without(golds, None) == golds
    assert without(golds, "a") == golds[1:]
    assert without(golds, "unknown") == golds[:1]
    assert without(golds, "c") == golds


# The study


def test_a_study_of_metrics_that_disagree(tmp_path: Path) -> None:
    data = Dataset(folder(tmp_path, "ab", 40))
    golds = data.golds
    right: list[float | None] = [-1.0 if gold.report.errors else 0.5 for gold in golds]
    wrong: list[float | None] = [-1.0 for _ in golds]
    found = evaluate_metrics(
        data,
        {
            "right": MetricJudgements(scores(golds, right)),
            "all wrong": MetricJudgements(scores(golds, wrong)),
            "failed": MetricJudgements(scores(golds, [None] * len(golds))),
            "words": MetricJudgements(scores(golds, right), baseline=True),
        },
        notes=["mind this"],
    )
    assert [one.metric for one in found.evaluations] == ["right", "all wrong", "failed", "words"]
    assert [one.baseline for one in found.evaluations] == [False, False, False, True]
    assert (found.n, found.split, found.revision, found.notes) == (80, "test", data.revision, ("mind this",))
    assert found.shortcut is not None
    assert found.shortcut.value == 1
    assert {(c.first, c.second) for c in found.comparisons} == {
        ("right", "all wrong"), ("right", "words"), ("all wrong", "words"),
    }  # fmt: skip
    assert len(found.disagreements) == MOST_DISAGREEMENTS
    for one in found.disagreements:
        assert not one.gold.report.errors
        assert one.scores == {"right": 0.5, "all wrong": -1.0, "failed": None}


def test_a_study_of_baselines_alone_compares_them(tmp_path: Path) -> None:
    data = Dataset(folder(tmp_path, "a"))
    values: list[float | None] = [-1.0] * 8
    found = evaluate_metrics(
        data,
        {
            "always": MetricJudgements(scores(data.golds, values), True),
            "never": MetricJudgements(scores(data.golds, [0.0] * 8), True),
        },
    )
    assert found.shortcut is None
    assert len(found.disagreements) == 8
    assert {c.difference for c in found.comparisons} == {0}
