"""A run of `mores meta`: the judgements of each metric, and how good they are.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and how far it has come |
| `judgements/NAME.jsonl` | what a metric says of the samples, one `Judgement` per line, in their order |
| `meta.json` | the `Meta` |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from mores.errors import InputError
from mores.meta.records import Meta
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
        """What a metric says of the samples, in their order."""
        files = self.manifest.settings["judgements"]
        assert isinstance(files, dict)
        if metric not in files:
            raise InputError(f"{self.path}: there is no metric {metric!r} in it; there are {', '.join(files)}")
        return self.records(str(files[metric]), Judgement)
