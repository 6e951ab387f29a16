"""What a diagnosis is of: runs that `mores bench` wrote, or benchmarks, whose runs are made first in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mores.bench import benchmark, is_folder, names
from mores.bench.benchmark import Benchmark
from mores.bench.folder import RESULT, find_runs
from mores.cli import options
from mores.cli.bench import Made, Session, check, open_session
from mores.diagnose.paired import Opened, open_run
from mores.errors import ConfigError, InputError
from mores.io.private import make_folder
from mores.longform.asking import How
from mores.models import Model
from mores.types import Record

Target = Opened | Benchmark
SAMPLING = "0.7"
"""Temperature of several answers to a question, where the benchmark's is 0: without chance all would be the same."""


@dataclass
class Findings:
    """What one kind of diagnosis says, and what it could not say."""

    kind: str
    results: list[Record] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """What was not done, and why."""

    def add(self, other: Findings) -> None:
        """Also what this says."""
        self.results += other.results
        self.left_out |= other.left_out


# ---- what is diagnosed -----------------------------------------------------------------------------------------


def read_targets(names: Sequence[str]) -> list[Target]:
    """The runs and benchmarks of these names; a folder may hold several runs."""
    return [one for name in dict.fromkeys(names) for one in _targets(name)]


def _targets(name: str) -> Sequence[Target]:
    path = Path(name)
    if path.is_dir() and next(path.rglob(RESULT), None):
        return [open_run(folder.path) for folder in find_runs(path)]
    if name not in names() and not is_folder(name) and (path.exists() or len(path.parts) > 1):
        fix = "give a folder that `mores bench` wrote, or the name of a benchmark"
        raise InputError(f"{name}: there is no run in it, for it has no {RESULT}; {fix}")
    one = benchmark(name)
    if one.long_answer is not None:
        fix = "give a benchmark of short answers, such as msqa; `mores longform` judges long ones"
        raise ConfigError(f"{name}: its answers are long, and measured rather than right or wrong; {fix}")
    return [one]


# ---- what it works with ----------------------------------------------------------------------------------------


@dataclass
class Desk:
    """The options of a command, its folder, and the models, which are opened when they are needed."""

    stack: ExitStack
    given: dict[str, Any]
    out: Path
    targets: Sequence[Target]
    made: dict[tuple[str, str, int], Made] = field(default_factory=dict)

    @property
    def runs(self) -> list[Opened]:
        """Runs that were given."""
        return [one for one in self.targets if isinstance(one, Opened)]

    @property
    def benchmarks(self) -> list[Benchmark]:
        """Benchmarks that were given."""
        return [one for one in self.targets if isinstance(one, Benchmark)]

    @property
    def model(self) -> str | None:
        """The model that may be asked: one that was named, and for a benchmark the embedded one otherwise."""
        named: str | None = self.given["model"]
        return named or ("embedded" if self.benchmarks else None)

    @cached_property
    def session(self) -> Session:
        """The models, the store, and how questions are asked; a judge may be the only model."""
        model = self.model or next(iter(self.given["judges"]), None)
        assert model is not None  # who asks without a model is told so before
        check(self.benchmarks, self.given["judges"], None, shuffle=self.given["shuffle"])
        return open_session(self.stack, self.given | {"model": model})

    @property
    def plain(self) -> Session:
        """The same, with one answer to each question and without a search."""
        return replace(self.session, samples=1, search=None)

    @property
    def judge(self) -> Model:
        """The first judge, who also says what was wrong with an answer or with evidence."""
        return self.session.judges[0]

    @property
    def how(self) -> How:
        """Where what a judge says is kept."""
        session = self.session
        return How(session.store, session.how.limits, session.how.fresh)

    def make(self, one: Benchmark, session: Session, place: str = "bench") -> Made:
        """A run like those of `mores bench`; one that several diagnoses need is made once."""
        key = (place, session.name(one), session.samples)
        if key not in self.made:
            check([one], self.given["judges"], session.variant)
            self.made[key] = session.run(one, self.out / place)
        return self.made[key]

    def make_samples(self, one: Benchmark) -> Made:
        """A run with several answers to each question, which has a place of its own beside one with one answer."""
        session = replace(self.session, search=None)
        if session.temperature is None and one.temperature == 0:
            session = replace(session, temperature=SAMPLING)
        return self.make(one, session, "samples")

    def folder(self, kind: str, name: str, model: str) -> Path:
        """Where a kind of diagnosis keeps what was said."""
        found = self.out / kind / options.file_name(name) / options.file_name(model)
        make_folder(found)
        return found
