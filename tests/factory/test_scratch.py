"""What is put into a file comes out of it again, in any order, and the file is gone with it."""

from __future__ import annotations

import pytest

from mores.factory import scratch


@pytest.mark.parametrize("in_memory", [1 << 20, 100])
def test_a_shelf_gives_back_what_was_put_there(in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "IN_MEMORY", in_memory)
    shelf = scratch.Shelf[tuple[str, int]]()
    places = [shelf.put(("ö" * number, number)) for number in range(100)]
    file = shelf.file
    del shelf  # the places keep it
    for number in (99, 0, 42, 42):
        assert places[number].take() == ("ö" * number, number)
    places.clear()
    assert file.closed
