"""A model in a process of a cluster: how it is opened there, what must be known about it here, and what answers for it.

Nothing here needs Ray: `mores.models.ray` starts a `ModelWorker` in each process and hands out the requests. They
travel as the bytes of plain tuples: Ray would pickle each record of a list for itself.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mores.errors import ConfigError, MoresError, Rejected, Transient
from mores.models import Options, metric_adapter, open_model
from mores.models.base import (
    Calibration,
    Completion,
    Explanations,
    Message,
    Model,
    Request,
    Style,
    follows_grammars,
    taught_explanations,
    wants_evidence,
    weakness,
    weakness_uncovered,
)

Outcome = Completion | Transient | Rejected
LATEST = 1.0
"""Seconds after which a worker begins no more of a batch: the texts may be slower than those before."""


@dataclass(frozen=True)
class Card:
    """The facts of a model that must be known where it is not opened."""

    name: str
    identity: str
    concurrency: int
    timeout: float
    constrained: bool
    style: Style | None
    warning: str | None
    grammars: bool
    wants_evidence: bool
    weak_without_evidence: str
    weak_uncovered: str
    explanations: Explanations | None
    calibration: tuple[Calibration, Calibration] | None
    release: str
    """The version of Mores that the worker has."""


@dataclass(frozen=True)
class Opening:
    """The model that every worker opens: a name with options, or a model that can be pickled."""

    model: str | Model
    options: Options
    folder: str
    """Paths are relative to it, if the worker has such a folder."""

    @classmethod
    def here(cls, model: str | Model, options: Options) -> Opening:
        """Prepare to open a model as it would be opened here; Mores' own adapter may lie elsewhere there."""
        name = model if isinstance(model, str) else model.name
        if options.adapter and options.adapter == metric_adapter(name, None):
            options = replace(options, adapter=_OWN)
        return cls(model, options, str(Path.cwd()))

    def open(self) -> Model:
        """Return the model, not entered yet."""
        if Path(self.folder).is_dir():
            os.chdir(self.folder)
        if not isinstance(self.model, str):
            return self.model
        options = self.options
        if options.adapter == _OWN:
            options = replace(options, adapter=metric_adapter(self.model, None))
        return open_model(self.model, options)

    def describe(self) -> Card | MoresError:
        """Return what the model is where this is called, or why it cannot be opened there."""
        try:
            return describe(self.open())
        except MoresError as exc:
            return exc


_OWN = "<own>"


def describe(model: Model) -> Card:
    """Return the card of a model."""
    from mores import __version__

    return Card(
        name=model.name,
        identity=model.identity,
        concurrency=model.concurrency,
        timeout=model.timeout,
        constrained=model.constrained,
        style=model.style,
        warning=model.warning,
        grammars=follows_grammars(model),
        wants_evidence=wants_evidence(model),
        weak_without_evidence=weakness(model),
        weak_uncovered=weakness_uncovered(model),
        explanations=taught_explanations(model),
        calibration=getattr(model, "calibration", None),
        release=__version__,
    )


def plain(requests: Sequence[Request]) -> list[tuple[object, ...]]:
    """Return requests as what can be pickled fast."""
    return [(tuple(map(tuple, request.messages)), *request[1:]) for request in requests]


def read_requests(packed: bytes) -> list[Request]:
    """Return the requests of a pickled list."""
    return [Request(tuple(Message(*each) for each in messages), *rest) for messages, *rest in pickle.loads(packed)]


class Worked(NamedTuple):
    """The end of a batch, as it travels."""

    seconds: float
    """Time from the first call to the end of the last."""
    answers: bytes
    """The fields of each completion, pickled; None for a request that has none."""
    problems: dict[int, Transient | Rejected]
    """By the place of the request in the batch."""

    def outcomes(self) -> list[Outcome | None]:
        """Return the outcome of each request; None for one that was not begun."""
        answers = pickle.loads(self.answers)
        return [
            self.problems.get(place) if answer is None else Completion._make(answer)
            for place, answer in enumerate(answers)
        ]


class ModelWorker:
    """One model in one process. Problems that we know are returned, so that they arrive as what they are."""

    async def open(self, opening: Opening, expected: Card) -> MoresError | None:
        """Load the model; refuse one that would answer otherwise than the first worker's."""
        try:
            self._model = opening.open()
            if problem := _difference(expected, describe(self._model)):
                return ConfigError(problem)
            await self._model.__aenter__()
        except MoresError as exc:
            return exc
        self._concurrency = expected.concurrency
        self._places = asyncio.Semaphore(expected.concurrency)
        return None

    async def answer(self, packed: bytes) -> Worked | MoresError:
        """Return an outcome for each request, except for those that are not begun in time; an error ends the worker."""
        requests, begun = read_requests(packed), list[float]()
        problems: dict[int, Transient | Rejected] = {}

        async def complete(place: int, request: Request) -> tuple[Any, ...] | None:
            async with self._places:
                if not begun:
                    begun.append(time.monotonic())
                elif place >= self._concurrency and time.monotonic() - begun[0] > LATEST:
                    return None
                try:
                    return tuple(await self._model.complete(request))
                except (Transient, Rejected) as exc:
                    problems[place] = exc
                    return None

        try:
            answers = await asyncio.gather(*(complete(place, request) for place, request in enumerate(requests)))
        except MoresError as exc:
            return exc
        return Worked(time.monotonic() - begun[0], pickle.dumps(answers, pickle.HIGHEST_PROTOCOL), problems)


def _difference(expected: Card, there: Card) -> str:
    fix = "install the same versions and put the same model on all machines"
    for name in ("release", "identity"):
        value, other = getattr(expected, name), getattr(there, name)
        if value != other:
            what = "versions of mores" if name == "release" else "models"
            return f"{expected.name}: the workers have different {what}, {value} and {other}; {fix}"
    return ""
