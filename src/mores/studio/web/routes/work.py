"""Where people work: what waits for them, one item, and what they do with it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from mores.studio.form import FormError, StudioForm, as_seen, clean, read_form
from mores.studio.phrase import Phrase
from mores.studio.practice import Test
from mores.studio.records import CampaignItem, Content, ItemStatus
from mores.studio.store.items import do, find_item, first_held, held_by, now, read_events, take
from mores.studio.store.people import consent, read_draft, save_draft
from mores.studio.store.queries import count_votes, find_inspiration, items_of, seconds_spent
from mores.studio.timeline import Earlier, all_fields, earlier_versions, facts
from mores.studio.versions import list_versions
from mores.studio.web.visit import FURTHEST, Form, Joined, Place, Posted, Working, limited
from mores.studio.workflow import AskModel, Cast, Create, Refused, Release, Revise, Step, Submit, Withdraw, judged, may

router = APIRouter(prefix="/c/{campaign}")
NEW = "new"
SHOWN = 20
"""Items on a page of inspiration."""


@router.get("/welcome")
def welcome(place: Joined) -> Response:
    """The campaign's terms."""
    return place.page("welcome.html")


@router.post("/welcome")
def agree(place: Joined, form: Form) -> Response:
    """Agree to the terms."""
    if form.get("agree"):
        assert place.visit.account is not None
        consent(place.visit.database, place.campaign, place.visit.account.id)
    return place.go()


@router.get("")
def start(place: Working) -> Response:
    """What waits for this person in the campaign."""
    if place.organises:
        return place.go("/overview")
    held = held_by(place.visit.database, place.campaign, place.person)
    mine = items_of(place.visit.database, place.campaign, place.person)
    answered = count_votes(place.visit.database, place.campaign, place.person)
    writes = may(place.campaign.flow, None, place.person, Create) is None
    judges = any(stage.role in place.person.roles and judged(stage) for stage in place.campaign.flow.stages)
    test = Test.of(place.campaign.settings, place.member.test)
    seconds = seconds_spent(place.visit.database, place.campaign, place.person)
    values: Content = {"held": held, "mine": mine, "answered": answered, "seconds": seconds}
    return place.page("work.html", writes=writes, judges=judges, test=test, **values)


@router.post("/next", dependencies=[limited("write")])
def following(place: Working, _form: Form) -> Response:
    """Take the next item, or go on with one that waits."""
    database, campaign, person = place.visit.database, place.campaign, place.person
    held = first_held(database, campaign, person)
    if held:
        return place.go(f"/items/{held}")
    every = campaign.settings.check_every
    check = bool(every) and count_votes(database, campaign, person) % every == every - 1
    item = take(database, campaign, person, check=True) if check else None
    item = item or take(database, campaign, person)
    return place.go(f"/items/{item.id}") if item else place.go("?nothing=1")


@router.get("/new")
def new(place: Working) -> Response:
    """Begin an item."""
    check_writes(place)
    if reason := may(place.campaign.flow, None, place.person, Create):
        raise Refused(reason)
    fields = place.campaign.flow.stages[0].form(_blank(place)).fields
    asked = place.visit.request.query_params
    return _write(place, None, {}, given={field.name: asked[field.name] for field in fields if field.name in asked})


@router.get("/inspiration")
def inspiration(place: Working, start: int = 0) -> Response:
    """Others' accepted items in English, for authors, where the kind of campaign shows them."""
    kind, settings = place.campaign.kind, place.campaign.settings
    if kind.inspire is None or place.campaign.flow.stages[0].role not in place.person.roles:
        raise HTTPException(404)
    start = min(max(start, 0), FURTHEST)
    found = find_inspiration(place.visit.database, place.campaign, place.person, start, SHOWN + 1)
    shown = [(item.id, content) for item in found[:SHOWN] if (content := kind.inspire(settings, item)) is not None]
    more = start + SHOWN if len(found) > SHOWN else 0
    return place.page("inspiration.html", shown=shown, start=start, earlier=max(start - SHOWN, 0), more=more)


@router.post("/items", dependencies=[limited("write")])
def create(place: Working, form: Form) -> Response:
    """Keep a new item, or send it on at once."""
    check_writes(place)
    stage = place.campaign.flow.stages[0]
    blank = _blank(place)
    try:
        content = read_form(stage.form(blank), form.values, draft=_is_draft(place, form))
    except FormError as error:
        return _write(place, None, error.problems, form)
    database, campaign = place.visit.database, place.campaign
    region, language = _where(place, form, blank)
    if not region and any(stage.regional for stage in campaign.flow.stages):
        raise Refused("Say in your profile which country you are from, then come back.")
    action = Create(token_hex(6), content, region, language)
    item = do(database, campaign, place.person, action, key=form.key).item
    save_draft(database, campaign, place.person.id, NEW, {})
    return _then(place, item, content, form)


@router.get("/items/{item}")
def show(item: str, place: Working) -> Response:
    """One item: to write, to judge, or to look at."""
    shown = _find(place, item)
    if place.organises:
        return place.go(f"/items/{item}/life")
    stage = place.campaign.flow.stage(shown.stage)
    if shown.author == place.person.id:
        if stage.own and shown.status is ItemStatus.OPEN:
            return _write(place, shown, {})
        return place.page("mine.html", item=shown, stage=stage)
    if may(place.campaign.flow, shown, place.person, Cast) is None:
        return _judge(place, shown, {})
    raise HTTPException(404)


@router.post("/items/{item}/save", dependencies=[limited("write")])
def save(item: str, place: Working, form: Form) -> Response:
    """Keep one's changes, ask the model, or send the item on."""
    shown = _find(place, item)
    stage = place.campaign.flow.stage(shown.stage)
    if reason := may(place.campaign.flow, shown, place.person, Revise):
        raise Refused(reason)
    try:
        changed = read_form(stage.form(shown), form.values, draft=_is_draft(place, form))
    except FormError as error:
        return _write(place, shown, error.problems, form)
    content = shown.content | changed | _adopted(place, shown, form)
    region, language = _where(place, form, shown)
    if form.get("then") != "submit" and (content, region, language) != (
        shown.content,
        shown.region,
        shown.language,
    ):
        action = Revise(content, region, language)
        shown = do(place.visit.database, place.campaign, place.person, action, item=item, key=form.key).item
    save_draft(place.visit.database, place.campaign, place.person.id, item, {})
    return _then(place, shown, content, form)


@router.post("/items/{item}/restore", dependencies=[limited("write")])
def restore(item: str, place: Working, form: Form) -> Response:
    """Bring back an earlier version of one's item, as a new version; what was being typed becomes one before it."""
    shown = _find(place, item)
    database, campaign, person = place.visit.database, place.campaign, place.person
    if shown.author != person.id:
        raise Refused("Only its author can change this item.")
    if reason := may(campaign.flow, shown, person, Revise):
        raise Refused(reason)
    versions = list_versions(read_events(database, campaign, item))
    wanted = next((version for version in versions if version.number == form.number("version")), None)
    if wanted is None:
        raise Refused("There is no such version.")
    with contextlib.suppress(FormError):
        typed = read_draft(database, campaign, person.id, item)
        fields = campaign.flow.stage(shown.stage).form(shown)
        content = shown.content | read_form(fields, typed, draft=True) if typed else shown.content
        if content != shown.content:
            do(database, campaign, person, Revise(content), item=item, key=f"{form.key}.typed")
    action = Revise(wanted.content, wanted.region, wanted.language)
    do(database, campaign, person, action, item=item, key=form.key)
    save_draft(database, campaign, person.id, item, {})
    return place.go(f"/items/{item}")


def _is_draft(place: Place, form: Posted) -> bool:
    """Return whether fields may still be empty: not where the item is sent on, or a model needs all of them."""
    then = form.get("then")
    task = place.campaign.kind.tasks.get(then.removeprefix("ask:")) if then.startswith("ask:") else None
    return then != "submit" and not (task and task.whole)


def _adopted(place: Place, item: CampaignItem, form: Posted) -> Content:
    """Return what an author takes over from a model's answer; nothing where they did not ask for it."""
    wanted = form.get("then").partition("adopt:")[2]
    ask = next((ask for ask in item.asks if ask.id == wanted and ask.answer), None)
    if ask is None or ask.answer is None:
        return {}
    return {name: ask.answer[name] for name in place.campaign.kind.tasks[ask.task].fills if name in ask.answer}


def _ask(place: Place, item: CampaignItem, name: str, key: str) -> None:
    """Ask the campaign's model about the item as it is now."""
    kept = place.campaign.kind.tasks[name].kept(item) if name in place.campaign.kind.tasks else {}
    action = AskModel(f"{item.id}.{len(item.asks)}", name, kept)
    do(place.visit.database, place.campaign, place.person, action, item=item.id, key=key)


def _then(place: Place, item: CampaignItem, content: Content, form: Posted) -> Response:
    """Return what a person wants after saving: send it on, ask the model, or nothing."""
    database, campaign, person = place.visit.database, place.campaign, place.person
    then = form.get("then")
    if then == "submit":
        region, language = _where(place, form, item)
        action = Submit(content, form.number("seconds"), region, language)
        item = do(database, campaign, person, action, item=item.id, key=f"{form.key}.submit").item
        opening = campaign.flow.stage(item.stage).opening
        asks = opening and may(campaign.flow, item, person, AskModel) is None and not item.asks_of(opening)
        if asks and place.visit.studio.limiter.allows("ask", person.id):
            _ask(place, item, opening, f"{form.key}.ask")
    elif then.startswith("ask:"):
        if not place.visit.studio.limiter.allows("ask", person.id):
            raise HTTPException(429, "Too many questions. Please wait a minute.")
        _ask(place, item, then.removeprefix("ask:"), f"{form.key}.ask")
    return place.go(f"/items/{item.id}")


@router.post("/items/{item}/vote", dependencies=[limited("write")])
def vote(item: str, place: Working, form: Form) -> Response:
    """Answer the stage's form."""
    shown = _find(place, item)
    stage = place.campaign.flow.stage(shown.stage)
    if reason := may(place.campaign.flow, shown, place.person, Cast):
        raise Refused(reason)
    whole = as_seen(stage.form(shown), item, place.person.id)
    step = _step(whole, shown, place)
    if form.number("step", step) != step:
        raise Refused("You have answered this step already. Please load the page again.")
    try:
        answer = read_form(whole.at(step), form.values)
    except FormError as error:
        return _judge(place, shown, error.problems, form)
    last = step == whole.steps
    seconds, comment = form.number("seconds"), clean(form.get("comment"))[:2000]
    order = whole.blocks
    action = Cast(answer, seconds, comment, order) if last else Step(step, answer, seconds, order)
    do(place.visit.database, place.campaign, place.person, action, item=item, key=form.key)
    return place.go(f"?done={item}" if last else f"/items/{item}")


def _step(form: StudioForm, item: CampaignItem, place: Place) -> int:
    """Return the step that a person has to answer now; after the last one, the last."""
    begun = item.begun_by(place.person.id)
    return min(begun.step + 1 if begun else 1, form.steps)


@router.post("/items/{item}/decline", dependencies=[limited("write")])
def decline(item: str, place: Working, form: Form) -> Response:
    """Give an item back: "I can't judge this", with a reason."""
    _find(place, item)
    reason = clean(form.get("reason"))[:500] or Phrase("no reason given")
    do(place.visit.database, place.campaign, place.person, Release(reason), item=item, key=form.key)
    return place.go()


@router.post("/items/{item}/withdraw", dependencies=[limited("write")])
def withdraw(item: str, place: Working, form: Form) -> Response:
    """Take one's item out."""
    _find(place, item)
    action = Withdraw(clean(form.get("reason"))[:500])
    do(place.visit.database, place.campaign, place.person, action, item=item, key=form.key)
    return place.go()


@router.get("/items/{item}/state")
def state(item: str, place: Working) -> Response:
    """Whether a model still has to answer, for a page that waits."""
    shown = _find(place, item)
    mine = shown.author == place.person.id or place.organises
    if not mine and may(place.campaign.flow, shown, place.person, Cast):
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
    save_draft(place.visit.database, place.campaign, place.person.id, key, form.lists)
    return JSONResponse({"saved": True})


def _find(place: Place, item: str) -> CampaignItem:
    return find_item(place.visit.database, place.campaign, place.person, item)


def check_writes(place: Place) -> None:
    """For who does not write items in this campaign there is no page to write one."""
    first = place.campaign.flow.stages[0]
    if not first.own or not (place.organises or first.role in place.person.roles):
        raise HTTPException(404)


def _blank(place: Place) -> CampaignItem:
    """Return an item that is not there yet, for its form."""
    settings, person = place.campaign.settings, place.person
    regions = [code for code in sorted(person.regions) if code in settings.regions or not settings.regions]
    known = sorted(person.languages, key=lambda code: (code == "en", code))  # most people write in another language
    languages = [code for code in known if code in settings.languages or not settings.languages]
    languages = languages or list(settings.languages[:1])
    stage = place.campaign.flow.stages[0].name
    return CampaignItem(
        id=NEW,
        campaign=place.campaign.id,
        author=person.id,
        content={},
        stage=stage,
        region=regions[0] if regions else "",
        language=languages[0] if languages else "",
        created=now(),
        updated=now(),
    )


def _where(place: Place, form: Posted, item: CampaignItem) -> tuple[str, str]:
    """Return the region and language of an item: the form's, where the campaign allows them."""
    settings = place.campaign.settings
    region, language = form.get("region") or item.region, form.get("language") or item.language
    if settings.regions and region not in settings.regions:
        raise Refused("This campaign is about other regions.")
    if settings.languages and language not in settings.languages:
        raise Refused("This campaign is about other languages.")
    if not settings.regions and region not in {item.region, *place.person.regions}:
        raise Refused("Choose one of the regions that you are from.")
    if not settings.languages and language not in {item.language, *place.person.languages}:
        raise Refused("Choose one of your languages.")
    return region, language


def _values(form: Posted | None, draft: Content, content: Content) -> dict[str, Any]:
    """Return what a form shows: what was just sent, else the draft, else what is kept."""
    return form.lists if form else content | draft


def _write(
    place: Place, item: CampaignItem | None, problems: Content, form: Posted | None = None, given: Content | None = None
) -> Response:
    """Return the page of an author; `given` is what a link has filled in."""
    shown = item or _blank(place)
    stage = place.campaign.flow.stage(shown.stage)
    saved = read_draft(place.visit.database, place.campaign, place.person.id, shown.id)
    values = _values(form, saved, shown.content) | (given or {})
    fields: StudioForm = stage.form(shown)
    return _item_page(place, "write.html", shown, fields, values, problems)


def _judge(place: Place, item: CampaignItem, problems: Content, form: Posted | None = None) -> Response:
    stage = place.campaign.flow.stage(item.stage)
    mine = next((vote.answer for vote in item.votes_at(stage.name) if vote.person == place.person.id), {})
    saved = read_draft(place.visit.database, place.campaign, place.person.id, item.id)
    fields = as_seen(stage.form(item), item.id, place.person.id)
    values = _values(form, saved, fields.values | mine)
    return _item_page(place, "judge.html", item, fields, values, problems, _step(fields, item, place))


def _item_page(
    place: Place,
    template: str,
    item: CampaignItem,
    fields: StudioForm,
    values: Content,
    problems: Content,
    step: int = 1,
) -> Response:
    """Return the page of an item with its form; of a form in steps, with what the person answered in earlier ones."""
    begun = item.begun_by(place.person.id)
    return place.page(
        template,
        code=422 if problems else 200,
        item=item,
        stage=place.campaign.flow.stage(item.stage),
        form=fields.at(step) if template == "judge.html" else fields,
        step=step,
        steps=fields.steps,
        answered=facts(fields, begun.answer) if begun else (),
        values=values,
        problems=problems,
        key=token_hex(12),
        earlier=_earlier(place, item) if template == "write.html" and item.version > 1 else (),
    )


def _earlier(place: Place, item: CampaignItem) -> Sequence[Earlier]:
    """Return the earlier versions of an author's item, which can be brought back."""
    events = read_events(place.visit.database, place.campaign, item.id)
    return earlier_versions(all_fields(place.campaign.flow, item), events)
