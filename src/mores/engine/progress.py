"""Progress of the library: a small protocol. Commands draw bars; by default nothing is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from mores.engine.cost import Price
from mores.engine.counts import Counts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")


class Progress(Protocol):
    """Something that shows progress."""

    def note(self, text: str) -> None:
        """Show a line that a person should read."""

    def stage(
        self, name: str, total: int, price: Price | None = None, counts: Counts | None = None
    ) -> AbstractAsyncContextManager[Counts]:
        """Return a block of work that asks a model or a search, and counts in the object that it gets."""

    def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        """Return the same things, counted as they pass."""


class Silent:
    """Shows nothing."""

    def note(self, text: str) -> None:
        """Drop the line."""

    @asynccontextmanager
    async def stage(
        self,
        name: str,  # noqa: ARG002 - the protocol's parameters
        total: int,  # noqa: ARG002
        price: Price | None = None,  # noqa: ARG002
        counts: Counts | None = None,
    ) -> AsyncIterator[Counts]:
        """Return the counts alone."""
        yield counts or Counts()

    def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:  # noqa: ARG002
        """Return only the things."""
        return iter(things)


SILENT = Silent()
