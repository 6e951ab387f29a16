"""One item as the organiser sees it: its life, the disagreements about it, and deciding in place of the votes."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex

from fastapi import APIRouter
from fastapi.responses import Response

from mores.studio.form import FormError
from mores.studio.records import CampaignItem, Content, ItemStatus
from mores.studio.store.items import perform, read_events, read_item
from mores.studio.store.people import find_member, list_members
from mores.studio.store.queries import count_disputed, list_disputed
from mores.studio.timeline import list_values, tell_life
from mores.studio.web.visit import Form, Organising, Place, Posted, limited
from mores.studio.workflow import Adjudicate, AskAgain, Refused, Release, Take, may

router = APIRouter(prefix="/c/{campaign}")


@router.get("/items/{item}/life")
def life(item: str, place: Organising) -> Response:
    """Show one item's whole life."""
    return _life(place, _find(place, item), {})


@router.get("/disagreements")
def disagreements(place: Organising, item: str = "") -> Response:
    """Show the items about which people disagree, one at a time, with their answers side by side."""
    if first := _turn(place, "")[2]:
        return _disagreement(place, _find(place, item or first), {})
    return place.page("disagreements.html", item=None)


@router.post("/items/{item}/adjudicate", dependencies=[limited("write")])
def adjudicate(item: str, place: Organising, form: Form) -> Response:
    """Decide in place of the votes."""
    shown, outcome, queue = _find(place, item), form.get("outcome"), form.get("queue") == "1"
    try:
        result = place.campaign.flow.stage(shown.stage).read_decision(shown, outcome, form.values)
    except FormError as error:
        return _disagreement(place, shown, error.problems, form) if queue else _life(place, shown, error.problems)
    following = _turn(place, item)[2] if queue else ""
    note, to = form.get("note").strip()[:2000], form.get("to")
    place.perform(Adjudicate(outcome, note, result, to), item, form.key)  # type: ignore[arg-type]  # the outcome is checked
    if queue:
        return place.go(f"/disagreements?item={following}" if following else "/disagreements")
    return place.go(f"/items/{item}/life")


@router.post("/items/{item}/assign", dependencies=[limited("write")])
def assign(item: str, place: Organising, form: Form) -> Response:
    """Give an item to somebody whom the rules allow it, or take it back from who has it."""
    shown, member = _find(place, item), find_member(place.database, place.campaign, form.get("person"))
    if member is None:
        raise Refused("Choose a person.")
    held = any(hold.person == member.person.id for hold in shown.holds)
    person, action = (None, Release(of=member.person.id)) if held else (member.person, Take())
    perform(place.database, place.campaign, person, action, item=item, key=form.key)
    return place.go(f"/items/{item}/life")


@router.post("/items/{item}/ask-again", dependencies=[limited("write")])
def ask_again(item: str, place: Organising, form: Form) -> Response:
    """Ask models again what they could not answer."""
    place.perform(AskAgain(), item, form.key)
    return place.go(f"/items/{item}/life")


def _find(place: Place, item: str) -> CampaignItem:
    return read_item(place.database, place.campaign, item)


def _names(place: Place) -> dict[str, str]:
    return {member.person.id: member.name for member in list_members(place.database, place.campaign)}


def _life(place: Place, item: CampaignItem, problems: Content) -> Response:
    events = read_events(place.database, place.campaign, item.id)
    decides = may(place.campaign.flow, item, place.person, Adjudicate) is None
    stage = place.campaign.flow.stage(item.stage)
    form = stage.decision_form(item) if decides else None
    members = list_members(place.database, place.campaign) if item.status is ItemStatus.OPEN else []
    return place.page(
        "life.html",
        code=422 if problems else 200,
        item=item,
        entries=tell_life(place.campaign.flow, place.campaign.kind, events),
        names=_names(place),
        decides=decides,
        workers=[member for member in members if may(place.campaign.flow, item, member.person, Take) is None],
        form=form,
        values=form.values if form else {},
        problems=problems,
        key=token_hex(12),
    )


def _disagreement(place: Place, item: CampaignItem, problems: Content, form: Posted | None = None) -> Response:
    stage = place.campaign.flow.stage(item.stage)
    fields, label = stage.form(item), place.campaign.kind.label
    votes = [
        (vote, label(vote.stage, vote.answer), list_values(replace(fields, blocks=vote.order), vote.answer))
        for vote in item.votes_at(item.stage)
    ]
    number, before, after = _turn(place, item.id)
    return place.page(
        "disagreements.html",
        code=422 if problems else 200,
        item=item,
        stage=stage,
        votes=sorted(votes, key=lambda vote: (vote[1] or "", vote[0].at)),
        number=number,
        total=count_disputed(place.database, place.campaign),
        before=before,
        after=after,
        names=_names(place),
        form=stage.decision_form(item),
        values=form.lists if form else {},
        problems=problems,
        key=token_hex(12),
    )


def _turn(place: Place, item: str) -> tuple[int, str, str]:
    """Return an item's place in the queue, -1 where it is not in it, and the items before and after it."""
    places = list_disputed(place.database, place.campaign)
    number = places.index(item) if item in places else -1
    return number, places[number - 1] if number > 0 else "", next(iter(places[number + 1 :]), "")
