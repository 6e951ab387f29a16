"""Training in two processes on the CPU gives what one gives, and only the first process writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mores.errors import ConfigError
from mores.io import JsonlWriter
from mores.training.examples import Examples
from mores.training.network import load, load_tokenizer
from mores.training.recipe import TuningRecipe
from tests.metaevaluation.golds import dishes
from tests.packages import package
from tests.training.tiny import make_base, torch

_REASON = "needs the extra train: pip install '.[train]'"
accelerate: Any = package("accelerate", reason=_REASON)
tune: Any = package("mores.training.tune", reason=_REASON)
study: Any = package("mores.training.study", reason=_REASON)

MORES = "from mores.cli import main; main()"
GLOO = """
import torch
from accelerate.state import PartialState
from accelerate.utils import DistributedType
PartialState._prepare_backend = lambda *_: ("gloo", DistributedType.MULTI_GPU)
PartialState.set_device = lambda self: setattr(self, "device", torch.device("cpu"))
"""
"""accelerate has no DeepSpeed on CPUs; DeepSpeed itself has."""
SETTINGS: dict[str, Any] = {
    "style": "paper", "longest": 512, "rank": 8, "batch": 13, "row_tokens": 512, "warmup_steps": 2, "epochs": 2,
    "learning_rate": 3e-3, "decision_weight": 7, "clip": 0.3,
}  # fmt: skip
"""Several rows in each process, of which some have nothing to learn from; gradients that are clipped."""
ZERO = Path(__file__).parents[2] / "examples" / "train" / "zero2.yaml"


class Place(NamedTuple):
    """Where data and base are, what one process trains on them, and what it leaves when it is stopped at step 5."""

    home: Path
    one: Path
    two: Path


def arguments(home: Path, out: Path) -> list[str]:
    chosen = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    return ["train", "--data", str(home / "data"), "--base", str(home / "tiny"), "--out", str(out), *chosen]


def start(command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACCELERATE_")}
    env = environment | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""} | more
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


class StoppedError(Exception):
    """A run that was stopped on purpose."""


def train(home: Path, out: Path) -> None:
    """In this process."""
    study.TrainingStudy(home / "data", str(home / "tiny"), str(home / "tiny"), TuningRecipe(**SETTINGS), out).run()


def stop_at_5(*positional: Any, on_step: Any) -> Any:  # noqa: ARG001
    """A run that leaves a checkpoint of step 3 behind."""

    def stop(progress: Any) -> None:
        if progress.step == 5:
            raise StoppedError

    return tune.Training(*positional, save_every=3, on_step=stop)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    home = tmp_path_factory.mktemp("several")
    make_base(home / "tiny")
    (home / "data").mkdir()
    for name, count, seed in (("train", 27, 0), ("test", 7, 1)):
        with JsonlWriter(home / "data" / f"{name}.jsonl") as writer:
            for number, gold in enumerate(dishes(count, seed)):
                instruction = gold.sample.instruction + " Really?" * (40 * (number % 5 == 0))
                writer.write(
                    gold.model_copy(update={"sample": gold.sample.model_copy(update={"instruction": instruction})})
                )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: False)
        train(home, home / "one")
        patch.setattr("mores.training.study.Training", stop_at_5)
        with pytest.raises(StoppedError):
            train(home, home / "two")
    assert {path.name for path in (home / "two").iterdir()} == {
        ".lock", "run.json", tune.CHECKPOINT, tune.LOG, "recipe.toml",
    }  # fmt: skip
    return Place(home, home / "one", home / "two")


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    tensors: dict[str, Any] = load_file(folder / "adapter_model.safetensors")
    return tensors


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def assert_alike(first_folder: Path, second_folder: Path) -> None:
    """The same weights and decisions, but for rounding, and the same files."""
    first, second = weights(first_folder), weights(second_folder)
    assert first.keys() == second.keys()
    for name, value in first.items():
        torch.testing.assert_close(second[name], value, rtol=0, atol=3e-5, msg=name)
    decided = [rows(folder / "decisions.test.jsonl") for folder in (first_folder, second_folder)]
    assert [row["sample_id"] for row in decided[1]] == [row["sample_id"] for row in decided[0]]
    assert [row["score"] for row in decided[1]] == pytest.approx([row["score"] for row in decided[0]], abs=1e-4)
    assert sorted(path.name for path in second_folder.iterdir()) == sorted(path.name for path in first_folder.iterdir())


def assert_steps_alike(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    """Adam hides a loss that is too large by a factor; the norm of the gradients shows it."""
    for name in ("step", "of", "learning_rate", "tokens"):
        assert [row[name] for row in second] == [row[name] for row in first], name
    for name in ("loss", "norm"):
        assert [row[name] for row in second] == pytest.approx([row[name] for row in first], rel=1e-4), name


@pytest.fixture(scope="module")
def two(place: Place) -> subprocess.CompletedProcess[str]:
    """`accelerate launch` with two processes on the CPU, which are `mores train` and finish what one has begun.

    27 examples in steps of 13, 13 and 1: in the last of an epoch the second process has none.
    """
    plain = "--multi_gpu --num_machines 1 --num_processes 2 --mixed_precision no --dynamo_backend no --no_python"
    launcher = [sys.executable, "-m", "accelerate.commands.launch", "--main_process_port", "0", *plain.split()]
    program = [sys.executable, "-c", MORES, *arguments(place.home, place.two)]
    return start([*launcher, *program], ACCELERATE_USE_CPU="true")


@pytest.mark.slow
@pytest.mark.usefixtures("two")
def test_two_processes_take_the_steps_of_one(place: Place) -> None:
    log = rows(place.two / tune.LOG)
    assert [row["step"] for row in log] == [1, 2, 3, 4, 5, 4, 5, 6], "stopped at 5, with a checkpoint of 3"
    steps = rows(place.one / tune.LOG)
    assert max(row["norm"] for row in steps[3:]) > SETTINGS["clip"], "nothing is clipped"
    assert_steps_alike(steps, log[:3] + log[5:])


@pytest.mark.slow
def test_two_processes_train_what_one_trains(place: Place, two: subprocess.CompletedProcess[str]) -> None:
    assert two.returncode == 0, two.stderr
    assert_alike(place.one, place.two)
    trained = [json.loads((folder / "training.json").read_text()) for folder in (place.one, place.two)]
    assert [each.pop("device") for each in trained] == ["CPU", "2 × CPU"]
    for name in ("signature", "samples", "left_out", "sources", "tokens", "decisions"):
        assert trained[0][name] == trained[1][name], name


@pytest.mark.slow
def test_the_first_process_alone_speaks(place: Place, two: subprocess.CompletedProcess[str]) -> None:
    assert two.stdout.count("trained on all: scaled accuracy") == 1
    assert two.stderr.count(f"wrote {place.two}") == 1
    assert two.stderr.count("training: 6 of 6") == 1


@pytest.mark.skipif(find_spec("deepspeed") is None, reason="needs DeepSpeed: pip install deepspeed")
def test_zero_2_trains_what_one_process_trains(place: Place) -> None:
    out = place.home / "zero"
    launcher = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(ZERO), "--no_python"]
    program = [sys.executable, "-c", GLOO + MORES]
    result = start([*launcher, *program, *arguments(place.home, out)], DS_ACCELERATOR="cpu")
    assert result.returncode == 0, result.stderr
    assert_steps_alike(rows(place.one / tune.LOG), rows(out / tune.LOG))
    assert_alike(place.one, out)


# -- what is refused ------------------------------------------------------------------------------------------


def launched(monkeypatch: pytest.MonkeyPatch, kind: str, stage: int = 2, **config: Any) -> None:
    """As if accelerate had been configured so."""
    plugin = SimpleNamespace(zero_stage=stage, deepspeed_config=config)
    accelerator = SimpleNamespace(
        distributed_type=SimpleNamespace(value=kind), state=SimpleNamespace(deepspeed_plugin=plugin)
    )
    monkeypatch.setattr("accelerate.Accelerator", lambda **_: accelerator)


@pytest.mark.parametrize(
    ("kind", "stage", "config", "why"),
    [
        ("FSDP", 2, {}, "configured for FSDP, which `mores train` does not support"),
        ("DEEPSPEED", 3, {}, "zero_stage 3; `mores train` supports 1 and 2"),
        ("DEEPSPEED", 0, {}, "zero_stage 0"),
        ("DEEPSPEED", 2, {"optimizer": {}}, "has 'optimizer'; remove it"),
        ("DEEPSPEED", 2, {"scheduler": {}}, "has 'scheduler'; remove it"),
    ],
)
def test_what_it_cannot_do_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, stage: int, config: dict[str, Any], why: str
) -> None:
    launched(monkeypatch, kind, stage, **config)
    with pytest.raises(ConfigError, match=why):
        tune.join()


@pytest.mark.parametrize("kind", ["NO", "MULTI_GPU", "MULTI_CPU", "DEEPSPEED"])
def test_what_it_can_do_is_taken(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    launched(monkeypatch, kind)
    assert tune.join().distributed_type.value == kind


def test_the_launcher_has_no_say_in_what_a_step_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4")
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "fp16")
    joined = tune.join()
    assert (joined.gradient_accumulation_steps, joined.mixed_precision) == (1, "no")


@pytest.fixture
def training(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    recipe = TuningRecipe(style="paper", longest=512, rank=8, batch=4)
    model, tokenizer = load(str(place.home / "tiny"), recipe), load_tokenizer(str(place.home / "tiny"))
    return tune.Training(model, list(Examples(tokenizer, recipe).make(dishes(4))), recipe, tmp_path, "x")


@pytest.mark.slow
def test_processes_that_see_different_checkpoints_are_refused(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerate.utils, "gather_object", lambda objects: [*objects, (3, 100)])
    with pytest.raises(ConfigError, match="the processes see different files"):
        training.tune()


@pytest.mark.slow
def test_deepspeed_does_not_go_on_from_a_checkpoint(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (training.folder / tune.CHECKPOINT).write_bytes(b"")
    monkeypatch.setattr("mores.training.tune.DEEPSPEED", "NO")  # what a run of one process calls itself
    joined = accelerate.Accelerator()
    plugin = SimpleNamespace(deepspeed_config={})
    monkeypatch.setattr(type(joined.state), "deepspeed_plugin", property(lambda _: plugin))
    monkeypatch.setattr(joined, "prepare", lambda *prepared: prepared)
    monkeypatch.setattr("mores.training.tune.join", lambda: joined)
    with pytest.raises(ConfigError, match="a run under DeepSpeed cannot resume"):
        training.tune()
