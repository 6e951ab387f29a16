"""Settings of all tests: how many examples a property is tried with, one thread per process, no Hub."""

from __future__ import annotations

import ast
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, flock
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir

# Tests run side by side: threads of one that wait by spinning would take the cores from the others.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Tests start hundreds of processes, each of which would otherwise compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ["XDG_CONFIG_HOME"] = str(Path(gettempdir()) / "mores-tests")  # no settings of the developer's own
os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported

# Started in the background or by nohup: tests of Ctrl-C would hang, and those of a lost terminal fail.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

pytest_plugins = ["tests.browser", "tests.hub", "tests.postgres"]

settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.register_profile("fuzz", deadline=None, max_examples=8000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """What collecting makes stays to the end: no use looking for garbage in it, then or later."""
    gc.disable()
    worker: str = getattr(session.config, "workerinput", {}).get("workerid", "")
    if worker.endswith(tuple("13579")):
        import_from_the_last(session.config)


def import_from_the_last(config: pytest.Config) -> None:
    """Every second worker begins at the other end: what one has compiled for the first time, the other reads."""
    places = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    files = [file for place in places for file in (place.rglob("test_*.py") if place.is_dir() else [place])]
    for file in sorted(files, reverse=True):
        with suppress(Exception, pytest.skip.Exception):  # which collecting will report
            import_module(".".join(file.relative_to(Path(__file__).parents[1]).with_suffix("").parts))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000)  # looked for less often than by default, garbage costs the tests 4% less time
    gc.enable()


def mark_slow_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`@pytest.mark.often("csv", "folder")`: these cases run in `make test`, those with other ids are slow."""
    named, there = set[tuple[str, str]](), set[tuple[str, str]]()
    for item in items:
        if isinstance(item, pytest.Function) and (mark := item.get_closest_marker("often")):
            function, case = item.nodeid.partition("[")[0], item.callspec.id
            named |= {(function, name) for name in mark.args}
            there.add((function, case))
            if case not in mark.args:
                item.add_marker(pytest.mark.slow)
    chosen = any("::" in argument for argument in config.args)  # then some cases are left out
    if (unknown := sorted(named - there)) and not chosen:
        raise pytest.UsageError(f"@pytest.mark.often names cases that are not there: {unknown}")


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those with torch first: one worker has them all, so that the others never import it, and none is left alone
    with the longest tests at the end. Those that read the source next to each other, so that one parses it for all."""
    mark_slow_cases(config, items)
    with_torch = {"training", "test_export", "test_hf", "test_hf_continuous", "test_train", "test_vllm"}
    with_torch |= {"test_python_examples_run[python]"}
    items.sort(
        key=lambda item: (
            with_torch.isdisjoint({item.path.parent.name, item.path.stem, item.name}),
            "trees" not in getattr(item, "fixturenames", ()),
        )
    )


@pytest.fixture(scope="session")
def trees() -> dict[str, ast.Module]:
    """Every file of the package, parsed, by its path."""
    source = Path(__file__).parents[1] / "src" / "mores"
    return {path.relative_to(source).as_posix(): ast.parse(path.read_text()) for path in sorted(source.rglob("*.py"))}


@pytest.fixture(scope="session")
def nodes(trees: dict[str, ast.Module]) -> dict[str, list[ast.AST]]:
    """All that is in every file of the package, by its path."""
    return {path: [*ast.walk(tree)] for path, tree in trees.items()}


MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """`made_once("site", build)` calls `build` with a path, in the first process that asks; all read what it made."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, function: Callable[[Path], object]) -> Path:
        with (folder / f"{name}.lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if not (folder / name).exists():
                function(folder / f"{name}.part")
                (folder / f"{name}.part").rename(folder / name)
        return folder / name

    return make


@pytest.fixture(autouse=True)
def _search_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is searched in the same way on every machine, whether an encoder is installed or not."""
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: False)
