"""What cannot be judged says why, in the same record as everywhere; a score is never made up."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import pytest
from aiohttp import web

import mores
from mores.errors import ModelError, Rejected, Transient
from mores.metric import open_metric
from mores.models import Completion, Request
from mores.models.fake import FakeModel, fake
from mores.serve import Bounds
from mores.serve.service import UNAVAILABLE, Service
from mores.types import Blame, Sample
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


MOODS = [
    (ModelError("moody: wrong key for http://10.0.0.7/v1"), "set-up"),
    (ZeroDivisionError("secret"), "set-up"),
    (Transient("http://10.0.0.7/v1 is on fire"), "moment"),
    (Rejected("the prompt is too long"), "text"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mood", "blame"), MOODS)
def test_a_judge_that_never_worked_yields_failures_and_accepts_texts(
    serve: Serve, caplog: pytest.LogCaptureFixture, mood: Exception, blame: str
) -> None:
    judge = Moody()
    address = serve(judge, store=None, attempts=1)
    judge.mood = mood
    got = ask(address, [{"text": f"Text {number}"} for number in range(25)])
    assert got.status == 200
    reason = UNAVAILABLE[Blame(blame)]
    assert [judgement["failure"] for judgement in got.json] == [
        {"kind": "model", "reason": reason, "blame": blame}
    ] * 25
    assert [judgement["score"] for judgement in got.json] == [None] * 25
    assert b"10.0.0.7" not in got.body
    assert str(mood) in caplog.text  # the operator sees it
    assert ask(address, path="/ready").status == 200
    assert judge.entered == 1
    judge.mood = None
    assert ask(address, {"text": "b"}).json["score"] == pytest.approx(0.905, abs=0.001)


def test_a_judge_that_stops_working_is_opened_again(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that worked is asked once more: only then is nothing accepted for a moment."""
    monkeypatch.setattr("mores.serve.service.PAUSES", (1.0,))
    judge = Moody()
    address = serve(judge, store=None, attempts=1)
    assert ask(address, {"text": "a"}).json["failure"] is None
    judge.mood = ModelError("moody: wrong key for http://10.0.0.7/v1")
    got = ask(address, [{"text": f"Text {number}"} for number in range(25)])
    assert {judgement["failure"]["blame"] for judgement in got.json} == {"set-up"}
    again, ready = ask(address, {"text": "a"}), ask(address, path="/ready")
    assert (again.status, again.headers["Retry-After"], ready.status) == (503, "1", 503)
    assert b"10.0.0.7" not in got.body + again.body + ready.body
    assert ask(address, path="/health").json == {"status": "ok"}
    judge.mood = None
    until(lambda: ask(address, path="/ready").status == 200)
    assert ask(address, {"text": "b"}).json["failure"] is None


@pytest.mark.often("402")
@pytest.mark.parametrize("status", [301, 307, 401, 402, 403, 404, 500])
def test_bad_texts_of_one_client_do_not_touch_another(serve: Serve, status: int) -> None:
    async def picky(server: Server, request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["messages"][-1]["content"]
        if "bad" in prompt:
            return web.json_response({"error": {"message": "no"}}, status=status, headers={"Location": "http://x/"})
        return server.proper(prompt)

    keys = ["first-key-0123456789", "second-key-0123456789"]
    bad, good = ({"Authorization": f"Bearer {key}"} for key in keys)
    with Server({picky: 1.0}) as upstream:
        address = serve("openai:x", base_url=upstream.url, store=None, keys=keys, concurrency=4, attempts=2)
        with ThreadPoolExecutor(2) as pool:
            attack = pool.submit(
                lambda: [ask(address, [{"text": f"bad {n} {m}"} for m in range(8)], **bad) for n in range(4)]
            )
            got = [ask(address, {"text": f"text {number}"}, **good) for number in range(20)]
        assert all(answer.status == 200 and answer.json["failure"] is None for answer in got)
        assert {judgement["failure"]["kind"] for answer in attack.result() for judgement in answer.json} == {"model"}


def test_clients_see_neither_the_address_nor_the_errors_of_a_server(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has both, and a file of `mores score` the address: figures of two servers are not the same."""

    async def talkative(server: Server, request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["messages"][-1]["content"]
        if "bad" in prompt:
            return web.json_response({"error": {"message": f"the disk of {server.url} is full"}}, status=422)
        return server.proper(prompt)

    texts = [{"text": "good"}, {"text": "bad"}]
    with Server({talkative: 1.0}) as upstream:
        monkeypatch.setenv("MORES_SERPER_URL", upstream.url)
        monkeypatch.setenv("SERPER_API_KEY", "0123456789abcdef")
        config = tmp_path / "models.toml"
        config.write_text(f'[models.mine]\nmodel = "openai:x"\nbase_url = "{upstream.url}"\ntop_k = 7\n')
        here: dict[str, Any] = {"base_url": upstream.url, "store": None}
        signatures = []
        for model, options, failed in (
            ("openai:x", here, [False, True]),
            ("mine", {"config": str(config), "store": None}, [False, True]),
            ("openai:x", here | {"evidence": "serper"}, [True, True]),
        ):
            address = serve(model, **options)
            got, lines = ask(address, texts), ask(address, texts, **LINES)
            assert [bool(judgement["failure"]) for judgement in got.json] == failed
            for secret in (b"127.0.0.1", b"the disk of"):
                assert secret not in got.body + lines.body
            signatures.append(got.json[0]["signature"])
        assert f"the disk of {upstream.url} is full" in caplog.text
        judged = mores.score(["good"], model="openai:x", **here)[0].signature
    assert judged["model"] == f"openai:x@{upstream.url}"
    assert signatures[0] == judged | {"model": "openai:x"}
    assert [signatures[1]["model"], signatures[2]["evidence"]] == ['openai:x{"top_k":7}', "serper"]


@pytest.mark.slow
def test_a_server_that_stops_makes_it_unready_until_it_is_back(serve: Serve) -> None:
    first = Server(latency=0.01)
    first.start()
    address = serve("openai:x", base_url=first.url, store=None, bounds=Bounds(deadline=3.0), outage=60.0)
    assert ask(address, {"text": "a"}).json["failure"] is None
    first.stop()
    failure = ask(address, {"text": "b"}).json["failure"]
    assert failure["kind"] == "model"
    assert (failure["reason"], failure["blame"]) == ("not judged within 3 s; try again later", "moment")
    assert ask(address, path="/ready").status == 503
    with Server(port=first.port):
        until(lambda: ask(address, path="/ready").status == 200, 40)
        assert ask(address, {"text": "c"}).json["failure"] is None


@pytest.mark.slow
def test_what_is_late_is_a_failure_and_what_was_in_time_is_not(serve: Serve, held: Held) -> None:
    address = serve(held, bounds=Bounds(deadline=2.0))
    got = ask(address, [TEXTS[0], {"id": "s", "text": "A slow text."}]).json
    assert got[0]["score"] == -1
    assert got[1]["failure"] == {"kind": "model", "reason": "not judged within 2 s; try again later", "blame": "moment"}
    assert b"mores_texts_waiting 0" in ask(address, path="/metrics").body


def test_a_search_that_fails_is_the_same_failure_as_in_a_run(serve: Serve) -> None:
    address = serve("fake:clean", evidence="fake:fail")
    got = ask(address, TEXTS).json
    assert {judgement["failure"]["reason"].partition(":")[0] for judgement in got} == {"no evidence could be looked up"}
    assert b"mores_texts_waiting 0" in ask(address, path="/metrics").body


@pytest.mark.often("stream")
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
    until(lambda: b"mores_texts_waiting 0" in ask(address, path="/metrics").body)
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
        with send(address, [{"text": f"slow too {number}"} for number in range(3)], **second):
            until(lambda: b"mores_texts_waiting 4" in ask(address, path="/metrics", **second).body)


@pytest.mark.slow
def test_a_client_that_fills_the_queue_does_not_shut_out_another(serve: Serve, held: Held) -> None:
    keys = ["first-key-0123456789", "second-key-0123456789"]
    address = serve(held, store=None, keys=keys, bounds=Bounds(max_waiting=6, max_batch=6))
    first, second = ({"Authorization": f"Bearer {key}"} for key in keys)
    slow = [{"text": f"slow {number}"} for number in range(8)]
    with send(address, slow[:6], **first):
        until(lambda: len(held.asked) == held.concurrency)
        with send(address, slow[6:], **first):
            until(lambda: b"mores_texts_waiting 6" in ask(address, path="/metrics", **second).body)
            assert ask(address, TEXTS[:1], **first).status == 503
            assert ask(address, [{"text": f"text {number}"} for number in range(4)], **second).status == 503
            got = ask(address, TEXTS[:3], **second)
            assert [judgement["failure"] for judgement in got.json] == [None] * 3
            assert not held.free.is_set()


@pytest.mark.slow
def test_texts_that_never_end_delay_those_of_their_own_client_alone(serve: Serve, held: Held) -> None:
    keys = ["first-key-0123456789", "second-key-0123456789"]
    address = serve(held, store=None, keys=keys)
    first, second = ({"Authorization": f"Bearer {key}"} for key in keys)
    with send(address, [{"text": f"slow {number}"} for number in range(20)], **first):
        until(lambda: len(held.asked) >= held.concurrency)
        got = ask(address, TEXTS, **second)
        assert [judgement["failure"] for judgement in got.json] == [None] * len(TEXTS)
        assert not held.free.is_set()


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
