"""A folder with runs, and a client of its viewer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import mores
from mores.io import JsonlWriter, write_text
from mores.metric.summary import WEAK
from mores.run import MANIFEST, Manifest, Status
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Severity

HERE = "http://localhost:8020"
OWN = {"origin": HERE}
"""What a browser sends with a form of the viewer."""
TEXT = "In Japan guests wear white and eat sushi with a fork."


def judge(number: int, *wrong: tuple[str, str], **more: Any) -> Judgement:
    """A judgement of TEXT, with errors at these words and of these severities."""
    errors = [
        Error(
            side="text", start=TEXT.index(words), end=TEXT.index(words) + len(words), quote=words,
            severity=Severity(severity), type="clothes" if words == "white" else "food", explanation=f"Not {words}.",
        )
        for words, severity in wrong
    ]  # fmt: skip
    score = sum(error.severity.weight for error in errors) if errors else 0.9
    shared = {"instruction": "Write about weddings.", "text": TEXT, "language": "en", "judge": "fake"}
    report = None if "failure" in more else ErrorReport(errors=tuple(errors), certainty=0.9)
    verdict = {"score": None if "failure" in more else float(score), "report": report}
    return Judgement(sample_id=f"t{number}", **shared | verdict | more)


def write_run(folder: Path, judgements: Sequence[Judgement], **about: Any) -> Path:
    """Write a complete run of `mores score` by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    with JsonlWriter(folder / "judgements.jsonl") as writer:
        for judgement in judgements:
            writer.write(judgement)
    facts = {"kind": "score", "name": "texts.csv", "model": "fake:judge", "headline": "mean score 0.1"}
    facts |= {"files": {"judgements.jsonl": "Judgement"}} | about
    manifest = Manifest(signature={}, started=datetime(2026, 1, 1, tzinfo=UTC), status=Status.COMPLETE, **facts)
    write_text(folder / MANIFEST, manifest.model_dump_json())
    return folder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs of the same seven texts."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    failed = Failure(kind=FailureKind.PARSE, reason="The answer is not JSON <b>.")
    write_run(
        tmp_path / "runs" / "first",
        [
            judge(0),
            judge(1, ("white", "major"), region="JP", metadata={"Model": "a", "Rating": 1}),
            judge(2, ("fork", "minor"), region="JP", metadata={"Model": "b", "Rating": 2}),
            judge(3, ("white", "major"), ("fork", "minor")),
            judge(4, failure=failed),
            judge(5, language="ar", text="في اليابان", notes=(f"{WEAK}no evidence",)),
            judge(6, text="A text that only the first run has so <script>alert(1)</script>"),
        ],
    )
    write_run(
        tmp_path / "runs" / "deep" / "second",
        [
            judge(0),
            judge(1),
            judge(2, ("white", "minor")),
            judge(3, ("white", "major"), ("fork", "minor")),
            judge(4),
            judge(5, language="ar", text="في اليابان"),
            judge(7),
        ],
        model="fake:other",
        headline="mean score 0.7",
    )
    return tmp_path / "runs"


@pytest.fixture
def view(runs: Path) -> Callable[..., TestClient]:
    """`view(token=…)`: a client of the viewer of the folder, all of whose texts are indexed."""

    def start(**options: Any) -> TestClient:
        app = mores.view_app(runs, **{"model": "fake:first-word"} | options)
        viewer = app.state.viewer
        for entry in viewer.runs.entries().values():
            for name in entry.judged:
                viewer.indexes.of(entry.path / name, wait=True)
        return TestClient(app, HERE, follow_redirects=False)

    return start
