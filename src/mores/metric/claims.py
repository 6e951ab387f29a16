"""A text judged claim by claim, each within its whole text: what a model of the style `claims` reads and writes.

The text's sentences are numbered in the prompt. The answer has one line of decisions, about the whole text (0, where
it has several sentences) and about each sentence, then a line for each wrong sentence with its errors: the passage that
shows it, severity, type, the wrong words, and what would be correct, in words of that passage (or `?`):

    0 wrong 1 supported 2 wrong 3 unknown
    2 [1] major misrepresentation: with a fork => with the hands | [2] minor stereotyping: always => often

So the model first reads the text as a whole, and then says where it is wrong; the sentences cannot gainsay the text.
All decisions come first, so that a text without errors costs two tokens a sentence, and each decision has a probability
of its own. `none` is a sentence that claims nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import get_args

from mores.io.values import read_packaged_toml
from mores.language.units import differing, nearest_sentence, vocabulary
from mores.metric.explained import disagreeing_sentence
from mores.metric.parts import choose, starting
from mores.metric.prompt import claim_spans
from mores.metric.quotes import MOST_CHUNKS, chunks
from mores.metric.spans import find
from mores.models.base import LONGEST_QUOTATION, Alternatives, AnswerPart, Parts
from mores.search.ground import cut
from mores.types import Decision, Error, ErrorReport, Failure, FailureKind, JudgedClaim, Sample, Severity

VERSION = 1
NONE = "none"
WHOLE = 0
"""The number of the whole text."""
DECISIONS: tuple[str, ...] = (*get_args(Decision), NONE)
TYPES = (
    "incorrect answer", "incorrect information", "misrepresentation", "misrepresented norm", "stereotyping",
    "contradicts the evidence",
)  # fmt: skip
LONGEST_QUOTE = 200
"""Characters of a quote or correction."""
_NEARLY_ALL = 0.8
"""Of a longer share of a sentence, only the words count that differ from the passage."""
_ARROW = " =>"
_NO_WORDS = " ?"
"""Stands for a correction that no passage contains."""
_MORE = " |"
"""Another error in the same sentence follows."""
_ENDS = {"more": _MORE, "last": "\n"}
"""What ends a correction."""
_QUOTABLE = re.compile(r"[^\s=|]")
"""What a quote may begin with: the other signs end one."""
DECISION = re.compile(rf"(?<!\d)(\d{{1,9}}) ({'|'.join(DECISIONS)})(?: |$)")
_LINE = re.compile(r"(\d{1,9}) (.+)")
_ERROR = re.compile(rf"(?:\[(\d{{1,9}})\] )?(minor|major) ({'|'.join(TYPES)}): (.+?){_ARROW} (.*)")


def decisions_of(report: ErrorReport, text: str) -> list[str]:
    """Return the decision about each sentence by a report: the reports of datasets may have no claims."""
    decisions = []
    for start, end in claim_spans(text):
        if any(error.start is not None and error.start < end and start < (error.end or 0) for error in report.errors):
            decisions.append("wrong")
        elif report.claims:
            known = [claim.decision for claim in report.claims if claim.start < end and start < claim.end]
            decisions.append(known[0] if known else NONE)
        else:
            decisions.append("supported")
    return decisions


def write_decisions(decisions: Sequence[str]) -> str:
    """Return the line of decisions about sentences, after the one about their text that follows from them."""
    whole = next(each for each in ("wrong", "supported", "disputed", "unknown", NONE) if each in decisions)
    return " ".join(f"{number} {[whole, *decisions][number]}" for number in _numbers(len(decisions)))


def _numbers(sentences: int) -> range:
    """Return what is decided about, in order: the whole text if it has several sentences, and each of them."""
    return range(WHOLE if sentences > 1 else 1, sentences + 1)


def write_claims(report: ErrorReport, sample: Sample, listed: Sequence[Error] | None = None) -> str:
    """Return the answer that a model is trained to write; `read_claims` makes the same report of it again.

    With `listed`, only those errors have a line.
    """
    answer, spans = write_decisions(decisions_of(report, sample.text)), claim_spans(sample.text)
    by_number: dict[int, list[str]] = {}
    for error in sorted(report.errors if listed is None else listed, key=lambda error: error.start or 0):
        number = next((n for n, span in enumerate(spans, 1) if span[0] <= (error.start or 0) < span[1]), 1)
        cited = f" [{error.evidence[0]}]" if error.evidence else ""
        passage = sample.evidence[error.evidence[0] - 1].text if error.evidence else ""
        correct = _one_line(error.correction)
        words = f" {correct}" if correct and correct in _one_line(passage) else _NO_WORDS
        type_ = error.type if error.type in TYPES else TYPES[1]
        written = f"{cited} {error.severity} {type_}: {_one_line(error.quote)}{_ARROW}{words}"
        by_number.setdefault(number, []).append(written)
    for number, errors in sorted(by_number.items()):
        answer += f"\n{number}{_MORE.join(errors)}"
    return answer + "\n" * bool(by_number)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def read_claims(text: str, sample: Sample, chances: Alternatives | None = None) -> ErrorReport | Failure:
    """Return the report in an answer, with the probability of each decision if `chances` are given; or a failure."""
    first, *lines = text.strip().split("\n")
    spans = claim_spans(sample.text)
    found = [(int(match[1]), match[2]) for match in DECISION.finditer(first)]
    if [number for number, _ in found] != [*_numbers(len(spans))]:
        reason = f"{len(found)} decisions about {len(spans)} sentences: {first[:80]!r}"
        return Failure(kind=FailureKind.SCHEMA, reason=reason)
    errors = []
    for line in filter(None, map(str.strip, lines)):
        numbered_line = _LINE.fullmatch(line)
        number = int(numbered_line[1]) if numbered_line else 0
        matches = [_ERROR.fullmatch(part) for part in (numbered_line[2].split(f"{_MORE} ") if numbered_line else ())]
        if not 1 <= number <= len(spans) or None in matches:
            return Failure(kind=FailureKind.SCHEMA, reason=f"not a line of errors: {line[:80]!r}")
        errors += [_error(match, spans[number - 1], sample) for match in matches if match]
    decided = dict(found)
    if decided.pop(WHOLE, "") == "wrong" and "wrong" not in decided.values() and not errors:
        return Failure(kind=FailureKind.SCHEMA, reason=f"the text is wrong, but none of its sentences: {first[:80]!r}")
    by_number = probabilities(chances or ())
    claims = tuple(
        JudgedClaim(start=start, end=end, decision=decision, probability=by_number.get(number, {}).get(decision))
        for (number, decision), (start, end) in zip(found[-len(spans) :], spans, strict=True)
        if decision != NONE
    )
    return ErrorReport(errors=tuple(errors), claims=claims, explanation=_summary(claims, sample))


def _error(match: re.Match[str], span: tuple[int, int], sample: Sample) -> Error:
    start, end = span
    place = find(match[4], sample.text[start:end])
    cited = (int(match[1]),) if match[1] and 1 <= int(match[1]) <= len(sample.evidence) else ()
    if place and cited and place[1] - place[0] > _NEARLY_ALL * (end - start):
        passage = sample.evidence[cited[0] - 1].text
        first, last = differing(sample.text[start + place[0] : start + place[1]], passage)
        place = (place[0] + first, place[0] + last)
    quote = match[4] if place is None else sample.text[start + place[0] : start + place[1]]
    correct = "" if match[5] == _NO_WORDS.strip() or not cited else match[5]
    located = {} if place is None else {"start": start + place[0], "end": start + place[1]}
    error = Error(side="text", quote=quote, severity=Severity(match[2]), type=match[3], evidence=cited, **located)
    return error.model_copy(update={"correction": correct, "explanation": _explain(error, correct, sample)})


def _explain(error: Error, correct: str, sample: Sample) -> str:
    """Return why it is an error, in the language of the text where we have the words."""
    words, quote = _words(sample.language), cut(error.quote, LONGEST_QUOTATION)
    if not error.evidence:
        return words["uncited"].format(quote=quote)
    passage = sample.evidence[error.evidence[0] - 1].text
    if correct:
        form, sentence = words["corrected"], nearest_sentence(passage, vocabulary(correct))
    else:
        form, sentence = words["contradicted"], disagreeing_sentence(passage, error.quote, sample.text)
    sentence = cut(sentence, LONGEST_QUOTATION)
    return form.format(quote=quote, correct=cut(correct, LONGEST_QUOTATION), sentence=sentence)


def _summary(claims: Sequence[JudgedClaim], sample: Sample) -> str:
    counts = {decision: sum(claim.decision == decision for claim in claims) for decision in get_args(Decision)}
    return _words(sample.language)["summary"].format(**counts)


def _words(language: str | None) -> dict[str, str]:
    every: dict[str, dict[str, str]] = read_packaged_toml("mores.metric", "explanations.toml")
    return every.get((language or "").split("-")[0], every["en"])


def probabilities(chances: Alternatives) -> dict[int, dict[str, float]]:
    """Return the probability of each decision about each sentence, of those that a model may take.

    Other names are those of tokens, which some models give instead.
    """
    rows: dict[int, dict[str, float]] = {}
    for number, decision, logprob in ((*name.partition(" ")[::2], logprob) for name, logprob in chances):
        if number.isdecimal() and len(number) < 10 and decision in DECISIONS:
            rows.setdefault(int(number), {})[decision] = math.exp(logprob)
    return {
        number: {decision: value / sum(row.values()) for decision, value in row.items()}
        for number, row in rows.items()
        if sum(row.values()) > 0
    }


def error_probability(by_number: Mapping[int, Mapping[str, float]]) -> float:
    """Return the probability that something is wrong, by the first decision: about the text, or its only sentence."""
    return by_number[min(by_number)].get("wrong", 0.0)


# ---- what a model may write ----------------------------------------------------------------------------------------


def claims_grammar(sample: Sample, most: int) -> str | None:
    """Return the grammar of the answers about a sample, of at most so many errors a sentence; None if it is too long.

    In llguidance's Lark. Quotes are words of their sentence, and corrections words of a passage.
    """
    spans = claim_spans(sample.text)
    sources = {f"Q{n}": sample.text[start:end] for n, (start, end) in enumerate(spans, 1)}
    sources |= {f"P{n}": passage.text for n, passage in enumerate(sample.evidence, 1)}
    parts = {name: _chunked(text) for name, text in sources.items() if _QUOTABLE.search(text)}
    if sum(map(len, parts.values())) > MOST_CHUNKS:
        return None
    numbers = [n for n in range(1, len(spans) + 1) if f"Q{n}" in parts]
    wrong, calm = (
        " ".join(f'"{" " * (n > 1)}{n} " {rule}' for n in range(1, len(spans) + 1)) for rule in ("DECISION", "CALM")
    )
    wrong, calm = (f'"0 wrong " {wrong}', f'"0 " CALM " " {calm}') if len(spans) > 1 else ('"1 wrong"', calm)
    cited = [str(n) for n in range(1, len(sample.evidence) + 1)]
    cite = f'" [" ({_any(cited)}) "]" ' if cited else ""
    rules = [
        "%llguidance {}",
        f'start: {wrong} "\\n" from{numbers[0]} | {calm}' if numbers else f"start: {calm}",
        f"DECISION: {_any(_options(sample))}",
        f"CALM: {_any([option for option in _options(sample) if option != 'wrong'])}",
        f"SEVERITY: {_any([str(severity) for severity in Severity])}",
        f"TYPE: {_any(TYPES)}",
        *(f"{end}: {' | '.join(_corrections(end, cited, parts))}" for end in _ENDS),
    ]
    for n, after in zip(numbers, [*numbers[1:], None], strict=True):  # what is wrong has at least one line
        rules.append(f"from{n}: line{n}" + f" from{after}? | from{after}" * (after is not None))
        rules.append(f'line{n}: "{n}" (error{n} more){{0,{most - 1}}} error{n} last')
        rules.append(f'error{n}: {cite}" " SEVERITY " " TYPE ": " Q{n}')
    return "\n".join([*rules, *(rule for name, words in parts.items() for rule in _quoted(name, words))])


def _corrections(end: str, passages: Iterable[str], rules: Container[str]) -> list[str]:
    """Return the rules for a correction with what ends it, if it can be in one of these passages."""
    return [json.dumps(_NO_WORDS + _ENDS[end]), *(f"P{n}_{end.upper()}" for n in passages if f"P{n}" in rules)]


def _options(sample: Sample) -> list[str]:
    """Return the decisions that are possible: passages must be two to contradict each other."""
    return [decision for decision in DECISIONS if decision != "disputed" or len(sample.evidence) > 1]


def _chunked(text: str) -> list[str]:
    return [json.loads(f'"{chunk}"') for chunk in chunks(_one_line(text), LONGEST_QUOTE)]


def _quoted(name: str, words: Sequence[str]) -> list[str]:
    """Return the rules for a run of words that neither begins nor ends with a space, nor holds what ends it.

    What ends it belongs to the same rule: a lexer takes the space before `=>` for one between words otherwise, so that
    only the last words of a sentence could be quoted.
    """
    shape = rf"/[^\s=|]([^=|]{{0,{LONGEST_QUOTE}}}[^\s=|])?/"
    run, regex = f"({name}_WORDS & {shape})", json.dumps({"substring_chunks": words}, ensure_ascii=False)
    ended = [f'{name}_{end.upper()}: " " {run} {json.dumps(sign)}' for end, sign in _ENDS.items()]
    return [*([f'{name}: {run} "{_ARROW}"'] if name.startswith("Q") else ended), f"{name}_WORDS: %regex {regex}"]


def _any(options: Sequence[str]) -> str:
    return " | ".join(json.dumps(option) for option in options)


def claims_parts(grammar: str, sample: Sample, most: int) -> Parts:
    """Return the parts of an answer by its grammar: the model writes only what it decides."""
    return partial(_answer, grammar, sample, most)


def _answer(grammar: str, sample: Sample, most: int) -> Generator[AnswerPart, str, str]:
    spans, wrong, given = claim_spans(sample.text), list[int](), ""
    quotable = [n for n, (start, end) in enumerate(spans, 1) if _QUOTABLE.search(sample.text[start:end])]
    whole = ""
    for number in _numbers(len(spans)):
        asked = f"{given}{' ' * (number > 1 or bool(whole))}{number}"
        if whole == " wrong" and not wrong and number == quotable[-1]:
            decided, given = whole, f"{asked}{whole}"
        else:
            may = bool(quotable) if number == WHOLE else number in quotable and whole in ("", " wrong")
            options = [option for option in _options(sample) if option != "wrong" or may]
            names = tuple((f" {option}", f"{number} {option}") for option in options)
            decided, given = yield from choose(asked, [option for option, _ in names], names)
        if number == WHOLE:
            whole = decided
        else:
            wrong += [number] * (decided == " wrong")
    cited = [f" [{n}]" for n in range(1, len(sample.evidence) + 1)]
    given += "\n" * bool(wrong)
    for number in wrong:
        given += str(number)
        for count in range(1, most + 1):
            passage = ""
            if cited:
                chosen, given = yield from choose(given, cited)
                passage = chosen.strip(" []")
            _, given = yield from choose(given, [f" {severity}" for severity in Severity])
            _, given = yield from choose(given, [f" {type_}:" for type_ in TYPES])
            yield AnswerPart(given, starting(f'" " Q{number}', grammar))
            known = {f"P{passage}"} if f"\nP{passage}_LAST: " in grammar else ()
            ends = ["last"] if count == most else [*_ENDS]
            rules = [rule for end in ends for rule in _corrections(end, [passage], known)]
            written = yield AnswerPart("", starting(" | ".join(rules), grammar))
            given = ""
            if written.endswith("\n"):
                break
    return given
