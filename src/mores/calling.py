"""Calls of the public functions: each is a coroutine function, and `mores.NAME(...)` runs it to its end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

FUNCTIONS = {
    "score": "mores.metric.api:score",
    "score_file": "mores.metric.api:score_file",
    "audit": "mores.metric.api:audit",
    "bench": "mores.benchmark.api:bench",
    "board": "mores.benchmark.api:board",
    "judge_check": "mores.benchmark.api:judge_check",
    "topics": "mores.benchmark.api:topics",
    "tiers": "mores.benchmark.api:tiers",
    "export_task": "mores.harness.api:export_task",
    "meta": "mores.metaevaluation.api:meta",
    "compare": "mores.metaevaluation.api:compare",
    "longform": "mores.longanswer.api:longform",
    "build": "mores.factory.api:build",
    "corpus": "mores.search.api:corpus",
    "collect": "mores.longanswer.api:collect",
    "diagnose": "mores.diagnosis.api:diagnose",
    "rate": "mores.rating.api:rate",
    "plan": "mores.planning.api:plan",
    "train": "mores.training.api:train",
    "ground": "mores.training.api:ground",
    "export": "mores.training.api:export",
    "sources": "mores.factory.api:sources",
    "show": "mores.report.api:show",
    "cite": "mores.report.api:cite",
}
"""Every public function that works for a while, and where it is written."""


def load(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return the coroutine function of a name."""
    module, _, function = FUNCTIONS[name].partition(":")
    loaded: Callable[..., Coroutine[Any, Any, Any]] = getattr(import_module(module), function)
    return loaded


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the same function for ordinary code, also inside a running loop, as in notebooks."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        run: Callable[[Coroutine[Any, Any, T]], T] = import_module("mores.engine.loop").run
        return run(function(*args, **options))

    return call
