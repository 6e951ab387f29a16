"""The grammar of a report whose quotes are words of the sample, so that every error has its place.

It is the JSON schema of the report, field by field and in the same order, but for the quote: that is any run of
neighbouring chunks of its side, written as JSON writes them. A chunk is a word, or a letter with its marks where a
script writes no spaces; a run neither begins nor ends with white space. The grammar is for llguidance, in its variant
of Lark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from mores.metric.schema import WrittenError
from mores.metric.spans import cuts
from mores.types import Sample, Side

VERSION = 2
MOST_CHUNKS = 50_000
"""Beyond it a grammar takes more than a second to compile, and soon more memory than llguidance allows."""
_SEEN = r'([^\s"\\\x00-\x1f]|\\["\\b]|\\u00(0[0-8ef]|1[0-9ab]))'
"""A character that is no white space, inside a JSON string."""
_BETWEEN = ('","severity":"', '","type":"')
_ANY = r'([^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])'


def report_grammar(schema: Mapping[str, Any], sample: Sample, unsupported: str = "") -> str | None:
    """The grammar of the reports that fit a schema of `mores.metric.schema` and quote the sample.

    `unsupported` is the explanation of every error that cites no evidence, with {quote} for words of the sample;
    without it, explanations are free. Of a single error it is left empty, for `explained` to write: nothing that the
    model decides follows it, and half of the tokens would be spent on it. None for a sample that is too long.
    """
    longest = schema["properties"]["errors"]["items"]["properties"]["quote"].get("maxLength")
    sides: dict[Side, str] = {side: sample.side(side) for side in get_args(Side)}
    words = {side: list(chunks(text, longest)) for side, text in sides.items() if text.strip()}
    if sum(map(len, words.values())) > MOST_CHUNKS:
        return None
    return "\n".join(["%llguidance {}", *_report(schema, list(words), unsupported), *_quotes(words, longest)])


def chunks(text: str, longest: int | None = None) -> Iterator[str]:
    """A text in the smallest parts that a quote may begin and end with, as they stand inside a JSON string.

    What is too long for a quote is cut anywhere, but not inside an escape sequence.
    """
    start = 0
    for end in range(1, len(text) + 1):
        if cuts(text, end):
            continue
        word = _escaped(text[start:end])
        if longest and len(word) > longest:
            yield from map(_escaped, text[start:end])
        else:
            yield word
        start = end


def _report(schema: Mapping[str, Any], sides: list[Side], unsupported: str) -> Iterator[str]:
    """The rules of a report with errors on these sides."""
    properties = dict(schema["properties"])
    errors = properties.pop("errors")
    most = errors.get("maxItems")
    closing = [_literal("]"), *_fields(properties), _literal("}")]
    more = "" if most == 1 else f'("," error){{0,{most - 1}}}' if most else '("," error)*'
    yield " ".join(["start:", _literal('{"errors":['), "(error more | end)" if sides else "end"])
    yield " ".join(["end:", *closing])
    if not sides:
        return
    yield " ".join(["more:", more, *closing])
    yield "error: " + " | ".join(f"{side}_error" for side in sides)
    fields = dict(errors["items"]["properties"])
    reasons = {name: value for name, value in fields.items() if name not in ("side", "quote", "severity", "type")}
    for side in sides:
        opening, severity, type_ = (_literal(text) for text in (f'{{"side":"{side}","quote":"', *_BETWEEN))
        yield f"{side}_error: {opening} {side.upper()} {severity} SEVERITY {type_} {side}_rest"
        given = _given(unsupported, side) if most != 1 else [_literal(',"explanation":""')]
        reason = _supported(reasons, given) if unsupported else _fields(reasons)
        yield " ".join([f"{side}_rest: TYPE", _literal('"'), *reason, _literal("}")])
    yield "SEVERITY: " + " | ".join(map(_literal, fields["severity"]["enum"]))
    limits = fields["type"]
    yield f"TYPE: /{_ANY}{{{limits.get('minLength', 0)},{limits.get('maxLength', '')}}}/"


def explained(errors: Iterable[WrittenError], unsupported: str) -> Iterator[WrittenError]:
    """Errors with the explanation that the grammar has left out."""
    for error in errors:
        if unsupported and not error.evidence and not error.explanation:
            yield error.model_copy(update={"explanation": unsupported.replace("{quote}", error.quote)})
        else:
            yield error


def _given(unsupported: str, side: Side) -> list[str]:
    before, _, after = unsupported.partition("{quote}")
    return [_literal(f',"explanation":"{before}'), side.upper(), _literal(f'{after}"')]


def _supported(reasons: Mapping[str, Any], uncited: Sequence[str]) -> Iterator[str]:
    """Evidence and explanation; without a citation, the explanation is the given one."""
    if "evidence" not in reasons:
        yield from uncited
        return
    known = reasons["evidence"]["items"]["enum"]
    numbers, most = "|".join(map(str, known)), reasons["evidence"].get("maxItems", len(known))
    cited = f'/{numbers}/ ("," /{numbers}/){{0,{most - 1}}}' if most > 1 else f"/{numbers}/"
    free = _fields({name: value for name, value in reasons.items() if name != "evidence"})
    # The bracket is apart: of two literals that begin alike, the longer one would win.
    yield from [_literal(',"evidence":['), "(", _literal("]"), *uncited, "|", cited, _literal("]"), *free, ")"]


def _fields(properties: Mapping[str, Any]) -> Iterator[str]:
    """Fields of an object after its first one, without white space of the model's choice: it would fill pages."""
    for name, value in properties.items():
        yield _literal(f',"{name}":')
        yield "%json " + json.dumps({**value, "x-guidance": {"whitespace_flexible": False}})


def _quotes(words: Mapping[Side, list[str]], longest: int | None) -> Iterator[str]:
    """What may be quoted of each side."""
    limit = rf" & /(?s:.{{1,{longest}}})/" if longest else ""
    for side, parts in words.items():
        name, regex = side.upper(), {"substring_chunks": parts}
        yield f"{name}: {name}_WORDS & /{_SEEN}({_ANY}*{_SEEN})?/{limit}"
        yield f"{name}_WORDS: %regex {json.dumps(regex, ensure_ascii=False)}"


def _escaped(text: str) -> str:
    """As `mores.metric.write` puts it between quotation marks."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _literal(text: str) -> str:
    return json.dumps(text)
