"""Limits that several processes of a studio share, in its database."""

from __future__ import annotations

import time
from collections import OrderedDict

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from mores.studio.store.database import Database
from mores.studio.store.tables import limits
from mores.studio.web.security import FORGET_SECONDS, LIMITS, Limiter, token_for


class SharedLimiter(Limiter):
    """The same where several processes serve: the buckets are in the database.

    A process takes a twentieth of a bucket at a time, so that pages that are only read seldom write. Who it is about is
    kept as a keyed hash, for an hour.
    """

    def __init__(self, database: Database, key: str) -> None:
        super().__init__()
        self._database, self._key = database, key
        self._taken: OrderedDict[str, float] = OrderedDict()

    def allows(self, action: str, who: str, now: float | None = None) -> bool:
        """Take one from what this process has of the bucket, or from the bucket; False where it is empty."""
        name = token_for(self._key, f"limit {action} {who}")
        with self._lock:
            if self._taken.get(name, 0) >= 1:
                self._taken[name] -= 1
                return True
        moment = time.time() if now is None else now
        try:
            taken = self._take(name, *LIMITS[action], moment)
        except IntegrityError:  # another process has made the bucket at this moment
            taken = self._take(name, *LIMITS[action], moment)
        with self._lock:
            self._taken[name] = self._taken.get(name, 0) + max(taken - 1, 0)  # another thread may have taken a part too
            if len(self._taken) > self.MOST:
                self._taken.popitem(last=False)
        return taken > 0

    def _take(self, name: str, per_minute: int, burst: int, moment: float) -> int:
        """Take a part of a bucket; how many."""
        with self._database.write() as connection:
            found = connection.execute(select(limits).where(limits.c.name == name).with_for_update()).first()
            left, last = (found.left, found.at) if found else (float(burst), moment)
            left = min(burst, left + max(moment - last, 0) * per_minute / 60)
            taken = min(max(burst // 20, 1), int(left))
            kept = {"left": left - taken, "at": moment}
            if found:
                connection.execute(update(limits).where(limits.c.name == name).values(**kept))
            else:
                connection.execute(delete(limits).where(limits.c.at < moment - FORGET_SECONDS))
                connection.execute(insert(limits), {"name": name} | kept)
        return taken
