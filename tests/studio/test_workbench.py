"""The organiser's workbench: what to make, three steps, known answers without YAML, previews, replies, pauses."""

from __future__ import annotations

import csv
import io
import re
import shutil
import socket
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from mores.io import addresses
from mores.stats.distributions import share_of
from mores.studio.campaigns import KINDS, all_kinds, open_kind
from mores.studio.figures import PersonFigures, find_unusual
from mores.studio.kind import STEPS
from mores.studio.records import ItemStatus, Role
from mores.studio.serve import find_owner
from mores.studio.setup import KNOWN, read_settings_form, settings_form, show_settings
from mores.studio.store.campaigns import list_campaigns
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import now, read_items
from mores.studio.store.people import invite, join, read_profile
from mores.studio.store.queries import PAGE
from mores.studio.store.tables import items
from tests.studio.play import Play, Player
from tests.studio.test_organise import judge, page, question


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya", "Ghana"], languages=["en"])


def test_one_begins_with_what_one_wants_to_make_not_with_papers(play: Play) -> None:
    text = page(play.organiser(), "/campaigns/new")
    assert "What do you want to make?" in text
    for kind in all_kinds():
        assert f"<strong>{kind.goal}</strong>" in text


@pytest.mark.parametrize("name", KINDS)
def test_every_setting_has_a_step_a_name_and_an_explanation(name: str, play: Play) -> None:
    form = settings_form(open_kind(name))
    for field in form.fields:
        assert 1 <= field.step <= len(STEPS)
        assert field.help.endswith("."), field.name
        assert "YAML" not in field.help
        assert not field.block or field.block in form.blocks
    shown = [field for field in form.fields if not field.block]
    assert len(shown) <= 16, "the rest is folded"
    assert [field.name for field in shown if field.required] == ["title"]
    text = page(play.organiser(), f"/campaigns/new?kind={name}")
    assert text.count('<section class="setup"') == 3


@pytest.mark.parametrize("name", KINDS)
def test_what_the_form_shows_is_what_it_reads(name: str) -> None:
    kind = open_kind(name)
    settings = kind.settings(title="As it was")
    given = {key: value if isinstance(value, list) else [value] for key, value in show_settings(settings).items()}
    assert read_settings_form(kind, {key: value for key, value in given.items() if key not in KNOWN}) == settings


def test_topics_and_numbers_by_language_are_lines(play: Play) -> None:
    kind = open_kind("culturall")
    read = read_settings_form(
        kind, {"title": ["T"], "topics": ["Food: what people eat, and when | tea | rice\nWeddings"]}
    )
    assert [(topic.name, topic.description, topic.seeds) for topic in read.topics] == [  # type: ignore[attr-defined]
        ("Food", "what people eat, and when", ("tea", "rice")),
        ("Weddings", "", ()),
    ]
    other = read_settings_form(open_kind("validation"), {"title": ["T"], "people_by_language": ["Swahili: 5\nam: 4"]})
    assert other.people_by_language == {"sw": 5, "am": 4}  # type: ignore[attr-defined]
    assert play.organiser().open("/settings").status_code == 200


def test_only_roles_of_the_kind_are_offered_and_one_link_gives_several(play: Play) -> None:
    organiser = play.organiser()
    text = page(organiser, "/people")
    offered = set(re.findall(r'name="role" value="(\w+)"', text))
    assert offered == {"author", "verifier", "organiser"}
    assert organiser.send("/invite", role="annotator").status_code == 409
    organiser.open("/people")
    made = organiser.send("/invite", role=["author", "verifier"]).text
    path = re.search(r"(/join/[\w-]+)", made)
    assert path
    assert 'data-copy="link"' in made
    assert "works on this computer only" not in made
    new = Player(play.browser(), play)
    new.open(path[1])
    new.send(path[1], name="Both", nationality="Kenya", home="Kenya", languages="English")
    member = next(member for member in play.members() if member.name == "Both")
    assert member.person.roles == {Role.AUTHOR, Role.VERIFIER}


def test_an_address_that_nobody_else_reaches_is_warned_about(play: Play) -> None:
    organiser = play.organiser()
    organiser.open("/people")
    local = organiser.browser.post(
        f"/c/{play.campaign.id}/invite",
        data=organiser.hidden() | {"role": "author"},
        headers={"host": "127.0.0.1:8000"},
    )
    assert "works on this computer only" in local.text
    assert "127.0.0.1:8000/join/" in local.text


def test_an_invitation_made_on_this_computer_has_its_address_in_the_network(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "lan_address", lambda: "localhost")  # reached like an address in a network
    organiser = play.organiser()
    organiser.open("/people")
    data = organiser.hidden() | {"role": "author"}

    def make(port: int) -> str:
        path, headers = f"/c/{play.campaign.id}/invite", {"host": f"127.0.0.1:{port}"}
        return organiser.browser.post(path, data=data, headers=headers).text

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = make(port)
    assert f"http://localhost:{port}/join/" in text
    assert "nothing is encrypted" in text
    assert "works on this computer only" not in text
    assert f"http://127.0.0.1:{port}/join/" in make(port), "where nothing listens in the network"


def test_a_campaign_is_duplicated_without_people_and_items(play: Play) -> None:
    question(play)
    organiser = play.organiser()
    organiser.open("/settings")
    organiser.send("/duplicate")
    first, second = list_campaigns(play.database)
    assert second.settings == first.settings.model_copy(update={"title": "A campaign (2)"})
    assert list(read_items(play.database, second)) == []
    helper = play.person(Role.ORGANISER, "Second")
    helper.open("/settings")
    assert helper.send("/duplicate").status_code == 404, "who may not make campaigns does not duplicate them"


def test_practice_and_checks_are_made_from_items_without_yaml(play: Play) -> None:
    first, second = question(play), question(play, "In Kenya, which is the second option?")
    organiser = play.organiser()
    assert "Use for practice or attention" in page(organiser, f"/items/{first}/life")
    page(organiser, f"/items/{first}/known")
    empty = organiser.send(f"/items/{first}/known", list="practice")
    assert empty.status_code == 409, "an answer must have something"
    organiser.open(f"/items/{first}/known")
    unknown = organiser.send(f"/items/{first}/known", list="practice", answer=["Z"])
    assert unknown.status_code == 422, "nobody could choose it"
    organiser.open(f"/items/{first}/known")
    organiser.send(f"/items/{first}/known", list="practice", answer=["A"], explanation="Tea.", withdraw="yes")
    organiser.open(f"/items/{second}/known")
    organiser.send(f"/items/{second}/known", list="checks", answer=["B"], withdraw="yes")
    settings = play.again().settings
    assert [(one.answer, one.explanation, one.region) for one in settings.practice] == [
        ({"answer": ["A"]}, "Tea.", "KE")
    ]
    assert [one.answer for one in settings.checks] == [{"answer": ["B"]}]
    assert play.read(first).status is ItemStatus.WITHDRAWN
    checks = [item for item in read_items(play.database, play.campaign, checks=True) if item.check]
    assert [item.status for item in checks] == [ItemStatus.OPEN]
    verifier = play.person(Role.VERIFIER)
    assert "what do guests get first" in verifier.open("/practice").text
    organiser.open("/settings")
    organiser.send("/settings", title="Kept", regions="Kenya")
    assert len(play.again().settings.practice) == 1, "changing other settings keeps them"
    assert "Tea." in page(organiser, "/known")
    organiser.send("/known/remove", list="practice", number="0")
    assert play.again().settings.practice == ()


def test_every_stage_of_every_demo_is_seen_as_others_see_it(demo_database: Path, tmp_path: Path) -> None:
    database = open_database(shutil.copy(demo_database, tmp_path / "demo.db"))
    owner = find_owner(database)
    for campaign in list_campaigns(database):
        play = Play(database, campaign.kind.name)
        play.campaign = campaign
        organiser = play._signed_in(owner)
        for stage in campaign.flow.stages:
            if stage.role not in (None, Role.ORGANISER):
                text = page(organiser, f"/preview?stage={stage.name}")
                assert "Preview" in text
                assert f'action="/c/{campaign.id}/preview/' in text or "No item has been at this stage" in text
                assert f'action="/c/{campaign.id}/items' not in text
        page(organiser, "/known")
        for item in list(read_items(database, campaign))[:3]:
            page(organiser, f"/items/{item.id}/known")
        before = list(read_items(database, campaign))
        assert organiser.send("/preview/items/new/vote", answer="A").status_code == 200
        assert list(read_items(database, campaign)) == before
    database.close()


@pytest.mark.slow
def test_messages_are_answered_and_read_by_who_wrote_them(play: Play) -> None:
    item = question(play)
    verifier = play.person(Role.VERIFIER, "Wanjiku")
    assert verifier.take() == item
    verifier.send(f"/items/{item}/vote", answer=["A"], comment="Is chai tea?")
    organiser = play.organiser()
    text = page(organiser, "/messages")
    person = re.search(r'name="person" value="(\w+)"', text)
    assert person
    organiser.send("/messages/reply", person=person[1], item=item, text="Yes, <b>any</b> tea.")
    assert "Yes, &lt;b&gt;any&lt;/b&gt; tea." in page(organiser, "/messages")
    assert "Yes, &lt;b&gt;any&lt;/b&gt; tea." in verifier.open().text
    assert "any" not in play.person(Role.VERIFIER, "Other").open().text.split("<main")[1].split("</main")[0]
    assert organiser.send("/messages/reply", person=person[1], item="0" * 12, text="x").status_code == 404


def test_why_somebody_gives_an_item_back_is_a_message(play: Play) -> None:
    item = question(play)
    verifiers = [play.person(Role.VERIFIER, name) for name in ("Wanjiku", "Juma")]
    for verifier, reason in zip(verifiers, ("=1+1 is no dish here", ""), strict=True):
        assert verifier.take() == item
        verifier.send(f"/items/{item}/decline", reason=reason)
    organiser = play.organiser()
    text = page(organiser, "/messages")
    assert "=1+1 is no dish here" in text
    assert text.count("<blockquote") == 1, "who gave no reason wrote nothing"
    [row] = csv.DictReader(io.StringIO(organiser.open("/messages.csv").text))
    assert (row["name"], row["comment"], row["declined"]) == ("Wanjiku", "'=1+1 is no dish here", "true")
    [person] = set(re.findall(r'name="person" value="(\w+)"', text))
    page(organiser, "/messages")
    organiser.send("/messages/reply", person=person, item=item, text="Thank you, we change it.")
    assert "Thank you, we change it." in verifiers[0].open().text
    juma = next(member.person.id for member in play.members() if member.name == "Juma")
    assert organiser.send("/messages/reply", person=juma, item=item, text="x").status_code == 404


@pytest.mark.slow
def test_many_people_are_on_pages_and_found_by_name(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id, uses=100)
    for number in range(PAGE + 10):
        join(play.database, token, read_profile(f"Person {number:02}"))
    organiser = play.organiser()
    first, second = page(organiser, "/people"), page(organiser, f"/people?start={PAGE}")
    shown = [re.findall(r">(Person \d\d)</a>", text) for text in (first, second)]
    assert [len(names) for names in shown] == [PAGE - 1, 11], "the organiser is the first"
    assert sorted(shown[0] + shown[1]) == [f"Person {number:02}" for number in range(PAGE + 10)]
    assert "Next page" in first
    assert "Next page" not in second
    assert re.findall(r">(Person \d\d)</a>", page(organiser, "/people?q=person+4")) == [
        f"Person {number}" for number in range(40, 50)
    ]
    assert not re.findall(r">(Person \d\d)</a>", page(organiser, "/people?unusual=1"))


@pytest.mark.slow
def test_the_overview_has_a_target_and_a_forecast(play: Play) -> None:
    organiser = play.organiser()
    organiser.open("/settings")
    organiser.send("/settings", title="T", regions="Kenya", target="3", verifiers="2", agreeing="2")
    play.campaign = play.again()
    judge(play, question(play), ["A", "A"])
    with play.database.write() as connection:
        connection.execute(update(items).values(created=now() - timedelta(days=4)))
    text = page(organiser, "/overview")
    assert "1 of 3" in text
    assert "the rest takes about 1 week" in text, "one in four days: two more take eight"


def test_an_item_is_assigned_and_taken_back(play: Play) -> None:
    item = question(play)
    for name, region in (("Wanjiku", "Kenya"), ("Kofi", "Ghana")):
        play.person(Role.VERIFIER, name, region)
    people = {member.name: member.person.id for member in play.members()}
    organiser = play.organiser()
    text = page(organiser, f"/items/{item}/life")
    assert f'<option value="{people["Wanjiku"]}">' in text
    assert people["Kofi"] not in text, "the rules do not let him"
    assert organiser.send(f"/items/{item}/assign", person=people["Kofi"]).status_code == 409
    for holders in ([people["Wanjiku"]], []):
        organiser.open(f"/items/{item}/life")
        organiser.send(f"/items/{item}/assign", person=people["Wanjiku"])
        assert [hold.person for hold in play.read(item).holds] == holders


def test_items_are_searched(play: Play) -> None:
    question(play)
    question(play, "In Ghana, 100% of whom speak first?", "GH")
    organiser = play.organiser()
    assert "what do guests" in page(organiser, "/items?q=GUESTS")
    assert "In Ghana" not in page(organiser, "/items?q=guests")
    assert "what do guests" not in page(organiser, "/items?q=100%25"), "a sign of the database is only a sign"


@pytest.mark.slow
def test_a_pause_has_a_notice_and_keeps_what_tells_people_apart(play: Play) -> None:
    question(play)
    organiser, verifier = play.organiser(), play.person(Role.VERIFIER)
    organiser.open("/settings")
    organiser.send("/open", open="pause", notice="Back on Monday <3")
    text = verifier.open().text
    assert "This campaign is paused" in text
    assert "Back on Monday &lt;3" in text
    assert verifier.take() is None
    assert "paused the campaign" in page(organiser, "/audit")
    organiser.open("/settings")
    organiser.send("/open", open="yes")
    assert "Back on Monday" not in verifier.open().text
    assert verifier.take()
    organiser.open("/settings")
    organiser.send("/open", open="", notice="Thank you all")
    assert "Thank you all" in verifier.open().text


def test_somebody_else_may_make_campaigns_and_the_last_one_may_always(play: Play) -> None:
    helper = play.person(Role.ORGANISER, "Second")
    assert helper.open("/campaigns/new").status_code == 404
    second = next(member for member in play.members() if member.name == "Second").person.id
    organiser = play.organiser()
    organiser.open(f"/people/{second}")
    assert helper.send(f"/people/{second}/maker", makes="yes").status_code == 404, "nobody appoints themselves"
    organiser.send(f"/people/{second}/maker", makes="yes")
    assert helper.open("/campaigns/new").status_code == 200
    helper.open(f"/people/{play.organiser_id}")
    helper.send(f"/people/{play.organiser_id}/maker", makes="")
    assert organiser.open("/campaigns/new").status_code == 404
    helper.open(f"/people/{second}")
    assert helper.send(f"/people/{second}/maker", makes="").status_code == 409


def test_slow_hasty_deviant_and_inattentive_people_are_pointed_out() -> None:
    usual = {f"p{number}": PersonFigures(9, share_of(8, 9), None, median_seconds=30) for number in range(4)}
    odd = {
        "slow": PersonFigures(9, share_of(8, 9), None, median_seconds=100),
        "hasty": PersonFigures(9, share_of(8, 9), None, median_seconds=5),
        "deviant": PersonFigures(40, share_of(10, 40), None, median_seconds=30),
        "asleep": PersonFigures(9, share_of(8, 9), share_of(0, 3), median_seconds=30),
        "new": PersonFigures(1, share_of(0, 1), None, median_seconds=500),
    }
    assert find_unusual(usual | odd) == {
        "slow": ["slow"],
        "hasty": ["very fast"],
        "deviant": ["unlike the others"],
        "asleep": ["fails attention checks"],
    }


def test_names_are_offered_in_the_language_of_the_page(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    text = Player(play.browser(), play).browser.get(f"/join/{token}?lang=es").text
    address = re.search(r'name="home" list="places" data-names="([^"]+)"', text)
    assert address
    names = play.browser().get(address[1]).json()
    assert {"Kenia", "El Cairo"} <= set(names)
    assert play.browser().get("/names/xx/anything").status_code == 422
