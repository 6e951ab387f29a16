"""What holds for every kind of campaign: one contract, over all that are registered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mores.benchmark.contract import check
from mores.studio.campaigns import KINDS, open_kind
from mores.studio.data.exports import make_files, write_export
from mores.studio.data.snapshot import read_snapshot
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.store.campaigns import list_campaigns
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import Campaign, perform, read_items
from mores.studio.web.pages import environment
from mores.studio.workflow import Create
from tests.studio.play import Play

Demo = tuple[Database, dict[str, Campaign]]


@pytest.fixture(scope="module")
def demo(demo_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    database = open_database(shutil.copy(demo_database, tmp_path_factory.mktemp("copy") / "studio.db"))
    yield database, {campaign.kind.name: campaign for campaign in list_campaigns(database)}
    database.close()


def items_of(demo: Demo, name: str) -> list[CampaignItem]:
    database, campaigns = demo
    return list(read_items(database, campaigns[name]))


@pytest.mark.parametrize("name", KINDS)
def test_its_folder_has_a_readme_and_a_demo_in_several_states(name: str, demo: Demo) -> None:
    kind = open_kind(name)
    assert (kind.folder / "README.md").exists()
    places = {(item.status, item.stage) for item in items_of(demo, name)}
    assert ItemStatus.ACCEPTED in {status for status, _ in places}
    assert len(places) >= 3


@pytest.mark.parametrize("name", KINDS)
def test_it_says_what_it_is(name: str, demo: Demo) -> None:
    kind = open_kind(name)
    assert kind.name == name
    assert kind.title
    assert kind.summary.endswith(".")
    for stage in demo[1][name].flow.stages:
        assert stage.title
        for task in stage.tasks:
            assert kind.tasks[task].title, "a button needs a name"
    for item in items_of(demo, name):
        assert kind.headline(item).strip()


@pytest.mark.parametrize("name", KINDS)
def test_the_votes_of_its_demo_have_labels_and_its_figures_can_be_made(name: str, demo: Demo) -> None:
    campaign, items = demo[1][name], items_of(demo, name)
    votes = [vote for item in items for vote in item.votes]
    assert any(campaign.kind.label(vote.stage, vote.answer) for vote in votes)
    assert isinstance(dict(campaign.kind.summarise(campaign.settings, items)), dict)
    if campaign.kind.method:
        assert campaign.kind.method(campaign.settings, items).endswith(".")


@pytest.mark.parametrize("name", KINDS)
def test_its_export_has_the_same_bytes_again_and_mores_bench_takes_it(name: str, demo: Demo, tmp_path: Path) -> None:
    database, campaigns = demo
    first, again = (make_files(read_snapshot(database, campaigns[name]), "folder") for _ in range(2))
    assert first == again
    write_export(database, campaigns[name], "folder", tmp_path / "out")
    topics = campaigns[name].kind.topic
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert ("| region | accepted | most frequent topics |" in card) == (topics is not None)
    assert topics is None or "(95% interval " in card.partition("most frequent topics |")[2]
    if not campaigns[name].kind.runs:
        return
    results = check(tmp_path / "out")
    assert results
    problems = [problem for checks in results.values() for result in checks for problem in result.problems]
    assert [problem for problem in problems if not problem.startswith("sample has")] == []  # the demo is small


@pytest.mark.parametrize("name", KINDS)
def test_its_templates_can_be_read(name: str) -> None:
    for path in open_kind(name).folder.glob("*.html"):
        environment("en").get_template(f"{name}/{path.name}")


@pytest.mark.parametrize("name", KINDS)
def test_an_item_without_any_content_breaks_no_page(name: str, database: Database) -> None:
    play = Play(database, name)
    boss = Person(id=play.organiser_id, roles=frozenset({Role.ORGANISER}))
    for number, stage in enumerate(play.campaign.flow.stages):
        perform(database, play.campaign, boss, Create(f"{number:012x}", {}, stage=stage.name))
        organiser = play.organiser()
        for path in ("/overview", "/items", f"/items/{number:012x}/life"):
            assert organiser.open(path).status_code == 200, (stage.name, path)
