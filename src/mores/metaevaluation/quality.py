"""The quality of reports beyond their score: whether they mark the correct words and name the correct answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add

from mores.factory.gold import Gold
from mores.language.units import units
from mores.stats import spans
from mores.stats.explanations import match_answer
from mores.stats.results import mean_result
from mores.types import Error, Judgement, Result, Side

SIDES: tuple[Side, ...] = ("instruction", "text")


def measure_reports(golds: Sequence[Gold], judgements: Sequence[Judgement]) -> Iterator[Result]:
    """Yield statistics of the reports; none if the metric writes no reports."""
    pairs = [(gold, judgement) for gold, judgement in zip(golds, judgements, strict=True) if judgement.report]
    if pairs:
        if all(error.located for gold, _ in pairs for error in gold.report.errors):
            yield from _spans(pairs)
        yield from _explanations(pairs)


Pairs = Sequence[tuple[Gold, Judgement]]


def _spans(pairs: Pairs) -> Iterator[Result]:
    """Yield span F1 over all samples: of characters and words without severities, and of characters with them."""
    measures: dict[str, Callable[[list[spans.Span], list[spans.Span], str], spans.SpanCounts]] = {
        "span_f1": lambda marked, gold, _: spans.characters(marked, gold, credit=1.0),
        "span_f1_tokens": lambda marked, gold, text: spans.tokens(
            marked, gold, [(unit.start, unit.end) for unit in units(text)], credit=1.0
        ),
        "span_f1_severity": lambda marked, gold, _: spans.characters(marked, gold),
    }
    for name, measure in measures.items():
        counts = [
            measure(_marked(judgement.report.errors, side), _marked(gold.report.errors, side), gold.sample.side(side))
            for gold, judgement in pairs
            if judgement.report
            for side in SIDES
        ]
        yield Result(name=name, value=reduce(add, counts, spans.SpanCounts()).f1, n=len(pairs))


def _marked(errors: Sequence[Error], side: Side) -> list[spans.Span]:
    """Return the located errors of a side."""
    return [
        spans.Span(error.start, error.end, error.severity.weight)
        for error in errors
        if error.side == side and error.start is not None and error.end is not None
    ]


def _explanations(pairs: Pairs) -> Iterator[Result]:
    """Yield the share of the hard errors found whose explanation names the correct answer (ExCAM, Section 5)."""
    matches, groups = [], []
    for gold, judgement in pairs:
        if gold.answer and (report := judgement.report) and report.errors:
            text = "\n".join([report.explanation, *(error.explanation for error in report.errors)])
            matches.append(match_answer(text, gold.answer))
            groups.append(gold.group or gold.sample.id)
    if matches:
        yield mean_result("explanation_verbatim", [match.verbatim for match in matches], groups=groups)
        yield mean_result("explanation", [match.normalised for match in matches], groups=groups)
