"""Values that are kept: the quick ones are always those of the moment, the slow ones never hold up a page."""

from __future__ import annotations

import time
from functools import partial

import pytest

from mores.studio.store import statistics
from mores.studio.store.database import Database
from mores.studio.store.statistics import Keeper


def test_a_value_is_made_once_for_each_version(database: Database) -> None:
    keeper, made = Keeper[int](), []

    def make(version: int) -> int:
        made.append(version)
        return version

    for version in (1, 1, 2, 2, 3):
        assert keeper.get(database, "c", version, partial(make, version)) == version
    assert made == [1, 2, 3]
    assert keeper.get(database, "other", 1, lambda: 7) == 7


def test_a_slow_value_is_renewed_in_the_background(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "QUICK", 0.0)
    monkeypatch.setattr(statistics, "PATIENCE", 0.0)
    keeper = Keeper[str]()
    assert keeper.get(database, "c", 1, lambda: "old") == "old"
    assert keeper.get(database, "c", 2, lambda: "new") == "old", "the page does not wait"
    deadline = time.monotonic() + 10
    while keeper.get(database, "c", 2, lambda: "new") != "new":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    monkeypatch.setattr(statistics, "PATIENCE", 1e12)
    assert keeper.get(database, "c", 3, lambda: "newer") == "new", "nor is it made again at once"
    assert keeper.get(database, "c", 3, lambda: "newer", fresh=True) == "newer"
