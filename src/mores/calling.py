"""How the public functions are called: each is a coroutine function, and `mores.NAME(...)` runs it to its end.

`mores.bench` is a package and a function at once: `mores.bench("msqa")` asks a benchmark's questions, and
`mores.bench.session` is still a module of it. The packages that share a function's name say so by `make_callable`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

FUNCTIONS = {
    "score": "mores.metric.api:score",
    "score_file": "mores.metric.api:score_file",
    "bench": "mores.bench.api:bench",
    "board": "mores.bench.api:board",
    "export_task": "mores.harness.api:export_task",
    "meta": "mores.meta.api:meta",
    "compare": "mores.meta.api:compare",
    "longform": "mores.longform.api:longform",
    "build": "mores.factory.api:build",
    "collect": "mores.longform.api:collect",
    "diagnose": "mores.diagnose.api:diagnose",
    "rate": "mores.rate.api:rate",
    "train": "mores.train.api:train",
}
"""Every public function that works for a while, and where it is written."""


def load(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The coroutine function of a name."""
    module, _, function = FUNCTIONS[name].partition(":")
    loaded: Callable[..., Coroutine[Any, Any, Any]] = getattr(import_module(module), function)
    return loaded


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function for ordinary code, also inside a running loop, as in notebooks."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        run: Callable[[Coroutine[Any, Any, T]], T] = import_module("mores.engine.loop").run
        return run(function(*args, **options))

    return call


class _CallablePackage(ModuleType):
    """A package that can be called like the public function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return blocking(load(self._function))(*args, **options)

    @property
    def _function(self) -> str:
        return self.__name__.rpartition(".")[2]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(load(self._function))


def make_callable(package: str) -> None:
    """Let a package be called."""
    sys.modules[package].__class__ = _CallablePackage
