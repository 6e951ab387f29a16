"""A real PostgreSQL server for tests: one per process that runs tests, an empty database for every test.

    def test_something(postgres: str) -> None:
        engine = sqlalchemy.create_engine(postgres)

The server has no port, only a socket in its own temporary folder, so that any number run side by side, and it ends with
the process that started it, however that ends. Outside pytest: `with Server() as server, server.database() as url`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    import psycopg

DEBIAN = Path("/usr/lib/postgresql")
USER = "postgres"
TIMEOUT = 60.0
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # what a test writes need not survive the machine
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
}


def missing() -> str | None:
    """Why there can be no server here; None where there can."""
    if binaries() is None:
        return f"no PostgreSQL server in {DEBIAN} or on PATH: apt-get install postgresql"
    if find_spec("psycopg") is None:
        return "psycopg is not installed: pip install '.[studio]'"
    if shutil.which("setpriv") is None:
        return "setpriv is not on PATH: apt-get install util-linux"
    return None


def binaries() -> Path | None:
    """The folder with the newest installed server and its `initdb`."""
    found = [path.parent for path in DEBIAN.glob("*/bin/initdb") if (path.parent / "postgres").exists()]
    newest = max(found, key=lambda path: float(path.parent.name), default=None)
    on_path = shutil.which("initdb")
    return newest or (Path(on_path).resolve().parent if on_path else None)


class Server:
    """One PostgreSQL process with its data in a temporary folder, which goes away with it."""

    def __init__(self) -> None:
        if reason := missing():
            raise FileNotFoundError(reason)
        programs = binaries()
        assert programs
        self.folder = Path(tempfile.mkdtemp(prefix="mores-postgres-"))
        # The kernel stops the server when its parent ends, even when that is killed; PostgreSQL refuses to run as root.
        run = ["setpriv", "--pdeathsig=INT"]
        if os.getuid() == 0:
            shutil.chown(self.folder, USER)
            run += [f"--reuid={USER}", f"--regid={USER}", "--init-groups"]
        data, log = self.folder / "data", self.folder / "log"
        options = ["--auth=trust", f"--username={USER}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        try:
            command: list[str | Path] = [*run, programs / "initdb", *options, data]
            subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True, timeout=TIMEOUT)
            settings = {**SETTINGS, "unix_socket_directories": str(self.folder)}
            command = [*run, programs / "postgres", "-D", data, *(f"--{k}={v}" for k, v in settings.items())]
            with log.open("wb") as errors:
                self.process = subprocess.Popen(command, cwd=self.folder, stdout=errors, stderr=errors)
            self._wait(log)
        except subprocess.CalledProcessError as error:
            self.close()
            raise RuntimeError(f"initdb failed: {error.stderr}") from error
        except BaseException:
            self.close()
            raise
        self._numbers = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def url(self, database: str) -> str:
        """SQLAlchemy's address of a database."""
        return f"postgresql+psycopg://{USER}@/{database}?host={self.folder}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new, empty database, which is dropped afterwards, whoever still uses it."""
        name = f"test_{next(self._numbers)}"
        with self._connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            with self._connect() as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def close(self) -> None:
        """Stop the server without waiting for its clients, and delete its folder."""
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        if process and process.poll() is None:
            process.send_signal(signal.SIGINT)  # "fast": clients are disconnected
            try:
                process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connect(self) -> psycopg.Connection:
        import psycopg

        return psycopg.connect(host=str(self.folder), user=USER, dbname="postgres", autocommit=True)

    def _wait(self, log: Path) -> None:
        """Until it takes connections."""
        import psycopg

        end = time.monotonic() + TIMEOUT
        while True:
            try:
                self._connect().close()
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}") from error
                time.sleep(0.05)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server of this process; tests that need one are skipped where there is none."""
    if reason := missing():
        pytest.skip(reason)
    with Server() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[str]:
    """SQLAlchemy's address of a new, empty database."""
    with postgres_server.database() as url:
        yield url
