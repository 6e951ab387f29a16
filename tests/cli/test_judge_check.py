"""`mores judge-check`, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.benchmark import score
from mores.benchmark.benchmark import Verdict
from mores.benchmark.judge_check import REFUSE, JudgeCheck
from mores.io import read_records
from mores.run import open_run
from tests.cli.conftest import Run


@pytest.fixture
def data(home: Path) -> Path:
    (home / "data").mkdir()
    for name in ("msqa", "culturall"):
        (home / "data" / name).symlink_to(Path(score.__file__).parent / name / "sample")
    return home / "data"


@pytest.fixture
def judge(home: Path) -> str:
    """Calls everything wrong, and never not attempted."""
    rows = [("VERDICT: NOT_ATTEMPTED", "It is wrong.\nVERDICT: INCORRECT"), ("", "It is not.\nVERDICT: NOT_CORRECT")]
    text = "".join(json.dumps({"contains": part, "answer": answer}) + "\n" for part, answer in rows)
    (home / "judge.jsonl").write_text(text)
    return "fake:judge.jsonl"


@pytest.mark.usefixtures("data")
def test_a_judge_that_never_says_not_attempted(mores: Run, home: Path, judge: str) -> None:
    done = mores("judge-check", "msqa", "--data", "data", "--model", judge, "--out", "checked", "--json")
    assert done.returncode == 0, done.stderr
    check = JudgeCheck.model_validate_json(done.stdout)
    values = {name: result.value for name, result in check.probes.items()}
    assert values == {"correct": 0, "correct, in many words": 0, "wrong": 1, "wrong, in many words": 1, "refusal": 0}
    assert check.grades["refusal"] == {"incorrect": check.probes["refusal"].n}
    assert JudgeCheck.model_validate_json((home / "checked" / "judge-check.json").read_bytes()) == check
    kept = list(read_records(home / "checked" / "verdicts.jsonl", Verdict))
    assert len(kept) == check.agreement.n
    assert REFUSE in {verdict.answer for verdict in kept}
    assert "refusal: called incorrect" in mores("show", "checked").stdout


@pytest.mark.usefixtures("data")
def test_a_check_is_a_run(mores: Run, home: Path, judge: str) -> None:
    arguments = ("judge-check", "msqa", "--data", "data", "--model", judge)
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    assert "wrote judge-check; its page is judge-check/judge-check.html" in done.stderr
    run = open_run(home / "judge-check")
    assert (run.kind, run.manifest.name, run.manifest.status) == ("judge-check", "msqa", "complete")
    assert run.manifest.headline == done.stdout.splitlines()[-1]
    assert mores("show", "judge-check", "--html", "page.html").stdout == done.stdout
    assert (home / "page.html").read_text() == (home / "judge-check" / "judge-check.html").read_text()
    limited = mores(*arguments, "--limit", "2")
    assert "so this one is in judge-check-2" in limited.stderr
    assert run.manifest.headline in mores("show", "judge-check").stdout
    refused = mores(*arguments, "--limit", "2", "--out", "judge-check")
    assert refused.returncode == 2
    assert "judge-check holds another run (other data, probes)" in refused.stderr


@pytest.mark.usefixtures("data")
def test_people_may_have_graded_answers_to_any_item(mores: Run, home: Path, judge: str) -> None:
    """Also to those that the limit leaves out."""
    first, *_, last = map(json.loads, (home / "data" / "msqa" / "msqa.jsonl").read_text("utf-8").splitlines())
    rows = [(first["id"], "wrong", "incorrect"), (last["id"], "no idea", "not_attempted")]
    text = "".join(json.dumps({"item_id": i, "answer": a, "label": label}) + "\n" for i, a, label in rows)
    (home / "pairs.jsonl").write_text(text)
    way = ("--model", judge, "--limit", "1", "--pairs", "pairs.jsonl", "--json")
    done = mores("judge-check", "msqa", "--data", "data", *way)
    assert done.returncode == 0, done.stderr
    people = JudgeCheck.model_validate_json(done.stdout).probes["graded by people"]
    assert (people.value, people.n) == (0.5, 2)


@pytest.mark.usefixtures("data")
def test_a_file_without_answers_is_refused(mores: Run, home: Path, judge: str) -> None:
    (home / "pairs.jsonl").write_text("")
    done = mores("judge-check", "msqa", "--data", "data", "--model", judge, "--pairs", "pairs.jsonl")
    assert done.returncode == 1
    assert "pairs.jsonl: contains no answers; expected rows with item_id, answer and label" in done.stderr
