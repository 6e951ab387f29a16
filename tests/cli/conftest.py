"""Runs the real command in this process, in an empty folder with an empty cache."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import pytest

from mores.cli import main
from mores.report.base import drawing, figures


class Done(NamedTuple):
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def mores(home: Path) -> Run:
    """`mores("score", "texts.jsonl", stdin="…")`."""

    def run(*arguments: str, stdin: str | bytes = "", **env: str) -> Done:
        return run_in_process(home, arguments, stdin.encode() if isinstance(stdin, str) else stdin, env)

    return run


@pytest.fixture
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures without PDF, which matplotlib takes as long for again; test_board has them."""
    monkeypatch.setattr(figures, "draw", partial(drawing.draw, kinds=("svg",)))


def run_in_process(
    folder: Path, arguments: tuple[str, ...], stdin: bytes = b"", env: dict[str, str] | None = None
) -> Done:
    """The command with streams, environment and folder of its own."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Done(int(ended.value.code or 0), *texts)


def command(*arguments: str) -> list[str]:
    """The command line of `mores`, for what only a process can show: signals, pipes, start-up."""
    return [sys.executable, "-m", "mores", *arguments]
