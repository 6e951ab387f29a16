"""The speed benchmark runs and counts right; its times are not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "engine.py"


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def measure(*arguments: str) -> dict[str, Any]:
    process = start(*arguments, "--json")
    assert process.returncode == 0, process.stderr
    result: dict[str, Any] = json.loads(process.stdout)
    return result


@pytest.mark.slow
def test_compares_contestants_at_the_same_load() -> None:
    result = measure(
        "--calls", "200", "--connections", "20", "--latency-ms", "5", "--words", "30", "--only", "mores,aiohttp"
    )
    assert result["load"] == {"calls": 200, "connections": 20, "latency_ms": 5, "words": 30, "ideal_rate": 4000}
    assert [row["name"] for row in result["rows"]] == ["mores", "aiohttp"]
    for row in result["rows"]:
        assert row["good"] == row["requests"] == row["calls"] == 200
        assert row["most_at_once"] == 20
        assert row["share_of_ideal"] == pytest.approx(200 / row["wall_s"] / 4000)
        assert row["cpu_ms_per_call"] > 0
        assert row["peak_mb"] > 10
    assert result["rows"][0]["to_mores"] == {"rate": 1, "cpu": 1, "memory": 1}
    assert [target["met"] for target in result["targets"]] == [None, None]  # too few calls to say
    assert result["server"]["calls_per_s"] > 0


@pytest.mark.slow
def test_a_second_run_asks_nothing() -> None:
    result = measure("--million", "300", "--connections", "20")
    assert (result["first"]["requests"], result["first"]["cached"]) == (300, 0)
    assert (result["resume"]["requests"], result["resume"]["cached"], result["resume"]["good"]) == (0, 300, 300)
    assert [target["met"] for target in result["targets"]] == [None, None, True]


@pytest.mark.slow
def test_works_without_a_c_compiler() -> None:
    load = ("--calls", "100", "--connections", "10", "--latency-ms", "5")
    result = measure(*load, "--only", "aiohttp", "--stub", "asyncio")
    assert result["server"]["kind"] == "asyncio"
    (row,) = result["rows"]
    assert row["good"] == row["requests"] == 100
    assert row["most_at_once"] == 10


@pytest.mark.slow
def test_an_unknown_contestant_is_named() -> None:
    process = start("--only", "mores,curl")
    assert process.returncode == 2
    assert "no contestant 'curl'; there are mores, aiohttp, lm-eval, inspect" in process.stderr
