"""The tables of a study of ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from mores.formatting import NOTHING, SIGNIFICANT, count, number, p_equals, p_value, percent, shares, span
from mores.metric.groups import FEWEST
from mores.rating.agreement import FEWEST as FEWEST_RATERS
from mores.rating.comments import CodeCount, CommentCoding
from mores.rating.records import (
    ASPECTS,
    Annotator,
    Annotators,
    Distribution,
    ErrorSpanAgreement,
    GroupDifference,
    LevelCount,
    Points,
    ProportionalOdds,
    Ranking,
    RatingAgreement,
    RatingStudy,
    Regression,
)
from mores.rating.regressions import explained
from mores.report.base.grid import UNADJUSTED, Cell, Grid, Head, Row, count_cell, make_grid, number_cell
from mores.report.base.names import group_name
from mores.stats.intervals import Z95
from mores.types import Result

MOST = 15
"""Differences, pairs and groups that are printed; files and page have all."""
MOST_COUNTS = 11
"""Columns of counts that a table of ratings has room for."""
PREDICTORS = {
    "model": "model",
    "type": "type",
    "model*type": "model × type",
    "language_correct": "correct language",
}
"""What tables call a predictor, where it is not its own name."""
GROUPS = {
    "annotator": "raters",
    "question": "questions",
    "answer": "answers to the same question",
    "annotator:model": "raters' views of models",
    "annotator:type": "raters' views of types",
    "residual": "one rating and another",
}
"""What a random effect is, in words."""


def all_tables(study: RatingStudy) -> dict[str, Grid]:
    """Return every table by the name of its file."""
    single = [group for cut in ((), ("model",), ("type",), ("language",)) for group in spreads_by(study, *cut)]
    both, every = spreads_by(study, "model", "type"), spreads_by(study, "model", "type", "language")
    tables = {"ratings": ratings_table(study, single, "Ratings")}
    tables |= {"ratings-by-model-and-type": ratings_table(study, both, "Ratings by model and type")} if both else {}
    tables |= {"ratings-by-language": ratings_table(study, every, "Every group")} if every else {}
    tables |= column_tables(study)
    for aspect in study.levels:
        name = aspect.replace("_", "-")
        tables |= {f"{name}-totals": totals_table(study, aspect), f"{name}-counts": counts_table(study, aspect)}
    for name, regression in study.regressions.items():
        if not regression.failure:
            stem = name.replace("*", "-by-").replace("_", "-")
            tables |= {f"fit-{stem}": effects_table(regression), f"differences-{stem}": differences_table(regression)}
    if study.regressions:
        tables["r-squared"] = explained_table(study)
    tables |= points_tables(study.points) if study.points and not study.points.failure else {}
    crossed = study.points is not None
    if study.ranking:
        tables |= {"win-rates": placings_table(study.ranking, crossed), "pairs": pairs_table(study.ranking, crossed)}
    if study.agreement:
        tables |= {"agreement": agreement_table(study.agreement, crossed)}
        tables |= {"kappas": kappas_table(study.agreement)}
        tables |= {"spans": spans_table(study.agreement.spans)} if study.agreement.spans else {}
    if study.annotators:
        tables["annotators"] = annotators_table(study.annotators)
    if study.comments:
        tables["comments"] = codes_table(study, study.comments, "Comments")
        tables |= {"coders": coders_table(study.comments)} if study.comments.kappas else {}
    if study.reasons:
        tables["reasons"] = codes_table(study, study.reasons, "Reasons for first places")
    return tables


# ---- ratings and aspects ---------------------------------------------------------------------------------------


def ratings_table(study: RatingStudy, groups: Iterable[Distribution], title: str) -> Grid:
    """Return mean and counts of some groups."""
    counted = len(study.scale) <= MOST_COUNTS
    rows = []
    for group in groups:
        counts = (count_cell(group.mean.n, group.mean.unscored), *(group.counts if counted else ()))
        rows.append((name_group(group), number_cell(group.mean), *counts))
    columns = ("group", "mean", "n", *(f"{value:g}" for value in study.scale if counted))
    return make_grid(title, columns, rows, about_means(study))


def about_means(study: RatingStudy) -> str:
    """Return the population that intervals of means are about."""
    return (study.points.population or "95% intervals are about other questions") if study.points else ""


def column_tables(study: RatingStudy) -> dict[str, Grid]:
    """Return the ratings by each column that was asked for, and how models differ in its groups."""
    tables = {}
    for place, (column, groups) in enumerate(study.by.items()):
        rows = [
            (
                group_name(column, value),
                each.model or "all",
                number_cell(each.mean),
                count_cell(each.mean.n, each.mean.unscored),
            )
            for value, found in groups.items()
            for each in found
        ]
        tables[f"ratings-by-{place}"] = make_grid(
            f"Ratings by {column}", (column, "model", "mean", "n"), rows, about_means(study)
        )
        if compared := study.points_by.get(column):
            tables[f"differences-by-{place}"] = compare_in_groups(column, compared)
    return tables


def compare_in_groups(column: str, compared: Mapping[str, Points]) -> Grid:
    """Return how models differ in the groups of a column."""
    rows = [
        (
            group_name(column, value),
            name_difference(d),
            Cell(number(d.estimate, signed=True), small=span(d.low, d.high)),
            Cell(p_value(d.p, 4), star=d.p < SIGNIFICANT),
        )
        for value, points in compared.items()
        for d in points.differences["model"]
    ]
    about = "; ".join(dict.fromkeys(points.population for points in compared.values()))
    note = f"groups of {FEWEST} questions and more; intervals and p adjusted within a group after Tukey; {about}"
    return make_grid(f"Differences of models by {column}", (column, "difference", "points", "p"), rows, note, most=MOST)


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


def counts_table(study: RatingStudy, aspect: str) -> Grid:
    """Return Tables 24 to 26: a row for each language and model, a column for each type and level."""
    counts = {(each.language, each.model, each.type): each.counts for each in study.levels[aspect]}
    types = study.groups.types or (None,)
    columns = list(product(types, study.levels[aspect][0].counts))
    rows: list[Row] = []
    for language, model in product(study.groups.languages or (None,), study.groups.models):
        if any((language, model, type_) in counts for type_ in types):
            cells = (counts.get((language, model, type_), {}).get(level) for type_, level in columns)
            rows.append((Head(model, group_name("language", language) if language else ""), *cells))
    names = (" ".join(filter(None, column)) for column in columns)
    return make_grid(f"{ASPECTS[aspect].capitalize()} by language", ("group", *names), rows)


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


def totals_table(study: RatingStudy, aspect: str) -> Grid:
    """Return the counts of an aspect by model and type."""
    groups = totals(study, aspect)
    rows = [(name_group(group), *group.counts.values(), group.missing) for group in groups]
    title = {"language_correct": "In the question's language", "factuality": "Factual mistakes"}
    return make_grid(title.get(aspect, aspect.capitalize()), ("group", *groups[0].counts, "not given"), rows)


# ---- models of the ratings -------------------------------------------------------------------------------------


def effects_table(regression: Regression, *, thresholds: bool = True) -> Grid:
    """Return Tables 17, 19 and 20."""
    rows = [
        (e.name, number(e.estimate, 4), number(e.se, 4), number(e.z, 3), p_value(e.p, 4))
        for e in (*regression.effects, *(regression.thresholds if thresholds else ()))
    ]
    variances = ", ".join(f"{v.group} {number(v.variance, 4)} (SD {number(v.sd, 4)})" for v in regression.variances)
    students = any(d.df is not None for d in regression.differences)
    alone = "p: of z (Wald), of one effect alone; the differences allow for few raters" if students else ""
    notes = [f"variance: {variances}" if variances else "", alone, *regression.notes, f"n = {regression.n:,}"]
    columns = ("effect", "estimate", "SE", "z", "p")
    return make_grid(regression.formula, columns, rows, "; ".join(filter(None, notes)))


def differences_table(regression: Regression) -> Grid:
    """Return Tables 18 and 21."""
    students = any(d.df is not None for d in regression.differences)
    rows = [
        (
            name_difference(d),
            Cell(number(d.estimate, 3), small=span(d.low, d.high)),
            number(d.se, 3),
            number(d.z, 3),
            *(("∞" if d.df is None else number(d.df, 0),) if students else ()),
            Cell(p_value(d.p, 4), star=d.p < SIGNIFICANT),
        )
        for d in regression.differences
    ]
    # Intervals that 0.2.0 wrote are Wald's, not adjusted.
    plain = any(abs(d.high - d.low - 2 * Z95 * d.se) < 1e-9 * d.se for d in regression.differences)
    adjusted, many = regression.adjustment.capitalize(), len(rows) > 1
    family = f"{'p' if plain else 'intervals and p'} adjusted after {adjusted}; " if many else ""
    interval = "95% interval" if not many else UNADJUSTED if plain else f"95% interval ({adjusted})"
    paper = f"estimate [{interval}]", f"p ({adjusted})" if many else ""
    tested = ("t", "df") if students else ("z",)
    columns = ("difference", Head("estimate", bare=True, paper=paper[0]), "SE", *tested, Head("p", paper=paper[1]))
    title, note = f"Differences, {regression.formula}", f"{family}log odds of a higher rating"
    note += "; df: those of the same difference in points" if students else ""
    return make_grid(title, columns, rows, note, most=MOST)


def points_tables(points: Points) -> dict[str, Grid]:
    """Return the differences in points of each factor, and where the spread comes from."""
    stems = {factor: factor.replace("*", "-by-") for factor in points.differences}
    tables = {f"points-{stem}": points_table(points, factor) for factor, stem in stems.items()}
    return tables | {"variances": variances_table(points)}


def points_table(points: Points, factor: str) -> Grid:
    """Return the differences of a factor in points of the scale."""
    rows = [
        (
            name_difference(d),
            Cell(number(d.estimate, signed=True), small=span(d.low, d.high)),
            number(d.se),
            "∞" if d.df is None else number(d.df, 0),
            Cell(p_value(d.p, 4), star=d.p < SIGNIFICANT),
            number(d.size, signed=True),
        )
        for d in points.differences[factor]
    ]
    family = "" if len(rows) == 1 else "intervals and p adjusted together after Tukey; "
    columns = ("difference", "points", "SE", "df", "p", "d")
    title = f"Differences in points, {points.formula}"
    note = f"{family}d: in standard deviations of a rating; {points.population}"
    return make_grid(title, columns, rows, note, most=MOST)


def variances_table(points: Points) -> Grid:
    """Return where the spread of the ratings comes from."""
    total = sum(variance.variance for variance in points.variances)
    rows = [
        (GROUPS.get(v.group, v.group), percent(v.variance / total, 0), number(v.sd), v.levels) for v in points.variances
    ]
    note = "; ".join(("shares of the variance beside the fixed effects; SD in points", *points.notes))
    return make_grid("Why ratings differ", ("group", "share", "SD", "levels"), rows, note)


def odds_notes(study: RatingStudy) -> list[str]:
    """Return where a model of log odds does not hold, and what to read instead."""
    return [
        f"{r.formula}: the odds are not proportional ({p_equals(r.odds.p)}): an effect is not the same at every "
        f"threshold ({_by_threshold(r.odds)}); read the differences in points, which do not assume it"
        for r in study.regressions.values()
        if r.odds and r.odds.p < SIGNIFICANT
    ]


def _by_threshold(odds: ProportionalOdds) -> str:
    """Return the log odds of the first effects at each threshold."""
    some = list(odds.by_threshold.items())[:2]
    return "; ".join(f"{name} {', '.join(number(value, signed=True) for value in values)}" for name, values in some)


def name_difference(difference: GroupDifference) -> str:
    """Return `first − second`."""
    return f"{difference.first_name} − {difference.second_name}"


def explained_table(study: RatingStudy) -> Grid:
    """Return Table 22."""
    rows = [
        (PREDICTORS.get(name, name), number(r.conditional, 3), number(r.marginal, 3), r.n)
        for name, r in explained(study.regressions)
    ]
    note = "marginal: by the predictor; conditional: by the predictor and the annotators"
    return make_grid("R² of each predictor of the ratings", ("group", "conditional", "marginal", "n"), rows, note)


# ---- wins ------------------------------------------------------------------------------------------------------


def placings_table(ranking: Ranking, crossed: bool) -> Grid:
    """Return win rates and places (Table 23, Figures 23 and 24)."""
    rows = [(Head(p.model, p.type or ""), _share(p.wins), *p.places, p.wins.n) for p in ranking.placings]
    columns = ("group", "wins", *map(_ordinal, range(1, len(ranking.placings[0].places) + 1)), "n")
    return make_grid("Win rates and places", columns, rows, ranking_note(ranking, crossed))


def ranking_note(ranking: Ranking, crossed: bool) -> str:
    """Return where the places are from."""
    origin = "derived from the ratings: answers with the same rating tie" if ranking.derived else "as people ranked"
    left = f"; {count(ranking.left_out, 'comparison')} without a complete ranking" if ranking.left_out else ""
    return f"{count(ranking.comparisons, 'comparison')}, {origin}{left}{about_wins(ranking, crossed)}"


def about_wins(ranking: Ranking, crossed: bool) -> str:
    """Return the population that intervals of win rates are about, where ratings have a model in points."""
    return f"; 95% intervals are about other {'raters and ' * ranking.over_raters}questions" * crossed


def _ordinal(place: int) -> str:
    """Return `1st`, `2nd`, …"""
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10 if place % 100 not in (11, 12, 13) else 0, 'th') }"


def _share(result: Result) -> Cell:
    interval = f"({shares(result.low, result.high, 0)})" if result.value is not None else ""
    return Cell(percent(result.value, 0), small=interval, n=result.n)


def pairs_table(ranking: Ranking, crossed: bool) -> Grid:
    """Return every two models."""
    rows = [(f"{p.first} before {p.second}", _share(p.rate), p.won, p.tied, p.lost) for p in ranking.pairs]
    note = f"wins: a tie counts as half{about_wins(ranking, crossed)}"
    return make_grid("Every two models", ("group", "wins", "won", "tied", "lost"), rows, note)


def wins_matrix(ranking: Ranking, models: Sequence[str]) -> list[Row]:
    """Return how often the model of the row is before that of the column."""
    rates = {(p.first, p.second): p.rate for p in ranking.pairs}

    def cell(row: str, column: str) -> Cell:
        forward, back = rates.get((row, column)), rates.get((column, row))
        result = forward or back
        if result is None or result.value is None:
            return Cell(NOTHING)
        value = 1 - result.value if forward is None else result.value
        hint = f"{row} before {column}: {percent(value)} of {result.n:,} comparisons"
        return Cell(percent(value, 0), 2 * value - 1, hint=hint, n=result.n)

    return [(row, *(cell(row, column) for column in models)) for row in models]


# ---- people ----------------------------------------------------------------------------------------------------


def _alpha(result: Result) -> Cell:
    return Cell(number(result.value, 3), small=span(result.low, result.high))


def agreement_table(agreement: RatingAgreement, crossed: bool) -> Grid:
    """Return Krippendorff's α of each column."""
    people = {name for pair in agreement.pairs for name in (pair.first, pair.second)}
    over = f"; 95% intervals are about other {'raters and ' * (len(people) >= FEWEST_RATERS)}answers" * crossed
    rows = [(ASPECTS.get(c.column, c.column), _alpha(c.alpha), c.alpha.n) for c in agreement.coefficients]
    note = f"1 is perfect, 0 is chance; n: answers that two or more people rated{over}"
    return make_grid("Agreement between people", ("group", "Krippendorff's α", "n"), rows, note)


def kappas_table(agreement: RatingAgreement) -> Grid:
    """Return Cohen's κ of every two annotators."""
    rows = [(f"{p.first} and {p.second}", number(p.kappa, 3), p.n) for p in agreement.pairs]
    return make_grid("Every two annotators", ("group", "weighted κ", "n"), rows, "Cohen's, quadratic weights")


def spans_table(spans: ErrorSpanAgreement) -> Grid:
    """Return how far people mark the same words."""
    rows = [
        ("F1 of characters", _alpha(spans.f1), spans.marked),
        ("κ of characters", _alpha(spans.kappa), spans.marked),
        ("Krippendorff's α of characters", _alpha(spans.alpha), spans.texts),
        *([("α weighted by severity", _alpha(spans.severity), spans.texts)] if spans.severity else []),
        *([("γ of marks with their labels", _alpha(spans.gamma), spans.marked)] if spans.gamma else []),
        *((f"α of the {label} of marks in one place", _alpha(each), each.n) for label, each in spans.labels.items()),
    ]
    note = f"by chance, F1 would be {number(spans.chance, 3)}; α of whole marks is {number(spans.unitizing, 3)}"
    note += "; intervals are about other raters and answers" if spans.over_raters else ""
    return make_grid("Agreement on marked spans", ("group", "value", "n"), rows, note)


def annotators_table(annotators: Annotators) -> Grid:
    """Return how each person rates; columns that nobody has a value for are left out."""
    people = annotators.people
    rows: list[tuple[Head | Cell, ...]] = []
    for person in people:
        reason = person.signs[0].kind if person.careless else ""
        severity, drift = (
            number_cell(result, signed=True)._replace(value=None) for result in (person.severity, person.drift)
        )
        careless = Cell(p_value(person.careless_p), small=reason, star=person.careless)
        drift_p = Cell(p_value(person.drift_p))
        rows.append(
            (
                name_person(person),
                count_cell(person.ratings),
                Cell(number(person.mean)),
                severity,
                drift,
                drift_p,
                careless,
            )
        )
    alone = ", ".join(person.name for person in people if person.confounded)
    notes = [
        *annotators.notes,
        "severity: points lower than others on the same answers" * any(person.severity for person in people),
        "drift: change of the log odds from the first rating to the last" * any(person.drift for person in people),
        "careless: p that somebody who reads looks as bad" * any(person.signs for person in people),
        describe_power(people),
        f"nobody else rated in the language of {alone}: severity cannot be told from it" if alone else "",
    ]
    columns = ("group", "n", "mean", "severity", "drift", "p of drift", "careless")
    known = [n for n in range(len(columns)) if not n or any(row[n][0] != NOTHING for row in rows)]
    shown = [[row[n] for n in known] for row in rows]
    return make_grid("Annotators", [columns[n] for n in known], shown, "; ".join(filter(None, notes)))


def describe_power(people: Sequence[Annotator]) -> str:
    """Return how often carelessness is found and wrongly seen; empty where that is not known."""
    known = [person.careless_power for person in people if person.careless_power is not None]
    if not known:
        return ""
    ends = dict.fromkeys(percent(power, 0) for power in (min(known), max(known)))
    found = f"somebody who answers at random would be found in {' to '.join(ends)} of such studies"
    return f"{found}; of studies with careful people alone, at most 5% flag anybody"


def name_person(person: Annotator) -> Head:
    """Return who somebody is: their name and language."""
    return Head(person.name, group_name("language", person.language) if person.language else "")


def careless_people(annotators: Annotators | None) -> list[str]:
    """Return who may not read what they rate, and why."""
    return [
        f"{person.name} may be careless ({p_equals(person.careless_p or 0.0)}, adjusted): {'; '.join(person.reasons)}"
        + ("" if person.careless_power is None else f"; {describe_power([person])}")
        for person in (annotators.people if annotators else ())
        if person.careless
    ]


# ---- comments --------------------------------------------------------------------------------------------------


def codes_table(study: RatingStudy, coding: CommentCoding, title: str) -> Grid:
    """Return how often comments have each code, in all and by model and type."""
    groups = [("model", name) for name in study.groups.models] + [("type", name) for name in study.groups.types]
    counts = {(each.code, _group(each)): each for each in coding.counts}
    rows: list[Row] = []
    for code in coding.codes:
        members = [counts.get((code, group)) for group in (None, *groups)]
        cells = (count_cell(each.count, each.share.unscored) if each else None for each in members)
        rows.append((name_code(coding, code), _share(counts[code, None].share), *cells))
    alpha = coding.alpha
    agreement = f"coders agree with α = {number(alpha.value, 3)} {span(alpha.low, alpha.high)}" if alpha else ""
    notes = [f"{coding.comments:,} comments, {coding.coded:,} of them coded by people", agreement]
    columns = ("group", "share", "all", *(name for _, name in groups))
    return make_grid(title, columns, rows, "; ".join(filter(None, notes)))


def _group(count: CodeCount) -> tuple[str, str] | None:
    """Return the group of a count: ("model", "a"), or None for all."""
    groups = [(name, value) for name in ("model", "type", "language") if (value := getattr(count, name)) is not None]
    return groups[0] if groups else None


def name_code(coding: CommentCoding, code: str) -> str:
    """Return what a code is called."""
    return coding.codes[code] or code


def coders_table(coding: CommentCoding) -> Grid:
    """Return Cohen's κ of every two coders on each code."""
    rows = [
        (Head(name_code(coding, k.code), f"{k.first} and {k.second}"), _alpha(k.kappa), k.kappa.n)
        for k in coding.kappas
    ]
    return make_grid("Agreement of coders", ("group", "κ", "n"), rows)
