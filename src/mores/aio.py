"""The public functions as coroutines, for services: `run = await mores.aio.bench("msqa", model=…)`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from mores.calling import FUNCTIONS, load

if TYPE_CHECKING:
    from mores.bench.api import bench as bench
    from mores.bench.api import board as board
    from mores.diagnose.api import diagnose as diagnose
    from mores.factory.api import build as build
    from mores.harness.api import export_task as export_task
    from mores.longform.api import collect as collect
    from mores.longform.api import longform as longform
    from mores.meta.api import compare as compare
    from mores.meta.api import meta as meta
    from mores.metric.api import score as score
    from mores.metric.api import score_file as score_file
    from mores.rate.api import rate as rate
    from mores.train.api import train as train


def __dir__() -> list[str]:
    """The functions, also those that are not imported yet."""
    return sorted(FUNCTIONS)


def __getattr__(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Import a function when it is first used."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'mores.aio' has no attribute {name!r}")
    return load(name)
