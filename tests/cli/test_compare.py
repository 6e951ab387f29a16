"""`mores compare`, through the real command."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from mores.metaevaluation.records import JudgementComparison
from mores.types import Signature
from tests.cli.conftest import Run
from tests.cli.test_meta import put
from tests.metaevaluation.golds import labelled

GOLDS = [labelled(f"s{i}", i % 2 == 0, source="ab"[i % 3 == 0], language="de") for i in range(60)]
LINES = "".join(gold.model_dump_json() + "\n" for gold in GOLDS)
REVISION = sha256(LINES.encode()).hexdigest()[:12]
SIGNED = Signature(metric="x.1", model="m", mores="1", data=REVISION)


@pytest.fixture
def files(home: Path) -> None:
    """A dataset, a good judge A of it and a poor one B."""
    (home / "d").mkdir()
    (home / "d" / "test.jsonl").write_text(LINES)
    put("A.jsonl", GOLDS, lambda gold: -5.0 if gold.report.errors else 1.0, signature=SIGNED)
    put("B.jsonl", GOLDS[2:], lambda _: -1.0, signature=Signature(SIGNED | {"model": "n"}))


def versus(stdout: str) -> JudgementComparison:
    return JudgementComparison.model_validate_json(stdout)


@pytest.mark.usefixtures("files")
def test_two_judges_of_a_dataset(mores: Run) -> None:
    done = mores("compare", "A.jsonl", "B.jsonl", "--data", "d", "--json")
    assert done.returncode == 0, done.stderr
    both = versus(done.stdout)
    assert (both.first, both.second, both.n, both.left_out) == ("A.jsonl", "B.jsonl", 58, 2)
    [accuracy, *_] = both.overall
    assert accuracy.statistic == "scaled_accuracy"
    assert accuracy.difference == pytest.approx(1.0)
    assert accuracy.p < 0.01
    assert set(both.by["source"]) == {"a", "b"}
    done = mores("compare", "A.jsonl", "B.jsonl", "--data", "d", "--by", "language")
    lines = done.stdout.splitlines()
    assert "A.jsonl less B.jsonl on 58 samples, 2 more left out because one of them has no" in " ".join(
        done.stdout.split()
    )
    assert any(line.startswith("S.Acc.") and "+1.000" in line and "[+" in line for line in lines)
    assert any(line.startswith("German ") and line.rstrip().endswith("58") for line in lines)
    back = versus(mores("compare", "B.jsonl", "A.jsonl", "--data", "d", "--json").stdout)
    assert back.overall[0].difference == pytest.approx(-1.0)
    assert back.overall[0].p == accuracy.p


@pytest.mark.usefixtures("files")
def test_people_who_do_not_say_of_what_data(mores: Run) -> None:
    put("people.jsonl", GOLDS, lambda gold: -1.0 if gold.report.errors else 0.0)
    done = mores("compare", "B.jsonl", "people.jsonl", "--data", "d")
    assert done.returncode == 0, done.stderr
    assert "adjusted p" not in done.stdout.split("Scaled accuracy by source")[0]
    assert "<0.001" in done.stdout
    assert "0.000 " not in done.stdout.replace("+0.000", "").replace("-0.000", "")


@pytest.mark.usefixtures("files")
def test_other_data_are_refused_unless_forced(mores: Run) -> None:
    put("C.jsonl", GOLDS, lambda _: 1.0, signature=Signature(SIGNED | {"data": "another"}))
    done = mores("compare", "A.jsonl", "C.jsonl", "--data", "d", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"C.jsonl is of data another, d (test) is {REVISION}; give the dataset that was judged" in done.stderr
    done = mores("compare", "A.jsonl", "C.jsonl", "--data", "d", "--json", "--force")
    assert (done.returncode, versus(done.stdout).n) == (0, 60)


@pytest.mark.usefixtures("files")
def test_texts_of_two_models_by_one_judge(mores: Run) -> None:
    put("C.jsonl", GOLDS, lambda _: -1.0, signature=Signature(SIGNED | {"data": "another"}))
    done = mores("compare", "A.jsonl", "C.jsonl")
    assert done.returncode == 0, done.stderr
    assert "mean score" in done.stdout
    assert "without error" in done.stdout
    both = versus(mores("compare", "A.jsonl", "C.jsonl", "--json").stdout)
    assert {comparison.statistic: comparison.difference for comparison in both.overall} == {
        "score": pytest.approx(-1),
        "error_free": 0.5,
    }
    done = mores("compare", "A.jsonl", "B.jsonl")
    assert done.returncode == 2
    assert "scores are comparable only from the same judge" in done.stderr
    assert "model: m and n" in done.stderr
    assert mores("compare", "A.jsonl", "B.jsonl", "--force").returncode == 0


@pytest.mark.usefixtures("files")
def test_what_score_writes_can_be_compared(mores: Run) -> None:
    for name in ("one", "two"):
        Path(f"{name}.jsonl").write_text(
            "".join(json.dumps({"id": str(i), "text": f"{name} {i}"}) + "\n" for i in range(9))
        )
        assert mores("score", f"{name}.jsonl", "--model", "fake:clean").returncode == 0
    done = mores("compare", *(f"{name}.jsonl.fake_clean.score" for name in ("one", "two")), "--json")
    assert done.returncode == 0, done.stderr
    assert [(comparison.difference, comparison.p, comparison.n) for comparison in versus(done.stdout).overall] == [
        (0, 1, 9),
        (0, 1, 9),
    ]


@pytest.mark.usefixtures("files")
def test_names_with_brackets_are_shown_as_they_are(mores: Run) -> None:
    Path("[bold]").mkdir()
    Path("A.jsonl").rename("[bold]/[i].jsonl")
    done = mores("compare", "[bold]/[i].jsonl", "[bold]/[i].jsonl")
    assert done.returncode == 0, done.stderr
    assert "[bold]/[i].jsonl less [bold]/[i].jsonl" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["A.jsonl"], 2, "Missing argument 'B'"),
        (["A.jsonl", "nowhere.jsonl"], 2, "'nowhere.jsonl' does not exist"),
        (["A.jsonl", "B.jsonl", "--data", "nowhere"], 2, "'nowhere' does not exist"),
        (["A.jsonl", "bad.jsonl"], 1, "bad.jsonl:1: "),
        (["A.jsonl", "other.jsonl", "--force"], 1, "no scored text in common; texts are paired by their ids"),
        (["A.jsonl", "other.jsonl", "--force", "--data", "d"], 1, "no sample of the dataset in common"),
        (["A.jsonl", "A.jsonl", "--data", "d", "--split", "dev"], 1, "dev.jsonl: no such file"),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_usage_and_wrong_files(mores: Run, arguments: list[str], code: int, words: str) -> None:
    Path("bad.jsonl").write_text('{"id": 1}\n')
    Path("other.jsonl").write_text('{"sample_id": "x", "judge": "j", "score": 1}\n')
    done = mores("compare", *arguments)
    assert words in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_what_changed_is_listed(mores: Run) -> None:
    """A is right about all samples; B finds an error in each, so it is wrong about those without one."""
    both = versus(mores("compare", "A.jsonl", "B.jsonl", "--data", "d", "--json").stdout)
    correct = {gold.sample.id for gold in GOLDS[2:] if not gold.report.errors}
    assert {change.id for change in both.changed} == correct
    assert all((change.first, change.difference) == ("right: no error", 1) for change in both.changed)
    assert all(change.second.startswith("wrong: ") for change in both.changed)
    shown = mores("compare", "B.jsonl", "A.jsonl", "--data", "d").stdout
    assert f"Changed: {len(correct)} of 58; 0 better in A, {len(correct)} better in B" in " ".join(shown.split())
    put("C.jsonl", GOLDS, lambda _: -1.0, signature=SIGNED)
    texts = versus(mores("compare", "A.jsonl", "C.jsonl", "--json").stdout)
    assert len(texts.changed) == 60
    assert {change.difference for change in texts.changed} == {-4.0, 1.0}
    assert abs(texts.changed[0].difference) == 4
