"""The chat server that the contestants call: it answers at once or after a fixed time, and is never the bottleneck.

It is `stub_server.c` if there is a C compiler, otherwise the asyncio server in this file (slower, same bytes):

    python stub.py LATENCY_MS ANSWER_FILE        # prints its port; ends when standard input is closed
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.request import ProxyHandler, build_opener

Kind = Literal["c", "asyncio"]

WORDS = 20
"""Of an answer, unless it is to be longer."""
TEXT = "A fixed answer that has about as many words as a model writes when asked for a short one, twenty."
MODELS = b'{"object": "list", "data": []}'


def text_of(words: int) -> str:
    """The fixed answer, again and again up to so many words."""
    return " ".join(islice(cycle(TEXT.split()), words))


def answer_body(text: str = TEXT) -> bytes:
    """A chat completion, by default of twenty tokens, with their log-probabilities."""
    words = [word if i == 0 else f" {word}" for i, word in enumerate(text.split())]
    tokens = [
        {"token": word, "logprob": -1 / (i + 3), "bytes": list(word.encode()), "top_logprobs": []}
        for i, word in enumerate(words)
    ]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        "logprobs": {"content": tokens, "refusal": None},
    }
    usage = {"prompt_tokens": 12, "completion_tokens": len(words), "total_tokens": 12 + len(words)}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "stub"}
    return json.dumps(answer | {"choices": [choice], "usage": usage}).encode()


class Program(NamedTuple):
    """A server that can be started, as a command without its arguments."""

    kind: Kind
    command: tuple[str, ...]


class Stub(NamedTuple):
    """A server that runs."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """`requests` so far, `most_at_once` and `cpu_s` of the server."""
        opener = build_opener(ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}/stats", timeout=10) as response:
            stats: dict[str, Any] = json.load(response)
        return stats


def build(folder: Path, kind: Kind | None = None) -> Program:
    """Compile the C server into `folder`; the asyncio server when that cannot be done or is asked for."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if kind != "asyncio" and compiler:
        source, target = Path(__file__).with_name("stub_server.c"), folder / "stub"
        process = subprocess.run([compiler, "-O2", "-o", target, source], capture_output=True, text=True, check=False)
        if process.returncode == 0:
            return Program("c", (str(target),))
        print(f"stub_server.c does not compile here: {process.stderr.strip()[:300]}", file=sys.stderr)
    if kind == "c":
        raise SystemExit(
            "--stub c: no C compiler that builds stub_server.c; install one, set CC, or use --stub asyncio"
        )
    return Program("asyncio", (sys.executable, str(Path(__file__).resolve())))


@contextlib.contextmanager
def serve(program: Program, folder: Path, latency_ms: float, text: str = TEXT) -> Iterator[Stub]:
    """The server, for as long as the block lasts; it always answers with this text."""
    body = folder / "answer.json"
    body.write_bytes(answer_body(text))
    command = [*program.command, str(latency_ms), str(body)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"the stub server did not start: {' '.join(command)}")
            yield Stub(int(line))
        finally:
            process.stdin.close()


# -- the asyncio server ------------------------------------------------------------------------------------


def with_head(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class _Counts:
    requests = 0
    now = 0
    most_at_once = 0

    def to_json(self) -> bytes:
        used = resource.getrusage(resource.RUSAGE_SELF)
        counts = {"requests": self.requests, "most_at_once": self.most_at_once}
        return json.dumps(counts | {"cpu_s": used.ru_utime + used.ru_stime}).encode()


class _Server(asyncio.Protocol):
    """One connection; it answers one request after the other."""

    transport: asyncio.Transport

    def __init__(self, latency: float, body: bytes, counts: _Counts) -> None:
        self.latency = latency
        self.chat = with_head(body)
        self.counts = counts
        self.buffer = bytearray()
        self.due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self.due is not None:
            self.due.cancel()
            self.counts.now -= 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._serve()

    def _serve(self) -> None:
        while self.due is None and (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.buffer[:end])
            size = _body_size(head)
            if size is None:
                self.transport.write(with_head(b"", "411 Length Required"))
                return self.transport.close()
            if len(self.buffer) < end + 4 + size:
                return None
            del self.buffer[: end + 4 + size]
            self._answer(head)
        return None

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"GET /stats "):
            self.transport.write(with_head(self.counts.to_json()))
        elif not head.startswith(b"POST "):
            self.transport.write(with_head(MODELS))
        else:
            self.counts.requests += 1
            self._put_off()

    def _put_off(self) -> None:
        if not self.latency:
            self.transport.write(self.chat)
            return
        self.counts.now += 1
        self.counts.most_at_once = max(self.counts.most_at_once, self.counts.now)
        self.due = asyncio.get_running_loop().call_later(self.latency, self._send)

    def _send(self) -> None:
        self.due = None
        self.counts.now -= 1
        self.transport.write(self.chat)
        self._serve()


def _body_size(head: bytes) -> int | None:
    """What the head announces: 0 when it names no size, None when the body comes in chunks."""
    head = head.lower()
    if b"\r\ntransfer-encoding:" in head:
        return None
    _, separator, rest = head.partition(b"\r\ncontent-length:")
    return int(rest.split(b"\r\n", 1)[0]) if separator else 0


async def _listen(latency: float, body: bytes) -> None:
    counts = _Counts()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Server(latency, body, counts), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_listen(float(sys.argv[1]) / 1000, Path(sys.argv[2]).read_bytes()))
