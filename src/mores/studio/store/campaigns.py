"""Campaigns in the store: making one, opening it with its rules, changing its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from sqlalchemy import Row, bindparam, insert, select, update

from mores.errors import InputError
from mores.studio.campaigns import open_kind
from mores.studio.kind import CampaignKind, CampaignSettings, slug
from mores.studio.phrase import Phrase
from mores.studio.plain_yaml import read_yaml
from mores.studio.records import CampaignItem, EventKind, Person, Role
from mores.studio.store.database import Database
from mores.studio.store.identity import forget_signals
from mores.studio.store.items import Campaign, now, perform
from mores.studio.store.people import record
from mores.studio.store.tables import campaigns, events, items, members
from mores.studio.workflow import Create, Flow, Reconsider, Unknown, Withdraw, count_missing, is_judged

NO_MODEL = "none"


class SettingsError(InputError):
    """Some settings cannot be used; `problems` says why, by name."""

    def __init__(self, place: str, problems: Mapping[str, str]) -> None:
        named = (Phrase("{name}: {problem}", name=name, problem=problem) for name, problem in problems.items())
        super().__init__(Phrase("{place}: {problems}", place=place, problems=Phrase.join(named, "; ")))
        self.problems = dict(problems)


PROBLEMS = {
    "missing": "Please fill in.",
    "extra_forbidden": "There is no such setting.",
    "string_type": "Write a text.",
    "string_too_short": "Write at least {min_length} characters.",
    "string_too_long": "Write at most {max_length} characters.",
    "too_short": "Give at least {min_length}.",
    "too_long": "Give at most {max_length}.",
    "int_type": "Write a whole number.",
    "int_parsing": "Write a whole number.",
    "int_from_float": "Write a whole number.",
    "float_type": "Write a number.",
    "float_parsing": "Write a number.",
    "greater_than": "It must be more than {gt}.",
    "greater_than_equal": "It must be at least {ge}.",
    "less_than": "It must be less than {lt}.",
    "less_than_equal": "It must be at most {le}.",
    "literal_error": "Choose one of the answers.",
    "date_from_datetime_parsing": "Write a day, such as 2023-12-31.",
    "date_parsing": "Write a day, such as 2023-12-31.",
    "tuple_type": "Write a list.",
    "dict_type": "Write names with values.",
    "model_type": "Write names with values.",
}
"""What pydantic finds, in words that can be translated."""


def _explain(problem: ErrorDetails) -> str:
    """Return what is wrong with a setting: in the words of the kind that found it, or in ours."""
    context = problem.get("ctx", {})
    if problem["type"] == "value_error":
        return context["error"].args[0] if context["error"].args else problem["msg"]
    template = PROBLEMS.get(problem["type"])
    return Phrase(template, **context) if template else problem["msg"]


def read_settings(kind: CampaignKind[Any], values: Mapping[str, Any], place: str = "settings") -> CampaignSettings:
    """Return a campaign's settings; SettingsError names each that is wrong."""
    try:
        settings: CampaignSettings = kind.settings.model_validate(dict(values))
    except ValidationError as error:
        problems: dict[str, str] = {}
        for problem in error.errors():
            name, *inside = map(str, problem["loc"] or ("settings",))
            reason = _explain(problem)
            if inside:
                reason = Phrase("{place}: {reason}", place=".".join(inside), reason=reason)
            problems[name] = Phrase.join((problems[name], reason), "; ") if name in problems else reason
        raise SettingsError(place, problems) from error
    return settings


def parse_campaign(text: str, place: str, folder: Path | None = None) -> tuple[CampaignKind[Any], CampaignSettings]:
    """Return the kind and settings that a YAML text describes: `kind:` and the settings beside it.

    Settings may name files of `folder`, where there is one; nobody names files of the server in the browser.
    """
    values = read_yaml(text, place)
    if not isinstance(values, dict) or not isinstance(values.get("kind"), str):
        template = "{place}: no “kind”; write “kind: culturalteaming” and the settings beside it"
        raise InputError(Phrase(template, place=place))
    kind = open_kind(values.pop("kind"))
    return kind, read_settings(kind, kind.read_files(values, folder) if folder else values, place)


def make_campaign(
    database: Database,
    kind: CampaignKind[Any],
    settings: CampaignSettings,
    *,
    name: str = "",
    demo: bool = False,
    model: str = "",
) -> Campaign:
    """Make a campaign; `name` is what stands in its address."""
    identifier = name or f"{slug(settings.title)[:30].strip('-') or kind.name}-{token_hex(4)}"
    row = {
        "id": identifier,
        "kind": kind.name,
        "title": settings.title,
        "settings": settings.model_dump(mode="json"),
        "open": True,
        "skills": {},
        "created": now(),
        "demo": demo,
    }
    with database.write() as connection:
        connection.execute(insert(campaigns), row)
    campaign = open_campaign(database, identifier, model)
    add_checks(database, campaign)
    return campaign


def add_checks(database: Database, campaign: Campaign) -> None:
    """Put the settings' attention checks into the campaign, each at the first stage whose form asks for its answer.

    Checks that the settings no longer have are withdrawn.
    """
    stages = [stage for stage in campaign.flow.stages if is_judged(stage)]
    if not stages:
        return
    organiser = Person(id="", roles=frozenset({Role.ORGANISER}))
    wanted = {
        f"check-{sha256(check.model_dump_json().encode()).hexdigest()[:20]}": check
        for check in campaign.settings.checks
    }
    there = (items.c.campaign == campaign.id, items.c.is_check, items.c.status == "open")
    made = select(events.c.key, events.c.item).join(items, items.c.id == events.c.item)
    for row in database.fetch(made.where(*there, events.c.kind == EventKind.CREATED.value)):
        if row.key not in wanted:
            perform(
                database, campaign, organiser, Withdraw(Phrase("The settings have other checks now.")), item=row.item
            )
    for key, check in wanted.items():
        blank = campaign.blank(stages[0].name, check.content, region=check.region, language=check.language)
        asking = (stage for stage in stages if set(check.answer) <= {field.name for field in stage.form(blank).fields})
        stage = next(asking, stages[0]).name
        action = Create(
            token_hex(6), check.content, check.region, check.language, stage=stage, check=dict(check.answer)
        )
        perform(database, campaign, organiser, action, key=key)


def open_campaign(database: Database, identifier: str, model: str = "") -> Campaign:
    """Return a campaign with its rules; raises `Unknown` where there is none. `model` is the studio's own."""
    rows = database.fetch(_CAMPAIGN, {"id": identifier})
    if not rows:
        raise Unknown("There is no such campaign.")
    return to_campaign(rows[0], model)


_CAMPAIGN = select(campaigns).where(campaigns.c.id == bindparam("id"))
_OPENED: dict[tuple[str, str], tuple[Row[Any], Campaign]] = {}
"""The campaigns that were opened, with the rows that they were made from: reading settings takes long."""
KEPT = 1000


def to_campaign(row: Row[Any], model: str = "") -> Campaign:
    """Return a campaign, from its row; the same object as long as the row is the same."""
    kind = open_kind(row.kind)
    known, campaign = _OPENED.get((row.id, model), (None, None))
    if campaign is None or known != row or campaign.kind is not kind:
        settings = read_settings(kind, row.settings, row.id)
        chosen = settings.model or model
        rules = {"budget": settings.budget, "open": row.open, "skills": row.skills}
        flow = Flow(row.id, kind.stages(settings), "" if chosen == NO_MODEL else chosen, **rules)
        campaign = Campaign(row.id, kind, settings, flow, row.title, row.demo, row.paused, row.notice)
        if len(_OPENED) >= KEPT:
            _OPENED.clear()
        _OPENED[row.id, model] = row, campaign
    return campaign


def list_campaigns(database: Database, model: str = "") -> list[Campaign]:
    """Return every campaign, the oldest first."""
    rows = database.fetch(select(campaigns).order_by(campaigns.c.created, campaigns.c.id))
    return [to_campaign(row, model) for row in rows]


def list_campaigns_of(database: Database, person: str, model: str = "") -> list[Campaign]:
    """Return the campaigns of one person, the newest first."""
    query = (
        select(campaigns)
        .join(members, members.c.campaign == campaigns.c.id)
        .where(members.c.person == person)
        .order_by(campaigns.c.created.desc(), campaigns.c.id)
    )
    return [to_campaign(row, model) for row in database.fetch(query)]


def change_settings(
    database: Database, campaign: Campaign, settings: CampaignSettings, by: str | None = None
) -> Campaign:
    """Change a campaign's settings. What items need is counted again; those that have enough answers are decided."""
    before = campaign.settings
    names = [name for name in type(settings).model_fields if getattr(before, name) != getattr(settings, name)]
    if not names:
        return campaign
    values = {"settings": settings.model_dump(mode="json"), "title": settings.title}
    with database.write() as connection:
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(values))
        record(connection, by, "changed settings", ", ".join(names), campaign.id)
    changed = open_campaign(database, campaign.id, campaign.flow.model)
    add_checks(database, changed)
    recount(database, changed)
    reconsider(database, changed)
    return changed


def reconsider(database: Database, campaign: Campaign) -> None:
    """Let the rules decide what needs no further answers: nobody could take it, and it would wait for ever."""
    judging = [stage.name for stage in campaign.flow.stages if is_judged(stage)]
    conditions = (items.c.status == "open", items.c.missing == 0, items.c.stage.in_(judging))
    waiting = database.fetch(select(items.c.id).where(items.c.campaign == campaign.id, *conditions))
    organiser = Person(id="", roles=frozenset({Role.ORGANISER}))
    for row in waiting if campaign.flow.open else ():
        perform(database, campaign, organiser, Reconsider(), item=row.id)


def set_open(
    database: Database,
    campaign: Campaign,
    is_open: bool,
    by: str | None = None,
    *,
    paused: bool = False,
    notice: str = "",
) -> Campaign:
    """Close or pause a campaign, with a notice for its people, or open it again."""
    paused, notice = paused and not is_open, "" if is_open else notice
    values = {"open": is_open, "paused": paused, "notice": notice}
    with database.write() as connection:
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(values))
        record(
            connection,
            by,
            "opened the campaign" if is_open else "paused the campaign" if paused else "closed the campaign",
            notice,
            campaign.id,
        )
        if not is_open and not paused:
            forget_signals(connection, campaign.id)
    return replace(campaign, flow=replace(campaign.flow, open=is_open), paused=paused, notice=notice)


def duplicate_campaign(database: Database, campaign: Campaign) -> Campaign:
    """Make a campaign with the settings of another, and without its people and items."""
    title = f"{campaign.settings.title[:190]} (2)"
    return make_campaign(database, campaign.kind, campaign.settings.model_copy(update={"title": title}))


def recount(database: Database, campaign: Campaign) -> None:
    """Count again how many answers each waiting item needs."""
    waiting = (items.c.campaign == campaign.id, items.c.status == "open")
    with database.write() as connection:
        for row in connection.execute(select(items.c.id, items.c.missing, items.c.state).where(*waiting)).all():
            needed = count_missing(campaign.flow, CampaignItem.model_validate(row.state))
            if needed != row.missing:
                connection.execute(update(items).where(items.c.id == row.id).values(missing=needed))
