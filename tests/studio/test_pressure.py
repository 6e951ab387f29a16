"""Many people at once, and a server that is killed: nothing that was acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "studio.py"


def measure(capsys: pytest.CaptureFixture[str], database: str, *options: str) -> Any:
    """What the benchmark prints; its server is a process of its own."""
    runpy.run_path(str(SCRIPT))["main"](["--database", database, *options])
    return json.loads(capsys.readouterr().out)


def press(capsys: pytest.CaptureFixture[str], database: str, votes: int, kills: int) -> None:
    people = "12" if votes > 12 else "4"
    sizes = ["--people", people, "--seconds", "600", "--votes", str(votes), "--kills", str(kills)]
    with pytest.raises(SystemExit) as ended:
        measure(capsys, database, *sizes, "--items", str(max(20, votes // 2)))
    printed = capsys.readouterr().out
    assert ended.value.code == 0, printed
    result: dict[str, Any] = json.loads(printed)
    assert result["problems"] == []
    assert result["votes"] >= votes
    assert not set(result["refused"]) - {"409"}  # an item that was decided meanwhile


@pytest.mark.parametrize(("votes", "kills"), [(12, 1), pytest.param(400, 20, marks=pytest.mark.slow)])
def test_on_sqlite(tmp_path: Path, capsys: pytest.CaptureFixture[str], votes: int, kills: int) -> None:
    press(capsys, str(tmp_path / "studio.db"), votes, kills)


@pytest.mark.slow
def test_on_postgresql(postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    press(capsys, postgres, 60, 1)


@pytest.mark.slow
def test_every_page_is_short_and_its_time_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = measure(capsys, str(tmp_path / "studio.db"), "--people", "2", "--items", "30", "--pages")
    assert len(pages) == 8
    assert all(page["bytes"] < 100_000 for page in pages)
