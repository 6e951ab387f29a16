"""Answers what people and stages ask models, in the background, so that no page waits for a model.

Questions are rows of the store: after a restart the waiting ones are asked again, and the engine's store knows the
answers that were already paid for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

from mores.engine.ask import Asker, AskOptions, open_asker
from mores.engine.runner import Answer, Job
from mores.errors import MoresError
from mores.search import Search, open_search
from mores.studio.form import storable, storable_values
from mores.studio.records import Ask, Content, Item
from mores.studio.store.campaigns import all_campaigns, open_campaign
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, campaigns_that_wait, claim_asks, do, read_item
from mores.studio.store.skills import count_all_votes, learn_skills
from mores.studio.workflow import Answered, Refused

PAUSE = 0.3
"""Seconds between two looks for new questions."""
LEARN = 60.0
"""Seconds between two estimates of how often people are correct, where a campaign's rules use it."""
AGAIN = 1000
"""Between the samples of two attempts: an answer that could not be used is in the engine's store, and not wanted."""


class Worker:
    """Looks for questions and answers them, as long as it is entered."""

    def __init__(self, database: Database, model: str, options: AskOptions) -> None:
        self.database = database
        self.model = model
        self.options = options
        self._askers: dict[str, Asker] = {}
        self._searches: dict[str, Search] = {}
        self._task: asyncio.Task[None] | None = None
        self._learned: dict[str, int] = {}
        """By campaign: how many votes there were at the last estimate."""

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        for search in self._searches.values():
            await search.close()

    async def _run(self) -> None:
        learned = time.monotonic()
        while True:
            try:
                answered = await self.answer_all()
                if time.monotonic() - learned > LEARN:
                    await asyncio.to_thread(self.learn_all)
                    learned = time.monotonic()
            except Exception:  # the database may be away for a moment; people go on
                answered = 0
            if not answered:
                await asyncio.sleep(PAUSE)

    def learn_all(self) -> None:
        """Estimate people's skills again in the campaigns whose rules use them, where there are new votes."""
        for campaign in all_campaigns(self.database):
            if campaign.flow.open and campaign.kind.skilled(campaign.settings):
                count = count_all_votes(self.database, campaign)
                if self._learned.get(campaign.id) != count:
                    learn_skills(self.database, campaign)
                    self._learned[campaign.id] = count

    async def answer_all(self) -> int:
        """Answer the questions that wait now; their number."""
        count = 0
        for identifier in await asyncio.to_thread(campaigns_that_wait, self.database):
            campaign = await asyncio.to_thread(open_campaign, self.database, identifier, self.model)
            if campaign.flow.open:
                claimed = await asyncio.to_thread(claim_asks, self.database, campaign)
                count += len(claimed)
                await self._answer(campaign, claimed)
        return count

    async def _answer(self, campaign: Campaign, claimed: Sequence[tuple[str, str]]) -> None:
        by_model: dict[str, list[Job]] = defaultdict(list)
        lookups: list[tuple[Item, Ask]] = []
        for identifier, name in claimed:
            item = await asyncio.to_thread(read_item, self.database, campaign, identifier)
            ask = next(ask for ask in item.asks if ask.id == name)
            if ask.task in campaign.kind.lookups:
                lookups.append((item, ask))
                continue
            try:
                request = campaign.kind.tasks[ask.task].request(item, ask, campaign.settings)
            except Exception as error:  # a kind's own code: whatever it raises concerns this question alone
                await self._write(campaign, item, ask, None, f"The model cannot be asked this: {explain(error)}")
                continue
            sample = ask.sample + AGAIN * ask.attempt
            by_model[ask.model].append(Job(ask.id, request, sample=sample, data=(item, ask)))
        asked = (self._ask(campaign, model, jobs) for model, jobs in by_model.items())
        await asyncio.gather(*asked, *(self._look_up(campaign, item, ask) for item, ask in lookups))

    async def _ask(self, campaign: Campaign, model: str, jobs: list[Job]) -> None:
        """Ask one model; where it cannot be asked at all, every question says why."""
        left = {job.id: job for job in jobs}
        try:
            if model not in self._askers:
                self._askers[model] = open_asker(model, **self.options)
            async for answer in self._askers[model].ask(jobs):
                item, ask = left.pop(answer.job.id).data
                content, failure = read(campaign, item, ask, answer)
                await self._write(campaign, item, ask, content, failure, usage_of(self._askers[model], answer))
        except MoresError as error:
            for job in left.values():
                item, ask = job.data
                await self._write(campaign, item, ask, None, f"The model cannot be asked: {error}")

    async def _look_up(self, campaign: Campaign, item: Item, ask: Ask) -> None:
        """Search for something; a search that fails says why."""
        lookup = campaign.kind.lookups[ask.task]
        content: Content | None = None
        failure = ""
        try:
            if ask.model not in self._searches:
                self._searches[ask.model] = await asyncio.to_thread(open_search, ask.model)
            query = lookup.query(item, ask, campaign.settings)
            (found,) = await self._searches[ask.model].find([query], lookup.results(campaign.settings))
            if found.failure is None:
                content = lookup.read(found, item, ask, campaign.settings)
            else:
                failure = f"The search failed: {found.failure.reason}"
        except MoresError as error:
            failure = f"The search failed: {error}"
        await self._write(campaign, item, ask, content, failure)

    async def _write(
        self,
        campaign: Campaign,
        item: Item,
        ask: Ask,
        content: Content | None,
        failure: str,
        usage: Content | None = None,
    ) -> None:
        action = Answered(ask.id, storable_values(content), storable(failure), usage or {})
        with contextlib.suppress(Refused):
            await asyncio.to_thread(do, self.database, campaign, None, action, item=item.id)


def usage_of(asker: Asker, answer: Answer) -> Content:
    """What an answer took: tokens, and dollars where the price is known; nothing was paid for one from the store."""
    if answer.completion is None:
        return {}
    tokens = answer.completion.prompt_tokens, answer.completion.completion_tokens
    usage: Content = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    if answer.cached or asker.price:
        usage["cost"] = 0.0 if answer.cached or asker.price is None else asker.price.cost(*tokens)
    return usage


def read(campaign: Campaign, item: Item, ask: Ask, answer: Answer) -> tuple[Content | None, str]:
    """What a model's answer means to the campaign, or why it means nothing."""
    if answer.completion is None:
        reason = answer.failure.reason if answer.failure else "no answer"
        return None, f"The model did not answer: {reason}"
    try:
        content: Any = campaign.kind.tasks[ask.task].read(answer.completion, item, ask, campaign.settings)
    except Exception as error:  # what a model wrote may surprise a kind's code in any way
        return None, f"The model's answer cannot be used: {explain(error)}"
    return content, ""


def explain(error: Exception) -> str:
    """What went wrong, for people: our own words, or the kind of a surprise."""
    return str(error) if isinstance(error, MoresError) else f"unexpected {type(error).__name__}"
