"""CulturalBench in the form of other harnesses' own tasks gives the figures of `mores bench` for the same answers."""

from __future__ import annotations

import csv
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from mores.benchmark import benchmark
from mores.harness.figures import figure
from mores.reading import chosen_truth
from tests.harness.conftest import inspect_model, needs

UPSTREAM = Path(__file__).parents[2] / "examples" / "upstream"
TASKS = UPSTREAM / "lm-evaluation-harness" / "lm_eval" / "tasks" / "culturalbench"
EVALS = UPSTREAM / "inspect_evals" / "src" / "inspect_evals" / "culturalbench"
HARD = benchmark("culturalbench-hard")


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"upstream_{path.stem}", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sample() -> Path:
    assert HARD.folder
    return HARD.folder / "sample" / "CulturalBench-Hard.csv"


def rows() -> list[dict[str, Any]]:
    with sample().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answer(row: dict[str, Any]) -> str:
    """The first question is answered correctly, the second in other words, the third wrongly in one statement."""
    truth = str(row["answer"]).strip().capitalize()
    match int(row["question_idx"]) % 3:
        case 0:
            return truth
        case 1:
            return f"<think>True or False?</think> **{truth.lower()}**."
    return "True" if int(row["data_idx"]) % 4 == 0 else truth


def ours(answers: list[str]) -> float:
    """The figure of `mores bench` for answers that can all be read."""
    labels = []
    for row, text in zip(rows(), answers, strict=True):
        read = chosen_truth(text)
        assert read is not None
        label = "correct" if read == str(row["answer"]).strip().capitalize() else "incorrect"
        labels.append((row["question_idx"], 4, 0, label))
    return figure(labels, (1, 0, 0), (1, 1, 1))


@pytest.mark.parametrize("path", sorted(TASKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_tasks_are_yaml_with_a_version(path: Path) -> None:
    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Reads `!function utils.NAME` as the name."""

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    task = yaml.load(path.read_text("utf-8"), Loader)
    assert task["metadata"]["version"] == 1
    utils = load(TASKS / "utils.py")
    named = [task.get("process_results"), *(metric["aggregation"] for metric in task.get("metric_list", []))]
    for name in (name for name in named if name and "." in name):
        assert callable(getattr(utils, name.removeprefix("utils.")))


def test_the_prompt_is_that_of_mores_bench() -> None:
    text = (TASKS / "culturalbench_hard.yaml").read_text("utf-8")
    [template] = [line.partition(": ")[2].strip('"') for line in text.splitlines() if line.startswith("doc_to_text")]
    items = list(HARD.read(sample().parent, lambda error: pytest.fail(str(error))))
    for row, item in zip(rows(), items, strict=True):
        filled = template.replace("{{prompt_question.strip()}}", row["prompt_question"].strip())
        assert filled.replace("{{prompt_option.strip()}}", row["prompt_option"].strip()) == item.prompt


def test_hard_is_counted_by_question_in_lm_eval() -> None:
    utils = load(TASKS / "utils.py")
    answers = [answer(row) for row in rows()]
    graded = [utils.process_results(row, [text]) for row, text in zip(rows(), answers, strict=True)]
    assert utils.acc_question([result["acc_question"] for result in graded]) == ours(answers) < 1
    cut = [result["acc_question"] for result in graded[:6]]
    assert utils.acc_question(cut) == 1.0, "half a question is in no figure"
    false = [utils.process_results(row, ["False"]) for row in rows()]
    assert utils.acc_question([result["acc_question"] for result in false]) == 0.0
    unread = utils.process_results(rows()[0], ["It is not false."])
    assert (unread["unparsed"], unread["acc_statement"]) == (1.0, 0.0)


@needs("lm_eval")
def test_lm_eval_runs_it(tmp_path: Path) -> None:
    from tests.harness.test_tasks import lm_eval_results

    for path in TASKS.glob("*"):
        text = path.read_text("utf-8")
        text = text.replace("dataset_path: kellycyy/CulturalBench", "dataset_path: csv")
        local = f"dataset_kwargs:\n  data_files:\n    test: {sample()}\n"
        (tmp_path / path.name).write_text(text.replace("dataset_name: CulturalBench-Hard\n", local), "utf-8")
    prompts = {
        f"Is this answer true or false for this question? Answer True or False only. Question: "
        f"{row['prompt_question'].strip()} Answer: {row['prompt_option'].strip()}": answer(row)
        for row in rows()
    }
    result = lm_eval_results(tmp_path, "culturalbench_hard", prompts.__getitem__)["results"]["culturalbench_hard"]
    assert result["acc_question,none"] == ours(list(prompts.values()))
    assert result["unparsed,none"] == 0.0


@needs("inspect_ai")
def test_inspect_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    evals = load(EVALS / "culturalbench.py")
    samples = [evals.hard_sample(row) for row in rows()]
    answers = {str(each.input): answer(row) for each, row in zip(samples, rows(), strict=True)}
    [log] = evaluate(
        evals.hard_task(MemoryDataset(samples)),
        model=inspect_model("upstream", answers.__getitem__),
        log_dir=str(tmp_path),
    )
    assert log.status == "success", log.error
    assert log.results is not None
    metrics = {name: found.value for score in log.results.scores for name, found in score.metrics.items()}
    assert metrics["question_accuracy"] == ours(list(answers.values()))
    assert metrics["accuracy"] > metrics["question_accuracy"]
