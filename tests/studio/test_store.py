"""The store, on SQLite and on PostgreSQL: what is true stays true when many act at once."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, select, text

from mores.errors import ConfigError, StoreError
from mores.studio.campaigns import open_kind
from mores.studio.demo import fill
from mores.studio.records import CampaignItem, Event, EventKind, Person, Role
from mores.studio.serve import find_owner
from mores.studio.store.campaigns import change_settings, list_campaigns, make_campaign, read_settings
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import Campaign, append, now, perform, read_events, read_item, read_items, rebuild
from mores.studio.store.people import PersonProfile, add_person, read_draft, save_draft
from mores.studio.store.tables import VIEWS, holds, metadata
from mores.studio.store.work import release_late, take
from mores.studio.workflow import (
    Adjudicate,
    Cast,
    Create,
    Refused,
    Release,
    Revise,
    Take,
)
from tests.studio.conftest import SYNCHRONOUS
from tests.studio.rules import assign, fold_events

BOSS = Person(id="boss", roles=frozenset({Role.ORGANISER}))


def verifier(number: int, region: str = "KE") -> Person:
    return Person(id=f"v{number}", roles=frozenset({Role.VERIFIER}), regions=frozenset({region}))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, empty_database: Path, tmp_path: Path) -> Iterator[Database]:
    sqlite = request.param == "sqlite"
    copied = shutil.copy(empty_database, tmp_path / "studio.db") if sqlite else None
    database = open_database(copied or request.getfixturevalue("postgres"))
    yield database
    database.close()


def campaign_in(database: Database, **settings: Any) -> Campaign:
    kind = open_kind("culturalteaming")
    return make_campaign(database, kind, read_settings(kind, {"title": "C", "regions": ["KE", "JP"]} | settings))


def add(database: Database, campaign: Campaign, name: str, region: str = "KE") -> CampaignItem:
    content = {"scene": "s", "question": f"{name}?", "options": ["a", "b", "c", "d"], "correct": ["A"]}
    return perform(database, campaign, BOSS, Create(name, content, region, "sw", stage="verify")).item


def test_the_migrations_make_the_tables(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_thirty_people_at_once_never_overfill_an_item(database: Database) -> None:
    campaign = campaign_in(database)
    for number in range(3):
        add(database, campaign, f"i{number}")
    people = [verifier(number) for number in range(30)]
    with ThreadPoolExecutor(10) as pool:
        given = list(pool.map(lambda person: take(database, campaign, person), people))
    counts = Counter(item.id for item in given if item)
    assert counts == {"i0": 5, "i1": 5, "i2": 5}
    with database.read() as connection:
        assert len(connection.execute(select(holds)).all()) == 15


def test_the_same_action_sent_ten_times_at_once_is_done_once(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "i")
    person = verifier(0)
    take(database, campaign, person)
    action = Cast({"answer": ["A"]})
    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(lambda _: perform(database, campaign, person, action, item="i", key="once"), range(10)))
    assert sum(bool(result.events) for result in results) == 1
    assert len(read_item(database, campaign, "i").votes) == 1
    created = Create("new", {"scene": "s"}, "KE")
    with ThreadPoolExecutor(10) as pool:
        made = list(pool.map(lambda _: perform(database, campaign, BOSS, created, key="twice"), range(10)))
    assert sum(bool(result.events) for result in made) == 1


def test_nothing_of_a_refused_action_is_written(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "i")
    before = read_events(database, campaign, "i")
    with pytest.raises(Refused):
        perform(database, campaign, verifier(0), Cast({"answer": ["A"]}), item="i")
    assert read_events(database, campaign, "i") == before


@pytest.mark.often("sqlite")
def test_an_item_is_what_its_events_add_up_to(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "i")
    for number in range(5):
        take(database, campaign, verifier(number))
        perform(database, campaign, verifier(number), Cast({"answer": ["A"]}, seconds=3.5, comment="ok"), item="i")
    assert fold_events(None, read_events(database, campaign, "i")) == read_item(database, campaign, "i")


def contents(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr) for table in VIEWS
        }


def test_the_tables_made_again_from_events_are_the_same(demo_database: Path, tmp_path: Path) -> None:
    database = open_database(shutil.copy(demo_database, tmp_path / "studio.db"))
    before = contents(database)
    assert rebuild(database, list_campaigns(database)) > 10
    assert contents(database) == before
    database.close()


@pytest.mark.slow
def test_the_tables_of_the_demo_made_again_on_every_database(database: Database) -> None:
    campaigns = fill(database, find_owner(database))
    before = contents(database)
    assert rebuild(database, campaigns) > 10
    assert contents(database) == before


@pytest.mark.often("sqlite")
def test_every_change_of_an_item_leaves_the_tables_that_its_events_make(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "i")
    for number in range(4):
        take(database, campaign, verifier(number))
    perform(database, campaign, verifier(0), Cast({"answer": ["A"]}), item="i")
    perform(database, campaign, verifier(0), Cast({"answer": ["B"]}), item="i")  # changed
    perform(database, campaign, verifier(1), Release("I do not know this."), item="i")
    perform(database, campaign, verifier(2), Release(), item="i")
    perform(database, campaign, BOSS, Adjudicate("back", "Say it more clearly."), item="i")
    content = read_item(database, campaign, "i").content | {"question": "Clearer?"}
    perform(database, campaign, BOSS, Revise(content, "KE", "sw"), item="i")
    before = contents(database)
    assert (len(before["holds"]), len(before["votes"]), len(before["met"])) == (0, 1, 2)
    rebuild(database, [campaign])
    assert contents(database) == before


@pytest.mark.often("sqlite")
def test_a_person_is_given_what_the_rules_say(database: Database) -> None:
    campaign = campaign_in(database)
    for name in ("first", "second", "third", "fourth"):
        add(database, campaign, name)
    for number, item in enumerate(["third", "third", "second", "fourth"]):
        perform(database, campaign, verifier(number), _taken(database, campaign, item, verifier(number)), item=item)
    for person in (verifier(9), verifier(0), verifier(2)):
        ((_, expected),) = assign(campaign.flow, [person], read_items(database, campaign))
        given = take(database, campaign, person)
        assert given is not None
        assert given.id == expected


@pytest.mark.often("sqlite")
def test_who_may_not_judge_an_item_for_a_reason_that_no_query_knows_gets_the_next(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "asked")
    add(database, campaign, "other")
    asked = {"ask": "asked.0", "task": "draft", "model": "m", "sample": 0, "data": {}}
    place = {"campaign": campaign.id, "item": "asked", "stage": "verify"}
    event = Event(key="k", at=now(), kind=EventKind.ASKED_MODEL, person="v0", payload=asked, **place)
    with database.write() as connection:
        append(connection, campaign, read_item(database, campaign, "asked"), [event])
    given = [take(database, campaign, verifier(0)) for _ in range(2)]
    assert [item and item.id for item in given] == ["other", None]


def test_a_connection_that_broke_while_nobody_used_it_is_replaced(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(postgres)
    campaign = campaign_in(database)
    other = create_engine(postgres)
    with other.connect() as connection:
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != "
        assert connection.execute(text(ours + "pg_backend_pid()")).scalars().all()
    other.dispose()
    monkeypatch.setattr("mores.studio.store.database.IDLE_SECONDS", 0)
    assert add(database, campaign, "i").id == "i"
    database.close()


@pytest.mark.often("sqlite")
def test_a_vote_replaces_its_draft(database: Database) -> None:
    campaign = campaign_in(database)
    add(database, campaign, "i")
    with database.write() as connection:
        person = add_person(connection, PersonProfile(name="V"))
    member = Person(id=person, roles=frozenset({Role.VERIFIER}), regions=frozenset({"KE"}))
    take(database, campaign, member)
    for place in ("i", "another"):
        save_draft(database, campaign, person, place, {"comment": ["half a sentence"]})
    perform(database, campaign, member, Cast({"answer": ["A"]}), item="i")
    assert read_draft(database, campaign, person, "i") == {}
    assert read_draft(database, campaign, person, "another") == {"comment": ["half a sentence"]}


@pytest.mark.often("sqlite")
def test_items_that_need_the_fewest_answers_come_first_and_only_of_ones_region(database: Database) -> None:
    campaign = campaign_in(database)
    for name, region in (("first", "KE"), ("second", "KE"), ("far", "JP")):
        add(database, campaign, name, region)
    perform(database, campaign, verifier(1), _taken(database, campaign, "second", verifier(1)), item="second")
    taken = [take(database, campaign, verifier(2)) for _ in range(3)]
    assert [item and item.id for item in taken] == ["second", "first", None]
    assert take(database, campaign, verifier(3, "FR")) is None


def _taken(database: Database, campaign: Campaign, item: str, person: Person) -> Cast:
    perform(database, campaign, person, Take(), item=item)
    return Cast({"answer": ["A"]})


@pytest.mark.often("sqlite")
def test_what_is_kept_too_long_is_given_to_another(database: Database) -> None:
    campaign = campaign_in(database, verifiers=1, agreeing=1)
    add(database, campaign, "i")
    assert take(database, campaign, verifier(0))
    assert take(database, campaign, verifier(1)) is None
    assert release_late(database, campaign, now() + timedelta(hours=25)) == 1
    kinds = [event.kind for event in read_events(database, campaign, "i")]
    assert kinds[-1] is EventKind.RELEASED
    assert take(database, campaign, verifier(1))


@pytest.mark.often("sqlite")
def test_more_verifiers_in_the_settings_reopen_places(database: Database) -> None:
    campaign = campaign_in(database, verifiers=1, agreeing=1)
    add(database, campaign, "i")
    take(database, campaign, verifier(0))
    kind = open_kind("culturalteaming")
    more = read_settings(kind, campaign.settings.model_dump() | {"verifiers": 2})
    changed = change_settings(database, campaign, more)
    assert take(database, changed, verifier(1))


@pytest.mark.slow
def test_items_are_read_in_batches_in_the_order_in_which_they_were_made(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = campaign_in(database)
    moment = now()
    monkeypatch.setattr("mores.studio.store.items.now", lambda: moment)  # many items of one moment
    names = [f"{number:03}" for number in range(501)]
    for name in names:
        add(database, campaign, name)
    assert [item.id for item in read_items(database, campaign)] == names


def test_what_is_written_survives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.studio.store.database.SYNCHRONOUS", SYNCHRONOUS)
    database = open_database(tmp_path / "studio.db")
    with database.write() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2, "FULL"
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    database.close()


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    database = open_database(path)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(StoreError, match="newer version of Mores"):
        open_database(path)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("{}\n" * 1000)
    with pytest.raises(ConfigError, match=r"texts\.jsonl"):
        open_database(path)
