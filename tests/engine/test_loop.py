"""Ctrl-C in work that awaits nothing stops it at once, and a cancelled run says that it was stopped."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path

import pytest

import mores
from mores.engine.loop import interruptible, run
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.run import Status, find_runs
from tests.outside import write_folder


def press_ctrl_c(at_once: bool) -> list[str]:
    """What a coroutine has done when Ctrl-C is pressed in the middle of work that awaits nothing."""
    steps: list[str] = []

    def work() -> None:
        steps.append("begun")
        signal.raise_signal(signal.SIGINT)
        steps.append("ended")

    async def calling() -> None:
        if at_once:
            with interruptible():
                work()
        else:
            work()
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        run(calling())
    return steps


def test_ctrl_c_stops_work_that_awaits_nothing() -> None:
    handler = signal.getsignal(signal.SIGINT)
    assert press_ctrl_c(at_once=True) == ["begun"]
    assert press_ctrl_c(at_once=False) == ["begun", "ended"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_the_handler_of_the_loop_is_put_back() -> None:
    async def handlers() -> list[object]:
        before = signal.getsignal(signal.SIGINT)
        with interruptible():
            inside = signal.getsignal(signal.SIGINT)
        return [before, inside, signal.getsignal(signal.SIGINT)]

    before, inside, after = run(handlers())
    assert inside is signal.default_int_handler
    assert before is after
    assert before is not inside


def test_another_thread_works_without_a_handler() -> None:
    inside: list[object] = []

    def work() -> None:
        with interruptible():
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [signal.getsignal(signal.SIGINT)]


class Slow(FakeModel):
    """Answers nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__("slow", lambda _: Completion("A"))
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        self.asked.set()
        await self.may_answer.wait()
        return await super().complete(request)


def test_a_cancelled_run_is_stopped_and_continues(tmp_path: Path) -> None:
    folder, out = write_folder(tmp_path, "proverbs"), tmp_path / "out"

    async def cancel() -> None:
        model = Slow()
        task = asyncio.create_task(mores.aio.bench(folder, model, out=out, store=None))
        await model.asked.wait()
        [running] = find_runs(out)
        assert running.manifest.status is Status.RUNNING
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def finish() -> None:
        model = Slow()
        model.may_answer.set()
        await mores.aio.bench(folder, model, out=out, store=None)

    asyncio.run(cancel())
    [stopped] = find_runs(out)
    assert (stopped.manifest.status, stopped.manifest.error) == (Status.STOPPED, "")
    assert stopped.manifest.ended is not None
    asyncio.run(finish())
    [complete] = find_runs(out)
    assert (complete.path, complete.manifest.status) == (stopped.path, Status.COMPLETE)
