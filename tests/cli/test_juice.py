"""`mores meta --data juice:FILE`, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.metaevaluation.juice.records import Juice
from tests.cli.conftest import Run
from tests.metaevaluation.test_juice import EXAMPLE, US, write_judge

DATA = ("meta", "--data", f"juice:{EXAMPLE}")


@pytest.mark.slow
def test_detectors_without_a_metric_and_what_is_written(mores: Run) -> None:
    done = mores(*DATA)
    assert done.returncode == 0, done.stderr
    last = done.stdout.rstrip().splitlines()[-1]
    words = "model-x: F1 0.44 (precision 0.67, recall 0.33) of spans against the other detectors at an overlap of 0.5"
    assert last == words
    assert "gemini-3.1-pro-preview" in done.stdout
    assert "Errors without another annotation, which are in no recall: 1." in " ".join(done.stdout.split())
    page = Path("example.meta/meta.html").read_text()
    assert "model-y" in page
    assert "Cultural Missingness" in page
    shown = mores("show", "example.meta")
    assert shown.stdout.rstrip().splitlines()[-1] == last


def test_a_metric_as_json(mores: Run, home: Path) -> None:
    write_judge(home / "j.jsonl")
    done = mores(*DATA, "--metric", "j.jsonl", "--iou", "0.9", "--out", "o", "--json")
    assert done.returncode == 0, done.stderr
    result = Juice.model_validate_json(done.stdout)
    assert result.judges[0].judge == "j.jsonl"
    assert result.threshold == 0.9
    assert Path("o/judgements/j.jsonl").is_file()


@pytest.mark.slow
def test_a_model_and_its_cost(mores: Run) -> None:
    rule = {"contains": "", "answer": '{"errors": [{"side": "text", "quote": "queue", "severity": "minor", '
            '"type": "t", "explanation": "e"}], "explanation": "e"}'}  # fmt: skip
    Path("script.jsonl").write_text(json.dumps(rule) + "\n")
    metric = ("--metric", "excam:fake:script.jsonl")
    assert "5 calls" in mores(*DATA, *metric, "--dry-run").stdout
    done = mores(*DATA, *metric, "--json")
    assert done.returncode == 0, done.stderr
    judge = Juice.model_validate_json(done.stdout).judges[0]
    assert (judge.predicted, judge.unlocated, judge.errors) == (5, 4, 12)  # there is a queue in one answer only
    assert judge.scores["recall"].value == 1 / 12


@pytest.mark.usefixtures("quick_figures")
def test_figures(mores: Run) -> None:
    done = mores(*DATA, "--figures", "figures")
    assert done.returncode == 0, done.stderr
    assert any(Path("figures").glob("*.tex"))


def test_what_is_wrong(mores: Run) -> None:
    done = mores("meta", "--data", "juice:nowhere.json")
    assert (done.returncode, "nowhere.json" in done.stderr) == (2, True)
    done = mores(*DATA, "--metric", "count:fake:clean")
    assert (done.returncode, "use excam:MODEL or a file of judgements (--metric)" in done.stderr) == (2, True)
    done = mores(*DATA, "--split", "dev")
    assert (done.returncode, "split means nothing for JuICE; leave it out (--split)" in done.stderr) == (2, True)
    data = json.loads(EXAMPLE.read_text("utf-8"))
    del data[US]["query_text"]
    Path("bad.json").write_text(json.dumps(data))
    done = mores("meta", "--data", "juice:bad.json")
    assert (done.returncode, f"bad.json: {US} > query_text: Field required" in done.stderr) == (1, True)
