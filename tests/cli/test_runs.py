"""Runs with different settings never share a folder, and `mores runs` lists them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mores.bench import score
from mores.bench.benchmark import Verdict
from mores.bench.folder import open_bench_run
from mores.io import read_records
from tests.cli.conftest import Run

EASY = "culturalbench-easy"


@pytest.fixture
def data(home: Path) -> None:
    samples = Path(score.__file__).parent
    (home / "data").mkdir()
    for name in ("culturalbench", "msqa"):
        (home / "data" / name).symlink_to(samples / name / "sample")


def script(path: str, answer: str, **rules: str) -> str:
    """A model that says `answer`, and something else to a prompt with one of the words in `rules`."""
    rows = [*rules.items(), ("", answer)]
    Path(path).write_text("".join(json.dumps({"contains": word, "answer": said}) + "\n" for word, said in rows))
    return f"fake:{path}"


@pytest.mark.usefixtures("data")
def test_other_limits_are_other_runs(mores: Run, home: Path) -> None:
    model = script("a.jsonl", "A")
    arguments = ("bench", EASY, "--data", "data", "--model", model)
    for limit, folder in (("2", "fake_a.jsonl"), ("4", "fake_a.jsonl-2"), ("2", "fake_a.jsonl")):
        done = mores(*arguments, "--limit", limit)
        assert done.returncode == 0, done.stderr
        assert ("another run (other data)" in done.stderr) == (limit == "4")
        run = open_bench_run(home / "bench" / EASY / folder)
        asked = {item.id for item in run.items()}
        assert len(asked) == int(limit) == run.result.questions
        assert {verdict.item_id for verdict in run.verdicts()} == asked
    done = mores("diagnose", "locality", "bench", "--by", "region")
    assert done.returncode == 2
    assert "data is" in done.stderr  # the two runs are of different questions, and that is said


@pytest.mark.usefixtures("data")
def test_another_judge_leaves_the_verdicts_of_the_first(mores: Run, home: Path) -> None:
    model, kind = script("m.jsonl", "x"), script("kind.jsonl", "VERDICT: CORRECT")
    strict = script("strict.jsonl", "VERDICT: NOT_CORRECT", NOT_ATTEMPTED="VERDICT: INCORRECT")
    for name in (kind, strict, kind):
        done = mores("bench", "msqa", "--data", "data", "--model", model, "--judge", name)
        assert done.returncode == 0, done.stderr
    folder = home / "bench" / "msqa"
    labels = [
        Counter(verdict.label for verdict in read_records(path / "verdicts.jsonl", Verdict))
        for path in sorted(folder.iterdir())
    ]
    assert [set(own) for own in labels] == [{"correct"}, {"incorrect"}]


@pytest.mark.usefixtures("data")
def test_runs_are_listed(mores: Run) -> None:
    model = script("a.jsonl", "A")
    mores("bench", EASY, "--data", "data", "--model", model)
    done = mores("runs")
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stdout
    assert done.stdout.rstrip().endswith("1 run")
    [found] = json.loads(mores("runs", "bench", "--json").stdout)
    assert found["folder"] == str(Path("bench", EASY, "fake_a.jsonl"))
    assert (found["kind"], found["name"], found["status"]) == ("bench", EASY, "complete")
    assert found["headline"].startswith(f"{EASY}, {model}: accuracy ")
    assert found["signature"]["task"].startswith(EASY)


def test_a_folder_without_runs_is_said(mores: Run) -> None:
    done = mores("runs")
    assert done.returncode == 1
    assert "there is no run in it" in done.stderr
