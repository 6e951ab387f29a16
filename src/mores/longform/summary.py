"""From appraisals to the figures of CaLMQA's Table 2 and Figures 2, 7-9, 11-13 and 15, each with its interval.

| figure | of which answers | is |
| --- | --- | --- |
| `wrong language`, `repetition`, `without issues` | all that were given | a share |
| `precision`, `recall`, `F1`, `claims` | those without a known surface issue | a mean |
| `relevance` | those without a known surface issue | a share |
| `S` | all that were given | a mean |
| `english` | those to questions that are not in English | a share |
| `tell: …` | all that were given | a share |

Averages are micro-averages, over answers, as in the paper; `figures.py` says how what could not be decided is left out
of them. The paper leaves out four languages that its language check cannot tell; `by["paper"]` does so too, everything
else has all languages. The paper counts an answer that a model failed to give as one with an issue, and
`missing_as_issue` does that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from mores.longform import factuality
from mores.longform.figures import Part, Score, figure, mean, of_claims, overall, plain
from mores.longform.records import Appraisal, LongAnswer
from mores.longform.stages import STAGES, has_issue
from mores.longform.tells import Tell
from mores.longform.translate import is_english
from mores.show import between, percent
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
)
"""Their order in a table."""
JUDGED = ("precision", "relevance", "S")
"""Figures for which a judge is needed."""
Values = dict[str, float | None]
"""The figures of one answer: None where it could not be scored, left out where it does not apply."""
Parts = dict[str, Part]
"""What one answer adds to each figure."""


class Summary(Record):
    """What is said of one model's answers."""

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
    signature: Signature = Signature()

    @property
    def headline(self) -> str:
        """S where facts and relevance were judged, else the share without issues, in one line."""
        who, result = self.model or "answers", self.main
        if result is None:
            return f"{who}: nothing could be measured"
        interval = between(result)
        shown = f"{percent(result.value)} ({interval})" if interval else percent(result.value)
        return f"{who}: {result.name} {shown}, n {result.n:,}, {result.unscored:,} unscored"

    @property
    def main(self) -> Result | None:
        """The figure of the headline; None where nothing could be measured."""
        return self.figures.get("S") or self.figures.get("without issues")


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
    question: str
    language: str
    kind: str | None
    parts: Parts


def summarise(
    pairs: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting | None = None, signature: Signature | None = None
) -> list[Summary]:
    """One summary per model, in the order of their first answers."""
    how = counting or Counting()
    if how.k is not None:
        factuality.check_k(how.k)
    rows: dict[str, list[_Row]] = defaultdict(list)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    for answer, one in pairs:
        row = _Row(answer.question, base(answer.language), answer.kind, parts_of(answer, one, how))
        rows[one.model].append(row)
        claims = one.claims or ()
        counts[one.model].update(claims=len(claims), undecided=sum(claim.supported is None for claim in claims))
        failures[one.model].update(list(one.failures))
    return [
        Summary(
            model=model,
            answers=len(own),
            missing=failures[model]["answer"],
            claims=counts[model]["claims"],
            undecided=counts[model]["undecided"],
            failures={stage: failures[model][stage] for stage in STAGES if failures[model][stage]},
            k=how.k,
            figures=_figures(own),
            by=_by(own),
            signature=signature or Signature(),
        )
        for model, own in rows.items()
    ]


def headline(summaries: Sequence[Summary]) -> str:
    """The result in one line; of several models it is the best one's."""
    if len(summaries) == 1:
        return summaries[0].headline
    values = {one.model: one.main.value for one in summaries if one.main and one.main.value is not None}
    best = max(summaries, key=lambda one: values.get(one.model, -1.0))
    return f"the best of {len(summaries)} models: {best.headline}"


def unjudged_figures(summaries: Sequence[Summary]) -> list[str]:
    """The figures that a judge was to decide, and that no model has, because too few answers could be judged."""
    results = {name: [one.figures[name] for one in summaries if name in one.figures] for name in JUDGED}
    return [name for name, own in results.items() if own and all(result.value is None for result in own)]


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
        "claims": None if one.claims is None else len(one.claims) / one.read,
    }
    if k is not None:
        found["recall"] = factuality.recall(one.claims, k, complete=complete)
        found["F1"] = factuality.f1(one.claims, k, complete=complete)
    return found


def parts_of(answer: LongAnswer, one: Appraisal, how: Counting) -> Parts:
    """What one answer adds to each figure."""
    scores: dict[str, Score] = {"precision": lambda precision, _: precision}
    if (k := how.k) is not None:
        scores |= {"recall": lambda p, n: factuality.recall_of(p, n, k), "F1": lambda p, n: factuality.f1_of(p, n, k)}
    found = values(answer, one, how)
    parts = {name: plain(value, due=name == "relevance") for name, value in found.items()}
    parts |= {name: of_claims(one, score) for name, score in scores.items() if name in found}
    return parts | ({"S": overall(one, found["without issues"])} if "S" in found else {})


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
    return figures([(row.question, row.parts) for row in rows])


def figures(rows: Sequence[tuple[str, Parts]]) -> dict[str, Result]:
    """Every figure of some answers; each comes with its question, whose answers are not independent of each other."""
    there = {name for _, parts in rows for name in parts}
    made = {}
    for name in (name for name in FIGURES if name in there):
        questions, parts = zip(*((question, parts[name]) for question, parts in rows if name in parts), strict=True)
        made[name] = mean(name, parts, questions) if name == "claims" else figure(name, parts, questions)
    return made
