"""Upload to the Hub: what is sent, that it is private, and that no message has the token. The Hub is a local server."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mores.errors import ConfigError, InputError
from mores.hub import Upload, check_access, licence_name, push, with_fields

TOKEN = "hf_neverShowThisToken"


class FakeHub(ThreadingHTTPServer):
    """The part of the Hub's protocol that an upload uses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, dict[str, Any]] = {}
        """By kind and name, for example `datasets/me/data`: whether it is private, and the files."""
        self.fails = False


class _Handler(BaseHTTPRequestHandler):
    server: FakeHub

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers["Content-Length"])))

    def _handle(self, body: bytes) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(401, {"error": f"Invalid token {self.headers.get('Authorization')}"})
        if self.server.fails:
            return self._answer(403, {"error": f"You may not, {TOKEN}"})
        return self._answer(*self._reply(self.path.partition("?")[0].removeprefix("/api/"), body))

    def _reply(self, path: str, body: bytes) -> tuple[int, Any]:
        if path == "whoami-v2":
            return 200, {"name": "me", "type": "user", "orgs": []}
        if path == "validate-yaml":
            yaml = pytest.importorskip("yaml")
            yaml.safe_load(json.loads(body)["content"].split("---\n")[1])
            return 200, {"errors": [], "warnings": []}
        if path == "repos/create":
            asked = json.loads(body)
            name = f"{asked['type']}s/{asked['organization']}/{asked['name']}"
            private = asked.get("private") or asked.get("visibility") == "private"
            known = name in self.server.repositories
            self.server.repositories.setdefault(name, {"private": private, "files": {}})
            return 409 if known else 200, {"url": f"https://huggingface.co/{name}"}
        name, action = "/".join(path.split("/")[:3]), path.split("/")[3:4]
        repository = self.server.repositories[name]
        if not action:
            return 200, {"id": name.partition("/")[2], "private": repository["private"], "siblings": [], "tags": []}
        if action == ["preupload"]:
            paths = [file["path"] for file in json.loads(body)["files"]]
            return 200, {"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]}
        assert action == ["commit"]
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "header":
                repository["message"] = line["value"]["summary"]
            else:
                repository["files"][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        return 200, {"success": True, "commitOid": "0" * 40, "commitUrl": f"https://huggingface.co/{name}/commit/0"}

    def _answer(self, status: int, values: Any) -> None:
        data = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A Hub on this machine, and a user who is logged in to it."""
    constants = pytest.importorskip("huggingface_hub.constants")
    server = FakeHub()
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    yield server
    server.shutdown()
    server.server_close()


def upload(tmp_path: Path, name: str = "me/data") -> Upload:
    (tmp_path / "rows.jsonl").write_text('{"text": "é"}\n', "utf-8")
    files: dict[str, Path | bytes] = {
        "rows.jsonl": tmp_path / "rows.jsonl",
        "README.md": with_fields("# Rows\n", {"license": "mit"}),
    }
    return Upload(name, "dataset", files, "Rows")


def test_files_go_into_a_private_repository_as_they_are(hub: FakeHub, tmp_path: Path) -> None:
    check_access()
    assert push(upload(tmp_path)) == "https://huggingface.co/datasets/me/data"
    made = hub.repositories["datasets/me/data"]
    assert (made["private"], made["message"]) == (True, "Rows")
    assert made["files"] == {
        "rows.jsonl": '{"text": "é"}\n'.encode(),
        "README.md": b'---\nlicense: "mit"\n---\n\n# Rows\n',
    }
    (tmp_path / "rows.jsonl").write_text("")
    push(upload(tmp_path))  # again, into the same
    assert len(hub.repositories) == 1


def test_a_public_repository_gets_nothing(hub: FakeHub, tmp_path: Path) -> None:
    hub.repositories["datasets/me/data"] = {"private": False, "files": {}}
    with pytest.raises(ConfigError, match="me/data is public on the Hub; name another one"):
        push(upload(tmp_path))
    assert hub.repositories["datasets/me/data"]["files"] == {}


def test_no_message_has_the_token(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hub.fails = True
    with pytest.raises(InputError, match="me/data could not be uploaded") as refused:
        push(upload(tmp_path))
    assert refused.value.__cause__ is None
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}x")
    with pytest.raises(InputError, match="log in with `hf auth login`") as unknown:
        check_access()
    assert TOKEN not in f"{refused.value}{unknown.value}{''.join(capfd.readouterr())}"


@pytest.mark.usefixtures("hub")
def test_without_a_token_the_fix_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InputError, match="set HF_TOKEN to a token that may write"):
        check_access()


@pytest.mark.usefixtures("hub")
def test_a_hub_that_is_away_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="everything is on this machine: try again later"):
        push(upload(tmp_path))


@pytest.mark.parametrize(
    "name", ["data", "me/", "/data", "me/my data", "a/b/c", "../x", "me/data\n", "https://x/y", "-/x"]
)
def test_what_cannot_be_a_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="is not OWNER/NAME") as refused:
        upload(tmp_path, name)
    assert refused.value.setting == "push_to_hub"


def test_fields_of_a_card_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    fields = {"pretty_name": 'A: "b"\n---', "language": ["ar", "no"], "license": "other", "base_model": None}
    _, head, card = with_fields("# Card", fields).decode().split("---\n", 2)
    assert yaml.safe_load(head) == {"pretty_name": 'A: "b"\n---', "language": ["ar", "no"], "license": "other"}
    assert card == "\n# Card"


@pytest.mark.parametrize(
    ("licences", "name"),
    [(["CC-BY-4.0"], "cc-by-4.0"), (["MIT"] * 2, "mit"), (["MIT", "CC-BY-4.0"], "other"), (["mine"], "other")],
)
def test_a_licence_that_the_hub_has_no_name_for_is_other(licences: list[str], name: str) -> None:
    assert licence_name(licences) == name
