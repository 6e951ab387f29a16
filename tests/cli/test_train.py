"""`mores train` through the real command: a tiny model learns four samples by heart, and `mores score` uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.factory.gold import Gold
from mores.io import JsonlWriter
from mores.types import Judgement
from tests.cli.conftest import Run
from tests.metaevaluation.golds import dishes
from tests.training.tiny import make_base


def write(folder: Path, **splits: list[Gold]) -> None:
    folder.mkdir()
    for name, golds in splits.items():
        with JsonlWriter(folder / f"{name}.jsonl") as writer:
            for gold in golds:
                writer.write(gold)


@pytest.fixture
def data(home: Path) -> Path:
    golds = [each.model_copy(update={"sample": each.sample.model_copy(update={"source": "a"})}) for each in dishes(4)]
    write(home / "data", train=golds, test=golds)
    make_base(home / "tiny")
    return home / "data"


FOLDERS = ("without-none", "without-a", "without-b")
SETTINGS = {
    "batch": 8, "decision_weight": 5, "row_tokens": 700, "style": "paper", "summary": "false", "learning_rate": 0.01,
}  # fmt: skip


def sources(seed: int) -> list[Gold]:
    return [each for place, source in enumerate("ab") for each in dishes(4, seed + place, source=source)]


def chosen(**more: object) -> list[str]:
    return [part for name, value in (SETTINGS | more).items() for part in ("--set", f"{name}={value}")]


@pytest.mark.slow
def test_a_few_samples_are_learnt_and_the_adapter_judges_them(mores: Run, home: Path, data: Path) -> None:
    """All weights first, so that the random model can speak; then adapters on top of that."""
    (home / "mine.toml").write_text('style = "guided"\nwarmup_steps = 5\n')
    others = ("--data", "others", "--base", "tiny", "--out", "spoken", "--recipe", "mine.toml")
    write(home / "others", train=dishes(4, seed=1))
    done = mores("train", *others, *chosen(method="full", epochs=35))
    assert done.returncode == 0, done.stderr
    assert "warmup_steps = 5" in (home / "spoken" / "recipe.toml").read_text()
    places = ("--data", str(data), "--base", "spoken", "--out", "tuned")
    push = ("--push-to-hub", "me/metric", "--push-dry-run")
    done = mores("train", *places, *chosen(rank=16, alpha=32, epochs=35, warmup_steps=5), *push)
    assert done.returncode == 0, done.stderr
    assert "to https://huggingface.co/me/metric (private)\n" in done.stderr
    listed = done.stderr.partition("would upload ")[2].split()
    assert {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json", "README.md"} <= set(listed)
    assert "run.json" not in listed
    trained = json.loads((home / "tuned" / "training.json").read_text())
    assert trained["decisions"]["test"]["a"]["value"] == 1.0
    assert trained["samples"] == 4
    assert "| a | 1.000" in (home / "tuned" / "README.md").read_text()
    assert not (home / "tuned" / "checkpoint.pt").exists()
    with JsonlWriter(home / "texts.jsonl") as writer:
        for gold in dishes(4):
            writer.write(gold.sample)
    arguments = ("--model", "hf:spoken", "--adapter", "tuned", "--style", "paper", "--max-tokens", "120")
    judged = mores("score", "texts.jsonl", *arguments, "--out", "judged")
    assert judged.returncode == 0, judged.stderr
    judgements = [
        Judgement.model_validate_json(line) for line in (home / "judged" / "judgements.jsonl").read_text().splitlines()
    ]
    assert [each.score is not None and each.score < 0 for each in judgements] == [
        bool(each.report.errors) for each in dishes(4)
    ]


def test_a_study_without_each_source_in_turn_is_read_by_meta(mores: Run, home: Path) -> None:
    write(home / "data", train=sources(0), dev=sources(2), test=sources(4))
    make_base(home / "tiny")
    done = mores("train", "--data", "data", "--base", "tiny", "--out", "study", "--leave-one-out", *chosen(epochs=1))
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Loading weights")]
    for count, what in (
        (3, "loading tiny"), (1, "reading samples: 8 in"), (2, "reading samples: 4 in"), (1, "training: 1 of"),
        (1, "without b: 1 of"), (3, "deciding about dev: 8 in"), (3, "deciding about test: 8 in"),
    ):  # fmt: skip
        assert sum(line.startswith(what) for line in lines) == count, done.stderr
    trained = {name: json.loads((home / "study" / name / "training.json").read_text()) for name in FOLDERS}
    assert [each["sources"] for each in trained.values()] == [{"a": 4, "b": 4}, {"b": 4}, {"a": 4}]
    pattern = "study/without-{source}/decisions.test.jsonl"
    done = mores(
        "meta", "--data", "data", "--metric", pattern, "--leave-one-out", "--baselines", "none", "--out", "meta"
    )
    assert done.returncode == 0, done.stderr
    [matrix] = json.loads((home / "meta" / "meta.json").read_text())["leave_one_out"]
    assert {f"without-{left_out}" for left_out in matrix["matrix"]} == set(FOLDERS)
    for left_out, row in matrix["matrix"].items():
        decided = trained[f"without-{left_out}"]["decisions"]["test"]
        assert {source: row[source]["value"] for source in "ab"} == {
            source: decided[source]["value"] for source in "ab"
        }


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--set", "rnak=3"), "rnak=3: expected NAME=VALUE with NAME one of method, rank"),
        (("--set", "rank=0"), "rank=0: Input should be greater than or equal to 1 (--set)"),
        (("--leave-out", "b"), "no such source 'b' in data; there are a (--leave-out)"),
        (("--leave-out", "a", "--leave-one-out"), "give only one of them"),
        (("--base", "nowhere"), "nowhere: transformers cannot load it"),
    ],
)
def test_what_is_wrong_is_said(mores: Run, arguments: tuple[str, ...], why: str) -> None:
    base = () if "--base" in arguments else ("--base", "tiny")
    done = mores("train", "--data", "data", "--out", "out", *base, *arguments)
    assert done.returncode == 2
    assert why in done.stderr
