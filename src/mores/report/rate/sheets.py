"""The tables of a study of ratings, for the terminal, the page and files alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from mores.formatting import NOTHING, SIGNIFICANT, left_out, number, p_equals, p_value, percent, shares, span
from mores.rating.comments import CodeCount, CommentCoding
from mores.rating.records import (
    ASPECTS,
    Annotator,
    Annotators,
    Distribution,
    ErrorSpanAgreement,
    GroupDifference,
    LevelCount,
    Ranking,
    RatingAgreement,
    RatingStudy,
    Regression,
)
from mores.rating.regressions import explained
from mores.report.base.names import group_name
from mores.report.base.sheet import Cell, Head, Sheet
from mores.types import Result

MOST_COUNTS = 11
"""Columns of counts that a table of ratings has room for."""
PREDICTORS = {
    "model": "model",
    "type": "type",
    "model*type": "model × type",
    "language_correct": "correct language",
}
"""What tables call a predictor, where it is not its own name."""


def ratings_sheet(study: RatingStudy, spreads: Iterable[Distribution], title: str) -> Sheet:
    """Mean and counts of some groups."""
    groups = list(spreads)
    counted = len(study.scale) <= MOST_COUNTS
    columns = [Head("mean"), Head("n"), *(Head(f"{value:g}") for value in study.scale if counted)]
    cells = [
        [
            mean_cell(group.mean),
            Cell(f"{group.mean.n:,}", small=left_out(group.mean.unscored)),
            *(Cell(f"{n:,}") for n in group.counts if counted),
        ]
        for group in groups
    ]
    return Sheet(title, [Head(name_group(group)) for group in groups], columns, cells)


def mean_cell(mean: Result) -> Cell:
    return Cell(number(mean.value), small=span(mean.low, mean.high), n=mean.n)


def name_group(group: Distribution | LevelCount) -> str:
    """Return a group in words: `Fijian gpt4turbo specific`, or `all`."""
    language = group_name("language", group.language) if group.language else ""
    return " ".join(filter(None, (language, group.model, group.type))) or "all"


def spreads_by(study: RatingStudy, *columns: str) -> list[Distribution]:
    """Return the groups that are made by these columns."""
    return [
        each
        for each in study.distributions
        if {name for name in ("model", "type", "language") if getattr(each, name) is not None} == set(columns)
    ]


def counts_sheet(study: RatingStudy, aspect: str) -> Sheet:
    """Tables 24 to 26: a row for each language and model, a column for each type and level."""
    counts = {(each.language, each.model, each.type): each for each in study.levels[aspect]}
    levels = list(study.levels[aspect][0].counts)
    types = study.groups.types or (None,)
    rows = [
        (language, model)
        for language, model in product(study.groups.languages or (None,), study.groups.models)
        if any((language, model, type_) in counts for type_ in types)
    ]
    columns = [Head(" ".join(filter(None, (type_, level)))) for type_, level in product(types, levels)]
    cells = [
        [level_cell(counts.get((language, model, type_)), level) for type_, level in product(types, levels)]
        for language, model in rows
    ]
    heads = [Head(model, group_name("language", language) if language else "") for language, model in rows]
    return Sheet(f"{ASPECTS[aspect].capitalize()} by language", heads, columns, cells)


def level_cell(count: LevelCount | None, level: str) -> Cell:
    return Cell(NOTHING) if count is None else Cell(f"{count.counts[level]:,}")


def totals(study: RatingStudy, aspect: str) -> list[LevelCount]:
    """Return the counts of an aspect by model and type, all languages together (Figures 17 to 22)."""
    summed = []
    for model, type_ in product(study.groups.models, study.groups.types or (None,)):
        members = [each for each in study.levels[aspect] if (each.model, each.type) == (model, type_)]
        if members:
            counts = {level: sum(each.counts[level] for each in members) for level in members[0].counts}
            missing = sum(each.missing for each in members)
            summed.append(LevelCount(model=model, type=type_, counts=counts, missing=missing))
    return summed


def totals_sheet(study: RatingStudy, aspect: str) -> Sheet:
    """Return the counts of an aspect by model and type."""
    groups = totals(study, aspect)
    columns = [*(Head(level) for level in groups[0].counts), Head("not given")]
    cells = [[Cell(f"{n:,}") for n in (*group.counts.values(), group.missing)] for group in groups]
    title = {"language_correct": "In the question's language", "factuality": "Factual mistakes"}
    return Sheet(title.get(aspect, aspect.capitalize()), [Head(name_group(g)) for g in groups], columns, cells)


def effects_sheet(regression: Regression, *, thresholds: bool = True) -> Sheet:
    """Tables 17, 19 and 20."""
    columns = [Head(name) for name in ("estimate", "SE", "z", "p")]
    rows = [*regression.effects, *(regression.thresholds if thresholds else ())]
    cells = [
        [Cell(number(e.estimate, 4)), Cell(number(e.se, 4)), Cell(number(e.z, 3)), Cell(p_value(e.p, 4))] for e in rows
    ]
    variances = ", ".join(f"{v.group} {number(v.variance, 4)} (SD {number(v.sd, 4)})" for v in regression.variances)
    notes = [f"variance: {variances}" if variances else "", *regression.notes, f"n = {regression.n:,}"]
    return Sheet(regression.formula, [Head(e.name) for e in rows], columns, cells, "; ".join(filter(None, notes)))


def differences_sheet(regression: Regression, most: int | None = None, *, intervals: bool = True) -> Sheet:
    """Tables 18 and 21; of many differences the first `most`."""
    shown = regression.differences[:most]
    rest = len(regression.differences) - len(shown)
    columns = [Head(name) for name in ("estimate", "SE", "z", "p")]
    cells = [
        [
            Cell(number(d.estimate, 3), small=span(d.low, d.high) if intervals else ""),
            Cell(number(d.se, 3)),
            Cell(number(d.z, 3)),
            Cell(p_value(d.p, 4), star=d.p < SIGNIFICANT),
        ]
        for d in shown
    ]
    family = "" if len(regression.differences) == 1 else f"p adjusted after {regression.adjustment.capitalize()}; "
    note = f"{family}log odds of a higher rating{', with 95% intervals' * intervals}"
    more = f"; {rest:,} more are on the page and in the files" if rest else ""
    title = f"Differences, {regression.formula}"
    return Sheet(title, [Head(name_difference(d)) for d in shown], columns, cells, note + more)


def power_sheet(regressions: Iterable[Regression]) -> Sheet:
    """Return how many more ratings the differences need."""
    shown = [difference for regression in regressions for difference in regression.differences]
    columns = [Head(name) for name in ("p", "power", "more ratings", "detectable")]
    cells = [
        [Cell(p_value(d.p, 4), star=d.p < SIGNIFICANT), Cell(percent(d.power, 0)), Cell(show_more(d)),
         Cell(number(d.detectable))]
        for d in shown
    ]  # fmt: skip
    note = (
        "for a power of 80%, if the true difference is the estimate, and that is often too large: plan for more; "
        "detectable: the least difference of log odds that as many ratings show"
    )
    return Sheet(
        "How many more ratings a difference needs", list(map(Head, map(name_difference, shown))), columns, cells, note
    )


def show_more(difference: GroupDifference) -> str:
    """Return how many more ratings of both groups together."""
    if difference.more is None:
        return "over 1,000,000"
    return f"{sum(difference.more):,}" if any(difference.more) else "none"


def name_difference(difference: GroupDifference) -> str:
    return f"{difference.first_name} − {difference.second_name}"


def explained_sheet(study: RatingStudy) -> Sheet:
    """Table 22."""
    rows = list(explained(study.regressions))
    cells = [[Cell(number(r.conditional, 3)), Cell(number(r.marginal, 3)), Cell(f"{r.n:,}")] for _, r in rows]
    columns = [Head("conditional"), Head("marginal"), Head("n")]
    note = "marginal: by the predictor; conditional: by the predictor and the annotators"
    heads = [Head(PREDICTORS.get(name, name)) for name, _ in rows]
    return Sheet("R² of each predictor of the ratings", heads, columns, cells, note)


def failures(study: RatingStudy) -> list[str]:
    """Return the models that could not be fitted, and why."""
    return [f"{r.formula} could not be fitted: {r.failure}" for r in study.regressions.values() if r.failure]


def placings_sheet(ranking: Ranking) -> Sheet:
    """Win rates and places (Table 23, Figures 23 and 24)."""
    places = len(ranking.placings[0].places)
    columns = [Head("wins"), *(Head(ordinal(place)) for place in range(1, places + 1)), Head("n")]
    cells = [[share_cell(p.wins), *(Cell(f"{n:,}") for n in p.places), Cell(f"{p.wins.n:,}")] for p in ranking.placings]
    heads = [Head(p.model, p.type or "") for p in ranking.placings]
    return Sheet("Win rates and places", heads, columns, cells, ranking_note(ranking))


def ranking_note(ranking: Ranking) -> str:
    """Return where the places are from."""
    origin = "derived from the ratings: answers with the same rating tie" if ranking.derived else "as people ranked"
    left = f"; {ranking.left_out:,} comparisons without a complete ranking" if ranking.left_out else ""
    return f"{ranking.comparisons:,} comparisons, {origin}{left}"


def ordinal(place: int) -> str:
    """`1st`, `2nd`, …"""
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10 if place % 100 not in (11, 12, 13) else 0, 'th') }"


def share_cell(result: Result) -> Cell:
    return Cell(percent(result.value, 0), small=f"({shares(result.low, result.high, 0)})", n=result.n)


def pairs_sheet(ranking: Ranking) -> Sheet:
    """Return every two models."""
    columns = [Head(name) for name in ("wins", "won", "tied", "lost")]
    cells = [[share_cell(p.rate), Cell(f"{p.won:,}"), Cell(f"{p.tied:,}"), Cell(f"{p.lost:,}")] for p in ranking.pairs]
    note = "wins: a tie counts as half"
    return Sheet(
        "Every two models", [Head(f"{p.first} before {p.second}") for p in ranking.pairs], columns, cells, note
    )


def matrix_sheet(ranking: Ranking, models: Sequence[str]) -> Sheet:
    """Return how often the model of the row is before that of the column."""
    rates = {(p.first, p.second): p.rate for p in ranking.pairs}
    cells = []
    for row in models:
        line = []
        for column in models:
            forward, back = rates.get((row, column)), rates.get((column, row))
            result, flipped = forward or back, forward is None
            if result is None or result.value is None:
                line.append(Cell(NOTHING))
                continue
            value = 1 - result.value if flipped else result.value
            hint = f"{row} before {column}: {percent(value)} of {result.n:,} comparisons"
            line.append(Cell(percent(value, 0), 2 * value - 1, hint=hint, n=result.n))
        cells.append(line)
    return Sheet("Wins of the row over the column", [Head(m) for m in models], [Head(m) for m in models], cells)


def agreement_sheet(agreement: RatingAgreement) -> Sheet:
    """Krippendorff's α of each column."""
    cells = [
        [Cell(number(c.alpha.value, 3), small=span(c.alpha.low, c.alpha.high)), Cell(f"{c.alpha.n:,}")]
        for c in agreement.coefficients
    ]
    heads = [Head(ASPECTS.get(c.column, c.column)) for c in agreement.coefficients]
    note = "1 is perfect, 0 is chance; n: answers that two or more people rated"
    return Sheet("Agreement between people", heads, [Head("Krippendorff's α"), Head("n")], cells, note)


def kappas_sheet(agreement: RatingAgreement) -> Sheet:
    """Cohen's κ of every two annotators."""
    cells = [[Cell(number(p.kappa, 3)), Cell(f"{p.n:,}")] for p in agreement.pairs]
    heads = [Head(f"{p.first} and {p.second}") for p in agreement.pairs]
    return Sheet("Every two annotators", heads, [Head("weighted κ"), Head("n")], cells, "Cohen's, quadratic weights")


def spans_sheet(spans: ErrorSpanAgreement) -> Sheet:
    """Return how far people mark the same words."""
    rows = {
        "F1 of characters": (spans.f1, spans.marked),
        "κ of characters": (spans.kappa, spans.marked),
        "Krippendorff's α of characters": (spans.alpha, spans.texts),
        **{f"α of the {label} of marks in one place": (result, result.n) for label, result in spans.labels.items()},
    }
    cells = [
        [Cell(number(result.value, 3), small=span(result.low, result.high)), Cell(f"{n:,}")]
        for result, n in rows.values()
    ]
    note = f"by chance, F1 would be {number(spans.chance, 3)}; α of whole marks is {number(spans.unitizing, 3)}"
    return Sheet("Agreement on marked spans", [Head(name) for name in rows], [Head("value"), Head("n")], cells, note)


def annotators_sheet(annotators: Annotators) -> Sheet:
    """Return how each person rates."""
    columns = [Head(name) for name in ("n", "mean", "severity", "drift", "p of drift", "careless")]
    cells = [
        [
            Cell(f"{person.ratings:,}"),
            Cell(number(person.mean)),
            signed_cell(person.severity),
            signed_cell(person.drift),
            Cell(p_value(person.drift_p)),
            careless_cell(person),
        ]
        for person in annotators.people
    ]
    people = annotators.people
    alone = ", ".join(person.name for person in people if person.confounded)
    notes = [
        *annotators.notes,
        "severity: points lower than others on the same answers" * any(person.severity for person in people),
        "drift: change of the log odds from the first rating to the last" * any(person.drift for person in people),
        "careless: p that somebody who reads looks as bad" * any(person.signs for person in people),
        f"nobody else rated in the language of {alone}: severity cannot be told from it" if alone else "",
    ]
    known = [n for n in range(len(columns)) if any(line[n].text != NOTHING for line in cells)]
    columns, cells = [columns[n] for n in known], [[line[n] for n in known] for line in cells]
    return Sheet("Annotators", list(map(person_head, people)), columns, cells, "; ".join(filter(None, notes)))


def person_head(person: Annotator) -> Head:
    return Head(person.name, group_name("language", person.language) if person.language else "")


def signed_cell(result: Result | None) -> Cell:
    if result is None or result.value is None:
        return Cell(NOTHING)
    return Cell(number(result.value, 2, signed=True), small=span(result.low, result.high, signed=True))


def careless_people(annotators: Annotators | None) -> list[str]:
    """Return who may not read what they rate, and why."""
    return [
        f"{person.name} may be careless ({p_equals(person.careless_p or 0.0)}, adjusted): {'; '.join(person.reasons)}"
        for person in (annotators.people if annotators else ())
        if person.careless
    ]


def careless_cell(person: Annotator) -> Cell:
    reason = person.signs[0].kind if person.careless else ""
    return Cell(p_value(person.careless_p), small=reason, star=person.careless)


def codes_sheet(study: RatingStudy, coding: CommentCoding, title: str) -> Sheet:
    """Return how often comments have each code, in all and by model and type."""
    groups = [("model", name) for name in study.groups.models] + [("type", name) for name in study.groups.types]
    counts = {(each.code, group_of(each)): each for each in coding.counts}
    columns = [Head("share"), Head("all"), *(Head(name) for _, name in groups)]
    cells = [
        [
            code_cell(counts[code, None].share),
            *(count_cell(counts.get((code, group))) for group in (None, *groups)),
        ]
        for code in coding.codes
    ]
    alpha = coding.alpha
    agreement = f"coders agree with α = {number(alpha.value, 3)} {span(alpha.low, alpha.high)}" if alpha else ""
    notes = [f"{coding.comments:,} comments, {coding.coded:,} of them coded by people", agreement]
    heads = [Head(name_code(coding, code)) for code in coding.codes]
    return Sheet(title, heads, columns, cells, "; ".join(filter(None, notes)))


def group_of(count: CodeCount) -> tuple[str, str] | None:
    """Return the group of a count: ("model", "a"), or None for all."""
    groups = [(name, value) for name in ("model", "type", "language") if (value := getattr(count, name)) is not None]
    return groups[0] if groups else None


def name_code(coding: CommentCoding, code: str) -> str:
    return coding.codes[code] or code


def code_cell(share: Result) -> Cell:
    interval = f"({shares(share.low, share.high, 0)})" if share.value is not None else ""
    return Cell(percent(share.value, 0), small=interval, n=share.n)


def count_cell(count: CodeCount | None) -> Cell:
    return Cell(NOTHING) if count is None else Cell(f"{count.count:,}", small=left_out(count.share.unscored))


def coders_sheet(coding: CommentCoding) -> Sheet:
    """Cohen's κ of every two coders on each code."""
    cells = [
        [Cell(number(k.kappa.value, 3), small=span(k.kappa.low, k.kappa.high)), Cell(f"{k.kappa.n:,}")]
        for k in coding.kappas
    ]
    heads = [Head(name_code(coding, k.code), f"{k.first} and {k.second}") for k in coding.kappas]
    return Sheet("Agreement of coders", heads, [Head("κ"), Head("n")], cells)
