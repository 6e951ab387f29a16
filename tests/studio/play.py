"""People for tests: each has a browser of their own, fills in real forms, and gets real pages."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from httpx2 import Response
from starlette.testclient import TestClient

from mores.engine import AskSettings
from mores.studio import app
from mores.studio.campaigns import open_kind
from mores.studio.records import CampaignItem, Role
from mores.studio.store.campaigns import make_campaign, open_campaign, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now, read_item, read_items
from mores.studio.store.people import (
    Member,
    add_member,
    add_person,
    change_member,
    invite,
    join,
    list_members,
    read_profile,
    sign_in,
)
from mores.studio.web.visit import COOKIE
from mores.studio.worker import AskWorker

ADDRESS = "http://studio.test"


@dataclass
class Player:
    """Someone in a campaign, with a browser."""

    browser: TestClient
    stage: Play
    page: Response | None = None

    def open(self, path: str = "") -> Response:
        """Open a page of the campaign, or any other that begins with `/`."""
        self.page = self.browser.get(self._address(path))
        return self.page

    def send(self, path: str = "", **values: Any) -> Response:
        """Send a form to a path of the campaign, with the token and key of the page that is open."""
        given = {name: value for name, value in self.hidden().items() if name in ("csrf", "key")}
        self.page = self.browser.post(self._address(path), data=given | values)
        return self.page

    def hidden(self) -> dict[str, str]:
        """The hidden fields of the open page; the first of each name."""
        if self.page is None or "csrf" not in self.page.text:
            self.open("/me")
        assert self.page is not None
        pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.page.text)
        return {name: unescape(value) for name, value in reversed(pairs)}

    def filled(self) -> dict[str, str]:
        """What the texts, lists and single choices of the form on the open page hold."""
        assert self.page is not None
        html = self.page.text
        values = dict(re.findall(r'<textarea id="f-\w+" name="(\w+)"[^>]*>\n(.*?)</textarea>', html, re.DOTALL))
        values |= dict(re.findall(r'<input id="f-\w+" name="(\w+)"[^>]*?value="([^"]*)"', html, re.DOTALL))
        values |= dict(re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)" checked', html))
        for name, options in re.findall(r'<select id="f-\w+" name="(\w+)"[^>]*>(.*?)</select>', html, re.DOTALL):
            if chosen := re.search(r'<option value="([^"]*)" selected', options):
                values[name] = chosen[1]
        return {name: unescape(value) for name, value in values.items()}

    @property
    def item(self) -> str:
        """The id of the item on the open page."""
        assert self.page is not None
        match = re.search(r"/items/([0-9a-f]+)", self.page.url.path)
        assert match, self.page.url
        return match[1]

    def take(self) -> str | None:
        """Ask for work; the item's id, or None where there is nothing."""
        self.open()
        self.send("/next")
        assert self.page is not None
        return None if "nothing" in str(self.page.url) else self.item

    def _address(self, path: str) -> str:
        return (
            path
            if path in ("/me", "/", "/login", "/logout") or path.startswith(("/c/", "/me/", "/join/", "/campaigns"))
            else (f"/c/{self.stage.campaign.id}{path}")
        )


class Play:
    """A campaign on a database, served, with its organiser."""

    def __init__(self, database: Database, kind: str, *, model: str = "none", **settings: Any) -> None:
        self.database = database
        self.model = "" if model == "none" else model
        self.app: FastAPI = app(database, model=model, store=None)
        chosen = open_kind(kind)
        read = read_settings(chosen, {"title": "A campaign"} | settings)
        self.campaign = make_campaign(database, chosen, read, model=self.model)
        with database.write() as connection:
            self.organiser_id = add_person(connection, read_profile("Olga Organiser"), organises=True)
        add_member(database, self.campaign, self.organiser_id, Role.ORGANISER)

    def organiser(self) -> Player:
        """The organiser, signed in."""
        return self._signed_in(self.organiser_id)

    def _signed_in(self, person: str) -> Player:
        player = Player(self.browser(), self)
        player.browser.cookies.set(COOKIE, sign_in(self.database, person), domain="studio.test")
        return player

    def browser(self) -> TestClient:
        """A browser that has never been here."""
        return TestClient(self.app, base_url=ADDRESS)

    def person(
        self, role: Role, name: str = "Somebody", region: str = "Kenya", language: str = "Swahili, English"
    ) -> Player:
        """Someone who has joined and agreed to the terms, signed in; `test_people` goes the whole way."""
        regions, languages = region.split(","), language.split(",")
        token = invite(self.database, self.campaign, role, self.organiser_id)
        profile = read_profile(name, nationality=regions, home=regions, languages=languages)
        person = join(self.database, token, profile)
        change_member(self.database, self.campaign, person, consented=now())
        return self._signed_in(person)

    def read(self, item: str) -> CampaignItem:
        """An item, as the store has it now."""
        return read_item(self.database, self.campaign, item)

    def answer(self, store: Path | None = None) -> int:
        """Let the models answer all that waits, and what follows from it; the number of answers."""

        async def answer_all() -> int:
            total = 0
            worker = AskWorker(self.database, self.model, AskSettings(store=store))
            while count := await worker.answer_all():
                total += count
            return total

        return asyncio.run(answer_all())

    def again(self) -> Campaign:
        """The campaign, as the store has it now."""
        return open_campaign(self.database, self.campaign.id)

    def members(self) -> list[Member]:
        """Everybody in the campaign."""
        return list_members(self.database, self.campaign)

    def items(self) -> list[CampaignItem]:
        """All items, without attention checks."""
        return list(read_items(self.database, self.campaign))
