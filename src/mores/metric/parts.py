"""The parts of a report: what must stand there is given, and the model decides the rest.

Most reports have no error: all that the model decides of `{"errors":[]}` is one token. Others are given up to the type
of their first error, but for its side, quote and severity.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from functools import partial
from typing import get_args

from mores.models.base import Part, Parts
from mores.types import Sample, Severity, Side


def report_parts(grammar: str, sample: Sample) -> Parts:
    """The parts of a report without a summary that follows the grammar of `report_grammar` for a sample."""
    return partial(_parts, grammar, [side for side in get_args(Side) if sample.side(side).strip()])


def _parts(grammar: str, sides: Sequence[Side]) -> Generator[Part, str, str]:
    opened, given = yield from _choice('{"errors":[', ["]}", '{"'] if sides else ["]}"])
    if opened == "]}":
        return given
    side, given = yield from _choice(f'{given}side":"', sides)
    yield Part(f'{given}","quote":"', _starting(f'{side.upper()} "\\",\\""', grammar))
    _, given = yield from _choice('severity":"', list(Severity))
    yield Part(f'{given}","type":"', _starting(f"{side}_rest more", grammar))
    return ""


def _choice(given: str, options: Sequence[str]) -> Generator[Part, str, tuple[str, str]]:
    """One of several texts, of which the model writes only what decides; and what is then still to be given."""
    written = ""
    while len(left := [option for option in options if option.startswith(written)]) > 1:
        written += yield Part(given, _starting(" | ".join(json.dumps(option[len(written) :]) for option in left)), 1)
        given = ""
    return left[0], given + left[0][len(written) :]


def _starting(start: str, grammar: str = "%llguidance {}\n") -> str:
    """A grammar with the same rules and another start."""
    head, _, rules = grammar.partition("\n")
    return "\n".join([head, f"start: {start}", *rules.splitlines()[1:]])
