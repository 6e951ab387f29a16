"""`mores doctor`: what is installed, and which judges can be used."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from mores.extras import EXTRAS
from mores.models.pull import FILES
from mores.report.doctor import PURPOSES
from tests.cli.conftest import Run
from tests.serving import serving

SECRET = "sk-not-to-be-shown"


def judges(mores: Run, *arguments: str, **env: str) -> dict[str, dict[str, Any]]:
    done = mores("doctor", "--json", *arguments, **env)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout
    return {part["name"]: part for part in json.loads(done.stdout)["judges"]}


def test_every_extra_has_a_purpose() -> None:
    assert set(PURPOSES) == set(EXTRAS)


def test_a_new_machine_is_told_to_pull_and_nothing_is_asked(mores: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr("mores.report.doctor.find_spec", lambda _: None)
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    done = mores("doctor")
    assert done.returncode == 0
    assert "not here: mores pull (98 MB)" in done.stdout
    assert "no key in SERPER_API_KEY" in done.stdout
    assert done.stdout.rstrip().endswith("no judge is ready; begin with `mores pull`")
    assert max(map(len, done.stdout.splitlines()[1:])) <= 120


def test_files_and_keys_make_judges_ready(mores: Run, home: Path) -> None:
    models = home / "cache" / "models"
    models.mkdir(parents=True)
    for name in (FILES["embedded"].name, "mine"):
        (models / f"{name}.gguf").write_bytes(b"GGUF")
    (home / "s.toml").write_text(
        '[models.careful]\nmodel = "openai:big"\nkey_variable = "MY_KEY"\n\n[models.mute]\nmodel = "fake:clean"\n'
    )
    found = judges(mores, "--config", "s.toml", OPENAI_API_KEY=SECRET)
    assert {name for name, part in found.items() if part["ready"]} >= {"embedded", "embedded:mine", "openai:NAME"}
    assert not found["reader"]["ready"]
    assert "a key in OPENAI_API_KEY" in found["openai:NAME"]["state"]
    assert not found["careful"]["ready"]
    assert "MY_KEY of its key is not set" in found["careful"]["state"]
    assert found["mute"]["ready"]
    assert judges(mores, "--config", "s.toml", MY_KEY=SECRET)["careful"]["ready"]


def test_servers_are_asked_only_on_request(mores: Run) -> None:
    app, asked = FastAPI(), []

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        asked.append(1)
        return {"object": "list", "data": [{"id": name} for name in ("a", "b", "c", "d")]}

    with serving(app) as address:
        base = f"{address}/v1"
        assert judges(mores, OPENAI_BASE_URL=base)["openai:NAME"]["ready"]
        assert not asked
        found = judges(mores, "--ask", OPENAI_BASE_URL=base)["openai:NAME"]
        assert asked
    assert found["ready"]
    assert found["state"].endswith("; it has a, b, c …")
    gone = judges(mores, "--ask", OPENAI_BASE_URL=base)["openai:NAME"]
    assert not gone["ready"]
    assert f"cannot reach {base}" in gone["state"]
