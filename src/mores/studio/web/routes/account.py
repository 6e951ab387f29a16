"""Joining by a link, signing in and out, one's profile, and taking oneself out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

import segno
from fastapi import APIRouter
from fastapi.responses import FileResponse, JSONResponse, Response

from mores.culture import region_name
from mores.errors import InputError
from mores.studio.form import clean
from mores.studio.records import Person
from mores.studio.store import identity, panels, people
from mores.studio.store.campaigns import list_campaigns_of, open_campaign
from mores.studio.store.items import Campaign
from mores.studio.store.passwords import check_password, set_password
from mores.studio.store.people import AS_WRITTEN
from mores.studio.store.queries import summarise_work
from mores.studio.web.pages import WEB, choose_locale, list_locales, region_in
from mores.studio.web.places import NameKind, find_name, list_places, split_names
from mores.studio.web.visit import LANGUAGE_COOKIE, AnyVisit, Form, Posted, SignedIn, Visit, limited
from mores.studio.workflow import Refused

router = APIRouter()


@router.get("/")
def home(visit: SignedIn) -> Response:
    """Show everything that waits for this person."""
    assert visit.account is not None
    campaigns = list_campaigns_of(visit.database, visit.account.id, visit.studio.model)
    cards = [(campaign, *summarise_work(visit.database, campaign, visit.account.id)) for campaign in campaigns]
    return visit.page("home.html", cards=cards)


@router.get("/join/{token}", dependencies=[limited("join")])
def invitation(token: str, visit: AnyVisit) -> Response:
    """Show what a person is invited to, and the questions about themselves."""
    campaign = free_places(visit, token)
    if campaign and _is_participant(visit, campaign, map(str.strip, visit.request.query_params.values())):
        return visit.go(f"/c/{campaign.id}")  # also where no place is left for others
    return _join(visit, token)


def free_places(visit: Visit, token: str) -> Campaign | None:
    """Give back the late places of a panel's link, so that the next person finds one; its campaign."""
    if not (name := panels.find_panel_campaign(visit.database, token)):
        return None
    campaign = open_campaign(visit.database, name)
    panels.free_late_places(visit.database, campaign)
    return campaign


def _join(visit: Visit, token: str, problem: str = "", given: Posted | None = None) -> Response:
    """Return the page of a link; what was just sent is in its fields again."""
    found = people.find_invitation(visit.database, token)
    campaign = open_campaign(visit.database, found.campaign) if found.campaign else None
    shown: dict[str, Any] = {
        "invitation": found,
        "campaign": campaign,
        "token": token,
        "problem": problem,
        "participant": "",
    }
    if found.panel and campaign:
        asked = panels.Panel.model_validate(found.panel).about.parameter
        shown["participant"] = given.get("participant") if given else visit.request.query_params.get(asked, "").strip()
    code = 422 if problem else 200
    return visit.page("join.html", code=code, profile=None, given=given.lists if given else {}, **shown)


@router.post("/join/{token}", dependencies=[limited("join")])
def accept(token: str, visit: AnyVisit, form: Form) -> Response:
    """Join the campaign as someone new or as who one is, or sign in by one's own link."""
    free_places(visit, token)
    name = form.get("participant") or form.get("name")
    if not visit.account and (joined := people.find_joined(visit.database, token, visit.cookie, name)):
        return visit.keep(visit.go(f"/c/{joined[1]}"), people.sign_in(visit.database, joined[0]))
    found = people.find_invitation(visit.database, token)
    if found.campaign and not found.person and not found.used_by:
        campaign = open_campaign(visit.database, found.campaign)
        if not (campaign.flow.open or campaign.paused):
            raise Refused("This campaign is closed: nobody can work in it now.")
    if found.panel:
        return _join_by_panel(visit, token, found, form)
    if visit.account and not found.person:
        people.join(visit.database, token, None, visit.account.id)
        return visit.go("/")
    try:
        if found.used_by:
            visit.limit("account", found.id)
            person = people.come_back(visit.database, found.used_by, form.get("name"))
        else:
            profile = None if found.person else _profile(form, visit)
            person = people.join(visit.database, token, profile, browser=visit.cookie)
    except InputError as error:
        return _join(visit, token, error.args[0], form)
    session = people.sign_in(visit.database, person)
    if not found.campaign or found.used_by:
        return visit.keep(visit.go("/"), session)
    _note_signals(visit, found.campaign, person, form.get("name"))
    if found.personal:
        return visit.keep(visit.go(f"/c/{found.campaign}"), session)
    here = replace(visit, cookie=session, account=people.find_account(visit.database, session))
    return _show_way_back(here, person, "joined.html", onward=f"/c/{found.campaign}")


def _show_way_back(visit: Visit, person: str, page: str, **values: Any) -> Response:
    """Show a code by which someone comes back, and the link that has it; once."""
    code = identity.make_code(visit.database, person)
    address = f"{str(visit.request.base_url).rstrip('/')}/login?code={code}"
    return visit.page(
        page, code_to_keep=code, address=address, qr=segno.make(address).svg_data_uri(scale=4, border=2), **values
    )


def _note_signals(visit: Visit, campaign: str, person: str, name: str) -> None:
    """Keep what tells whether somebody joins twice."""
    headers = visit.request.headers
    browser = "\0".join((visit.address, headers.get("user-agent", ""), headers.get("accept-language", "")))
    signals = identity.hash_signals(visit.studio.key, campaign, name, browser)
    identity.note_signals(visit.database, campaign, person, signals)


def _is_participant(visit: Visit, campaign: Campaign, names: Iterable[str]) -> bool:
    """Return whether who is signed in has begun as a participant of a panel, under one of these names."""
    member = people.find_member(visit.database, campaign, visit.account.id) if visit.account else None
    return bool(member and member.participant and member.participant in names)


def _join_by_panel(visit: Visit, token: str, found: people.Invitation, form: Posted) -> Response:
    """Join as a participant of a panel: screened by its quotas, named by the id in the link."""
    assert found.campaign is not None
    campaign, panel = open_campaign(visit.database, found.campaign), panels.Panel.model_validate(found.panel)
    participant = clean(form.get("participant"))
    if _is_participant(visit, campaign, [participant]):
        return visit.go(f"/c/{campaign.id}")
    named = Posted({**form.values, "name": [participant or "–"]})
    try:
        profile = _profile(named, visit)
    except InputError as error:
        return _join(visit, token, error.args[0], form)
    regions = people.with_countries(profile.nationality) & people.with_countries(profile.home)
    someone = Person(id="", roles=frozenset(found.roles), regions=regions, languages=frozenset(profile.languages))

    def admit() -> None:
        there = people.list_members(visit.database, campaign)
        panels.check_participant(there, panel, found.id, participant, someone)

    about = {"participant": participant, "browser": visit.cookie}
    person = people.join(visit.database, token, profile, admit=admit, **about)
    _note_signals(visit, campaign.id, person, participant)
    return visit.keep(visit.go(f"/c/{campaign.id}"), people.sign_in(visit.database, person))


def _profile(form: Posted, visit: Visit) -> people.PersonProfile:
    """Return what someone tells about themselves: countries, cities and languages, in any language and script.

    What is not known, and a city whose country is, is kept as it was typed.
    """
    several: dict[str, list[str]] = {"nationality": [], "home": [], "languages": []}
    typed: dict[str, list[str]] = {}
    for name, codes in several.items():
        for value in form.values.get(name, ())[:20]:
            for part in split_names(value[:2000]):
                written = clean(part)[:100]
                if code := find_name(written, visit.locale, is_language=name == "languages"):
                    codes.append(code)
                    if name != "languages" and written not in (code, region_name(code), region_in(code, visit.locale)):
                        typed.setdefault(f"{name}{AS_WRITTEN}", []).append(written)
                elif written:
                    typed.setdefault(name, []).append(written)
    locale = form.get("locale") if form.get("locale") in list_locales() else visit.locale
    return people.read_profile(form.get("name"), form.get("email"), locale=locale, typed=typed, **several)


@router.get("/names/{tongue}/{kind}")
def names(tongue: str, kind: NameKind, _visit: AnyVisit) -> Response:
    """Send the names of countries, cities or languages in a language of the pages, for fields that offer them."""
    headers = {"Cache-Control": "public, max-age=604800"}
    return JSONResponse(list_places(choose_locale(tongue, ""), kind), headers=headers)


@router.get("/sw.js", include_in_schema=False)
def service_worker(visit: AnyVisit) -> Response:
    """Send the script by which pages can be read offline; it must lie at the studio's root."""
    headers = {"Service-Worker-Allowed": visit.path("/")}
    return FileResponse(WEB / "static" / "sw.js", media_type="text/javascript", headers=headers)


@router.get("/login")
def login(visit: AnyVisit) -> Response:
    """Show the page for coming back: by a code, which a link may have, or with a password."""
    return visit.page("login.html", problem="", given=visit.request.query_params.get("code", "")[:20])


@router.post("/login", dependencies=[limited("sign in")])
def log_in(visit: AnyVisit, form: Form) -> Response:
    """Sign in; an account that somebody guesses at is closed for a while, whether it exists or not."""
    email = form.get("email").strip().lower()
    visit.limit("account", email or form.get("code")[:20])
    try:
        if form.get("code"):
            person = identity.find_by_code(visit.database, form.get("code"))
        else:
            person = check_password(visit.database, email, form.get("password"))
    except Refused as error:
        return visit.page("login.html", code=422, problem=error.args[0], given=form.get("code")[:20])
    return visit.keep(visit.go("/"), people.sign_in(visit.database, person))


@router.post("/logout")
def log_out(visit: SignedIn, _form: Form) -> Response:
    """Sign out: the session ends, and the browser gets a cookie that has nothing to do with it."""
    people.sign_out(visit.database, visit.cookie)
    return visit.keep(visit.go("/login"), token_urlsafe(32))


@router.post("/language")
def language(visit: AnyVisit, form: Form) -> Response:
    """Choose the language of the pages, and go back to where one was."""
    locale = choose_locale(form.get("locale"), "")
    if visit.account:
        people.change_profile(
            visit.database, visit.account.id, visit.account.profile.model_copy(update={"locale": locale})
        )
    back = form.get("back")
    answer = visit.go(back if re.match(r"/(?![/\\])", back) else "/")
    visit.set_cookie(answer, LANGUAGE_COOKIE, locale)
    return answer


@router.get("/me")
def profile(visit: SignedIn) -> Response:
    """Show one's profile, password and data."""
    return visit.page("profile.html", problem="", code_to_keep="")


@router.post("/me/code", dependencies=[limited("write")])
def new_code(visit: SignedIn, _form: Form) -> Response:
    """Show a code by which one comes back without a password, once."""
    assert visit.account is not None
    return _show_way_back(visit, visit.account.id, "profile.html", problem="")


@router.get("/me/data.json")
def own_data(visit: SignedIn) -> Response:
    """Send everything that is kept about oneself, as a file."""
    assert visit.account is not None
    data = json.dumps(identity.collect_data(visit.database, visit.account.id), ensure_ascii=False, indent=1)
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return Response(data.encode(), media_type="application/json; charset=utf-8", headers=headers)


@router.post("/me")
def change(visit: SignedIn, form: Form) -> Response:
    """Change one's profile."""
    assert visit.account is not None
    try:
        people.change_profile(visit.database, visit.account.id, _profile(form, visit))
    except InputError as error:
        return visit.page("profile.html", code=422, problem=error.args[0], given=form.lists, code_to_keep="")
    return visit.go("/me")


@router.post("/me/password", dependencies=[limited("sign in")])
def password(visit: SignedIn, form: Form) -> Response:
    """Set a password, to sign in on another device; guesses at the old one are limited as in signing in."""
    assert visit.account is not None
    visit.limit("account", visit.account.profile.email.strip().lower())
    try:
        set_password(visit.database, visit.account.id, form.get("password"), form.get("old"))
    except InputError as error:
        return visit.page("profile.html", code=422, problem=error.args[0], code_to_keep="")
    return visit.keep(visit.go("/me"), people.sign_in(visit.database, visit.account.id))


@router.post("/me/delete")
def delete(visit: SignedIn, form: Form) -> Response:
    """Delete one's data; the work stays, without a name."""
    assert visit.account is not None
    if form.get("sure") != "yes":
        return visit.go("/me")
    campaigns = list_campaigns_of(visit.database, visit.account.id)
    identity.withdraw_person(visit.database, campaigns, visit.account.id)
    return visit.go("/login")
