"""What graders get of a model's answer."""

from __future__ import annotations

from mores.errors import InputError
from mores.models.base import Completion, Stop, Written
from mores.types import Failure


def graded(completion: Completion) -> Written:
    """The answer as graders that know what a cut answer is get it; InputError where they get none."""
    reply = completion.complete(Stop.LENGTH)
    if isinstance(reply, Failure):
        raise InputError(reply.reason)
    return reply
