"""Folders of runs: the same signature goes on, another one gets its own folder, and only one process works in it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.synchronize
import os
from asyncio import CancelledError
from pathlib import Path

import pytest

from mores.benchmark.folder import BenchRun, find_bench_runs, open_bench_run
from mores.engine.progress import Silent
from mores.errors import ConfigError, InputError, ModelError
from mores.run import KINDS, MANIFEST, Plan, Run, Status, find_runs, open_run, read_manifest, start_run
from tests.runs import write_manifest


class Notes(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def plan(**signature: str) -> Plan:
    return Plan(kind="bench", name="msqa", model="fake:one", signature={"task": "msqa.1"} | signature)


def test_a_run_says_what_it_is_and_what_came_of_it(tmp_path: Path) -> None:
    with start_run(tmp_path / "one", plan(data="a")) as run:
        assert read_manifest(run.path).status is Status.RUNNING
        run.finish(files={"rows.jsonl": "Item"}, failures={"parse": 2}, headline="accuracy 50.0%")
    manifest = read_manifest(tmp_path / "one")
    assert (manifest.status, manifest.kind, manifest.model) == (Status.COMPLETE, "bench", "fake:one")
    assert (manifest.files, manifest.failures, manifest.headline) == (
        {"rows.jsonl": "Item"},
        {"parse": 2},
        "accuracy 50.0%",
    )
    assert manifest.ended is not None
    assert manifest.started <= manifest.ended


def test_the_same_signature_goes_on_and_another_has_its_own_folder(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    for data, path in (("a", "one"), ("b", "one-2"), ("a", "one"), ("c", "one-3"), ("b", "one-2")):
        notes = Notes()
        with start_run(folder, plan(data=data), progress=notes) as run:
            assert run.path == tmp_path / path
        expected = f"note: {folder} holds another run (other data), so this one is in {tmp_path / path}"
        assert notes.lines == ([] if path == "one" else [expected])
    assert [run.path.name for run in find_runs(tmp_path)] == ["one", "one-2", "one-3"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (KeyboardInterrupt(), Status.STOPPED),
        (CancelledError(), Status.STOPPED),
        (ModelError("no answer"), Status.FAILED),
    ],
)
def test_how_it_ended_is_kept(tmp_path: Path, error: BaseException, status: Status) -> None:
    with pytest.raises(type(error)), start_run(tmp_path / "one", plan()):
        raise error
    manifest = read_manifest(tmp_path / "one")
    assert (manifest.status, manifest.error) == (status, str(error))
    with start_run(tmp_path / "one", plan()):
        pass
    assert read_manifest(tmp_path / "one").status is Status.COMPLETE


def _hold(folder: Path, started: multiprocessing.synchronize.Event, end: multiprocessing.synchronize.Event) -> None:
    with start_run(folder, plan(data="a")):
        started.set()
        end.wait(30)


@pytest.mark.skipif(os.name == "nt", reason="no lock on Windows")
def test_one_process_works_on_a_run(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    started, end = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path / "one", started, end))
    other.start()
    try:
        assert started.wait(30)
        with (
            pytest.raises(ConfigError, match="another process works on this run"),
            start_run(tmp_path / "one", plan(data="a")),
        ):
            pass
        with start_run(tmp_path / "one", plan(data="b")) as run:
            assert run.path.name == "one-2"
    finally:
        end.set()
        other.join()
    assert read_manifest(tmp_path / "one").status is Status.COMPLETE


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run.json in it; give the folder of a run"):
        read_manifest(tmp_path)
    (tmp_path / "bench" / "own").mkdir(parents=True)
    (tmp_path / "bench" / "own" / MANIFEST).touch()
    with pytest.raises(InputError, match=r"give the folder of a run, such as .*bench.own, which is in it"):
        read_manifest(tmp_path)
    (tmp_path / "bench" / "own" / MANIFEST).unlink()
    with pytest.raises(InputError, match="there is no run of mores bench in it"):
        find_runs(tmp_path, "bench")
    (tmp_path / MANIFEST).write_text('{"kind": "bench"}')
    with pytest.raises(InputError, match=r"run.json: name: Field required"):
        read_manifest(tmp_path)


def test_a_run_is_opened_by_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "other", "mores.run.folder:Run")
    bench, other = write_manifest(tmp_path / "a" / "bench", task="x.1"), write_manifest(tmp_path / "other", "other")
    run = open_run(str(bench))
    assert isinstance(run, BenchRun)
    assert (run.path, run.kind, run.signature["task"]) == (bench, "bench", "x.1")
    assert type(open_run(other)) is Run
    assert [each.path for each in find_runs(tmp_path)] == [bench, other]
    assert [each.path for each in find_runs(tmp_path, "other")] == [other]
    with pytest.raises(InputError, match="it is a run of mores other; give one of mores bench"):
        open_bench_run(other)


def test_an_unknown_kind_is_said(tmp_path: Path) -> None:
    write_manifest(tmp_path, "brew")
    with pytest.raises(InputError, match="unknown kind of run 'brew'; there are bench"):
        open_run(tmp_path)


def test_a_run_without_a_result_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError), start_run(tmp_path / "one", plan()):
        raise ModelError("no answer")
    run = open_bench_run(tmp_path / "one")
    with pytest.raises(InputError, match=r"the run has no result.json; it is failed: run it again"):
        _ = run.result
    with pytest.raises(InputError, match="no run of a benchmark in it has a result"):
        find_bench_runs(tmp_path)


def test_a_named_folder_takes_no_other_run(tmp_path: Path) -> None:
    for _ in range(2):
        with start_run(tmp_path / "one", plan(data="a"), numbered=False) as run:
            assert run.path == tmp_path / "one"
    before = (tmp_path / "one" / MANIFEST).read_bytes()
    with (
        pytest.raises(ConfigError, match=r"holds another run \(other data\); choose another folder"),
        start_run(tmp_path / "one", plan(data="b"), numbered=False),
    ):
        pass
    other = plan(data="a").model_copy(update={"kind": "score"})
    with (
        pytest.raises(ConfigError, match=r"holds another run \(of mores bench\)"),
        start_run(tmp_path / "one", other, numbered=False),
    ):
        pass
    assert (tmp_path / "one" / MANIFEST).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
