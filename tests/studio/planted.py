"""A campaign in every state, made from its kind's demo, in which every text that somebody wrote has a mark."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import yaml
from sqlalchemy import update

from mores.studio.campaigns import open_kind
from mores.studio.demo import FILE, guests, play
from mores.studio.records import Person, Role
from mores.studio.store.campaigns import make_campaign, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now, read_items
from mores.studio.store.people import PersonProfile, add_member, add_person, find_member
from mores.studio.store.tables import people
from mores.studio.store.work import take

HOSTILE = (
    "<script>evil=1</script>\"'><img src=x onerror=evil()><evil-tag onclick='evil()'>]]>--></textarea></title>"
    "{{ 7*7 }}{% evil %}%s%(evil)s{0}{evil}${evil}\u202e\u2066\u200b\ufeff\u2028'; DROP TABLE people; --&lt;b&gt;"
)
"""What must stay a text wherever it is shown."""


class Planted:
    """A campaign of a kind, its people, and what is planted in it."""

    def __init__(self, database: Database, kind: str, mark: str, *, hostile: str = "", items: int = 99) -> None:
        self.database, self.mark, self.hostile = database, mark, hostile
        chosen = open_kind(kind)
        demo = yaml.safe_load((chosen.folder / FILE).read_text("utf-8"))
        settings = demo["settings"]
        for name in ("title", "instructions", "consent", "contact", "pay"):
            settings[name] = f"{str(settings.get(name, ''))[:30]} {mark}-settings {hostile[:100]}"
        self.model = settings["model"] = f"openai:{mark}-model"
        self.campaign: Campaign = make_campaign(database, chosen, read_settings(chosen, settings), demo=True)
        self.organiser = self._person(f"Olga {mark}-name {hostile[:50]}", {"roles": ["organiser"]})
        self.people = {name: self._person(f"{name} {mark}-name", facts) for name, facts in demo["people"].items()}
        for number, entry in enumerate(demo["items"][:items]):
            steps = [self._step(step) for step in entry["steps"]]
            start = now() - timedelta(days=2) + number * timedelta(minutes=50)
            play(database, self.campaign, self.people, entry | {"steps": steps}, start, self.organiser.id)
        self.items = list(read_items(database, self.campaign))
        self.judges: dict[str, tuple[Person, list[str]]] = {}
        for role, identifier in guests(database, [self.campaign]).items():
            with database.write() as connection:
                name = f"=1+1 {mark}-name"  # a formula to a spreadsheet
                connection.execute(update(people).where(people.c.id == identifier).values(name=name))
            guest = self.member(identifier)
            held = []
            while (item := take(database, self.campaign, guest)) is not None:
                held.append(item.id)
            self.judges[role.value] = (guest, held)

    def member(self, identifier: str) -> Person:
        member = find_member(self.database, self.campaign, identifier)
        assert member is not None
        return member.person

    def _person(self, name: str, facts: dict[str, Any]) -> Person:
        regions, languages = (tuple(facts.get(key, ())) for key in ("regions", "languages"))
        profile = PersonProfile(name=name, nationality=regions, home=regions, languages=languages)
        with self.database.write() as connection:
            identifier = add_person(connection, profile)
        add_member(self.database, self.campaign, identifier, *(Role(role) for role in facts["roles"]))
        return self.member(identifier)

    def _step(self, step: dict[str, Any]) -> dict[str, Any]:
        [(name, value)] = step.items()
        if name == "vote":
            return {name: {person: self._plant(answer, "vote") for person, answer in value.items()}}
        if name == "decide":
            return {name: value | {"note": f"{value.get('note', '')} {self.mark}-decided {self.hostile}"}}
        return {name: self._plant(value, "model" if name.startswith("answer") else "text")}

    def _plant(self, value: Any, kind: str, field: str = "") -> Any:
        """The value with a mark behind every text of several words."""
        if isinstance(value, dict):
            return {name: self._plant(inner, kind, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._plant(inner, kind, field) for inner in value]
        if isinstance(value, str) and " " in value.strip():
            return f"{value} {self.mark}-{kind}-{field} {self.hostile}"
        return value
