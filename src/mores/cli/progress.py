"""Progress on standard error: done, rate, time left, cost; a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mores.engine import Counts
from mores.engine.cost import Price
from mores.engine.loop import run
from mores.report.base.grid import plain, plain_console
from mores.show import duration, money

T = TypeVar("T")


EVERY = 15.0
"""Seconds between two lines of progress where there is no terminal."""


class Bar:
    """Shows a run's counts while it is `ticking`."""

    def __init__(self, what: str, total: int, counts: Counts, price: Price | None) -> None:
        self.console = plain_console(stderr=True)
        self._what, self._total, self._counts, self._price = what, total, counts, price
        self._every = 0.1 if self.console.is_terminal else EVERY
        self._shown = time.monotonic()
        numbers = (MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[text]}", markup=False))
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *numbers,
            console=self.console,
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total, text="")

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        self.console.print(f"{self._what}: {self._counts.done} of {self._total}, {self._text()}")

    def update(self) -> None:
        """Show where the run is, at most ten times a second."""
        now = time.monotonic()
        if now - self._shown < self._every:
            return
        self._shown = now
        if self.console.is_terminal:
            self._progress.update(self._task, completed=self._counts.done, text=self._text())
        else:
            self.console.print(f"{self._what}: {self._counts.done} of {self._total}, {self._text()}")

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """Show the time pass, and what is waited for, also while no answer comes."""

        async def tick() -> None:
            while True:
                self.update()
                await asyncio.sleep(0.2)

        task = asyncio.create_task(tick())
        try:
            yield
        finally:
            task.cancel()

    def _text(self) -> str:
        c = self._counts
        rate = c.calls / max(1e-9, time.monotonic() - c.started)
        parts = [f"{c.calls} calls ({rate:.1f}/s)" if c.calls else "no calls"]
        parts += [f"{c.cached} known already"] if c.cached else []
        parts += [f"{c.failed} failed"] if c.failed else []
        parts += [f"{c.retries} retries"] if c.retries else []
        if self._price and any(self._price):
            parts.append(f"{money(self._price.cost(c.prompt_tokens, c.completion_tokens), 4)}")
        if c.problem:
            left = "" if c.gives_up_at is None else f" up to {duration(max(0.0, c.gives_up_at - time.monotonic()))}"
            parts.append(f"waiting{left}: {plain(c.problem)[:80]}")
        return ", ".join(parts)


def stage(
    what: str,
    total: int,
    price: Price | None,
    work: Callable[[Counts], Awaitable[None]],
    counts: Counts | None = None,
) -> None:
    """Work that calls a model, with its bar."""

    async def ticking() -> None:
        async with Terminal().stage(what, total, price, counts) as counted:
            await work(counted)

    run(ticking())


class Terminal:
    """Shows a person at a terminal how far the library is (`mores.engine.progress.Progress`)."""

    def note(self, text: str) -> None:
        """A line on standard error."""
        click.echo(text, err=True)

    @asynccontextmanager
    async def stage(
        self, name: str, total: int, price: Price | None = None, counts: Counts | None = None
    ) -> AsyncIterator[Counts]:
        """A bar while a model or a search is asked."""
        counts = counts or Counts()
        with Bar(name, total, counts, price) as bar:
            async with bar.ticking():
                yield counts

    def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        """A bar while things pass."""
        with Stages() as stages:
            yield from stages(name, things, total)


class Stages:
    """Shows work that goes in stages: a bar for each in a terminal, a line now and then and at its end elsewhere.

    With `shown=False` it shows nothing.
    """

    def __init__(self, shown: bool = True) -> None:
        console = plain_console(stderr=True, quiet=not shown)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}", markup=False),
        )
        self._progress = Progress(*columns, console=console, disable=not (shown and console.is_terminal))
        self._console = console

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._progress.stop()

    def __call__(self, stage: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        started, done = time.monotonic(), 0
        said = started
        task = self._progress.add_task(stage, total=total, text="")
        for done, thing in enumerate(things, 1):
            yield thing
            self._progress.advance(task)
            if not self._console.is_terminal and time.monotonic() - said > EVERY:
                said = time.monotonic()
                self._console.print(f"{stage}: {done:,}" + (f" of {total:,}" if total else ""))
        self._progress.update(task, total=done)
        if not self._console.is_terminal:
            self._console.print(f"{stage}: {done:,} in {duration(time.monotonic() - started, 1)}")
