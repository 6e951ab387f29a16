"""What a run has done so far, for whoever shows its progress."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from mores.types import Usage


@dataclass
class Counts:
    """What a run has done so far; read it while the run works."""

    done: int = 0
    cached: int = 0
    failed: int = 0
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

    def add(self, usage: Usage) -> None:
        """Count an answer of the model."""
        self.calls += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
