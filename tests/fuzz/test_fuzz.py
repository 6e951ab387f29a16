"""Damaged input of every parser: a result or one of our errors, in little time; `make fuzz` tries far more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mores.errors import MoresError
from tests.fuzz.damage import Edit, damage, form_of
from tests.fuzz.parsers import PARSERS, Parser

NUMBERS = st.integers(0, 2**20)
EDITS = st.lists(st.builds(Edit, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=3)
LONGEST = 5.0
"""Seconds of work for an example; nearly all take milliseconds."""


def parse(parser: Parser, folder: Path) -> object:
    """What is read, to its end."""
    result = parser.read(folder)
    return list(result) if isinstance(result, Iterator) else result


@pytest.fixture(params=PARSERS)
def parser(request: pytest.FixtureRequest, tmp_path: Path) -> Parser:
    parser = PARSERS[request.param]
    for name, data in parser.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return parser


@settings(
    max_examples=settings().max_examples // 4,  # there are a hundred parsers
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(edits=EDITS, which=NUMBERS)
def test_damaged_input_is_read_or_refused(parser: Parser, tmp_path: Path, edits: list[Edit], which: int) -> None:
    name = list(parser.files)[which % len(parser.files)]
    path = tmp_path / name
    path.write_bytes(damage(parser.files[name], form_of(name), edits))
    started = time.thread_time()
    with suppress(MoresError):
        parse(parser, tmp_path)
    assert time.thread_time() - started < LONGEST
    path.write_bytes(parser.files[name])


def test_whole_input_is_read(parser: Parser, tmp_path: Path) -> None:
    parse(parser, tmp_path)


FOUND = [
    ("bench world-values", [Edit(0, 62, 0), Edit(7, 142, 7)]),
    ("build recipe", [Edit(0, 525, 525)]),
    ("codes", [Edit(0, 0, 129)]),
    ("import csv", [Edit(0, 130, 386), Edit(67, 55, 3), Edit(67, 130, 3)]),
    ("ratings label studio", [Edit(0, 132, 0)]),
    ("ratings label studio", [Edit(0, 339952, 170)]),
]
"""Damage that once was neither read nor refused, or took minutes."""


@pytest.mark.parametrize(("parser", "edits"), FOUND, indirect=["parser"])
def test_what_was_found_is_read_or_refused(parser: Parser, edits: list[Edit], tmp_path: Path) -> None:
    [name] = parser.files
    (tmp_path / name).write_bytes(damage(parser.files[name], form_of(name), edits))
    started = time.thread_time()
    with suppress(MoresError):
        parse(parser, tmp_path)
    assert time.thread_time() - started < LONGEST / 5
