"""A real Ray cluster on this machine whose workers die; with `pytest -m slow`, at random and all at once."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mores import score_file
from mores.benchmark import benchmark
from mores.engine import Store
from mores.io import read_records
from mores.metric.folder import JUDGEMENTS
from mores.models import Options
from mores.models.fake import fake
from mores.models.ray import RayModel
from mores.run import Status, read_manifest
from mores.types import Judgement
from tests.cli.conftest import Run, home, mores
from tests.factory.test_build import put, survey
from tests.models.cluster import Mortal, Sighted, write_texts

__all__ = ["home", "mores"]  # fixtures
ray = pytest.importorskip("ray", reason="needs Ray: pip install '.[ray]'")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(
        "local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.CRITICAL,
        object_store_memory=80 * 2**20,
    )  # fmt: skip
    yield
    ray.shutdown()


def manifest(folder: Path) -> dict[str, Any]:
    """All but the times."""
    content: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return {name: value for name, value in content.items() if name not in ("started", "ended")}


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_run_is_the_same_on_a_cluster_whose_worker_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = write_texts(Path("texts.jsonl"), 200, t40="Only once.")
    here = score_file(texts, fake("first-word"), out="here", store=None)
    there = score_file(texts, Mortal(tmp_path), out="there", store="store.db", ray=True, ray_workers=2)
    assert Path("died").exists()
    assert (there.path / JUDGEMENTS).read_bytes() == (here.path / JUDGEMENTS).read_bytes()
    assert manifest(there.path) == manifest(here.path)
    assert len(list(read_records(there.path / JUDGEMENTS, Judgement))) == 200


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_workers_without_a_gpu_see_none() -> None:
    assert RayModel(Sighted(), Options(ray=True, ray_gpus=0)).identity == ""


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_every_command_writes_the_same_files(mores: Run, home: Path) -> None:
    sample = benchmark("normad").folder
    assert sample
    Path("data").mkdir()
    Path("data", benchmark("normad").source).symlink_to(sample / "sample")
    put(home, [item.model_copy(update={"wrong": (), "answer": f"They eat {item.id}."}) for item in survey(20)], "texts")
    Path("mine.yaml").write_text("name: mine\nsources: [texts.jsonl]\nsoft: model\nsampling: paper\n")
    said = {
        "List the checkable claims": "- Nobody knows why.",
        "Decide whether a claim": "Reason: it is there\nVerdict: supported",
        "the answer is relevant": "<explanation>It is.</explanation><judgment>relevant</judgment>",
        "": "yes",
    }
    script = [{"contains": contains, "answer": answer} for contains, answer in said.items()]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in script))
    rows = "".join(f"{n},With a {'fork' if n % 2 else 'spoon'}.,{n % 2 == 0}\n" for n in range(20))
    Path("pairs.csv").write_text("instruction,text,correct\n" + rows)
    answers = [{"id": str(n), "question": "Why?", "answer": f"Because of {n}.", "language": "en"} for n in range(9)]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    Path("passages.jsonl").write_text(json.dumps({"id": "1", "text": "Nobody knows why."}) + "\n")
    for out, ray_options in (("here", ""), ("there", "--ray --ray-workers 1")):
        for command in (
            f"bench normad --data data --model fake:s.jsonl --no-store --out {out}/bench",
            f"build mine.yaml --model fake:s.jsonl --out {out}/build",
            f"meta --data pairs.csv --metric excam:fake:first-word --baselines always --no-store --out {out}/meta",
            f"longform answers.jsonl --judge fake:s.jsonl --corpus passages.jsonl --no-store --out {out}/longform",
        ):
            done = mores(*command.split(), *ray_options.split())
            assert done.returncode == 0, done.stderr
        shutil.rmtree("cache")
    for path in Path("here").rglob("*"):
        other = Path("there") / path.relative_to("here")
        if path.name == "run.json":
            assert manifest(path.parent) == manifest(other.parent)
        elif path.is_file() and path.suffix != ".html":
            assert path.read_bytes() == other.read_bytes(), path
    assert sum(path.is_file() for path in Path("here").rglob("*")) == sum(p.is_file() for p in Path("there").rglob("*"))


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("count", "delay"), [(1500, 0.1), (5000, 0.01)], ids=["slow", "fast"])
def test_workers_are_killed_at_random(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, delay: float
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = write_texts(Path("texts.jsonl"), count, t700="This is poison.")
    ended, killed = threading.Event(), set[int]()

    def kill() -> None:
        """Kill workers that have answered some texts, so that the others get on, however slow the machine is."""
        chance = random.Random(1)
        while not ended.wait(chance.uniform(0, 1)):
            busy = [int(log.stem) for log in tmp_path.glob("*.pid") if log.read_text().count("\n") > 100]
            if alive := [pid for pid in busy if pid not in killed and Path(f"/proc/{pid}").exists()]:
                with suppress(ProcessLookupError):  # the poison was faster
                    os.kill(victim := chance.choice(alive), signal.SIGKILL)
                    killed.add(victim)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        there = score_file(texts, Mortal(tmp_path, delay), out="there", store="store.db", ray=True, ray_workers=2)
    finally:
        ended.set()
        killer.join()
    here = score_file(texts, fake("first-word"), out="here", store=None)
    assert len(killed) > 3
    lines, expected = ((run.path / JUDGEMENTS).read_text().splitlines() for run in (there, here))
    assert lines[:700] + lines[701:] == expected[:700] + expected[701:]
    assert "3 workers ended over this request" in lines[700]
    with Store("store.db") as store:
        assert len(store) == count - 1


SCRIPT = """
import sys, mores
from pathlib import Path
from tests.models.cluster import Mortal
judge = Mortal(Path(sys.argv[1]), 0.1)
mores.score_file("texts.jsonl", judge, out="there", store="store.db", ray="local", ray_workers=2)
"""


@pytest.mark.slow
def test_a_run_goes_on_after_the_whole_cluster_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = write_texts(Path("texts.jsonl"), 2000)
    for number in range(2):
        Path(str(number)).mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("MORES_TEST", str(tmp_path))  # all processes of the cluster inherit it
    with Store("store.db") as store:
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, "0"])
        while len(store) < 200:
            assert process.poll() is None
            time.sleep(0.1)
        while marked := marked_processes(f"MORES_TEST={tmp_path}"):
            for pid in marked:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.poll()
        process.wait()  # its last write may end after its environment is gone
        kept = len(store)
    assert 200 <= kept < 2000
    subprocess.run([sys.executable, "-c", SCRIPT, "1"], check=True)
    here = score_file(texts, fake("first-word"), out="here", store=None)
    assert Path("there", JUDGEMENTS).read_bytes() == (here.path / JUDGEMENTS).read_bytes()
    assert sum(len(path.read_text().splitlines()) for path in Path("1").iterdir()) == 2000 - kept


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_command_that_is_told_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    monkeypatch.chdir(tmp_path)
    write_texts(Path("texts.jsonl"), 100_000)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    options = ["--model", "fake:clean", "--out", "there", "--store", "store.db", "--ray", "local", "--ray-workers", "2"]
    with Store("store.db") as store:
        process = subprocess.Popen(
            [sys.executable, "-m", "mores", "score", "texts.jsonl", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while len(store) < 100:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 1, signal.SIGTERM: 143}[number]
    assert not out
    assert "Answers are saved; rerun to resume." in err
    assert "Traceback" not in err
    assert "logging.cc" not in err
    assert read_manifest(Path("there")).status is Status.STOPPED


def marked_processes(mark: str) -> list[int]:
    """The processes with this in their environment, but for this one."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes() and int(folder.name) != os.getpid():
                pids.append(int(folder.name))
    return pids
