"""Pages on which people work: what waits for them, one item, and what they do with it."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from mores.studio import workflow, writing
from mores.studio.form import FormError, StudioForm, as_seen, clean, read_form
from mores.studio.phrase import Phrase
from mores.studio.practice import QualificationTest
from mores.studio.records import CampaignItem, Content, EventKind, ItemStatus
from mores.studio.store.items import find_done, find_item, list_held, now, read_events
from mores.studio.store.panels import read_panels, see_place
from mores.studio.store.people import change_member, read_draft, save_draft
from mores.studio.store.queries import find_inspiration, list_items_by, list_replies, sum_seconds
from mores.studio.store.work import CANDIDATES, count_votes, count_work, take_next
from mores.studio.timeline import Earlier, join_forms, list_earlier, list_values
from mores.studio.web.visit import FURTHEST, Form, Joined, Place, Posted, Working, limited

router = APIRouter(prefix="/c/{campaign}")
NEW = "new"
SHOWN = 20
"""Items on a page of inspiration."""


@router.get("/welcome")
def welcome(place: Joined) -> Response:
    """Show the campaign's terms."""
    return place.page("welcome.html")


@router.post("/welcome")
def agree(place: Joined, form: Form) -> Response:
    """Agree to the terms."""
    if form.get("agree"):
        change_member(place.database, place.campaign, place.person.id, consented=now())
    return place.go()


@router.get("")
def start(place: Working) -> Response:
    """Show what waits for this person in the campaign."""
    if place.organises:
        return place.go("/overview")
    database, campaign, person = place.database, place.campaign, place.person
    panel = read_panels(database, campaign).get(person.link) if place.member.participant else None
    return place.page(
        "work.html",
        held=list_held(database, campaign, person),
        mine=list_items_by(database, campaign, person),
        answered=count_votes(database, campaign, person),
        seconds=sum_seconds(database, campaign, person),
        left=count_work(database, campaign, person),
        most=CANDIDATES,
        writes=workflow.may(campaign.flow, None, person, workflow.Create) is None,
        judges=any(stage.role in person.roles and workflow.is_judged(stage) for stage in campaign.flow.stages),
        test=QualificationTest.read(campaign.settings, place.member.test),
        panel=panel,
        state=see_place(database, campaign, place.member, panel) if panel else "",
        replies=list_replies(database, campaign, person.id),
    )


@router.post("/next", dependencies=[limited("write")])
def following(place: Working, _form: Form) -> Response:
    """Take the next item, or go on with one that waits; a participant's place that has ended gets none."""
    if place.member.place.get("state", "working") != "working":
        return place.go()
    item = take_next(place.database, place.campaign, place.person)
    return place.go(f"/items/{item}") if item else place.go("?nothing=1")


@router.get("/new")
def new(place: Working) -> Response:
    """Begin an item."""
    check_writes(place)
    if reason := workflow.may(place.campaign.flow, None, place.person, workflow.Create):
        raise workflow.Refused(reason)
    fields = place.campaign.flow.stages[0].form(writing.begin_item(place.campaign, place.person)).fields
    asked = place.visit.request.query_params
    return write_page(place, None, {}, given={field.name: asked[field.name] for field in fields if field.name in asked})


@router.get("/inspiration")
def inspiration(place: Working, start: int = 0) -> Response:
    """Show authors the accepted items of others in English, where the kind of campaign does."""
    kind, settings = place.campaign.kind, place.campaign.settings
    if kind.inspire is None or place.campaign.flow.stages[0].role not in place.person.roles:
        raise HTTPException(404)
    start = min(max(start, 0), FURTHEST)
    found = find_inspiration(place.database, place.campaign, place.person, start, SHOWN + 1)
    shown = [(item.id, content) for item in found[:SHOWN] if (content := kind.inspire(settings, item)) is not None]
    more = start + SHOWN if len(found) > SHOWN else 0
    return place.page("inspiration.html", shown=shown, start=start, earlier=max(start - SHOWN, 0), more=more)


@router.post("/items", dependencies=[limited("write")])
def create(place: Working, form: Form) -> Response:
    """Keep a new item, or send it on at once."""
    check_writes(place)
    blank = writing.begin_item(place.campaign, place.person)
    try:
        fields = place.campaign.flow.stages[0].form(blank)
        content = read_form(fields, form.values, draft=writing.is_draft(place.campaign, form.get("then")))
    except FormError as error:
        return write_page(place, None, error.problems, form)
    where = writing.check_place(
        place.campaign, place.person, blank, form.get("region"), form.get("language"), workflow.Create
    )
    since = place.visit.read_time(form.get("opened"))
    item = place.perform(workflow.Create(token_hex(6), content, *where, since=since), "", form.key)
    save_draft(place.database, place.campaign, place.person.id, NEW, {})
    return _then(place, item, content, where, form)


@router.get("/items/{item}")
def show(item: str, place: Working) -> Response:
    """Show one item: to write, to judge, or to look at."""
    shown = _find(place, item)
    if place.organises:
        return place.go(f"/items/{item}/life")
    stage = place.campaign.flow.stage(shown.stage)
    if shown.author == place.person.id:
        if stage.own and shown.status is ItemStatus.OPEN:
            return write_page(place, shown, {})
        return place.page("mine.html", item=shown, stage=stage)
    if workflow.may(place.campaign.flow, shown, place.person, workflow.Cast) is None:
        return judge_page(place, shown, {})
    raise HTTPException(404)


@router.post("/items/{item}/save", dependencies=[limited("write")])
def save(item: str, place: Working, form: Form) -> Response:
    """Keep one's changes, ask the model, or send the item on."""
    shown, then = _find(place, item), form.get("then")
    if any(find_done(place.database, place.campaign, place.person, form.key + end) for end in ("", ".submit", ".ask")):
        return place.go(f"/items/{item}")
    if reason := workflow.may(place.campaign.flow, shown, place.person, workflow.Revise):
        raise workflow.Refused(reason)
    try:
        fields = place.campaign.flow.stage(shown.stage).form(shown)
        is_draft = writing.is_draft(place.campaign, then)
        changed = read_form(fields, form.values, draft=is_draft, before=shown.content)
    except FormError as error:
        return write_page(place, shown, error.problems, form)
    content = shown.content | changed | writing.adopt_answer(place.campaign, shown, then)
    where = writing.check_place(place.campaign, place.person, shown, form.get("region"), form.get("language"))
    if then != writing.SUBMIT and (content, *where) != (shown.content, shown.region, shown.language):
        shown = place.perform(workflow.Revise(content, *where), item, form.key)
    save_draft(place.database, place.campaign, place.person.id, item, {})
    return _then(place, shown, content, where, form)


@router.post("/items/{item}/restore", dependencies=[limited("write")])
def restore(item: str, place: Working, form: Form) -> Response:
    """Bring back an earlier version of one's item."""
    number = form.number("version")
    writing.restore_version(place.database, place.campaign, place.person, _find(place, item), number, form.key)
    return place.go(f"/items/{item}")


def _then(place: Place, item: CampaignItem, content: Content, where: tuple[str, str], form: Posted) -> Response:
    """Do what an author wants after saving: send the item on, ask the model, or nothing."""
    then, task = form.get("then"), ""
    if then == writing.SUBMIT:
        item = place.perform(workflow.Submit(content, form.number("seconds"), *where), item.id, f"{form.key}.submit")
        task = writing.find_opening(place.campaign, place.person, item)
    elif then.startswith(writing.ASK):
        task = then.removeprefix(writing.ASK)
    if task and place.visit.studio.limiter.allows("ask", place.person.id):
        writing.ask_model(place.database, place.campaign, place.person, item, task, f"{form.key}.ask")
    elif then.startswith(writing.ASK):
        raise HTTPException(429, "Too many questions. Please wait a minute.")
    return place.go(f"/items/{item.id}")


@router.post("/items/{item}/vote", dependencies=[limited("write")])
def vote(item: str, place: Working, form: Form) -> Response:
    """Answer the stage's form; what was sent before is answered as it was then."""
    shown = _find(place, item)
    if kind := find_done(place.database, place.campaign, place.person, form.key):
        return place.go(f"/items/{item}" if kind is EventKind.STEPPED else f"?done={item}")
    if reason := workflow.may(place.campaign.flow, shown, place.person, workflow.Cast):
        raise workflow.Refused(reason)
    whole = as_seen(place.campaign.flow.stage(shown.stage).form(shown), item, place.person.id)
    step = workflow.find_step(whole, shown, place.person)
    if form.number("step", step) != step:
        raise workflow.Refused("You have answered this step already. Please load the page again.")
    try:
        answer = read_form(whole.select_step(step), form.values)
    except FormError as error:
        return judge_page(place, shown, error.problems, form)
    comment = clean(form.get("comment"))[:2000]
    known = [hold.taken for hold in shown.holds if hold.person == place.person.id]
    known += [vote.taken for vote in shown.votes_at(shown.stage) if vote.person == place.person.id]
    span = max((now() - taken).total_seconds() for taken in [*filter(None, known), now()])
    seconds, offline = (round(min(max(form.number(name), 0), span), 1) for name in ("seconds", "offline"))
    last = step == whole.steps
    action = (
        workflow.Cast(answer, seconds, comment, whole.blocks, offline)
        if last
        else workflow.Step(step, answer, seconds, whole.blocks)
    )
    place.perform(action, item, form.key)
    return place.go(f"?done={item}" if last else f"/items/{item}")


@router.post("/items/{item}/decline", dependencies=[limited("write")])
def decline(item: str, place: Working, form: Form) -> Response:
    """Give an item back: "I can't judge this", with a reason."""
    _find(place, item)
    reason = clean(form.get("reason"))[:500] or Phrase("no reason given")
    place.perform(workflow.Release(reason), item, form.key)
    return place.go()


@router.post("/items/{item}/withdraw", dependencies=[limited("write")])
def withdraw(item: str, place: Working, form: Form) -> Response:
    """Take one's item out."""
    _find(place, item)
    place.perform(workflow.Withdraw(clean(form.get("reason"))[:500]), item, form.key)
    return place.go()


@router.get("/items/{item}/state")
def state(item: str, place: Working) -> Response:
    """Tell a page that waits which questions a model still has to answer."""
    shown = _find(place, item)
    mine = shown.author == place.person.id or place.organises
    if not mine and workflow.may(place.campaign.flow, shown, place.person, workflow.Cast):
        raise HTTPException(404)
    waiting = [ask.id for ask in shown.asks if ask.waiting]
    return JSONResponse({"stage": shown.stage, "status": shown.status.value, "waiting": waiting})


@router.put("/drafts/{key}", dependencies=[limited("write")])
def draft(key: str, place: Working, form: Form) -> Response:
    """Keep what a person is typing, about an item that they may write or judge."""
    if key == NEW:
        check_writes(place)
    else:
        _find(place, key)
    save_draft(place.database, place.campaign, place.person.id, key, form.lists)
    return JSONResponse({"saved": True})


def _find(place: Place, item: str) -> CampaignItem:
    return find_item(place.database, place.campaign, place.person, item)


def check_writes(place: Place) -> None:
    """Refuse the pages for writing to people who do not write items in this campaign."""
    if not workflow.writes_items(place.campaign.flow, place.person):
        raise HTTPException(404)


def write_page(
    place: Place, item: CampaignItem | None, problems: Content, form: Posted | None = None, given: Content | None = None
) -> Response:
    """Return the page of an author, with their earlier versions; `given` is what a link has filled in."""
    shown = item or writing.begin_item(place.campaign, place.person)
    fields = place.campaign.flow.stage(shown.stage).form(shown)
    earlier: Sequence[Earlier] = ()
    if shown.version > 1:
        events = read_events(place.database, place.campaign, shown.id)
        earlier = list_earlier(join_forms(place.campaign.flow, shown), events)
    values = _values(place, shown, form, shown.content) | (given or {})
    return _item_page(place, "write.html", shown, fields, values=values, problems=problems, earlier=earlier)


def judge_page(place: Place, item: CampaignItem, problems: Content, form: Posted | None = None) -> Response:
    mine = next((vote.answer for vote in item.votes_at(item.stage) if vote.person == place.person.id), {})
    fields = as_seen(place.campaign.flow.stage(item.stage).form(item), item.id, place.person.id)
    values = _values(place, item, form, fields.values | mine)
    step = workflow.find_step(fields, item, place.person)
    shown = fields.select_step(step)
    answered, left = (count(place.database, place.campaign, place.person) for count in (count_votes, count_work))
    held = len(list_held(place.database, place.campaign, place.person))
    turn = (answered + (not mine), f"{answered + held + left:,}{'+' if left == CANDIDATES else ''}")
    about = {"form": shown, "step": step, "turn": turn}
    return _item_page(place, "judge.html", item, fields, values=values, problems=problems, **about)


def _values(place: Place, item: CampaignItem, form: Posted | None, kept: Content) -> Content:
    """Return what a form shows: what was just sent, else the draft, else what is kept."""
    return form.lists if form else kept | read_draft(place.database, place.campaign, place.person.id, item.id)


def _item_page(place: Place, template: str, item: CampaignItem, fields: StudioForm, **values: Any) -> Response:
    """Return the page of an item with its form; of a form in steps, with what the person answered in earlier ones."""
    begun = item.begun_by(place.person.id)
    shared: Content = {"item": item, "stage": place.campaign.flow.stage(item.stage), "form": fields, "step": 1}
    shared |= {"steps": fields.steps, "answered": list_values(fields, begun.answer) if begun else ()}
    code = 422 if values["problems"] else 200
    return place.page(template, code=code, key=token_hex(12), **shared | values)
