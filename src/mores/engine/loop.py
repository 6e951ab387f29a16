"""Runs a coroutine from ordinary code, on uvloop where it is installed, also inside a running loop (notebooks)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result; Ctrl-C cancels it and waits for its clean-up."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner(loop_factory=_factory()) as runner:
            return runner.run(coroutine)
    return _run_in_thread(coroutine)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    outcome: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(run(coroutine))
        except BaseException as exc:
            failure.append(exc)

    thread = threading.Thread(target=target, name="mores-loop")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
