"""Canaries: in cards and beside files, the same again for the same data, and in no row."""

from __future__ import annotations

from mores.canary import FILE, make_canary, tell_canary


def test_a_canary_is_that_of_its_data() -> None:
    assert make_canary("build", "free", "abc") == make_canary("build", "free", "abc")
    assert len({make_canary("build", "free", "abc"), make_canary("build", "free", "abd"), make_canary("a", "bc")}) == 3
    assert make_canary("a", "bc") != make_canary("ab", "c")
    assert make_canary("a") in tell_canary(make_canary("a"))
    assert FILE == "CANARY"
