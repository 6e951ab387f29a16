"""Who may come in: hosts, the token, origins, and what a read-only viewer refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import uvicorn
from click.testing import CliRunner
from starlette.testclient import TestClient

from mores.cli import mores
from mores.view import serve as serving
from mores.view.app import READ
from tests.view.conftest import HERE, OWN

View = Callable[..., TestClient]
TOKEN = "0123456789abcdefghij"
WRITES = {"/note?run=first": {"id": "t1", "star": "on"}, "/handover?run=first": {}, "/try": {"text": "x"}}


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"])
def test_unknown_hosts_are_refused(view: View, host: str) -> None:
    answer = view().get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "mean score" not in answer.text


@pytest.mark.parametrize("host", ["localhost:8020", "127.0.0.1:8020", "[::1]:8020", "192.168.0.7", "Runs.Example"])
def test_known_hosts_are_answered(view: View, host: str) -> None:
    assert view(allow_host=["runs.example"]).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", READ)
def test_without_the_token_nothing_is_shown(view: View, path: str) -> None:
    client = view(token=TOKEN)
    for address in (path, f"{path}?token=wrong", f"{path}?token={TOKEN[:-1]}"):
        assert client.get(address).status_code == 401
        assert client.get(address, headers={"cookie": "mores_view=wrong"}).status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(view: View) -> None:
    client = view(token=TOKEN)
    answer = client.get(f"/run?run=first&token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/run?run=first"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/run?run=first").status_code == 200


@pytest.mark.parametrize("path", WRITES)
def test_beyond_this_machine_it_is_read_only_unless_writing_is_allowed(view: View, runs: Path, path: str) -> None:
    client = view(token=TOKEN)
    client.cookies.set("mores_view", TOKEN)
    assert client.post(path, data=WRITES[path], headers=OWN).status_code == 403
    assert not (runs / "first" / "notes.jsonl").exists()
    page = client.get("/run?run=first").text
    assert "<form" in page
    assert 'method="post"' not in page
    assert "read-only" in page
    client = view(token=TOKEN, write=True)
    client.cookies.set("mores_view", TOKEN)
    assert client.post(path, data=WRITES[path], headers=OWN).status_code in (200, 303, 422)
    assert 'method="post"' in client.get("/run?run=first").text


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://localhost:8020", "http://localhost"])
@pytest.mark.parametrize("path", WRITES)
def test_what_other_pages_send_is_refused(view: View, runs: Path, path: str, origin: str | None) -> None:
    headers = {"origin": origin} if origin else {}
    assert view().post(path, data=WRITES[path], headers=headers).status_code == 403
    assert not (runs / "first" / "notes.jsonl").exists()


def test_no_referrer_leaves_and_nothing_is_loaded_from_elsewhere(view: View) -> None:
    answer = view().get("/run?run=first")
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert "http://" not in answer.text
    assert "https://" not in answer.text


@pytest.mark.parametrize("name", ["../first", "/etc", "", "deep", "first/", "deep/../first"])
def test_only_runs_of_the_folder_are_shown(view: View, name: str) -> None:
    for path in ("/run", "/page", "/notes.csv", "/handover"):
        assert view().get(path, params={"run": name}).status_code == 404


@pytest.mark.parametrize(
    ("options", "token", "write"),
    [([], False, True), (["--host", "0.0.0.0"], True, False), (["--host", "0.0.0.0", "--write"], True, True)],
)
def test_the_command_makes_a_token_where_other_machines_can_reach_it(
    runs: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], token: bool, write: bool
) -> None:
    served: list[uvicorn.Server] = []
    monkeypatch.setattr(serving, "run_server", served.append)
    done = CliRunner().invoke(mores, ["view", str(runs), *options])
    assert done.exit_code == 0, done.output
    [server] = served
    assert ("?token=" in done.output) == token
    state = server.config.app.state.viewer  # type: ignore[union-attr]
    assert bool(state.settings.token) == token
    assert state.may_write == write
    assert state.settings.token in done.output


def test_a_token_that_can_be_guessed_is_refused(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_VIEW_TOKEN", "short")
    done = CliRunner().invoke(mores, ["view", str(runs)])
    assert "can be guessed" in str(done.exception)


def test_it_can_be_mounted(runs: Path) -> None:
    from fastapi import FastAPI

    from mores import view_app

    app = FastAPI()
    app.mount("/runs", view_app(runs))
    client = TestClient(app, HERE)
    assert 'href="static/view.css' in client.get("/runs/").text
    assert client.get("/runs/static/view.css").status_code == 200
