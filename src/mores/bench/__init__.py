"""Benchmarks: how well a model knows cultures. One folder each; `run.py` runs any of them.

`BENCHMARKS` names the module and the attribute of each, so that a benchmark is imported when it is used.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from mores.bench.benchmark import Benchmark
from mores.calling import make_callable
from mores.errors import ConfigError

BENCHMARKS = {
    "culturalbench-easy": "culturalbench:EASY",
    "culturalbench-hard": "culturalbench:HARD",
    "culturall": "culturall:CULTURALL",
    "calmqa": "calmqa:CALMQA",
    "blend": "blend:CHOICE",
    "blend-short": "blend:SHORT",
    "normad": "normad:NORMAD",
    "include": "include:INCLUDE",
    "globalopinionqa": "globalopinionqa:GLOBALOPINIONQA",
    "msqa": "msqa:MSQA",
    "simpleqa": "simpleqa:SIMPLEQA",
    "chinese-simpleqa": "simpleqa:CHINESE",
}


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name."""
    if name not in BENCHMARKS:
        near = get_close_matches(name, BENCHMARKS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"{name}: no such benchmark; {hint}there are {', '.join(BENCHMARKS)}")
    module, _, attribute = BENCHMARKS[name].partition(":")
    found: Benchmark = getattr(import_module(f"mores.bench.{module}"), attribute)
    return found


make_callable(__name__)
