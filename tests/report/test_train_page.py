"""The page of a training: every figure that it has, and nothing that a name could break."""

from __future__ import annotations

from pathlib import Path

from mores.io import write_text
from mores.report.base.page import render_page
from mores.report.runs import run_page, run_tables
from mores.report.train import describe_training
from mores.run import open_run
from mores.training.folder import RESULT, Trained
from mores.types import Result, Signature
from tests.runs import write_manifest

HOSTILE = "<script>window.hacked=1</script>"


def trained(source: str = "blend") -> Trained:
    """A made-up training."""
    overall = Result(name="scaled accuracy", value=0.281, low=0.26, high=0.302, n=800)
    share = Result(name="scaled accuracy", value=-0.05, low=-0.2, high=0.1, n=12)
    return Trained(
        base="embedded", signature=Signature(task="train.1", data="d.9"), samples=1200, left_out=3,
        sources={source: 1200}, tokens=90_000, seconds=61.0, device="cpu",
        decisions={"test": {"all": overall, source: share}},
    )  # fmt: skip


def page(source: str = "blend") -> str:
    return render_page(describe_training({"all": trained(source)}))


def test_every_figure_is_on_the_page() -> None:
    html = page()
    for words in (
        "embedded",
        "1,200 samples",
        "61 s on cpu",
        "0.281",
        "[0.26, 0.30]",
        "−0.050",
        "task:train.1|data:d.9",
    ):
        assert words in html


def test_names_are_escaped() -> None:
    assert "<script>window" not in page(HOSTILE)


def test_a_run_of_a_training_is_shown(tmp_path: Path) -> None:
    write_manifest(tmp_path, "train")
    write_text(tmp_path / RESULT, trained().model_dump_json())
    run = open_run(tmp_path)
    assert run_tables(run)[-1] == "trained on all: scaled accuracy 0.281 on test"
    assert "0.281" in run_page(run)
