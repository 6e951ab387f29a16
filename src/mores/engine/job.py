"""A job, which is what is asked, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mores.models.base import Alternatives, Completion, Request, Stop, Written
from mores.types import Failure, FailureKind, Usage


class Job(NamedTuple):
    """One call to make. A job that cannot be sent carries its Failure instead and passes through in its place."""

    id: str
    request: Request | Failure
    sample: int = 0
    """Tells apart several answers to the same request."""
    data: Any = None
    """Whatever the caller wants back with the answer."""


class Answer(NamedTuple):
    """A job with its outcome: a completion, or a failure with its reason."""

    job: Job
    completion: Completion | None = None
    failure: Failure | None = None
    cached: bool = False
    """Whether it came from the store (or from the same request earlier in the run)."""
    followed: bool = False
    """Whether it answers the second question that `follow` asked."""

    def read(self, *graded: Stop, empty: bool = False) -> Written | Failure:
        """Return what the model wrote, where that can be graded; see `Completion.complete`."""
        if self.completion is None:
            return self.failure or Failure(kind=FailureKind.MODEL, reason="the model did not answer")
        return self.completion.complete(*graded, empty=empty)

    @property
    def usage(self) -> Usage | None:
        """The tokens that the answer took, usable or not; None where there is none."""
        return self.completion and self.completion.usage

    @property
    def alternatives(self) -> Alternatives | Failure | None:
        """The likeliest first tokens, also of an answer that has no more than one; None where the server has none."""
        reply = self.read(Stop.LENGTH)
        kinds = (FailureKind.EMPTY, FailureKind.TRUNCATED)
        if isinstance(reply, Failure) and (self.completion is None or reply.kind not in kinds):
            return reply
        return self.completion.alternatives if self.completion else None


Follow = Callable[[Job, Completion], Request | None]
"""Looks at an answer and may ask one more question in its place."""
