"""A panel sends people by links with their ids: a scripted one, with everything that goes wrong in real ones."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import update

from mores.errors import InputError
from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.store.items import now
from mores.studio.store.panels import Panel, end_place, read_quotas
from mores.studio.store.people import Member, open_invitations
from mores.studio.store.tables import members, votes
from tests.studio.play import Play, Player
from tests.studio.test_organise import question

CODE = "C1X9-DONE"


@dataclass
class ScriptedPanel:
    """A panel such as Prolific: it opens the study's link for its participants, and exports a list of them."""

    play: Play
    link: str
    statuses: dict[str, str] = field(default_factory=dict)
    browsers: dict[str, Player] = field(default_factory=dict)

    def send(
        self, participant: str, region: str = "Kenya", language: str = "Swahili", *, listed: bool = True
    ) -> Player:
        """A participant opens the link and joins; in a browser of their own."""
        address = self.link.replace("{{%PROLIFIC_PID%}}", participant).replace("http://studio.test", "")
        player = self.browsers.setdefault(participant, Player(self.play.browser(), self.play))
        player.page = player.browser.get(address)
        if listed:
            self.statuses.setdefault(participant, "ACTIVE")
        if 'name="participant"' in player.page.text:
            about = {"nationality": region, "home": region, "languages": language, "locale": "en"}
            player.page = player.browser.post(address.partition("?")[0], data=player.hidden() | about)
        if "/welcome" in str(player.page.url):
            player.send("/welcome", agree="yes")
        return player

    def work(self, player: Player, count: int, answer: str = "A") -> None:
        """Answer so many items."""
        for _ in range(count):
            item = player.take()
            assert item
            player.send(f"/items/{item}/vote", answer=[answer])

    def export(self) -> bytes:
        """The list of participants, with columns as Prolific calls them."""
        rows = "".join(f"s{number},{name},{status}\n" for number, (name, status) in enumerate(self.statuses.items()))
        return f"Submission id,Participant id,Status\n{rows}".encode()


@pytest.fixture
def play(database: Database) -> Play:
    play = Play(
        database, "culturalteaming", regions=["Kenya", "Ghana"], verifiers=9, agreeing=9, hourly=12, least_seconds=60
    )
    for number in range(4):
        question(play, f"In Kenya, question {number}?")
    return play


def start(play: Play, **given: str) -> ScriptedPanel:
    organiser = play.organiser()
    organiser.open("/people")
    settings = {"service": "prolific", "code": CODE, "answers": "2", "uses": "3", "role": "verifier"}
    page = organiser.send("/panel", **settings | given)
    assert page.status_code == 200, page.text
    shown = re.search(r'class="link"[^>]*value="([^"]+)"', page.text)
    assert shown
    return ScriptedPanel(play, unescape(shown[1]))


def find(play: Play, participant: str) -> Member:
    return next(member for member in play.members() if member.participant == participant)


def upload(play: Play, data: bytes, name: str = "prolific.csv") -> str:
    organiser = play.organiser()
    organiser.open("/people")
    sent = {"csrf": organiser.hidden()["csrf"]}
    path = f"/c/{play.campaign.id}/participants"
    return organiser.browser.post(path, data=sent, files={"file": (name, data)}).text


def test_a_participant_gets_the_code_when_enough_is_answered_and_not_before(play: Play) -> None:
    panel = start(play)
    player = panel.send("5f01")
    assert find(play, "5f01").person.roles == {Role.VERIFIER}
    panel.work(player, 1)
    assert CODE not in player.open().text
    panel.work(player, 1)
    done = player.open().text
    assert CODE in done
    assert f"https://app.prolific.com/submissions/complete?cc={CODE}" in done
    assert "Next item" not in done
    player.send("/next")
    assert player.page is not None
    assert "/items/" not in str(player.page.url), "a finished place gets no more items"
    assert panel.send("5f01").page.url.path == f"/c/{play.campaign.id}", "the same browser goes on"  # type: ignore[union-attr]
    assert len([member for member in play.members() if member.participant]) == 1


def test_an_id_signs_nobody_in_and_is_flagged_until_the_panels_list_has_it(play: Play) -> None:
    panel = start(play)
    panel.work(panel.send("5f01"), 1)
    thief = Player(play.browser(), play)
    address = panel.link.replace("{{%PROLIFIC_PID%}}", "5f01").replace("http://studio.test", "")
    thief.page = thief.browser.get(address)
    answer = thief.browser.post(address.partition("?")[0], data=thief.hidden() | {"nationality": "Kenya"})
    assert answer.status_code == 409
    assert "has begun already" in answer.text
    panel.send("edited-id", listed=False)
    organiser = play.organiser()
    assert organiser.open("/people").text.count("id not confirmed") == 2
    panel.statuses["never-came"] = "RETURNED"
    shown = upload(play, panel.export())
    assert "Participants that the list has: 1. Not in the list: 1. Only in the list: 1. Places given back: 0." in shown
    assert organiser.open("/people").text.count("id not confirmed") == 1
    assert find(play, "5f01").place["confirmed"]
    assert not find(play, "edited-id").place.get("confirmed")
    refused = Player(play.browser(), play).browser.get(panel.link.partition("?")[0].replace("http://studio.test", ""))
    assert "This link needs your id in the panel" in refused.text
    assert 'name="nationality"' not in refused.text
    player = Player(play.browser(), play, refused)
    nobody = player.browser.get(panel.link.partition("?")[0].replace("http://studio.test", ""))
    player.page = nobody
    path = panel.link.partition("?")[0].replace("http://studio.test", "")
    assert player.browser.post(path, data=player.hidden() | {"nationality": "Kenya"}).status_code == 409


def test_returned_and_late_places_are_given_to_the_next(play: Play) -> None:
    panel = start(play, uses="2", hours="1")
    first, second = panel.send("5f01"), panel.send("5f02")
    assert first.take()
    full = Player(play.browser(), play).browser.get(panel.link.replace("http://studio.test", ""))
    assert full.status_code == 409, "no place is left"
    assert panel.send("5f01").page.url.path == f"/c/{play.campaign.id}", "who has one goes on"  # type: ignore[union-attr]
    panel.statuses["5f01"] = "RETURNED"
    upload(play, panel.export())
    assert find(play, "5f01").place["state"] == "returned"
    assert not any(item.holds for item in play.items()), "what waited for them is given to others"
    assert "given to somebody else" in first.open().text
    panel.send("5f03")
    with play.database.write() as connection:
        late = update(members).where(members.c.participant == "5f02").values(joined=now() - timedelta(hours=2))
        connection.execute(late)
    panel.send("5f04")
    assert find(play, "5f02").place["state"] == "timed out"
    assert find(play, "5f04").place["state"] == "working"
    assert second.open().status_code == 200
    assert sum(invitation.uses_left for invitation in open_invitations(play.database, play.campaign)) == 0


def test_a_reply_that_is_lost_and_a_second_link_make_no_second_person(play: Play) -> None:
    panel = start(play)
    address = panel.link.replace("{{%PROLIFIC_PID%}}", "5f01").replace("http://studio.test", "")
    path, about = address.partition("?")[0], {"nationality": "Kenya", "home": "Kenya", "languages": "English"}
    player = Player(play.browser(), play)
    player.page = player.browser.get(address)
    sent, kept = player.hidden() | about, dict(player.browser.cookies)
    player.browser.post(path, data=sent)
    player.browser.cookies.clear()  # the reply never came: the browser has what it had
    for name, value in kept.items():
        player.browser.cookies.set(name, value, domain="studio.test")
    again = player.browser.post(path, data=sent)
    assert again.url.path == f"/c/{play.campaign.id}/welcome"
    assert len([member for member in play.members() if member.participant]) == 1
    other = start(play)
    assert other.send("5f01").page.status_code == 409  # type: ignore[union-attr]


def test_authors_finish_by_writing_and_a_revoked_link_stays_closed(play: Play) -> None:
    panel = start(play, role="author", answers="1", uses="2")
    author = panel.send("5f01")
    written = {"scene": "Guests.", "question": "In Kenya, what?", "options": ["a", "b", "c", "d"], "correct": "A"}
    author.open("/new")
    author.send("/items", **written, region="KE", then="save")
    assert CODE not in author.open().text, "a draft is not yet written"
    item = next(item.id for item in play.items() if item.author)
    author.open(f"/items/{item}")
    author.send(f"/items/{item}/save", **written, region="KE", then="submit")
    assert CODE in author.open().text
    second = panel.send("5f02")
    organiser = play.organiser()
    assert open_invitations(play.database, play.campaign) == [], "all places are taken"
    invitation = find(play, "5f02").person.link
    organiser.open("/people")
    organiser.send(f"/invitations/{invitation}/revoke")
    organiser.open("/people")
    organiser.send(f"/people/{find(play, '5f02').person.id}/place")
    assert "given to somebody else" in second.open().text
    assert panel.send("5f03").page.status_code == 409  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("then", ["", "pause"], ids=["closed", "paused"])
def test_nobody_joins_a_closed_campaign_and_who_has_worked_still_gets_the_code(play: Play, then: str) -> None:
    panel = start(play, uses="5")
    begun, idle, late = panel.send("5f01"), panel.send("5f02"), Player(play.browser(), play)
    panel.work(begun, 1)
    address = panel.link.replace("{{%PROLIFIC_PID%}}", "5f03").replace("http://studio.test", "")
    late.page = late.browser.get(address)  # the form is open while the campaign is closed
    organiser = play.organiser()
    organiser.open("/settings")
    organiser.send("/open", open=then, notice="Thank you, there are enough.")
    about = {"nationality": "Kenya", "home": "Kenya", "languages": "Swahili", "locale": "en"}
    refused = late.browser.post(address.partition("?")[0], data=late.hidden() | about)
    if then == "pause":
        assert refused.url.path.startswith(f"/c/{play.campaign.id}"), "a paused campaign goes on"
        return
    assert refused.status_code == 409
    assert "This campaign is closed" in refused.text
    assert {member.participant for member in play.members()} == {"", "5f01", "5f02"}
    assert find(play, "5f01").person.link, "places are as they were"
    shown = Player(play.browser(), play).browser.get(address).text
    assert "This campaign is closed" in shown
    assert "Thank you, there are enough." in shown
    assert 'name="participant"' not in shown, "nothing to fill in"
    assert CODE in begun.open().text, "what they did is paid"
    assert CODE not in idle.open().text
    assert "This campaign is closed" in idle.open().text


def test_quotas_by_region_and_language(play: Play) -> None:
    panel = start(play, uses="10", quotas="Kenya: 1\nGhana: 2\nSwahili: 1\nEnglish: 5")
    panel.send("k1")
    assert panel.send("k2", "Kenya", "English").page.status_code == 409  # type: ignore[union-attr]
    assert panel.send("g1", "Ghana", "Swahili").page.status_code == 409  # type: ignore[union-attr]
    assert panel.send("g2", "Ghana", "English").page.status_code == 200  # type: ignore[union-attr]
    assert "enough people like you" in panel.send("f1", "France", "English").page.text  # type: ignore[union-attr]
    assert sorted(member.participant for member in play.members() if member.participant) == ["g2", "k1"]
    for wrong in ("Kenya", ": 20", "Kenya: " + "9" * 5000):
        with pytest.raises(InputError, match="how many people"):
            read_quotas(wrong)


def test_a_place_that_two_visitors_find_late_is_given_back_once(play: Play) -> None:
    start(play, uses="1").send("5f01")
    late = find(play, "5f01")
    for _ in range(2):  # both have read that it is not finished
        end_place(play.database, play.campaign, late, "timed out")
    assert [invitation.uses_left for invitation in open_invitations(play.database, play.campaign)] == [1]


def test_pay_is_by_the_servers_clock_with_a_floor_and_the_reward_taken_off(play: Play) -> None:
    panel = start(play, reward="0.3")
    panel.work(panel.send("5f01"), 2)
    panel.browsers["5f01"].open()
    with play.database.write() as connection:
        connection.execute(update(votes).values(span=200.0, seconds=360_000))
    organiser = play.organiser()
    rows = list(csv.DictReader(io.StringIO(organiser.open("/people/time.csv").text)))
    row = next(row for row in rows if row["participant"] == "5f01")
    # 2 answers × 200 s × 12 an hour
    assert (row["amount"], row["reward of the panel"], row["bonus"]) == ("1.33", "0.30", "1.03")
    assert (row["place"], row["id confirmed"]) == ("finished", "no")
    assert "paid for an hour, median: 2.70" in organiser.open("/people").text


def test_the_address_that_ends_a_place_has_the_code_and_the_id() -> None:
    sona = Panel(service="sona", finish="https://school.sona-systems.com/webstudy_credit.aspx?survey_code={id}")
    assert sona.link("a b") == "https://school.sona-systems.com/webstudy_credit.aspx?survey_code=a%20b"
    assert Panel(service="mturk", code="X").link("w") == "", "workers copy the code"
    assert Panel(finish="javascript:alert(1)").link("w") == ""


@pytest.mark.often("ID,y")
@pytest.mark.parametrize("header", ["WorkerId,AssignmentStatus", "participantId,Status", "survey_code,x", "ID,y"])
def test_lists_of_other_panels_are_read_too(play: Play, header: str) -> None:
    start(play).send("w1")
    assert "the list has: 1." in upload(play, f"{header}\nw1,Approved\n".encode())
    assert "no column of ids" in upload(play, b"name,age\nx,3\n")
