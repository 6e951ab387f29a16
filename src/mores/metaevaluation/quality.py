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


def quality(golds: Sequence[Gold], judgements: Sequence[Judgement]) -> Iterator[Result]:
    """Statistics of the reports; none if the metric writes no reports."""
    pairs = [(gold, judgement) for gold, judgement in zip(golds, judgements, strict=True) if judgement.report]
    if pairs:
        if all(error.located for gold, _ in pairs for error in gold.report.errors):
            yield from _spans(pairs)
        yield from _explanations(pairs)


Pairs = Sequence[tuple[Gold, Judgement]]


def _spans(pairs: Pairs) -> Iterator[Result]:
    """Span F1 over all samples, micro-averaged: of characters and words without severities, of characters with them."""
    measures: dict[str, Callable[[list[spans.Span], list[spans.Span], str], spans.SpanCounts]] = {
        "span_f1": lambda marked, gold, _: spans.characters(marked, gold, credit=1.0),
        "span_f1_tokens": lambda marked, gold, text: spans.tokens(marked, gold, _words(text), credit=1.0),
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


def _words(text: str) -> list[tuple[int, int]]:
    return [(unit.start, unit.end) for unit in units(text)]


def _marked(errors: Sequence[Error], side: Side) -> list[spans.Span]:
    """Return the located errors of a side."""
    return [
        spans.Span(error.start, error.end, error.severity.weight)
        for error in errors
        if error.side == side and error.start is not None and error.end is not None
    ]


def _explanations(pairs: Pairs) -> Iterator[Result]:
    """Of the hard errors that were found, the share whose explanation names the correct answer (ExCAM, Section 5)."""
    matches = [
        (gold.group or gold.sample.id, match_answer(_explanation_text(judgement), gold.answer))
        for gold, judgement in pairs
        if gold.answer and judgement.report and judgement.report.errors
    ]
    groups = [group for group, _ in matches]
    for name, hits in (
        ("explanation_verbatim", [match.verbatim for _, match in matches]),
        ("explanation", [match.normalised for _, match in matches]),
    ):
        if matches:
            yield mean_result(name, hits, groups=groups)


def _explanation_text(judgement: Judgement) -> str:
    assert judgement.report is not None
    return "\n".join([judgement.report.explanation, *(error.explanation for error in judgement.report.errors)])
