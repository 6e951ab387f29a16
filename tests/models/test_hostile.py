"""Servers that send far too much, or send the user's key back, in every place where they can."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mores.engine import Limits, Store
from mores.engine.loop import run
from mores.errors import ModelError
from mores.models.embedded import EmbeddedModel
from mores.models.openai import MOST_BYTES, OpenAIModel
from tests.engine.server import Fault, Server, completion
from tests.engine.test_runner import ask, collect

KEY = "sk-live-4f9a7c2e81d05b63"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
ONCE = Limits(concurrency=4, attempts=1, outage=0, give_up=100)


def saying(respond: Callable[[], web.StreamResponse]) -> Fault:
    async def fault(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return respond()

    return fault


def of(status: int, body: str, **headers: str) -> Callable[[], web.StreamResponse]:
    return lambda: web.Response(status=status, text=body, content_type="application/json", headers=headers)


def answered(text: str, **choice: Any) -> str:
    body = completion(text)
    body["choices"][0].update(choice)
    return json.dumps(body)


@pytest.mark.parametrize(
    "respond",
    [
        of(400, json.dumps({"error": {"message": f"the key {KEY} may not do that"}})),
        of(400, json.dumps({"error": {KEY: [KEY]}})),
        of(400, f'{{"error": "key {ESCAPED}"}}'),
        of(500, "x" * 70 + KEY),  # an excerpt must not end inside the key, either
        of(503, KEY),
        of(200, "x" * 70 + KEY),
        of(200, json.dumps({"error": {"message": KEY, "code": 429}})),
        of(200, answered(f"Your key is {KEY}.")),
        of(200, answered("Your key is KEY.").replace("KEY", ESCAPED)),
        of(200, answered("Your key is KEY.").replace("KEY", ESCAPED).replace("-0.25", "NaN")),
        of(200, answered("fine", finish_reason=KEY)),
        of(200, answered("fine").replace('"top_logprobs": []', f'"top_logprobs": [{{"token": "{KEY}", "logprob": -1}},'
                                         f'{{"token": "b", "logprob": -2}}]')),
    ],
)  # fmt: skip
def test_the_key_is_neither_in_an_answer_nor_in_a_failure_nor_in_the_store(
    respond: Callable[[], web.StreamResponse], tmp_path: Path
) -> None:
    async def echoing(server: Server, request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["messages"][-1]["content"]
        return respond() if prompt == "q" else server.proper(prompt)

    with Server({echoing: 1.0}) as server, Store(tmp_path / "s.db") as store:
        answers = collect([ask("first"), ask("q")], OpenAIModel("x", server.url, KEY), store, ONCE)
    assert answers[1].completion or answers[1].failure
    text = repr(answers)
    assert "…" in text
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for part in (KEY, KEY[:12], KEY[-12:], ESCAPED):
        assert part not in text
        assert part.encode() not in stored


@pytest.mark.parametrize(
    "respond",
    [
        of(401, json.dumps({"error": {"message": f"invalid key {KEY}"}})),
        of(403, json.dumps({"error": {"message": f"invalid key {KEY}"}})),
        of(404, json.dumps({"error": {"message": f"no model for {KEY}"}})),
        of(307, "", Location=f"https://elsewhere.example/{KEY}"),
        of(429, json.dumps({"error": {"message": KEY}}), **{"Retry-After": "100000"}),
    ],
)
def test_the_key_is_in_no_message_that_stops_a_run(respond: Callable[[], web.StreamResponse]) -> None:
    with Server({saying(respond): 1.0}) as server, pytest.raises(ModelError) as caught:
        collect([ask("q")], OpenAIModel("x", server.url, KEY), limits=ONCE)
    assert "…" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_header_that_cannot_be_read_does_not_show_the_key() -> None:
    async def odd(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        assert request.transport is not None
        request.transport.write(f"HTTP/1.1 200 OK\r\nBad Header {KEY}\r\n\r\n".encode())
        request.transport.close()
        return web.Response()

    with Server({odd: 1.0}) as server:
        [answer] = collect([ask("q")], OpenAIModel("x", server.url, KEY), limits=ONCE)
    assert answer.failure is not None
    assert KEY not in answer.failure.reason


@pytest.mark.parametrize("key", ["EMPTY", "anything", "k", "12"])
def test_a_word_that_stands_for_no_key_stays_in_the_answers(key: str) -> None:
    with Server(answer=lambda _: f"{key} goes") as server:
        [answer] = collect([ask("q")], OpenAIModel("x", server.url, key))
    assert answer.completion is not None
    assert answer.completion.text == f"{key} goes"


@pytest.mark.parametrize("announced", [True, False], ids=["with its length", "in chunks"])
def test_a_body_without_end_is_not_read_to_its_end(announced: bool) -> None:
    async def huge(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        response = web.StreamResponse()
        response.content_length = 1 << 30 if announced else None
        await response.prepare(request)
        for _ in range(256):
            await response.write(b" " * (1 << 20))
        return response

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Server({huge: 1.0}) as server:
        answers = collect([ask(f"q{i}") for i in range(2)], OpenAIModel("x", server.url, KEY), limits=ONCE)
    assert all(a.failure and f"more than {MOST_BYTES >> 20} MB" in a.failure.reason for a in answers)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120 << 10


def test_a_key_that_may_chat_but_not_list_models_is_enough() -> None:
    with Server() as server:
        server.models_status = 403
        assert collect([ask("q")], OpenAIModel("x", server.url, KEY))[0].completion


def test_the_embedded_servers_process_gets_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment: dict[str, str] = {}

    async def start(*command: str, env: dict[str, str], **options: Any) -> None:  # noqa: ARG001
        environment.update(env)
        raise ModelError("started")

    names = ("OPENAI_API_KEY", "SERPER_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "LLAMA_API_KEY", "DB_PASSWORD")
    for name in names:
        monkeypatch.setenv(name, KEY)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="started"):
        run(EmbeddedModel(str(tmp_path / "m.gguf"))._start(str(tmp_path)))
    assert environment["PATH"]
    assert KEY not in environment.values()
