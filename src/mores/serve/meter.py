"""Metrics for Prometheus: counts, gauges and one histogram, in its text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

from mores import __version__
from mores.serve.service import Service

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Seconds: the upper ends of the histogram's buckets."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Values = Mapping[str, int]
"""By labels, as they are written: `{status="200"}`, or nothing for no label."""


class Meter:
    """Counts the requests to one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._requests: Counter[int] = Counter()
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        """Count a request to score texts that was answered."""
        self._requests[status] += 1
        self._buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def page(self) -> str:
        """Return the whole page."""
        service, done = self._service, self._service.counts
        labels = {"version": __version__, "model": service.metric.model.name}
        tokens = {"prompt": done.prompt_tokens, "completion": done.completion_tokens}
        parts = [
            _family("build_info", "gauge", "The version and the judge.", {_labels(**labels): 1}),
            _family("ready", "gauge", "Whether texts can be judged.", {"": int(not service.unready)}),
            _family("requests_total", "counter", "Requests to /score.", _labelled("status", self._requests)),
            _family("texts_total", "counter", "Texts: scored, withdrawn, or why not scored.",
                    _labelled("outcome", service.judged)),
            _family("texts_waiting", "gauge", "Texts that wait for the judge.", {"": service.waiting.total()}),
            _family("texts_asked", "gauge", "Texts that the judge has.", {"": service.asked}),
            _family("model_calls_total", "counter", "Answers of the model.", {"": done.calls}),
            _family("model_retries_total", "counter", "Calls that were tried again.", {"": done.retries}),
            _family("model_tokens_total", "counter", "Tokens, as the server counts.", _labelled("kind", tokens)),
            _family("stored_answers_total", "counter", "Answers that were in the store already.", {"": done.cached}),
            self._histogram(),
        ]  # fmt: skip
        return "".join(line for part in parts for line in part)

    def _histogram(self) -> Iterator[str]:
        name, total = "request_seconds", 0
        yield from _family(name, "histogram", "Seconds from a request to /score to the end of its answer.", {})
        for bound, requests in zip((*map(str, BOUNDS), "+Inf"), self._buckets, strict=True):
            total += requests
            yield f'mores_{name}_bucket{{le="{bound}"}} {total}\n'
        yield f"mores_{name}_sum {self._seconds}\nmores_{name}_count {total}\n"


def _family(name: str, kind: str, about: str, values: Values) -> Iterator[str]:
    yield f"# HELP mores_{name} {about}\n# TYPE mores_{name} {kind}\n"
    for labels, value in values.items():
        yield f"mores_{name}{labels} {value}\n"


def _labelled(label: str, values: Mapping[str, int] | Mapping[int, int]) -> Values:
    return {_labels(**{label: str(name)}): value for name, value in values.items()}


def _labels(**values: str) -> str:
    escaped = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in values.values())
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(values, escaped, strict=True)) + "}"
