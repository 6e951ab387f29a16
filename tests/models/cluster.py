"""A cluster in this process that looks like Ray's, whose workers die when a test says so; and judges for both.

The real cluster takes seconds to start: `test_ray_cluster.py` uses it once.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import re
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from mores.models.base import Completion, Request
from mores.models.fake import FakeModel, fake
from mores.models.worker import read_requests


def write_texts(path: Path, count: int, **others: str) -> Path:
    rows = [{"id": f"t{n}", "text": others.get(f"t{n}", f"Number {n} of the texts.")} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Handle:
    """An actor: its methods are called with `.remote(…)`."""

    def __init__(self, cluster: Cluster, actor: Any) -> None:
        self.cluster, self.actor = cluster, actor
        self.dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *args: self._call(getattr(self.actor, name), args))

    async def _call(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        task = asyncio.ensure_future(method(*args))
        if method.__name__ == "answer":
            prompts = [request.messages[-1].content for request in read_requests(args[0])]
            self.cluster.batches.append(len(prompts))
            if self.cluster.deadly(prompts):
                self.kill()
        await asyncio.wait([task, self.dead], return_when=asyncio.FIRST_COMPLETED)
        if self.dead.done():
            task.cancel()
            raise RayError("The actor died unexpectedly")
        try:
            return task.result()
        except Exception as exc:
            raise RayTaskError(exc) from exc

    def kill(self) -> None:
        if not self.dead.done():
            self.dead.set_result(None)
            self.cluster.alive.remove(self)


class Cluster:
    """What `mores.models.ray` uses of the module `ray`."""

    cloudpickle = pickle
    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError, GetTimeoutError=TimeoutError)

    def __init__(self, deadly: Callable[[list[str]], bool] = lambda _: False) -> None:
        self.deadly = deadly
        """Whether a worker dies over a batch of these prompts."""
        self.alive: list[Handle] = []
        self.started = 0
        self.batches: list[int] = []
        """The sizes of the batches that were handed out."""

    def is_initialized(self) -> bool:
        return True

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 4.0}}, {"Alive": False, "Resources": {"CPU": 99.0}}]

    def remote(self, thing: Any) -> Any:
        start = partial(self._start, thing) if isinstance(thing, type) else thing
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=start))

    def get(self, value: Any, timeout: float) -> Any:  # noqa: ARG002 - as in Ray
        return value

    def wait(self, values: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:  # noqa: ARG002 - as in Ray
        return values, []

    def kill(self, handle: Handle) -> None:
        handle.kill()

    def _start(self, kind: type) -> Handle:
        self.started += 1
        handle = Handle(self, kind())
        self.alive.append(handle)
        return handle


class Mortal(FakeModel):
    """Finds an error in the first word; kills its process, always at `poison`, and once for all at `once`.

    Its folder has a file for each process that loaded it, with a line for each text that it answered.
    """

    def __init__(self, folder: Path, delay: float = 0.0) -> None:
        super().__init__("first-word", fake("first-word")._answer)
        self.folder, self.delay = folder, delay

    async def __aenter__(self) -> Self:
        self.log = (self.folder / f"{os.getpid()}.pid").open("a")
        return self

    async def complete(self, request: Request) -> Completion:
        text, mark = request.messages[-1].content, self.folder / "died"
        if "poison" in text or ("once" in text and not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(self.delay)
        print(re.findall(r"Number \d+", text), file=self.log, flush=True)
        return await super().complete(request)


class Sighted(FakeModel):
    """A model that would use a GPU; its identity in another process is what it may see there."""

    def __init__(self) -> None:
        super().__init__("clean", fake("clean")._answer)
        self.name = "hf:sighted"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, identity=os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
