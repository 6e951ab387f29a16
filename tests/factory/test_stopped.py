"""A build that is stopped at any stage: the same command continues it and gives the same bytes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError
from mores.factory import balance, loading, shortcut, work
from mores.factory import build as stages
from mores.factory import output as writing
from mores.factory.folder import verify
from mores.factory.recipe import BuildRecipe
from mores.factory.work import StageStore
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.run import WORK, Status, read_manifest
from tests.cli.conftest import Run, home
from tests.cli.conftest import mores as command
from tests.factory.test_build import put, quiz, survey
from tests.factory.test_model_errors import answer

__all__ = ["command", "home"]


STRATA = 6
"""Of the recipe below: tasks and forms of two sources."""


class Killed(BaseException):
    """Ends a build where it is, as nothing in it expects."""


@pytest.fixture(autouse=True, scope="module")
def every_stage_is_long() -> Iterator[None]:
    """Long enough to be kept."""
    with pytest.MonkeyPatch.context() as during:
        during.setattr(work, "LEAST", 0.0)
        yield


def make_recipe(folder: Path) -> BuildRecipe:
    return BuildRecipe(name="mine", sources=(put(folder, survey(40), "survey"), put(folder, quiz(20), "quiz")))


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> BuildRecipe:
    return make_recipe(tmp_path_factory.mktemp("items"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, recipe: BuildRecipe) -> dict[str, bytes]:
    """The dataset of a build that nobody stopped."""
    folder = tmp_path_factory.mktemp("whole")
    mores.build(recipe, folder)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a dataset; `run.json` says when it was built."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("run.json", ".lock")}


def kill_at(number: int, function: Callable[..., Any], error: type[BaseException] = Killed) -> Callable[..., Any]:
    """The function, which ends the build at its call of this number."""
    calls = iter(range(1, 1000))

    def dying(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == number:
            raise error
        return function(*args, **kwargs)

    return dying


def count_calls(function: Callable[..., Any], calls: list[str]) -> Callable[..., Any]:
    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(function.__name__)
        return function(*args, **kwargs)

    return counting


@pytest.mark.often("writing")
@pytest.mark.parametrize(
    ("target", "name", "at", "finished"),
    [
        (stages, "groups", 1, 0),
        (loading, "cap", 2, 0),
        (stages, "drafts", 50, 0),
        (balance.SAMPLINGS, "shortcut-free", 1, 0),
        (balance.SAMPLINGS, "shortcut-free", 3, 2),
        (stages, "audit", 2, STRATA),
        (stages, "audit", 5, STRATA),
        (stages, "audit_texts", 1, STRATA),
        (writing, "make_entry", 20, STRATA),
        (writing, "render", 1, STRATA),
        (writing, "sum_of", 4, STRATA),
    ],
    ids=["grouping", "reading", "making errors", "first balance", "third balance", "paper's audit", "audit",
         "audit of texts", "writing", "card", "sums"],
)  # fmt: skip
def test_a_build_that_is_killed_goes_on(
    tmp_path: Path, recipe: BuildRecipe, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch,
    target: Any, name: str, at: int, finished: int,
) -> None:  # fmt: skip
    """The build that continues balances only those strata that were not finished."""
    with monkeypatch.context() as during:
        if isinstance(target, dict):
            during.setitem(target, name, kill_at(at, target[name]))
        else:
            during.setattr(target, name, kill_at(at, getattr(target, name)))
        with pytest.raises(Killed):
            mores.build(recipe, tmp_path)
    assert not (tmp_path / "SHA256SUMS").exists()
    calls: list[str] = []
    monkeypatch.setitem(balance.SAMPLINGS, "shortcut-free", count_calls(balance.shortcut_free, calls))
    mores.build(recipe, tmp_path)
    assert len(calls) == STRATA - finished
    assert contents(tmp_path) == whole
    assert verify(tmp_path) == []


@pytest.mark.slow
def test_soft_errors_of_a_model_are_not_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even those that it failed to make, and without a store: the stage was finished."""
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    recipe = BuildRecipe(name="mine", sources=(put(tmp_path, items, "survey"),), sampling="paper", soft="model")
    asked = 0

    def say(request: Request) -> Completion:
        nonlocal asked
        asked += 1
        return Completion(answer() if "should be major" in request.messages[0].content else "Sorry.")

    model = FakeModel("soft", say)
    whole = mores.build(recipe, tmp_path / "whole", model=model, store=None)
    assert asked == 40
    with monkeypatch.context() as during:
        during.setattr(stages, "audit", kill_at(1, shortcut.audit))
        with pytest.raises(Killed):
            mores.build(recipe, tmp_path / "stopped", model=model, store=None)
    assert asked == 80
    shutil.copytree(tmp_path / "stopped", tmp_path / "again")
    continued = mores.build(recipe, tmp_path / "stopped", model=model, store=None)
    assert asked == 80
    assert contents(continued.path) == contents(whole.path)
    assert continued.manifest.failures == whole.manifest.failures == {"parse": 20}
    mores.build(recipe, tmp_path / "again", model=model, store=None, retry_failed=True)
    assert asked == 120, "unless they are asked for again"


@pytest.mark.slow
def test_what_was_kept_and_is_damaged_is_not_used(
    tmp_path: Path, recipe: BuildRecipe, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as during:
        during.setattr(stages, "audit", kill_at(1, shortcut.audit))
        with pytest.raises(Killed):
            mores.build(recipe, tmp_path)
    kept = sorted((tmp_path / WORK).iterdir())
    assert len(kept) == STRATA
    kept[0].write_text('["no such')
    kept[1].write_text('{"no": "list"}')
    mores.build(recipe, tmp_path)
    assert contents(tmp_path) == whole
    assert not (tmp_path / WORK).exists()


@pytest.mark.slow
def test_a_failed_build_does_not_block_its_folder(
    tmp_path: Path, recipe: BuildRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its finished stages are no result: with other settings the same folder can be used."""
    with monkeypatch.context() as during:
        during.setattr(writing, "CardTally", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            mores.build(recipe, tmp_path / "out")
    assert read_manifest(tmp_path / "out").status is Status.FAILED
    assert list((tmp_path / "out" / WORK).iterdir())
    mores.build(recipe, tmp_path / "out", seed=1)
    assert verify(tmp_path / "out") == []
    with pytest.raises(ConfigError, match="holds another run"):
        mores.build(recipe, tmp_path / "out", seed=2)


def test_short_stages_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LEAST", 60.0)
    kept = StageStore(tmp_path / WORK, "signature")
    assert kept.keep("a stage", ["1"], list[str], lambda: ["result"]) == ["result"]
    assert not (tmp_path / WORK).exists()


@pytest.mark.parametrize("other", [{"signature": "another"}, {"inputs": ["2"]}, {"code": "changed"}], ids=str)
def test_a_kept_result_is_for_its_own_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    calls: Iterator[int] = iter(range(10))

    def keep(signature: str = "signature", inputs: list[str] = ["1"]) -> int:  # noqa: B006
        return StageStore(tmp_path, signature).keep("a stage/of\ttwo", inputs, int, lambda: next(calls))

    assert [keep(), keep()] == [0, 0]
    if code := other.pop("code", None):
        monkeypatch.setattr(work, "_code", lambda: code)
    assert [keep(**other), keep(**other)] == [1, 1]


def test_ctrl_c_says_how_to_go_on(home: Path, command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home, survey(20), "survey")
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl]\n")
    with monkeypatch.context() as during:
        during.setattr(stages, "audit", kill_at(1, shortcut.audit, KeyboardInterrupt))
        done = command("build", "mine.yaml", "--out", "data")
    assert done.returncode == 1
    assert "Finished parts are saved; rerun to resume.\n" in done.stderr
    assert read_manifest(home / "data").status is Status.STOPPED
    assert command("build", "mine.yaml", "--out", "data").returncode == 0


KILL = """
import os, signal
from mores.cli import main
from mores.factory import balance, work

def choose(*args):
    if next(calls) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return balance.shortcut_free(*args)

calls, work.LEAST = iter(range(9)), 0.0
balance.SAMPLINGS["shortcut-free"] = choose
main()
"""
"""A command that is killed while it balances the second stratum."""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_process_that_is_killed(home: Path, command: Run) -> None:
    make_recipe(home)
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl, quiz.jsonl]\n")
    killed = subprocess.run([sys.executable, "-c", KILL, "build", "mine.yaml", "--out", "stopped"], cwd=home)
    assert killed.returncode == -signal.SIGKILL
    assert read_manifest(home / "stopped").status is Status.RUNNING
    assert len(list((home / "stopped" / WORK).iterdir())) == 1
    for name in ("stopped", "whole"):
        done = command("build", "mine.yaml", "--out", name)
        assert done.returncode == 0, done.stderr
    assert contents(home / "stopped") == contents(home / "whole")
    assert "the same" in command("build", "diff", "stopped", "whole").stdout
