"""A server that is away for a while is waited for by the clock; one that stays away ends the run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mores.engine import Counts, Limits
from mores.errors import ModelError, Transient
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.models.openai import OpenAIModel
from tests.engine.server import Fault, Server, dropped, unavailable
from tests.engine.test_runner import ask, collect, echo

FEW = Limits(concurrency=4, attempts=2, backoff=0.01, longest_wait=0.05, outage=10, timeout=10)
"""Two tries take a few hundredths of a second: whatever is survived for longer is survived by the clock."""


@contextmanager
def away(server: Server, fault: Fault, after: int, seconds: float) -> Iterator[None]:
    """Lets every call fail for some time, once so many answers are given."""

    def switch() -> None:
        while sum(server.answered.values()) < after:
            time.sleep(0.002)
        server.faults = {fault: 1.0}
        time.sleep(seconds)
        server.faults = {}

    thread = threading.Thread(target=switch)
    thread.start()
    yield
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("fault", [dropped, unavailable], ids=lambda f: f.__name__)
def test_an_outage_is_waited_for(fault: Fault) -> None:
    counts = Counts()
    with Server(latency=0.002) as server, away(server, fault, after=30, seconds=0.6):
        answers = collect(
            [ask(f"q{i}") for i in range(200)], OpenAIModel("x", server.url, "k"), None, FEW, counts=counts
        )
    assert all(a.completion for a in answers)
    assert counts.retries > 4
    assert counts.gives_up_at is None


@pytest.mark.slow
def test_nobody_listening_for_a_while_is_waited_for() -> None:
    """The connection is refused, as while a server restarts."""
    with Server(latency=0.002) as first:
        model = OpenAIModel("x", first.url, "k")
        server = Server(port=first.port)

        def restart() -> None:
            while sum(first.answered.values()) < 30:
                time.sleep(0.002)
            first.stop()
            time.sleep(0.6)
            server.start()

        thread = threading.Thread(target=restart)
        thread.start()
        answers = collect([ask(f"q{i}") for i in range(200)], model, None, FEW)
        thread.join()
        server.stop()
    assert all(a.completion for a in answers)


def test_an_outage_that_lasts_ends_the_run_and_is_counted_down() -> None:
    shown: list[float] = []
    counts = Counts()

    def answer(request: Request) -> Completion:
        if counts.calls < 3:
            return echo(request)
        if counts.gives_up_at is not None:
            shown.append(counts.gives_up_at - time.monotonic())
        raise Transient("connection refused", down=True)

    limits = Limits(
        concurrency=2, attempts=2, backoff=0.01, longest_wait=0.02, outage=0.4, give_up=3, confirm_every=0.2
    )
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"\d requests in a row failed.*connection refused"):
        collect((ask(f"q{i}") for i in range(10)), FakeModel("x", answer), None, limits, counts=counts)
    assert 0.4 <= time.monotonic() - started < 10
    assert shown[0] > 0
    assert shown == sorted(shown, reverse=True)


@pytest.mark.slow
def test_a_question_that_alone_makes_the_server_drop_the_line_is_one_failure() -> None:
    def answer(request: Request) -> Completion:
        if request.messages[-1].content == "q0":
            raise Transient("connection reset", down=True)
        time.sleep(0.001)
        return echo(request)

    limits, counts = Limits(concurrency=2, attempts=3, backoff=0.001, outage=0.3), Counts()
    answers = collect([ask(f"q{i}") for i in range(300)], FakeModel("x", answer), None, limits, counts=counts)
    assert [a.job.id for a in answers if a.failure] == ["q0"]
    assert not counts.problem


def test_nothing_is_waited_for_once_the_last_question_has_used_up_its_tries() -> None:
    def answer(request: Request) -> Completion:
        if request.messages[-1].content == "q2":
            raise Transient("ended with 'error'", of_text=True)
        return echo(request)

    limits, counts = Limits(concurrency=1, attempts=3, backoff=0.001), Counts()
    answers = collect([ask(f"q{i}") for i in range(3)], FakeModel("x", answer), None, limits, counts=counts)
    assert [a.job.id for a in answers if a.failure] == ["q2"]
    assert not counts.problem


def test_an_unknown_host_is_named_before_the_run_begins() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        started = time.monotonic()
        with pytest.raises(ModelError, match="cannot reach"):
            collect([ask("q")], OpenAIModel("x", url, "k"), None, FEW)
    assert time.monotonic() - started < 5
