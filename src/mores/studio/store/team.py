"""The people of a campaign, for its organiser: roles, removing, a new link by which someone signs in."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select, update

from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.people import Member, give_back, link_back, list_members, record
from mores.studio.store.tables import members, people
from mores.studio.workflow import Refused


def change_roles(database: Database, campaign: Campaign, member: Member, roles: Collection[Role], by: str) -> None:
    """Give someone other roles; a campaign keeps an organiser, and what no longer suits them goes to others."""
    if not roles:
        raise Refused("Choose at least one role, or remove the person.")
    person = member.person
    if Role.ORGANISER not in roles:
        _keep_organiser(database, campaign, person.id)
    give_back(database, campaign, person, roles)
    names = [role.value for role in Role if role in roles]
    with database.write() as connection:
        mine = (members.c.campaign == campaign.id, members.c.person == person.id)
        connection.execute(update(members).where(*mine).values(roles=names))
        record(connection, by, "changed roles", f"{person.id}: {', '.join(names)}", campaign.id)


def remove_member(database: Database, campaign: Campaign, member: Member, by: str) -> None:
    """Take someone out of a campaign; their work stays, and what waits for them goes to others."""
    person = member.person
    _keep_organiser(database, campaign, person.id)
    give_back(database, campaign, person)
    with database.write() as connection:
        connection.execute(delete(members).where(members.c.campaign == campaign.id, members.c.person == person.id))
        record(connection, by, "removed", person.id, campaign.id)


def set_maker(database: Database, campaign: Campaign, person: str, makes: bool, by: str) -> None:
    """Let someone make campaigns in this studio, or not any more; somebody always may."""
    makers = select(people.c.id).where(people.c.organises, people.c.withdrawn.is_(None))
    if not makes and [row.id for row in database.fetch(makers)] == [person]:
        raise Refused("Somebody must be able to make campaigns. Let someone else make them first.")
    with database.write() as connection:
        connection.execute(update(people).where(people.c.id == person).values(organises=makes))
        action = "let someone make campaigns" if makes else "let someone make no more campaigns"
        record(connection, by, action, person, campaign.id)


def makes_campaigns(database: Database, person: str) -> bool:
    """Return whether someone may make campaigns in this studio."""
    return bool(database.fetch(select(people.c.id).where(people.c.id == person, people.c.organises)))


def _keep_organiser(database: Database, campaign: Campaign, person: str) -> None:
    organisers = [member for member in list_members(database, campaign) if Role.ORGANISER in member.person.roles]
    if [member.person.id for member in organisers] == [person]:
        raise Refused("A campaign needs an organiser. Make someone else one first.")


def new_link(database: Database, member: Member, by: str) -> str:
    """Make a link by which a member signs in; the secret that stands in it.

    Who opens it is that person in every campaign, so only someone who organises all of them may make one.
    """
    person = member.person.id
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
