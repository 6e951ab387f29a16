"""Passwords, for people who want to sign in without a link; hashed with argon2."""

from __future__ import annotations

from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, func, select, update

from mores.errors import InputError
from mores.studio.phrase import Phrase
from mores.studio.store.database import Database
from mores.studio.store.people import record
from mores.studio.store.tables import people, sessions
from mores.studio.workflow import Refused

SHORTEST_PASSWORD = 10
SAME_ADDRESS = 5
"""Addresses are not confirmed, so several people may give the same one; so many of them are looked at."""
_HASHER = PasswordHasher()
_HASHING = BoundedSemaphore(4)
"""A hash takes 64 MB of memory: many at once could take all of it."""


def set_password(database: Database, person: str, password: str, old: str = "") -> None:
    """Set a password, for someone with an address to sign in with; other sessions end.

    Who has one already gives it too: a device that was left open is not enough to take an account over.
    """
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(Phrase("Use at least {count} characters; a sentence is good.", count=SHORTEST_PASSWORD))
    if len(password) > 1000:
        raise InputError("This password is too long.")
    [known] = database.fetch(select(people.c.email, people.c.password).where(people.c.id == person))
    if not known.email:
        raise InputError("Give your e-mail address first: you sign in with it.")
    with _HASHING:
        if known.password and not _fits(known.password, old):
            raise InputError("The present password is another one.")
        hashed = _HASHER.hash(password)
    with database.write() as connection:
        connection.execute(update(people).where(people.c.id == person).values(password=hashed))
        connection.execute(delete(sessions).where(sessions.c.person == person))
        record(connection, person, "password set")


def _fits(hashed: str, password: str) -> bool:
    try:
        return _HASHER.verify(hashed, password[:1001])
    except (VerificationError, InvalidHashError):
        return False


def check_password(database: Database, email: str, password: str) -> str:
    """Return the person with this address and password; raises `Refused`. Takes as long where there is nobody."""
    given = email.strip().lower()
    query = select(people.c.id, people.c.password).where(
        func.lower(people.c.email) == given, people.c.email != "", people.c.password != "", people.c.withdrawn.is_(None)
    )
    rows = database.fetch(query.order_by(people.c.created).limit(SAME_ADDRESS))
    with _HASHING:
        for row in rows:
            if _fits(row.password, password):
                return str(row.id)
        if not rows:
            _HASHER.hash(password[:1001])
    raise Refused("This address and password do not belong together.")
