"""Exports and imports as jobs: how far they are, cancelling, a process that dies, and limits that processes share."""

import threading
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import InterfaceError

from mores.errors import InputError
from mores.studio.data import imports, incoming
from mores.studio.figures import Figures, summarise_votes
from mores.studio.phrase import Phrase
from mores.studio.progress import Cancelled, report, reporting
from mores.studio.store import jobs as store
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import now
from mores.studio.store.jobs import (
    ASKS,
    UNANSWERED,
    JobRunner,
    StudioJob,
    add_job,
    cancel_job,
    claim_job,
    list_jobs,
    read_job,
)
from mores.studio.store.statistics import Keeper, NotReady
from mores.studio.store.tables import jobs, limits
from mores.studio.web.routes import data
from mores.studio.web.security import LIMITS
from mores.studio.web.shared_limits import SharedLimiter
from mores.studio.web.visit import COOKIE
from mores.studio.workflow import Unknown
from tests.browser import Browser, binary
from tests.studio.play import Play
from tests.studio.serving import choose_file, follow, serving, visitor
from tests.studio.test_organise import question


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of either kind."""
    if request.param == "sqlite":
        yield request.getfixturevalue("database")
        return
    opened = open_database(request.getfixturevalue("postgres"))
    yield opened
    opened.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is noted at once."""
    monkeypatch.setattr(store, "EVERY", 0.0)


def slow(begun: threading.Event, go_on: threading.Event) -> Mapping[str, store.Work]:
    """Work that says how far it is, and waits in the middle."""

    def work(_database: Database, _job: StudioJob, data: bytes) -> dict[str, Any]:
        for number in range(10):
            report(number, 10)
            if number == 5:
                begun.set()
                go_on.wait(20)
        return {"bytes": len(data)}

    return {"slow": work}


@pytest.mark.often("sqlite")
@pytest.mark.usefixtures("quick")
def test_progress_and_cancel(either: Database) -> None:
    campaign = Play(either, "culturalteaming").campaign.id
    begun, go_on = threading.Event(), threading.Event()
    runner = JobRunner(either, slow(begun, go_on))
    first = add_job(either, campaign, "slow", None, {"number": 1}, b"abc")
    assert add_job(either, campaign, "slow", None, {"number": 1}) == first, "the same is done once"
    second = add_job(either, campaign, "slow", None, {"number": 2})
    runner.wake()
    assert begun.wait(20)
    running = read_job(either, campaign, first)
    assert (running.status, running.done, running.total) == ("running", 5, 10)
    assert {job.id for job in list_jobs(either, campaign)} == {first, second}
    cancel_job(either, read_job(either, campaign, second))
    assert read_job(either, campaign, second).status == "cancelled", "what waits is cancelled at once"
    cancel_job(either, running)
    go_on.set()
    assert runner.wait(campaign, first, 20).status == "cancelled"
    third = add_job(either, campaign, "slow", None, {"number": 1}, b"abcd")
    assert third != first
    runner.wake()
    done = runner.wait(campaign, third, 20)
    assert (done.status, done.result) == ("done", {"bytes": 4})
    assert either.fetch(select(jobs.c.data).where(jobs.c.id == third))[0][0] is None, "the file is not kept"
    assert list_jobs(either, campaign) == []
    with pytest.raises(Unknown):
        read_job(either, "another", third)
    runner.stop()


@pytest.mark.usefixtures("quick")
def test_a_job_of_a_process_that_stops_or_dies_is_done_by_another(either: Database) -> None:
    campaign = Play(either, "culturalteaming").campaign.id
    begun, go_on = threading.Event(), threading.Event()
    first = JobRunner(either, slow(begun, go_on))
    job = add_job(either, campaign, "slow", None, {}, b"abc")
    first.wake()
    assert begun.wait(20)
    stopping = threading.Thread(target=first.stop)
    stopping.start()
    while not first._stopping:
        time.sleep(0.01)
    go_on.set()
    stopping.join(20)
    assert read_job(either, campaign, job).status == "waiting"
    claimed = claim_job(either)  # by a process that then dies
    assert claimed
    assert claim_job(either) is None, "nobody else has it meanwhile"
    with either.write() as connection:
        connection.execute(update(jobs).values(seen=now() - store.LOST - timedelta(seconds=1)))
    second = JobRunner(either, slow(begun, go_on))
    second.wake()
    assert second.wait(campaign, job, 20).result == {"bytes": 3}
    second.stop()


def test_a_job_that_processes_die_of_is_not_taken_for_ever(either: Database) -> None:
    campaign = Play(either, "culturalteaming").campaign.id
    job = add_job(either, campaign, "deadly", None, {}, b"abc")
    for _ in range(store.TRIES):
        assert claim_job(either)
        with either.write() as connection:
            connection.execute(update(jobs).values(seen=now() - store.LOST - timedelta(seconds=1)))
    assert claim_job(either) is None
    ended = read_job(either, campaign, job)
    assert (ended.status, set(ended.result)) == ("failed", {"problem"})


def test_a_job_that_fails_says_why(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    campaign = Play(database, "culturalteaming").campaign.id

    def refuse(_database: Database, job: StudioJob, _data: bytes) -> dict[str, Any]:
        if job.settings:
            raise ValueError("a fault of ours")
        raise InputError(Phrase("{count} rows are wrong", count=3))

    runner = JobRunner(database, {"bad": refuse})
    names = [add_job(database, campaign, "bad", None, settings) for settings in ({}, {"ours": 1})]
    runner.wake()
    theirs, ours = (runner.wait(campaign, name, 20) for name in names)
    assert theirs.result["problem"] == {"phrase": "{count} rows are wrong", "values": {"count": 3}}
    assert (ours.status, ours.result["problem"]["phrase"]) == ("failed", "Something went wrong on our side.")
    assert "a fault of ours" in caplog.text
    runner.stop()


@pytest.mark.usefixtures("quick")
def test_the_browser_shows_progress_and_cancels(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SOON", 0.0)
    play = Play(database, "culturalteaming")
    begun, go_on = threading.Event(), threading.Event()
    runner = play.app.state.studio.runner

    def work(*_: Any) -> dict[str, Any]:
        report(200, 1000)
        begun.set()
        go_on.wait(20)
        report(400, 1000)
        return {}

    monkeypatch.setattr(runner, "_work", {"export": work})
    organiser = play.organiser()
    organiser.open("/data")
    page = organiser.send("/export", format="csv")
    assert "/jobs/" in str(page.url)
    assert begun.wait(20)
    page = organiser.open(str(page.url.path).removeprefix(f"/c/{play.campaign.id}"))
    assert '<progress value="200" max="1000">' in page.text
    assert "200 of 1,000" in page.text
    assert 'http-equiv="refresh"' in page.text
    job = str(page.url.path).rpartition("/")[2]
    assert "It is being cancelled." in organiser.send(f"/jobs/{job}/cancel").text
    go_on.set()
    runner.wait(play.campaign.id, job, 20)
    assert "It was cancelled." in organiser.open(f"/jobs/{job}").text
    monkeypatch.undo()
    organiser.open("/data")
    archive = organiser.send("/export", format="csv")
    assert archive.headers["content-type"] == "application/zip"
    made = list(database.fetch(select(jobs.c.id).where(jobs.c.status == "done")))[-1].id
    assert "The export is made." in organiser.open(f"/jobs/{made}").text


@pytest.mark.often("sqlite")
def test_processes_share_limits(either: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = SharedLimiter(either, "key"), SharedLimiter(either, "key")
    burst = LIMITS["account"][1]
    allowed = [limiter.allows("account", "wanjiku", 1000.0) for limiter in (here, there) * burst]
    assert allowed == [True] * burst + [False] * burst, "both together as often as one alone"
    assert here.allows("account", "otieno", 1000.0)
    take = here._take

    def take_meanwhile(*bucket: Any) -> int:
        monkeypatch.undo()
        assert here.allows("write", "wanjiku", 1000.0), "another thread, at the same moment"
        return take(*bucket)

    monkeypatch.setattr(here, "_take", take_meanwhile)
    burst = LIMITS["write"][1]
    assert sum(here.allows("write", "wanjiku", 1000.0) for _ in range(burst)) == burst - 1, "what both took is used"
    assert here.allows("account", "wanjiku", 1060.0), "the bucket fills again"
    names = [row.name for row in either.fetch(select(limits.c.name))]
    assert len(names) == 3
    assert not any("wanjiku" in name for name in names)
    assert here.allows("read", "someone", 1e9)
    assert len(either.fetch(select(limits.c.name))) == 1, "old ones are forgotten"


def test_figures_that_take_long_are_announced(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.studio.store.statistics.SOON", 0.05)
    monkeypatch.setattr("mores.studio.store.statistics.QUICK", 0.0)
    monkeypatch.setattr("mores.studio.store.statistics.PATIENCE", 0)
    keeper, go_on = Keeper[int](), threading.Event()

    def make() -> int:
        go_on.wait(20)
        return 1

    with pytest.raises(NotReady):
        keeper.get(database, "a", 1, make)
    go_on.set()
    assert keeper.get(database, "a", 1, lambda: 2, fresh=True) == 1
    assert keeper.get(database, "a", 2, lambda: 2) == 1, "a little older, and being made again"
    assert keeper.get(database, "a", 2, lambda: 3, fresh=True) in (2, 3)

    def fail() -> int:
        raise InputError("no")

    with pytest.raises(InputError):
        keeper.get(database, "b", 1, fail)


def test_jobs_go_on_after_whatever_the_database_did(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, claim = Play(database, "culturalteaming").campaign.id, store.claim_job

    def fail(_database: Database) -> None:
        monkeypatch.setattr(store, "claim_job", claim)
        raise InterfaceError("SELECT", {}, OSError("the connection is closed"))

    monkeypatch.setattr(store, "claim_job", fail)
    runner = JobRunner(database, {"quick": lambda *_: {}})
    job = add_job(database, campaign, "quick", None, {})
    runner.wake()
    assert runner.wait(campaign, job, 0.3).status == "waiting"
    runner.wake()
    assert runner.wait(campaign, job, 20).status == "done"
    runner.stop()


def test_a_link_that_is_shown_once_waits_for_figures(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def summarise(*given: Any) -> Figures:
        time.sleep(0.2)
        return summarise_votes(*given)

    monkeypatch.setattr("mores.studio.store.statistics.SOON", 0.01)
    monkeypatch.setattr("mores.studio.store.statistics.summarise_votes", summarise)
    organiser = Play(database, "culturalteaming").organiser()
    assert "Figures are being counted" in organiser.open("/people").text
    question(organiser.stage)
    organiser.open("/me")
    assert "/join/" in organiser.send("/invite", role="verifier").text


@pytest.mark.often("sqlite")
def test_a_file_that_nobody_answers_about_is_deleted_after_a_week(either: Database) -> None:
    campaign = Play(either, "culturalteaming").campaign.id
    runner = JobRunner(either, {"import": lambda *_: {ASKS: {}}})
    kept: dict[str, str] = {}
    for name, days in (("old", 0.1), ("new", -0.1)):
        kept[name] = add_job(either, campaign, "import", name, {"name": name}, b"text")
        runner.wake()
        assert runner.wait(campaign, kept[name], 20).asks
        made = now() - UNANSWERED - timedelta(days=days)
        with either.write() as connection:
            connection.execute(update(jobs).where(jobs.c.id == kept[name]).values(created=made))
    runner.stop()
    assert claim_job(either) is None
    found = {row.id: (row.status, row.data) for row in either.fetch(select(jobs.c.id, jobs.c.status, jobs.c.data))}
    assert found == {kept["old"]: ("cancelled", None), kept["new"]: ("asks", b"text")}


@pytest.mark.slow
@pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
def test_an_import_is_cancelled_in_chromium(
    database: Database, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, go_on, check = threading.Event(), threading.Event(), incoming.check_stopping

    def wait(place: str) -> None:
        if play.items() and not written.is_set():  # between two rows, where nothing is locked
            written.set()
            assert go_on.wait(60)
        check(place)

    monkeypatch.setattr(imports, "check_stopping", wait)
    monkeypatch.setattr(data, "SOON", 0.0)
    monkeypatch.setattr(imports, "BATCH", 1)
    monkeypatch.setattr(store, "EVERY", 0.0)
    play = Play(database, "marking", regions=["Kenya"], languages=["en"])
    (tmp_path / "rows.csv").write_text("text,region\nOne.,Kenya\nTwo.,Kenya\nThree.,Kenya\n")
    with serving(play.app) as address:
        page = visitor(browser, address, play.organiser().browser.cookies[COOKIE])
        page.open(f"{address}/c/{play.campaign.id}/data")
        choose_file(page, "form[action$='/import'] input[type=file]", tmp_path / "rows.csv")
        follow(page, "form[action$='/import'] button")
        assert written.wait(60)
        page.wait("document.body.innerText.includes('A file is being imported.')")
        follow(page, "main form[action$='/cancel'] button")
        page.wait("document.body.innerText.includes('It is being cancelled.')")
        go_on.set()
        page.wait("document.body.innerText.includes('It was cancelled. What was imported until then stays.')")
    assert [item.content["text"] for item in play.items()] == ["One."]


def test_an_import_that_meets_the_servers_end_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    monkeypatch.setattr(incoming, "STOPPING", told)

    def note(_done: int, _total: int) -> None:
        if told.is_set():
            raise Cancelled
        told.set()  # the signal comes while progress is written

    with reporting(note), pytest.raises(Cancelled):
        incoming.check_stopping("rows.csv:1")
    with pytest.raises(InputError, match="the server is stopping"):
        incoming.check_stopping("rows.csv:1")
