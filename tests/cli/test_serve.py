"""`mores serve`: what it refuses, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Run, command
from tests.engine.server import Server
from tests.serve.judge import Got, ask, until


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--host", "0.0.0.0"), "other machines can reach 0.0.0.0, and nobody has to show a key"),
        (("--keys", "keys", "--no-keys"), "contradict each other"),
        (("--keys", "keys"), "keys:1: a key is at least 16 ASCII characters"),
        (("--max-waiting", "10"), "256 texts in one request can never be accepted"),
        (("--style", "paper", "--evidence", "facts.jsonl"), "no place for evidence"),
        (("--evidence", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--model", "embedded:missing.gguf"), "missing.gguf"),
    ],
)
def test_what_cannot_work_is_refused_at_once(mores: Run, home: Path, options: tuple[str, ...], reason: str) -> None:
    (home / "keys").write_text("too-short\n")
    model = () if "--model" in options else ("--model", "fake:clean")
    done = mores("serve", *model, "--port", str(free_port()), *options)
    assert done.returncode in (1, 2), done.stderr
    assert reason in done.stderr
    assert "too-short" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_named(mores: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = mores("serve", "--model", "fake:clean", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "another program may be using it (--port)" in done.stderr


def test_a_service_that_is_told_to_end_finishes_what_it_accepted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, port = "a-key-that-nobody-guesses", free_port()
    monkeypatch.setenv("MORES_SERVE_KEYS", key)
    with Server(latency=0.7) as judge:
        options = ("--model", "openai:x", "--base-url", judge.url, "--port", str(port), "--no-store")
        process = subprocess.Popen(command("serve", *options), cwd=home, stderr=subprocess.PIPE, text=True)
        address, got = f"http://127.0.0.1:{port}", list[Got]()

        def reachable() -> bool:
            try:
                return ask(address, path="/ready").status == 200
            except OSError:
                assert process.poll() is None, process.communicate()
                return False

        def post() -> None:
            got.append(ask(address, [{"text": "a"}, {"text": "b"}], Authorization=f"Bearer {key}"))

        until(reachable, 60)
        client = threading.Thread(target=post)
        client.start()
        until(lambda: len(judge.asked) == 2)
        process.send_signal(signal.SIGTERM)
        client.join(20)
        _, stderr = process.communicate(timeout=20)
    assert [judgement["failure"] for judgement in got[0].json] == [None, None]
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in stderr
    assert key not in stderr
