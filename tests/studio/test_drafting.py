"""Drafts of many items at once: excerpts of datasets and pages, their coverage, and the way into authors' hands."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from mores.engine.cost import Price
from mores.errors import InputError
from mores.models.base import Completion, Request, greedy
from mores.models.fake import FakeModel
from mores.studio.campaigns.culturall.drafting import DraftedItem, Excerpt, draft_tables, open_drafting, spread_evenly
from mores.studio.manage import find_campaign, import_files, new_campaign
from mores.studio.records import Role
from mores.studio.settings import DraftSettings
from mores.studio.store.database import open_database
from mores.studio.store.items import read_items
from mores.studio.store.people import PersonProfile, add_member, add_person

DISHES = {
    "rice": "Which rice is served first at a wedding",
    "bread": "Who may break the bread at the table of elders",
    "soup": "What stands beside the soup on market mornings",
    "fish": "When do neighbours share fish after the harvest",
    "beans": "When do neighbours share beans after the harvest",
    "stew": "How long must a stew simmer before guests arrive",
}
REGIONS = ("Japan", "Kenya", "Peru")


def put_sources(folder: Path) -> list[str]:
    """A table of 18 questions of three countries, and four pages, two of them the same and one too short."""
    rows = [
        f"{question} in {region} when {region} cooks?,{dish} with herbs,{region},en"
        for region in REGIONS
        for dish, question in DISHES.items()
    ]
    (folder / "quiz.csv").write_text("\n".join(["question,answer,region,language", *rows]) + "\n", "utf-8")
    pages = folder / "pages"
    pages.mkdir()
    (pages / "tea.txt").write_text(
        "In Kenya tea is boiled with milk and sugar and offered to every guest. " * 3, "utf-8"
    )
    (pages / "shoes.txt").write_text(
        "In Japan shoes are taken off at the door of a house and put in a row. " * 3, "utf-8"
    )
    (pages / "tea2.txt").write_text(
        "In Kenya tea is boiled with milk and sugar and offered to every guest! " * 3, "utf-8"
    )
    (pages / "short.txt").write_text("Nothing.", "utf-8")
    return [str(folder / "quiz.csv"), f"pages:{pages}"]


def answer(request: Request) -> Completion:
    """Draft, or label: what is about rice has no [Answer], and what is about fish is said as what is about beans."""
    text = request.messages[-1].content
    if text.startswith("You are given a sample"):
        if "rice" in text:
            return Completion("[Scenario] A feast. [Question] What is cooked?")
        [source] = re.findall(r"<<<\w+\n(.*?)\n\w+>>>", text, re.DOTALL)
        told = source.partition("\n")[0].replace("fish", "beans")
        return Completion(
            f"[Scenario] A guest asks: {told} [Question] What is it? [Answer] herbs [Explanation] So it is."
        )
    if "country code" in text:
        return Completion("ke" if "Kenya" in text else "jp")
    return Completion("Food" if "cook" in text else "nonsense" if "shoes" in text else "Social")


def settings(sources: list[str], out: Path, limit: int = 100) -> DraftSettings:
    return DraftSettings(sources=sources, model=FakeModel("drafts", answer), out=out, limit=limit, store=None)


@pytest.mark.slow
def test_drafts_have_no_duplicates_and_say_what_is_covered(tmp_path: Path) -> None:
    job = open_drafting(settings(put_sources(tmp_path), tmp_path / "drafts.jsonl"))
    done = asyncio.run(job.run())
    assert (done.excerpts, done.duplicates, done.asked) == (21, 1, 20)
    assert done.repeated == 3, "fish and beans of each country are told alike"
    assert done.drafts == 20 - 3 - 3
    assert done.failures == {
        "the draft cannot be read: it does not have the parts [Scenario], [Question], [Answer], [Explanation], each "
        "once and in this order": 3,
        "the topic cannot be read; authors choose it": 1,
    }
    assert done.by["region"] == {"KE": 5, "JP": 5, "PE": 4}
    assert done.by["topic"] == {"Food": 12, "Social": 1, "": 1}
    assert len(done.uncovered) == 14
    assert "Food" not in done.uncovered
    assert draft_tables(done)[-1] == f"14 drafts of 20 excerpts in {tmp_path / 'drafts.jsonl'}"
    rows = [
        DraftedItem.model_validate_json(line) for line in (tmp_path / "drafts.jsonl").read_text("utf-8").splitlines()
    ]
    tea = next(row for row in rows if "tea" in row.excerpt)
    assert (tea.source, tea.region, tea.language, tea.answer) == ("document", "KE", "en", "herbs")


def test_drafts_that_could_not_be_read_are_asked_for_again(tmp_path: Path) -> None:
    def heal(request: Request) -> Completion:
        text = request.messages[-1].content
        return answer(greedy(text.replace("rice", "grains"), request.max_tokens))

    first = replace(settings(put_sources(tmp_path), tmp_path / "drafts.jsonl"), store=tmp_path / "s.db")
    for healed in (False, True):
        chosen = replace(first, model=FakeModel("drafts", heal), retry_failed=healed) if healed else first
        done = asyncio.run(open_drafting(chosen).run())
        assert sum("the draft cannot be read" in reason for reason in done.failures) == (0 if healed else 1)


def test_a_dry_run_counts_drafts_topics_and_the_regions_that_are_not_known(tmp_path: Path) -> None:
    sources = put_sources(tmp_path)
    chosen = DraftSettings(sources=sources, model=FakeModel("drafts", answer), store=None, price=Price(1.0, 2.0))
    estimate = asyncio.run(open_drafting(chosen).estimate())
    assert estimate.calls == 20 + 20 + 2
    assert estimate.cost == pytest.approx((estimate.prompt_tokens + 2 * estimate.completion_tokens) / 1e6)


def test_excerpts_are_drafted_in_the_main_language_of_their_region(tmp_path: Path) -> None:
    seen: list[str] = []

    def translate(request: Request) -> Completion:
        text = request.messages[-1].content
        if not text.startswith("Translate the following text to "):
            return answer(request)
        seen.append(text.split(":")[0].rpartition(" ")[2])
        if "soup" in text:
            return Completion("<<<abcd abcd>>>")
        [source] = re.findall(r"<<<\w+\n(.*?)\n\w+>>>", text, re.DOTALL)
        return Completion(f"{seen[-1]}: {source}")

    sources = put_sources(tmp_path)[:1]
    wanted = replace(settings(sources, tmp_path / "d.jsonl"), model=FakeModel("drafts", translate), translate=True)
    done = asyncio.run(open_drafting(wanted).run())
    assert Counter(seen) == {"Japanese": 6, "Swahili": 6, "Spanish": 6}
    assert set(done.by["language"]) == {"ja", "sw", "es"}
    assert done.asked == 18
    assert done.failures["the translation cannot be read: it is empty"] == 3, "what has no translation has no draft"
    rows = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text("utf-8").splitlines()]
    assert all("soup" not in row["excerpt"] for row in rows)
    assert all(row["excerpt"].startswith("Japanese: ") for row in rows if row["region"] == "JP")
    assert asyncio.run(open_drafting(wanted).estimate()).calls == 18 + 18 + 18


def test_excerpts_are_spread_over_sources_and_countries() -> None:
    places = [("big", "JP")] * 90 + [("big", "KE")] * 5 + [("small", "PE-LIM")] * 5
    excerpts = [
        Excerpt(id=str(n), task="data", text="x", origin=origin, region=region)
        for n, (origin, region) in enumerate(places)
    ]
    chosen = [(excerpt.origin, excerpt.region) for excerpt in spread_evenly(excerpts, 12)]
    assert chosen.count(("small", "PE-LIM")) == 5
    assert sorted([chosen.count(("big", "KE")), chosen.count(("big", "JP"))]) == [3, 4]
    assert spread_evenly(excerpts, 12) == spread_evenly(excerpts[::-1], 12), "the order of files does not matter"


def test_drafts_go_to_authors_who_know_their_language(tmp_path: Path) -> None:
    database = tmp_path / "studio.db"
    (tmp_path / "c.yaml").write_text("kind: culturall\ntitle: Situations\npilot: 2\n", "utf-8")
    campaign, _ = new_campaign(database, tmp_path / "c.yaml")
    asyncio.run(open_drafting(settings(put_sources(tmp_path), tmp_path / "drafts.jsonl")).run())
    rows = (tmp_path / "drafts.jsonl").read_text("utf-8").splitlines()
    other = json.dumps(json.loads(rows[0]) | {"language": "sw"})
    (tmp_path / "drafts.jsonl").write_text("\n".join([*rows[:4], other]) + "\n", "utf-8")
    give = partial(import_files, database, campaign.id, [tmp_path / "drafts.jsonl"], stage="create", to_authors=True)
    with pytest.raises(InputError, match="no authors yet"):
        give()
    people = {}
    with closing(open_database(database)) as store:
        for name, languages in {"Ann": ("en",), "Bob": ("en",), "Cid": ("ja",)}.items():
            with store.write() as connection:
                people[name] = add_person(connection, PersonProfile(name=name, languages=languages))
            add_member(store, campaign, people[name], Role.AUTHOR)
    done = give()
    assert (done.items, done.unclaimed) == (4, 1), "nobody writes Swahili"
    again = give()
    assert (again.items, again.known, again.unclaimed) == (0, 4, 1), "nothing comes twice"
    with closing(open_database(database)) as store:
        items = list(read_items(store, find_campaign(store, campaign.id)))
    assert Counter(item.author for item in items) == {people["Ann"]: 2, people["Bob"]: 2}
    assert {item.stage for item in items} == {"create"}
    assert items[0].content["scenario"].startswith("A guest asks: ")
