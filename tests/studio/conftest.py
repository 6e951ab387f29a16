"""What tests of the studio share: databases that are made once and copied, and tabs that do not stay open."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from mores.studio.demo import fill
from mores.studio.serve import find_owner
from mores.studio.store import database as opening
from mores.studio.store import passwords, statistics
from mores.studio.store.database import Database, open_database
from mores.studio.web.routes import data

SYNCHRONOUS = opening.SYNCHRONOUS
"""What the studio sets; in tests nothing needs to survive the machine, and each change would wait for the disk."""
opening.SYNCHRONOUS = "OFF"
data.SOON = statistics.SOON = 60.0  # a busy machine is no reason for another page
passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def _one_loop() -> Iterator[None]:
    """All requests go through one event loop; TestClient would start one, with two threads, for each of them."""
    with start_blocking_portal() as TestClient.portal:
        yield
    TestClient.portal = None


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them, to be copied."""
    path = tmp_path_factory.mktemp("empty") / "studio.db"
    open_database(path).close()
    return path


@pytest.fixture(scope="session")
def demo_database(empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the demo campaigns, to be copied: playing them takes seconds."""
    path = tmp_path_factory.mktemp("demo") / "studio.db"
    with closing(open_database(shutil.copy(empty_database, path))) as database:
        fill(database, find_owner(database))
    return path


@pytest.fixture
def database(empty_database: Path, tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite database."""
    database = open_database(shutil.copy(empty_database, tmp_path / "studio.db"))
    yield database
    database.close()


@pytest.fixture(autouse=True)
def close_tabs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close the tabs that a test leaves open: their scripts would go on asking a server that is gone."""
    if "browser" not in request.fixturenames:
        yield
        return
    browser = request.getfixturevalue("browser")
    before = browser.pages
    yield
    for page in browser.pages:
        if page not in before:
            page.close()
