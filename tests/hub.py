"""A Hub on this machine, for tests of uploads: the fixture `hub`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

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
