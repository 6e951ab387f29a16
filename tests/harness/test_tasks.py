"""Exported tasks, run by the real harnesses, give the figures of `mores bench` for the same answers."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.session import read_items
from mores.engine import Asker
from mores.engine.progress import SILENT
from mores.harness import grading
from mores.harness.export import SURFACE
from tests.harness.answers import canned, figures_of, judge, verdict
from tests.harness.conftest import inspect_model, needs

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the packages of others


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with the sample rows of every benchmark."""
    for name in BENCHMARKS:
        chosen = benchmark(name)
        assert chosen.folder
        shutil.copytree(chosen.folder / "sample", tmp_path / "data" / chosen.source, dirs_exist_ok=True)
    return tmp_path / "data"


def export(chosen: Benchmark, to: Any, data: Path, out: Path) -> tuple[Path, str]:
    return mores.export_task(chosen, to, out, data=data), "mores_" + chosen.name.replace("-", "_")


def lm_eval_results(folder: Path, task: str, answer: Callable[[str], str], **options: Any) -> dict[str, Any]:
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Canned(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            return [answer(request.args[0]) for request in requests]

        def loglikelihood(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(folder), include_defaults=False)
    results: dict[str, Any] = simple_evaluate(model=Canned(), tasks=[task], task_manager=manager, **options)
    return results


def by_lm_eval(folder: Path, task: str, answers: dict[str, str]) -> dict[str, float]:
    result = lm_eval_results(folder, task, answers.__getitem__)
    figures = {name.partition(",")[0]: value for name, value in result["results"][task].items() if ",graded" in name}
    return {name: value for name, value in figures.items() if "stderr" not in name and name != "unscored"}


def by_inspect(folder: Path, task: str, answers: dict[str, str], **options: Any) -> dict[str, float]:
    from inspect_ai import eval as evaluate

    model = inspect_model("model", answers.__getitem__)
    grader = inspect_model("grader", verdict)
    (log,) = evaluate(f"{folder}/{task}.py@{task}", model=model, model_roles={"grader": grader}, **options)
    assert log.status == "success", log.error
    assert log.results
    scores = log.results.scores
    if task == "mores_calmqa":  # a score of its own for each figure
        return {score.name: score.metrics["share"].value for score in scores}
    return {name: metric.value for name, metric in scores[0].metrics.items()}


@needs("lm_eval")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_lm_eval_gives_the_same_figures(name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = benchmark(name)
    answers = canned(chosen, read_items(chosen, data, None, SILENT))
    monkeypatch.setenv(grading.JUDGE, "the judge")
    monkeypatch.setattr(grading, "open_asker", lambda _: Asker(judge(), store=None))
    theirs = by_lm_eval(*export(chosen, "lm-eval", data, tmp_path / "task"), answers)
    assert theirs == pytest.approx(figures_of(chosen, answers, data, tmp_path / "bench"), nan_ok=True)


@needs("inspect_ai")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_inspect_gives_the_same_figures(name: str, data: Path, tmp_path: Path) -> None:
    chosen = benchmark(name)
    answers = canned(chosen, read_items(chosen, data, None, SILENT))
    theirs = by_inspect(*export(chosen, "inspect", data, tmp_path / "task"), answers)
    assert theirs == pytest.approx(figures_of(chosen, answers, data, tmp_path / "bench"), nan_ok=True)


@needs("inspect_ai")
@pytest.mark.parametrize("name", ["culturalbench-hard", "calmqa"])
def test_epochs_are_samples(name: str, data: Path, tmp_path: Path) -> None:
    chosen = benchmark(name)
    answers = canned(chosen, read_items(chosen, data, None, SILENT))
    folder, task = export(chosen, "inspect", data, tmp_path / "task")
    assert by_inspect(folder, task, answers, epochs=2) == pytest.approx(by_inspect(folder, task, answers))


@needs("lm_eval")
@needs("inspect_ai")
def test_long_answers_that_are_all_missing_have_no_figure(data: Path, tmp_path: Path) -> None:
    chosen = benchmark("calmqa")
    answers = dict.fromkeys((item.prompt for item in read_items(chosen, data, None, SILENT)), " ")
    folder, task = export(chosen, "lm-eval", data, tmp_path / "lm-eval")
    assert by_lm_eval(folder, task, answers) == pytest.approx(dict.fromkeys(SURFACE, math.nan), nan_ok=True)
    assert lm_eval_results(folder, task, answers.__getitem__)["results"][task]["unscored,graded"] == len(answers)
    theirs = by_inspect(*export(chosen, "inspect", data, tmp_path / "inspect"), answers)
    assert theirs == pytest.approx(dict.fromkeys(SURFACE, math.nan), nan_ok=True)


@needs("inspect_ai")
def test_a_judge_that_is_missing_is_named(data: Path, tmp_path: Path) -> None:
    folder, task = export(benchmark("msqa"), "inspect", data, tmp_path / "judged")
    from inspect_ai import eval as evaluate

    (log,) = evaluate(f"{folder}/{task}.py@{task}", inspect_model("model", lambda _: "x"), limit=1)
    assert log.status == "error"
    assert "grader" in log.error.message
