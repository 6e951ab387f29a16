"""Groups of names against the definition: two are in one group if a path of common keys leads from one to the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.training.components import Components

KEYS_OF = st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.sampled_from("123456"), max_size=3), min_size=1)


def reached(start: str, keys_of: dict[str, set[str]]) -> set[str]:
    names: set[str] = set()
    waiting = {start}
    while waiting:
        names |= waiting
        keys = set().union(*(keys_of[name] for name in waiting))
        waiting = {name for name in keys_of if keys_of[name] & keys} - names
    return names


@pytest.mark.slow
@given(KEYS_OF)
def test_names_are_in_the_group_of_what_can_be_reached_and_called_after_its_first(keys_of: dict[str, set[str]]) -> None:
    components = Components()
    for name, keys in keys_of.items():
        components.add(name, sorted(keys))
    order = list(keys_of)
    assert components.by_first(order) == {name: min(reached(name, keys_of), key=order.index) for name in keys_of}
    assert {name: components.size(name) for name in keys_of} == {name: len(reached(name, keys_of)) for name in keys_of}


def test_joined_groups_are_one_and_their_sizes_add_up() -> None:
    components = Components()
    for name, key in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "3")):
        components.add(name, [key])
    components.join("b", "c")
    components.join("a", "c")
    assert components.by_first(["c", "b", "d", "a"]) == {"c": "c", "b": "c", "a": "c", "d": "d"}
    assert (components.size("a"), components.size("d")) == (3, 1)
