"""What cannot be judged says why, in the same record as everywhere; a score is never made up."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

import pytest

from mores.errors import ModelError, Rejected, Transient
from mores.metric import open_metric
from mores.models import Completion, Request
from mores.models.fake import FakeModel, fake
from mores.serve import Bounds
from mores.serve.service import Service
from mores.types import Sample
from tests.engine.server import Server
from tests.serve.conftest import Serve
from tests.serve.judge import LINES, TEXTS, Held, ask, send, until


class Moody(FakeModel):
    """A judge with a mood: what it raises, if anything."""

    def __init__(self) -> None:
        super().__init__("moody", lambda _: Completion(""))
        self.mood: Exception | None = None
        self.entered = 0

    async def __aenter__(self) -> Self:
        self.entered += 1
        return self

    async def complete(self, request: Request) -> Completion:
        if self.mood:
            raise self.mood
        return await fake("clean").complete(request)


@pytest.mark.parametrize(
    ("mood", "reason"),
    [
        (ModelError("moody: wrong key; check OPENAI_API_KEY"), "moody: wrong key; check OPENAI_API_KEY"),
        (ZeroDivisionError("secret"), "unexpected ZeroDivisionError"),
        (Transient("the server is on fire"), "the server is on fire (tried 1 times)"),
        (Rejected("the prompt is too long"), "the prompt is too long"),
    ],
)
def test_a_judge_that_fails_yields_failures_and_is_asked_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, mood: Exception, reason: str
) -> None:
    monkeypatch.setattr("mores.serve.service.PAUSES", (1.0,))
    judge = Moody()
    address = serve(judge, store=None, attempts=1)
    judge.mood = mood
    got = ask(address, [{"text": f"Text {number}"} for number in range(25)])
    assert got.status == 200
    assert [judgement["failure"] for judgement in got.json] == [{"kind": "model", "reason": reason}] * 25
    assert [judgement["score"] for judgement in got.json] == [None] * 25
    if isinstance(mood, Transient | Rejected):  # only these texts fail, however many they are
        assert ask(address, path="/ready").status == 200
        assert judge.entered == 1
    else:  # the judge as a whole: for a moment nothing is accepted
        again = ask(address, {"text": "a"})
        assert (again.status, again.json["detail"], again.headers["Retry-After"]) == (503, reason, "1")
        assert ask(address, path="/ready").json["status"] == reason
        assert ask(address, path="/health").status == 200
    judge.mood = None
    until(lambda: ask(address, path="/ready").status == 200)
    assert ask(address, {"text": "b"}).json["score"] == pytest.approx(0.905, abs=0.001)


def test_a_server_that_stops_makes_it_unready_until_it_is_back(serve: Serve) -> None:
    first = Server(latency=0.01)
    first.start()
    address = serve("openai:x", base_url=first.url, store=None, bounds=Bounds(deadline=3.0), outage=60.0)
    assert ask(address, {"text": "a"}).json["failure"] is None
    first.stop()
    failure = ask(address, {"text": "b"}).json["failure"]
    assert failure["kind"] == "model"
    assert failure["reason"].startswith("not judged within 3 s; the last problem was: ")
    assert ask(address, path="/ready").status == 503
    with Server(port=first.port):
        until(lambda: ask(address, path="/ready").status == 200, 40)
        assert ask(address, {"text": "c"}).json["failure"] is None


def test_what_is_late_is_a_failure_and_what_was_in_time_is_not(serve: Serve, held: Held) -> None:
    address = serve(held, bounds=Bounds(deadline=2.0))
    got = ask(address, [TEXTS[0], {"id": "s", "text": "A slow text."}]).json
    assert got[0]["score"] == -1
    assert got[1]["failure"] == {"kind": "model", "reason": "not judged within 2 s"}
    assert b"mores_texts_waiting 0" in ask(address, path="/metrics").body


def test_a_search_that_fails_is_the_same_failure_as_in_a_run(serve: Serve) -> None:
    address = serve("fake:clean", evidence="fake:fail")
    got = ask(address, TEXTS).json
    assert {judgement["failure"]["reason"].partition(":")[0] for judgement in got} == {"no evidence could be looked up"}
    assert b"mores_texts_waiting 0" in ask(address, path="/metrics").body


@pytest.mark.parametrize("headers", [{}, LINES], ids=["whole", "stream"])
def test_a_client_that_goes_takes_its_texts_along(serve: Serve, held: Held, headers: dict[str, str]) -> None:
    address = serve(held, store=None)
    with send(address, [{"text": f"slow {number}"} for number in range(20)], **headers):
        until(lambda: len(held.asked) == held.concurrency)
    until(lambda: b'mores_texts_total{outcome="withdrawn"} 20' in ask(address, path="/metrics").body)
    held.free.set()
    assert ask(address, {"text": "The next."}).json["score"] == -1
    assert len(held.asked) == held.concurrency + 1


def test_a_full_queue_says_when_to_come_again(serve: Serve, held: Held) -> None:
    address = serve(held, store=None, bounds=Bounds(max_waiting=6, max_batch=6))
    with send(address, [{"text": f"slow {number}"} for number in range(6)]):
        until(lambda: len(held.asked) == held.concurrency)
        full = ask(address, TEXTS[:3])
        assert full.status == 503
        assert full.json["detail"] == "4 texts wait already; at most 6 may"
        assert int(full.headers["Retry-After"]) >= 1
        fits = threading.Thread(target=ask, args=(address, TEXTS[:2]))
        fits.start()
        until(lambda: b"mores_texts_waiting 6" in ask(address, path="/metrics").body)
        held.free.set()
        fits.join(20)
    assert ask(address, TEXTS).status == 200


def test_one_key_cannot_take_the_whole_queue(serve: Serve, held: Held) -> None:
    keys = ["first-key-0123456789", "second-key-0123456789"]
    address = serve(held, store=None, keys=keys, bounds=Bounds(max_waiting=10, max_share=4, max_batch=4))
    first, second = ({"Authorization": f"Bearer {key}"} for key in keys)
    with send(address, [{"text": f"slow {number}"} for number in range(4)], **first):
        until(lambda: len(held.asked) == held.concurrency)
        full = ask(address, TEXTS[:3], **first)
        assert (full.status, full.json["detail"]) == (429, "2 of your texts wait already; at most 4 may")
        assert int(full.headers["Retry-After"]) >= 1
        with send(address, TEXTS[:3], **second):
            until(lambda: b"mores_texts_waiting 5" in ask(address, path="/metrics", **second).body)


def test_a_service_that_has_ended_can_be_started_again(held: Held) -> None:
    service = Service(open_metric(held, store=None))

    async def use() -> float | None:
        async with service:
            while service.unready:  # noqa: ASYNC110 - nothing tells when
                await asyncio.sleep(0.001)
            batch = service.submit([Sample(id="a", text="A text.")])
            [[(_, judgement)]] = [arrived async for arrived in batch.arrivals()]
            return judgement.score

    assert asyncio.run(use()) == asyncio.run(use()) == -1
    assert (held.entered, held.left, service.unready) == (2, 2, "the service has ended")


def test_what_was_accepted_is_finished_and_the_model_is_closed(held: Held) -> None:
    from mores import serve_app
    from tests.serving import serving

    with serving(serve_app(held, store=None)) as address:
        until(lambda: ask(address, path="/ready").status == 200)
        connection = send(address, [{"text": "slow and accepted"}])
        until(lambda: held.asked)
        threading.Timer(0.3, held.free.set).start()  # the server is told to end before
    with connection:
        assert b'"score":-1.0' in connection.recv(65536)
    assert (held.entered, held.left) == (1, 1)
