"""What tests of training share: a tiny base, and no GPU."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.training.tiny import make_base  # skips where torch is not installed

    return make_base(tmp_path_factory.mktemp("train") / "tiny")
