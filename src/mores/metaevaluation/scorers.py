"""The available metrics, by name.

| name | what |
| --- | --- |
| `excam:MODEL` | the metric with a model as the judge |
| `count:MODEL`, `severity:MODEL`, `binary:MODEL` | the model behind a prompt of ExCAM, Table 11 |
| `count+p:MODEL` and so on | the same, with the probability of the answer if it finds no error |
| `FILE.jsonl` | existing judgements, by a metric or by people |
| `DIR` | the folder of a run of `mores score` |
| `always`, `never`, `majority`, `words`, … | a baseline |

`{source}` in a model or file stands for a source: the judge that was trained without it, which judges its samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.io import read_records
from mores.metaevaluation.baselines import BASELINES
from mores.metaevaluation.prompted import KINDS, Prompted
from mores.metric import Metric
from mores.metric.folder import judgements_file
from mores.stats.ties import LARGEST
from mores.types import Judgement

SOURCE = "{source}"
NAMES = ("excam", *(f"{kind}{p}" for kind in KINDS for p in ("", "+p")))


@dataclass(frozen=True)
class MetricScorer:
    """A metric, as named by the user."""

    name: str

    @property
    def file(self) -> bool:
        """Whether it is a file or the folder of a run; `count:fake:SCRIPT.jsonl` is a model."""
        kind, colon, _ = self.name.partition(":")
        return _is_file(self.name) and not (kind in NAMES and colon)

    @property
    def baseline(self) -> bool:
        return self.name in BASELINES

    @property
    def split(self) -> bool:
        """Whether there is a separate judge for each source."""
        return SOURCE in self.name

    def without(self, source: str) -> MetricScorer:
        """Return the one that was trained without a source; `none` for the one that was trained with all."""
        return MetricScorer(self.name.replace(SOURCE, source))

    def open(self, metric: Callable[[str], Metric]) -> Metric | Prompted:
        """Return the metric itself; `metric` makes one from the name of a model."""
        kind, _, model = self.name.partition(":")
        opened = metric(model)
        return opened if kind == "excam" else Prompted(kind.removesuffix("+p"), opened, plus_p=kind.endswith("+p"))


def scorer(name: str) -> MetricScorer:
    """Return the metric of this name; ConfigError with the list of names for an unknown one."""
    kind, colon, model = name.partition(":")
    if name in BASELINES or _is_file(name) or (kind in NAMES and colon and model):
        return MetricScorer(name)
    if kind in NAMES:
        raise ConfigError(f"metric {name!r}: which model? For example {kind}:embedded or {kind}:openai:NAME")
    near = get_close_matches(kind, [*NAMES, *BASELINES], 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    names = ", ".join([*(f"{kind_name}:MODEL" for kind_name in NAMES), "FILE.jsonl", *BASELINES])
    raise ConfigError(f"unknown metric {name!r}; {hint}known are {names}", setting="metric")


def _is_file(name: str) -> bool:
    return name.endswith((".jsonl", ".score")) or (name not in BASELINES and Path(name).is_dir())


def read_judgements(path: str | Path) -> dict[str, Judgement]:
    """Return the judgements of a file, or of a run of the metric, by sample."""
    return by_sample(read_records(judgements_file(path), Judgement), str(path))


def by_sample(judgements: Iterable[Judgement], name: str) -> dict[str, Judgement]:
    """Return judgements by sample; InputError for two of the same sample."""
    by_id: dict[str, Judgement] = {}
    for judgement in judgements:
        if judgement.score is not None and not abs(judgement.score) <= LARGEST:
            raise InputError(f"{name}: the score of {judgement.sample_id!r} is {judgement.score}; expected a number")
        if judgement.sample_id in by_id:
            raise InputError(f"{name}: {judgement.sample_id!r} is judged twice; keep one judgement for each sample")
        by_id[judgement.sample_id] = judgement.repeat(None)
    return by_id
