"""What an organiser does about the people of a campaign: roles, removing, a new link by which someone signs in."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select, update

from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, list_held, perform
from mores.studio.store.people import Member, find_member, link_back, list_members, record
from mores.studio.store.tables import members, people
from mores.studio.workflow import Refused, Release


def need_member(database: Database, campaign: Campaign, person: str) -> Member:
    """Return someone in a campaign; raises `Refused` where they are not in it."""
    member = find_member(database, campaign, person)
    if member is None:
        raise Refused("This person is not in the campaign.")
    return member


def change_roles(database: Database, campaign: Campaign, person: str, roles: Collection[Role], by: str) -> None:
    """Give someone other roles; a campaign keeps an organiser, and what no longer suits them goes to others."""
    if not roles:
        raise Refused("Choose at least one role, or remove the person.")
    member = need_member(database, campaign, person)
    if Role.ORGANISER not in roles:
        _keep_organiser(database, campaign, person)
    for item in list_held(database, campaign, member.person):
        if campaign.flow.stage(item.stage).role not in roles:
            perform(database, campaign, None, Release(of=person), item=item.id)
    names = [role.value for role in Role if role in roles]
    with database.write() as connection:
        mine = (members.c.campaign == campaign.id, members.c.person == person)
        connection.execute(update(members).where(*mine).values(roles=names))
        record(connection, by, "changed roles", f"{person}: {', '.join(names)}", campaign.id)


def remove_member(database: Database, campaign: Campaign, person: str, by: str) -> None:
    """Take someone out of a campaign; their work stays, and what waits for them goes to others."""
    member = need_member(database, campaign, person)
    _keep_organiser(database, campaign, person)
    for item in list_held(database, campaign, member.person):
        perform(database, campaign, None, Release(of=person), item=item.id)
    with database.write() as connection:
        connection.execute(delete(members).where(members.c.campaign == campaign.id, members.c.person == person))
        record(connection, by, "removed", person, campaign.id)


def _keep_organiser(database: Database, campaign: Campaign, person: str) -> None:
    organisers = [member for member in list_members(database, campaign) if Role.ORGANISER in member.person.roles]
    if [member.person.id for member in organisers] == [person]:
        raise Refused("A campaign needs an organiser. Make someone else one first.")


def new_link(database: Database, campaign: Campaign, person: str, by: str) -> str:
    """Make a link by which a member signs in; the secret that stands in it.

    Who opens it is that person in every campaign, so only someone who organises all of them may make one.
    """
    member = need_member(database, campaign, person)
    theirs = select(members.c.campaign).where(members.c.person == person)
    mine = select(members.c.campaign, members.c.roles).where(members.c.person == by)
    organised = {row.campaign for row in database.fetch(mine) if Role.ORGANISER.value in row.roles}
    others = {row.campaign for row in database.fetch(theirs)} - organised
    [account] = database.fetch(select(people.c.organises, people.c.withdrawn).where(people.c.id == person))
    if account.withdrawn:
        raise Refused("This person has deleted their data.")
    if others or (account.organises and person != by):
        raise Refused("This person also works in campaigns that are not yours. Ask the studio's organiser.")
    return link_back(database, person, by, role=min(member.person.roles))
