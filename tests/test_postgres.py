"""The PostgreSQL that other tests use: a real one, empty for every test, gone when the tests are."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests import postgres as module
from tests.postgres import Server


@pytest.mark.parametrize("_", ["first", "second"])
def test_every_test_has_an_empty_database(postgres: str, _: str) -> None:
    engine = create_engine(postgres)
    with engine.begin() as connection:
        assert engine.dialect.name == "postgresql"
        connection.execute(text("CREATE TABLE votes (label TEXT)"))  # fails if the first test's is still there
        connection.execute(text("INSERT INTO votes VALUES (:label)"), {"label": "Ꮳꮃꭹ 🪘 \u200f"})
        assert connection.execute(text("SELECT label, lower('É') FROM votes")).one() == ("Ꮳꮃꭹ 🪘 \u200f", "é")
    engine.dispose()


@pytest.mark.slow
def test_databases_are_separate_and_dropped_while_in_use(postgres_server: Server) -> None:
    with postgres_server.database() as first, postgres_server.database() as second:
        engines = [create_engine(url) for url in (first, second)]
        with engines[0].begin() as connection:
            connection.execute(text("CREATE TABLE votes (label TEXT)"))
        with engines[1].connect() as connection:
            assert not connection.execute(text("SELECT to_regclass('votes')")).scalar()
        held = engines[0].connect()
        held.execute(text("SELECT 1"))
    with pytest.raises(OperationalError, match="does not exist"):
        create_engine(first).connect()
    held.invalidate()
    for engine in engines:
        engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [pytest.param("exit", marks=pytest.mark.slow), "kill"])
def test_the_server_ends_with_its_process(postgres_server: Server, ending: str) -> None:  # noqa: ARG001
    code = (
        "from tests.postgres import Server\n"
        "with Server() as server:\n"
        "    print(server.process.pid, server.folder, flush=True)\n"
        f"    input() if {ending == 'kill'} else None\n"
    )
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as child:
        assert child.stdout
        pid, folder = child.stdout.readline().split()
        child.send_signal(signal.SIGKILL if ending == "kill" else 0)
        child.wait(60)
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    assert Path(folder).exists() == (ending == "kill")
    shutil.rmtree(folder, ignore_errors=True)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "DEBIAN", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert module.missing() == f"no PostgreSQL server in {tmp_path} or on PATH: apt-get install postgresql"
    for version in ("9.6", "15", "17"):
        programs = tmp_path / version / "bin"
        programs.mkdir(parents=True)
        (programs / "initdb").touch()
        (programs / "postgres").touch()
    assert module.binaries() == tmp_path / "17" / "bin"
    assert module.missing() == "setpriv is not on PATH: apt-get install util-linux"
