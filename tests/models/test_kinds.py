"""What every kind of model keeps to."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from mores.models import KINDS, open_model, pull
from tests.models import vllm_stub

DOCS = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A name of each kind; none of them is entered here."""
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    known = replace(pull.FILES["reader"], name="../tiny", sha256=pull.sha256(tmp_path / "tiny.gguf"))
    monkeypatch.setitem(pull.FILES, "reader", known)
    (tmp_path / "models").mkdir()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return {
        "embedded": f"embedded:{tmp_path / 'tiny.gguf'}",
        "reader": "reader",
        "openai": "openai:some-model",
        "hf": f"hf:{tmp_path}",
        "vllm": f"vllm:{tmp_path}",
        "fake": "fake:clean",
    }


@pytest.mark.often("embedded", "reader", "openai", "vllm", "fake")
@pytest.mark.parametrize("kind", KINDS)
def test_the_protocol(kind: str, names: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    if kind in ("hf", "vllm"):
        pytest.importorskip("torch", reason=f"{kind}: needs torch and transformers: pip install '.[hf]'")
    if kind == "vllm" and find_spec("vllm") is None:
        vllm_stub.install(monkeypatch)
    model = open_model(names[kind])
    assert model.name == names[kind]
    assert model.identity == open_model(names[kind]).identity
    assert "|" not in model.identity
    assert model.concurrency >= 1
    assert model.timeout > 0
    assert isinstance(model.constrained, bool)
    assert model.warning is None or model.warning


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_in_the_docs(kind: str) -> None:
    assert f"## `{kind}" in DOCS.read_text("utf-8")
