"""A disk that takes no more: nothing is said to be kept that is not, and what people sent is kept on their device."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from mores.studio.records import Role
from mores.studio.store.database import AWAY, Database
from mores.studio.store.jobs import JobRunner, add_job, read_job
from mores.studio.store.people import sign_in
from tests.browser import Browser
from tests.studio.play import Play
from tests.studio.serving import fill, serving, visitor
from tests.studio.test_coming_back import waiting_item

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of files are Linux's here")


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow: to SQLite this is a full disk; what is there can be read."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def play(database: Database, monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.setattr("mores.studio.web.routes.health.SECONDS", 0.0)
    return Play(database, "culturalteaming", regions=["Kenya"], verifiers=1, agreeing=1)


def test_pages_say_so_and_nothing_is_half_done(play: Play) -> None:
    item = waiting_item(play)
    verifier, organiser = play.person(Role.VERIFIER, "Juma"), play.organiser()
    assert verifier.take() == item
    path, form = f"/c/{play.campaign.id}/items/{item}/vote", verifier.hidden() | {"answer": ["A"]}
    with full_disk():
        refused = verifier.browser.post(path, data=form)
        asked = verifier.browser.post(path, data=form, headers={"accept": "application/json"})
        overview = organiser.open("/overview").text
        stranger = play.browser().get("/login")
    assert refused.status_code == asked.status_code == 503
    assert str(AWAY) in refused.text
    assert asked.json() == {"error": str(AWAY)}
    assert "The studio cannot work as it should:" in overview
    assert stranger.status_code == 200, "what is only read goes on"
    assert not play.read(item).votes
    assert verifier.browser.post(path, data=form).status_code == 200
    assert len(play.read(item).votes) == 1
    assert "The studio cannot work as it should:" not in organiser.open("/overview").text


def test_a_job_says_so_and_later_ones_are_done(play: Play) -> None:
    disk = full_disk()
    runner = JobRunner(play.database, {"small": lambda *_: {}, "large": lambda *_: disk.__enter__() or {}})
    add = partial(add_job, play.database, play.campaign.id, by=None, settings={})
    large = add("large")
    runner.wake()
    thread = runner._thread
    assert thread
    thread.join(20)
    disk.__exit__(None, None, None)
    assert read_job(play.database, play.campaign.id, large).status == "running", "it is done again when it is lost"
    small = add("small")
    runner.wake()
    assert runner.wait(play.campaign.id, small, 20).status == "done"
    runner.stop()


def test_an_answer_waits_on_the_device_and_is_sent_later(play: Play, browser: Browser) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    [juma] = [member.person.id for member in play.members() if member.name == "Juma"]
    assert verifier.take() == item
    with serving(play.app) as address:
        phone = visitor(browser, address, sign_in(play.database, juma), width=390, height=800, touch=True)
        phone.open(f"{address}/c/{play.campaign.id}/items/{item}")
        with full_disk():
            fill(phone, answer="A")
            phone.evaluate("document.querySelector('[data-key=Enter]').click()")
            line = "document.getElementById('offline').textContent"
            phone.wait(f"{line}.includes('The studio can keep nothing at the moment')")
            assert phone.evaluate(line).endswith(" 1")
        phone.evaluate("setTimeout(flush) > 0")  # the page that follows would end a promise
        phone.wait("location.search.startsWith('?done=')")
        assert "Thank you. Your answer is saved." in phone.evaluate("document.body.innerText")
    assert len(play.read(item).votes) == 1
