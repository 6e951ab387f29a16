"""The proxy of the environment: who goes through it, with which password, and what a bad one says."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.models import Completion, Message, Request
from mores.models.http import arguments_for
from mores.models.openai import OpenAIModel

ANSWER = orjson.dumps({"data": [], "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]})
Heads = list[list[str]]


@contextmanager
def proxying() -> Iterator[tuple[str, Heads]]:
    """Serve a proxy that answers for every server and opens no tunnel; the heads of what it was sent."""
    heads: Heads = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = [line.decode().strip() for line in iter(self.rfile.readline, b"\r\n")]
            heads.append(head)
            length = next((int(line.split()[1]) for line in head if line.lower().startswith("content-length:")), 0)
            self.rfile.read(length)
            status = b"403 Forbidden" if head[0].startswith("CONNECT") else b"200 OK"
            answer = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (status, len(ANSWER), ANSWER)
            self.wfile.write(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}", heads
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def ask(address: str) -> Completion:
    async def go() -> Completion:
        async with OpenAIModel("m", address, "a-secret-key-of-ours") as model:
            return await model.complete(Request((Message("user", "u"),)))

    return run(go())


def test_every_request_goes_through_it_with_its_password_and_our_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"  # which aiohttp, asked to look, would refuse beside a key
    netrc.write_text("machine model.example login other password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with proxying() as (place, heads):
        monkeypatch.setenv("HTTP_PROXY", f"http://us%40er:pa%2Fss@{place}")
        assert ask("http://model.example:81/v1").text == "yes"
    assert [head[0].split()[:2] for head in heads] == [
        ["GET", "http://model.example:81/v1/models"],
        ["POST", "http://model.example:81/v1/chat/completions"],
    ]
    for head in heads:
        assert "Proxy-Authorization: Basic dXNAZXI6cGEvc3M=" in head  # us@er:pa/ss
        assert "Authorization: Bearer a-secret-key-of-ours" in head


def test_a_tunnel_is_asked_for_without_our_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxying() as (place, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"user:pass@{place}")  # without http://, as curl takes it
        with pytest.raises(ModelError, match="403"):
            ask("https://model.example/v1")
    assert heads[0][0] == "CONNECT model.example:443 HTTP/1.1"
    assert "Proxy-Authorization: Basic dXNlcjpwYXNz" in heads[0]  # user:pass
    assert "a-secret-key-of-ours" not in str(heads)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8000/v1", "http://[::1]/v1", "http://inside.example/v1", "http://else.example:81/v1"]
)
def test_this_machine_and_what_no_proxy_names_are_reached_directly(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example, else.example:81")
    assert "proxy" not in arguments_for(address, {})
    assert arguments_for("http://else.example:82/v1", {})["proxy"] == "http://proxy.example:3128"
    assert "proxy" not in arguments_for("https://else.example/v1", {})


def test_a_proxy_of_another_kind_is_refused_with_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example:1080")
    with pytest.raises(ConfigError, match="HTTPS_PROXY names a proxy of the kind socks5; only http and https"):
        ask("https://model.example/v1")
