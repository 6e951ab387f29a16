"""The work of an author on an item: beginning it, asking the model, sending it on, bringing back an earlier version."""

from __future__ import annotations

import contextlib

from mores.studio.form import FormError, read_form
from mores.studio.records import CampaignItem, Content, Person
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, perform, read_events
from mores.studio.store.people import read_draft, save_draft
from mores.studio.timeline import list_versions
from mores.studio.workflow import AskModel, Create, Refused, Revise, may

SUBMIT, ASK, ADOPT = "submit", "ask:", "adopt:"
"""What an author wants after saving: send the item on, ask a model (`ask:TASK`), take over an answer (`adopt:ASK`)."""


def begin_item(campaign: Campaign, person: Person) -> CampaignItem:
    """Return an item that its author has not written yet, for its form."""
    settings = campaign.settings
    regions = [code for code in sorted(person.regions) if code in settings.regions or not settings.regions]
    known = sorted(person.languages, key=lambda code: (code == "en", code))  # most people write in another language
    languages = [code for code in known if code in settings.languages or not settings.languages]
    language = next(iter([*languages, *settings.languages]), "")
    region = regions[0] if regions else ""
    return campaign.blank(campaign.flow.stages[0].name, {}, author=person.id, region=region, language=language)


def check_place(
    campaign: Campaign, person: Person, item: CampaignItem, region: str, language: str, action: type = Revise
) -> tuple[str, str]:
    """Return an item's region and language: those wanted where the campaign allows them; raises `Refused`."""
    settings = campaign.settings
    region, language = region or item.region, language or item.language
    if settings.regions and region not in settings.regions:
        raise Refused("This campaign is about other regions.")
    if settings.languages and language not in settings.languages:
        raise Refused("This campaign is about other languages.")
    if not settings.regions and region not in {item.region, *person.regions}:
        raise Refused("Choose one of the regions that you are from.")
    if not settings.languages and language not in {item.language, *person.languages}:
        raise Refused("Choose one of your languages.")
    if action is Create and not region and any(stage.regional for stage in campaign.flow.stages):
        raise Refused("Say in your profile which country you are from, then come back.")
    return region, language


def is_draft(campaign: Campaign, then: str) -> bool:
    """Return whether fields may still be empty: not where the item is sent on, or a model needs all of them."""
    task = campaign.kind.tasks.get(then.removeprefix(ASK)) if then.startswith(ASK) else None
    return then != SUBMIT and not (task and task.whole)


def adopt_answer(campaign: Campaign, item: CampaignItem, then: str) -> Content:
    """Return what an author takes over from a model's answer; nothing where they did not ask for it."""
    wanted = then.partition(ADOPT)[2]
    for ask in item.asks:
        if ask.id == wanted and ask.answer:
            fills = campaign.kind.tasks[ask.task].fills
            return {name: ask.answer[name] for name in fills if name in ask.answer}
    return {}


def ask_model(database: Database, campaign: Campaign, person: Person, item: CampaignItem, task: str, key: str) -> None:
    """Ask the campaign's model about the present version of an item."""
    kept = campaign.kind.tasks[task].kept(item) if task in campaign.kind.tasks else {}
    action = AskModel(f"{item.id}.{len(item.asks)}", task, kept)
    perform(database, campaign, person, action, item=item.id, key=key)


def find_opening(campaign: Campaign, person: Person, item: CampaignItem) -> str:
    """Return the task that is asked in the author's name when an item comes to its stage; empty where there is none."""
    opening = campaign.flow.stage(item.stage).opening
    asks = opening and may(campaign.flow, item, person, AskModel) is None and not item.asks_of(opening)
    return opening if asks else ""


def restore_version(
    database: Database, campaign: Campaign, person: Person, item: CampaignItem, number: float, key: str
) -> None:
    """Bring back an earlier version as a new one; what was being typed becomes a version before it."""
    if item.author != person.id:
        raise Refused("Only its author can change this item.")
    if reason := may(campaign.flow, item, person, Revise):
        raise Refused(reason)
    versions = list_versions(read_events(database, campaign, item.id))
    wanted = next((version for version in versions if version.number == number), None)
    if wanted is None:
        raise Refused("There is no such version.")
    with contextlib.suppress(FormError):
        typed = read_draft(database, campaign, person.id, item.id)
        form = campaign.flow.stage(item.stage).form(item)
        content = item.content | read_form(form, typed, draft=True, before=item.content) if typed else item.content
        if content != item.content:
            perform(database, campaign, person, Revise(content), item=item.id, key=f"{key}.typed")
    action = Revise(wanted.content, wanted.region, wanted.language)
    perform(database, campaign, person, action, item=item.id, key=key)
    save_draft(database, campaign, person.id, item.id, {})
