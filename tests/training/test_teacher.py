"""Learning from a larger model: what is taken of its decisions, how doubt counts in the loss, and that it is learnt."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter, read_records
from mores.run import Plan, start_run
from mores.training.examples import Examples, Shape, TaughtSample, make_row, read_labelled
from mores.training.folder import Trained
from mores.training.network import ATTENTION, register_attention
from mores.training.recipe import TuningRecipe
from mores.types import Judgement, Sample, Signature
from tests.metaevaluation.golds import dishes
from tests.packages import package
from tests.training.tiny import torch, transformers

tune: Any = package("mores.training.tune", reason="needs the extra train: pip install '.[train]'")

RECIPE = TuningRecipe(style="paper", rank=16, alpha=32, batch=8, row_tokens=1500, learning_rate=5e-3, warmup_steps=2)
pytestmark = pytest.mark.usefixtures("on_the_cpu")


def samples(count: int = 24) -> list[Sample]:
    """Half of them are about tea, which only the teacher knows to be wrong."""
    return [
        Sample(id=f"u{n}", text=f"They drink {'tea' if n % 2 else 'milk'} on day {n}.", source="ab"[n % 4 // 2])
        for n in range(count)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (folder := tmp_path / "data").mkdir()
    for split in ("train", "test"):
        with JsonlWriter(folder / f"{split}.jsonl") as writer:
            for gold in dishes(8, source="a"):
                writer.write(gold)
    with JsonlWriter(folder / "unlabelled.jsonl") as writer:
        for sample in samples():
            writer.write(sample)
    return folder


def teach(folder: Path, odds: dict[str, float], without: str | None = None, **texts: str) -> Path:
    """The run of a teacher that decided so."""
    known = {sample.id: sample for sample in samples()}
    signature = Signature({"task": "train.1"})
    about: dict[str, Any] = {"base": "large", "signature": signature, "samples": 1, "left_out": 0, "sources": {}}
    trained = Trained(**about, without=without, tokens=1, seconds=1.0, device="CPU", decisions={})
    with start_run(folder, Plan(kind="train", name="data", model="large", signature=signature), numbered=False) as run:
        with JsonlWriter(folder / "decisions.unlabelled.jsonl") as writer:
            for name, value in odds.items():
                sample = known.get(name, samples(1)[0]).model_copy(update={"id": name})
                sample = sample.model_copy(update={"text": texts.get(name, sample.text)})
                writer.write(Judgement.of(sample, judge="tuned:large", score=-value))
        (folder / "training.json").write_text(trained.model_dump_json(), "utf-8")
        run.finish(files={"training.json": "Trained"})
    return folder


def test_doubt_is_the_probability_of_the_other_decision() -> None:
    sample = samples(1)[0]
    assert TaughtSample(sample, 0.0).doubt == 0.5
    assert TaughtSample(sample, 1.5).doubt == TaughtSample(sample, -1.5).doubt == pytest.approx(1 / (1 + math.e))
    assert TaughtSample(sample, 40.0).doubt == 0.02
    assert TaughtSample(sample, -4000.0).doubt == 0.02


def test_as_many_with_an_error_are_taken_as_without(tmp_path: Path, data: Path) -> None:
    teacher = teach(tmp_path / "teacher", {f"u{n}": 2.0 if n < 5 else -1.0 for n in range(20)})
    rows = read_labelled(data, [teacher])
    assert sorted(row.odds for row in rows) == [-1.0] * 5 + [2.0] * 5
    assert {row.sample.id for row in rows if row.odds > 0} == {f"u{n}" for n in range(5)}
    assert rows == read_labelled(data, [teacher])
    apart = teach(tmp_path / "apart", {f"u{n}": 2.0 if n < 5 else -1.0 for n in range(20)}, without="b, c")
    assert {row.sample.source for row in read_labelled(data, [apart], ["b"])} == {"a"}


def test_several_teachers_decide_together_each_about_what_it_knows(tmp_path: Path, data: Path) -> None:
    one = teach(tmp_path / "one", {"u0": 3.0, "u1": -1.0, "u4": -2.0}, without="b, c")
    two = teach(tmp_path / "two", {"u0": -1.0, "u1": -2.0, "u2": 0.5}, without="c, d")
    rows = {row.sample.id: row.odds for row in read_labelled(data, [one, two], ["c"])}
    assert rows.items() <= {"u0": 1.0, "u1": -1.5, "u4": -2.0, "u2": 0.5}.items()
    assert {"u0", "u2"} <= rows.keys()
    assert len(rows) == 4
    with pytest.raises(ConfigError, match=r"two: it was trained on b, so its student would learn it too"):
        read_labelled(data, [one, two], ["b", "c"])


def test_what_cannot_teach_is_said(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ConfigError, match=r"data: no decisions.unlabelled.jsonl in it; train the teacher on the same"):
        read_labelled(data, [data])
    for folder, odds, texts in (("other", {"u1": 1.0, "v": -1.0}, {}), ("new", {"v": 1.0}, {"v": "Other words."})):
        with pytest.raises(InputError, match=r"'v' differs from .*unlabelled.jsonl; train the teac"):
            read_labelled(data, [teach(tmp_path / folder, odds, **texts)])
    with pytest.raises(ConfigError, match=r"seen: it was trained on b, so its student would learn it too; train a"):
        read_labelled(data, [teach(tmp_path / "seen", {"u1": 1.0, "u2": -1.0}, without="a")], ["a", "b"])
    with pytest.raises(InputError, match=r"blind: decided that all 24 pairs are correct; that teaches nothing"):
        read_labelled(data, [teach(tmp_path / "blind", {f"u{n}": -3.0 for n in range(24)})])
    (data / "unlabelled.jsonl").unlink()
    with pytest.raises(ConfigError, match=r"data: no unlabelled.jsonl in it; `mores build ground` writes it"):
        read_labelled(data, [tmp_path / "blind"])


@pytest.mark.slow
def test_the_loss_of_a_doubtful_decision_is_that_of_both_weighted(base: Path) -> None:
    """Against cross-entropies that transformers' plain model gives."""
    making = Examples(transformers.AutoTokenizer.from_pretrained(base), RECIPE)
    rows = [TaughtSample(samples(2)[0], -0.6), TaughtSample(samples(2)[1], 2.4)]
    every, [sure] = list(making.labelled(rows)), list(making.make(dishes(1)))
    plain = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation="eager").eval()
    register_attention()
    packed = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation=ATTENTION).eval()
    clean, wrong = making.choices
    expected = 0.0
    for row, example in zip(rows, every, strict=True):
        with torch.no_grad():
            logits = plain(torch.tensor(example.tokens[:-1].astype(np.int64))[None]).logits[0, -1]
        chosen, other = (wrong, clean) if row.odds > 0 else (clean, wrong)
        assert example.tokens[-1] == chosen
        losses = -torch.log_softmax(logits.double(), 0)
        expected += 7 * float((1 - row.doubt) * losses[chosen] + row.doubt * losses[other])
    shape = Shape(2048, 4, 1024)
    with torch.no_grad():
        both, with_sure, alone = (
            float(tune.Tuned(packed)(tune.on_device(make_row(examples, shape, 7.0), shape, torch.device("cpu"))))
            for examples in (every, [every[0], sure, every[1]], [sure])
        )
    assert both == pytest.approx(expected, rel=1e-4)
    assert with_sure == pytest.approx(expected + alone, rel=1e-4)


@pytest.mark.parametrize("epochs", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_student_learns_what_only_its_teacher_knows(tmp_path: Path, data: Path, base: Path, epochs: int) -> None:
    teacher = teach(tmp_path / "teacher", {f"u{n}": 4.0 if n % 2 else -4.0 for n in range(24)})
    recipe = RECIPE.model_copy(update={"epochs": epochs, "decision_weight": 20.0})
    splits = ["test", "unlabelled"]
    run = mores.train(data, tmp_path / "student", base=str(base), recipe=recipe, teacher=teacher, evaluate=splits)
    decided = read_records(tmp_path / "student" / "decisions.unlabelled.jsonl", Judgement)
    correct = [(judgement.score or 0) < 0 for judgement in decided]
    assert sum(wrong == bool(n % 2) for n, wrong in enumerate(correct)) >= 22 or epochs == 1
    assert (run.result.samples, run.result.taught, run.result.teacher) == (32, 24, "teacher")
    assert set(run.result.decisions) == {"test"}, "nobody knows which decisions about unlabelled samples are correct"
    assert set(run.manifest.files) >= {"decisions.test.jsonl", "decisions.unlabelled.jsonl"}
    assert "32 samples, of which teacher labelled 24" in (tmp_path / "student" / "README.md").read_text("utf-8")
    assert ".taught-24" in str(run.signature)


@pytest.mark.slow
def test_a_teacher_decides_about_what_it_did_not_leave_out(tmp_path: Path, data: Path, base: Path) -> None:
    with JsonlWriter(data / "train.jsonl") as writer:
        for gold in [*dishes(8, source="a"), *dishes(4, seed=1, source="b")]:
            writer.write(gold)
    mores.train(data, tmp_path / "one", base=str(base), recipe=RECIPE, leave_out="b", evaluate=["unlabelled"])
    names = [judgement.sample_id for judgement in read_records(tmp_path / "one/decisions.unlabelled.jsonl", Judgement)]
    assert names == [sample.id for sample in samples() if sample.source == "a"]
