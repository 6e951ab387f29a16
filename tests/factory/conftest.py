"""Builds whose audit is not the subject grow few trees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mores.factory import audit


@pytest.fixture(autouse=True, scope="module")
def few_trees(request: pytest.FixtureRequest) -> Iterator[None]:
    """A third less time for every build; test_audit grows them all."""
    with pytest.MonkeyPatch.context() as during:
        if request.module.__name__ != "tests.factory.test_audit":
            during.setattr(audit, "TREES", 2)
        yield
