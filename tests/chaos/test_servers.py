"""Servers that lie, dawdle and break off: every question is answered as by a good server, and the key goes nowhere."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from aiohttp import web

from mores.engine import Answer, Limits
from mores.errors import ModelError
from mores.models.openai import MOST_BYTES, OpenAIModel
from tests.engine.server import Fault, Server, completion
from tests.engine.test_outage import away
from tests.engine.test_runner import ask, collect

KEY = "sk-live-4f9a7c2e81d05b63"
LIMITS = Limits(concurrency=8, attempts=12, backoff=0.001, longest_wait=0.01, timeout=0.4, outage=5)
WRONG = json.dumps(completion("an answer to nobody")).encode()


def head(length: int | None, *lines: str, status: str = "200 OK") -> bytes:
    size = [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: application/json", *size, *lines, "", ""]).encode()


def sending(*parts: bytes, hang: bool = False, pause: float = 0.0) -> Fault:
    """A fault that writes these bytes past all rules of HTTP, and then closes the connection or leaves it hanging."""

    async def fault(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        assert request.transport is not None
        for part in parts:
            request.transport.write(part)
            await asyncio.sleep(pause)
        if hang:
            request.transport.write_eof()
            await asyncio.sleep(30)
        request.transport.close()
        return web.Response()

    return fault


def half(body: bytes) -> bytes:
    return body[: len(body) // 2]


async def refused_stream(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    """Nothing at all, for longer than anyone waits."""
    await asyncio.sleep(30)
    return web.Response()


FAULTS: dict[str, Fault] = {
    "a length that is too small": sending(head(len(WRONG) // 2), WRONG),
    "another answer behind the first": sending(head(2) + b"{}" + head(len(WRONG)) + WRONG),
    "a length that is no number": sending(head(None, "Content-Length: ten") + WRONG),
    "a negative length": sending(head(-5) + WRONG),
    "two lengths": sending(head(5, f"Content-Length: {len(WRONG)}") + WRONG),
    "a body that stops, half closed": sending(head(len(WRONG)), half(WRONG), hang=True),
    "chunks that lie": sending(head(None, "Transfer-Encoding: chunked") + b"ffffff\r\n" + WRONG),
    "chunks that are none": sending(head(None, "Transfer-Encoding: chunked") + b"zz\r\n" + WRONG + b"\r\n0\r\n\r\n"),
    "a byte now and then": sending(head(len(WRONG)), *(WRONG[i : i + 1] for i in range(20)), pause=0.1),
    "no word": refused_stream,
    "a head without end": sending(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
    "no HTTP": sending(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a page": sending(head(15).replace(b"application/json", b"text/html") + b"<html>hi</html>"),
    "no UTF-8": sending(head(len(WRONG)) + WRONG.replace(b"nobody", b"\xff\xfe\xfd\xfc\xfb\xfa")),
    "a lone surrogate": sending(head(len(WRONG)) + WRONG.replace(b"nobody", rb"\ud800")),
    "not packed, though it says so": sending(head(len(WRONG), "Content-Encoding: gzip") + WRONG),
    "packed by nobody knows what": sending(head(4, "Content-Encoding: gzip") + b"\x1f\x8b\x08\x00"),
}  # fmt: skip


def texts(answers: list[Answer]) -> list[str | None]:
    return [answer.completion.text if answer.completion else None for answer in answers]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_question_has_its_own_answer(fault: str) -> None:
    with Server({FAULTS[fault]: 0.3}, answer=str.upper, seed=1) as server:
        answers = collect([ask(f"q{i}") for i in range(16)], OpenAIModel("x", server.url, KEY), None, LIMITS)
        assert len(server.asked) > 16
    assert texts(answers) == [f"Q{i}" for i in range(16)]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_with_nothing_else_is_a_failure_with_its_reason(fault: str) -> None:
    once = Limits(concurrency=4, attempts=1, outage=0, timeout=0.3, give_up=100)
    with Server({FAULTS[fault]: 1.0}) as server:
        answers = collect([ask(f"q{i}") for i in range(3)], OpenAIModel("x", server.url, KEY), None, once)
    reasons = [answer.failure.reason for answer in answers if answer.failure]
    assert len(reasons) == 3
    assert all(reason and KEY not in reason and "an answer to nobody" not in reason[:40] for reason in reasons)


def test_a_packed_answer_is_read_whatever_its_content_type() -> None:
    async def packed(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        body = gzip.compress(json.dumps(completion("fine")).encode())
        return web.Response(body=body, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"})

    with Server({packed: 1.0}) as server:
        assert texts(collect([ask("q")], OpenAIModel("x", server.url, KEY), None, LIMITS)) == ["fine"]


@pytest.mark.slow
def test_a_small_answer_that_unpacks_to_much_more_is_not_unpacked() -> None:
    packer = zlib.compressobj(1, wbits=31)
    bomb = b"".join(packer.compress(b" " * (1 << 22)) for _ in range(64)) + packer.flush()  # a megabyte

    async def explode(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    once = Limits(concurrency=2, attempts=1, outage=0, give_up=100)
    with Server({explode: 1.0}) as server:
        answers = collect([ask(f"q{i}") for i in range(2)], OpenAIModel("x", server.url, KEY), None, once)
    assert all(a.failure and f"more than {MOST_BYTES >> 20} MB" in a.failure.reason for a in answers)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120 << 10


@contextmanager
def redirecting(where: Callable[[str], str]) -> Iterator[tuple[str, list[str]]]:
    """A server whose every path leads to another place, and what it was sent as the key."""
    keys: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = (await reader.readuntil(b"\r\n\r\n")).decode()
        keys.extend(line for line in sent.split("\r\n") if line.lower().startswith("authorization"))
        path = sent.split()[1]
        writer.write(head(0, f"Location: {where(path)}", "Connection: close", status="307 Temporary Redirect"))
        await writer.drain()
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", keys
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        server.close()
        loop.close()


def test_the_key_does_not_follow_a_redirect_to_another_place() -> None:
    with (
        redirecting(lambda path: path) as (elsewhere, keys),
        redirecting(lambda path: elsewhere.removesuffix("/v1") + path) as (url, _),
        pytest.raises(ModelError, match=r"redirects to .*; give the correct address"),
    ):
        collect([ask("q")], OpenAIModel("x", url, KEY), None, LIMITS)
    assert keys == []


def test_a_redirect_to_itself_ends_the_run_at_once() -> None:
    started = time.monotonic()
    with redirecting(lambda path: path) as (url, keys), pytest.raises(ModelError, match="redirects to"):
        collect([ask("q")], OpenAIModel("x", url, KEY), None, LIMITS)
    assert len(keys) == 2  # the greeting and the question
    assert time.monotonic() - started < 5


@pytest.mark.slow
def test_an_outage_of_a_minute_is_waited_for() -> None:
    async def down(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return web.Response(status=503)

    limits = Limits(concurrency=8, attempts=3, outage=300)
    with Server(answer=str.upper, latency=0.002) as server, away(server, down, after=100, seconds=60):
        answers = collect([ask(f"q{i}") for i in range(1000)], OpenAIModel("x", server.url, KEY), None, limits)
    assert texts(answers) == [f"Q{i}" for i in range(1000)]
