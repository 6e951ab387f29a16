"""Runs a coroutine from ordinary code, on uvloop where it is installed, also inside a running loop (notebooks)."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the coroutine's result; Ctrl-C cancels it and waits for its clean-up."""
    if _is_running():
        return _run_in_thread(coroutine)
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(coroutine)


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def interruptible() -> Iterator[None]:
    """Work that awaits nothing: Ctrl-C stops it at once, where a loop would wait for the next `await`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    stop: list[Callable[[], object]] = []

    async def stoppable() -> T:
        task = asyncio.current_task()
        assert task is not None
        stop.append(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        return await coroutine

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-loop") as thread:
        future = thread.submit(run, stoppable())
        try:
            return future.result()
        except KeyboardInterrupt:
            for cancel in stop:
                cancel()
            wait([future])
            raise
