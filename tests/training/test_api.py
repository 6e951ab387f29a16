"""`mores.train`, as programs call it."""

from __future__ import annotations

from pathlib import Path

import pytest

import mores
from mores.errors import ConfigError
from mores.io import JsonlWriter
from mores.run import Status
from mores.training.folder import TrainRun
from mores.training.recipe import TuningRecipe
from tests.metaevaluation.golds import dishes
from tests.training.tiny import make_base

RECIPE = TuningRecipe(style="paper", batch=8, row_tokens=700, epochs=1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make_base(tmp_path / "tiny")
    (tmp_path / "data").mkdir()
    for split in ("train", "test"):
        with JsonlWriter(tmp_path / "data" / f"{split}.jsonl") as writer:
            for gold in dishes(8, source="a"):
                writer.write(gold)
    return tmp_path / "data"


def test_a_training_is_a_run_and_another_one_is_refused_in_its_folder(tmp_path: Path, data: Path) -> None:
    base, out = str(tmp_path / "tiny"), tmp_path / "tuned"
    with pytest.raises(ConfigError, match=r"no such source 'b' in .*; there are a"):
        mores.train(data, out, base=base, recipe=RECIPE, leave_out="b")
    assert not out.exists()
    run = mores.train(data, out, base=base, recipe=RECIPE)
    assert isinstance(run, TrainRun)
    opened = mores.open_run(out)
    assert isinstance(opened, TrainRun)
    assert opened.manifest == run.manifest
    assert (opened.kind, opened.manifest.status, opened.manifest.model) == ("train", Status.COMPLETE, base)
    assert opened.signature == opened.result.signature
    assert len(list(opened.decisions())) == 8
    value = opened.result.decisions["test"]["all"].value
    assert opened.manifest.headline == f"trained on all: scaled accuracy {value:.3f} on test"
    before = (out / "training.json").read_bytes()
    with pytest.raises(ConfigError, match=r"holds another run \(other recipe\)"):
        mores.train(data, out, base=base, recipe=RECIPE.model_copy(update={"rank": 4}))
    assert (out / "training.json").read_bytes() == before
    assert mores.open_run(out).manifest == run.manifest


def test_a_base_that_was_not_pulled_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "empty"))
    (tmp_path / "train.jsonl").write_text("".join(gold.model_dump_json() + "\n" for gold in dishes(2)), "utf-8")
    with pytest.raises(ConfigError, match="get it with `mores pull reader`"):
        mores.train(tmp_path, tmp_path / "out", base="reader")
