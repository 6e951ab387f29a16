"""Runs that are killed at any moment, several on one store: what they come to is what an unbroken run comes to."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import command
from tests.cli.test_score import put
from tests.engine.server import ALL_FAULTS, Server
from tests.fuzz.parsers import BENCH

TEXTS = [{"id": f"s{i}", "text": f"In {i} villages people drink tea."} for i in range(300)]


def report(prompt: str) -> str:
    """A verdict that depends on the text, so that a mix-up shows."""
    number = sum(map(ord, prompt))
    error = {"side": "text", "quote": "tea", "severity": "minor", "type": f"t{number % 7}", "explanation": str(number)}
    return json.dumps({"errors": [error] * (number % 3), "explanation": str(number)})


def letter(prompt: str) -> str:
    return "ABCD"[sum(map(ord, prompt)) % 4]


def records(folder: Path) -> dict[str, list[Any]]:
    """The records of all runs in a folder, without what tells when they ran and where the server was."""
    found = {}
    for path in sorted(folder.rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for row in rows:
            row.pop("signature", None)
        found[path.relative_to(folder).as_posix()] = rows
    return found


COMMANDS: dict[str, tuple[list[str], Any]] = {
    "score": (["score", "t.jsonl"], report),
    "bench": (["bench", "include", "--data", "data", "--samples", "40", "--temperature", "1"], letter),
}


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_random_it_comes_to_the_same(home: Path, name: str, at_once: int) -> None:
    put("t.jsonl", TEXTS)
    (home / "data").mkdir()
    (home / "data" / "include").symlink_to(BENCH / "include" / "sample")
    arguments, answer = COMMANDS[name]
    draw = random.Random(os.urandom(8))
    faults = dict.fromkeys(ALL_FAULTS, 0.01)
    with Server(faults, answer=answer, latency=0.02) as server:

        def start(out: str, cache: str) -> subprocess.Popen[bytes]:
            options = ["--model", "openai:x", "--base-url", server.url, "--concurrency", "4", "--out", out]
            environment = os.environ | {"MORES_CACHE": str(home / cache)}
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            return subprocess.Popen(command(*arguments, *options), cwd=home, env=environment, **pipes)

        def finish(process: subprocess.Popen[bytes]) -> None:
            said, _ = process.communicate(timeout=120)
            assert process.returncode == 0, said.decode()

        finish(start("whole", "first"))
        server.answered.clear()
        kills = 0
        for _ in range(10):
            running = [start(f"broken{number}", "second") for number in range(at_once)]
            enough = server.answered.total() + draw.randrange(40)
            while server.answered.total() < enough and any(process.poll() is None for process in running):
                time.sleep(0.005)
            time.sleep(draw.random() * 0.05)
            for process in draw.sample(running, len(running)):
                kills += process.poll() is None
                process.kill()
                process.communicate()
                assert process.returncode in (0, -signal.SIGKILL)
        for process in [start(f"broken{number}", "second") for number in range(at_once)]:
            finish(process)
    for number in range(at_once):
        assert records(home / f"broken{number}") == records(home / "whole")
    # Only what was in flight or not yet on disk at a kill may be answered twice: four calls and three answers.
    assert server.answered.total() - len(server.answered) * (40 if name == "bench" else 1) <= 7 * kills
    assert not list(home.rglob("*.part"))
