"""A run of `mores score`: `run.json`, and `judgements.jsonl` with one `Judgement` for each text, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mores.errors import InputError
from mores.metric.frames import FrameView
from mores.metric.summary import ScoreSummary, summarise
from mores.run import Run, open_run
from mores.types import Judgement, Sample

if TYPE_CHECKING:
    from mores.metric.groups import ColumnResult

JUDGEMENTS = "judgements.jsonl"


class ScoreRun(Run, FrameView):
    """A run of the metric over a file of texts."""

    def _judgements(self) -> Iterator[Judgement]:
        return self.judgements()

    def judgements(self) -> Iterator[Judgement]:
        """Return every judgement, with its text."""
        return self.records(JUDGEMENTS, Judgement)

    def pairs(self) -> Iterator[tuple[Sample, Judgement]]:
        """Yield each text with its judgement."""
        for judgement in self.judgements():
            assert judgement.sample is not None, "the metric repeats the sample"
            yield judgement.sample, judgement

    def find_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the texts that a person means; ConfigError where there is none of that name."""
        from mores.metric.groups import find_columns

        columns = self.manifest.settings.get("columns")
        read = {ours: str(theirs) for ours, theirs in columns.items()} if isinstance(columns, dict) else {}
        return find_columns(names, self.pairs(), read)

    def by(self, column: str) -> ColumnResult:
        """Return the result by a column of the texts: the language, the region, or any other that their table has."""
        from mores.metric.groups import results_by

        return results_by(self.pairs(), *self.find_columns([column]))

    @cached_property
    def result(self) -> ScoreSummary:
        """The counts and the mean score."""
        return summarise(self.judgements())


def open_score_run(path: Path | str) -> ScoreRun:
    """Return the run of the metric in a folder."""
    run = open_run(path)
    if not isinstance(run, ScoreRun):
        raise InputError(f"{path}: it is a run of mores {run.kind}; give one of mores score")
    return run


def judgements_file(path: Path | str) -> Path:
    """Return a file of judgements, which may be given by the folder of a run of the metric."""
    return open_score_run(path).file(JUDGEMENTS) if Path(path).is_dir() else Path(path)
