"""The example clients, against a real service."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from mores.serve import Bounds
from tests.serve.conftest import Serve
from tests.serve.judge import Held, ask, send, until

CLIENTS = Path(__file__).parents[2] / "examples" / "serve"
KEY = "a-key-that-nobody-guesses"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")


def start(*command: str | Path, address: str, key: str = KEY) -> subprocess.Popen[str]:
    environment = os.environ | {"MORES_URL": address, "MORES_KEY": key}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


@needs_node
def test_the_javascript_client_shows_errors_and_spans_in_any_script(serve: Serve) -> None:
    address = serve("fake:first-word", keys=[KEY])
    client = start("node", CLIENTS / "client.mjs", "🍣 Sushi ist gut.", "日本 の 茶", address=address)
    out, err = client.communicate(timeout=30)
    assert (client.returncode, err) == (3, "")
    assert sorted(out.splitlines()) == [
        "  minor: “Sushi” The first word.", "  minor: “日本” The first word.", "1: -1", "2: -1"
    ]  # fmt: skip
    wrong = start("node", CLIENTS / "client.mjs", "a", address=address, key="wrong")
    _, err = wrong.communicate(timeout=30)
    assert (wrong.returncode, "answered 401" in err) == (1, True)


@pytest.mark.slow
@needs_node
def test_the_javascript_client_waits_where_the_service_is_busy(serve: Serve, held: Held) -> None:
    address = serve(held, store=None, bounds=Bounds(max_waiting=3, max_batch=3))
    with send(address, [{"text": f"slow {number}"} for number in range(3)]):
        until(lambda: b"mores_texts_waiting 1" in ask(address, path="/metrics").body)
        client = start("node", CLIENTS / "client.mjs", "One.", "Two.", "Three.", address=address, key="")
        until(lambda: b'mores_requests_total{status="503"} 1' in ask(address, path="/metrics").body)
        held.free.set()
        out, err = client.communicate(timeout=30)
    assert (client.returncode, err) == (3, "")
    assert {"1: -1", "2: -1", "3: -1"} < set(out.splitlines())


@pytest.mark.slow
@needs_node
def test_the_javascript_client_works_through_a_link_and_names_a_service_that_is_not_there(
    serve: Serve, tmp_path: Path
) -> None:
    linked = tmp_path / "a folder" / "client.mjs"
    linked.parent.symlink_to(CLIENTS)
    client = start("node", linked, "Tea.", address=serve("fake:first-word"), key="")
    out, err = client.communicate(timeout=30)
    assert (client.returncode, out.splitlines()[0], err) == (3, "1: -1", "")
    nobody = start("node", linked, "Tea.", address="http://127.0.0.1:1", key="")
    _, err = nobody.communicate(timeout=30)
    assert (nobody.returncode, "http://127.0.0.1:1 cannot be reached: " in err) == (1, True)


@pytest.mark.slow
@needs_node
def test_an_answer_with_fewer_judgements_is_a_failure_of_the_javascript_client() -> None:
    judged = b'{"sample_id": "1", "failure": null, "score": 1, "report": {"errors": []}}\n'
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        client = start("node", CLIENTS / "client.mjs", "Tea.", "Coffee.", address=address, key="")
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(judged) + judged)
            out, err = client.communicate(timeout=30)
    assert (client.returncode, out) == (1, "1: 1\n")
    assert "stopped before 1 of 2 texts were judged" in err


@pytest.mark.slow
@needs_curl
def test_the_shell_client_streams_a_file(serve: Serve, tmp_path: Path) -> None:
    address = serve("fake:clean", keys=[KEY])
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": "a", "text": "Tea."}\n{"id": "b", "text": "Coffee."}\n')
    client = start("sh", CLIENTS / "client.sh", texts, address=address)
    out, err = client.communicate(timeout=30)
    assert (client.returncode, err) == (0, "")
    assert {json.loads(line)["sample_id"] for line in out.splitlines()} == {"a", "b"}
    wrong = start("sh", CLIENTS / "client.sh", texts, address=address, key="")
    out, _ = wrong.communicate(timeout=30)
    assert (wrong.returncode != 0, "show a key" in out) == (True, True)
    nothing = start("sh", CLIENTS / "client.sh", tmp_path / "none.jsonl", address=address)
    out, err = nothing.communicate(timeout=30)
    assert (nothing.returncode, out, err.endswith("none.jsonl: no file that can be read\n")) == (1, "", True)
