"""From appraisals to the figures of CaLMQA's Table 2 and Figures 2, 7-9, 11-13 and 15, each with its interval.

| figure | of which answers | is |
| --- | --- | --- |
| `wrong language`, `repetition`, `without issues` | all that were given | a share |
| `precision`, `recall`, `F1`, `claims` | those without a known surface issue | a mean |
| `relevance` | those without a known surface issue | a share |
| `S` | all that were given | a mean |
| `english` | those to questions that are not in English | a share |
| `tell: …` | all that were given | a share |

Averages are micro-averages, over answers, as in the paper. The paper leaves out four languages that its language check
cannot tell; `by["paper"]` does so too, everything else has all languages. Intervals are Wilson's for shares and
bootstrap percentiles for means, at 95%. An answer that could not be scored is counted and is in no figure; the paper
counts an answer that a model failed to give as one with an issue, and `missing_as_issue` does that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from mores.longform import factuality
from mores.longform.records import Appraisal, LongAnswer
from mores.longform.stages import has_issue
from mores.longform.tells import Tell
from mores.longform.translate import is_english
from mores.stats.intervals import wilson
from mores.stats.resampling import bootstrap_mean
from mores.types import Record, Result

HIGH_AND_MID = frozenset({"ar", "de", "en", "es", "he", "hi", "hu", "ja", "ko", "ru", "zh"})
LOW = frozenset({"aa", "bal", "fj", "fo", "hil", "pap", "ps", "rn", "sm", "tn", "to", "wo"})
"""Languages with few resources (Table 4)."""
LEFT_OUT = frozenset({"bal", "hil", "pap", "rn"})
"""Languages that the paper leaves out of its averages (Section 3.1)."""

FIGURES = (
    *("S", "without issues", "wrong language", "repetition"),
    *("precision", "recall", "F1", "claims", "relevance", "english"),
    *(f"tell: {tell.value}" for tell in Tell),
)
"""Their order in a table."""
MEANS = frozenset({"precision", "recall", "F1", "claims", "S"})
"""Figures that are means; the others are shares."""

Values = dict[str, float | None]
"""The figures of one answer: None where it could not be scored, left out where it does not apply."""


class Summary(Record):
    """What is said of one model's answers."""

    model: str
    answers: int
    missing: int = 0
    """Answers that the model failed to give."""
    undecided: int = 0
    """Claims that could not be decided; they are in no precision."""
    k: int | None = None
    """The K of recall and F1."""
    figures: dict[str, Result]
    """By name, over all languages and kinds."""
    by: dict[str, dict[str, dict[str, Result]]] = Field(default_factory=dict)
    """Grouping, group, figure."""
    signature: str = ""


@dataclass(frozen=True)
class Counting:
    """What is counted, and how."""

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
    language: str
    kind: str | None
    values: Values


def summarise(
    pairs: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting | None = None, signature: str = ""
) -> list[Summary]:
    """One summary per model, in the order of their first answers."""
    how = counting or Counting()
    if how.k is not None:
        factuality.check_k(how.k)
    rows: dict[str, list[_Row]] = defaultdict(list)
    missing: dict[str, int] = defaultdict(int)
    undecided: dict[str, int] = defaultdict(int)
    for answer, one in pairs:
        rows[one.model].append(_Row(base(answer.language), answer.kind, values(answer, one, how)))
        missing[one.model] += "answer" in one.failures
        undecided[one.model] += sum(claim.supported is None for claim in one.claims or ())
    return [
        Summary(
            model=model,
            answers=len(own),
            missing=missing[model],
            undecided=undecided[model],
            k=how.k,
            figures=_figures(own),
            by=_by(own),
            signature=signature,
        )
        for model, own in rows.items()
    ]


def base(tag: str) -> str:
    """The language of a BCP 47 tag, without script and region."""
    return tag.partition("-")[0].lower()


def resources(language: str) -> str | None:
    """`high and mid` or `low`, as Table 4 has it; None for a language that is not in it."""
    if base(language) in HIGH_AND_MID:
        return "high and mid"
    return "low" if base(language) in LOW else None


# -- one answer --------------------------------------------------------------------------------------------


def values(answer: LongAnswer, one: Appraisal, how: Counting) -> Values:
    """The figures of one answer."""
    missing = "answer" in one.failures
    found = _of_missing(how) if missing else _surface(answer, one)
    if not missing and (how.every or not has_issue(one)):
        found |= _facts(one, how.k) if how.facts else {}
        found |= {"relevance": factuality.s_rel(one)} if how.relevance else {}
    if not (how.facts and how.relevance):
        del found["S"]
    return found


def _of_missing(how: Counting) -> Values:
    """The paper's columns for an answer that failed add up to 100%: it has an issue, but neither of the two."""
    names = ("wrong language", "repetition", "without issues", "S")
    return dict.fromkeys(names, 0.0 if how.missing_as_issue else None)


def _surface(answer: LongAnswer, one: Appraisal) -> Values:
    check = one.language
    found: Values = {
        "wrong language": None if check is None or check.right is None else float(not check.right),
        "repetition": float(one.repetition is not None),
        "without issues": factuality.s_surf(one),
        "S": factuality.overall(one),
    }
    if not is_english(answer.language):
        found["english"] = float(is_english(check.found)) if check and check.found else None
    return found | {f"tell: {tell.value}": float(tell.value in one.tells) for tell in Tell}


def _facts(one: Appraisal, k: int | None) -> Values:
    complete = factuality.is_complete(one)
    found: Values = {
        "precision": factuality.s_fact(one),
        "claims": float(len(one.claims)) if one.claims is not None and complete else None,
    }
    if k is not None:
        found["recall"] = factuality.recall(one.claims, k, complete=complete)
        found["F1"] = factuality.f1(one.claims, k, complete=complete)
    return found


# -- many answers ------------------------------------------------------------------------------------------


def _by(rows: Sequence[_Row]) -> dict[str, dict[str, dict[str, Result]]]:
    known = [row for row in rows if row.language not in LEFT_OUT]
    paper = {"all": known} | _grouped(known, lambda row: row.kind)
    groupings = {"paper": paper} | {name: _grouped(rows, key) for name, key in GROUPINGS.items()}
    return {name: {group: _figures(own) for group, own in groups.items() if own} for name, groups in groupings.items()}


def _both(row: _Row, part: str | None) -> str | None:
    return f"{part}, {row.kind}" if part and row.kind else None


GROUPINGS: Mapping[str, Callable[[_Row], str | None]] = {
    "kind": lambda row: row.kind,
    "language": lambda row: row.language,
    "language, kind": lambda row: _both(row, row.language),
    "resources": lambda row: resources(row.language),
    "resources, kind": lambda row: _both(row, resources(row.language)),
}


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], str | None]) -> dict[str, list[_Row]]:
    groups: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        if (group := key(row)) is not None:
            groups[group].append(row)
    return dict(sorted(groups.items()))


def _figures(rows: Sequence[_Row]) -> dict[str, Result]:
    there = {name for row in rows for name in row.values}
    names = [name for name in FIGURES if name in there]
    return {name: _figure(name, [row.values[name] for row in rows if name in row.values]) for name in names}


def _figure(name: str, given: Sequence[float | None]) -> Result:
    scored = [value for value in given if value is not None]
    unscored = len(given) - len(scored)
    if not scored:
        return Result(name=name, value=None, unscored=unscored)
    if name in MEANS:
        mean = bootstrap_mean(scored)
        assert mean is not None
        return Result(name=name, value=mean.value, low=mean.low, high=mean.high, n=len(scored), unscored=unscored)
    low, high = wilson(round(sum(scored)), len(scored))
    value = sum(scored) / len(scored)
    return Result(name=name, value=value, low=low, high=high, n=len(scored), unscored=unscored)
