"""Explanations by a tuned model: kept where they are of use; otherwise the passage speaks for itself.

The model chooses a type and words of the passage that it cites. Words that cannot stand in place of the quote are no
correction: the explanation then says that quote and passage disagree, and shows the sentence of the passage that does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mores.formatting import count
from mores.language.sentences import sentences
from mores.language.units import quantities, vocabulary
from mores.models.base import LONGEST_QUOTATION, Explanations
from mores.search.content import content_words, function_words
from mores.search.ground import cut
from mores.search.words import words
from mores.types import Error, Sample, Severity


def checked(error: Error, sample: Sample, explanations: Explanations) -> Error:
    """Return the error with an explanation that helps; unchanged if it has one, or if it cites no passage."""
    form = explanations.cited.get(error.type, "")
    comparing = next((form for form in explanations.cited.values() if "{sentence}" in form), "")
    quote = cut(error.quote, LONGEST_QUOTATION)
    pattern = re.escape(form).replace(r"\{quote\}", re.escape(quote))
    match = re.fullmatch(
        pattern.replace(r"\{words\}", "(.+)").replace(r"\{sentence\}", "(.+)"), error.explanation, re.S
    )
    if not error.evidence or not comparing or not match or not match.groups():
        return error
    if "{words}" in form and corrects(match[1], error.quote):
        return error
    passage = sample.evidence[error.evidence[0] - 1].text
    sentence = cut(disagreeing_sentence(passage, error.quote, sample.side(error.side)), LONGEST_QUOTATION)
    return error.model_copy(update={"explanation": comparing.format(quote=quote, sentence=sentence)})


def summarise(errors: Sequence[Error]) -> str:
    """Return a summary of a report whose judge writes none: how many errors of which severity, and why."""
    if not errors:
        return "The judge found no error."
    severities = Counter(error.severity for error in errors)
    counted = ", ".join(f"{severities[severity]} {severity}" for severity in Severity if severities[severity])
    reasons = dict.fromkeys(error.explanation for error in errors if error.explanation)
    return " ".join([f"{count(len(errors), 'error')} ({counted}).", *reasons])


def corrects(correction: str, quote: str) -> bool:
    """Return whether words may stand in place of a quote: they say something, and a number or time replaces another."""
    says_something = any(word not in function_words() for word in words(correction))
    return says_something and bool(quantities(correction)) == bool(quantities(quote))


def disagreeing_sentence(passage: str, quote: str, text: str) -> str:
    """Return the sentence of a passage that says something else than a quote of the text.

    For a number or time, it is one with another number or time, if there is any: the sentence with most words of the
    text is often the one that agrees with it. Of several, it is the one with most content words of the text.
    """
    parts = [passage[start:end].strip() for start, end in sentences(passage)] or [passage.strip()]
    if quantities(quote):
        parts = [part for part in parts if quantities(part) - quantities(quote)] or parts
    known = set(content_words(text))
    return max(
        parts, key=lambda part: (len(known & set(content_words(part))), len(vocabulary(text) & vocabulary(part)))
    )
