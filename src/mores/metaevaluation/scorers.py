"""The available metrics, by name.

| name | what |
| --- | --- |
| `excam:MODEL` | the metric with a model as the judge |
| `excam:ensemble:MODEL,MODEL` | the metric with several models as judges, merged by agreement |
| `count:MODEL`, `severity:MODEL`, `binary:MODEL` | the model behind a prompt of ExCAM, Table 11 |
| `count+p:MODEL` and so on | the same, with the probability of the answer if it finds no error |
| `FILE.jsonl` | existing judgements, by a metric or by people |
| `DIR` | the folder of a run of `mores score` |
| `always`, `never`, `majority`, `words`, … | a baseline |

| `NAME`, `NAME:…` | a metric of an installed package (entry points `mores.metrics`) |

`{source}` in a model or file stands for a source: the judge that was trained without it, which judges its samples. In
Python, a metric may also be an object: of the protocol `TextMetric`, or one that `mores.metric.open_metric` returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from typing import Any, Protocol

from mores.engine import Asker, Counts
from mores.errors import ConfigError, InputError
from mores.io import read_records
from mores.metaevaluation.baselines import BASELINES
from mores.metaevaluation.prompted import KINDS, Prompted
from mores.metric import Metric
from mores.metric.folder import judgements_file
from mores.metric.score import score
from mores.registry import Registry, identity_of, name_of, split_name
from mores.signature import sign
from mores.stats.ties import LARGEST
from mores.types import ErrorReport, Failure, FailureKind, Judgement, Sample, Signature

SOURCE = "{source}"
MetricVerdict = float | ErrorReport | str
"""What a metric says about a sample: a score, below 0 for an error; the errors; or why it has no score."""


class TextMetric(Protocol):
    """A metric of your own. It may also have a `name` and an `identity`, which otherwise come from its class."""

    def scores(self, samples: Sequence[Sample], /) -> Sequence[MetricVerdict] | Awaitable[Sequence[MetricVerdict]]:
        """Return what it says about each sample, in order; it may be a coroutine."""


OpenMetric = Callable[[str], Metric]
"""Returns ExCAM's metric with the model of that name; its `asker` asks the model."""
AnyMetric = Metric | Prompted | TextMetric


def _open_prompted(kind: str) -> Callable[[str, OpenMetric], Prompted]:
    plain = kind.removesuffix("+p")
    return lambda model, open_metric: Prompted(plain, open_metric(model), plus_p=kind != plain)


ASKED: Mapping[str, Callable[[str, OpenMetric], AnyMetric]] = {
    "excam": lambda model, open_metric: open_metric(model),
    **{kind: _open_prompted(kind) for plain in KINDS for kind in (plain, f"{plain}+p")},
}
"""The metrics that ask a model."""
PROMPTED = frozenset(ASKED) - {"excam"}
"""Those that ask for a number alone."""
REGISTRY: Registry[Callable[..., Any]] = Registry(
    noun="metric",
    group="mores.metrics",
    ours={**ASKED, **BASELINES},
    expected="a function of a name and a function that opens a model's metric",
    method="scores",
    written={kind: f"{kind}:MODEL" for kind in ASKED},
    also=("FILE.jsonl",),
    setting="metric",
)


@dataclass(frozen=True)
class OwnMetric:
    """A metric of a user, in the form in which others are asked."""

    metric: TextMetric

    async def stream(
        self, samples: Iterable[Sample], counts: Counts | None = None
    ) -> AsyncGenerator[tuple[Sample, Judgement], None]:
        """Yield each sample with its judgement, in order."""
        rows, name, signature = list(samples), name_of(self.metric), self.signature()
        scores = await asyncio.to_thread(self.metric.scores, rows)
        verdicts = list(await scores if isawaitable(scores) else scores)
        if len(verdicts) != len(rows):
            raise InputError(f"{name}: {len(verdicts)} scores for {len(rows)} samples; return one for each, in order")
        for sample, verdict in zip(rows, verdicts, strict=True):
            failure = Failure(kind=FailureKind.MODEL, reason=verdict) if isinstance(verdict, str) else None
            report = verdict if isinstance(verdict, ErrorReport) else None
            value = None if failure else score(report) if report else float(verdict)  # type: ignore[arg-type]
            if counts:
                counts.done += 1
                counts.fail(failure)
            fields: Any = {"score": value, "report": report, "failure": failure, "signature": signature}
            yield sample, Judgement.of(sample, judge=name, **fields)

    def signature(self) -> Signature:
        """Return what must be the same for two scores to be comparable: the metric's identity."""
        return sign({"metric": identity_of(self.metric)})


OpenedMetric = Metric | Prompted | OwnMetric


@dataclass(frozen=True)
class MetricScorer:
    """A metric, as named or given by the user."""

    name: str
    given: AnyMetric | None = field(default=None, repr=False)  # the signature of a missing file has the repr
    """The object, where the user gave one."""

    @property
    def file(self) -> bool:
        """True if it is a file or the folder of a run; `count:fake:SCRIPT.jsonl` is a model."""
        return self.given is None and _is_file(self.name) and not _has_model(self.name)

    @property
    def baseline(self) -> bool:
        return self.given is None and self.name in BASELINES

    @property
    def split(self) -> bool:
        """True if there is a separate judge for each source."""
        return self.given is None and SOURCE in self.name

    def without(self, source: str) -> MetricScorer:
        """Return the one that was trained without a source; `none` for the one that was trained with all."""
        return MetricScorer(self.name.replace(SOURCE, source))

    def open(self, open_metric: OpenMetric) -> OpenedMetric:
        """Return the metric itself."""
        opened = self.given or REGISTRY.open(self.name, open_metric)
        return opened if isinstance(opened, Metric | Prompted) else OwnMetric(REGISTRY.check(opened))


def asker_of(opened: OpenedMetric) -> Asker | None:
    """Return what asks the model of a metric; None for a user's own, which asks as it likes."""
    metric = opened.metric if isinstance(opened, Prompted) else opened
    return metric.asker if isinstance(metric, Metric) else None


def scorers(given: Iterable[str | AnyMetric]) -> list[MetricScorer]:
    """Return the metrics, each once; ConfigError where one is not known, or where two objects have the same name."""
    chosen: dict[str, MetricScorer] = {}
    for metric in map(scorer, given):
        if chosen.setdefault(metric.name, metric).given is not metric.given:
            raise ConfigError(f"two metrics have the name {metric.name!r}; give each its own", setting="metric")
    return list(chosen.values())


def scorer(given: str | AnyMetric) -> MetricScorer:
    """Return the metric of this name, or the given one; ConfigError with the list of names for an unknown one."""
    if isinstance(given, Metric):
        return MetricScorer(f"excam:{given.model.name}", given)
    if not isinstance(given, str):
        return MetricScorer(name_of(given), given if isinstance(given, Prompted) else REGISTRY.check(given))
    kind, _ = split_name(given)
    if given in BASELINES or _is_file(given) or _has_model(given):
        return MetricScorer(given)
    if kind in ASKED:
        raise ConfigError(f"metric {given!r}: which model? For example {kind}:embedded or {kind}:openai:NAME")
    if kind in BASELINES or kind not in REGISTRY.names():
        raise REGISTRY.unknown(given)
    return MetricScorer(given)


def _has_model(name: str) -> bool:
    kind, model = split_name(name)
    return kind in ASKED and bool(model)


def _is_file(name: str) -> bool:
    return name.endswith((".jsonl", ".score")) or (name not in BASELINES and Path(name).is_dir())


def read_judgements(path: str | Path, *, with_texts: bool = False) -> dict[str, Judgement]:
    """Return the judgements of a file, or of a run of the metric, by sample."""
    return by_sample(read_records(judgements_file(path), Judgement), str(path), with_texts=with_texts)


def by_sample(judgements: Iterable[Judgement], name: str, *, with_texts: bool = False) -> dict[str, Judgement]:
    """Return judgements by sample, without the texts unless they are needed; InputError for two of the same sample."""
    by_id: dict[str, Judgement] = {}
    for judgement in judgements:
        if judgement.score is not None and not abs(judgement.score) <= LARGEST:
            raise InputError(f"{name}: the score of {judgement.sample_id!r} is {judgement.score}; expected a number")
        if judgement.sample_id in by_id:
            raise InputError(f"{name}: {judgement.sample_id!r} is judged twice; keep one judgement for each sample")
        by_id[judgement.sample_id] = judgement if with_texts else judgement.repeat(None)
    return by_id
