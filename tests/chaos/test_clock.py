"""A wall clock that jumps by hours, back and forth, during a run: limits, waits and results do not depend on it."""

from __future__ import annotations

import json
import random
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mores.engine import Counts, Limits, Store
from mores.models.openai import OpenAIModel
from mores.run import Status, folder, read_manifest
from tests.cli.conftest import Run
from tests.cli.test_score import judgements, put, written
from tests.engine.server import Server, dropped
from tests.engine.test_outage import away
from tests.engine.test_runner import ask, collect


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds it up to a week away from the last."""
    draw, real = random.Random(1), time.time

    def jump() -> float:
        return real() + draw.uniform(-7, 7) * 86_400

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(jump(), tz)

    monkeypatch.setattr(time, "time", jump)
    monkeypatch.setattr(folder, "datetime", Jumping)


@pytest.mark.slow
@pytest.mark.usefixtures("jumping")
def test_limits_and_outages_are_by_a_clock_that_only_goes_on(tmp_path: Path) -> None:
    limits = Limits(concurrency=4, attempts=2, backoff=0.01, longest_wait=0.05, outage=10, requests_per_minute=6000)
    counts, started = Counts(), time.monotonic()
    with Server(answer=str.upper) as server, Store(tmp_path / "s.db") as store, away(server, dropped, 20, 0.3):
        jobs = [ask(f"q{i}") for i in range(60)]
        answers = collect(jobs, OpenAIModel("x", server.url, "k"), store, limits, counts=counts)
    assert [a.completion.text if a.completion else None for a in answers] == [f"Q{i}" for i in range(60)]
    assert 0.6 <= time.monotonic() - started < 10
    assert counts.retries


@pytest.mark.usefixtures("jumping")
def test_a_run_that_ends_before_it_began_is_complete(mores: Run) -> None:
    put("t.jsonl", [{"text": f"text {i}"} for i in range(5)])
    for _ in range(2):
        assert mores("score", "t.jsonl", "--model", "fake:first-word").returncode == 0
    [path] = Path().glob("*.score")
    assert read_manifest(path).status is Status.COMPLETE
    assert len(judgements(written())) == 5
    assert mores("runs", ".").returncode == 0
    assert mores("show", str(path)).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("off", [timedelta(days=2), timedelta(days=-2)], ids=["ahead", "behind"])
def test_a_server_whose_clock_differs_is_waited_for_as_it_asks(off: timedelta) -> None:
    """Retry-After as a date is by the clock of the server."""
    times: list[float] = []

    async def busy(server: Server, request: web.Request) -> web.StreamResponse:
        times.append(time.monotonic())
        if len(times) > 1:
            return server.proper(json.loads(await request.read())["messages"][-1]["content"])
        now = datetime.now(UTC) + off
        headers = {
            "Date": format_datetime(now, usegmt=True),
            "Retry-After": format_datetime(now + timedelta(seconds=1), usegmt=True),
        }
        return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)

    limits = Limits(concurrency=1, attempts=3, backoff=0.001)
    with Server({busy: 1.0}, answer=str.upper) as server:
        [answer] = collect([ask("q")], OpenAIModel("x", server.url, "k"), None, limits)
    assert answer.completion
    assert 0.9 <= times[1] - times[0] < 5
