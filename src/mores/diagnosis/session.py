"""The targets of a diagnosis and its models: runs of `mores bench`, or benchmarks, which are run first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mores.benchmark import benchmark, is_path, names
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.folder import BenchRun, find_bench_runs
from mores.benchmark.run import Asking
from mores.benchmark.session import Session
from mores.diagnosis.paired import Opened, open_run
from mores.diagnosis.settings import DiagnoseSettings
from mores.engine import Asker
from mores.errors import ConfigError, InputError
from mores.io import file_name
from mores.io.private import make_folder
from mores.run import MANIFEST, Run

if TYPE_CHECKING:
    from mores.diagnosis.settings import Given

Target = Opened | Benchmark
SAMPLING = 0.7
"""Temperature for several answers to a question if the benchmark's is 0, at which all would be the same."""


def read_targets(targets: Sequence[Given], *, runs_only: bool = False) -> list[Target]:
    """Return the runs and benchmarks; a folder may hold several runs.

    Long answers are allowed only with `runs_only`.
    """
    resolved: list[Target] = []
    for target in dict.fromkeys(target.path if isinstance(target, Run) else target for target in targets):
        if not isinstance(target, Benchmark):
            path, name = Path(target), str(target)
            if runs_only:
                resolved += [Opened(run, run.benchmark(), run.result) for run in find_bench_runs(path)]
                continue
            if path.is_dir() and next(path.rglob(MANIFEST), None):
                resolved += [open_run(run.path) for run in find_bench_runs(path)]
                continue
            if name not in names() and not is_path(name) and (path.exists() or len(path.parts) > 1):
                fix = "give a folder that `mores bench` wrote, or the name of a benchmark"
                raise InputError(f"{name}: there is no run in it, because it has no {MANIFEST}; {fix}")
        chosen = benchmark(target)
        if runs_only:
            raise ConfigError(f"{chosen.name}: only runs of several models are compared; give runs of `mores bench`")
        if chosen.long_answer is not None:
            fix = "give a benchmark of short answers, such as msqa; `mores longform` judges long ones"
            raise ConfigError(f"{chosen.name}: its answers are long, and measured rather than correct or not; {fix}")
        resolved.append(chosen)
    return resolved


@dataclass
class Diagnosis:
    """The targets, models and settings of a diagnosis, and its folder; runs that several kinds need are made once."""

    settings: DiagnoseSettings
    session: Session
    targets: Sequence[Target]
    out: Path
    may_ask: bool = True
    """Whether the model may be asked: about a given run, only if the user names the model."""
    new_runs: dict[tuple[str, str, int], BenchRun] = field(default_factory=dict)

    @property
    def runs(self) -> list[Opened]:
        """The given runs."""
        return [target for target in self.targets if isinstance(target, Opened)]

    @property
    def benchmarks(self) -> list[Benchmark]:
        """The given benchmarks."""
        return [target for target in self.targets if isinstance(target, Benchmark)]

    @property
    def asking(self) -> Asking:
        """The settings of the questions."""
        return self.session.asking

    @property
    def plain(self) -> Session:
        """The same session, with one answer to each question and without a search."""
        return self.with_asking(samples=1, search=None)

    @property
    def judge(self) -> Asker:
        """The first judge, which also classifies errors and checks evidence."""
        return self.session.judges[0]

    def with_asking(self, **changes: Any) -> Session:
        """Return the session with changed settings."""
        return replace(self.session, asking=replace(self.asking, **changes))

    async def make(self, benchmark: Benchmark, session: Session, subfolder: str = "bench") -> BenchRun:
        """Run a benchmark like `mores bench`, once per settings."""
        key = (subfolder, session.asking.folder(benchmark), session.asking.samples)
        if key not in self.new_runs:
            self.new_runs[key] = await session.run(benchmark, self.out / subfolder)
        return self.new_runs[key]

    async def make_samples(self, benchmark: Benchmark) -> BenchRun:
        """Return a run with several answers per question, in a separate folder from the run with one answer."""
        session = self.with_asking(search=None)
        if session.asking.temperature == "default" and benchmark.temperature == 0:
            session = self.with_asking(search=None, temperature=SAMPLING)
        return await self.make(benchmark, session, "samples")

    def folder(self, kind: str, name: str, model: str) -> Path:
        """Return the folder for the answers that a kind of diagnosis needs."""
        path = self.out / kind / file_name(name) / file_name(model)
        make_folder(path)
        return path
