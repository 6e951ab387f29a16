"""`mores.diagnose`: what its run says, when it goes on, and when it is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import mores
from mores.benchmark.folder import BenchRun, open_bench_run
from mores.diagnosis.errors import ErrorsResult
from mores.diagnosis.folder import DiagnoseRun, open_diagnose_run
from mores.diagnosis.stability import SOMETIMES, Stability
from mores.errors import ConfigError, InputError
from mores.report.runs import run_page, run_tables
from mores.run import Status
from tests.diagnosis.runs import Scripted

STORIES = 12


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve stories to each of which the answer is yes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "data" / "normad"
    folder.mkdir(parents=True)
    rows = [
        {"Country": "peru", "Story": f"Story {n:02d}.", "Rule-of-Thumb": "Greet.", "Gold Label": "yes"}
        for n in range(STORIES)
    ]
    (folder / "normad.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def run(home: Path) -> BenchRun:
    """A run with four wrong answers."""
    return make(home / "bench")


def make(out: Path, wrong: int = 4, limit: int | None = None) -> BenchRun:
    model = Scripted(lambda prompt: "no" if any(f"Story {n:02d}." in prompt for n in range(wrong)) else "yes")
    return mores.bench("normad", model, out=out, data="data", limit=limit, store=None)


def write_judge(home: Path) -> str:
    """A judge that says nothing of one answer and gives the first type to the others."""
    rows = [("Story 00.", "I cannot say."), ("", "A custom.\nTYPE: 1")]
    lines = [json.dumps({"contains": text, "answer": answer}) for text, answer in rows]
    (home / "judge.jsonl").write_text("\n".join(lines))
    return "fake:judge.jsonl"


def test_a_run_that_was_asked_in_another_way_is_told_apart(home: Path) -> None:
    model = Scripted(lambda _: "yes")
    plain, rule = (
        mores.bench("normad", model, out=home / "bench", data="data", variant=variant, samples=2, store=None)
        for variant in (None, "rule")
    )
    results = mores.diagnose("stability", [plain, rule]).results
    assert [result.benchmark for result in results if isinstance(result, Stability)] == ["normad", "normad.rule"]


def test_the_run_says_what_it_is_and_goes_on(home: Path, run: BenchRun) -> None:
    judge = write_judge(home)
    done = mores.diagnose("errors", run, judge=judge)
    assert isinstance(done, DiagnoseRun)
    [result] = done.results
    assert isinstance(result, ErrorsResult)
    assert (result.wrong, done.unmeasured) == (4, [])
    manifest = done.manifest
    assert (done.path, manifest.kind, manifest.status) == (Path("diagnose"), "diagnose", Status.COMPLETE)
    assert (manifest.name, manifest.model) == ("errors of normad", "")
    assert manifest.parents == (f"../bench/{run.path.relative_to(home / 'bench').as_posix()}",)
    assert [each.path.resolve() for each in done.bench_runs()] == [run.path.resolve()]
    assert (manifest.files, manifest.failures) == ({"errors.json": "Findings"}, {"parse": 1})
    assert manifest.headline == "errors: 4 wrong answers"
    assert manifest.signature["kinds"] == "errors"
    assert manifest.signature["model"] == "none"
    assert manifest.signature["judge"].startswith("fake")
    again = mores.diagnose("errors", str(run.path), judge=judge)
    assert (again.path, again.results) == (done.path, done.results)
    shown = run_tables(mores.open_run("diagnose"))
    assert next(each for each in shown if isinstance(each, str)).startswith("4 of 12 graded answers of")
    assert "bench/normad" in run_page(done)


def test_another_diagnosis_has_another_folder_and_is_refused_in_a_named_one(home: Path, run: BenchRun) -> None:
    judge = write_judge(home)
    assert mores.diagnose("errors", run, judge=judge).path == Path("diagnose")
    assert mores.diagnose("locality", run).path == Path("diagnose-2")
    other = make(home / "other", limit=6)
    moved = mores.diagnose("locality", other)
    assert (moved.path, moved.manifest.status) == (Path("diagnose-3"), Status.COMPLETE)
    mores.diagnose("locality", run, out="named")
    kept = (home / "named" / "locality.json").read_bytes()
    for target, by, field in ((run, "region", "by"), (other, "language", "runs")):
        with pytest.raises(ConfigError, match=rf"named holds another run \(other {field}\); choose another folder"):
            mores.diagnose("locality", target, out="named", by=by)
    assert (home / "named" / "locality.json").read_bytes() == kept


def test_of_a_benchmark_the_runs_are_made_inside(home: Path) -> None:
    model = Scripted(lambda _: "yes")
    done = mores.diagnose("stability", "normad", model=model, out=home / "out", data="data", samples=3, store=None)
    [result] = done.results
    assert isinstance(result, Stability)
    assert (result.samples, result.figures[SOMETIMES].value) == (3, 0)
    assert done.manifest.parents == ("samples/normad/fake_scripted",)
    assert done.manifest.headline == "stability: 0.0% sometimes correct"
    assert open_bench_run(done.path / done.manifest.parents[0]).result.samples == 3
    with pytest.raises(ConfigError, match=r"out holds another run \(other samples\)"):
        mores.diagnose("stability", "normad", model=model, out=home / "out", data="data", samples=2, store=None)


def test_the_signature_holds_the_questions_and_not_where_they_are(home: Path) -> None:
    model = Scripted(lambda _: "yes")
    done = mores.diagnose("stability", "normad", model=model, out="out", data="data", samples=2, store=None)
    assert done.manifest.signature["data"].endswith(".12")
    shutil.copytree(home / "data", home / "moved")
    again = mores.diagnose("stability", "normad", model=model, out="out", data="moved", samples=2, store=None)
    assert again.manifest.signature == done.manifest.signature
    [file] = (home / "moved" / "normad").iterdir()
    file.write_text("".join(file.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    with pytest.raises(ConfigError, match=r"out holds another run \(other data\)"):
        mores.diagnose("stability", "normad", model=model, out="out", data="moved", samples=2, store=None)


def test_a_diagnosis_that_could_not_begin_leaves_the_folder_free(home: Path, run: BenchRun) -> None:
    with pytest.raises(ConfigError, match="a judge decides the type of an error") as refused:
        mores.diagnose("errors", run, out="named")
    assert refused.value.setting == "judge"
    failed = open_diagnose_run("named")
    assert failed.manifest.status is Status.FAILED
    with pytest.raises(InputError, match="named: the run has no findings, because it is failed; diagnose again"):
        _ = failed.results
    assert mores.diagnose("errors", run, out="named", judge=write_judge(home)).manifest.status is Status.COMPLETE


def test_what_is_wrong_is_said(run: BenchRun) -> None:
    with pytest.raises(ConfigError, match="kind is 'guess'; expected calibration, "):
        mores.diagnose("guess", run)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="there is nothing to diagnose"):
        mores.diagnose("stability")
    with pytest.raises(ConfigError, match="'guess': no such confidence") as refused:
        mores.diagnose("calibration", run, sources=["guess"])
    assert refused.value.setting == "from"
    with pytest.raises(InputError, match="run of mores bench; give one of mores diagnose"):
        open_diagnose_run(run.path)
    done = mores.diagnose("locality", run)
    (done.path / "locality.json").write_text("{}")
    with pytest.raises(InputError, match=r"locality\.json: it cannot be read .*; diagnose again"):
        _ = open_diagnose_run(done.path).results
