"""Progress on standard error: done, rate, time left, cost; a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager
from typing import TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn

from mores.engine import Counts
from mores.engine.cost import Price
from mores.formatting import duration, money
from mores.report.base.grid import plain_console
from mores.report.base.text import plain

T = TypeVar("T")

EVERY = 15.0
"""Seconds between two lines of progress where there is no terminal."""
TICK = 0.2
"""Seconds between two looks at what a run has done."""


class Terminal:
    """Shows the library's progress to a person at a terminal (`mores.engine.progress.Progress`).

    With `shown=False` it shows nothing.
    """

    def __init__(self, shown: bool = True) -> None:
        self.console = plain_console(stderr=True, quiet=not shown)

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        if not self.console.quiet:
            click.echo(text, err=True)

    def bars(self, *more: ProgressColumn, transient: bool = False) -> Progress:
        """Return bars for a terminal; they show nothing elsewhere."""
        return Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), *more, TimeLeftColumn(),
            TextColumn("{task.fields[text]}", markup=False), console=self.console, transient=transient,
            disable=self.console.quiet or not self.console.is_terminal,
        )  # fmt: skip

    @asynccontextmanager
    async def stage(
        self, name: str, total: int, price: Price | None = None, counts: Counts | None = None
    ) -> AsyncIterator[Counts]:
        """Show a bar while a model or a search is asked; time passes on it also while no answer comes."""
        counts = counts or Counts()

        def print_line() -> None:
            self.console.print(f"{name}: {counts.done} of {total}, {_describe(counts, price)}")

        async def tick() -> None:
            printed = time.monotonic()
            while True:
                bars.update(task, completed=counts.done, text=_describe(counts, price))
                if not self.console.is_terminal and time.monotonic() - printed >= EVERY:
                    printed = time.monotonic()
                    print_line()
                await asyncio.sleep(TICK)

        with ExitStack() as stack:
            stack.callback(print_line)  # when the bar is gone
            bars = stack.enter_context(self.bars(transient=True))
            task = bars.add_task(name, total=total, text="")
            ticking = asyncio.create_task(tick())
            stack.callback(ticking.cancel)
            yield counts

    def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        """Yield a bar while things pass."""
        started = printed = time.monotonic()
        done = 0
        with self.bars(TimeElapsedColumn()) as bars:
            task = bars.add_task(name, total=total, text="")
            for done, thing in enumerate(things, 1):
                yield thing
                bars.advance(task)
                if not self.console.is_terminal and time.monotonic() - printed > EVERY:
                    printed = time.monotonic()
                    self.console.print(f"{name}: {done:,}" + (f" of {total:,}" if total else ""))
            bars.update(task, total=done)
        if not self.console.is_terminal:
            self.console.print(f"{name}: {done:,} in {duration(time.monotonic() - started, 1)}")


def _describe(counts: Counts, price: Price | None) -> str:
    """Return what was called, what it cost, and what is waited for."""
    each = max(1e-9, time.monotonic() - counts.started) / max(1, counts.calls)
    pace = f"{1 / each:.1f}/s" if each < 1 else f"{duration(each, int(each < 9.95))} each"
    parts = [f"{counts.calls} {'call' if counts.calls == 1 else 'calls'} ({pace})" if counts.calls else "no calls"]
    blamed = ", ".join(f"the {blame}" + f": {n:,}" * (n < counts.failed) for blame, n in counts.blamed.items() if n)
    numbers = {"known already": counts.cached, f"failed (fault of {blamed})": counts.failed, "retries": counts.retries}
    parts += [f"{n} {what}" for what, n in numbers.items() if n]
    if price and any(price):
        parts.append(money(price.cost(counts.prompt_tokens, counts.completion_tokens), 4))
    if counts.problem:
        end = counts.gives_up_at
        left = "" if end is None else f" up to {duration(max(0.0, end - time.monotonic()))}"
        parts.append(f"waiting{left}: {plain(counts.problem)[:80]}")
    return ", ".join(parts)
