"""Many people at once, and a server that is killed: nothing that was acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "studio.py"


def press(database: str, *options: str) -> dict[str, Any]:
    sizes = ["--people", "12", "--items", "200"]
    command = [sys.executable, str(SCRIPT), "--database", database, *sizes, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def check(result: dict[str, Any]) -> None:
    assert result["problems"] == []
    assert result["votes"] >= 60
    assert not set(result["refused"]) - {"409"}  # an item that was decided meanwhile


def test_on_sqlite(tmp_path: Path) -> None:
    check(press(str(tmp_path / "studio.db"), "--seconds", "180", "--votes", "60", "--kills", "2"))


def test_on_postgresql(postgres: str) -> None:
    check(press(postgres, "--seconds", "180", "--votes", "60", "--kills", "1"))


def test_every_page_is_short_and_its_time_is_measured(tmp_path: Path) -> None:
    sizes = ["--people", "2", "--items", "30", "--pages"]
    command = [sys.executable, str(SCRIPT), "--database", str(tmp_path / "studio.db"), *sizes]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    pages = json.loads(done.stdout)
    assert len(pages) == 8
    assert all(page["bytes"] < 100_000 for page in pages)
