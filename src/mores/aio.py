"""The public functions as coroutines, for services: `run = await mores.aio.bench("msqa", model=…)`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from mores.calling import FUNCTIONS, load

if TYPE_CHECKING:
    from mores.benchmark.api import bench as bench
    from mores.benchmark.api import board as board
    from mores.benchmark.api import judge_check as judge_check
    from mores.benchmark.api import tiers as tiers
    from mores.benchmark.api import topics as topics
    from mores.diagnosis.api import diagnose as diagnose
    from mores.factory.api import build as build
    from mores.factory.api import sources as sources
    from mores.harness.api import export_task as export_task
    from mores.longanswer.api import collect as collect
    from mores.longanswer.api import longform as longform
    from mores.metaevaluation.api import compare as compare
    from mores.metaevaluation.api import meta as meta
    from mores.metric.api import audit as audit
    from mores.metric.api import score as score
    from mores.metric.api import score_file as score_file
    from mores.planning.api import plan as plan
    from mores.rating.api import rate as rate
    from mores.report.api import cite as cite
    from mores.report.api import show as show
    from mores.search.api import corpus as corpus
    from mores.training.api import export as export
    from mores.training.api import ground as ground
    from mores.training.api import train as train


def __dir__() -> list[str]:
    """Return the functions, also those that are not imported yet."""
    return sorted(FUNCTIONS)


def __getattr__(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Import a function when it is first used."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'mores.aio' has no attribute {name!r}")
    return load(name)
