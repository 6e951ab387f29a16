"""Where the numbers of long answers are, and how each is shown: shares in per cent without the sign, as in CaLMQA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from mores.formatting import between, number, percent, possible, shares
from mores.longanswer.records import QuestionKind
from mores.longanswer.summary import LongformSummary
from mores.report.base.charts import spoken
from mores.types import Result


def ranked(summaries: Sequence[LongformSummary]) -> list[LongformSummary]:
    """Return the best first: by S, or by the answers without issues where there is no S."""
    figure = main_figure(summaries)

    def score(summary: LongformSummary) -> float:
        result = summary.figures.get(figure)
        return result.value if result and result.value is not None else -1.0

    return sorted(summaries, key=score, reverse=True)


def main_figure(summaries: Sequence[LongformSummary]) -> str:
    """Return S, where anybody has it."""
    return "S" if any(is_known(summary.figures.get("S")) for summary in summaries) else "without issues"


def is_known(result: Result | None) -> TypeGuard[Result]:
    """Return whether there is a value."""
    return result is not None and result.value is not None


def kinds_of(summaries: Sequence[LongformSummary]) -> tuple[str, ...]:
    """Return the kinds of questions that there are, agnostic before specific as in the paper."""
    return tuple(
        kind.value
        for kind in (QuestionKind.AGNOSTIC, QuestionKind.SPECIFIC)
        if any(_of_kind(summary, kind) for summary in summaries)
    )


def _of_kind(summary: LongformSummary, kind: str) -> dict[str, Result] | None:
    return summary.by.get("kind", {}).get(kind)


Place = Callable[[LongformSummary, str | None], dict[str, Result]]
"""The figures of a part of a model's answers, of one kind or, with None, of all kinds."""


def everywhere(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
    """Return all languages."""
    return summary.figures if kind is None else _of_kind(summary, kind) or {}


def in_paper(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
    """Return all languages but those that the paper leaves out."""
    return summary.by.get("paper", {}).get(kind or "all", {})


def within(grouping: str, group: str) -> Place:
    """Return one language, or the languages of one level of resources."""

    def find(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
        if kind is None:
            return summary.by.get(grouping, {}).get(group, {})
        return summary.by.get(f"{grouping}, kind", {}).get(f"{group}, {kind}", {})

    return find


# ---- single numbers --------------------------------------------------------------------------------------------


def shown(figure: str, result: Result | None) -> str:
    """Return a share in per cent without the sign, a count with one decimal."""
    value = result.value if result else None
    return number(value, 1) if figure == "claims" else percent(value).removesuffix("%")


def interval(figure: str, result: Result | None) -> str:
    """Return the 95% interval in the same unit; nothing where there is none."""
    if figure != "claims":
        return between(result).removesuffix("%")
    if result is None or result.low is None or result.high is None:
        return ""
    return f"{number(result.low, 1)}–{number(result.high, 1)}"


def bounds(result: Result | None) -> str:
    """Return what a share could be in per cent, whatever the undecided are; nothing where all is decided."""
    return shares(*result.bounds).removesuffix("%") if result and result.bounds else ""


def in_words(name: str, figure: str, result: Result | None) -> str:
    """Return a number in words, for those who point at it or have it read to them."""
    if figure != "claims" or result is None or result.value is None:
        only = f"; {possible(result)}" if result and result.value is None and result.bounds else ""
        return spoken(name, result) + only
    ends = interval(figure, result)
    inside = f" (95% interval {ends})" if ends else ""
    return f"{name}: {shown(figure, result)}{inside}, n {result.n:,}, {result.unscored:,} unscored"
