"""The demo: a campaign of each kind, filled with the examples in its folder's `demo.yaml`, played by its own people.

settings:                # as an organiser would write them
people:                  # name: roles, regions, languages
items:
  - by: Amina
    region: KE
    language: sw
    steps:               # what happens to the item, one after the other
      - create: {…}      # content
      - import: {…}      # content, by the organiser, where nobody writes items; `by` is not needed then
      - edit: {…}        # what the author changes
      - submit: {…}      # content; {} changes nothing
      - answer: {task: draft, content: {…}}        # a person asks a model, which answers; `failure: …` where it fails
      - answers: {check: [{…}], try: [{…}, {failure: …}]}      # models answer stages, by task; the last repeats
      - vote: {Juma: {…}, Wanjiku: {…}}
      - decide: {outcome: next, note: …}           # by the organiser
      - draw: {}                                   # the organiser draws it for the sample that is judged once more
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, repeat
from secrets import token_hex
from typing import Any

import yaml

from mores.errors import InputError
from mores.studio.campaigns import all_kinds, open_kind
from mores.studio.form import as_seen
from mores.studio.records import CampaignItem, Person, Role
from mores.studio.store.campaigns import list_campaigns, make_campaign, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now, perform
from mores.studio.store.people import PersonProfile, add_member, add_person, find_member
from mores.studio.workflow import Adjudicate, Answered, AskModel, Cast, Create, Recheck, Revise, Submit, Take

STEP = timedelta(minutes=3)
DEMO_MODEL = "demo"
FILE = "demo.yaml"


def fill(database: Database, organiser: str) -> list[Campaign]:
    """Make the demo campaigns that are not there yet; all of them."""
    known = {campaign.id: campaign for campaign in list_campaigns(database) if campaign.demo}
    names = [kind.name for kind in all_kinds() if (kind.folder / FILE).exists()]
    return [known.get(f"demo-{name}") or _fill(database, name, organiser) for name in names]


def _fill(database: Database, name: str, organiser: str) -> Campaign:
    kind = open_kind(name)
    path = kind.folder / FILE
    demo = yaml.load(path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # ten times as fast
    settings = read_settings(kind, demo["settings"], str(path))
    campaign = make_campaign(database, kind, settings, name=f"demo-{name}", demo=True, model=DEMO_MODEL)
    add_member(database, campaign, organiser, Role.ORGANISER)
    people = {person: _person(database, campaign, person, facts) for person, facts in demo["people"].items()}
    start = now() - timedelta(days=2)
    for number, entry in enumerate(demo["items"]):
        play(database, campaign, people, entry, start + number * timedelta(minutes=50), organiser)
    return campaign


def guests(database: Database, campaigns: Sequence[Campaign]) -> dict[Role, str]:
    """Add someone to try each role with, in every demo campaign that has work for it; the ids."""
    people: dict[Role, str] = {}
    for role in Role:
        if role is Role.ORGANISER:
            continue
        fitting = [campaign for campaign in campaigns if any(stage.role is role for stage in campaign.flow.stages)]
        if not fitting:
            continue
        regions = tuple(dict.fromkeys(code for campaign in fitting for code in campaign.settings.regions))
        languages = tuple(dict.fromkeys(code for campaign in fitting for code in campaign.settings.languages))
        profile = PersonProfile(name=f"Guest {role.value}", nationality=regions, home=regions, languages=languages)
        with database.write() as connection:
            people[role] = add_person(connection, profile)
        for campaign in fitting:
            add_member(database, campaign, people[role], role)
    return people


def _person(database: Database, campaign: Campaign, name: str, facts: Mapping[str, Any]) -> Person:
    regions = tuple(facts.get("regions", ()))
    profile = PersonProfile(name=name, nationality=regions, home=regions, languages=tuple(facts.get("languages", ())))
    with database.write() as connection:
        identifier = add_person(connection, profile)
    add_member(database, campaign, identifier, *(Role(role) for role in facts["roles"]))
    member = find_member(database, campaign, identifier)
    assert member is not None
    return member.person


def play(  # noqa: C901 - one case for each step
    database: Database,
    campaign: Campaign,
    people: Mapping[str, Person],
    entry: Mapping[str, Any],
    start: datetime,
    organiser: str,
) -> CampaignItem:
    """Let the people of the demo do to one item what its entry says."""
    boss = Person(id=organiser, roles=frozenset({Role.ORGANISER}))
    author = people[entry["by"]] if "by" in entry else boss
    clock = start
    item: CampaignItem | None = None

    def act(person: Person | None, action: Any) -> None:
        nonlocal item, clock
        clock += STEP
        item = perform(database, campaign, person, action, item=item.id if item else "", at=clock).item

    for step in entry["steps"]:
        [(name, value)] = step.items()
        if name in ("create", "import"):
            content = campaign.kind.admit(campaign.settings, value) if name == "import" else value
            stage = campaign.flow.stages[0].name if name == "import" else ""
            act(author, Create(token_hex(6), content, entry.get("region", ""), entry.get("language", ""), stage=stage))
            continue
        assert item is not None, "the first step of an item creates it"
        match name:
            case "submit":
                act(author, Submit(item.content | value, seconds=95, region=item.region, language=item.language))
            case "edit":
                act(author, Revise(item.content | value, item.region, item.language))
            case "answer":
                ask = f"{item.id}.{len(item.asks)}"
                act(author, AskModel(ask, value["task"], campaign.kind.tasks[value["task"]].kept(item)))
                act(None, Answered(ask, value.get("content"), value.get("failure", "")))
            case "answers":
                given = {task: chain(entries, repeat(entries[-1])) for task, entries in value.items()}
                while waiting := [ask for ask in item.asks if ask.waiting]:
                    entry_of = next(given[waiting[0].task])
                    failure = entry_of.get("failure", "")
                    act(None, Answered(waiting[0].id, None if failure else entry_of, failure))
            case "vote":
                for person, answer in value.items():
                    act(people[person], Take())
                    form = campaign.flow.stage(item.stage).form(item)
                    order = as_seen(form, item.id, people[person].id).blocks
                    act(people[person], Cast(answer, seconds=40, order=order))
            case "draw":
                act(boss, Recheck())
            case "decide":
                act(boss, Adjudicate(value["outcome"], value.get("note", "")))
            case _:
                raise InputError(f"unknown step {name!r}")
    assert item is not None
    return item
