"""Where answers are kept while long answers are judged, and how fast they may come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mores.engine import Asker, Counts, Limits, Reply, Store
from mores.models import Model, Request

T = TypeVar("T")


@dataclass(frozen=True)
class How:
    """Where answers are kept, and how fast they may come."""

    store: Store | None = None
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False
    """Ask again what the store already knows."""


def ask_each(
    tasks: Iterable[tuple[T, Sequence[Request]]], model: Model, how: How, counts: Counts
) -> AsyncGenerator[tuple[T, list[Reply]], None]:
    """As `Asker.ask_each`."""
    return Asker(model, how.store, how.limits, how.fresh).ask_each(tasks, counts)
