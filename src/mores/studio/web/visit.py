"""The visit that every route gets: the person, the campaign, and what they sent.

What asks the database is a plain function and runs in a thread; what only looks is `async`, which costs no thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_urlsafe
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from mores.studio.form import clean, storable
from mores.studio.records import CampaignItem, Person, Role
from mores.studio.store.campaigns import open_campaign
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, perform
from mores.studio.store.jobs import JobRunner
from mores.studio.store.people import Account, Member, find_account, find_member
from mores.studio.web.pages import choose_locale, hash_static_files, render, translator
from mores.studio.web.security import TOKEN_FIELD, TOKEN_HEADER, Limiter, is_own, token_for
from mores.studio.workflow import Action, CampaignStage, Refused

COOKIE = "mores_studio"
COOKIE_SECONDS = 30 * 24 * 3600
MOST_FIELDS = 2000
FURTHEST = 10**9
"""Where the last page of a list may begin: databases do not know larger numbers than 2⁶³."""
SIGN_IN = "/login"
LANGUAGE_COOKIE = "mores_language"
"""What a stranger chose; people who are signed in choose in their profile."""


@dataclass(frozen=True)
class Studio:
    """The studio that is running."""

    database: Database
    key: str
    """Signs what browsers keep."""
    model: str = ""
    """Who answers what people ask, unless a campaign says otherwise; empty for nobody."""
    limiter: Limiter = field(default_factory=Limiter)
    runner: JobRunner = field(kw_only=True)
    """Does what takes longer than a page may."""


def wants_json(request: Request) -> bool:
    """Return whether a script asks, which wants data and no page."""
    return "application/json" in request.headers.get("accept", "")


class Elsewhere(Exception):  # noqa: N818 - not an error
    """The visitor has to go to another page first."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class Visit:
    """One request: whose it is, and how to answer it."""

    request: Request
    studio: Studio
    cookie: str
    account: Account | None
    locale: str

    @property
    def database(self) -> Database:
        return self.studio.database

    @property
    def token(self) -> str:
        """The token that this browser's forms carry."""
        return token_for(self.studio.key, self.cookie)

    def path(self, path: str) -> str:
        """Return a path of the studio, wherever it is mounted."""
        return f"{self.request.scope.get('root_path', '')}{path}"

    @property
    def here(self) -> str:
        """The path of this page in the studio; the start for what was sent by a form."""
        if self.request.method != "GET":
            return "/"
        scope = self.request.scope
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        query = scope.get("query_string", b"").decode("latin-1")
        return f"{path}?{query}" if query else path

    def static(self, name: str) -> str:
        """Return the address of a style sheet or script, with its version."""
        return self.path(f"/static/{name}?v={hash_static_files()}")

    def page(self, *templates: str, code: int = 200, **values: Any) -> Response:
        """Return a page by the first of the templates that there is; every one knows the visit."""
        html = render(self.locale, *templates, visit=self, account=self.account, path=self.path, **values)
        return self.keep(HTMLResponse(html, code))

    def translate(self, text: str) -> str:
        """Return a text in the visitor's language."""
        return translator(self.locale)(text)

    def go(self, path: str) -> Response:
        """Send the visitor to another page of the studio; a script is told where to go."""
        if wants_json(self.request):
            return self.keep(JSONResponse({"go": self.path(path)}))
        return self.keep(RedirectResponse(self.path(path), 303))

    def keep(self, response: Response, cookie: str = "") -> Response:
        """Let the browser keep its cookie, or a new one after signing in, and the language that a link asks for."""
        if cookie or self.request.cookies.get(COOKIE) != self.cookie:
            self.set_cookie(response, COOKIE, cookie or self.cookie)
        if self.request.query_params.get("lang") == self.locale:
            self.set_cookie(response, LANGUAGE_COOKIE, self.locale)
        return response

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Let the browser keep something."""
        response.set_cookie(
            name,
            value,
            max_age=COOKIE_SECONDS,
            path=self.path("/") or "/",
            httponly=True,
            samesite="lax",
            secure=self.request.scope["scheme"] == "https",
        )

    @property
    def opened(self) -> str:
        """The present time with a signature, for a form: what comes back is when it was opened, by our clock."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        return f"{moment} {token_for(self.studio.key, f'opened {moment}')}"

    def read_time(self, opened: str) -> datetime | None:
        """Return when a form was opened; None where it does not say so, or not with our signature."""
        moment, _, signature = opened.partition(" ")
        return datetime.fromisoformat(moment) if is_own(self.studio.key, f"opened {moment}", signature) else None

    def limit(self, action: str, name: str) -> None:
        """Refuse what someone does too often."""
        if not self.studio.limiter.allows(action, name):
            raise HTTPException(429, "Too many requests. Please wait a minute.")

    @property
    def address(self) -> str:
        """The address that the visitor comes from, for limits."""
        return self.request.client.host if self.request.client else ""


def visit(request: Request) -> Visit:
    """Return who visits; everybody has a cookie, so that forms can be told from forged ones."""
    studio: Studio = request.app.state.studio
    cookie = request.cookies.get(COOKIE, "")
    account = find_account(studio.database, cookie) if cookie else None
    asked = request.query_params.get("lang", "") or request.cookies.get(LANGUAGE_COOKIE, "")
    chosen = account.profile.locale if account else asked
    locale = choose_locale(chosen, request.headers.get("accept-language", ""))
    visitor = Visit(request, studio, cookie or token_urlsafe(32), account, locale)
    visitor.limit("read", account.id if account else visitor.address)
    return visitor


AnyVisit = Annotated[Visit, Depends(visit)]


async def signed_in(visit: AnyVisit) -> Visit:
    """Return a visit of someone who is signed in."""
    if visit.account is None:
        raise Elsewhere(SIGN_IN)
    return visit


SignedIn = Annotated[Visit, Depends(signed_in)]


@dataclass(frozen=True)
class Place:
    """A member in a campaign."""

    visit: Visit
    campaign: Campaign
    member: Member
    preview: Sequence[CampaignStage] = ()
    """Of a page as others see it: the stages that an organiser can look at."""

    @property
    def person(self) -> Person:
        return self.member.person

    @property
    def organises(self) -> bool:
        return Role.ORGANISER in self.person.roles

    @property
    def database(self) -> Database:
        return self.visit.database

    def perform(self, action: Action, item: str, key: str) -> CampaignItem:
        """Do something to an item as this member; raises `Refused` with the reason."""
        return perform(self.database, self.campaign, self.person, action, item=item, key=key).item

    def page(self, template: str, *, code: int = 200, **values: Any) -> Response:
        """Return a page of the campaign, by its kind's own template where it has one (`campaigns/KIND/pages/`)."""
        templates = (f"{self.campaign.kind.name}/pages/{template}", template)
        known = {"campaign": self.campaign, "place": self, "base": self.visit.path(f"/c/{self.campaign.id}")}
        return self.visit.page(*templates, code=code, **known, **values)

    def download(self, data: bytes, name: str, kind: str) -> Response:
        """Send a file to be kept."""
        return Response(data, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    def go(self, path: str = "") -> Response:
        """Send the visitor to another page of the campaign."""
        return self.visit.go(f"/c/{self.campaign.id}{path}")


def joined(campaign: str, visit: SignedIn) -> Place:
    """Return a member of the campaign; everybody else gets a 404."""
    try:
        opened = open_campaign(visit.database, campaign, visit.studio.model)
    except Refused:
        raise HTTPException(404) from None
    assert visit.account is not None
    member = find_member(visit.database, opened, visit.account.id)
    if member is None:
        raise HTTPException(404)
    return Place(visit, opened, member)


Joined = Annotated[Place, Depends(joined)]


async def working(place: Joined) -> Place:
    """Return a member who has agreed to the campaign's terms."""
    if place.member.consented is None:
        raise Elsewhere(f"/c/{place.campaign.id}/welcome")
    return place


Working = Annotated[Place, Depends(working)]


async def organising(place: Joined) -> Place:
    """Return an organiser of the campaign; other members get a 404."""
    if not place.organises:
        raise HTTPException(404)
    return place


Organising = Annotated[Place, Depends(organising)]


@dataclass(frozen=True)
class Posted:
    """The values that a form sent."""

    values: Mapping[str, Sequence[str]]
    files: Mapping[str, bytes] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """What the files are called on the sender's device."""

    @property
    def lists(self) -> dict[str, list[str]]:
        """All values by field, as forms show them again and drafts keep them."""
        return {name: list(values) for name, values in self.values.items()}

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a field."""
        given = self.values.get(name)
        return given[0] if given else default

    def number(self, name: str, default: float = 0.0) -> float:
        """Return a field as a number; the default where it is none."""
        try:
            value = float(self.get(name))
        except ValueError:
            return default
        return value if value == value and abs(value) < 1e12 else default

    @property
    def key(self) -> str:
        """The key that makes sending the form twice the same as sending it once."""
        return self.get("key")[:64]


async def posted(request: Request) -> Posted:
    """Return the fields of a form that is this browser's own; 403 for any other.

    What no page of the studio sends is refused: forms of other sites, and encodings that hide something.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "This form comes from another site.")
    _, options = parse_options_header(request.headers.get("content-type", ""))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise HTTPException(415, "Send the form as UTF-8.")
    studio: Studio = request.app.state.studio
    values: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    names: dict[str, str] = {}
    urlencoded = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    if urlencoded and (await request.body()).count(b"&") >= MOST_FIELDS:  # `max_fields` is about multipart forms
        raise HTTPException(413, "This form has too many fields.")
    async with request.form(max_files=5, max_fields=MOST_FIELDS) as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                files[storable(name)] = await value.read()
                names[storable(name)] = clean(value.filename or "")[:200]
            else:
                values.setdefault(storable(name), []).append(storable(value))
    token = request.headers.get(TOKEN_HEADER) or "".join(values.pop(TOKEN_FIELD, [""])[:1])
    if not is_own(studio.key, request.cookies.get(COOKIE, ""), token):
        raise HTTPException(403, "This page is too old. Please load it again.")
    return Posted(values, files, names)


Form = Annotated[Posted, Depends(posted)]


def limited(action: str) -> Any:
    """Return a dependency that lets someone do something only so often."""

    def allow(visit: AnyVisit) -> None:  # in a thread: limits may be in the database
        name = visit.account.id if visit.account and action not in ("sign in", "join") else visit.address
        visit.limit(action, name)

    return Depends(allow)
