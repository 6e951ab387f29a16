"""The analysis of people's ratings (`mores rate`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mores.formatting import SIGNIFICANT, count, number, p_equals, span
from mores.rating.folder import RateRun
from mores.rating.records import Distribution, GroupDifference, RatingStudy, Regression
from mores.rating.regressions import explained
from mores.report.base.blocks import (
    Caution,
    Fold,
    Frame,
    Heading,
    Hero,
    Notes,
    PageBlock,
    Paragraph,
    Ramp,
    Section,
    key,
)
from mores.report.base.charts import Chart, IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, Heat, make_grid
from mores.report.base.names import group_name
from mores.report.rate import tables as forms
from mores.types import MUCH_MISSING, Result

GOOD_TO_BAD = (2, 5, 4)
"""The colours of three levels."""
FROM_LOW = (4, 5, 7, 0, 2)
"""The colours of a scale of five."""
TITLES = {"language_correct": "Is the answer in the question’s language?", "factuality": "Factual mistakes",
          "omissions": "Omissions"}  # fmt: skip
FITS = {"model": "Models", "type": "Types of questions", "model*type": "Models and types"}


def describe(run: RateRun, by: Sequence[str] = ()) -> ResultDocument:
    """Return distributions, aspects, models of the ratings, preferences, agreement, and what to know."""
    study = run.result_by(by) if by else run.result
    tables, remarks = forms.all_tables(study), list(_remark(study))
    notes = [f"{line[0].upper()}{line[1:]}." for line in remarks]
    languages = [group_name("language", language) for language in study.groups.languages]
    facts = {
        "Ratings": count(study.n - study.unrated),
        "Questions": count(study.questions),
        "Models": count(len(study.groups.models)),
        "Annotators": count(len(study.groups.annotators)),
    }
    return ResultDocument(
        "people’s ratings",
        study.source,
        [*_printed(study, tables), *remarks, study.headline],
        [
            Section("ratings", "Ratings", _ratings(study, tables)),
            *(Section(f"by-{n}", grid.title, [grid]) for n, grid in enumerate(forms.column_tables(study).values())),
            Section("aspects", "Language, facts and omissions", _aspects(study, tables), short="Aspects"),
            Section("differences", "What the ratings depend on", _regressions(study, tables), short="Differences"),
            Section("wins", "Which answers people prefer", _ranking(study, tables), short="Wins"),
            Section("agreement", "Agreement", _agreement(study, tables)),
            Section("annotators", "Annotators", _annotators(study, tables)),
            Section("comments", "Comments", _comments(study, tables)),
            Section("notes", "Notes", [Notes(notes)] if notes else []),
        ],
        opening=_hero(study),
        tables=tables,
        facts=facts | ({"Languages": ", ".join(languages)} if 0 < len(languages) <= 8 else {}),
        signatures=[(study.source, run.signature)],
        look="report",
    )


def _printed(study: RatingStudy, tables: Mapping[str, Grid]) -> Iterator[Grid]:
    """Yield what the terminal shows: single groups, the main models, and lists that are short enough."""
    yield tables["ratings"]
    yield from forms.column_tables(study).values()
    for name in ("ratings-by-model-and-type", *(f"{aspect.replace('_', '-')}-totals" for aspect in study.levels)):
        yield from [tables[name]] if name in tables else []
    for name in ("points-model", "points-type", "points-model-by-type", "variances"):
        yield from [tables[name]] if name in tables else []
    for name, stem in (("model", "model"), ("type", "type"), ("model*type", "model-by-type")):
        if f"fit-{stem}" in tables:
            yield forms.effects_table(study.regressions[name], thresholds=False)
            yield tables[f"differences-{stem}"]
    if study.regressions:
        yield tables["r-squared"]
    for name in ("win-rates", "pairs", "agreement", "kappas", "spans", "annotators", "comments", "coders", "reasons"):
        if name in tables and (name not in ("pairs", "kappas") or len(tables[name].rows) <= forms.MOST):
            yield tables[name]


def _remark(study: RatingStudy) -> Iterator[str]:
    """Yield what a reader must know about the numbers."""
    if study.unrated:
        yield f"{study.unrated:,} of {study.n:,} answers have no rating"
    if not study.scale_is_known and study.scale:
        yield f"the scale is taken to go from {study.scale[0]:g} to {study.scale[-1]:g}, as the ratings do"
    yield from (f"{name}: not analysed, {reason}" for name, reason in study.missing.items())
    yield from (f"{r.formula} could not be fitted: {r.failure}" for r in study.regressions.values() if r.failure)
    if study.points:
        failed = f"{study.points.formula} in points could not be fitted: {study.points.failure}"
        yield failed if study.points.failure else study.points.population
    yield from forms.odds_notes(study)
    yield from forms.careless_people(study.annotators)
    if study.replaced:
        yield f"read as other values: {', '.join(study.replaced)}"
    if study.unread:
        yield f"columns that were not read: {', '.join(study.unread)}"


def _hero(study: RatingStudy) -> list[PageBlock]:
    best = study.by_mean[0]
    if best.mean.value is None:
        return []
    _, _, tests = study.headline.partition("; ")
    words = f" is rated highest of {len(study.groups.models):,} models." if len(study.groups.models) > 1 else ""
    if not study.is_decided:
        words = " has the highest mean, but chance or answers without a rating may explain that."
    elif words and " is rated highest" not in study.headline:
        same = " have the same " in study.headline
        words = " has the same mean as another model." if same else " has the highest mean; no difference is shown."
    counts = f"{best.mean.n:,} ratings, {best.mean.unscored:,} answers without one"
    sentence = f"{tests[0].upper()}{tests[1:]}." if tests else ""
    interval = span(best.mean.low, best.mean.high)
    if best.mean.whole and best.mean.missing > MUCH_MISSING:
        interval = f"{span(*best.mean.whole)} whatever the others are; {interval} if they are like these"
    return [Hero(number(best.mean.value), interval, str(best.model), words, counts, sentence)]


def _ratings(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    if not study.scale:
        return []
    by_model = [IntervalRow(str(each.model), each.mean) for each in study.by_mean]
    about = forms.about_means(study) or "95% intervals over questions"
    body: list[PageBlock] = [
        Paragraph(f"On a scale from {study.scale[0]:g} to {study.scale[-1]:g}; {about}."),
        Intervals("Mean rating by model", by_model, "number"),
        *_stacks(study, "Ratings by model", forms.spreads_by(study, "model")),
        *_stacks(study, "Ratings by type of question", forms.spreads_by(study, "type")),
        *_stacks(study, "Ratings by model and type", forms.spreads_by(study, "model", "type")),
        *_stacks(study, "Ratings by language", forms.spreads_by(study, "language")),
    ]
    every = forms.spreads_by(study, "model", "type", "language")
    if every:
        chart = _stacks(study, "Ratings by language, model and type", every)
        body.append(Fold("By language, model and type", [*chart, tables["ratings-by-language"]]))
    return [*body, Fold("All of it in numbers", [tables["ratings"]])]


def _stacks(study: RatingStudy, title: str, groups: Sequence[Distribution]) -> list[PageBlock]:
    """Return bars of the same length, cut by rating; none where the scale is too long for that."""
    if not groups or len(study.scale) > len(FROM_LOW):
        return []
    colours = FROM_LOW if len(study.scale) == len(FROM_LOW) else range(len(study.scale))
    parts = [StackPart(f"{value:g}", colour, f"{value:g}") for value, colour in zip(study.scale, colours, strict=False)]
    return [_spaced(Stacks(title, [Stack(forms.name_group(group), group.counts) for group in groups], parts))]


def _spaced(chart: Chart) -> Frame:
    """Return a chart with room above it."""
    return Frame([chart], "below")


def _aspects(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    body: list[PageBlock] = []
    for aspect in study.levels:
        groups = forms.totals(study, aspect)
        parts = [StackPart(level, colour) for level, colour in zip(groups[0].counts, GOOD_TO_BAD, strict=True)]
        stacks = [Stack(forms.name_group(group), list(group.counts.values())) for group in groups]
        body.append(_spaced(Stacks(TITLES[aspect], stacks, parts)))
        names = ("totals", "counts") if study.groups.languages else ("totals",)
        body.append(Fold("In numbers, by language", [tables[f"{aspect.replace('_', '-')}-{name}"] for name in names]))
    return body


def _regressions(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    if not study.regressions:
        return []
    body: list[PageBlock] = []
    if study.points and study.points.differences:
        points = study.points
        body.append(Paragraph("Differences in points of the scale, from one linear mixed model of all ratings."))
        for name, found in points.differences.items():
            chart = Intervals(
                f"{FITS[name]}: points", _difference_rows(found, points.n), "number", zero="no difference"
            )
            table = tables[f"points-{name.replace('*', '-by-')}"]
            body += [_spaced(chart), Fold(f"In numbers: {points.formula}", [table])]
        body.append(Fold("Why ratings differ", [tables["variances"]]))
    lead = (
        "Cumulative link mixed models with random intercepts for annotators within languages. A difference of log odds "
        "above 0 means that the first group is rated higher."
    )
    body.append(Paragraph(lead))
    for name, title in FITS.items():
        regression = study.regressions.get(name)
        if regression and not regression.failure:
            body += _forest(regression, f"{title}: differences of log odds", tables, name.replace("*", "-by-"))
    rows = [
        IntervalRow(forms.PREDICTORS.get(name, name), Result(name=name, value=r.marginal, n=r.n))
        for name, r in explained(study.regressions)
        if r.marginal is not None
    ]
    if rows:
        chart = Intervals("How much of the ratings each predictor explains (marginal R²)", rows, "number")
        body += [_spaced(chart), Fold("R² in numbers", [tables["r-squared"]])]
    return body


def _forest(regression: Regression, title: str, tables: Mapping[str, Grid], stem: str) -> list[PageBlock]:
    rows = _difference_rows(regression.differences, regression.n)
    adjusted = f", adjusted after {regression.adjustment.capitalize()}, as are the intervals" * (len(rows) > 1)
    return [
        _spaced(Intervals(title, rows, "number", zero="no difference")),
        key(f"*: p < {SIGNIFICANT:g}{adjusted}."),
        Fold(f"In numbers: {regression.formula}", [tables[f"fit-{stem}"], tables[f"differences-{stem}"]]),
    ]


def _difference_rows(differences: Sequence[GroupDifference], n: int) -> list[IntervalRow]:
    return [
        IntervalRow(
            forms.name_difference(d),
            Result(name="", value=d.estimate, low=d.low, high=d.high, n=n),
            star=d.p < SIGNIFICANT,
        )
        for d in differences
    ]


def _ranking(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    ranking = study.ranking
    if ranking is None:
        return []
    whole = [p for p in ranking.placings if p.type is None]
    rows = [IntervalRow(p.model, p.wins) for p in sorted(whole, key=lambda p: -(p.wins.value or 0))]
    note, models = forms.ranking_note(ranking, study.points is not None), study.groups.models
    body: list[PageBlock] = [
        Paragraph(f"{note[0].upper()}{note[1:]}."),
        Intervals("Share of the comparisons that each model wins", rows),
        make_grid("Wins of the row over the column", ("model", *models), forms.wins_matrix(ranking, models), kind=Heat),
        key("The row’s model before the column’s; a tie counts as half.", Ramp("0%", "100%", "both")),
    ]
    for type_ in dict.fromkeys(p.type for p in ranking.placings):
        members = [p for p in ranking.placings if p.type == type_]
        parts = [
            StackPart(f"place {n + 1}", (2, 0, 5, 4, 7, 1, 3, 6)[n % 8], str(n + 1))
            for n in range(len(members[0].places))
        ]
        title = f"Places, {type_} questions" if type_ else "Places"
        body.append(_spaced(Stacks(title, [Stack(p.model, p.places) for p in members], parts)))
    return [*body, Fold("Wins and places in numbers", [tables["win-rates"], tables["pairs"]])]


def _agreement(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    agreement = study.agreement
    if agreement is None:
        return []
    body: list[PageBlock] = [Paragraph(f"On {agreement.shared:,} answers that two or more people rated.")]
    body.append(tables["agreement"])
    if agreement.pairs:
        body.append(Fold(count(len(agreement.pairs), "pair") + " of annotators", [tables["kappas"]]))
    if agreement.spans:
        body += [Heading("Marked errors"), tables["spans"]]
    return body


def _annotators(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    annotators = study.annotators
    if annotators is None:
        return []
    body: list[PageBlock] = [Paragraph(f"After what each person rated: {annotators.formula}.")]
    body += [key(f"{note[0].upper()}{note[1:]}.") for note in annotators.notes]
    body += [Caution("Check", f"{line}.") for line in forms.careless_people(annotators)]
    severe = [
        IntervalRow(forms.name_person(person).text, person.severity) for person in annotators.people if person.severity
    ]
    if severe:
        p = annotators.severity_p
        tested = [] if p is None else [key(f"That nobody is more severe than others: {p_equals(p)}.")]
        chart = Intervals("Severity: points lower than others on the same answers", severe, "number", zero="as others")
        body += [_spaced(chart), *tested]
    moved = [
        IntervalRow(
            forms.name_person(person).text,
            person.drift,
            star=person.drift_p is not None and person.drift_p < SIGNIFICANT,
        )
        for person in annotators.people
        if person.drift
    ]
    if moved:
        title = "Drift: change of the log odds of a higher rating from the first rating to the last"
        body.append(_spaced(Intervals(title, moved, "number", zero="no drift")))
        body.append(key(f"*: p < {SIGNIFICANT:g}, adjusted for the number of people."))
    return [*body, Fold("All of it in numbers", [tables["annotators"]])]


def _comments(study: RatingStudy, tables: Mapping[str, Grid]) -> list[PageBlock]:
    body: list[PageBlock] = []
    parts = {"comments": (study.comments, "Share of the comments"),
             "reasons": (study.reasons, "Share of the reasons for a win")}  # fmt: skip
    for name, (coding, title) in parts.items():
        if coding is None:
            continue
        whole = [each for each in coding.counts if (each.model, each.type, each.language) == (None, None, None)]
        rows = [IntervalRow(forms.name_code(coding, each.code), each.share) for each in whole]
        body += [_spaced(Intervals(title, rows)), replace(tables[name], title=f"{title}, in numbers")]
        if coding.kappas:
            body.append(Fold("Agreement of coders", [forms.coders_table(coding)]))
    return body
