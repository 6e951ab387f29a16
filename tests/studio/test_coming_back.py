"""The same person comes back, sends twice, leaves; look-alikes are shown; messages arrive; what comes in is bounded."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from sqlalchemy import func, select, text

from mores.errors import InputError
from mores.studio.campaigns import open_kind
from mores.studio.campaigns.marking.results import export
from mores.studio.data.imports import BATCH, read_items_files
from mores.studio.records import ItemStatus, Role
from mores.studio.store.campaigns import make_campaign, read_settings, set_open
from mores.studio.store.database import Database, open_database
from mores.studio.store.identity import MOST_ALIKE, note_signals
from mores.studio.store.items import Campaign
from mores.studio.store.people import invite, join, read_profile, sign_in, signing_key
from mores.studio.store.tables import events, items, jobs, members, metadata
from mores.studio.web.security import token_for
from mores.studio.web.visit import COOKIE
from tests.studio.play import Play, Player

QUESTION = {"question": "In Kenya?", "options": ["Tea", "Rice", "A song", "Nothing"], "correct": "A"}


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya"], verifiers=1, agreeing=1)


def waiting_item(play: Play) -> str:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", scene="Tea first.", **QUESTION, then="submit")
    author.send(f"/items/{author.item}/save", **QUESTION, then="submit")
    return author.item


def joined(play: Play, name: str, token: str) -> Player:
    player = Player(play.browser(), play)
    player.open(f"/join/{token}")
    player.send(f"/join/{token}", name=name, nationality="Kenya", home="Nairobi", languages="English")
    player.open("/welcome")
    player.send("/welcome", agree="yes")
    return player


def test_the_deciding_vote_sent_twice_gets_the_same_answer(play: Play) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    assert verifier.take() == item
    form = verifier.hidden() | {"answer": ["A"], "comment": "=HYPERLINK(1) is odd"}
    path = f"/c/{play.campaign.id}/items/{item}/vote"
    first, second = (verifier.browser.post(path, data=form) for _ in range(2))
    assert play.read(item).status is ItemStatus.ACCEPTED
    assert (second.status_code, second.url, second.text) == (200, first.url, first.text)
    asked = verifier.browser.post(path, data=form, headers={"accept": "application/json"})
    assert asked.json()["go"].endswith(f"?done={item}")
    assert len(play.read(item).votes) == 1
    other = play.person(Role.VERIFIER, "Wanjiku")
    other.open("")
    assert other.browser.post(path, data=form | {"csrf": other.hidden()["csrf"]}).status_code == 404


def test_sending_an_item_twice_is_the_same_as_once(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", scene="Tea first.", **QUESTION, then="submit")
    item = author.item
    author.open(f"/items/{item}")
    form = author.hidden() | QUESTION | {"then": "submit"}
    answers = [author.browser.post(f"/c/{play.campaign.id}/items/{item}/save", data=form) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert play.read(item).stage == "verify"


@pytest.mark.slow
def test_what_people_tell_the_organiser_is_shown_and_can_be_had_as_a_table(play: Play) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    verifier.take()
    verifier.send(f"/items/{item}/vote", answer=["A"], comment="=1+1 <b>Option B is also right</b>")
    organiser = play.organiser()
    page = organiser.open("/messages").text
    assert "&lt;b&gt;Option B is also right" in page
    assert "Juma" in page
    [row] = csv.DictReader(io.StringIO(organiser.open("/messages.csv").text))
    assert (row["name"], row["item"], row["stage"]) == ("Juma", item, "verify")
    assert row["comment"].startswith("'="), "no spreadsheet runs it"


def test_hours_are_the_servers_whatever_a_browser_says(play: Play) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    verifier.take()
    verifier.send(f"/items/{item}/vote", answer=["A"], seconds="360000", offline="360000")
    [vote] = play.read(item).votes
    assert vote.seconds < 60
    assert vote.offline < 60
    rows = list(csv.DictReader(io.StringIO(play.organiser().open("/people/time.csv").text)))
    assert [row["hours"] for row in rows if row["name"] == "Juma"] == ["0.00"]


def test_a_personal_link_and_a_printed_code_bring_the_same_person_back(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id)
    first = joined(play, "Juma", token)
    page = first.send("/me/code").text
    code = page.partition('<strong class="code" translate="no">')[2].partition("<")[0]
    assert len(code) == 14
    before = len(play.members())
    back = Player(play.browser(), play)
    back.open(f"/join/{token}")
    assert back.send(f"/join/{token}", name=" juma ").status_code == 200
    assert "Juma" in back.open("/me").text
    printed = Player(play.browser(), play)
    printed.open("/login")
    assert printed.send("/login", code="AAAA-BBBB-CCCC").status_code == 422
    printed.open("/login")
    assert "Your campaigns" in printed.send("/login", code=code.replace("-", " ").lower()).text
    assert len(play.members()) == before
    first.open("/me")
    first.send("/me/code")
    printed.open("/me")
    printed.send("/logout")
    printed.open("/login")
    assert printed.send("/login", code=code).status_code == 422, "a new code ends the old one"


@pytest.mark.slow
def test_a_link_for_several_gives_everybody_a_way_back_of_their_own(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=2)
    people = [Player(play.browser(), play) for _ in range(2)]
    own = []
    for player, name in zip(people, ("Juma", "Wanjiku"), strict=True):
        assert "Come back with your code" in player.open(f"/join/{token}").text
        page = player.send(f"/join/{token}", name=name, nationality="Kenya", home="Nairobi").text
        own += re.findall(r'id="own" readonly value="http://studio.test([^"]+)"', page)
        assert player.open("/welcome").status_code == 200
    for address, name in zip(own, ("Juma", "Wanjiku"), strict=True):
        back = Player(play.browser(), play)
        back.page = back.browser.get(address)
        code = re.findall(r'name="code"[^>]* value="([^"]+)"', back.page.text)
        back.send("/login", code=code[0])
        assert f"<bdi>{name}</bdi>" in back.open("/me").text
    assert len(play.members()) == 3


@pytest.mark.often("2")
@pytest.mark.parametrize("uses", [1, 2])
def test_joining_sent_twice_is_joining_once(play: Play, uses: int) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=uses)
    other = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=uses)
    player = Player(play.browser(), play)
    for link, name, count in ((token, "Juma", 2), (token, "Juma", 2), (other, "Juma", 3)):
        player.browser.cookies.clear()  # the reply never came: the browser has what it had
        player.browser.cookies.set(COOKIE, "before joining", domain="studio.test")
        player.open(f"/join/{link}")
        about = {"csrf": token_for(signing_key(play.database), "before joining"), "name": name, "home": "Nairobi"}
        answer = player.browser.post(f"/join/{link}", data=about)
        assert answer.status_code == 200
        assert len(play.members()) == count
        assert f"<bdi>{name}</bdi>" in player.open("/me").text
    stranger = Player(play.browser(), play)
    assert stranger.open(f"/join/{token}").status_code == 200
    assert stranger.send(f"/join/{token}", name="Juma", home="Nairobi").status_code == 200
    assert len(play.members()) == 2 + uses, "the same name is not the same person, but by a link of one's own"


@pytest.mark.slow
def test_in_a_crowd_a_common_network_says_nothing(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=100)
    for number in range(MOST_ALIKE + 5):
        person = join(play.database, token, read_profile("Juma" if number in (0, MOST_ALIKE + 4) else f"P{number}"))
        note_signals(play.database, play.campaign.id, person, {"browser": "same", "name": play.members()[-1].name})
    last = play.members()[-1]
    assert len(last.alike) == MOST_ALIKE
    [named] = [about["by"] for about in last.alike.values() if "name" in about["by"]]
    assert set(named) == {"name", "browser", "time"}, "the first of all is among them"


@pytest.mark.slow
def test_joins_that_look_alike_are_shown_until_the_organiser_settles_them(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=5)
    for name in ("Juma", "JUMA", "Wanjiku"):
        joined(play, name, token)
    kept = play.database.fetch(select(members.c.signals))
    assert not any(name in json.dumps(row.signals).casefold() for row in kept for name in ("juma", "testclient"))
    organiser = play.organiser()
    page = organiser.open("/people").text
    assert page.count("the same browser and network") == 3
    assert page.count("the same name") == 1
    second = next(member for member in play.members() if member.name == "JUMA")
    [first] = second.alike
    organiser.send(f"/people/{second.person.id}/alike", other=first, settled="same")
    assert 'class="tag">one person' in organiser.open("/people").text
    assert organiser.send(f"/people/{second.person.id}/alike", other="nobody", settled="same").status_code == 409
    set_open(play.database, play.campaign, False)
    assert {json.dumps(row.signals) for row in play.database.fetch(select(members.c.signals))} == {"{}"}
    assert 'class="tag">one person' in organiser.open("/people").text, "what was found out stays"


def test_who_leaves_is_named_nowhere(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, note="for Wanjiku Mwangi, by phone")
    player = joined(play, "Wanjiku Mwangi", token)
    other = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, note="wanjiku mwangi's sister")
    item = waiting_item(play)
    player.take()
    player.send(f"/items/{item}/vote", answer=["A"])
    assert "Wanjiku Mwangi" in player.open("/me/data.json").text
    player.open("/me")
    player.send("/me/delete", sure="yes")
    with play.database.read() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(text(f"SELECT * FROM {table.name}")).all()
            assert "wanjiku" not in str(rows).casefold(), table.name
    back = Player(play.browser(), play)
    assert back.open(f"/join/{token}").status_code == 409
    assert back.open(f"/join/{other}").status_code == 200
    assert len(play.read(item).votes) == 1


def test_ones_own_data_is_all_of_it_and_nobody_elses(play: Play) -> None:
    item = waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    verifier.take()
    verifier.send(f"/items/{item}/vote", answer=["A"])
    data = json.loads(verifier.open("/me/data.json").text)
    assert [action["kind"] for action in data["actions"]] == ["assigned", "voted"]
    assert data["actions"][1]["standing"]["regions"] == ["KE"]
    assert data["profile"][0]["name"] == "Juma"
    assert "Tea first" not in json.dumps(data), "what others wrote is not theirs"
    with play.database.read() as connection:
        assert connection.execute(select(events.c.id)).all()


def test_pages_say_how_much_there_is_and_that_it_is_over(play: Play) -> None:
    waiting_item(play)
    waiting_item(play)
    verifier = play.person(Role.VERIFIER, "Juma")
    verifier.take()
    assert verifier.page is not None
    assert '<small class="nth">Item 1 of 2</small>' in verifier.page.text
    verifier.send(f"/items/{verifier.item}/vote", answer=["A"])
    assert "<strong>1 of 2</strong>" in verifier.page.text
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id)
    set_open(play.database, play.campaign, False, paused=True, notice="Until May.")
    page = Player(play.browser(), play).open(f"/join/{token}").text
    assert "This campaign is paused" in page
    assert 'name="nationality"' in page
    set_open(play.database, play.campaign, False, notice="The results are here.")
    page = verifier.open("").text
    assert "This campaign is closed. Thank you" in page
    assert "Next item" not in page
    page = Player(play.browser(), play).open(f"/join/{token}").text
    assert "This campaign is closed" in page
    assert "The results are here." in page
    assert 'name="nationality"' not in page, "nobody tells about themselves in vain"
    late, before = Player(play.browser(), play), len(play.members())
    late.open(f"/join/{token}")
    answer = late.send(f"/join/{token}", name="Late", nationality="Kenya", home="Kenya", languages="English")
    assert answer.status_code == 409
    assert "This campaign is closed: nobody can work in it now." in answer.text
    here = play.person(Role.AUTHOR, "Asha")
    here.open("")
    assert here.send(f"/join/{token}").status_code == 409, "nor as somebody who is signed in"
    assert len(play.members()) == before + 1
    set_open(play.database, play.campaign, True)
    late.open(f"/join/{token}")
    late.send(f"/join/{token}", name="Late", nationality="Kenya", home="Kenya", languages="English")
    assert len(play.members()) == before + 2


# ---- what comes in is bounded ------------------------------------------------------------------------------------


def campaign_of(database: Database, kind: str, **settings: object) -> Campaign:
    chosen = open_kind(kind)
    return make_campaign(database, chosen, read_settings(chosen, {"title": "T", "languages": ["en"]} | settings))


WIDE = b"c," * (10**6 - 1) + b"c"
DEEP = b'{"question": "q", "answers": {"m": "t"}, "type": ' + b"[" * 500 + b"]" * 500 + b"}"


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("wide.csv", WIDE, "wide.csv:1: 1,000,000 columns; a table has at most 16,384"),
        ("deep.jsonl", DEEP, "deep.jsonl:1: It is nested too deep"),
        ("deep.json", b'[{"data": ' + b"[" * 500 + b"]" * 500 + b"}]", "nested too deep"),
        ("large.json", b'[{"data": {"question": 1e999}, "annotations": []}]', "1e999 is not a number"),
        ("large.jsonl", b'{"question": 1e999}', "number is infinity"),
    ],
    ids=["columns", "nesting", "nesting of Label Studio", "number of Label Studio", "number"],
)
def test_an_input_that_is_too_large_is_refused_with_its_place(
    database: Database, name: str, data: bytes, problem: str
) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        read_items_files(campaign_of(database, "rating"), [(name, data)])


def test_a_text_keeps_its_line_ends_and_marks_of_it_their_places(database: Database) -> None:
    campaign = campaign_of(database, "marking")
    written = "One.\r\nTwo is wrong.\r\nThree."
    start = written.index("Three")
    error = {
        "start": start,
        "end": start + 5,
        "quote": "Three",
        "severity": "major",
        "type": "x",
        "explanation": "e",
        "side": "text",
    }
    row = {"sample_id": "s", "text": written, "judge": "gemma", "report": {"errors": [error]}}
    [item] = read_items_files(campaign, [("judged.jsonl", json.dumps(row).encode())])
    [mark] = item.content["marks"]
    assert item.content["text"] == written
    assert written[mark["start"] : mark["end"]] == "Three"
    play = Play(database, "marking", languages=["en"], markers=1, validated=False)
    organiser = play.organiser()
    organiser.open("/data")
    files = {"file": ("judged.jsonl", json.dumps(row).encode())}
    organiser.browser.post(f"/c/{play.campaign.id}/import", data={"csrf": organiser.hidden()["csrf"]}, files=files)
    marker = play.person(Role.ANNOTATOR, "Juma")
    name = marker.take()
    marks = [mark | {"severity": "major", "type": "x", "explanation": "", "correction": ""}]
    done = marker.send(f"/items/{name}/vote", marks=json.dumps(marks))
    assert done.status_code == 200, done.text
    exported = {file.path: file.read() for file in export(play.campaign.settings, play.items())}
    sample = json.loads(exported["texts.jsonl"])
    [judgement] = map(json.loads, exported["judgements.jsonl"].splitlines())
    [found] = judgement["report"]["errors"]
    assert sample["text"] == written
    assert written[found["start"] : found["end"]] == found["quote"] == "Three"


ROWS = 4000


@pytest.mark.slow
def test_the_server_ends_while_it_reads_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    database = open_database(path)
    play = Play(database, "rating", languages=["en"])
    cookie = sign_in(database, play.organiser_id)
    token = token_for(signing_key(database), cookie)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mores", "studio", "--database", str(path), "--no-demo", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    rows = "".join(json.dumps({"question": f"{n}?", "answers": {"m": "t"}}) + "\n" for n in range(ROWS))

    def upload() -> None:
        with suppress(httpx2.HTTPError):
            address = f"http://127.0.0.1:{port}/c/{play.campaign.id}/import"
            files = {"file": ("rows.jsonl", rows.encode())}
            httpx2.post(address, data={"csrf": token}, files=files, cookies={COOKIE: cookie}, timeout=120)

    def written() -> int:
        return int(database.fetch(select(func.count()).select_from(items))[0][0])

    try:
        _wait(lambda: _answers(port))
        Thread(target=upload, daemon=True).start()
        _wait(lambda: written() > 0)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()
    assert 0 < written() < ROWS
    assert written() % BATCH == 0, "what was written is whole"
    assert [row.status for row in database.fetch(select(jobs.c.status))] == ["waiting"], "it goes on at the next start"
    database.close()


def _answers(port: int) -> bool:
    with suppress(httpx2.HTTPError):
        return httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200
    return False


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
