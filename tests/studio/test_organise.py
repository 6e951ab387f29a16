"""The organiser's pages: making and changing a campaign, watching it, deciding, people, exports, imports."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from babel import Locale
from httpx2 import Response
from sqlalchemy import select

from mores.culture import language, region
from mores.errors import InputError
from mores.studio.campaigns import open_kind
from mores.studio.data.exports import FORMATS
from mores.studio.records import ItemStatus, Role
from mores.studio.store.campaigns import list_campaigns, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import perform, read_items, rebuild
from mores.studio.store.tables import jobs
from mores.studio.web.pages import list_locales
from mores.studio.web.routes import campaigns
from mores.studio.workflow import Create
from tests.studio.play import Play, Player

OPTIONS = ["Tea", "Rice", "A song", "Nothing"]


def question(play: Play, text: str = "In Kenya, what do guests get first?", region: str = "KE") -> str:
    """An item that waits for verifiers."""
    organiser = play.organiser().stage.organiser_id
    content = {"scene": "Guests come.", "question": text, "options": OPTIONS, "correct": ["A"]}
    person = next(m.person for m in play.members() if m.person.id == organiser)
    action = Create(f"{abs(hash(text)):012x}"[:12], content, region, "en", stage="verify")
    return perform(play.database, play.campaign, person, action).item.id


def judge(play: Play, item: str, answers: list[str], names: str = "Verifier") -> list[Player]:
    """People who take an item and answer it."""
    people = []
    for number, answer in enumerate(answers):
        person = play.person(Role.VERIFIER, f"{names} {number}")
        assert person.take() == item
        person.send(f"/items/{item}/vote", answer=list(answer), seconds=str(10 + number))
        people.append(person)
    return people


def page(player: Player, path: str, code: int = 200) -> str:
    """A page's text, which has to come with this status."""
    response = player.open(path)
    assert response.status_code == code, response.text
    return response.text


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya", "Ghana"], languages=["en"])


def test_an_instance_organiser_makes_a_campaign_from_a_form_with_errors_by_field(play: Play) -> None:
    organiser = play.organiser()
    assert "CulturalTeaming" in page(organiser, "/campaigns/new")
    page(organiser, "/campaigns/new?kind=culturalteaming")
    wrong = organiser.send("/campaigns", kind="culturalteaming", title="", regions="Kenya, Atlantis", verifiers="x")
    assert wrong.status_code == 422
    for name in ("title", "regions", "verifiers"):
        assert f'id="{name}-problem"' in wrong.text
    assert "Kenya, Atlantis" in wrong.text, "what was sent is still there"
    made = organiser.send("/campaigns", kind="culturalteaming", title="Tea", regions="Kenya, Ghana", verifiers="3")
    assert "agreeing is 4, more than the 3 verifiers" in made.text, "what does not fit together is said too"
    given = {"title": "Tea", "regions": "Kenya, Ghana", "verifiers": "3", "agreeing": "2"}
    made = organiser.send("/campaigns", kind="culturalteaming", **given)
    assert made.status_code == 200
    campaign = list_campaigns(play.database)[-1]
    assert (campaign.settings.regions, campaign.settings.verifiers) == (("KE", "GH"), 3)
    assert campaign.settings.licence == "CC-BY-4.0", "what is empty has its default"


@pytest.mark.slow
def test_regions_and_languages_are_named_in_the_language_of_the_page(play: Play) -> None:
    organiser = play.organiser()
    page(organiser, "/campaigns/new?kind=marking")
    organiser.browser.post("/language", data=organiser.hidden() | {"locale": "es", "back": "/"})
    form = page(organiser, "/campaigns/new?kind=marking")
    assert 'data-names="/names/es/regions"' in form
    made = organiser.send("/campaigns", kind="marking", title="Bodas", regions="Kenia، Xanadú, JP", languages="suajili")
    assert made.status_code == 422
    assert re.search(r'id="regions-problem">[^<]*Xanadú', made.text), "what no list has is named"
    given = {"title": "Bodas", "regions": "Kenia، 北京\nJP", "languages": "suajili, ga"}
    assert organiser.send("/campaigns", kind="marking", **given).status_code == 200
    campaign = list_campaigns(play.database)[-1]
    assert campaign.settings.regions == ("KE", "CN", "JP")
    assert campaign.settings.languages == ("sw", "ga")
    settings = organiser.browser.get(f"/c/{campaign.id}/settings").text
    assert 'value="Kenia, China, Japón"' in settings
    assert 'value="suajili, irlandés"' in settings


def known(codes: Iterable[str], read: Callable[[str], str]) -> list[str]:
    """Return those that are codes of regions or languages."""
    found = []
    for code in codes:
        with suppress(InputError):
            found.append(read(code.replace("_", "-")))
    return list(dict.fromkeys(found))


@pytest.mark.often("ar", "es", "hi", "sw", "zh")
@pytest.mark.parametrize("locale", list_locales())
def test_every_region_and_language_that_a_form_names_is_read_again(locale: str) -> None:
    kind, visit = open_kind("marking"), SimpleNamespace(locale=locale)
    names = Locale.parse(locale)
    chosen = {"regions": known(names.territories, region), "languages": known(names.languages, language)}
    assert min(map(len, chosen.values())) > 200
    settings = read_settings(kind, {"title": "All", **chosen})
    shown = campaigns.show_named(visit, settings)  # type: ignore[arg-type]
    form = SimpleNamespace(values={name: [str(value)] for name, value in shown.items() if name in (*chosen, "title")})
    read = campaigns.read_named(visit, kind, form)  # type: ignore[arg-type]
    assert (read.regions, read.languages) == (settings.regions, settings.languages)


def test_a_campaign_is_made_again_from_its_yaml(play: Play) -> None:
    organiser = play.organiser()
    text = page(organiser, "/settings.yaml")
    page(organiser, "/campaigns/new")
    bad = organiser.send("/campaigns", yaml="kind: culturalteaming\ntitle: x\nverifiers: 99")
    assert bad.status_code == 422
    assert "verifiers: It must be at most 25." in bad.text
    assert organiser.send("/campaigns", yaml=text).status_code == 200
    first, second = list_campaigns(play.database)
    assert first.settings == second.settings
    assert first.id != second.id


def test_nobody_else_makes_campaigns(play: Play) -> None:
    author = play.person(Role.AUTHOR)
    page(author, "/campaigns/new", 404)
    author.open("/me")
    assert author.send("/campaigns", kind="culturalteaming", title="Mine").status_code == 404
    assert len(list_campaigns(play.database)) == 1


def test_settings_are_changed_and_the_campaign_is_closed(play: Play) -> None:
    organiser = play.organiser()
    text = page(organiser, "/settings")
    values = dict(re.findall(r'name="(\w+)"[^>]*\n?[^>]*value="([^"]*)"', text))
    assert values["verifiers"] == "5"
    organiser.send("/settings", title="Another title", regions="Kenya", verifiers="7")
    again = play.again()
    assert (again.title, again.settings.verifiers) == ("Another title", 7)
    organiser.send("/open", open="")
    assert not play.again().flow.open
    organiser.open("/settings")
    organiser.send("/open", open="yes")
    assert play.again().flow.open
    log = page(organiser, "/audit")
    assert "changed settings" in log
    assert "closed the campaign" in log


@pytest.mark.slow
def test_the_overview_says_what_is_stuck_and_how_far_people_agree(play: Play) -> None:
    item = question(play)
    question(play, "In Ghana, who speaks first?", "GH")
    organiser = play.organiser()
    empty = page(organiser, "/overview")
    assert empty.count("Items that wait at") == 2, "items of different regions are told apart"
    assert empty.count("”: 1.") == 2
    assert empty.count("people who match:") == 2
    judge(play, item, ["A", "A", "A", "B", "A"])
    text = page(organiser, "/overview")
    assert "Ghana" in text
    assert text.count("match:") == 1
    assert "60% (" in text, "6 of 10 pairs agree"
    assert play.read(item).status is ItemStatus.ACCEPTED


def test_disagreements_are_decided_with_an_answer_one_after_the_other(play: Play) -> None:
    first, second = question(play), question(play, "In Kenya, who eats first?")
    people = [play.person(Role.VERIFIER, f"V{number}") for number in range(5)]
    for person, answer in zip(people, "AABBA", strict=True):
        for _ in range(2):
            item = person.take()
            assert item
            person.send(f"/items/{item}/vote", answer=[answer])
    assert play.read(first).status is ItemStatus.REJECTED
    organiser = play.organiser()
    text = page(organiser, "/disagreements")
    assert "1 of 2" in text
    assert all(f"V{number}" in text for number in range(5))
    shown = first if f"/items/{first}/adjudicate" in text else second
    empty = organiser.send(f"/items/{shown}/adjudicate", outcome="next", queue="1", note="Tea it is.")
    assert empty.status_code == 422, "accepting needs the answer"
    organiser.send(f"/items/{shown}/adjudicate", outcome="next", queue="1", note="Tea it is.", answer=["A"])
    decided = play.read(shown)
    assert decided.status is ItemStatus.ACCEPTED
    assert decided.results["verify"]["answer"] == ["A"]
    assert organiser.page is not None
    other = ({first, second} - {shown}).pop()
    assert other in organiser.page.text, "the next one follows"
    organiser.send(f"/items/{other}/adjudicate", outcome="rejected", queue="1")
    assert "you have decided" in page(organiser, "/disagreements")


@pytest.mark.slow
def test_an_items_life_is_told_in_words_with_changes_marked(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", scene="Guests get tea first.", region="KE", then="save")
    item = author.item
    written = {"question": "In Kenya, what comes first?", "options": OPTIONS, "correct": "A"}
    author.send(f"/items/{item}/save", scene="Guests get warm tea first <b>.", region="KE", then="submit", **written)
    assert author.page is not None
    assert author.page.status_code == 200, author.page.text
    organiser = play.organiser()
    text = page(organiser, f"/items/{item}/life")
    assert "Amina" in text
    assert re.search(r"<ins>\s*warm\s*</ins>", text)
    assert "<b>" not in text
    assert "Sent on" in text
    page(organiser, "/items/none/life", 404)


@pytest.mark.slow
def test_people_are_watched_changed_and_removed(play: Play) -> None:
    item = question(play)
    judge(play, item, ["A", "A", "A", "A", "B"])
    organiser = play.organiser()
    text = page(organiser, "/people")
    assert "Verifier 4" in text
    person = next(member for member in play.members() if member.name == "Verifier 4").person.id
    one = page(organiser, f"/people/{person}")
    assert "0/1" in one, "it agrees with nobody"
    organiser.send(f"/people/{person}/pay", note="=2+2")
    time = organiser.open("/people/time.csv").text
    rows = list(csv.DictReader(io.StringIO(time)))
    mine = next(row for row in rows if row["name"] == "Verifier 4")
    assert (mine["answers"], mine["pay note"]) == ("1", "'=2+2")
    organiser.open(f"/people/{person}")
    organiser.send(f"/people/{person}/roles", roles=["author", "annotator"])
    member = next(member for member in play.members() if member.person.id == person)
    assert member.person.roles == {Role.AUTHOR, Role.ANNOTATOR}
    link = organiser.send(f"/people/{person}/link").text
    assert "/join/" in link
    organiser.send(f"/people/{person}/remove")
    assert person not in {member.person.id for member in play.members()}
    assert len(play.read(item).votes) == 5, "the work stays"


def test_a_campaign_keeps_its_organiser_and_links_are_not_for_others_campaigns(play: Play) -> None:
    organiser = play.organiser()
    organiser.open(f"/people/{play.organiser_id}")
    assert organiser.send(f"/people/{play.organiser_id}/remove").status_code == 409
    organiser.open(f"/people/{play.organiser_id}")
    assert organiser.send(f"/people/{play.organiser_id}/roles", roles=["author"]).status_code == 409
    helper = play.person(Role.ORGANISER, "Second")
    helper.open("/people")
    refused = helper.send(f"/people/{play.organiser_id}/link")
    assert refused.status_code == 409, "a campaign's organiser cannot become the studio's"


def export(organiser: Player, form: str) -> Response:
    organiser.open("/data")
    response = organiser.send("/export", format=form)
    assert response.status_code == 200, response.text
    return response


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=[pytest.mark.slow] * (form not in ("csv", "folder", "parquet"))) for form in FORMATS],
)
def test_exports_are_the_same_again_and_name_nobody(play: Play, form: str) -> None:
    item = question(play)
    judge(play, item, ["A", "A", "A", "A", "B"], "Wanjiku")
    organiser = play.organiser()
    first = export(organiser, form).content
    assert export(organiser, form).content == first, "the same events give the same bytes"
    rebuild(play.database, [play.again()])
    assert export(organiser, form).content == first
    links = set(re.findall(r"/exports/([0-9a-f]+)", page(organiser, "/data")))
    assert len(links) == 1, "what is the same is kept once"
    question(play, "In Kenya, another?")
    assert export(organiser, form).content != first
    kept = organiser.open(f"/exports/{links.pop()}")
    assert kept.content == first, "an old export is had again, byte for byte"
    archive = ZipFile(BytesIO(first))
    members = {member.person.id: member.name for member in play.members()}
    for name in archive.namelist():
        data = archive.read(name)
        assert not any(one.encode() in data for pair in members.items() for one in pair if one), name
    card = archive.read("README.md").decode()
    for part in ("## Data card", "## Agreement", "Kenya", "`task:culturalteaming|"):
        assert part in card
    assert "exported" in page(organiser, "/audit")


@pytest.mark.slow
def test_tables_hold_every_item_and_vote(play: Play) -> None:
    item = question(play)
    judge(play, item, ["A", "A", "A", "A", "B"])
    archive = ZipFile(BytesIO(export(play.organiser(), "csv").content))
    items = list(csv.DictReader(io.StringIO(archive.read("items.csv").decode())))
    votes = list(csv.DictReader(io.StringIO(archive.read("votes.csv").decode())))
    assert [row["id"] for row in items] == [item]
    assert json.loads(items[0]["content.options"]) == OPTIONS
    assert [row["label"] for row in votes] == ["A", "A", "A", "A", "B"]
    assert len({row["person"] for row in votes}) == 5


@pytest.mark.often("pearmut")
@pytest.mark.parametrize("form", ["csv", "jsonl", "label-studio", "pearmut"])
def test_what_was_exported_is_imported_again(play: Play, database: Database, form: str) -> None:
    item = question(play, "In Kenya, “what” do guests 💩 get?")
    judge(play, item, ["A", "A", "A", "A", "B"])
    archive = ZipFile(BytesIO(export(play.organiser(), form).content))
    name = {"label-studio": "tasks.json", "pearmut": "annotations.jsonl"}.get(form, f"items.{form}")
    other = Play(database, "culturalteaming", regions=["Kenya", "Ghana"], languages=["en"])
    organiser = other.organiser()
    organiser.open("/data")
    for known in (0, 1):
        files = {"file": (name, archive.read(name))}
        data = {"csrf": organiser.hidden()["csrf"], "stage": "verify"}
        response = organiser.browser.post(f"/c/{other.campaign.id}/import", data=data, files=files)
        assert response.status_code == 200, response.text
        assert ("were here already" in response.text) == bool(known), "the same file twice is once"
    [copy] = other.items()
    before = play.read(item)
    assert (copy.content, copy.region, copy.language) == (before.content, before.region, before.language)
    if form in ("label-studio", "pearmut"):
        assert [vote.answer for vote in copy.votes] == [vote.answer for vote in before.votes]
        assert [vote.seconds for vote in copy.votes] == pytest.approx([vote.seconds for vote in before.votes])
        assert (copy.status, copy.results) == (before.status, before.results)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "question,region\nIs it?,Kenya\n", "a.csv:2: options: Give at least 4.; correct: Please choose"),
        (
            "a.csv",
            "qestion,region\nIs it?,Kenya\n",
            "a.csv:2: unknown field &#39;qestion&#39;; did you mean &#39;question",
        ),
        ("a.csv", "question,region\nIs it?,Atlantis\n", "a.csv:2: "),
        ("a.csv", "question,region\nIs it?,France\n", "is not one of the campaign"),
        ("a.jsonl", '{"question": "x"}\n{broken\n', "a.jsonl:2: not valid JSON"),
        ("a.json", '[{"annotations": []}]', "a.json: task 1: no &#34;data&#34;"),
        ("a.csv", "", "no items in it"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(play: Play, name: str, text: str, message: str) -> None:
    organiser = play.organiser()
    organiser.open("/data")
    data = {"csrf": organiser.hidden()["csrf"], "stage": "verify"}
    files = {"file": (name, (text or "\n").encode())}
    response = organiser.browser.post(f"/c/{play.campaign.id}/import", data=data, files=files)
    assert response.status_code == 422
    assert message in response.text
    assert play.items() == []


def send_file(organiser: Player, campaign: str, text: str, name: str = "a.csv") -> Response:
    """The page that follows when an organiser chooses a file."""
    organiser.open("/data")
    data, files = {"csrf": organiser.hidden()["csrf"]}, {"file": (name, text.encode())}
    return organiser.browser.post(f"/c/{campaign}/import", data=data, files=files)


KEPT = "kept and exported; people do not see it"
WEDDINGS = "Question asked,Country,Model answer,Notes\nWhat is worn?,Kenya,A kanga.,odd\nWho pays?,Kenya,The groom.,\n"


@pytest.mark.slow
def test_columns_have_the_names_that_other_tables_of_mores_may_have(database: Database) -> None:
    """What was read as what is said before anything is imported."""
    play = Play(database, "marking", regions=["Kenya"], languages=["en"])
    organiser = play.organiser()
    asked = send_file(organiser, play.campaign.id, WEDDINGS).text
    read = dict(re.findall(r'<td><bdi translate="no">([^<]+)</bdi></td><td>(?:<code>)?([^<]+)<', asked))
    expected = {"Question asked": "instruction", "Country": "region", "Model answer": "text", "Notes": KEPT}
    assert read == expected
    assert "2 items" in asked
    assert play.items() == []
    [confirm] = re.findall(r'action="/c/[^/]+(/jobs/\w+/confirm)"', asked)
    [cancel] = re.findall(r'action="/c/[^/]+(/jobs/\w+/cancel)"', asked)
    assert "A file waits for your answer." in organiser.open("/data").text
    assert "2 items and 0 answers were imported" in organiser.send(confirm).text
    items = [(item.content["instruction"], item.content["text"], item.region) for item in play.items()]
    assert items == [("What is worn?", "A kanga.", "KE"), ("Who pays?", "The groom.", "KE")]
    assert organiser.send(confirm).status_code == 200
    assert organiser.send(cancel).status_code == 200
    assert len(play.items()) == 2, "answering twice changes nothing"


@pytest.mark.parametrize("form", ["csv", "jsonl", "label-studio", "pearmut"])
def test_columns_that_are_not_read_stay_with_their_rows(database: Database, form: str) -> None:
    """In every export, and when an export is imported again; nobody who marks sees them."""
    table = "text,Model,Age group,Empty\nA kanga.,small,18-30,\nA kanga too.,large,31-50,\n"
    kept = [{"Model": "small", "Age group": "18-30"}, {"Model": "large", "Age group": "31-50"}]
    play, other = (Play(database, "marking", regions=["Kenya"], languages=["en"]) for _ in range(2))
    bring(play, "own.csv", table)
    assert [item.content["metadata"] for item in play.items()] == kept
    marker = play.person(Role.ANNOTATOR)
    assert marker.take()
    shown = marker.open(f"/items/{marker.item}").text
    assert "A kanga" in shown
    assert not re.search("18-30|31-50", shown)
    archive = ZipFile(BytesIO(export(play.organiser(), form).content))
    if form == "label-studio":
        assert b"$metadata" not in archive.read("config.xml"), "nor does anybody who marks there"
    name = {"label-studio": "tasks.json", "pearmut": "campaign.json"}.get(form, f"items.{form}")
    bring(other, name, archive.read(name).decode())
    assert [item.content for item in other.items()] == [item.content for item in play.items()]


def bring(play: Play, name: str, text: str) -> None:
    """Import a file, whatever the studio asks about it."""
    organiser = play.organiser()
    page = send_file(organiser, play.campaign.id, text, name).text
    for confirm in re.findall(r'action="/c/[^/]+(/jobs/\w+/confirm)"', page):
        page = organiser.send(confirm).text
    assert "were imported" in page


def test_a_file_that_is_not_meant_so_is_forgotten(database: Database) -> None:
    play = Play(database, "marking", regions=["Kenya"], languages=["en"])
    organiser = play.organiser()
    first = send_file(organiser, play.campaign.id, WEDDINGS).text
    [cancel] = re.findall(r'action="/c/[^/]+(/jobs/\w+/cancel)"', first)
    organiser.send(cancel)
    second = send_file(organiser, play.campaign.id, WEDDINGS.replace("Notes", "Remarks")).text
    assert "Remarks" in second
    send_file(organiser, play.campaign.id, WEDDINGS)  # chosen instead
    kept = database.fetch(select(jobs.c.status, jobs.c.data.is_not(None)).order_by(jobs.c.created))
    assert [tuple(row) for row in kept] == [("cancelled", False), ("cancelled", False), ("asks", True)]
    assert play.items() == []
    assert "were imported" in send_file(organiser, play.campaign.id, "text,region\nA kanga.,Kenya\n").text
    assert len(play.items()) == 1, "columns with our names are not asked about"


def test_two_columns_that_may_be_the_same_are_not_guessed(database: Database) -> None:
    play = Play(database, "marking", regions=["Kenya"], languages=["en"])
    answer = send_file(play.organiser(), play.campaign.id, "Response,Model answer\nA kanga.,A suit.\n")
    assert answer.status_code == 422
    assert "may each be the text; rename one of them" in answer.text


def test_questions_of_authors_have_the_same_names(play: Play) -> None:
    header = "Prompt,Country,Lang," + ",".join(f"Options {number}" for number in range(1, 5)) + ",Correct,Year"
    row = f"What do guests get?,Kenya,English,{','.join(OPTIONS)},A,1999"
    organiser = play.organiser()
    asked = send_file(organiser, play.campaign.id, f"{header}\n{row}\n").text
    [confirm] = re.findall(r'action="/c/[^/]+(/jobs/\w+/confirm)"', asked)
    organiser.send(confirm)
    [item] = play.items()
    assert (item.content["question"], item.content["options"]) == ("What do guests get?", OPTIONS)
    assert (item.content["correct"], item.region, item.language) == (["A"], "KE", "en")
    assert "Year" not in item.content


def test_items_that_have_enough_answers_after_a_change_of_settings_are_decided(play: Play) -> None:
    item = question(play)
    judge(play, item, ["A", "A", "A"])
    assert play.read(item).status is ItemStatus.OPEN
    organiser = play.organiser()
    organiser.open("/settings")
    organiser.send("/settings", title="Fewer", regions="Kenya", verifiers="3", agreeing="3")
    assert play.read(item).status is ItemStatus.ACCEPTED, "nobody else could have taken it"


def test_changed_attention_checks_replace_the_old_ones(play: Play) -> None:
    content = {"question": "Is this a check?", "options": OPTIONS, "correct": ["A"]}
    check = {"content": content, "answer": {"answer": ["A"]}, "region": "KE", "language": "en"}
    organiser = play.organiser()
    for answer in (["A"], ["A"], ["B"]):
        organiser.open("/settings")
        checks = json.dumps([check | {"answer": {"answer": answer}}])
        assert organiser.send("/settings", title="T", regions="Kenya", checks=checks).status_code == 200
    found = [item for item in read_items(play.database, play.campaign, checks=True) if item.check]
    assert [(item.check, item.status) for item in found] == [
        ({"answer": ["A"]}, ItemStatus.WITHDRAWN),
        ({"answer": ["B"]}, ItemStatus.OPEN),
    ]


@pytest.mark.parametrize("model", ["hf:/etc", "embedded:/tmp/x.gguf", "fake:/etc/passwd.jsonl", "embedded:secret"])
def test_a_model_that_is_a_file_of_the_server_cannot_be_named_in_the_browser(database: Database, model: str) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"])
    organiser = play.organiser()
    organiser.open("/settings")
    text = f"kind: culturalteaming\ntitle: Another\nmodel: '{model}'\n"
    answer = organiser.send("/campaigns", yaml=text)
    assert answer.status_code == 422
    assert "Files of the server" in answer.text
