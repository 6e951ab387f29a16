"""A run of `mores meta`: the judgements of each metric, and their quality.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and its status |
| `judgements/NAME.jsonl` | the judgements of a metric, one `Judgement` per line, in the order of the samples |
| `meta.json` | the `Meta` |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from mores.errors import InputError
from mores.metaevaluation.records import Meta
from mores.run import Run
from mores.types import Judgement

JUDGEMENTS, RESULT = "judgements", "meta.json"


class MetaRun(Run):
    """A meta-evaluation."""

    @cached_property
    def result(self) -> Meta:
        """All figures."""
        return self.record(RESULT, Meta)

    def judgements(self, metric: str) -> Iterator[Judgement]:
        """Return the judgements of a metric, in the order of the samples."""
        files = self.manifest.settings["judgements"]
        assert isinstance(files, dict)
        if metric not in files:
            raise InputError(f"{self.path}: it has no metric {metric!r}; there are {', '.join(files)}")
        return self.records(str(files[metric]), Judgement)
