"""What an organiser does without a browser: making campaigns, inviting, exporting, making tables again."""

from __future__ import annotations

from pathlib import Path

from mores.studio import export
from mores.studio.records import Role
from mores.studio.serve import link_of, owner_of
from mores.studio.store.campaigns import all_campaigns, make_campaign, open_campaign, parse_campaign
from mores.studio.store.database import open_database
from mores.studio.store.items import Campaign, rebuild
from mores.studio.store.people import add_member, invite


def new_campaign(database: str | Path, file: Path) -> tuple[Campaign, str]:
    """Make a campaign from a YAML file; the campaign, and the path of a link for its organiser."""
    store = open_database(database)
    kind, settings = parse_campaign(file.read_text("utf-8"), str(file))
    campaign = make_campaign(store, kind, settings)
    owner = owner_of(store)
    add_member(store, campaign, owner, Role.ORGANISER)
    path = link_of(store, owner, Role.ORGANISER)
    store.close()
    return campaign, path


def owner_link(database: str | Path) -> str:
    """The path of a link that signs the studio's organiser in, once."""
    store = open_database(database)
    path = link_of(store, owner_of(store), Role.ORGANISER)
    store.close()
    return path


def invite_people(database: str | Path, campaign: str, role: str, uses: int = 1) -> str:
    """Make an invitation; the path of its link."""
    store = open_database(database)
    token = invite(store, open_campaign(store, campaign), Role(role), owner_of(store), uses=uses)
    store.close()
    return f"/join/{token}"


def export_campaign(database: str | Path, campaign: str, folder: Path) -> list[Path]:
    """Write a campaign's accepted items into a folder; the files."""
    store = open_database(database)
    paths = export.write(store, open_campaign(store, campaign), folder)
    store.close()
    return paths


def rebuild_tables(database: str | Path) -> int:
    """Make the tables that pages read again; the number of items."""
    store = open_database(database)
    count = rebuild(store, all_campaigns(store))
    store.close()
    return count
