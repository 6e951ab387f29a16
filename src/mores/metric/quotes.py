"""The grammar of a report whose quotes are words of the sample, so that every error has its place.

It is the JSON schema of the report, field by field and in the same order, but for the quote: that is any run of
neighbouring chunks of its side, written as JSON writes them. A chunk is a word, or a letter with its marks where a
script writes no spaces; a run neither begins nor ends with white space. The grammar is for llguidance, in its variant
of Lark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from mores.metric.spans import cuts
from mores.types import Sample, Side

VERSION = 3
MOST_CHUNKS = 50_000
"""Beyond it a grammar takes more than a second to compile, and soon more memory than llguidance allows."""
_SEEN = r'([^\s"\\\x00-\x1f]|\\["\\b]|\\u00(0[0-8ef]|1[0-9ab]))'
"""A character that is no white space, inside a JSON string."""
_BETWEEN = ('","severity":"', '","type":"')
_ANY = r'([^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])'


def report_grammar(schema: Mapping[str, Any], sample: Sample) -> str | None:
    """Return the grammar of the reports that fit a schema of `mores.metric.schema` and quote the sample.

    None for a sample that is too long.
    """
    longest = schema["properties"]["errors"]["items"]["properties"]["quote"].get("maxLength")
    sides = {side: sample.side(side) for side in get_args(Side)}
    words: dict[str, list[str]] = {side: list(chunks(text, longest)) for side, text in sides.items() if text.strip()}
    if sum(map(len, words.values())) > MOST_CHUNKS:
        return None
    return "\n".join(["%llguidance {}", *_report(schema, list(words)), *_quotes(words, longest)])


def words_grammar(passage: str, longest: int, end: str) -> str:
    """Return the grammar of words of a passage, at most so many characters, and the quotation mark that ends them."""
    words = {"words": list(chunks(passage, longest))}
    return "\n".join(
        ["%llguidance {}", f"start: WORDS {_literal(end)}", *_quotes(words, longest, f" & /[^{end[0]}]*/")]
    )


def chunks(text: str, longest: int | None = None) -> Iterator[str]:
    """Yield a text in the smallest parts that a quote may begin and end with, as they stand inside a JSON string.

    What is too long for a quote is cut anywhere, but not inside an escape sequence.
    """
    start = 0
    for end in range(1, len(text) + 1):
        if cuts(text, end):
            continue
        word = escaped(text[start:end])
        if longest and len(word) > longest:
            yield from map(escaped, text[start:end])
        else:
            yield word
        start = end


def _report(schema: Mapping[str, Any], sides: list[str]) -> Iterator[str]:
    """Yield the rules of a report with errors on these sides."""
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
        yield f"{side}_error: {opening} {side.upper()} {severity} SEVERITY {type_} rest"
    yield " ".join(["rest: TYPE", _literal('"'), *_fields(reasons), _literal("}")])
    yield "SEVERITY: " + " | ".join(map(_literal, fields["severity"]["enum"]))
    limits = fields["type"]
    yield f"TYPE: /{_ANY}{{{limits.get('minLength', 0)},{limits.get('maxLength', '')}}}/"


def _fields(properties: Mapping[str, Any]) -> Iterator[str]:
    """Return the fields of an object after its first one, without free white space, which would fill pages."""
    for name, value in properties.items():
        yield _literal(f',"{name}":')
        yield "%json " + json.dumps({**value, "x-guidance": {"whitespace_flexible": False}})


def _quotes(words: Mapping[str, list[str]], longest: int | None, limits: str = "") -> Iterator[str]:
    """Yield what may be quoted of each text."""
    limits += rf" & /(?s:.{{1,{longest}}})/" if longest else ""
    for text, parts in words.items():
        name, regex = text.upper(), {"substring_chunks": parts}
        yield f"{name}: {name}_WORDS & /{_SEEN}({_ANY}*{_SEEN})?/{limits}"
        yield f"{name}_WORDS: %regex {json.dumps(regex, ensure_ascii=False)}"


def escaped(text: str) -> str:
    """Return a text inside a JSON string, as `mores.metric.write` writes it."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _literal(text: str) -> str:
    return json.dumps(text)
