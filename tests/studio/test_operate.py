"""Running a studio: copies while it serves, health by a write, logs as JSON, a path of its own, several processes."""

import gzip
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select
from starlette.testclient import TestClient

from mores.cli import mores
from mores.errors import ConfigError, InputError
from mores.studio import app, serve
from mores.studio.campaigns import open_kind
from mores.studio.demo import fill
from mores.studio.serve import find_owner, prepare
from mores.studio.settings import StudioSettings
from mores.studio.store.backup import back_up, restore
from mores.studio.store.campaigns import list_campaigns
from mores.studio.store.database import Database, open_database
from mores.studio.store.health import find_problem, newest_version
from mores.studio.store.items import read_items
from mores.studio.store.people import log_action
from mores.studio.store.tables import audit, events, metadata
from mores.studio.web.logs import REQUESTS, JsonFormatter

FIXTURE = Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "stores" / "studio.db.gz"


def rows(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """Everything in a database."""
    return {
        table.name: [tuple(row) for row in database.fetch(select(table).order_by(*table.primary_key))]
        for table in metadata.sorted_tables
    }


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a studio with a demo campaign, of either kind."""
    monkeypatch.setattr("mores.studio.demo.all_kinds", lambda: [open_kind("culturalteaming")])
    place = str(tmp_path / "studio.db") if request.param == "sqlite" else request.getfixturevalue("postgres")
    with closing(open_database(place)) as database:
        fill(database, find_owner(database))
        log_action(database, None, "filled", "", "")
    return str(place)


def test_backup_and_restore(address: str, tmp_path: Path, postgres: str) -> None:
    copy = tmp_path / "copy.db"
    (tmp_path / f".copy.db.{os.getpid()}").write_bytes(b"a copy that was killed; in a container all have one number")
    with closing(open_database(address)) as database:
        before = rows(database)
        counted = back_up(address, copy)
    assert (counted.campaigns, counted.events) == (len(before["campaigns"]), len(before["events"]))
    assert copy.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.glob(".copy*"))
    for target in (str(tmp_path / "again.db"), postgres):
        if target == address:
            continue  # it has campaigns
        assert restore(target, copy) == counted
        with closing(open_database(target)) as restored:
            assert rows(restored) == before
            log_action(restored, None, "goes on", "", "")  # numbers go on after those that were restored
            last = restored.fetch(select(func.max(audit.c.id)))[0][0]
            assert last > max(int(str(row[0])) for row in before["audit"])
            assert find_problem(restored) == ""
        with pytest.raises(ConfigError, match="has campaigns; restore into a new one"):
            restore(target, copy)


def test_backup_while_serving_has_every_acknowledged_change(tmp_path: Path) -> None:
    """Copies are made while people write: each is whole, as of one moment, and has what was acknowledged before."""
    place = tmp_path / "studio.db"
    database = prepare(place, demo=False).database
    stop = False

    def write() -> int:
        number = 0
        while not stop:
            number += 1
            log_action(database, None, "wrote", str(number), "")
        return number

    with ThreadPoolExecutor(1) as pool, TestClient(app(database, model="none")) as browser:
        written = pool.submit(write)
        try:
            for number in range(3):
                time.sleep(0.2)  # a few changes more
                acknowledged = database.fetch(select(func.count()).where(audit.c.action == "wrote"))[0][0]
                copy = tmp_path / f"copy{number}.db"
                runner = CliRunner().invoke(mores, ["studio", "--database", str(place), "backup", str(copy)])
                assert runner.exit_code == 0, runner.output
                assert browser.get("/health").text == "ok"
                with closing(sqlite3.connect(copy)) as found:
                    [details] = zip(
                        *found.execute("SELECT detail FROM audit WHERE action = 'wrote' ORDER BY id"), strict=True
                    )
                assert list(details) == [str(place) for place in range(1, len(details) + 1)]
                assert len(details) >= acknowledged
        finally:
            stop = True
        assert written.result() > len(details)
    database.close()


@pytest.mark.usefixtures("database")
def test_restore_refuses(tmp_path: Path) -> None:
    copy, place = tmp_path / "copy.db", tmp_path / "studio.db"
    with pytest.raises(InputError, match="no such database"):
        back_up(tmp_path / "none.db", copy)
    back_up(place, copy)
    with pytest.raises(ConfigError, match="exists; give the name of a new file"):
        back_up(place, copy)
    with pytest.raises(ConfigError, match=r"in use .*; stop the studio first"):
        restore(place, copy)
    (tmp_path / "other.db").write_text("no database")
    with pytest.raises(InputError, match="not a copy of a studio"):
        restore(tmp_path / "new.db", tmp_path / "other.db")
    broken = bytearray(copy.read_bytes())
    broken[len(broken) // 2 :] = b"\xff" * (len(broken) - len(broken) // 2)
    (tmp_path / "broken.db").write_bytes(broken)
    with pytest.raises(Exception, match=r"damaged|not a copy"):
        restore(tmp_path / "new.db", tmp_path / "broken.db")
    assert not (tmp_path / "new.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_older_copy_is_brought_up_to_date(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    target = tmp_path / "new.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    counted = restore(target, old)
    with closing(open_database(target)) as database:
        assert find_problem(database) == ""
        assert counted.events == database.fetch(select(func.count()).select_from(events))[0][0] > 0
        assert all(list(read_items(database, campaign)) for campaign in list_campaigns(database))


def test_health_says_what_is_wrong(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "studio.db"
    monkeypatch.setattr("mores.studio.store.health.SECONDS", 0.1)
    monkeypatch.setattr("mores.studio.web.routes.health.SECONDS", 0.0)
    with TestClient(app(database, model="none")) as browser:
        answer = browser.get("/health")
        assert (answer.status_code, answer.text) == (200, "ok")
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = browser.get("/health", headers={"accept": "application/json"})
            assert answer.status_code == 503
            assert answer.json()["status"] == "error"
            assert "database is locked" in answer.json()["problem"]
            other.execute("ROLLBACK")
            assert browser.get("/health").text == "ok"
            other.execute("UPDATE alembic_version SET version_num = '0001'")
            answer = browser.get("/health")
            assert answer.text.startswith(
                f"migration missing: the tables are of version 0001, this Mores needs {newest_version()}"
            )
            other.execute("DROP TABLE secrets")
            assert "no such table" in browser.get("/health").text
        place.rename(tmp_path / "gone.db")
        assert "unable to open" in browser.get("/health").text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of files are Linux's here")
@pytest.mark.usefixtures("database")
def test_health_notices_a_disk_that_takes_no_more(tmp_path: Path) -> None:
    """A process that may write no more to its files meets what a full disk is; reading goes on."""
    code = """
import resource, sys
from mores.studio.store.database import open_database
from mores.studio.store.health import find_problem
database = open_database(sys.argv[1])
assert find_problem(database) == ""
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
print(find_problem(database))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "studio.db"], capture_output=True, text=True, check=True
    )
    assert "bytes are free" in ran.stdout
    assert "disk" in ran.stdout


def test_health_on_postgres(postgres: str) -> None:
    with closing(open_database(postgres)) as database:
        assert find_problem(database) == ""
        with database.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
        assert find_problem(database).startswith("migration missing")
        with database.engine.begin() as connection:
            connection.exec_driver_sql("LOCK TABLE secrets IN ACCESS EXCLUSIVE MODE")
            assert find_problem(database).startswith("database locked")
        with database.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE secrets")
        assert find_problem(database).startswith("migration missing")


def test_the_log_has_routes_and_no_secrets(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    REQUESTS.setLevel(logging.INFO)
    try:
        with TestClient(app(database, model="none")) as browser, caplog.at_level(logging.INFO, REQUESTS.name):
            answer = browser.get("/join/a-secret-of-an-invitation?lang=sw")
    finally:
        REQUESTS.setLevel(logging.CRITICAL)
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records if record.name == REQUESTS.name]
    assert (line["route"], line["method"], line["status"]) == ("/join/{token}", "GET", answer.status_code)
    assert line["request"] == answer.headers["x-request-id"]
    assert "a-secret" not in json.dumps(line)


@pytest.mark.parametrize("prefix", ["", "/lab/studio"])
def test_a_path_of_its_own(database: Database, prefix: str) -> None:
    """Whether the server in front takes the path away or leaves it, every address has it."""
    with TestClient(app(database, model="none", root_path="lab/studio/")) as browser:
        page = browser.get(f"{prefix}/login")
        assert page.status_code == 200
        assert 'href="/lab/studio/static/studio.css?v=' in page.text
        style = page.text.split('href="/lab/studio')[1].split('"')[0]
        assert browser.get(f"{prefix}{style}").status_code == 200
        assert browser.get(f"{prefix}/", follow_redirects=False).headers["location"] == "/lab/studio/login"
        assert "path=/lab/studio/" in page.headers["set-cookie"].lower()
    with pytest.raises(ConfigError, match="not a path such as /studio"):
        app(database, model="none", root_path="https://host/studio")


def test_sharing_says_how_volunteers_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links have the address of the network, and the server listens to it; without a network that is said."""
    served: list[StudioSettings] = []
    monkeypatch.setattr(serve, "serve", lambda _start, settings: served.append(settings))
    for found, expected in (("192.168.1.7", "http://192.168.1.7:8123/lab"), (None, "http://localhost:8123/lab")):
        monkeypatch.setattr(serve, "lan_address", lambda found=found: found)
        options = ["--database", str(tmp_path / f"{found}.db"), "--port", "8123", "--root-path", "lab", "--share"]
        ran = CliRunner().invoke(mores, ["studio", *options])
        assert ran.exit_code == 0, ran.output
        assert f"organiser  {expected}/join/" in ran.output
        assert ("▀▀▀▀" in ran.output) == bool(found), "the QR code"
        assert ("nothing is encrypted" if found else "has no address in a network") in ran.output
        assert served.pop().host == "0.0.0.0"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_several_processes_serve_and_are_replaced(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from mores.cli import main; main()"
    options = ["studio", "--database", str(tmp_path / "studio.db"), "--no-demo", "--model", "none", "--workers", "2"]
    options += ["--port", str(port), "--log", "json"]
    with (tmp_path / "log").open("wb") as log:
        parent = subprocess.Popen([sys.executable, "-c", code, *options], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/health"

    def workers() -> list[int]:
        listed = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        spawned = [int(pid) for pid in listed if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        return sorted(spawned)

    def wait_for_answer() -> None:
        until = time.monotonic() + 60
        while True:
            try:
                assert httpx2.get(address, timeout=10).text == "ok"
                return
            except httpx2.TransportError:
                assert time.monotonic() < until
                assert parent.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.1)

    try:
        wait_for_answer()
        first = workers()
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        until = time.monotonic() + 60
        while first[0] in workers() or len(workers()) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        wait_for_answer()
        last = workers()
        parent.terminate()
        assert parent.wait(30) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in last)
        lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("{")]
        assert {(line["route"], line["status"]) for line in lines if "route" in line} == {("/health", 200)}
    finally:
        parent.kill()
        parent.wait()
