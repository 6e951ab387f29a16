"""A judge that tests hold back, and a client that says what it got."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from typing import Any, NamedTuple, Self

from mores.models import Completion, Request
from mores.models.fake import FakeModel, fake

TEXTS = [{"id": f"t{number}", "text": f"Text {number} of several."} for number in range(6)]
LONGEST = 300.0
"""Seconds that a client waits: the machine may be busy."""
LINES = {"Accept": "application/x-ndjson"}


class Held(FakeModel):
    """Says that the first word is wrong; texts with "slow" in them wait until `free` is set."""

    concurrency = 2

    def __init__(self) -> None:
        super().__init__("held", lambda _: Completion(""))
        self.free = threading.Event()
        self.asked: list[str] = []
        self.entered = self.left = 0
        self._first_word = fake("first-word")

    async def __aenter__(self) -> Self:
        self.entered += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.left += 1

    async def complete(self, request: Request) -> Completion:
        prompt = request.messages[-1].content
        self.asked.append(prompt)
        if "slow" in prompt:
            await asyncio.to_thread(self.free.wait, 60)
        return await self._first_word.complete(request)


class Got(NamedTuple):
    """An answer."""

    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(address: str, body: object = None, path: str = "/score", **headers: str) -> Got:
    """POST a body, as JSON where it is not bytes; without one, GET."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    given = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, data, given), timeout=LONGEST) as response:
            return Got(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Got(error.code, error.headers, error.read())


def send(address: str, body: object, **headers: str) -> socket.socket:
    """Send a request and do not wait for the answer."""
    host, _, port = address.removeprefix("http://").partition(":")
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Host": host, "Content_Type": "application/json", "Content_Length": str(len(data))} | headers
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items() if value)
    connection = socket.create_connection((host, int(port)), 30)
    connection.sendall(f"POST /score HTTP/1.1\r\n{lines}\r\n".encode() + data)
    return connection


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
