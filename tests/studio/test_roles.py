"""Who may come where: every route of the app for every role, and every form without a token of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import pytest
from fastapi.routing import iter_route_contexts
from httpx2 import Response
from starlette.testclient import TestClient

from mores.studio.records import Person, Role
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import perform
from mores.studio.store.jobs import add_job
from mores.studio.store.people import (
    add_member,
    add_person,
    find_member,
    invite,
    open_invitations,
    read_profile,
    sign_in,
)
from mores.studio.web.security import TOKEN_HEADER, Limiter, token_for
from mores.studio.web.visit import COOKIE
from mores.studio.workflow import Create, Submit, Take
from tests.studio.play import Play

ROLES = [role.value for role in Role]
VISITORS = [*ROLES, "outsider", "stranger"]
"""An outsider organises another campaign; a stranger is not signed in."""


class Access(NamedTuple):
    """Who may come."""

    may: frozenset[str]
    refused: frozenset[str] = frozenset()
    """Who knows the item and is told why they may not do this (409)."""


def to(*names: str, refused: str = "") -> Access:
    return Access(frozenset(names), frozenset(refused.split()))


ALL, SIGNED_IN, MEMBERS, ORGANISER = to(*VISITORS), to(*ROLES, "outsider"), to(*ROLES), to("organiser")
CREATORS = to("organiser", "outsider")
"""Who may make campaigns in this studio."""
WRITERS = to("organiser", "author")
HOME = "/c/{campaign}"
ITEM = "/c/{campaign}/items/{item}"
ROUTES: dict[str, Access] = {
    "GET /": SIGNED_IN,
    "GET /health": ALL,
    "GET /names/{tongue}/{kind}": ALL,
    "GET /sw.js": ALL,
    "GET /login": ALL,
    "POST /login": ALL,
    "POST /logout": SIGNED_IN,
    "POST /language": ALL,
    "GET /join/{token}": ALL,
    "POST /join/{token}": ALL,
    "GET /me": SIGNED_IN,
    "POST /me": SIGNED_IN,
    "POST /me/password": SIGNED_IN,
    "POST /me/delete": SIGNED_IN,
    "POST /me/code": SIGNED_IN,
    "GET /me/data.json": SIGNED_IN,
    "GET /campaigns/new": CREATORS,
    "POST /campaigns": CREATORS,
    f"GET {HOME}": MEMBERS,
    f"GET {HOME}/welcome": MEMBERS,
    f"POST {HOME}/welcome": MEMBERS,
    f"GET {HOME}/practice": MEMBERS,
    f"POST {HOME}/practice": MEMBERS,
    f"POST {HOME}/next": MEMBERS,
    f"GET {HOME}/new": WRITERS,
    f"POST {HOME}/items": WRITERS,
    f"GET {HOME}/inspiration": to("author"),
    f"PUT {HOME}/drafts/{{key}}": to("organiser", "author", "verifier"),
    f"GET {ITEM}": to("organiser", "author", "verifier"),
    f"GET {ITEM}/state": to("organiser", "author", "verifier"),
    f"POST {ITEM}/save": to("author", refused="organiser verifier"),
    f"POST {ITEM}/restore": to("author", refused="organiser verifier"),
    f"POST {ITEM}/vote": to("verifier", refused="organiser author"),
    f"POST {ITEM}/decline": to("verifier", refused="organiser author"),
    f"POST {ITEM}/withdraw": to("organiser", "author", refused="verifier"),
    f"GET {ITEM}/life": ORGANISER,
    f"POST {ITEM}/adjudicate": ORGANISER,
    f"POST {ITEM}/ask-again": ORGANISER,
    f"POST {ITEM}/assign": ORGANISER,
    f"GET {HOME}/overview": ORGANISER,
    f"GET {HOME}/figures": ORGANISER,
    f"POST {HOME}/sample": ORGANISER,
    f"GET {HOME}/items": ORGANISER,
    f"GET {HOME}/disagreements": ORGANISER,
    f"GET {HOME}/audit": ORGANISER,
    f"GET {HOME}/messages": ORGANISER,
    f"GET {HOME}/messages.csv": ORGANISER,
    f"POST {HOME}/messages/reply": ORGANISER,
    f"GET {HOME}/known": ORGANISER,
    f"POST {HOME}/known/remove": ORGANISER,
    f"GET {ITEM}/known": ORGANISER,
    f"POST {ITEM}/known": ORGANISER,
    f"GET {HOME}/preview": ORGANISER,
    f"GET {HOME}/preview/{{rest:path}}": ORGANISER,
    f"POST {HOME}/preview/{{rest:path}}": ORGANISER,
    f"PUT {HOME}/preview/{{rest:path}}": ORGANISER,
    f"POST {HOME}/duplicate": ORGANISER,
    f"POST {HOME}/panel": ORGANISER,
    f"POST {HOME}/participants": ORGANISER,
    f"POST {HOME}/people/{{person}}/place": ORGANISER,
    f"POST {HOME}/people/{{person}}/maker": ORGANISER,
    f"GET {HOME}/people": ORGANISER,
    f"GET {HOME}/people/time.csv": ORGANISER,
    f"GET {HOME}/people/{{person}}": ORGANISER,
    f"POST {HOME}/people/{{person}}/pay": ORGANISER,
    f"POST {HOME}/people/{{person}}/roles": ORGANISER,
    f"POST {HOME}/people/{{person}}/release": ORGANISER,
    f"POST {HOME}/people/{{person}}/remove": ORGANISER,
    f"POST {HOME}/people/{{person}}/link": ORGANISER,
    f"POST {HOME}/people/{{person}}/alike": ORGANISER,
    f"POST {HOME}/invite": ORGANISER,
    f"POST {HOME}/invitations/{{invitation}}/revoke": ORGANISER,
    f"GET {HOME}/settings": ORGANISER,
    f"POST {HOME}/settings": ORGANISER,
    f"GET {HOME}/settings.yaml": ORGANISER,
    f"POST {HOME}/open": ORGANISER,
    f"GET {HOME}/data": ORGANISER,
    f"POST {HOME}/export": ORGANISER,
    f"GET {HOME}/exports/{{export}}": ORGANISER,
    f"POST {HOME}/import": ORGANISER,
    f"POST {HOME}/jobs/{{job}}/confirm": ORGANISER,
    f"GET {HOME}/jobs/{{job}}": ORGANISER,
    f"POST {HOME}/jobs/{{job}}/cancel": ORGANISER,
    f"GET {HOME}/card": ORGANISER,
    f"GET {HOME}/method": ORGANISER,
}
UNSAFE = [route for route in ROUTES if not route.startswith("GET")]
SENT = {
    f"POST {HOME}/open": {"open": "yes"},
    f"POST {HOME}/export": {"format": "jsonl"},
    f"POST {HOME}/practice": {"number": "0"},
    f"POST {ITEM}/restore": {"version": "1"},
}
"""What a form needs so that it changes nothing for the tests that follow."""
CONTENT = {"scenario": "A guest comes.", "question": "What do they get first?", "answer": "Tea"}
PRACTICE = [{"content": CONTENT, "answer": {"verdict": "accept"}, "region": "KE", "language": "sw"}]


class World:
    """Campaigns in one database, with someone in every role of the first."""

    def __init__(self, database: Database) -> None:
        settings: dict[str, Any] = {"reviewer": "verifier", "pilot": 0, "regions": ["Kenya"], "languages": ["Swahili"]}
        self.database = database
        self.play = Play(database, "culturall", practice=PRACTICE, **settings)
        self.other = Play(database, "culturall", practice=PRACTICE, **settings)
        self.open = Play(database, "culturall")  # everybody who is invited joins this one
        self.numbers = count()
        self.people: dict[str, Person] = {}
        for role in Role:
            self.people[role.value] = self.join(self.play, role)
        self.people["outsider"] = self.person(self.other, self.other.organiser_id)
        self.foreign_author = self.join(self.other, Role.AUTHOR)

    def join(self, play: Play, role: Role) -> Person:
        if role is Role.ORGANISER:
            return self.person(play, play.organiser_id)
        profile = read_profile(f"A {role.value}", "", ["Kenya"], ["Kenya"], ["Swahili"])
        with self.database.write() as connection:
            person = add_person(connection, profile)
        add_member(self.database, play.campaign, person, role)
        return self.person(play, person)

    def person(self, play: Play, identifier: str) -> Person:
        member = find_member(self.database, play.campaign, identifier)
        assert member is not None
        return member.person

    def item(self, play: Play, author: Person, *, sent: bool = False, to: Person | None = None) -> str:
        """A new item; `sent` to the reviewers, and given `to` one of them."""
        content: dict[str, Any] = CONTENT | {"theme": "Food", "source": "experience", "requirements": []}
        action = Create(f"i{next(self.numbers)}", content, "KE", "sw")
        item = perform(self.database, play.campaign, author, action).item.id
        if sent:
            perform(self.database, play.campaign, author, Submit(content, region="KE", language="sw"), item=item)
        if to:
            perform(self.database, play.campaign, to, Take(), item=item)
        return item

    def address(self, route: str, visitor: str) -> str:
        """The path of a route, about an item that is the author's own, or that the verifier has been given."""
        values, route = {"campaign": self.play.campaign.id, "rest": "items"}, route.replace(":path", "")
        values |= {"tongue": "es", "kind": "regions"}
        for name in re.findall(r"{(\w+)}", route):
            match name:
                case "item" | "key":
                    author = self.people["author"]
                    sent = visitor != "author"
                    values[name] = self.item(self.play, author, sent=sent, to=self.people["verifier"] if sent else None)
                case "token":
                    values[name] = invite(self.database, self.open.campaign, Role.ANNOTATOR, self.open.organiser_id)
                case "person":
                    values[name] = self.join(self.play, Role.ANNOTATOR).id
                case "invitation":
                    invite(self.database, self.play.campaign, Role.AUTHOR, self.play.organiser_id)
                    values[name] = open_invitations(self.database, self.play.campaign)[0].id
                case "export":
                    values[name] = self.export(self.play)
                case "job":
                    values[name] = add_job(self.database, self.play.campaign.id, "export", None, {"format": "jsonl"})
        return route.partition(" ")[2].format(**values)

    def export(self, play: Play) -> str:
        from mores.studio.data.exports import make_export

        return make_export(self.database, play.campaign, "jsonl", play.organiser_id).id

    def cookie(self, visitor: str) -> str:
        return sign_in(self.database, self.people[visitor].id) if visitor != "stranger" else f"stranger-{visitor}"

    def call(self, route: str, path: str, cookie: str, token: str | None = "", **headers: str) -> Response:
        """One request with its own browser; `token` is the cookie's own unless it is given, None for no token."""
        studio = self.play.app.state.studio
        self.play.app.state.studio = replace(studio, limiter=Limiter())
        method = route.partition(" ")[0]
        own = token_for(studio.key, cookie) if token == "" else token
        if own is not None and method != "GET":
            headers[TOKEN_HEADER] = own
        client = TestClient(self.play.app, base_url="http://studio.test", follow_redirects=False)
        client.cookies.set(COOKIE, cookie)
        return client.request(method, path, data=SENT.get(route, {}), headers=headers)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    database = open_database(tmp_path_factory.mktemp("roles") / "studio.db")
    yield World(database)
    database.close()


def is_shut(answer: Response) -> bool:
    return answer.status_code == 404 or (answer.status_code == 303 and answer.headers["location"] == "/login")


def test_the_table_has_every_route(world: World) -> None:
    routes = iter_route_contexts(world.play.app.routes)
    found = {f"{method} {route.path}" for route in routes for method in getattr(route, "methods", None) or ()}
    assert found == set(ROUTES), "say in ROUTES who may come"


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_for_every_role(world: World, route: str) -> None:
    may, refused = ROUTES[route]
    path = ""
    for visitor in sorted(VISITORS, key=may.__contains__):  # first those who change nothing, at one address
        if visitor in may or not path:
            path = world.address(route, visitor)
        answer = world.call(route, path, world.cookie(visitor))
        if visitor in refused:
            assert answer.status_code == 409, (visitor, answer.status_code)
        elif visitor in may:
            assert answer.status_code not in (401, 403, 404), (visitor, answer.text)
            assert route in ("POST /logout", "GET /login") or not is_shut(answer), visitor
        else:
            assert is_shut(answer), (visitor, answer.status_code, answer.text)


@pytest.mark.parametrize("route", [route for route in ROUTES if "{item}" in route or "{key}" in route])
def test_items_that_are_not_ones_own_do_not_exist(world: World, route: str) -> None:
    """Neither another author's, nor one that was given to somebody else, nor one of another campaign."""
    colleague = world.join(world.play, Role.AUTHOR)
    unknown = world.item(world.play, colleague, sent=True)
    foreign = world.item(world.other, world.foreign_author, sent=True)
    template = route.partition(" ")[2]
    bodies = set()
    for visitor, item in [
        *((visitor, unknown) for visitor in ("author", "verifier", "inspector", "annotator")),
        *((visitor, foreign) for visitor in ROLES),
        *((visitor, "nothing") for visitor in ROLES),
        *((visitor, "%00'\"<%2e%2e%ed%a0%80") for visitor in ROLES),
    ]:
        path = template.format(campaign=world.play.campaign.id, item=item, key=item)
        answer = world.call(route, path, world.cookie(visitor))
        assert answer.status_code == 404, (visitor, item, answer.text)
        if visitor == "author":
            bodies.add(re.search("<main.*</main>", answer.text, re.DOTALL)[0])  # type: ignore[index]
    assert len(bodies) == 1, "what is there and what is not look the same"


@pytest.mark.parametrize("route", [route for route in ROUTES if re.search("{(person|invitation|export|job)}", route)])
def test_ids_of_another_campaign_do_not_exist(world: World, route: str) -> None:
    invite(world.database, world.other.campaign, Role.AUTHOR, world.other.organiser_id)
    [foreign, *_] = open_invitations(world.database, world.other.campaign)
    job = add_job(world.database, world.other.campaign.id, "export", None, {"format": "jsonl"})
    values = {"person": world.foreign_author.id, "invitation": foreign.id, "export": world.export(world.other)}
    values["job"] = job
    path = route.partition(" ")[2].format(campaign=world.play.campaign.id, **values)
    answer = world.call(route, path, world.cookie("organiser"))
    assert answer.status_code == 404
    assert find_member(world.database, world.other.campaign, world.foreign_author.id)
    assert foreign.id in {one.id for one in open_invitations(world.database, world.other.campaign)}


@pytest.mark.parametrize("route", UNSAFE)
def test_a_form_without_a_token_of_its_own_is_refused(world: World, route: str) -> None:
    visitor = next(name for name in ("author", "organiser", "verifier") if name in ROUTES[route].may)
    path, cookie, key = world.address(route, visitor), world.cookie(visitor), world.play.app.state.studio.key
    others = token_for(key, world.cookie(visitor))  # another session of the same person
    for token in (None, others, token_for(key, "stranger"), token_for(key, ""), "0", token_for("", cookie)):
        assert world.call(route, path, cookie, token).status_code == 403
    assert world.call(route, path, cookie, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert world.call(route, path, cookie, **{"Sec-Fetch-Site": "same-origin"}).status_code != 403
