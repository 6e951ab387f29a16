"""Runs the real command in a process of its own, in an empty folder with an empty cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


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

    def run(*arguments: str, stdin: str | bytes = "", **env: str) -> subprocess.CompletedProcess[str]:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            command(*arguments),
            input=given,
            capture_output=True,
            cwd=home,
            env=os.environ | env,
            timeout=120,
            check=False,
        )
        return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def command(*arguments: str) -> list[str]:
    """The command line of `mores`."""
    return [sys.executable, "-c", "from mores.cli import main; main()", *arguments]
