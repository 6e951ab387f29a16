"""From appraisals to the figures of CaLMQA's Table 2 and Figures 2, 7-9, 11-13 and 15, each with its interval.

| figure | of which answers | is |
| --- | --- | --- |
| `wrong language`, `repetition`, `without issues` | all that were given | a share |
| `precision`, `recall`, `F1`, `claims` | those without a known surface issue | a mean |
| `relevance` | those without a known surface issue | a share |
| `S` | all that were given | a mean |
| `english` | those to questions that are not in English | a share |
| `tell: …`, `word: …` | all that were given | a share |

Averages are micro-averages, over answers, as in the paper; `figures.py` says how what could not be decided is left out
of them. The paper leaves out four languages that its language check cannot identify; `by["paper"]` does so too, all
others have all languages. The paper counts an answer that a model failed to give as one with an issue, and
`missing_as_issue` does that, and counts it as one without tokens in the lengths of Table 16.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from mores.culture import base_language
from mores.formatting import share_between
from mores.longanswer import factuality
from mores.longanswer.figures import FigurePart, Score, figure, mean, of_claims, overall, plain
from mores.longanswer.judging import is_english
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.stages import STAGES, has_issue
from mores.longanswer.tells import Tell, Word, find_words
from mores.longanswer.tokens import tokenize
from mores.metric.groups import FEWEST, find_column, value_of
from mores.stats.intervals import difference_interval
from mores.stats.missing import decide
from mores.stats.results import difference_result
from mores.types import Record, Result, Signature

HIGH_AND_MID = frozenset({"ar", "de", "en", "es", "he", "hi", "hu", "ja", "ko", "ru", "zh"})
LOW = frozenset({"aa", "bal", "fj", "fo", "hil", "pap", "ps", "rn", "sm", "tn", "to", "wo"})
"""Languages with few resources (Table 4)."""
LEFT_OUT = frozenset({"bal", "hil", "pap", "rn"})
"""Languages that the paper leaves out of its averages (Section 3.1)."""

FIGURES = (
    *("S", "without issues", "wrong language", "repetition"),
    *("precision", "recall", "F1", "claims", "relevance", "english"),
    *(f"tell: {tell.value}" for tell in Tell),
    *(f"word: {word.value}" for word in Word),
)
"""Their order in a table."""
SURFACE = ("wrong language", "repetition", "without issues", "S")
"""Figures of every answer, also of one that is missing."""
JUDGED = ("precision", "relevance", "S")
"""Figures for which a judge is needed."""
Values = dict[str, float | None]
"""The figures of one answer: None where it could not be scored, left out where it does not apply."""
Parts = dict[str, FigurePart]
"""What one answer adds to each figure."""


class AnswerLengths(Record):
    """The lengths of some answers in tokens of o200k_base (Table 16)."""

    answers: int
    mean: float
    median: float
    std: float | None
    """Of the sample; None for a single answer."""


class LongformSummary(Record):
    """The figures of one model's answers."""

    model: str
    answers: int
    missing: int = 0
    """Answers that the model failed to give."""
    claims: int = 0
    """Claims that were found in them."""
    undecided: int = 0
    """Claims that could not be decided; they are in no precision."""
    failures: dict[str, int] = Field(default_factory=dict)
    """By stage: how many answers it failed for, in whole or in part."""
    k: int | None = None
    """The K of recall and F1."""
    figures: dict[str, Result]
    """By name, over all languages and kinds."""
    by: dict[str, dict[str, dict[str, Result]]] = Field(default_factory=dict)
    """Grouping, group, figure."""
    lengths: dict[str, AnswerLengths] = Field(default_factory=dict)
    """Of all answers, and of those in the correct language and without repetitions (`without issues`)."""
    specific: dict[str, Result] = Field(default_factory=dict)
    """By figure: how much higher it is for culturally specific than for agnostic questions, where there are both."""
    behind: Result | None = Field(None, exclude_if=lambda gap: gap is None)
    """How much higher the headline figure of the best model is on shared questions."""
    behind_by: dict[str, dict[str, Result]] = Field(default_factory=dict, exclude_if=lambda gaps: not gaps)
    """Column, group: how much higher the best model's headline figure is in it, on shared questions."""
    signature: Signature = Signature()

    @property
    def headline(self) -> str:
        """S where facts and relevance were judged, else the share without issues, in one line."""
        who, result = self.model or "answers", self.main
        if result is None:
            return f"{who}: nothing could be measured"
        return f"{who}: {result.name} {share_between(result)}, n {result.n:,}, {result.unscored:,} unscored"

    @property
    def main(self) -> Result | None:
        """The figure of the headline; None where nothing could be measured."""
        return self.figures.get("S") or self.figures.get("without issues")


@dataclass(frozen=True)
class Counting:
    """The rules by which answers are counted."""

    k: int | None = None
    """The number of claims of a full answer, for recall and F1; without it there are neither."""
    missing_as_issue: bool = False
    """Count an answer that a model failed to give as one with a surface issue, as the paper does."""
    every: bool = False
    """Average facts and relevance over answers with surface issues too."""
    facts: bool = True
    relevance: bool = True
    """Whether these were judged at all: without both there is no S."""


class _Row(NamedTuple):
    question: str
    parts: Parts
    language: str
    kind: str | None
    tokens: int | None
    """None for an answer that is not counted."""
    sound: bool
    """It is in the correct language and repeats nothing."""
    groups: tuple[str | None, ...] = ()
    """What it has in each column that figures are also shown by."""


def summarise(
    pairs: Iterable[tuple[LongAnswer, Appraisal]],
    counting: Counting | None = None,
    signature: Signature | None = None,
    by: Sequence[str] = (),
) -> list[LongformSummary]:
    """Return one summary per model, in the order of their first answers, also by columns as `find_fields` has them."""
    counting = counting or Counting()
    if counting.k is not None:
        factuality.check_k(counting.k)
    rows: dict[str, list[_Row]] = defaultdict(list)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    for answer, appraisal in pairs:
        parts = parts_of(answer, appraisal, counting)
        missing, sound = "answer" in appraisal.failures, factuality.s_surf(appraisal) == 1.0
        tokens = (0 if counting.missing_as_issue else None) if missing else len(tokenize(answer.answer or ""))
        language, groups = base_language(answer.language), tuple(value_of(answer, column, FIELDS) for column in by)
        row = _Row(answer.question, parts, language, answer.kind, tokens, sound and not missing, groups)
        rows[appraisal.model].append(row)
        claims = appraisal.claims or ()
        counts[appraisal.model].update(claims=len(claims), undecided=sum(claim.supported is None for claim in claims))
        failures[appraisal.model].update(list(appraisal.failures))
    summaries = [
        LongformSummary(
            model=model,
            answers=len(rows_of_model),
            missing=failures[model]["answer"],
            claims=counts[model]["claims"],
            undecided=counts[model]["undecided"],
            failures={stage: failures[model][stage] for stage in STAGES if failures[model][stage]},
            k=counting.k,
            figures=figures([row[:2] for row in rows_of_model]),
            by=(figures_by := _group_figures(rows_of_model, by)),
            lengths=measure_lengths(rows_of_model),
            specific=_subtract(*(figures_by["kind"].get(kind, {}) for kind in ("specific", "agnostic"))),
            signature=signature or Signature(),
        )
        for model, rows_of_model in rows.items()
    ]
    best = best_of(summaries) if len(summaries) > 1 else None
    if best is None or best.main is None:
        return summaries
    name = best.main.name

    def compare(model: str) -> dict[str, Any]:
        first, second = rows[best.model], rows[model]
        by_column = {column: _differences(first, second, name, n) for n, column in enumerate(by)}
        gaps = {column: each for column, each in by_column.items() if each}
        return {"behind": _difference(first, second, name), "behind_by": gaps}

    return [each if each is best else each.model_copy(update=compare(each.model)) for each in summaries]


def measure_lengths(rows: Sequence[_Row]) -> dict[str, AnswerLengths]:
    """Return how long answers are: all, and those without surface issues."""
    counted = [row for row in rows if row.tokens is not None]
    groups = {"all": counted, "without issues": [row for row in counted if row.sound]}
    lengths = {}
    for name, members in groups.items():
        if members:
            tokens = np.array([row.tokens for row in members], dtype=np.float64)
            std = float(np.std(tokens, ddof=1)) if len(tokens) > 1 else None
            mean, median = float(np.mean(tokens)), float(np.median(tokens))
            lengths[name] = AnswerLengths(answers=len(tokens), mean=mean, median=median, std=std)
    return lengths


def _subtract(first: Mapping[str, Result], second: Mapping[str, Result]) -> dict[str, Result]:
    """Return the differences of figures that rest on different questions, where both are known."""
    differences = {}
    for name in first.keys() & second.keys():
        ours, other = first[name], second[name]
        ends = [ours.value, ours.low, ours.high, other.value, other.low, other.high]
        if any(end is None for end in ends):
            continue
        value, low, high, other_value, other_low, other_high = (end or 0.0 for end in ends)
        low, high = difference_interval((value, (low, high)), (other_value, (other_low, other_high)))
        counts = {"n": ours.n + other.n, "unscored": ours.unscored + other.unscored}
        differences[name] = Result(name=name, value=value - other_value, low=low, high=high, **counts)
    return {name: differences[name] for name in first if name in differences}


def best_of(summaries: Sequence[LongformSummary]) -> LongformSummary:
    """Return the model with the highest headline figure."""
    measured = {s.model: s.main.value for s in summaries if s.main and s.main.value is not None}
    return max(summaries, key=lambda summary: measured.get(summary.model, -1.0))


def is_decided(summaries: Sequence[LongformSummary]) -> bool:
    """Return whether neither chance nor what is undecided could change which model is the best."""
    best = best_of(summaries)
    return all(decide(each.behind) > 0 for each in summaries if each is not best)


def _difference(best: Sequence[_Row], other: Sequence[_Row], name: str) -> Result:
    """Return the mean difference of a figure on the questions that both models have an answer to."""
    ends: list[dict[tuple[str, str], list[tuple[float, float]]]] = [defaultdict(list), defaultdict(list)]
    for by_question, rows in zip(ends, (best, other), strict=True):
        for row in rows:
            if name in row.parts:
                by_question[row.question, row.language].append((row.parts[name].least, row.parts[name].most))
    shared = [key for key in ends[0] if key in ends[1]]
    first, second = (np.array([np.mean(of[key], axis=0) for key in shared]).reshape(-1, 2).T for of in ends)
    values = [np.where(least == most, least, np.nan) for least, most in (first, second)]
    return difference_result(name, *values, ends=((first[0], first[1]), (second[0], second[1])))


def _differences(best: Sequence[_Row], other: Sequence[_Row], name: str, column: int) -> dict[str, Result]:
    """Return the mean difference in each group of a column that has some questions of both models."""
    groups = [_grouped(rows, _nth(column)) for rows in (best, other)]
    found = {group: _difference(groups[0][group], groups[1][group], name) for group in groups[0] if group in groups[1]}
    return {group: each for group, each in found.items() if each.n + each.unscored >= FEWEST}


def headline(summaries: Sequence[LongformSummary]) -> str:
    """Return the result in one line; of several models it is the best one's."""
    if len(summaries) == 1:
        return summaries[0].headline
    which = "best" if is_decided(summaries) else "highest, though chance or what is undecided may explain it,"
    return f"the {which} of {len(summaries)} models: {best_of(summaries).headline}"


def unjudged_figures(summaries: Sequence[LongformSummary]) -> list[str]:
    """Return the figures that a judge was to decide, and that no model has, because too few answers could be judged."""
    results = {name: [summary.figures[name] for summary in summaries if name in summary.figures] for name in JUDGED}
    return [name for name, figures in results.items() if figures and all(result.value is None for result in figures)]


def resource_level(language: str) -> str | None:
    """Return `high and mid` or `low`, as Table 4 has it; None for a language that is not in it."""
    base = base_language(language)
    return "high and mid" if base in HIGH_AND_MID else "low" if base in LOW else None


# -- one answer --------------------------------------------------------------------------------------------


def measure_answer(answer: LongAnswer, appraisal: Appraisal, counting: Counting) -> Values:
    """Return the figures of one answer."""
    missing = "answer" in appraisal.failures
    # The paper's columns add up to 100% also with an answer that failed: it has an issue, but neither of the two.
    absent: Values = dict.fromkeys(SURFACE, 0.0 if counting.missing_as_issue else None)
    measures = absent if missing else _surface(answer, appraisal)
    if not missing and (counting.every or not has_issue(appraisal)):
        measures |= _facts(appraisal, counting.k) if counting.facts else {}
        measures |= {"relevance": factuality.s_rel(appraisal)} if counting.relevance else {}
    if not (counting.facts and counting.relevance):
        del measures["S"]
    return measures


def _surface(answer: LongAnswer, appraisal: Appraisal) -> Values:
    check = appraisal.language
    measures: Values = {
        "wrong language": None if check is None or check.correct is None else float(not check.correct),
        "repetition": float(appraisal.repetition is not None),
        "without issues": factuality.s_surf(appraisal),
        "S": factuality.overall(appraisal),
    }
    if not is_english(answer.language):
        measures["english"] = float(is_english(check.detected)) if check and check.detected else None
    measures |= {f"tell: {tell.value}": float(tell.value in appraisal.tells) for tell in Tell}
    words = find_words(answer.answer or "", answer.language)
    return measures | {f"word: {word.value}": float(there) for word, there in words.items()}


def _facts(appraisal: Appraisal, k: int | None) -> Values:
    complete = factuality.is_complete(appraisal)
    measures: Values = {
        "precision": factuality.s_fact(appraisal),
        "claims": None if appraisal.claims is None else len(appraisal.claims) / appraisal.read,
    }
    if k is not None:
        measures["recall"] = factuality.recall(appraisal.claims, k, complete=complete)
        measures["F1"] = factuality.f1(appraisal.claims, k, complete=complete)
    return measures


def parts_of(answer: LongAnswer, appraisal: Appraisal, counting: Counting) -> Parts:
    """Return what one answer adds to each figure."""
    scores: dict[str, Score] = {"precision": lambda precision, _: precision}
    if (k := counting.k) is not None:
        scores |= {"recall": lambda p, n: factuality.recall_of(p, n, k), "F1": lambda p, n: factuality.f1_of(p, n, k)}
    measures = measure_answer(answer, appraisal, counting)
    parts = {name: plain(value, due=name == "relevance") for name, value in measures.items()}
    parts |= {name: of_claims(appraisal, score) for name, score in scores.items() if name in measures}
    return parts | ({"S": overall(appraisal, measures["without issues"])} if "S" in measures else {})


# -- many answers ------------------------------------------------------------------------------------------


def _group_figures(rows: Sequence[_Row], by: Sequence[str]) -> dict[str, dict[str, dict[str, Result]]]:
    checked = [row for row in rows if row.language not in LEFT_OUT]
    paper = {"all": checked} | _grouped(checked, lambda row: row.kind)
    groupings = {name: _grouped(rows, _nth(n)) for n, name in enumerate(by)}
    groupings |= {"paper": paper} | {name: _grouped(rows, key) for name, key in GROUPINGS.items()}
    return {
        name: {group: figures([row[:2] for row in members]) for group, members in groups.items() if members}
        for name, groups in groupings.items()
    }


def find_fields(answers: Iterable[LongAnswer], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of answers that a person means, in any case; ConfigError where there is none of a name."""
    kept = dict.fromkeys(("kind", "topic"))
    for answer in answers if names else ():
        kept |= dict.fromkeys(name for name in answer.metadata if name not in RESERVED)
    return tuple(dict.fromkeys(find_column(name, kept, {}) for name in names))


def _nth(n: int) -> Callable[[_Row], str]:
    """Return the group by a column that was asked for: "" for answers that have no value in it."""
    return lambda row: row.groups[n] or ""


def _both(row: _Row, part: str | None) -> str | None:
    return f"{part}, {row.kind}" if part and row.kind else None


GROUPINGS: Mapping[str, Callable[[_Row], str | None]] = {
    "kind": lambda row: row.kind,
    "language": lambda row: row.language,
    "language, kind": lambda row: _both(row, row.language),
    "resources": lambda row: resource_level(row.language),
    "resources, kind": lambda row: _both(row, resource_level(row.language)),
}


FIELDS = ("language", "region", "kind", "topic")
"""Columns that answers have besides their metadata."""
RESERVED = ("paper", *GROUPINGS)
"""Groupings that have a meaning."""


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], str | None]) -> dict[str, list[_Row]]:
    groups: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        if (group := key(row)) is not None:
            groups[group].append(row)
    return dict(sorted(groups.items()))


def figures(rows: Sequence[tuple[str, Parts]]) -> dict[str, Result]:
    """Return every figure of some answers, each with its question: answers to one question are not independent."""
    there = {name for _, parts in rows for name in parts}
    results = {}
    for name in (name for name in FIGURES if name in there):
        questions, parts = zip(*((question, parts[name]) for question, parts in rows if name in parts), strict=True)
        results[name] = mean(name, parts, questions) if name == "claims" else figure(name, parts, questions)
    return results
