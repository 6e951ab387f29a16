"""The Ray cluster that workers run on: the connection to it, and what a worker takes of it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mores.errors import ConfigError
from mores.models import LLAMA, Options

ON_GPU = ("hf", "vllm")
"""Kinds that use a GPU where there is one."""
_ANSWERS = 20.0
"""Seconds in which a cluster answers that has not stopped."""


@dataclass(frozen=True)
class RayCluster:
    """The resources to share."""

    machines: Sequence[Mapping[str, float]]
    """The resources of each."""
    own: bool = False
    """Whether it was started for this run, so that no machine will join it."""

    @property
    def resources(self) -> str:
        """The sum, in words."""
        return _in_words(*(sum(machine.get(kind, 0.0) for machine in self.machines) for kind in ("CPU", "GPU")))


@dataclass(frozen=True)
class WorkerShare:
    """The resources of the cluster that each worker takes, and the number of workers."""

    workers: int
    cpus: float
    gpus: float
    room: int
    """Workers that the cluster has room for now."""

    @property
    def needs(self) -> str:
        """The resources that a worker needs, in words."""
        return f"each worker needs {_in_words(self.cpus, self.gpus)}"


def _in_words(cpus: float, gpus: float) -> str:
    return f"{cpus:g} CPU{'s' * (cpus != 1)} and {gpus:g} GPU{'s' * (gpus != 1)}"


def connect(address: str | bool | None) -> RayCluster:
    """Return the cluster at an address, the one running here, or a new one."""
    import ray

    own = False
    if not ray.is_initialized():
        place = address if isinstance(address, str) else os.environ.get("RAY_ADDRESS") or None
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            if not (found := _found(place)):
                own = True
            elif not _listens(found):  # Ray would wait for minutes
                if place is not None:
                    raise ConnectionError("nothing listens there")
                own, place = True, "local"  # the one that ran here has died
            with _same_signals():
                ray.init(place, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as exc:  # Ray raises this very class where its processes do not start in time
            if place in (None, "local"):
                where, fix = "Ray could not be started", "try again when this machine has less to do"
            else:
                where = f"no Ray cluster at {place}"
                fix = "check with `ray status` that it runs and has this machine; if it has a token, set RAY_AUTH_MODE="
                fix += "token here, with the same token in RAY_AUTH_TOKEN or ~/.ray/auth_token"
            raise ConfigError(f"{where}: {first_line(exc)}; {fix}", setting="ray") from exc
        # Ray reports the death of each worker on standard output, which is for data, and has no setting for it.
        internals: Any = import_module("ray._private.worker")
        internals.print_to_stdstream = lambda *_, **__: None
    return RayCluster([node["Resources"] for node in ray.nodes() if node["Alive"]], own)


def _found(place: str | None) -> str | None:
    """Return where Ray would look for a cluster; None if it would start one."""
    services: Any = import_module("ray._private.services")
    address: str | None = services.canonicalize_bootstrap_address(place)
    return address


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS).close()
    except OSError:
        return False
    return True


@contextmanager
def _same_signals() -> Iterator[None]:
    """Restore SIGTERM and the like, which Ray takes over: they end a run as they do without it."""
    names = ("SIGINT", "SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


async def is_there() -> bool:
    """Return whether the cluster answers.

    If not, Ray ends this process after a minute, without a word about the run.
    """
    import ray

    loop = asyncio.get_running_loop()
    answered = asyncio.Event()

    def ask() -> None:
        with suppress(Exception):  # the loop may have ended too
            ray.nodes()
            loop.call_soon_threadsafe(answered.set)

    threading.Thread(target=ask, daemon=True).start()  # nobody can wait for it: it may never return
    with suppress(TimeoutError):
        async with asyncio.timeout(_ANSWERS):
            await answered.wait()
    return answered.is_set()


def share(kind: str, options: Options, machines: Sequence[Mapping[str, float]]) -> WorkerShare:
    """Return one worker for each GPU that the kind can use, else each machine, or each core if a model is light.

    The smallest machine decides how many cores a worker gets, so that every machine has at least one.
    """
    cores = [machine["CPU"] for machine in machines if machine.get("CPU")]
    gpus = options.ray_gpus
    if gpus is None:
        gpus = 1.0 if kind in ON_GPU and any(machine.get("GPU") for machine in machines) else 0.0
    if gpus:
        cpus = 1.0
        fitting = sum(int(min(machine.get("GPU", 0.0) / gpus, machine.get("CPU", 0.0))) for machine in machines)
    else:
        heavy = kind in (*LLAMA, *ON_GPU)
        cpus = float(options.threads or (min(cores, default=1.0) if heavy else 1.0))
        fitting = sum(int(each / cpus) for each in cores)
    return WorkerShare(options.ray_workers or max(1, fitting), cpus, gpus, fitting)


def check_address(address: str | bool | None) -> None:
    if not isinstance(address, str) or address in ("auto", "local"):
        return
    if "://" in address:
        fix = "run this on a machine of the cluster, or with `ray job submit`"
        raise ConfigError(f"{address}: Ray's client protocol is not supported; {fix}", setting="ray")
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise ConfigError(
            f"{address!r} is not the address of a Ray cluster; expected HOST:PORT, auto or local", setting="ray"
        )


def first_line(problem: object) -> str:
    return f"{type(problem).__name__}: {str(problem).strip()}".splitlines()[0]
