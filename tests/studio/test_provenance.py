"""What exports say about how items were made and checked, against what happened: every irregularity is made here."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from mores.studio.campaigns import open_kind
from mores.studio.data.exports import make_files
from mores.studio.data.imports import import_items, read_items_files
from mores.studio.data.snapshot import read_snapshot
from mores.studio.provenance import find_irregular
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.store.campaigns import change_settings, list_campaigns, make_campaign, read_settings
from mores.studio.store.database import Database, _engine, migrate, open_database, read_url
from mores.studio.store.identity import hash_signals, note_signals, settle_alike, withdraw_person
from mores.studio.store.items import Campaign, now, perform, read_item, read_items, rebuild
from mores.studio.store.people import (
    add_member,
    add_person,
    change_profile,
    find_member,
    invite,
    join,
    read_profile,
)
from mores.studio.store.statistics import read_figures
from mores.studio.store.tables import VIEWS, metadata, votes
from mores.studio.workflow import Adjudicate, Cast, Create, Revise, Submit, Take

QUESTION = {"scene": "s", "question": "What is served first?", "options": ["a", "b", "c", "d"], "correct": ["A"]}


class Stage:
    """A CulturalTeaming campaign and what people do in it, by the store alone."""

    def __init__(self, database: Database, **settings: Any) -> None:
        self.database = database
        kind = open_kind("culturalteaming")
        given = {"title": "Tea", "regions": ["KE", "JP"], "verifiers": 3, "agreeing": 2} | settings
        self.campaign = make_campaign(database, kind, read_settings(kind, given))
        with database.write() as connection:
            self.boss = add_person(connection, read_profile("Olga"), organises=True)
        add_member(database, self.campaign, self.boss, Role.ORGANISER)

    def person(self, role: Role, name: str, region: str = "KE", browser: str = "") -> str:
        token = invite(self.database, self.campaign, role, self.boss)
        profile = read_profile(name, nationality=[region], home=[region], languages=["en"])
        person = join(self.database, token, profile)
        signals = hash_signals("key", self.campaign.id, name, browser or name)
        note_signals(self.database, self.campaign.id, person, signals)
        return person

    def act(self, person: str, action: Any, item: str = "") -> CampaignItem:
        member = find_member(self.database, self.campaign, person)
        assert member is not None
        return perform(self.database, self.campaign, member.person, action, item=item).item

    def write(self, author: str, name: str) -> str:
        self.act(author, Create(name, QUESTION, "KE", "en"))
        self.act(author, Submit(QUESTION, 0, "KE", "en"), name)
        self.act(author, Submit(QUESTION, 0, "KE", "en"), name)
        return name

    def vote(self, item: str, answers: dict[str, str]) -> CampaignItem:
        for person, answer in answers.items():
            self.act(person, Take(), item)
            self.act(person, Cast({"answer": [answer]}), item)
        return read_item(self.database, self.campaign, item)

    def texts(self, form: str = "folder") -> dict[str, str]:
        files = make_files(read_snapshot(self.database, self.campaign), form)
        return {path: data.decode() for path, data in files.items()}

    def easy(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.texts()["data/CulturalBench-Easy.csv"])))


@pytest.fixture
def stage(database: Database) -> Stage:
    return Stage(database)


def people(stage: Stage, count: int = 3, region: str = "KE") -> list[str]:
    return [stage.person(Role.VERIFIER, f"V{number}", region) for number in range(count)]


def test_what_the_rules_decided_is_said_as_it_was(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.vote(stage.write(author, "i1"), dict.fromkeys(judges, "A"))
    texts = stage.texts()
    assert "3 people verified each; at least 2 gave the same answer." in texts["README.md"]
    assert "All of them have the nationality of the region" in texts["README.md"]
    assert "The rules of the campaign decided every accepted item." in texts["README.md"]
    assert "played" not in texts["METHOD.md"], "there was no model"
    assert "language model" not in texts["METHOD.md"]
    assert len(stage.easy()) == 1


def test_an_organiser_who_accepts_what_the_votes_rejected(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    for name in ("i1", "i2"):
        rejected = stage.vote(stage.write(author, name), dict(zip(judges, "ABC", strict=True)))
        assert rejected.status is ItemStatus.REJECTED
        result = {"answer": ["A"], "mode": "single", "adjudicated": True, "agreeing": 1}
        assert stage.act(stage.boss, Adjudicate("next", result=result), name).status is ItemStatus.ACCEPTED
    stage.vote(stage.write(author, "i3"), dict.fromkeys(judges, "A"))
    said = "2 were accepted at “Verify” by an organiser after the answers had rejected them"
    for form, path in (("folder", "README.md"), ("folder", "METHOD.md"), ("jsonl", "README.md")):
        assert said in stage.texts(form)[path]
        assert "not in the exported benchmark" in stage.texts(form)[path]
    assert "1 questions that people wrote" in stage.texts()["README.md"]
    assert "Of 1 verified questions 1 were accepted" in stage.texts()["METHOD.md"]
    assert len(stage.easy()) == 1
    changed = stage.campaign.settings.model_copy(update={"include_overrides": True})
    stage.campaign = change_settings(stage.database, stage.campaign, changed)
    assert len(stage.easy()) == 3
    readme = stage.texts()["README.md"]
    assert "They are exported with the others." in readme
    assert "at least 1 gave the same answer" in readme, "the rule says 2, and that is not what happened"
    assert "The answer to 2 of them is an organiser's" in readme
    stories = [json.loads(line) for line in stage.texts()["items.jsonl"].splitlines()]
    assert [story["decided_by"] for story in stories] == ["organiser", "organiser", "verifiers"]


def test_a_stage_that_is_accepted_without_votes(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.write(author, "i1")
    result = {"answer": ["A"], "mode": "single", "adjudicated": True}
    stage.act(stage.boss, Adjudicate("next", result=result), "i1")
    texts = stage.texts()
    assert "1 passed “Verify” without an answer of anybody, by decision of an organiser" in texts["README.md"]
    assert "No question was verified" in texts["METHOD.md"]
    assert "3 people" not in texts["METHOD.md"]
    stage.vote(stage.write(author, "i2"), dict.fromkeys(judges, "A"))
    assert [row["question_idx"] for row in stage.easy()] == ["0"]


def test_an_item_that_is_edited_after_its_votes(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.write(author, "i1")
    stage.vote("i1", dict.fromkeys(judges[:2], "A"))
    stage.act(stage.boss, Adjudicate("back", "Shorter, please."), "i1")
    stage.act(author, Revise(QUESTION | {"question": "What comes first?"}, "KE", "en"), "i1")
    stage.act(stage.boss, Adjudicate("next"), "i1")
    result = {"answer": ["A"], "mode": "single", "adjudicated": True}
    item = stage.act(stage.boss, Adjudicate("next", result=result), "i1")
    assert item.status is ItemStatus.ACCEPTED
    [found] = find_irregular(stage.campaign.flow, item)
    assert (found.stage, found.reason, found.votes) == ("verify", "skipped", 0), "the votes are about what was before"
    assert "passed “Verify” without an answer of anybody" in stage.texts()["METHOD.md"]
    assert stage.easy() == []


def test_a_verifier_who_changes_region_stays_who_they_were(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.vote(stage.write(author, "i1"), dict.fromkeys(judges, "A"))
    before = stage.texts("jsonl")
    change_profile(stage.database, judges[0], read_profile("V0", nationality=["JP"], home=["JP"], languages=["ja"]))
    after = stage.texts("jsonl")
    assert after == before, "what was, was"
    assert {json.loads(line)["from_region"] for line in after["votes.jsonl"].splitlines()} == {True}
    item = read_item(stage.database, stage.campaign, "i1")
    assert item.votes[0].standing is not None
    assert item.votes[0].standing.regions == ("KE",)
    stage.act(author, Create("i2", QUESTION, "JP", "en"))
    stage.act(author, Submit(QUESTION, 0, "JP", "en"), "i2")
    stage.act(author, Submit(QUESTION, 0, "JP", "en"), "i2")
    stage.vote("i2", {judges[0]: "A"})
    assert "1 person changed regions or languages meanwhile" in stage.texts()["README.md"]
    rows = [json.loads(line) for line in stage.texts("jsonl")["votes.jsonl"].splitlines()]
    assert [row["from_region"] for row in rows] == [True] * 4
    assert "people took part, from 2 regions of fewer than 5 people." in stage.texts()["METHOD.md"]


def test_one_person_who_joined_five_times_is_flagged_and_counts_once_when_settled(stage: Stage) -> None:
    author = stage.person(Role.AUTHOR, "Amina")
    judges = [stage.person(Role.VERIFIER, " WANJIKU"[number % 2 :], browser=f"b{number}") for number in range(5)]
    stage.vote(stage.write(author, "i1"), dict.fromkeys(judges[:3], "A"))
    flags = {judge: find_member(stage.database, stage.campaign, judge) for judge in judges}
    assert [len(member.alike) for member in flags.values() if member] == [0, 1, 2, 3, 4]
    readme = stage.texts()["README.md"]
    assert "2 accounts may belong to somebody who also has another one." in readme
    assert "4 people took part" in readme
    for judge in judges[1:]:
        settle_alike(stage.database, stage.campaign, judge, judges[0], "same", stage.boss)
    texts = stage.texts()
    assert "2 people took part" in texts["README.md"]
    assert "1 had several answers of one person at “Verify”" in texts["METHOD.md"]
    assert stage.easy() == []


def test_a_person_who_leaves_is_only_whom_the_answer_needs(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.vote(stage.write(author, "i1"), dict.fromkeys(judges, "A"))
    withdraw_person(stage.database, [stage.campaign], judges[0])
    readme = stage.texts()["README.md"]
    assert "1 of them has deleted their data since." in readme
    assert "All of them have the nationality of the region" in readme
    item = read_item(stage.database, stage.campaign, "i1")
    kept = next(vote.standing for vote in item.votes if vote.person == judges[0])
    assert kept is not None
    assert (kept.regions, kept.languages, kept.link) == (("KE",), ("en",), "")
    before = item
    rebuild(stage.database, [stage.campaign])
    assert read_item(stage.database, stage.campaign, "i1") == before


def test_imported_items_and_answers_are_not_said_to_be_made_here(stage: Stage) -> None:
    rows = [{"region": "KE", "language": "en", "content": QUESTION}]
    data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    incoming = read_items_files(stage.campaign, [("items.jsonl", data)], stage="verify")
    boss = Person(id=stage.boss, roles=frozenset({Role.ORGANISER}))
    import_items(stage.database, stage.campaign, boss, incoming, data, "verify")
    [item] = read_items(stage.database, stage.campaign)
    stage.vote(item.id, dict.fromkeys(people(stage), "A"))
    texts = stage.texts()
    assert "Authors wrote 0 multiple-choice questions" in texts["METHOD.md"]
    assert "1 more were imported." in texts["METHOD.md"]
    assert "1 of them were imported." in texts["README.md"]
    assert "1 item was imported." in texts["README.md"]


def test_settings_that_change_do_not_change_what_happened(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage, 5)
    stage.vote(stage.write(author, "i1"), dict.fromkeys(judges[:3], "A"))
    changed = stage.campaign.settings.model_copy(update={"verifiers": 5, "agreeing": 4})
    stage.campaign = change_settings(stage.database, stage.campaign, changed)
    stage.vote(stage.write(author, "i2"), dict.fromkeys(judges, "A"))
    assert "3 to 5 people verified each; at least 3 gave the same answer." in stage.texts()["README.md"]


def test_small_groups_are_not_named_and_large_ones_are(stage: Stage) -> None:
    author = stage.person(Role.AUTHOR, "Amina", "JP")
    judges = people(stage, 6)
    for number in range(2):
        stage.write(stage.person(Role.AUTHOR, f"A{number}"), f"i{number}")
        stage.vote(f"i{number}", dict.fromkeys(judges[number * 3 : number * 3 + 3], "A"))
    stage.act(author, Create("own", QUESTION, "JP", "en"))
    card = stage.texts()["README.md"]
    assert "| Kenya | 8 |" in card
    assert "| 1 more region, each with fewer than 5 people | fewer than 5 |" in card
    assert "Japan |" not in card.partition("## People")[2].partition("## Agreement")[0]


def test_the_time_of_an_answer_is_the_servers(stage: Stage) -> None:
    author, judges = stage.person(Role.AUTHOR, "Amina"), people(stage)
    stage.write(author, "i1")
    member = find_member(stage.database, stage.campaign, judges[0])
    assert member is not None
    moment = now()
    perform(stage.database, stage.campaign, member.person, Take(), item="i1", at=moment)
    late = Cast({"answer": ["A"]}, seconds=30, offline=600)
    perform(stage.database, stage.campaign, member.person, late, item="i1", at=moment + timedelta(hours=2))
    [vote] = read_item(stage.database, stage.campaign, "i1").votes
    assert (vote.taken, vote.span, vote.offline) == (moment, 6600, 600)
    figures = read_figures(stage.database, stage.campaign, fresh=True).people[judges[0]]
    assert (figures.seconds, figures.offline) == (1800, 600), "the most that one answer counts for"
    [row] = [json.loads(line) for line in stage.texts("jsonl")["votes.jsonl"].splitlines()]
    assert (row["taken"], row["link"]) == (moment.isoformat(), "l1")


@pytest.fixture(scope="module")
def demo(
    demo_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, dict[str, Campaign]]]:
    database = open_database(shutil.copy(demo_database, tmp_path_factory.mktemp("copy") / "studio.db"))
    yield database, {campaign.kind.name: campaign for campaign in list_campaigns(database)}
    database.close()


def test_the_rating_demo_says_the_same_numbers_everywhere(demo: tuple[Database, dict[str, Campaign]]) -> None:
    database, campaigns = demo
    snapshot = read_snapshot(database, campaigns["rating"])
    results = campaigns["rating"].kind.summarise(campaigns["rating"].settings, snapshot.items)["results"]
    texts = {path: data.decode() for path, data in make_files(snapshot, "folder").items()}
    for text in (texts["METHOD.md"], texts["README.md"]):
        assert f"to {results.questions} questions" in text
        assert f"of {results.people} people; there are {results.ratings} ratings" in text
        assert f"{results.people} people took part" in text
    assert len(list(csv.DictReader(io.StringIO(texts["ratings.csv"])))) == results.ratings


def test_only_sources_that_were_used_are_named(demo: tuple[Database, dict[str, Campaign]]) -> None:
    database, campaigns = demo
    snapshot = read_snapshot(database, campaigns["culturall"])
    text = make_files(snapshot, "folder")["METHOD.md"].decode()
    used = {item.content.get("source") for item in snapshot.items}
    phrases = {"inspiration": "English versions", "data": "existing data", "document": "documents ("}
    assert {name: phrase in text for name, phrase in phrases.items()} == {name: name in used for name in phrases}


FIXTURE = Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "stores" / "studio.db.gz"


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The database of 0.2.0, with its tables and rows as they were; of PostgreSQL, the same rows."""
    path = tmp_path / "old.db"
    with gzip.open(FIXTURE) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file)
    engine = _engine(read_url(path))
    if request.param == "postgresql":
        source, engine = engine, _engine(read_url(request.getfixturevalue("postgres")))
        migrate(engine, "0002")
        with source.connect() as reading, engine.begin() as writing:
            for table in metadata.sorted_tables:
                if table.name not in sa.inspect(reading).get_table_names():
                    continue
                known = [row["name"] for row in reading.execute(sa.text(f"PRAGMA table_info({table.name})")).mappings()]
                chosen = [column for column in table.c if column.name in known]
                rows = [dict(row) for row in reading.execute(sa.select(*chosen)).mappings()]
                if rows:
                    plain = sa.table(table.name, *(sa.column(column.name, column.type) for column in chosen))
                    writing.execute(sa.insert(plain), rows)
        source.dispose()
    yield Database(engine)
    engine.dispose()


@pytest.mark.often("sqlite")
def test_a_database_of_0_2_0_keeps_everything_and_gains_who_judged(old: Database) -> None:
    known = sa.inspect(old.engine).get_table_names()
    before = {table: _count(old, table) for table in known if table != "alembic_version"}
    migrate(old.engine)
    assert {table: _count(old, table) for table in before} == before
    campaigns = list_campaigns(old)
    assert len(campaigns) == 6
    states = {item.id: item for campaign in campaigns for item in read_items(old, campaign, checks=True)}
    judged = [vote for item in states.values() for vote in item.votes]
    assert all(vote.standing and vote.standing.source == "upgrade" and vote.standing.regions for vote in judged)
    assert all(vote.taken and vote.span for vote in judged)
    rows = {table: old.fetch(sa.select(table).order_by(*table.primary_key)) for table in VIEWS}
    rebuild(old, campaigns)
    assert {item.id: item for campaign in campaigns for item in read_items(old, campaign, checks=True)} == states
    assert {table: old.fetch(sa.select(table).order_by(*table.primary_key)) for table in VIEWS} == rows
    assert all(row.span for row in rows[votes])


def _count(database: Database, table: str) -> int:
    with database.engine.connect() as connection:
        return int(connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar() or 0)
