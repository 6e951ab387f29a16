"""A real Ray cluster of two worker processes on this machine; one of them dies."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.io import read_records
from mores.metric.folder import JUDGEMENTS
from mores.models.fake import fake
from mores.types import Judgement
from tests.models.cluster import Mortal

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'mores[ray]'")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


@pytest.fixture
def cluster() -> Iterator[None]:
    ray.init(
        "local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.CRITICAL,
        object_store_memory=80 * 2**20,
    )  # fmt: skip
    yield
    ray.shutdown()


def write_texts(path: Path, count: int, **others: str) -> Path:
    rows = [{"id": f"t{n}", "text": others.get(f"t{n}", f"Number {n} of the texts.")} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def manifest(folder: Path) -> dict[str, Any]:
    """All but the times."""
    content: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return {name: value for name, value in content.items() if name not in ("started", "ended")}


@pytest.mark.usefixtures("cluster")
def test_a_run_is_the_same_on_a_cluster_whose_worker_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = write_texts(Path("texts.jsonl"), 200, t40="Only once.")
    here = mores.score_file(texts, fake("first-word"), out="here", store=None)
    there = mores.score_file(texts, Mortal(tmp_path), out="there", store="store.db", ray=True, ray_workers=2)
    assert Path("died").exists()
    assert (there.path / JUDGEMENTS).read_bytes() == (here.path / JUDGEMENTS).read_bytes()
    assert manifest(there.path) == manifest(here.path)
    assert len(list(read_records(there.path / JUDGEMENTS, Judgement))) == 200
