"""The opening of the page for long answers: the main number, and what it means in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from mores.formatting import count
from mores.longanswer.summary import LongformSummary
from mores.report.base.blocks import Hero
from mores.report.base.names import group_name, isolated
from mores.report.longform import tables as numbers


def hero(models: Sequence[LongformSummary]) -> Hero:
    """Return the main number of the best model, and everything that it means in plain words."""
    figure = numbers.main_figure(models)
    result = models[0].figures.get(figure)
    ends = numbers.interval(figure, result)
    small = f"{'S' if figure == 'S' else '% without issues'}, 95%: {ends}" if ends else ""
    return Hero(numbers.shown(figure, result), small, opening=" ".join(opening(models)))


def opening(models: Sequence[LongformSummary]) -> list[str]:
    """Return the main numbers of the best model as sentences."""
    best, others, key = models[0], models[1:], numbers.main_figure(models)
    sentences = [_asked(models), *([_first(models, key)] if others else [])]
    sentences += _surface_words(best) + _judged_words(best) + _contrasts(best, key)
    results = [result for summary in others if (result := summary.figures.get(key)) and result.value is not None]
    ends = [numbers.shown(key, pick(results, key=lambda result: result.value or 0.0)) for pick in (min, max) if results]
    if ends:
        name = "S" if key == "S" else "share without issues"
        between = ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
        sentences.append(f"The {name} of the other{'s' if len(others) > 1 else ''} is {between}.")
    return sentences


def _first(models: Sequence[LongformSummary], key: str) -> str:
    """Return who is the best, unless what is undecided could change that."""
    best, name = models[0], "S" if key == "S" else "share without issues"
    gave = f", which gave {best.answers - best.missing:,} of its {best.answers:,} answers" if best.missing else ""
    results = [result for summary in models if numbers.is_known(result := summary.figures.get(key))]
    if len(results) < len(models):
        return f"{named(best.model)} is shown first{gave}, but too little could be decided for an order."
    if len(results) > 1 and results[1].value == results[0].value:
        return f"{named(best.model)} is shown first{gave}, but others have the same {name}."
    least = results[0].bounds[0] if results[0].bounds else results[0].value or 0.0
    if all(least >= (result.bounds[1] if result.bounds else result.value or 0.0) for result in results[1:]):
        return f"The best is {named(best.model)}{gave}."
    return f"{named(best.model)} has the highest {name}{gave}, but what is undecided could change the order."


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
    return f"{numbers.shown(key, result)}%" if result and result.value is not None else None


def _surface_words(summary: LongformSummary) -> list[str]:
    wrong, repeats, without = (_known(summary, key) for key in ("wrong language", "repetition", "without issues"))
    parts = [f"{wrong} are in the wrong language"] if wrong else []
    parts += [f"{repeats} repeat themselves"] if repeats else []
    parts += [f"{without} have neither issue"] if without and wrong else []
    if not parts:
        return []
    return [f"Of its answers, {', '.join(parts[:-1])}{' and ' if len(parts) > 1 else ''}{parts[-1]}."]


def _judged_words(summary: LongformSummary) -> list[str]:
    """Facts, relevance and S, as far as they were judged."""
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
        ends = numbers.bounds(result)
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
    kinds = [numbers.everywhere(summary, kind).get(key) for kind in numbers.kinds_of([summary])]
    name = "S" if key == "S" else "The share without issues"
    if len(kinds) == 2 and all(numbers.is_known(result) for result in kinds):
        first, second = (numbers.shown(key, result) for result in kinds)
        words.append(f"{name} is {first} on culturally agnostic and {second} on culturally specific questions.")
    levels = [numbers.within("resources", level)(summary, None).get(key) for level in ("high and mid", "low")]
    if all(numbers.is_known(result) for result in levels):
        high, low = (numbers.shown(key, result) for result in levels)
        words.append(f"{name} is {high} in languages with many or some resources and {low} in those with few.")
    return words


def tags_of(models: Sequence[LongformSummary]) -> set[str]:
    return {tag for summary in models for tag in summary.by.get("language", {})}
