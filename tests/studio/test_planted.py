"""What each person sees: only their campaign, only what their role allows, and every hostile text as a text."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace as Some

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from httpx2 import Response
from starlette.testclient import TestClient

from mores.studio import app
from mores.studio.campaigns import KINDS, open_kind
from mores.studio.data.exports import FORMATS
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.store.database import Database, open_database
from mores.studio.store.people import sign_in
from mores.studio.web.pages import environment
from mores.studio.web.security import TOKEN_HEADER, Limiter, token_for
from mores.studio.web.visit import COOKIE
from tests.studio.planted import HOSTILE, Planted
from tests.studio.test_roles import ORGANISER, ROUTES

SHOWN: dict[str, set[str]] = {"msqa": {"source_1_desc", "source_2_desc"}}
SHOWN["marking"] = {"quote", "type", "explanation", "correction"}
"""What judges see of earlier judges' answers: the sources that MSQA's inspectors add, the marks that are checked."""
HIDDEN: dict[str, set[str]] = {"culturalteaming": {"scene"}, "culturall": {"excerpt", "link"}}
HIDDEN |= {"marking": {"source", "judge"}, "rating": {"model"}}
HIDDEN["validation"] = {"explanation", "type", "gemma", "phi"}  # before the second step
"""What authors write and judges do not see; CulturalTeaming's answer key has no words and is looked for by itself."""


class Reader(HTMLParser):
    """What a browser would make of a page, as far as it could run something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if "evil" in tag or any(name.startswith("on") or "evil" in name or name == "style" for name in given):
            self.problems.append(self.get_starttag_text() or tag)
        if tag in ("iframe", "object", "embed", "base", "style", "link", "script") and "/static/" not in (
            given.get("src") or given.get("href") or ""
        ):
            self.problems.append(self.get_starttag_text() or tag)
        if tag == "img" and not (given.get("src") or "").startswith("data:image/svg+xml"):
            self.problems.append(self.get_starttag_text() or tag)
        for name in ("href", "action", "src", "formaction"):
            if not re.match(r"$|/|[?#]|https?://|data:image/svg", given.get(name) or ""):
                self.problems.append(f"{name}={given[name]}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


class Two:
    """Two campaigns of a kind in one studio; the second has other marks."""

    def __init__(self, database: Database, kind: str) -> None:
        self.kind = kind
        self.mine = Planted(database, kind, "qqmine", hostile=HOSTILE)
        self.other = Planted(database, kind, "qqother", items=3)
        self.app: FastAPI = app(self.mine.database, model="none", store=None)
        self._pages: dict[str, dict[str, Response]] = {}

    def browser(self, person: Person) -> TestClient:
        self.app.state.studio = replace(self.app.state.studio, limiter=Limiter())
        cookie = sign_in(self.mine.database, person.id)
        token = token_for(self.app.state.studio.key, cookie)
        browser = TestClient(self.app, base_url="http://studio.test", headers={TOKEN_HEADER: token})
        browser.cookies.set(COOKIE, cookie)
        return browser

    def pages(self, person: Person) -> dict[str, Response]:
        """Every page of the first campaign as somebody sees it; drawn once for all tests."""
        if person.id not in self._pages:
            browser = self.browser(person)
            self._pages[person.id] = {path: browser.get(path) for path in self.addresses(person)}
        return self._pages[person.id]

    def addresses(self, person: Person) -> list[str]:
        """Every page of the first campaign, with items of several stages and statuses.

        One kind shows that members get nothing where only organisers may come, and what has no campaign; in the others
        members open what they may.
        """
        for_all = self.kind == "culturalteaming"
        organises = Role.ORGANISER in person.roles
        kinds = {(item.stage, item.status, bool(item.asks), bool(item.note)): item.id for item in self.mine.items}
        held = [item for _, items in self.mine.judges.values() for item in items[:1]]
        items = dict.fromkeys([*list(kinds.values())[:5], *held])
        people = [person.id for person, _ in self.mine.judges.values()]
        paths = []
        for route in iter_route_contexts(self.app.routes):
            path = route.path or ""
            if "GET" not in (getattr(route, "methods", None) or ()) or "{token}" in path:
                continue
            closed = not organises and ROUTES[f"GET {path}"] == ORGANISER
            if not for_all and (closed or ("{campaign}" not in path and path not in ("/", "/me"))):
                continue
            values = [{"item": item, "person": people[place % len(people)]} for place, item in enumerate(items)]
            chosen = values if "{item}" in path else values[:2] if "{person}" in path else values[:1]
            campaign = self.mine.campaign.id
            others = {"export": "none", "job": "none", "tongue": "es", "kind": "regions", "rest": "new"}
            path = path.replace(":path", "")
            paths += [path.format(campaign=campaign, **others, **filled) for filled in chosen]
        paths += [f"/campaigns/new?kind={name}" for name in KINDS if for_all]
        return [*paths, f"/c/{self.mine.campaign.id}/items?status=accepted&start=0&stage={HOSTILE[:60]}"]


@pytest.fixture(scope="module", params=list(KINDS))
def two(
    request: pytest.FixtureRequest, empty_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Two]:
    database = open_database(shutil.copy(empty_database, tmp_path_factory.mktemp("planted") / "studio.db"))
    yield Two(database, request.param)
    database.close()


@pytest.mark.often("culturalteaming", "marking", "rating")
def test_pages_show_one_campaign_and_hostile_texts_as_texts(two: Two) -> None:
    visitors = [two.mine.organiser, *(person for person, _ in two.mine.judges.values())]
    visitors += [person for person in two.mine.people.values() if Role.AUTHOR in person.roles][:1]
    for person in visitors:
        seen = 0
        for path, answer in two.pages(person).items():
            assert answer.status_code in (200, 404), (path, answer.status_code)
            assert "qqother" not in answer.text, path
            assert two.other.campaign.id not in answer.text, path
            if "html" in answer.headers["content-type"]:
                assert Reader(answer.text).problems == [], path
                seen += "&lt;script&gt;evil" in answer.text
        assert seen > 2, "hostile texts are shown"


@pytest.mark.often("culturalteaming", "marking", "questions", "rating")
def test_exports_have_one_campaign(two: Two) -> None:
    browser = two.browser(two.mine.organiser)
    for form in FORMATS:
        answer = browser.post(f"/c/{two.mine.campaign.id}/export", data={"format": form})
        assert answer.headers["content-type"] == "application/zip", (form, answer.text)
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            texts = {name: archive.read(name) for name in archive.namelist()}
        for name, data in texts.items():
            assert not name.startswith("/"), name
            assert ".." not in name
            assert b"qqother" not in data, (form, name)
            assert b"qqmine-name" not in data, "names are not exported"
            if name.endswith(".py"):
                compile(data, name, "exec")
        assert any(b"qqmine" in data for data in texts.values()) or form == "parquet", form
        if form == "csv":
            tables = [data.decode() for name, data in texts.items() if name.endswith(".csv")]
            cells = [cell for text in tables for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
            assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    rows = browser.get(f"/c/{two.mine.campaign.id}/people/time.csv").text
    assert "qqmine-name" in rows
    assert "'=1+1" in rows
    assert not re.search(r'(^|,|\n)"?[=+@-]', rows), "no cell is a formula"


@pytest.mark.often("culturalteaming", "marking", "msqa", "rating")
def test_names_and_models_are_for_organisers(two: Two) -> None:
    models = {two.mine.model, *two.mine.campaign.kind.models(two.mine.campaign.settings)}
    organiser = two.browser(two.mine.organiser)
    pages = [organiser.get(f"/c/{two.mine.campaign.id}/items/{item.id}/life").text for item in two.mine.items]
    if two.mine.campaign.kind.tasks:
        assert any("qqmine-model" in page for page in pages)
    if two.kind == "rating":
        assert any("qqmine-text-model" in page for page in pages), "organisers see who wrote what is rated"
    words = "counts" if two.kind == "culturalteaming" else "qqmine-vote-"  # its answers are letters
    assert any(words in page for page in pages), "organisers see votes"
    members = [*(person for person, _ in two.mine.judges.values()), *list(two.mine.people.values())[:2]]
    for person in members:
        for path, answer in two.pages(person).items():
            page = answer.text
            body = re.sub(r"(?s)<header.*?</header>", "", page)  # one's own name stands there
            if path not in ("/me", "/me/data.json"):
                assert "qqmine-name" not in body, path
            assert not [model for model in {*models, "qqmine-text-model"} if model in page], path


def test_judges_see_neither_answers_of_others_nor_what_is_hidden(two: Two) -> None:
    judged = 0
    for person, held in two.mine.judges.values():
        browser = two.browser(person)
        for item in held:
            page = browser.get(f"/c/{two.mine.campaign.id}/items/{item}").text
            shown = set(re.findall(r"qqmine-vote-(\w+)", page))
            assert shown <= SHOWN.get(two.kind, set()), "an answer of somebody else"
            assert not set(re.findall(r"qqmine-text-(\w+)", page)) & HIDDEN.get(two.kind, set())
            assert 'class="correct"' not in page
            assert 'class="tick"' not in page
            assert 'class="counts"' not in page
            assert " checked" not in page, "nothing is chosen already"
            judged += 1
    assert judged, "somebody judges something"


def test_authors_see_only_their_items_and_votes_after_the_decision(two: Two) -> None:
    for author in {item.author for item in two.mine.items if item.author}:
        browser = two.browser(two.mine.member(author))
        for item in two.mine.items:
            answer = browser.get(f"/c/{two.mine.campaign.id}/items/{item.id}")
            mine = item.author == author
            assert answer.status_code == (200 if mine or (answer.status_code == 200 and _judged(item, author)) else 404)
            if mine and item.status is ItemStatus.OPEN and not item.returns and item.results.keys() <= {item.stage}:
                assert "qqmine-vote-" not in answer.text, "votes before the decision"


def _judged(item: CampaignItem, person: str) -> bool:
    return any(vote.person == person for vote in item.votes)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_says_what_judges_see(name: str) -> None:
    kind = open_kind(name)
    assert (kind.folder / "judge.html").exists() or kind.seen


def test_the_general_page_of_an_item_shows_judges_only_what_the_kind_names() -> None:
    item = Some(author="amina", language="sw", content={"question": "What?", "correct": "KEY", "scene": "SECRET"})
    campaign = Some(kind=Some(seen=("question",)))

    def draw(person: str, *, organises: bool = False) -> str:
        place = Some(organises=organises, person=Some(id=person))
        return environment("en").get_template("thing.html").render(item=item, campaign=campaign, place=place)

    assert "What?" in draw("juma")
    assert "KEY" not in draw("juma")
    assert "SECRET" not in draw("juma")
    assert "KEY" in draw("amina")
    assert "KEY" in draw("olga", organises=True)
