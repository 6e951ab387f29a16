"""Jobs: what takes longer than a page may, as rows that any process of the studio can work on.

A job whose process died is taken by another one after a while. Exports and imports can be done twice without harm: an
export is kept once for the same bytes, and an import knows what it has brought before.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from secrets import token_hex
from threading import Condition, Thread
from typing import Any, NamedTuple

from sqlalchemy import and_, false, insert, or_, select, update
from sqlalchemy.exc import OperationalError

from mores.errors import MoresError
from mores.studio.phrase import Phrase, keep_phrases
from mores.studio.progress import STOPPING, Cancelled, reporting
from mores.studio.store.database import AWAY, Database
from mores.studio.store.items import now
from mores.studio.store.tables import jobs
from mores.studio.workflow import Refused, Unknown

LOST = timedelta(seconds=60)
"""How long a process may say nothing about its job before another takes it."""
UNANSWERED = timedelta(days=7)
"""How long a file waits for the answer of who sent it; then it is deleted."""
TRIES = 3
"""Processes that may die of a job before nobody takes it any more."""
EVERY = 0.5
"""Seconds between two notes of progress."""
OVER = ("done", "failed", "cancelled")
ASKS = "asks"
"""The status of a job that does no more until somebody says so: it keeps its data."""


class StudioJob(NamedTuple):
    """A job as pages show it."""

    id: str
    campaign: str
    kind: str
    status: str
    settings: Mapping[str, Any]
    done: int
    total: int
    cancel: bool
    result: Mapping[str, Any]
    """What came of it, or the `problem` for which nothing did."""
    made_by: str | None
    created: datetime
    ended: datetime | None

    @property
    def asks(self) -> bool:
        """True if it waits for somebody's word, with what it found out as its result."""
        return self.status == ASKS

    @property
    def over(self) -> bool:
        """True if nothing more will happen."""
        return self.status in OVER


_COLUMNS = tuple(jobs.c[name] for name in StudioJob._fields)
Work = Callable[[Database, StudioJob, bytes], Mapping[str, Any]]
"""Does a job; its result, in which `asks` is a question to who began it.

Raises `MoresError` or `Refused` with the reason why it cannot be done.
"""


def add_job(
    database: Database, campaign: str, kind: str, by: str | None, settings: Mapping[str, Any], data: bytes = b""
) -> str:
    """Let something be done; its id. The same that waits or runs already is not done twice; a question is dropped."""
    with database.write() as connection:
        unanswered = (jobs.c.campaign == campaign, jobs.c.kind == kind, jobs.c.made_by == by, jobs.c.status == ASKS)
        dropped = {"status": "cancelled", "ended": now(), "data": None}
        connection.execute(update(jobs).where(*unanswered).values(**dropped))
        mine = (jobs.c.campaign == campaign, jobs.c.kind == kind, jobs.c.status.not_in(OVER), jobs.c.cancel == false())
        for row in connection.execute(select(jobs.c.id, jobs.c.settings).where(*mine)):
            if row.settings == dict(settings):
                return str(row.id)
        job: dict[str, Any] = {
            "id": token_hex(8),
            "campaign": campaign,
            "kind": kind,
            "status": "waiting",
            "data": data,
        }
        job |= {"done": 0, "total": 0, "cancel": False, "result": {}, "created": now()}
        connection.execute(insert(jobs), job | {"settings": dict(settings), "made_by": by})
        return str(job["id"])


def read_job(database: Database, campaign: str, job: str) -> StudioJob:
    """Return a job; raises `Unknown` where the campaign has none of that id."""
    for row in database.fetch(select(*_COLUMNS).where(jobs.c.id == job, jobs.c.campaign == campaign)):
        return StudioJob(*row)
    raise Unknown("There is no such job.")


def list_jobs(database: Database, campaign: str, limit: int = 10) -> list[StudioJob]:
    """Return what waits or runs in a campaign, the newest first."""
    query = select(*_COLUMNS).where(jobs.c.campaign == campaign, jobs.c.status.not_in(OVER))
    return [StudioJob(*row) for row in database.fetch(query.order_by(jobs.c.created.desc()).limit(limit))]


def cancel_job(database: Database, job: StudioJob) -> None:
    """Give a job up: at once where it waits, and else where its process next says how far it is."""
    mine = jobs.c.id == job.id
    with database.write() as connection:
        connection.execute(update(jobs).where(mine, jobs.c.status.not_in(OVER)).values(cancel=True))
        ended = {"status": "cancelled", "ended": now(), "data": None}
        connection.execute(update(jobs).where(mine, jobs.c.status.in_(("waiting", ASKS))).values(**ended))


def confirm_job(database: Database, job: StudioJob) -> None:
    """Let a job that asks go on."""
    asks = (jobs.c.id == job.id, jobs.c.status == ASKS)
    with database.write() as connection:
        settings = {**job.settings, "confirmed": True}
        connection.execute(update(jobs).where(*asks).values(status="waiting", settings=settings, result={}))


def claim_job(database: Database) -> tuple[StudioJob, bytes] | None:
    """Take the oldest job that waits, or whose process is gone; None where there is none. What three processes died of
    has failed, and what nobody has answered for a week is cancelled."""
    forgotten = (jobs.c.status == ASKS, jobs.c.created < now() - UNANSWERED)
    if database.fetch(select(jobs.c.id).where(*forgotten).limit(1)):
        with database.write() as connection:
            connection.execute(update(jobs).where(*forgotten).values(status="cancelled", ended=now(), data=None))
    lost = and_(jobs.c.status == "running", or_(jobs.c.seen.is_(None), jobs.c.seen < now() - LOST))
    query = select(*_COLUMNS, jobs.c.data).where(or_(jobs.c.status == "waiting", lost)).order_by(jobs.c.created)
    if not database.fetch(query.with_only_columns(jobs.c.id).limit(1)):
        return None  # without a write, which would wait for others
    with database.write() as connection:
        while row := connection.execute(query.limit(1).with_for_update(skip_locked=True)).first():
            mine, died = update(jobs).where(jobs.c.id == row.id), row.result.get("died", 0) + (row.status == "running")
            if died < TRIES:
                connection.execute(mine.values(status="running", seen=now(), result={"died": died}))
                return StudioJob(*row[:-1]), bytes(row.data or b"")
            problem = keep_phrases(Phrase("Something went wrong on our side."))
            connection.execute(mine.values(status="failed", ended=now(), data=None, result={"problem": problem}))
    return None


class JobRunner:
    """Does the jobs of a database, one at a time, in a thread that ends where nothing waits."""

    def __init__(self, database: Database, work: Mapping[str, Work]) -> None:
        self._database, self._work = database, work
        self._changed = Condition()
        self._thread: Thread | None = None
        self._woken = False
        self._stopping = False

    def wake(self) -> None:
        """Look for jobs, now."""
        with self._changed:
            self._woken = True
            if self._thread is None and not self._stopping:
                self._thread = Thread(target=self._run, name="jobs", daemon=True)
                self._thread.start()

    def wait(self, campaign: str, job: str, seconds: float) -> StudioJob:
        """Return a job when it is over, or as it is after some time."""
        until = time.monotonic() + seconds
        while True:
            with self._changed:
                found = read_job(self._database, campaign, job)
                left = until - time.monotonic()
                if found.over or found.asks or left <= 0:
                    return found
                self._changed.wait(min(left, 0.2))  # another process may have it

    def stop(self) -> None:
        """Give up what is being done; it waits for the next start."""
        with self._changed:
            self._stopping = True
            thread = self._thread
        if thread:
            thread.join(5)

    def _run(self) -> None:
        try:
            self._do_all()
        except Exception:  # whatever it is, the next who looks at a job begins again
            logging.getLogger(__name__).exception("the database does not work")
            with self._changed:
                self._thread = None

    def _do_all(self) -> None:
        while True:
            with self._changed:
                self._woken = False
            claimed = None if self._stopping or STOPPING.is_set() else claim_job(self._database)
            if claimed:
                self._do(*claimed)
                continue
            with self._changed:
                if not self._woken or self._stopping:
                    self._thread = None
                    return

    def _do(self, job: StudioJob, data: bytes) -> None:
        last = time.monotonic()
        mine = jobs.c.id == job.id

        def note(done: int, total: int) -> None:
            nonlocal last
            if self._stopping or STOPPING.is_set():
                raise Cancelled
            if time.monotonic() - last >= EVERY:
                last = time.monotonic()
                with self._database.write() as connection:
                    values = {"seen": now()} | ({"done": done, "total": total} if total else {})
                    connection.execute(update(jobs).where(mine).values(**values))
                    if connection.execute(select(jobs.c.cancel).where(mine)).scalar():
                        raise Cancelled

        ended: dict[str, Any]
        try:
            with reporting(note):
                result = dict(self._work[job.kind](self._database, job, data))
                ended = {"status": ASKS if ASKS in result else "done", "result": result}
        except Cancelled:
            ended = {"status": "waiting" if self._stopping or STOPPING.is_set() else "cancelled"}
        except (MoresError, Refused) as error:
            ended = {"status": "failed", "result": {"problem": keep_phrases(error.args[0])}}
        except Exception as error:
            logging.getLogger(__name__).exception("a job failed")
            problem = AWAY if isinstance(error, OperationalError) else Phrase("Something went wrong on our side.")
            ended = {"status": "failed", "result": {"problem": keep_phrases(problem)}}
        if ended["status"] in OVER:
            ended |= {"ended": now(), "data": None}
        with self._database.write() as connection:
            connection.execute(update(jobs).where(mine).values(seen=None, **ended))
        with self._changed:
            self._changed.notify_all()
