"""Answers what people and stages ask models, in the background, so that no page waits for a model.

Questions are rows of the store: after a restart the waiting ones are asked again, and the engine's store knows the
answers that were already paid for. Each model has its own lane, so that a slow or dead one delays no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection, Row, or_, select, true, update

from mores.engine import Asker, AskSettings, make_asker
from mores.engine.job import Answer, Job
from mores.errors import MoresError
from mores.models.base import Stop
from mores.search import Search, open_search
from mores.studio.form import storable, storable_values
from mores.studio.records import Ask, CampaignItem, Content
from mores.studio.store.campaigns import list_campaigns, open_campaign
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now, perform, read_item
from mores.studio.store.statistics import count_all_votes, learn_skills
from mores.studio.store.tables import asks, campaigns
from mores.studio.workflow import Answered, Refused
from mores.types import Failure

CLAIM = timedelta(minutes=2)
"""How long a process that answers a question may say nothing before another answers it."""


def claim_asks(database: Database, full: Collection[str] = (), limit: int = 20) -> Sequence[Row[str, str, str]]:
    """Claim questions that wait in open campaigns, the oldest first, none to the models that are `full`.

    The campaign, item and id of each.
    """
    moment = now()
    unclaimed = or_(asks.c.claimed.is_(None), asks.c.claimed < moment - CLAIM)
    query = (
        select(asks.c.campaign, asks.c.item, asks.c.id)
        .join(campaigns, campaigns.c.id == asks.c.campaign)
        .where(asks.c.waiting == true(), unclaimed, campaigns.c.open == true(), asks.c.model.not_in(full))
        .order_by(asks.c.asked, asks.c.id)
        .limit(limit)
    )
    if not database.fetch(query.limit(1)):  # mostly there is none, and looking locks nothing
        return []
    with database.write() as connection:
        chosen = connection.execute(query.with_for_update(skip_locked=True, of=asks)).all()
        _set_claimed(connection, [row.id for row in chosen], moment)
    return chosen


def keep_claims(database: Database, claimed: Collection[str], *, at: datetime | None = None) -> None:
    """Say that this process is still answering questions, or, without a time, that it no longer is."""
    if claimed:
        with database.write() as connection:
            _set_claimed(connection, claimed, at)


def _set_claimed(connection: Connection, claimed: Collection[str], at: datetime | None) -> None:
    connection.execute(update(asks).where(asks.c.id.in_(claimed), asks.c.waiting == true()).values(claimed=at))


PAUSE = 0.3
"""Seconds between two looks for new questions."""
LEARN = 60.0
"""Seconds between two estimates of how often people are correct, where a campaign's rules use it."""
AGAIN = 1000
"""Between the samples of two attempts: an answer that could not be used is in the engine's store, and not wanted."""
FULL = 40
"""Questions to one model that a process has at once; the others wait in the database, for this process or another."""
SEARCHING = 4
"""Searches at once, of one kind."""
IDLE = 60.0
"""Seconds without a question after which a model is closed."""


class PendingAsk(NamedTuple):
    """Something to ask a model or to look up."""

    campaign: Campaign
    item: CampaignItem
    ask: Ask


@dataclass(eq=False)
class Lane:
    """The questions to one model or one search that are on their way."""

    waiting: asyncio.Queue[PendingAsk | None] = field(default_factory=asyncio.Queue)
    """None after the last."""
    open: dict[str, PendingAsk] = field(default_factory=dict)
    """What is not answered yet, by the id of the question."""
    closed: bool = False

    def put(self, question: PendingAsk) -> None:
        """Let a question come in."""
        self.open[question.ask.id] = question
        self.waiting.put_nowait(question)

    def close(self) -> None:
        """Let no more questions in; those that are there are answered."""
        self.closed = True
        self.waiting.put_nowait(None)

    async def questions(self) -> AsyncIterator[PendingAsk]:
        """Yield each question as soon as it comes; end where none has come for a while."""
        while True:
            try:
                question = await asyncio.wait_for(self.waiting.get(), IDLE)
            except TimeoutError:
                if not self.open:
                    self.closed = True
                    return
                continue
            if question is None:
                self.waiting.put_nowait(None)  # for others who take from here
                return
            yield question


class AskWorker:
    """A background worker that looks for questions and answers them while it is entered."""

    def __init__(self, database: Database, model: str, options: AskSettings) -> None:
        self.database = database
        self.model = model
        self.options = options
        self._lanes: dict[str, Lane] = {}
        """By model or search: where new questions go."""
        self._running: dict[asyncio.Task[None], Lane] = {}
        self._searches: dict[str, Search] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._writes: set[asyncio.Task[Any]] = set()
        self._learned: dict[str, int] = {}
        """By campaign: how many votes there were at the last estimate."""

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._look()), asyncio.create_task(self._learn())]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop: an answer that is being written is written, and what has none is given back for others to ask."""
        tasks, lanes = [*self._tasks, *self._running], list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._writes, return_exceptions=True)
        left = [ask for lane in lanes for ask in lane.open]
        with contextlib.suppress(Exception):  # the database may be away; then the claims end by themselves
            await asyncio.to_thread(keep_claims, self.database, left, at=None)
        for search in self._searches.values():
            await search.close()

    async def _look(self) -> None:
        kept = time.monotonic()
        while True:
            begun = 0
            with contextlib.suppress(Exception):  # the database may be away for a moment; people go on
                begun = await self._begin()
                if time.monotonic() - kept > CLAIM.total_seconds() / 4:
                    claimed = [ask for lane in self._running.values() for ask in lane.open]
                    await asyncio.to_thread(keep_claims, self.database, claimed, at=now())
                    kept = time.monotonic()
            if not begun:
                await asyncio.sleep(PAUSE)

    async def _learn(self) -> None:
        while True:
            await asyncio.sleep(LEARN)
            with contextlib.suppress(Exception):
                await asyncio.to_thread(self.learn_all)

    def learn_all(self) -> None:
        """Estimate people's skills again in the campaigns whose rules use them, where there are new votes."""
        for campaign in list_campaigns(self.database):
            if campaign.flow.open and campaign.kind.skilled(campaign.settings):
                count = count_all_votes(self.database, campaign)
                if self._learned.get(campaign.id) != count:
                    learn_skills(self.database, campaign)
                    self._learned[campaign.id] = count

    async def answer_all(self) -> int:
        """Answer the questions that wait now; their number."""
        count = await self._begin(limit=1000)
        for task, lane in list(self._running.items()):
            lane.close()
            await task
        return count

    async def _begin(self, limit: int = 20) -> int:
        """Let questions that wait into the lanes of their models; their number."""
        full = [name for name, lane in self._lanes.items() if len(lane.open) >= FULL]
        claimed = await asyncio.to_thread(claim_asks, self.database, full, limit)
        for place in claimed:
            campaign = await asyncio.to_thread(open_campaign, self.database, place.campaign, self.model)
            item = await asyncio.to_thread(read_item, self.database, campaign, place.item)
            question = PendingAsk(campaign, item, next(ask for ask in item.asks if ask.id == place.id))
            self._lane(question).put(question)
        return len(claimed)

    def _lane(self, question: PendingAsk) -> Lane:
        name = question.ask.model
        lane = self._lanes.get(name)
        if lane is None or lane.closed:
            lane = self._lanes[name] = Lane()
            searching = question.ask.task in question.campaign.kind.lookups
            task = asyncio.create_task(self._search(lane, name) if searching else self._ask(lane, name))
            self._running[task] = lane
            task.add_done_callback(self._leave)
        return lane

    def _leave(self, task: asyncio.Task[None]) -> None:
        """Forget a lane that has ended; where it failed, what has no answer is asked again when its claim is over."""
        lane = self._running.pop(task)
        lane.closed = True
        if not task.cancelled():
            task.exception()

    async def _ask(self, lane: Lane, model: str) -> None:
        """Ask one model as long as questions come; where it cannot be asked at all, every question says why."""
        try:
            asker = make_asker(model, self.options)
            async for answer in asker.ask(self._jobs(lane), in_order=False):
                question = answer.job.data
                content, failure = read_answer(question, answer)
                await self._write(lane, question, content, failure, count_usage(asker, answer))
        except MoresError as error:
            lane.closed = True
            for question in list(lane.open.values()):
                await self._write(lane, question, None, f"The model cannot be asked: {error}")

    async def _jobs(self, lane: Lane) -> AsyncIterator[Job]:
        """Yield what a model is asked; a question that cannot be asked says why."""
        async for question in lane.questions():
            campaign, item, ask = question
            try:
                request = campaign.kind.tasks[ask.task].request(item, ask, campaign.settings)
            except Exception as error:  # a kind's own code: whatever it raises concerns this question alone
                await self._write(lane, question, None, f"The model cannot be asked this: {explain_error(error)}")
            else:
                yield Job(ask.id, request, sample=ask.sample + AGAIN * ask.attempt, data=question)

    async def _search(self, lane: Lane, name: str) -> None:
        """Look things up, some at a time, as long as questions come; where nothing can be, every question says why."""
        try:
            if name not in self._searches:
                self._searches[name] = await asyncio.to_thread(open_search, name)
        except MoresError as error:
            lane.closed = True
            for question in list(lane.open.values()):
                await self._write(lane, question, None, f"The search failed: {error}")
            return

        async def work() -> None:
            async for question in lane.questions():
                content, failure = await look_up(self._searches[name], question)
                await self._write(lane, question, content, failure)

        await asyncio.gather(*(work() for _ in range(SEARCHING)))

    async def _write(
        self, lane: Lane, question: PendingAsk, content: Content | None, failure: str, usage: Content | None = None
    ) -> None:
        """Keep an answer; once begun it is written, also where the worker is stopped meanwhile."""
        campaign, item, ask = question
        action = Answered(ask.id, storable_values(content), storable(failure), usage or {})
        write = asyncio.create_task(asyncio.to_thread(perform, self.database, campaign, None, action, item=item.id))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)
        with contextlib.suppress(Refused):
            await asyncio.shield(write)
        lane.open.pop(ask.id, None)


async def look_up(search: Search, question: PendingAsk) -> tuple[Content | None, str]:
    """Return what a search says to a question, or why it says nothing."""
    campaign, item, ask = question
    lookup = campaign.kind.lookups[ask.task]
    try:
        query = lookup.query(item, ask, campaign.settings)
        (found,) = await search.find([query], lookup.results(campaign.settings))
        if found.failure is not None:
            return None, f"The search failed: {found.failure.reason}"
        return lookup.read(found, item, ask, campaign.settings), ""
    except Exception as error:  # a kind's own code: whatever it raises concerns this question alone
        return None, f"The search failed: {explain_error(error)}"


def count_usage(asker: Asker, answer: Answer) -> Content:
    """Return what an answer took: tokens, and dollars where the price is known; one from the store is free."""
    if answer.usage is None:
        return {}
    tokens = answer.usage.prompt_tokens, answer.usage.completion_tokens
    usage: Content = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    if answer.cached or asker.price:
        usage["cost"] = 0.0 if answer.cached or asker.price is None else asker.price.cost(*tokens)
    return usage


def read_answer(question: PendingAsk, answer: Answer) -> tuple[Content | None, str]:
    """Return what a model's answer means to the campaign, or why it means nothing."""
    campaign, item, ask = question
    reply = answer.read(Stop.LENGTH)
    if isinstance(reply, Failure):
        return None, f"The model did not answer: {reply.reason}"
    try:
        content: Any = campaign.kind.tasks[ask.task].read(reply, item, ask, campaign.settings)
    except Exception as error:  # what a model wrote may surprise a kind's code in any way
        return None, f"The model's answer cannot be used: {explain_error(error)}"
    return content, ""


def explain_error(error: Exception) -> str:
    """Return what went wrong, for people: our own words, or the kind of a surprise."""
    return str(error) if isinstance(error, MoresError) else f"unexpected {type(error).__name__}"
