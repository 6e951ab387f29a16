"""What is diagnosed, and with what: runs of `mores bench`, or benchmarks, whose runs are made first in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mores.bench import benchmark, is_folder, names
from mores.bench.benchmark import Benchmark
from mores.bench.folder import BenchRun, find_bench_runs
from mores.bench.session import Asking, Session
from mores.diagnose.locality import LANGUAGE
from mores.diagnose.paired import Opened, open_run
from mores.engine import Asker
from mores.errors import ConfigError, InputError
from mores.io import file_name
from mores.io.private import make_folder
from mores.run import MANIFEST, Run

Target = Opened | Benchmark
Given = Run | Benchmark | Path | str
"""What a user may name as a target."""
SAMPLING = 0.7
"""Temperature of several answers to a question, where the benchmark's is 0: without chance all would be the same."""


def read_targets(targets: Sequence[Given], *, runs_only: bool = False) -> list[Target]:
    """The runs and benchmarks; a folder may hold several runs. Long answers are only in `runs_only`."""
    named = dict.fromkeys(target.path if isinstance(target, Run) else target for target in targets)
    return [each for target in named for each in _read_target(target, runs_only)]


def _read_target(target: Path | str | Benchmark, runs_only: bool) -> Sequence[Target]:
    if not isinstance(target, Benchmark):
        path, name = Path(target), str(target)
        if runs_only:
            return [Opened(run, run.benchmark(), run.result) for run in find_bench_runs(path)]
        if path.is_dir() and next(path.rglob(MANIFEST), None):
            return [open_run(run.path) for run in find_bench_runs(path)]
        if name not in names() and not is_folder(name) and (path.exists() or len(path.parts) > 1):
            fix = "give a folder that `mores bench` wrote, or the name of a benchmark"
            raise InputError(f"{name}: there is no run in it, for it has no {MANIFEST}; {fix}")
        target = benchmark(target)
    if runs_only:
        raise ConfigError(f"{target.name}: only runs can be compared by locality; give runs of `mores bench`")
    if target.long_answer is not None:
        fix = "give a benchmark of short answers, such as msqa; `mores longform` judges long ones"
        raise ConfigError(f"{target.name}: its answers are long, and measured rather than correct or not; {fix}")
    return [target]


@dataclass
class Diagnosis:
    """What is diagnosed, with what, and where the files go; runs that several kinds need are made once."""

    kind: str
    session: Session
    targets: Sequence[Target]
    out: Path
    numbered: bool = False
    """Whether it may go to another folder where `out` holds another run."""
    may_ask: bool = True
    """Whether the model may be asked: about the questions of a given run, only where the user names the model."""
    variant: str | None = None
    """The other way to ask, which is compared with the plain one."""
    sources: tuple[str, ...] = ()
    """The confidences that are wanted; without any, all that are available."""
    by: str = LANGUAGE
    """What locality groups questions by: a field, or a label."""
    labelled: Path | None = None
    """Wrong answers whose type people gave, to test the judge of errors."""
    force: bool = False
    """Compare also runs whose signatures say that they are not comparable."""
    made: dict[tuple[str, str, int], BenchRun] = field(default_factory=dict)

    @property
    def runs(self) -> list[Opened]:
        """Runs that were given."""
        return [target for target in self.targets if isinstance(target, Opened)]

    @property
    def benchmarks(self) -> list[Benchmark]:
        """Benchmarks that were given."""
        return [target for target in self.targets if isinstance(target, Benchmark)]

    @property
    def asking(self) -> Asking:
        """How questions are asked."""
        return self.session.asking

    @property
    def plain(self) -> Session:
        """The same session, with one answer to each question and without a search."""
        return self.with_asking(samples=1, search=None)

    @property
    def judge(self) -> Asker:
        """The first judge, who also says what was wrong with an answer or with evidence."""
        return self.session.judges[0]

    def with_asking(self, **changes: Any) -> Session:
        """The session that asks in another way."""
        return replace(self.session, asking=replace(self.asking, **changes))

    async def make(self, benchmark: Benchmark, session: Session, place: str = "bench") -> BenchRun:
        """A run like those of `mores bench`."""
        key = (place, session.asking.folder(benchmark), session.asking.samples)
        if key not in self.made:
            self.made[key] = await session.run(benchmark, self.out / place)
        return self.made[key]

    async def make_samples(self, benchmark: Benchmark) -> BenchRun:
        """A run with several answers to each question, which has a place of its own beside one with one answer."""
        session = self.with_asking(search=None)
        if session.asking.temperature == "default" and benchmark.temperature == 0:
            session = self.with_asking(search=None, temperature=SAMPLING)
        return await self.make(benchmark, session, "samples")

    def folder(self, kind: str, name: str, model: str) -> Path:
        """Where a kind of diagnosis keeps what was said."""
        path = self.out / kind / file_name(name) / file_name(model)
        make_folder(path)
        return path
