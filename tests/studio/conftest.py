"""What tests of the studio share: databases that are made once and copied, and tabs that do not stay open."""

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from anyio import sleep_forever
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from httpx2 import Request, Response
from starlette import testclient
from starlette.testclient import TestClient
from starlette.types import Message

from mores.studio.demo import fill
from mores.studio.serve import find_owner
from mores.studio.store import database as opening
from mores.studio.store import passwords, statistics
from mores.studio.store.database import Database, open_database
from mores.studio.web.routes import data
from tests.conftest import MadeOnce

SYNCHRONOUS = opening.SYNCHRONOUS
"""What the studio sets; in tests nothing needs to survive the machine, and each change would wait for the disk."""
opening.SYNCHRONOUS = "OFF"
data.SOON = statistics.SOON = 60.0  # a busy machine is no reason for another page
passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def _one_loop() -> Iterator[None]:
    """All requests go through one event loop; TestClient would start one, with two threads, for each of them."""
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as TestClient.portal:
        patch.setattr(testclient._TestClientTransport, "handle_request", answer)
        yield
    TestClient.portal = None


def answer(self: testclient._TestClientTransport, request: Request) -> Response:
    """Ask the app in one visit to its event loop; to be able to stream, TestClient makes eight."""
    url, sent = request.url, list[Message]()
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(url.path),
        "raw_path": url.raw_path.partition(b"?")[0],
        "root_path": self.root_path,
        "scheme": url.scheme,
        "query_string": url.query,
        "headers": [(name.lower().encode(), value.encode()) for name, value in request.headers.multi_items()],
        "client": self.client,
        "server": [url.host, url.port or 80],
        "state": self.app_state.copy(),
    }

    bodies = [request.read()]

    async def receive() -> Message:
        if not bodies:
            await sleep_forever()  # nobody hangs up
        return {"type": "http.request", "body": bodies.pop()}

    async def send(message: Message) -> None:
        sent.append(message)

    with self.portal_factory() as portal, suppress(*() if self.raise_server_exceptions else (Exception,)):
        portal.call(self.app, scope, receive, send)  # a page says that something went wrong, before it is raised
    start, *parts = sent
    headers = [(name.decode(), value.decode()) for name, value in start["headers"]]
    return Response(start["status"], headers=headers, content=b"".join(part["body"] for part in parts), request=request)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them, to be copied."""
    path = tmp_path_factory.mktemp("empty") / "studio.db"
    open_database(path).close()
    return path


@pytest.fixture(scope="session")
def demo_database(empty_database: Path, made_once: MadeOnce) -> Path:
    """A database with the demo campaigns, to be copied: playing them takes seconds."""

    def make(path: Path) -> None:
        with closing(open_database(shutil.copy(empty_database, path))) as database:
            fill(database, find_owner(database))

    return made_once("demo.db", make)


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
