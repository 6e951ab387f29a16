"""The parts of a report: what must stand there is given, and the model decides the rest.

Most reports have no error: all that the model decides of `{"errors":[]}` is one token. Of an error it decides the side,
the quote, the severity and the type; and, if it was taught how to explain errors, which passage shows it, and which
words of the passage are correct.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from functools import partial
from typing import TypeVar, get_args

from mores.errors import Rejected
from mores.language.units import nearest_sentence, units, vocabulary
from mores.metric.quotes import escaped, words_grammar
from mores.models.base import LONGEST_QUOTATION, AnswerPart, Explanations, Parts
from mores.search.ground import cut
from mores.types import Sample, Severity, Side

Text = TypeVar("Text", bound=str)
Writing = Generator[AnswerPart, str, str]
"""Parts, and what is then still to be given."""


def report_parts(grammar: str, sample: Sample, most: int, explanations: Explanations | None = None) -> Parts:
    """Return the parts of a report of so many errors and without a summary, by the grammar of `report_grammar`."""
    return partial(_report, grammar, sample, most, explanations)


def _report(grammar: str, sample: Sample, most: int, explanations: Explanations | None) -> Writing:
    sides: list[Side] = [side for side in get_args(Side) if sample.side(side).strip()]
    opened, given = yield from choose('{"errors":[', ["]}", '{"'] if sides else ["]}"])
    count = 0
    while opened != "]}":
        side, given = yield from choose(f'{given}side":"', sides)
        written = yield AnswerPart(f'{given}","quote":"', starting(f'{side.upper()} "\\",\\""', grammar))
        _, given = yield from choose('severity":"', list(Severity))
        if explanations is None:
            yield AnswerPart(f'{given}","type":"', starting("rest more", grammar))
            return ""
        quote = json.loads('"' + written.removesuffix(',"'))
        given = yield from _reason(f'{given}","type":"', sample, side, quote, explanations)
        count += 1
        opened, given = yield from choose(f'{given}"}}', ["]}", ',{"'] if count < most else ["]}"])
    return given


def _reason(given: str, sample: Sample, side: Side, quote: str, explanations: Explanations) -> Writing:
    """Yield the type of an error, the passage that shows it and the explanation, but for its last quotation mark."""
    passages = {f"{n}]": evidence.text for n, evidence in enumerate(sample.evidence, 1) if units(evidence.text)}
    compared = {type_ for type_, form in explanations.cited.items() if "{sentence}" in form}
    type_, given = yield from choose(given, [name for name in explanations.cited if passages or name not in compared])
    given += '"'
    cited = ""
    if sample.evidence:
        numbers = [*passages, *([] if type_ in compared else ["]"])]
        cited, given = yield from choose(f'{given},"evidence":[', numbers)
    passage = passages.get(cited, "")
    form = explanations.cited[type_] if passage else explanations.uncited
    gaps = {"quote": cut(quote, LONGEST_QUOTATION)}
    if "{sentence}" in form:
        gaps["sentence"] = cut(nearest_sentence(passage, vocabulary(sample.side(side))), LONGEST_QUOTATION)
    before, chosen, after = form.partition("{words}")
    given += f',"explanation":"{escaped(before.format(**gaps))}'
    if chosen:
        end, space, after = after.partition(" ")  # a mark and what follows at once are often one token
        yield AnswerPart(given, words_grammar(passage, LONGEST_QUOTATION, end))
        given = space
    return given + escaped(after.format(**gaps))


def choose(
    given: str, options: Sequence[Text], names: tuple[tuple[str, str], ...] = ()
) -> Generator[AnswerPart, str, tuple[Text, str]]:
    """Yield one of several texts, of which the model writes only what decides; and what is then still to be given.

    With `names`, the log-probabilities of the options are wanted (`AnswerPart.options`).
    """
    written = ""
    while len(left := [option for option in options if option.startswith(written)]) > 1:
        grammar = starting(" | ".join(json.dumps(option[len(written) :]) for option in left))
        written += yield AnswerPart(given, grammar, 1, () if written else names)
        given = ""
    if not left:
        raise Rejected(f"the model does not follow the grammar: {written!r} is none of {', '.join(options)}")
    return left[0], given + left[0][len(written) :]


def starting(start: str, grammar: str = "%llguidance {}\n") -> str:
    """Return a grammar with the same rules and another start."""
    head, _, rules = grammar.partition("\n")
    return "\n".join([head, f"start: {start}", *rules.split("\n")[1:]])  # a text may hold other line ends
