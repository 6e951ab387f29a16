"""One item as the organiser sees it: its life, the disagreements about it, and deciding in place of the votes."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.form import FormError, StudioForm, read_form
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.store.items import perform, read_events, read_item
from mores.studio.store.people import list_members
from mores.studio.store.queries import count_disputed, list_disputed
from mores.studio.timeline import list_values, tell_life
from mores.studio.web.visit import Form, Organising, Place, Posted, limited
from mores.studio.workflow import Adjudicate, AskAgain, CampaignStage, Refused, may

router = APIRouter(prefix="/c/{campaign}")
OUTCOMES = ("next", "back", "rejected")


@router.get("/items/{item}/life")
def life(item: str, place: Organising) -> Response:
    """One item's whole life."""
    return _life(place, _find(place, item), {})


@router.get("/disagreements")
def disagreements(place: Organising, item: str = "") -> Response:
    """The items about which people disagree, one at a time, with their answers side by side."""
    lines = list_disputed(place.visit.database, place.campaign)
    if not lines:
        return place.page("disagreements.html", lines=lines, item=None)
    shown = _find(place, item or lines[0].id)
    return _disagreement(place, shown, {})


@router.post("/items/{item}/adjudicate", dependencies=[limited("write")])
def adjudicate(item: str, place: Organising, form: Form) -> Response:
    """Decide in place of the votes."""
    shown = _find(place, item)
    outcome = form.get("outcome")
    if outcome not in OUTCOMES:
        raise Refused("Choose what shall happen to the item.")
    stage = place.campaign.flow.stage(shown.stage)
    queue = form.get("queue") == "1"
    result: Content = {}
    if outcome == "next" and (decided := decision_form(stage, shown)):
        try:
            result = read_form(decided, form.values)
            result = stage.adjudge(shown, result) if stage.adjudge else result
        except FormError as error:
            return _disagreement(place, shown, error.problems, form) if queue else _life(place, shown, error.problems)
    following = _after(place, item) if queue else ""
    note, to = form.get("note").strip()[:2000], form.get("to")
    action = Adjudicate(outcome, note, result, to)  # type: ignore[arg-type]  # the outcome is one of these
    perform(place.visit.database, place.campaign, place.person, action, item=item, key=form.key)
    if queue:
        return place.go(f"/disagreements?item={following}" if following else "/disagreements")
    return place.go(f"/items/{item}/life")


@router.post("/items/{item}/ask-again", dependencies=[limited("write")])
def ask_again(item: str, place: Organising, form: Form) -> Response:
    """Ask models again what they could not answer."""
    perform(place.visit.database, place.campaign, place.person, AskAgain(), item=item, key=form.key)
    return place.go(f"/items/{item}/life")


def decision_form(stage: CampaignStage, item: CampaignItem) -> StudioForm | None:
    """Return what an organiser fills in when they let an item go on; None where there is nothing to fill in."""
    return stage.form(item) if stage.role is Role.ORGANISER or stage.adjudge else None


def _find(place: Place, item: str) -> CampaignItem:
    try:
        return read_item(place.visit.database, place.campaign, item)
    except Refused:
        raise HTTPException(404) from None


def _names(place: Place) -> dict[str, str]:
    return {member.person.id: member.name for member in list_members(place.visit.database, place.campaign)}


def _life(place: Place, item: CampaignItem, problems: Content) -> Response:
    events = read_events(place.visit.database, place.campaign, item.id)
    decides = may(place.campaign.flow, item, place.person, Adjudicate) is None
    form = decision_form(place.campaign.flow.stage(item.stage), item) if decides else None
    return place.page(
        "life.html",
        code=422 if problems else 200,
        item=item,
        entries=tell_life(place.campaign.flow, place.campaign.kind, events),
        names=_names(place),
        decides=decides,
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
    lines = list_disputed(place.visit.database, place.campaign)
    places = [line.id for line in lines]
    number = places.index(item.id) if item.id in places else -1
    return place.page(
        "disagreements.html",
        code=422 if problems else 200,
        item=item,
        stage=stage,
        votes=sorted(votes, key=lambda vote: (vote[1] or "", vote[0].at)),
        lines=lines,
        number=number,
        total=count_disputed(place.visit.database, place.campaign),
        before=places[number - 1] if number > 0 else "",
        after=_after(place, item.id),
        names=_names(place),
        form=decision_form(stage, item),
        values=form.lists if form else {},
        problems=problems,
        key=token_hex(12),
    )


def _after(place: Place, item: str) -> str:
    """Return the next item of the queue; empty after the last."""
    places = [line.id for line in list_disputed(place.visit.database, place.campaign)]
    number = places.index(item) + 1 if item in places else 0
    return places[number] if number < len(places) else ""
