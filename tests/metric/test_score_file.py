"""`mores.score_file`: a run in a folder, which goes on, and refuses other texts and settings."""

from __future__ import annotations

from pathlib import Path

import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.metric import Settings
from mores.metric.folder import ScoreRun, judgements_file, open_score_run
from mores.models import Completion
from mores.models.fake import FakeModel
from mores.run import Status, read_manifest
from tests.runs import write_manifest

CLEAN = '{"errors": [], "explanation": ""}'


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("First text.\nSecond text.\n")
    return path


def judge(answer: str = CLEAN) -> FakeModel:
    return FakeModel("judge", lambda _: Completion(answer, (-0.5,) * 9))


def test_a_run_is_made_and_opened(texts: Path, tmp_path: Path) -> None:
    run = mores.score_file(texts, judge(), out=tmp_path / "out", store=None)
    assert isinstance(run, ScoreRun)
    assert [judgement.sample_id for judgement in run.judgements()] == ["texts:1", "texts:2"]
    assert [sample.text for sample, _ in run.pairs()] == ["First text.", "Second text."]
    assert (run.result.n, run.result.judged, run.result.with_errors) == (2, 2, 0)
    manifest = run.manifest
    assert (manifest.kind, manifest.name, manifest.status) == ("score", str(texts), Status.COMPLETE)
    assert manifest.files == {"judgements.jsonl": "Judgement"}
    assert manifest.headline == run.result.headline == "2 texts, 2 judged; mean score 0.607"  # exp(-0.5)
    assert manifest.signature["data"].endswith(".2")
    assert "p" not in manifest.signature  # known only with the answers, whose judgements say it
    opened = mores.open_run(tmp_path / "out")
    assert isinstance(opened, ScoreRun)
    assert opened.result == run.result


def test_the_same_run_goes_on_and_others_are_refused(texts: Path, tmp_path: Path) -> None:
    out, store = tmp_path / "out", tmp_path / "answers.db"
    mores.score_file(texts, judge(), out=out, store=store)
    silent = FakeModel("judge", lambda _: pytest.fail("it was asked again"))
    assert mores.score_file(texts, silent, out=out, store=store).result.judged == 2
    with pytest.raises(ConfigError, match="another run \\(other decoding\\)"):
        mores.score_file(texts, judge(), Settings(seed=1), out=out, store=store)
    texts.write_text("First text.\nAnother text.\n")
    with pytest.raises(ConfigError, match="another run \\(other data\\)"):
        mores.score_file(texts, judge(), out=out, store=store)
    with pytest.raises(ConfigError, match=r"texts\.txt is a file; name a folder"):
        mores.score_file(texts, judge(), out=texts, store=store)


def test_without_a_folder_each_run_gets_one(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = mores.score_file(texts, judge(), store=None)
    texts.write_text("Another text.\n")
    second = mores.score_file(texts, judge(), store=None)
    assert [run.path.name for run in (first, second)] == ["texts.txt.fake_judge.score", "texts.txt.fake_judge.score-2"]


def test_failures_are_counted_by_kind(texts: Path, tmp_path: Path) -> None:
    run = mores.score_file(texts, judge("no report"), out=tmp_path / "out", store=None)
    assert run.manifest.failures == {"parse": 2}
    assert run.manifest.headline == "2 texts, 0 judged; no score"


def test_evidence_is_part_of_the_run(texts: Path, tmp_path: Path) -> None:
    run = mores.score_file(texts, judge(), out=tmp_path / "out", evidence="fake:echo", passages=2, store=None)
    assert run.signature["evidence"] == "fake:echo.k2.c300"
    assert run.manifest.settings["evidence"] == "fake:echo, at most 2 passages"
    assert [judgement.evidence[0].text for judgement in run.judgements()] == ["First text.", "Second text."]
    with pytest.raises(ConfigError, match="other prompt, evidence"):
        mores.score_file(texts, judge(), out=tmp_path / "out", store=None)


def test_bad_rows_stop_it_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a"}\n{"txt": "b"}\n')
    silent = FakeModel("judge", lambda _: pytest.fail("it was asked"))
    with pytest.raises(InputError, match="correct them, or leave them out") as raised:
        mores.score_file(path, silent, out=tmp_path / "out", store=None)
    assert raised.value.setting == "skip_bad"
    assert not (tmp_path / "out").exists()
    run = mores.score_file(path, judge(), out=tmp_path / "out", skip_bad=True, store=None)
    assert (run.result.n, run.manifest.settings["left_out"]) == (1, 1)


def test_a_run_that_fails_says_so(texts: Path, tmp_path: Path) -> None:
    def broken(_: object) -> Completion:
        raise InputError("no more")

    with pytest.raises(InputError):
        mores.score_file(texts, FakeModel("judge", broken), out=tmp_path / "out", store=None)
    manifest = read_manifest(tmp_path / "out")
    assert (manifest.status, manifest.error) == (Status.FAILED, "no more")


def test_judgements_are_read_from_files_and_runs(texts: Path, tmp_path: Path) -> None:
    run = mores.score_file(texts, judge(), out=tmp_path / "out", store=None)
    assert judgements_file(run.path) == run.path / "judgements.jsonl"
    assert judgements_file("mine.jsonl") == Path("mine.jsonl")
    with pytest.raises(InputError, match="a run of mores bench; give one of mores score"):
        open_score_run(write_manifest(tmp_path / "bench"))
