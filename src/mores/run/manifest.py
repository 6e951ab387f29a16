"""The contents of `run.json`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from mores.types import Record, Signature

MANIFEST = "run.json"


class Status(StrEnum):
    """The progress of a run."""

    RUNNING = "running"
    """It is working, or its process was killed: the lock shows which."""
    COMPLETE = "complete"
    STOPPED = "stopped"
    """By the user; the same command continues it."""
    FAILED = "failed"
    """By an error, which `Manifest.error` quotes."""


class Plan(Record):
    """The description of a run that is known before it starts."""

    kind: str
    """The command: `bench`, `longform`, `score`, …"""
    name: str
    """What it is about: a benchmark, a dataset, a file."""
    model: str = ""
    """The model that is measured or that judges; empty where none is asked."""
    signature: Signature
    """What must be the same for two results to be comparable; runs with the same one are the same run."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """The options behind it, for people and for commands that read the run."""
    configuration: dict[str, JsonValue] = Field(default_factory=dict)
    """The name, price and facts of a named model (`[models.NAME]` of a settings file); empty for other models."""
    parents: tuple[str, ...] = ()
    """The runs that it was made from: paths, relative to its folder."""


class Manifest(Plan):
    """A run, as far as it has come."""

    status: Status = Status.RUNNING
    started: datetime
    ended: datetime | None = None
    files: dict[str, str] = Field(default_factory=dict)
    """The record type of each file's lines."""
    failures: dict[str, int] = Field(default_factory=dict)
    """What could not be answered, parsed or judged, by kind."""
    headline: str = ""
    """The result in one line."""
    error: str = ""
    """Why it failed."""
