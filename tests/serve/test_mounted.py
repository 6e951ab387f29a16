"""The service beside the studio, as docs/serve.md shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.serve.judge import ask, until
from tests.serving import serving

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


def test_the_studio_and_the_metric_on_one_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    names: dict[str, Any] = {}
    exec(code.replace("openai:gpt-4.1-mini", "fake:first-word"), names)
    with serving(names["both"]) as address:
        until(lambda: ask(address, path="/metric/ready").status == 200)
        assert ask(address, {"text": "Sushi."}, path="/metric/score").json["score"] == -1
        assert b'mores_requests_total{status="200"} 1' in ask(address, path="/metric/metrics").body
        assert ask(address, path="/health").body == b"ok"
        assert b"<html" in ask(address, path="/login").body
        assert set(ask(address, path="/metric/openapi.json").json["paths"]) >= {"/score", "/ready"}
