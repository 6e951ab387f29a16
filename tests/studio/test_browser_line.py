"""Nothing is lost: drafts, a line that goes away, answers that are sent later, once."""

from __future__ import annotations

import pytest
from sqlalchemy import delete
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mores.studio.records import Role
from mores.studio.store.campaigns import set_open
from mores.studio.store.database import Database
from mores.studio.store.identity import make_code
from mores.studio.store.tables import sessions
from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page, binary
from tests.studio.play import Play
from tests.studio.serving import fill, follow, serving, visitor

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
NO_LINE = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya"])


def waiting_item(play: Play) -> str:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    question = {"question": "In Kenya?", "options": ["Tea", "Rice", "A song", "Nothing"], "correct": "A"}
    author.send("/items", scene="Tea first.", **question, then="submit")
    item = author.item
    author.send(f"/items/{item}/save", **question, then="submit")
    return item


def taken(play: Play, browser: Browser, address: str) -> Page:
    """The page of a verifier who has just taken the item."""
    verifier = play.person(Role.VERIFIER, "Juma")
    page = visitor(browser, address, verifier.browser.cookies[COOKIE])
    page.open(f"{address}/c/{play.campaign.id}")
    follow(page, "[data-key=n]")
    return page


def test_a_draft_is_on_the_server_before_anything_is_sent(play: Play, browser: Browser) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    with serving(play.app) as address:
        page = visitor(browser, address, author.browser.cookies[COOKIE])
        page.open(f"{address}/c/{play.campaign.id}/new")
        fill(page, scene="Guests get tea first.")
        page.wait("document.querySelector('.saved').textContent === 'Draft saved'")
        page.close()
        other = visitor(browser, address, author.browser.cookies[COOKIE])
        other.open(f"{address}/c/{play.campaign.id}/new")
        assert other.evaluate("document.getElementsByName('scene')[0].value") == "Guests get tea first."
        other.close()


@pytest.mark.slow
def test_a_draft_without_a_line_is_on_the_device(play: Play, browser: Browser) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    with serving(play.app) as address:
        page = visitor(browser, address, author.browser.cookies[COOKIE])
        page.open(f"{address}/c/{play.campaign.id}/new")
        page.send("Network.emulateNetworkConditions", **NO_LINE)
        page.wait("!document.getElementById('offline').hidden")
        fill(page, scene="Written in the bus.")
        page.wait("document.querySelector('.saved').textContent === 'Draft kept on this device'")
        page.send("Network.emulateNetworkConditions", **LINE)
        page.open(f"{address}/c/{play.campaign.id}/new")
        assert page.evaluate("document.getElementsByName('scene')[0].value") == "Written in the bus."
        page.close()


def test_an_answer_without_a_line_is_sent_once_when_it_is_back(play: Play, browser: Browser) -> None:
    item = waiting_item(play)
    with serving(play.app) as address:
        page = taken(play, browser, address)
        fill(page, answer=["A"])
        page.send("Network.emulateNetworkConditions", **NO_LINE)
        page.evaluate("document.querySelector('[data-key=Enter]').click()")
        page.wait("document.getElementById('offline').textContent.includes('will be sent: 1')")
        assert play.read(item).votes == ()
        page.send("Network.emulateNetworkConditions", **LINE)
        page.wait("location.search.includes('done')", 60)
        assert page.evaluate("document.getElementById('offline').hidden")
        assert [vote.answer["answer"] for vote in play.read(item).votes] == [["A"]]
        page.open(f"{address}/c/{play.campaign.id}")
        page.evaluate("new Promise((done) => setTimeout(done, 300))")
        assert len(play.read(item).votes) == 1
        page.close()


def test_an_answer_that_comes_too_late_is_shown_and_not_thrown_away(play: Play, browser: Browser) -> None:
    item = waiting_item(play)
    with serving(play.app) as address:
        page = taken(play, browser, address)
        fill(page, answer=["A"], comment="My long comment")
        page.send("Network.emulateNetworkConditions", **NO_LINE)
        page.evaluate("document.querySelector('[data-key=Enter]').click()")
        page.wait("document.getElementById('offline').textContent.includes('will be sent: 1')")
        organiser = play.organiser()
        organiser.open(f"/items/{item}/life")
        organiser.send(f"/items/{item}/adjudicate", outcome="rejected", note="no")
        page.send("Network.emulateNetworkConditions", **LINE)
        page.wait("document.querySelector('main .notice textarea')?.value.includes('My long comment')", 60)
        assert play.read(item).votes == ()
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("line", [LINE, NO_LINE], ids=["with a line", "without"])
def test_an_answer_to_a_campaign_that_is_closed_meanwhile_stays_with_who_wrote_it(
    play: Play, browser: Browser, line: dict[str, object]
) -> None:
    item = waiting_item(play)
    with serving(play.app) as address:
        page = taken(play, browser, address)
        fill(page, answer=["A"], comment="My long comment")
        set_open(play.database, play.campaign, False, notice="The results are here.")
        page.send("Network.emulateNetworkConditions", **line)
        page.evaluate("document.querySelector('[data-key=Enter]').click()")
        if line is NO_LINE:
            page.wait("document.getElementById('offline').textContent.includes('will be sent: 1')")
            page.send("Network.emulateNetworkConditions", **LINE)
        page.wait("document.querySelector('main .notice')?.textContent.includes('This campaign is closed')", 60)
        shown = "[...document.querySelectorAll('textarea')].map((box) => box.value).join()"
        assert "My long comment" in page.evaluate(shown)
        assert page.evaluate("document.querySelector('[name=answer]:checked').value") == "A"
        assert page.evaluate("scrollY") == 0
        assert play.read(item).votes == ()
        page.close()


class Dropping:
    """The studio behind a line that breaks while it answers the first vote, which it has kept."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.votes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].endswith("/vote"):
            await self.app(scope, receive, send)
            return
        self.votes += 1
        if self.votes > 1:
            await self.app(scope, receive, send)
            return

        async def lose(_message: Message) -> None:
            pass

        await self.app(scope, receive, lose)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{"})


@pytest.mark.slow
def test_a_reply_that_gets_lost_is_asked_for_again(database: Database, browser: Browser) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"], verifiers=1, agreeing=1)
    item = waiting_item(play)
    line = Dropping(play.app)
    with serving(line) as address:
        page = taken(play, browser, address)
        fill(page, answer=["A"])
        page.evaluate("document.querySelector('[data-key=Enter]').click()")
        page.wait("location.search.includes('done')", 60)
        assert "Thank you" in page.evaluate("document.querySelector('main').textContent")
        page.close()
    assert line.votes == 2
    assert [vote.answer["answer"] for vote in play.read(item).votes] == [["A"]]


LINE_SAYS = "document.getElementById('offline').textContent"


@pytest.mark.slow
def test_an_answer_waits_until_somebody_whose_session_is_over_has_signed_in_again(play: Play, browser: Browser) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    [juma] = [member.person.id for member in play.members() if member.name == "Juma"]
    code = make_code(play.database, juma)
    with serving(play.app) as address:
        phone = visitor(browser, address, verifier.browser.cookies[COOKIE], width=390, height=800, touch=True)
        phone.open(f"{address}/c/{play.campaign.id}")
        follow(phone, ".tongues [lang=ar]")
        follow(phone, "[data-key=n]")
        with play.database.write() as connection:
            connection.execute(delete(sessions))
        fill(phone, answer=["A"])
        phone.evaluate("document.querySelector('[data-key=Enter]').click()")
        phone.wait(f"{LINE_SAYS}.startsWith(document.body.dataset.ended)")
        assert "تسجيل الدخول" in phone.evaluate(LINE_SAYS)
        assert play.read(item).votes == ()
        follow(phone, "#offline a")
        fill(phone, code=code)
        follow(phone, "main form button")
        phone.wait(f"{LINE_SAYS} === document.body.dataset.sent")
        assert [vote.answer["answer"] for vote in play.read(item).votes] == [["A"]]
        phone.close()


class Gone:
    """The studio behind a server in front of it, which says for a while that nobody answers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.gone = app, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.gone:
            await self.app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/html"), (b"content-length", b"11")]
        await send({"type": "http.response.start", "status": 502, "headers": headers})
        await send({"type": "http.response.body", "body": b"Bad Gateway"})


@pytest.mark.slow
def test_an_answer_waits_while_a_server_in_front_finds_no_studio(play: Play, browser: Browser) -> None:
    item = waiting_item(play)
    front = Gone(play.app)
    with serving(front) as address:
        page = taken(play, browser, address)
        front.gone = True
        fill(page, answer=["A"])
        page.evaluate("document.querySelector('[data-key=Enter]').click()")
        page.wait(f"{LINE_SAYS}.includes('will be sent: 1')")
        assert play.read(item).votes == ()
        front.gone = False
        page.evaluate("setTimeout(flush) > 0")  # the page that follows would end a promise
        page.wait("location.search.startsWith('?done=')")
        assert [vote.answer["answer"] for vote in play.read(item).votes] == [["A"]]
        page.close()
