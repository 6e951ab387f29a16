"""`mores.meta` and `mores.compare`, as programs call them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter
from mores.metaevaluation.folder import MetaRun
from mores.run import Status
from mores.types import Judgement, Record
from tests.metaevaluation.golds import labelled

GOLDS = [labelled(f"s{i}", i % 2 == 0, source="ab"[i % 3 == 0]) for i in range(60)]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with_records(tmp_path / "mine" / "test.jsonl", GOLDS)
    return tmp_path / "mine"


def with_records(path: Path, records: Sequence[Record]) -> None:
    path.parent.mkdir(exist_ok=True)
    with JsonlWriter(path) as writer:
        for record in records:
            writer.write(record)


def judged(score: float) -> list[Judgement]:
    """A judge that finds every error, and gives all other texts this score."""
    return [
        Judgement(sample_id=gold.sample.id, judge="j", score=-5.0 if gold.report.errors else score) for gold in GOLDS
    ]


def test_a_meta_evaluation_is_a_run(data: Path) -> None:
    with_records(data.parent / "people.jsonl", judged(1.0))
    run = mores.meta(data, ["excam:fake:clean", "people.jsonl"], baselines=["never"], store=None)
    assert isinstance(run, MetaRun)
    assert run.path == Path("mine.meta")
    assert [evaluation.accuracy for evaluation in run.result.evaluations] == [0, 1, 0]
    again = mores.open_run("mine.meta")
    assert isinstance(again, MetaRun)
    assert again.manifest == run.manifest
    assert (again.kind, again.manifest.name, again.manifest.status) == ("meta", "mine", Status.COMPLETE)
    assert again.manifest.headline.startswith(
        "people.jsonl: useful here: scaled accuracy 1.00 [0.88, 1.00] on 60 pairs"
    )
    assert [advice.verdict for advice in run.result.advice] == ["not better", "useful"]
    assert (again.signature["data"], again.signature["split"]) == (run.result.revision, "test")
    assert [each.score for each in again.judgements("people.jsonl")] == [each.score for each in judged(1.0)]
    with pytest.raises(InputError, match=r"it has no metric 'words'; there are excam:fake:clean, people.jsonl, never"):
        again.judgements("words")


def test_failures_are_counted_by_kind(data: Path) -> None:
    run = mores.meta(data, "count:fake:clean", baselines="never", store=None)
    assert run.manifest.failures == {"parse": 60}


def test_another_setting_is_refused_in_a_named_folder_and_gets_its_own_otherwise(data: Path) -> None:
    for out in (None, "named"):
        assert mores.meta(data, baselines="never", out=out).path == Path(out or "mine.meta")
        assert mores.meta(data, baselines="never", out=out).path == Path(out or "mine.meta")
    assert mores.meta(data, baselines="never", limit=4).path == Path("mine.meta-2")
    with pytest.raises(ConfigError, match=r"named holds another run \(other limit\); choose another folder"):
        mores.meta(data, baselines="never", limit=4, out="named")
    with_records(data.parent / "people.jsonl", judged(1.0))
    mores.meta(data, "people.jsonl", baselines="none", out="people")
    with_records(data.parent / "people.jsonl", judged(-1.0))
    with pytest.raises(ConfigError, match="other judging"):  # the file has other judgements now
        mores.meta(data, "people.jsonl", baselines="none", out="people")
    assert json.loads(Path("people/meta.json").read_text())["evaluations"][0]["scores"]["scaled_accuracy"]["value"] == 1


def test_a_run_that_fails_says_why(data: Path) -> None:
    with pytest.raises(InputError):
        mores.meta(data, "nowhere.jsonl", baselines="none", out="failed")
    manifest = mores.open_run("failed").manifest
    assert manifest.status is Status.FAILED
    assert "nowhere.jsonl" in manifest.error


def test_comparing_lists_files_and_runs(data: Path) -> None:
    with_records(data.parent / "poor.jsonl", judged(-1.0))
    run = mores.meta(data, "poor.jsonl", baselines="none")
    for other in (judged(-1.0), "poor.jsonl", run, run.path):
        versus = mores.compare(judged(1.0), other, data=data, force=True)
        assert (versus.first, versus.n, versus.overall[0].difference) == ("first", 60, 1)
    assert mores.compare(judged(1.0), judged(1.0)).overall[0].difference == 0
    several = mores.meta(data, "poor.jsonl", baselines="never", out="several")
    with pytest.raises(ConfigError, match=r"several files of judgements; give one of them: judgements/poor.jsonl, "):
        mores.compare(several, run)
    with pytest.raises(InputError, match="first: 's0' is judged twice"):
        mores.compare(judged(1.0) * 2, run)
