"""The rights of people on an item, and how many people it still needs."""

from __future__ import annotations

import mores.studio.workflow.actions as actions
from mores.studio.form import StudioForm
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.workflow.actions import Action
from mores.studio.workflow.stages import CampaignStage, Flow

EVERYBODY = 1_000_000
"""How many people an attention check still needs, always."""
DECIDED = {
    ItemStatus.ACCEPTED: "This item is accepted.",
    ItemStatus.REJECTED: "This item is rejected.",
    ItemStatus.WITHDRAWN: "This item is withdrawn.",
}


def may(flow: Flow, item: CampaignItem | None, person: Person | None, action: type[Action]) -> str | None:  # noqa: C901 - one case for each action
    """Return why someone may not do something to an item; None where they may. A model or the clock is person None."""
    if action is actions.Answered:
        return None if person is None else "Only a model answers."
    if person is None:
        return None if action is actions.Release else "Please sign in."
    organiser = Role.ORGANISER in person.roles
    if not flow.open and action is not actions.Withdraw:
        return "This campaign is closed."
    if item is None:
        return _may_create(flow, person) if action is actions.Create else "There is no such item."
    if action is actions.Withdraw and item.status is not ItemStatus.WITHDRAWN:
        return None if organiser or person.id == item.author else "Only its author can withdraw an item."
    if action is actions.Recheck:
        return _may_recheck(flow, item, organiser)
    if item.status is not ItemStatus.OPEN and not (action is actions.Adjudicate and item.status is ItemStatus.REJECTED):
        return DECIDED[item.status]
    if action in (actions.Adjudicate, actions.Reconsider):
        return None if organiser else "Only an organiser decides."
    if action is actions.AskAgain:
        return None if organiser else "Only an organiser has models asked again."
    stage = flow.stage(item.stage)
    if action is actions.AskModel:
        return _may_ask(flow, stage, item, person)
    if action in (actions.Revise, actions.Submit):
        return _may_write(stage, item, person)
    if action is actions.Take:
        return _may_take(flow, stage, item, person)
    if action is actions.Release:
        return None if _holds(item, person) else "You do not have this item."
    return _may_vote(stage, item, person)


def writes_items(flow: Flow, person: Person) -> bool:
    """Return whether the campaign has items that this person could write."""
    return flow.stages[0].own and bool({Role.ORGANISER, flow.stages[0].role} & person.roles)


def _may_create(flow: Flow, person: Person) -> str | None:
    if Role.ORGANISER in person.roles:
        return None
    if not writes_items(flow, person):
        return "You cannot write items in this campaign."
    if person.left is not None and person.left <= 0:
        return "Your first items are being looked at. The organiser will let you go on."
    return None if person.qualified else "Please take the test first."


def _may_recheck(flow: Flow, item: CampaignItem, organiser: bool) -> str | None:
    if not organiser:
        return "Only an organiser draws a sample."
    if flow.sampling is None or item.check is not None:
        return "There is nothing to judge once more."
    if item.status is not ItemStatus.ACCEPTED:
        return "Only accepted items are judged once more."
    return "This item was judged once more already." if flow.sampling.name in item.results else None


def _may_write(stage: CampaignStage, item: CampaignItem, person: Person) -> str | None:
    if not stage.own:
        return "This item is being checked and cannot be changed now."
    if person.id == item.author or Role.ORGANISER in person.roles:
        return None
    return "Only its author can change this item."


def _may_ask(flow: Flow, stage: CampaignStage, item: CampaignItem, person: Person) -> str | None:
    if not stage.tasks:
        return "No model can be asked here."
    if not flow.model:
        return "This campaign has no model. You can go on without it."
    if Role.ORGANISER in person.roles:
        return None
    reason = _may_write(stage, item, person) if stage.own else None if _holds(item, person) else "Not your item."
    if reason:
        return reason
    asked = sum(ask.person == person.id for ask in item.asks)
    return (
        None
        if asked < flow.budget
        else Phrase("You have asked {count} times about this item, the most allowed.", count=flow.budget)
    )


def _may_take(flow: Flow, stage: CampaignStage, item: CampaignItem, person: Person) -> str | None:
    if not is_judged(stage):
        return "There is nothing to judge at this stage."
    if stage.role not in person.roles:
        return "This item waits for people in another role."
    if not person.qualified:
        return "Please take the test first."
    if item.author == person.id or any(ask.person == person.id for ask in item.asks):
        return "You cannot judge your own item."
    if stage.regional and item.region not in person.regions:
        return "This item is for people from its region."
    if stage.speaking and item.language not in person.languages:
        return "This item is for people who know its language."
    if stage.others and any((vote.person, vote.version) == (person.id, item.version) for vote in item.votes):
        return "You have answered this item at an earlier stage."
    if _holds(item, person):
        return "You have this item already."
    if (person.id, stage.name) in item.declined or any(vote.person == person.id for vote in item.votes_at(stage.name)):
        return "You have answered this item already."
    return None if count_missing(flow, item) else "Others have taken this item."


def _may_vote(stage: CampaignStage, item: CampaignItem, person: Person) -> str | None:
    if item.author == person.id:
        return "You cannot judge your own item."
    if _holds(item, person) or any(vote.person == person.id for vote in item.votes_at(stage.name)):
        return None
    return "You do not have this item any more. Please take the next one."


def find_step(form: StudioForm, item: CampaignItem, person: Person) -> int:
    """Return the step of a form that a person has to answer now; after the last one, the last."""
    begun = item.begun_by(person.id)
    return min(begun.step + 1 if begun else 1, form.steps)


def is_judged(stage: CampaignStage) -> bool:
    """Return whether people take items of others at this stage and answer a form about them."""
    return not stage.own and stage.role not in (None, Role.ORGANISER)


def _holds(item: CampaignItem, person: Person) -> bool:
    return any(hold.person == person.id and hold.stage == item.stage for hold in item.holds)


def count_taken(item: CampaignItem) -> int:
    """Return how many people have answered or are answering about this version at this stage."""
    return len(item.votes_at(item.stage)) + len(item.holds)


def count_missing(flow: Flow, item: CampaignItem) -> int:
    """Return how many more people the item needs at its stage."""
    stage = flow.stage(item.stage)
    if item.status is not ItemStatus.OPEN or not is_judged(stage):
        return 0
    return EVERYBODY if item.check is not None else max(stage.people(item) - count_taken(item), 0)
