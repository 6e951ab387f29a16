"""Runs with different settings never share a folder, and `mores runs` lists them."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from mores.benchmark import score
from mores.benchmark.benchmark import Verdict
from mores.benchmark.folder import open_bench_run
from mores.io import read_records
from mores.report.runs import DESCRIBED
from mores.run import KINDS
from tests.cli.conftest import Run
from tests.runs import write_manifest

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
    Path(path).write_text("".join(json.dumps({"contains": word, "answer": answer}) + "\n" for word, answer in rows))
    return f"fake:{path}"


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert [set(counts) for counts in labels] == [{"correct"}, {"incorrect"}]


@pytest.mark.usefixtures("data")
def test_runs_are_listed(mores: Run) -> None:
    model = script("a.jsonl", "A")
    mores("bench", EASY, "--data", "data", "--model", model)
    done = mores("runs")
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stdout
    assert done.stdout.rstrip().endswith("1 run")
    Path("bench", "other").mkdir()
    Path("bench", "other", "run.json").write_text('{"made": "by another program"}')
    listed = mores("runs", "bench", "--json")
    assert f"note: not listed: {Path('bench', 'other', 'run.json')}: " in listed.stderr
    [printed] = json.loads(listed.stdout)
    assert printed["folder"] == str(Path("bench", EASY, "fake_a.jsonl"))
    assert (printed["kind"], printed["name"], printed["status"]) == ("bench", EASY, "complete")
    assert printed["headline"].startswith(f"{EASY}, {model}: accuracy ")
    assert printed["signature"]["task"].startswith(EASY)


@pytest.mark.usefixtures("data")
def test_a_run_is_shown_as_it_was_printed(mores: Run) -> None:
    printed = mores("bench", EASY, "--data", "data", "--model", script("a.jsonl", "A")).stdout
    folder = str(Path("bench", EASY, "fake_a.jsonl"))
    done = mores("show", folder, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
    assert "wrote page.html" in done.stderr
    assert "CulturalBench" in Path("page.html").read_text()
    data = json.loads(mores("show", folder, "--json").stdout)
    assert data["kind"] == "bench"
    assert list(data["result"]["figures"]) == ["accuracy"]
    assert mores("show", folder, "--quiet").stdout == ""


def test_what_cannot_be_shown_is_said(mores: Run, home: Path) -> None:
    write_manifest(home / "run")
    done = mores("show", "run")
    assert done.returncode == 1
    assert "the run has no result.json; it is complete: run it again" in done.stderr
    (home / "empty").mkdir()
    assert "there is no run.json in it" in mores("show", "empty").stderr


def test_every_kind_of_run_can_be_shown() -> None:
    assert set(DESCRIBED) == set(KINDS)
    assert all(callable(import_module(name).describe) for name in DESCRIBED.values())


@pytest.mark.slow
@pytest.mark.usefixtures("data")
def test_the_charts_of_a_run_for_a_paper(mores: Run, home: Path) -> None:
    pytest.importorskip("matplotlib")
    mores("bench", EASY, "--data", "data", "--model", script("a.jsonl", "A"))
    done = mores("show", str(Path("bench", EASY, "fake_a.jsonl")), "--quiet", "--figures", "paper")
    names = {path.suffix for path in (home / "paper").iterdir()}
    assert names == {".svg", ".pdf", ".csv", ".tex"}
    assert f"wrote {len(list((home / 'paper').iterdir()))} files into paper" in done.stderr
    Path("t.txt").write_text("In Japan people eat with forks.\n")
    mores("score", "t.txt", "--model", "fake:clean", "--out", "scored")
    mores("show", "scored", "--figures", "scores")
    assert {path.suffix for path in (home / "scores").iterdir()} == {".csv", ".tex"}  # no error, so no chart


def test_a_folder_without_runs_is_said(mores: Run) -> None:
    done = mores("runs")
    assert done.returncode == 1
    assert "there is no run in it" in done.stderr
