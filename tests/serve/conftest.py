"""A service on a real port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import mores
from tests.serve.judge import Held, ask, until
from tests.serving import serving

Serve = Callable[..., str]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """`serve("fake:clean", keys=…)`: the address of a service that is ready."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    with ExitStack() as stack:

        def start(model: Any, **options: Any) -> str:
            address = stack.enter_context(serving(mores.serve_app(model, **options)))
            until(lambda: ask(address, path="/ready").status == 200)
            return address

        yield start


@pytest.fixture
def held() -> Iterator[Held]:
    """A judge that is set free at the end."""
    judge = Held()
    yield judge
    judge.free.set()
