"""The numbers of long answers, and how each is shown: shares in per cent without the sign, as in CaLMQA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from mores.formatting import between, count, headline_interval, number, percent, possible, shares
from mores.longanswer.records import QuestionKind
from mores.longanswer.summary import LongformSummary, is_decided
from mores.report.base.blocks import Hero
from mores.report.base.charts import spoken
from mores.report.base.names import group_name, isolated
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
    """Return the 95% interval of a share in per cent, whatever the undecided are; nothing where all is decided."""
    ends = result and (result.whole or result.bounds)
    return shares(*ends).removesuffix("%") if ends else ""


def in_words(name: str, figure: str, result: Result | None) -> str:
    """Return a number in words, for those who point at it or have it read to them."""
    if figure != "claims" or result is None or result.value is None:
        only = f"; {possible(result)}" if result and result.value is None and result.bounds else ""
        return spoken(name, result) + only
    ends = interval(figure, result)
    inside = f" (95% interval {ends})" if ends else ""
    return f"{name}: {shown(figure, result)}{inside}, n {result.n:,}, {result.unscored:,} unscored"


# ---- in plain words --------------------------------------------------------------------------------------------


def hero(models: Sequence[LongformSummary]) -> Hero:
    """Return the main number of the best model, and everything that it means in plain words."""
    figure = main_figure(models)
    result = models[0].figures.get(figure)
    ends = headline_interval(result).removesuffix("%") if result else ""
    small = f"{'S' if figure == 'S' else '% without issues'}, 95%: {ends}" if ends else ""
    return Hero(shown(figure, result), small, opening=" ".join(opening(models)))


def opening(models: Sequence[LongformSummary]) -> list[str]:
    """Return the main numbers of the best model as sentences."""
    best, others, key = models[0], models[1:], main_figure(models)
    sentences = [_asked(models), *([_first(models, key)] if others else [])]
    sentences += _surface_words(best) + _judged_words(best) + _contrasts(best, key)
    results = [result for summary in others if (result := summary.figures.get(key)) and result.value is not None]
    ends = [shown(key, pick(results, key=lambda result: result.value or 0.0)) for pick in (min, max) if results]
    if ends:
        name = "S" if key == "S" else "share without issues"
        between = ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
        sentences.append(f"The {name} of the other{'s' if len(others) > 1 else ''} is {between}.")
    return sentences


def _first(models: Sequence[LongformSummary], key: str) -> str:
    """Return who is the best, unless what is undecided could change that."""
    best, name = models[0], "S" if key == "S" else "share without issues"
    gave = f", which gave {best.answers - best.missing:,} of its {best.answers:,} answers" if best.missing else ""
    results = [result for summary in models if is_known(result := summary.figures.get(key))]
    if len(results) < len(models):
        return f"{named(best.model)} is shown first{gave}, but too little could be decided for an order."
    if len(results) > 1 and results[1].value == results[0].value:
        return f"{named(best.model)} is shown first{gave}, but others have the same {name}."
    if is_decided(models):
        return f"The best is {named(best.model)}{gave}."
    return f"{named(best.model)} has the highest {name}{gave}, but chance or what is undecided may explain that."


def named(model: str) -> str:
    """Return a model's name in a sentence."""
    return isolated(model or "the model without a name")


def _asked(models: Sequence[LongformSummary]) -> str:
    answers, missing, languages = sum(m.answers for m in models), sum(m.missing for m in models), tags_of(models)
    who = f"{len(models):,} models were" if len(models) > 1 else f"{named(models[0].model)} was"
    where = group_name("language", *languages) if len(languages) == 1 else f"{len(languages):,} languages"
    failed = f", and failed to give {missing:,} of them" if missing else ""
    return f"{who} asked for {count(answers, 'long answer')} in {where}{failed}."


def _known(summary: LongformSummary, key: str) -> str | None:
    result = summary.figures.get(key)
    return f"{shown(key, result)}%" if result and result.value is not None else None


def _surface_words(summary: LongformSummary) -> list[str]:
    wrong, repeats, without = (_known(summary, key) for key in ("wrong language", "repetition", "without issues"))
    parts = [f"{wrong} are in the wrong language"] if wrong else []
    parts += [f"{repeats} repeat themselves"] if repeats else []
    parts += [f"{without} have neither issue"] if without and wrong else []
    if not parts:
        return []
    return [f"Of its answers, {', '.join(parts[:-1])}{' and ' if len(parts) > 1 else ''}{parts[-1]}."]


def _judged_words(summary: LongformSummary) -> list[str]:
    """Return facts, relevance and S, as far as they were judged."""
    precision, relevance, overall = (_known(summary, key) for key in ("precision", "relevance", "S"))
    words = []
    if precision:
        words.append(f"Of the claims in an answer, {precision} are supported by what a search found, on average.")
    if relevance:
        words.append(f"{relevance} of the judged answers are relevant to their question.")
    if overall:
        parts = "the product of being without issues, factual precision and relevance"
        words.append(f"The overall score S, {parts}, is {overall.removesuffix('%')} of 100.")
    elif result := summary.figures.get("S"):
        ends = bounds(result)
        words.append(f"Too little could be judged for an overall score S{f'; it is within {ends}' if ends else ''}.")
    else:
        words.append("Facts and relevance were not both judged, so there is no overall score.")
    if summary.undecided:
        claims = f"{summary.undecided:,} of {count(summary.claims, 'claim')}"
        words.append(f"{claims} could not be decided and {'is' if summary.undecided == 1 else 'are'} in no figure.")
    return words


def _contrasts(summary: LongformSummary, key: str) -> list[str]:
    """Return the main figure by kind of question and level of resources."""
    words = []
    kinds = [everywhere(summary, kind).get(key) for kind in kinds_of([summary])]
    name = "S" if key == "S" else "The share without issues"
    if len(kinds) == 2 and all(is_known(result) for result in kinds):
        first, second = (shown(key, result) for result in kinds)
        words.append(f"{name} is {first} on culturally agnostic and {second} on culturally specific questions.")
    levels = [within("resources", level)(summary, None).get(key) for level in ("high and mid", "low")]
    if all(is_known(result) for result in levels):
        high, low = (shown(key, result) for result in levels)
        words.append(f"{name} is {high} in languages with many or some resources and {low} in those with few.")
    return words


def tags_of(models: Sequence[LongformSummary]) -> set[str]:
    return {tag for summary in models for tag in summary.by.get("language", {})}
