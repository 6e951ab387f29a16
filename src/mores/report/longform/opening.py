"""The opening of the page for long answers: the main number, and what it means in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from mores.longform.summary import Summary
from mores.report.base.blocks import Hero
from mores.report.base.names import group_name, isolated
from mores.report.longform import sheets as numbers
from mores.show import count


def hero(models: Sequence[Summary]) -> Hero:
    """The main number of the best model, and everything that it means in plain words."""
    figure = numbers.main_figure(models)
    found = models[0].figures.get(figure)
    ends = numbers.interval(figure, found)
    small = f"{'S' if figure == 'S' else '% without issues'}, 95%: {ends}" if ends else ""
    return Hero(numbers.shown(figure, found), small, opening=" ".join(opening(models)))


def opening(models: Sequence[Summary]) -> list[str]:
    """The main numbers of the best model as sentences."""
    best, others, key = models[0], models[1:], numbers.main_figure(models)
    sentences = [_asked(models), *([_first(models, key)] if others else [])]
    sentences += _surface_words(best) + _judged_words(best) + _contrasts(best, key)
    known = [found for one in others if (found := one.figures.get(key)) and found.value is not None]
    ends = [numbers.shown(key, pick(known, key=lambda one: one.value or 0.0)) for pick in (min, max) if known]
    if ends:
        name = "S" if key == "S" else "share without issues"
        between = ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
        sentences.append(f"The {name} of the other{'s' if len(others) > 1 else ''} is {between}.")
    return sentences


def _first(models: Sequence[Summary], key: str) -> str:
    """Who is the best, unless what is undecided could change that."""
    best, name = models[0], "S" if key == "S" else "share without issues"
    gave = f", which gave {best.answers - best.missing:,} of its {best.answers:,} answers" if best.missing else ""
    known = [found for one in models if numbers.is_known(found := one.figures.get(key))]
    if len(known) < len(models):
        return f"{named(best.model)} is shown first{gave}, but too little could be decided for an order."
    if len(known) > 1 and known[1].value == known[0].value:
        return f"{named(best.model)} is shown first{gave}, but others have the same {name}."
    least = known[0].bounds[0] if known[0].bounds else known[0].value or 0.0
    if all(least >= (found.bounds[1] if found.bounds else found.value or 0.0) for found in known[1:]):
        return f"The best is {named(best.model)}{gave}."
    return f"{named(best.model)} has the highest {name}{gave}, but what is undecided could change the order."


def named(model: str) -> str:
    """A model's name in a sentence."""
    return isolated(model or "the model without a name")


def _asked(models: Sequence[Summary]) -> str:
    answers, missing, languages = sum(m.answers for m in models), sum(m.missing for m in models), tags_of(models)
    who = f"{len(models):,} models were" if len(models) > 1 else f"{named(models[0].model)} was"
    where = group_name("language", *languages) if len(languages) == 1 else f"{len(languages):,} languages"
    failed = f", and failed to give {missing:,} of them" if missing else ""
    return f"{who} asked for {count(answers, 'long answer')} in {where}{failed}."


def _known(one: Summary, key: str) -> str | None:
    found = one.figures.get(key)
    return f"{numbers.shown(key, found)}%" if found and found.value is not None else None


def _surface_words(one: Summary) -> list[str]:
    wrong, repeats, without = (_known(one, key) for key in ("wrong language", "repetition", "without issues"))
    parts = [f"{wrong} are in the wrong language"] if wrong else []
    parts += [f"{repeats} repeat themselves"] if repeats else []
    parts += [f"{without} have neither issue"] if without and wrong else []
    if not parts:
        return []
    return [f"Of its answers, {', '.join(parts[:-1])}{' and ' if len(parts) > 1 else ''}{parts[-1]}."]


def _judged_words(one: Summary) -> list[str]:
    """Facts, relevance and S, as far as they were judged."""
    precision, relevance, overall = (_known(one, key) for key in ("precision", "relevance", "S"))
    words = []
    if precision:
        words.append(f"Of the claims in an answer, {precision} are supported by what a search found, on average.")
    if relevance:
        words.append(f"{relevance} of the judged answers are relevant to their question.")
    if overall:
        made = "the product of being without issues, factual precision and relevance"
        words.append(f"The overall score S, {made}, is {overall.removesuffix('%')} of 100.")
    elif found := one.figures.get("S"):
        ends = numbers.bounds(found)
        words.append(f"Too little could be judged for an overall score S{f'; it is within {ends}' if ends else ''}.")
    else:
        words.append("Facts and relevance were not both judged, so there is no overall score.")
    if one.undecided:
        claims = f"{one.undecided:,} of {count(one.claims, 'claim')}"
        words.append(f"{claims} could not be decided and {'is' if one.undecided == 1 else 'are'} in no figure.")
    return words


def _contrasts(one: Summary, key: str) -> list[str]:
    """The main figure by kind of question and level of resources."""
    words = []
    kinds = [numbers.everywhere(one, kind).get(key) for kind in numbers.kinds_of([one])]
    name = "S" if key == "S" else "The share without issues"
    if len(kinds) == 2 and all(numbers.is_known(found) for found in kinds):
        first, second = (numbers.shown(key, found) for found in kinds)
        words.append(f"{name} is {first} on culturally agnostic and {second} on culturally specific questions.")
    levels = [numbers.within("resources", level)(one, None).get(key) for level in ("high and mid", "low")]
    if all(numbers.is_known(found) for found in levels):
        high, low = (numbers.shown(key, found) for found in levels)
        words.append(f"{name} is {high} in languages with many or some resources and {low} in those with few.")
    return words


def tags_of(models: Sequence[Summary]) -> set[str]:
    return {tag for one in models for tag in one.by.get("language", {})}
