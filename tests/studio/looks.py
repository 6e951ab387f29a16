"""Every screen of the demo: who sees it, where it is, and what is wrong with how it looks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from mores.studio.records import Role
from mores.studio.store.campaigns import list_campaigns
from mores.studio.store.database import Database
from mores.studio.store.people import invite, list_members, sign_in
from mores.studio.store.tables import people
from mores.studio.web.visit import COOKIE
from tests.studio.unmarked import LOCALE

ADDRESS = "http://studio.test"
LONGEST_PAGE = 100_000
ALIKE = re.compile(r"/(?:life|known|people)\b")
"""Pages of items and people of which one is as good as another; a page of an item depends on its state."""


class Screen(NamedTuple):
    """One page as one person sees it."""

    name: str
    path: str
    cookie: str
    text: str
    """The page itself, when it was found."""

    @property
    def kind(self) -> tuple[str, str]:
        """Whose page of what it is; that of an item belongs to the kind of its campaign, others look alike in all."""
        shape = re.sub(r"=[^&]*|\b[0-9a-f]{12,16}\b", "", self.path)
        return self.name.partition("-")[0], shape if "/items/" in shape else re.sub("^/c/[^/]+", "", shape)


@dataclass
class Walk:
    """Finds every screen by following links, and by taking an item where one is offered."""

    app: FastAPI
    database: Database
    kinds: frozenset[str] | None = None
    """The kinds of campaigns whose screens are visited; all unless given."""
    screens: list[Screen] = field(default_factory=list)
    seen: set[tuple[str, ...]] = field(default_factory=set)
    too_long: list[str] = field(default_factory=list)

    def all(self) -> list[Screen]:
        """The screens of strangers, the organiser, and someone of each role in each campaign."""
        with self.database.read() as connection:
            owner = connection.execute(select(people.c.id).where(people.c.organises)).scalar_one()
        invitation = invite(self.database, list_campaigns(self.database)[0], Role.AUTHOR, owner)
        self.visit("stranger", "", ["/login", "/nowhere", f"/join/{invitation}"])
        self.visit("organiser", sign_in(self.database, owner), ["/"])
        for campaign in list_campaigns(self.database):
            for member in list_members(self.database, campaign):
                roles = sorted(member.person.roles - {Role.ORGANISER})
                if roles:
                    first = (f"/c/{campaign.id}", roles[0].value) not in self.seen
                    others = ["/", f"/c/{campaign.id}/welcome"] if first else []
                    self.visit(roles[0].value, sign_in(self.database, member.person.id), [*others, f"/c/{campaign.id}"])
        return self.screens

    @property
    def left_out(self) -> tuple[str, ...]:
        """The addresses of campaigns that are not visited."""
        others = [each for each in list_campaigns(self.database) if self.kinds and each.kind.name not in self.kinds]
        return tuple(f"/c/{campaign.id}" for campaign in others)

    def browser(self, cookie: str = "") -> TestClient:
        """A browser of somebody, or of a stranger."""
        return TestClient(self.app, base_url=ADDRESS, cookies={COOKIE: cookie} if cookie else {})

    def visit(self, role: str, cookie: str, queue: list[str]) -> None:
        """Follow the links of one person, each kind of page once."""
        browser = self.browser(cookie)
        browser.headers["accept-language"] = LOCALE
        left_out = self.left_out
        known: set[str] = set()
        first = set(queue)
        while queue:
            path = queue.pop(0)
            shape = re.sub(r"=[^&]*", "", re.sub(r"\b(?:[0-9a-f]{12,16})\b", "*", path))
            shape = re.sub(r"/join/.*", "/join/*", shape)
            varied = "*" in shape and not ALIKE.search(shape)
            if path.startswith(left_out):
                continue
            if path in known or ((shape, role) in self.seen and not varied and path not in first):
                continue
            known.add(path)
            page = browser.get(path)
            if not page.headers.get("content-type", "").startswith("text/html"):
                continue
            if len(page.content) > LONGEST_PAGE:
                self.too_long.append(f"{path}: {len(page.content)}")
            title = "".join(re.findall(r"<h1[^>]*>(.*?)</h1>", page.text, re.DOTALL)[:1])
            about = page.url.path.split("/")[2] if page.url.path.startswith("/c/") else ""
            tags = "" if "life" in shape else ",".join(re.findall(r'class="(?:turn|ask|notice)[^"]*"', page.text))
            mark = (
                role,
                about,
                shape if ALIKE.search(shape) else re.sub("<.*?>", "", title),
                tags,
            )
            self.seen.add((shape, role))
            if mark not in self.seen:
                self.seen.add(mark)
                name = re.sub(r"[^a-z0-9]+", "-", f"{role}-{shape}".replace("/c/demo-", "").lower()).strip("-")
                count = sum(screen.name.startswith(name) for screen in self.screens)
                self.screens.append(Screen(f"{name}-{count}" if count else name, path, cookie, page.text))
            links = [unescape(link) for link in re.findall(r'href="([^"#]+)"', page.text)]
            queue += [
                link if link[0] == "/" else path.split("?")[0] + link
                for link in links
                if link[0] in "/?" and "/static/" not in link
            ]
            if 'data-key="n"' in page.text:
                token = re.search(r'name="csrf" value="([^"]*)"', page.text)
                assert token
                taken = browser.post(f"{page.url.path}/next", data={"csrf": token[1]})
                queue.append(str(taken.url).removeprefix(ADDRESS))
