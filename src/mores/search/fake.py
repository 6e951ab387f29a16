"""`fake:NAME`: searches for tests and for trying out a pipeline; nothing is looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mores.errors import ConfigError
from mores.search.base import Evidence, Found, Query
from mores.types import Failure, FailureKind


class FakeSearch:
    """Finds what a function returns."""

    def __init__(self, name: str, answer: Callable[[Query], Found]) -> None:
        self.name = self.identity = f"fake:{name}"
        self.asked: list[Query] = []
        self._answer = answer

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return what the function returns for each."""
        self.asked += queries
        results = [self._answer(query) for query in queries]
        return [result.model_copy(update={"evidence": result.evidence[:k]}) for result in results]

    async def close(self) -> None:
        """Do nothing."""


_FAILED = Failure(kind=FailureKind.MODEL, reason="fake:fail finds nothing on purpose")
FAKES: dict[str, Callable[[Query], Found]] = {
    "echo": lambda query: Found(evidence=(Evidence(text=query.text, title="Echo", source="fake:echo"),)),
    "none": lambda _: Found(),
    "fail": lambda _: Found(failure=_FAILED),
}
"""What each does: returns the query, finds nothing, fails."""


def fake(name: str) -> FakeSearch:
    """Return the fake of that name."""
    if name not in FAKES:
        raise ConfigError(f"fake:{name}: no such search; there are {', '.join(f'fake:{known}' for known in FAKES)}")
    return FakeSearch(name, FAKES[name])
