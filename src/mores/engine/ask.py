"""One way to ask a model about many rows: jobs in, answers or failures out, in order.

    asker = open_asker("openai:gpt-4.1-mini", concurrency=50)
    async for answer in asker.ask(jobs): ...

An `Asker` is a model with everything that asking it needs: where answers are kept, the limits, the price, and who is
shown the progress. Whatever asks a model takes one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar

from mores.cache import store_path
from mores.engine.cost import Price, guess_tokens, price_of, read_price
from mores.engine.counts import Counts
from mores.engine.job import Answer, Follow, Job
from mores.engine.limits import Limits
from mores.engine.progress import SILENT, Progress
from mores.engine.runner import Lasting, RunOptions, run
from mores.engine.settings import AskSettings, ModelAskSettings
from mores.engine.store import Store, opened
from mores.errors import ConfigError
from mores.formatting import money
from mores.models import Model, ModelSettings, Request, on_ray, open_model, takes_address, takes_precision
from mores.models.configured import SENT, ConfiguredModel, configured_settings
from mores.settings import find_configuration, takes
from mores.types import Failure, FailureKind, Record

T = TypeVar("T")
Reply = str | Failure
"""What a model wrote, or why there is nothing to read."""

SHOWN = 60
"""Characters of a reply that a failure quotes."""
_NO_CALL = Failure(kind=FailureKind.INPUT, reason="there is nothing to ask")


@dataclass(frozen=True)
class Asker:
    """A model, and everything that is needed to ask it."""

    model: Model
    store: Store | Path | str | None = field(default_factory=store_path)
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False
    retry_failed: bool = False
    given_price: Price | None = None
    progress: Progress = SILENT
    options: ModelSettings = field(default_factory=ModelSettings)
    """How the model was opened; other models are opened in the same way."""

    def __post_init__(self) -> None:
        if listen := getattr(self.model, "listen", None):  # a model on a cluster may have to wait for room
            listen(self.progress.note)

    def open(self, name: str, base_url: str | None = None) -> Asker:
        """Open another model, such as a judge, in the same way, without an adapter; `base_url` is its server if given.

        Without it, it is on the same server; a kind of model that has no use for a setting is not given it.
        """
        options = replace(self.options, base_url=base_url or self.options.base_url, adapter=None)
        found = find_configuration(name, options.config)
        kind = found[1].model if found else name
        address = options.base_url if takes_address(kind) and not (found and found[1].base_url) else base_url
        precision = options.precision if takes_precision(kind) else None
        model, price = open_named(name, replace(options, base_url=address, precision=precision))
        return replace(self, model=model, options=options, given_price=price or (None if found else self.given_price))

    @property
    def price(self) -> Price | None:
        """Dollars per million tokens, where they are known."""
        return self.given_price or price_of(self.model.name)

    async def ask(
        self,
        jobs: Iterable[Job] | AsyncIterable[Job],
        *,
        follow: Follow | None = None,
        counts: Counts | None = None,
        in_order: bool = True,
        lasting: Lasting | None = None,
        read: Callable[[Answer], object] | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Yield the answer to every job, in order or as they come; `follow` may ask one more question after an answer.

        Where failures are asked for again, what `read` makes of a stored answer tells whether it is one.
        """
        with opened(self.store) as store:
            options = RunOptions(
                store=store,
                limits=self.limits,
                fresh=self.fresh,
                retry_failed=self.retry_failed,
                read=read,
                lasting=lasting,
                follow=follow,
                counts=counts or Counts(),
                in_order=in_order,
            )
            async with aclosing(run(jobs, self.model, options)) as answers:
                async for answer in answers:
                    yield answer

    async def ask_each(
        self,
        tasks: Iterable[tuple[T, Sequence[Request]]],
        counts: Counts,
        read: Callable[[str], object] = str,
    ) -> AsyncGenerator[tuple[T, list[Reply]], None]:
        """Yield each thing with the replies to its questions, in order; one without questions passes in its place.

        `counts.done` counts things, not calls, because their number is known before the run. Only a model that needs
        its schema to write what was asked for is held to it: others are asked in words, as papers ask them. Where
        failures are asked for again, so is a stored reply of which `read` makes one.
        """

        def use(answer: Answer) -> object:
            reply = read_reply(answer)
            return reply if isinstance(reply, Failure) else read(reply)

        finished, replies = 0, list[Reply]()
        async with aclosing(self.ask(_jobs(tasks, self.model.constrained), counts=counts, read=use)) as answers:
            async for answer in answers:
                thing, remaining = answer.job.data
                if answer.job.request is _NO_CALL:
                    counts.blamed[_NO_CALL.blame] -= 1
                else:
                    replies.append(read_reply(answer))
                finished += remaining == 0
                counts.done = finished
                if remaining == 0:
                    yield thing, replies
                    replies = []

    async def write(
        self,
        path: Path,
        jobs: Iterable[Job],
        read: Callable[[Answer], Record],
        *,
        stage: str,
        total: int,
        follow: Follow | None = None,
        failed: Callable[[Answer], Failure | None] | None = None,
    ) -> None:
        """Write the record that `read` makes of every answer to a file, in order, with progress.

        Where failures are asked for again, `failed` tells what is one, where the record does not.
        """
        async with self.progress.stage(stage, total, self.price) as counts:
            from mores.io import JsonlWriter

            with JsonlWriter(path) as writer:
                async with aclosing(self.ask(jobs, follow=follow, counts=counts, read=failed or read)) as answers:
                    async for answer in answers:
                        record = read(answer)
                        if answer.failure and getattr(record, "failure", answer.failure) is None:
                            counts.blamed[answer.failure.blame] -= 1  # what needed no call is no failure
                        writer.write(record)

    def announce(self, stage: str, jobs: Iterable[Job]) -> None:
        """Announce the maximum cost of calls, if the price is known; answers in the store cost nothing."""
        price = self.price
        if not price or not any(price):
            return
        calls, cost = 0, 0.0
        for job in jobs:
            if isinstance(job.request, Request):
                calls += 1
                tokens = sum(guess_tokens(message.content) for message in job.request.messages)
                cost += price.cost(tokens, job.request.max_tokens)
        self.progress.note(f"{stage}: {calls:,} calls, about {money(cost)} at most")


@takes(ModelAskSettings)
def open_asker(settings: ModelAskSettings) -> Asker:
    """Open a model, to be asked with these settings."""
    return make_asker(settings.model, settings)


def make_asker(model: str | Model, settings: AskSettings) -> Asker:
    """Open a model, to be asked with the settings of any activity that asks one."""
    if not settings.ray and (settings.ray_workers or settings.ray_gpus):
        raise ConfigError("workers and their GPUs need a Ray cluster; say that there is one", setting="ray")
    options, price = settings.part(ModelSettings), None
    if isinstance(model, str):
        model, price = open_named(model, options, {entry.name for entry in fields(settings)})
    else:
        model = on_ray(model, options) if settings.ray else open_model(model)
    return Asker(
        model,
        store=settings.store,
        limits=settings.part(Limits),
        fresh=settings.fresh,
        retry_failed=settings.retry_failed,
        given_price=settings.price or price,
        progress=settings.progress,
        options=options,
    )


def open_named(name: str, options: ModelSettings, known: Collection[str] = ()) -> tuple[Model, Price | None]:
    """Open a model, or the named configuration of one, with its price.

    What a configuration says of sampling changes the requests, except for the `known` settings, which are in them
    already.
    """
    found = find_configuration(name, options.config)
    if found is None:
        return open_model(name, options), None
    configuration = found[1]
    model = open_model(configuration.model, configured_settings(name, configuration, options))
    changes = {field: getattr(configuration, field) for field in SENT if field not in known}
    changes = {field: value for field, value in changes.items() if value is not None}
    price = read_price(configuration.price) or price_of(configuration.model)
    return ConfiguredModel(name, model, changes, configuration), price


def _jobs(tasks: Iterable[tuple[T, Sequence[Request]]], constrained: bool) -> Iterator[Job]:
    """Yield the calls to make, each with the number of later calls about the same thing."""
    for number, (thing, requests) in enumerate(tasks):
        wanted = requests if constrained else [request._replace(schema=None) for request in requests]
        several: Sequence[Request | Failure] = wanted or (_NO_CALL,)
        for place, request in enumerate(several, 1):
            yield Job(str(number), request, data=(thing, len(several) - place))


def read_reply(answer: Answer) -> Reply:
    """Return what a model wrote after thinking aloud; a failure where it wrote nothing, was cut off or was filtered."""
    written = answer.read()
    return written if isinstance(written, Failure) else written.text


def unread(text: str, expected: str) -> Failure:
    """Return the failure of a reply that is not what was asked for."""
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return Failure(kind=FailureKind.PARSE, reason=f"expected {expected}, found {shown!r}")
