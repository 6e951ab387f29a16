"""Errors and evidence: which piece shows an error, and reports without evidence."""

from __future__ import annotations

from collections.abc import Sequence

from mores.factory.gold import Gold
from mores.models.embedded import EXPLANATIONS
from mores.search.words import words
from mores.training.ground.facts import own_facts
from mores.types import Error, ErrorReport, Evidence

_AROUND = 80
"""Characters on both sides of an error that identify the relevant part of a long fact."""


def remove_corrections(gold: Gold) -> Gold:
    """Return the pair with a report that does not say what would be correct, since no evidence says so."""
    errors = tuple(
        error.model_copy(update={"explanation": EXPLANATIONS.uncited.format(quote=error.quote), "correction": ""})
        for error in gold.report.errors
    )
    return gold.model_copy(update={"report": ErrorReport(errors=errors)})


def keep_cited_errors(gold: Gold) -> Gold:
    """Return the pair with only those errors that its evidence shows."""
    errors = tuple(error for error in gold.report.errors if error.evidence)
    changes = {"report": gold.report.model_copy(update={"errors": errors}), "kind": gold.kind if errors else "correct"}
    return gold.model_copy(update=changes)


def with_evidence(gold: Gold, pieces: Sequence[Evidence]) -> Gold:
    """Return the pair with this evidence, and errors that cite the facts of the same item that show them."""
    errors = tuple(error.model_copy(update={"evidence": _cited(error, gold, pieces)}) for error in gold.report.errors)
    return gold.model_copy(
        update={
            "sample": gold.sample.model_copy(update={"evidence": tuple(pieces)}),
            "report": gold.report.model_copy(update={"errors": errors}),
        }
    )


def _cited(error: Error, gold: Gold, pieces: Sequence[Evidence]) -> tuple[int, ...]:
    """Return the number of the own fact that shows the error; of several, the one with most of the words around it."""
    own = own_facts(gold)
    # A fact without any of the words that a made error has removed does not show it.
    lost = set(words(gold.original.text)).difference(words(gold.sample.text)) if gold.original else set()
    numbers = [
        number
        for number, piece in enumerate(pieces, 1)
        if piece.source in own and (not lost or lost.intersection(words(piece.text)))
    ]
    if len(numbers) < 2:
        return tuple(numbers)
    start, end = error.start or 0, error.end or 0
    around = set(words(gold.sample.side(error.side)[max(0, start - _AROUND) : end + _AROUND]))
    return (max(numbers, key=lambda number: len(around.intersection(words(pieces[number - 1].text)))),)
