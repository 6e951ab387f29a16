"""The state of a run so far, for whoever shows its progress."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from mores.models.base import Completion
from mores.types import Blame, Failure, Usage


@dataclass
class Counts:
    """The state of a run so far; read it while the run works."""

    done: int = 0
    cached: int = 0
    blamed: Counter[Blame] = field(default_factory=Counter)
    """What failed, by whose fault it was."""
    calls: int = 0
    """Answers received from the model in this run."""
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    concurrency: int = 0
    """Calls at once that the server can handle at the moment."""
    problem: str = ""
    """What went wrong with the last try, until one succeeds."""
    gives_up_at: float | None = None
    """While the server cannot be reached: when the wait ends, by `time.monotonic`."""
    started: float = field(default_factory=time.monotonic)

    @property
    def failed(self) -> int:
        """The number of failures."""
        return self.blamed.total()

    def fail(self, failure: Failure | None) -> None:
        """Count a failure, where there is one."""
        if failure is not None:
            self.blamed[failure.blame] += 1

    def add(self, answer: Usage | Completion) -> None:
        """Count an answer of the model."""
        self.calls += 1
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
