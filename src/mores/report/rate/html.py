"""The page of a study of ratings."""

from __future__ import annotations

from collections.abc import Sequence

from mores.formatting import SIGNIFICANT, count, number, p_equals, span
from mores.rating.folder import RateRun
from mores.rating.records import Annotator, Distribution, LevelCount, RatingStudy, Regression
from mores.rating.regressions import explained
from mores.report.base.blocks import (
    Block,
    Caution,
    Fold,
    Frame,
    Heading,
    Heat,
    Hero,
    Notes,
    Ramp,
    Section,
    Table,
    Text,
    key,
)
from mores.report.base.charts import Chart, Intervals, Part, Row, Stack, Stacks
from mores.report.base.names import group_name
from mores.report.base.page import Page, render, signatures_section
from mores.report.rate.sheets import (
    PREDICTORS,
    agreement_sheet,
    annotators_sheet,
    careless_people,
    coders_sheet,
    codes_sheet,
    counts_sheet,
    differences_sheet,
    effects_sheet,
    explained_sheet,
    kappas_sheet,
    matrix_sheet,
    name_code,
    name_difference,
    name_group,
    pairs_sheet,
    person_head,
    placings_sheet,
    power_sheet,
    ranking_note,
    ratings_sheet,
    spans_sheet,
    spreads_by,
    totals,
    totals_sheet,
)
from mores.report.rate.table import remarks
from mores.types import Result

GOOD_TO_BAD = (2, 5, 4)
"""The colours of three levels."""
FROM_LOW = (4, 5, 7, 0, 2)
"""The colours of a scale of five."""
TITLES = {"language_correct": "Is the answer in the question’s language?", "factuality": "Factual mistakes",
          "omissions": "Omissions"}  # fmt: skip
FITS = {"model": "Models", "type": "Types of questions", "model*type": "Models and types"}


def run_page(run: RateRun) -> str:
    """Return the page of a run."""
    study = run.result
    facts = {
        "Ratings": f"{study.n - study.unrated:,}",
        "Questions": f"{study.questions:,}",
        "Models": f"{len(study.groups.models):,}",
        "Annotators": f"{len(study.groups.annotators):,}",
    }
    languages = [group_name("language", language) for language in study.groups.languages]
    facts |= {"Languages": ", ".join(languages)} if 0 < len(languages) <= 8 else {}
    return render(Page("report", "people’s ratings", study.source, run_sections(run), facts, hero=_hero(study)))


def run_sections(run: RateRun) -> list[Section]:
    """Distributions, aspects, models of the ratings, preferences, agreement, and what to know."""
    study = run.result
    notes = [f"{line[0].upper()}{line[1:]}." for line in remarks(study)]
    return [
        Section("ratings", "Ratings", _ratings(study)),
        Section("aspects", "Language, facts and omissions", _aspects(study), short="Aspects"),
        Section("differences", "What the ratings depend on", _regressions(study), short="Differences"),
        Section("wins", "Which answers people prefer", _ranking(study), short="Wins"),
        Section("agreement", "Agreement", _agreement(study)),
        Section("annotators", "Annotators", _annotators(study)),
        Section("comments", "Comments", _comments(study)),
        Section("notes", "Notes", [Notes(notes)] if notes else []),
        signatures_section([(study.source, run.signature)]),
    ]


def _hero(study: RatingStudy) -> Hero | None:
    best = study.by_mean[0]
    if best.mean.value is None:
        return None
    _, _, tests = study.headline.partition("; ")
    words = f" is rated highest of {len(study.groups.models):,} models." if len(study.groups.models) > 1 else ""
    counts = f"{best.mean.n:,} ratings, {best.mean.unscored:,} answers without one"
    sentence = f"{tests[0].upper()}{tests[1:]}." if tests else ""
    return Hero(number(best.mean.value), span(best.mean.low, best.mean.high), str(best.model), words, counts, sentence)


def _ratings(study: RatingStudy) -> list[Block]:
    if not study.scale:
        return []
    by_model = [Row(str(each.model), each.mean) for each in study.by_mean]
    body: list[Block] = [
        Text(f"On a scale from {study.scale[0]:g} to {study.scale[-1]:g}; 95% intervals over questions."),
        Intervals("Mean rating by model", by_model, "number"),
        *_stacks(study, "Ratings by model", spreads_by(study, "model")),
        *_stacks(study, "Ratings by type of question", spreads_by(study, "type")),
        *_stacks(study, "Ratings by model and type", spreads_by(study, "model", "type")),
        *_stacks(study, "Ratings by language", spreads_by(study, "language")),
    ]
    every = spreads_by(study, "model", "type", "language")
    if every:
        chart = _stacks(study, "Ratings by language, model and type", every)
        body.append(Fold("By language, model and type", [*chart, Table(ratings_sheet(study, every, "Every group"))]))
    whole = [group for cut in ((), ("model",), ("type",), ("language",)) for group in spreads_by(study, *cut)]
    return [*body, Fold("All of it in numbers", [Table(ratings_sheet(study, whole, "Ratings"))])]


def _stacks(study: RatingStudy, title: str, groups: Sequence[Distribution]) -> list[Block]:
    """Bars of the same length, cut by rating; none where the scale is too long for that."""
    if not groups or len(study.scale) > len(FROM_LOW):
        return []
    colours = FROM_LOW if len(study.scale) == len(FROM_LOW) else range(len(study.scale))
    parts = [Part(f"{value:g}", colour, f"{value:g}") for value, colour in zip(study.scale, colours, strict=False)]
    return [_spaced(Stacks(title, [Stack(name_group(group), group.counts) for group in groups], parts))]


def _spaced(chart: Chart) -> Frame:
    """Return a chart with room above it."""
    return Frame([chart], "below")


def _aspects(study: RatingStudy) -> list[Block]:
    body: list[Block] = []
    for aspect in study.levels:
        groups = totals(study, aspect)
        parts = [Part(level, colour) for level, colour in zip(groups[0].counts, GOOD_TO_BAD, strict=True)]
        body.append(_spaced(Stacks(TITLES[aspect], [_level_stack(group) for group in groups], parts)))
        sheets = [totals_sheet(study, aspect), counts_sheet(study, aspect)] if study.groups.languages else []
        body.append(
            Fold("In numbers, by language", [Table(sheet) for sheet in sheets or [totals_sheet(study, aspect)]])
        )
    return body


def _level_stack(group: LevelCount) -> Stack:
    return Stack(name_group(group), list(group.counts.values()))


def _regressions(study: RatingStudy) -> list[Block]:
    if not study.regressions:
        return []
    lead = (
        "Cumulative link mixed models with random intercepts for annotators within languages. A difference of log odds "
        "above 0 means that the first group is rated higher."
    )
    body: list[Block] = [Text(lead)]
    for name, title in FITS.items():
        regression = study.regressions.get(name)
        if regression and not regression.failure:
            body += _forest(regression, f"{title}: differences of log odds")
    if any(r.marginal is not None for r in study.regressions.values()):
        body += [_spaced(_explained(study)), Fold("R² in numbers", [Table(explained_sheet(study))])]
        power = power_sheet(study.regressions[name] for name in FITS if name in study.regressions)
        body += [Fold(power.title, [Table(power)])] if power.rows else []
    return body


def _forest(regression: Regression, title: str) -> list[Block]:
    rows = [
        Row(name_difference(d), Result(name="", value=d.estimate, low=d.low, high=d.high, n=regression.n),
            star=d.p < SIGNIFICANT)
        for d in regression.differences
    ]  # fmt: skip
    sheets = [effects_sheet(regression), differences_sheet(regression)]
    adjusted = f", adjusted after {regression.adjustment.capitalize()}; intervals are not adjusted" * (len(rows) > 1)
    return [
        _spaced(Intervals(title, rows, "number", zero="no difference")),
        key(f"*: p < {SIGNIFICANT:g}{adjusted}."),
        Fold(f"In numbers: {regression.formula}", [Table(sheet) for sheet in sheets]),
    ]


def _explained(study: RatingStudy) -> Intervals:
    rows = [
        Row(PREDICTORS.get(name, name), Result(name=name, value=r.marginal, n=r.n))
        for name, r in explained(study.regressions)
        if r.marginal is not None
    ]
    return Intervals("How much of the ratings each predictor explains (marginal R²)", rows, "number")


def _ranking(study: RatingStudy) -> list[Block]:
    ranking = study.ranking
    if ranking is None:
        return []
    whole = [p for p in ranking.placings if p.type is None]
    rows = [Row(p.model, p.wins) for p in sorted(whole, key=lambda p: -(p.wins.value or 0))]
    note = ranking_note(ranking)
    body: list[Block] = [
        Text(f"{note[0].upper()}{note[1:]}."),
        Intervals("Share of the comparisons that each model wins", rows),
        Heat(matrix_sheet(ranking, study.groups.models)),
        key("The row’s model before the column’s; a tie counts as half.", Ramp("0%", "100%", "both")),
    ]
    for type_ in dict.fromkeys(p.type for p in ranking.placings):
        members = [p for p in ranking.placings if p.type == type_]
        parts = [
            Part(f"place {n + 1}", (2, 0, 5, 4, 7, 1, 3, 6)[n % 8], str(n + 1)) for n in range(len(members[0].places))
        ]
        title = f"Places, {type_} questions" if type_ else "Places"
        body.append(_spaced(Stacks(title, [Stack(p.model, p.places) for p in members], parts)))
    tables = [Table(placings_sheet(ranking)), Table(pairs_sheet(ranking))]
    return [*body, Fold("Wins and places in numbers", tables)]


def _agreement(study: RatingStudy) -> list[Block]:
    agreement = study.agreement
    if agreement is None:
        return []
    body: list[Block] = [Text(f"On {agreement.shared:,} answers that two or more people rated.")]
    body.append(Table(agreement_sheet(agreement)))
    if agreement.pairs:
        body.append(Fold(count(len(agreement.pairs), "pair") + " of annotators", [Table(kappas_sheet(agreement))]))
    if agreement.spans:
        body += [Heading("Marked errors"), Table(spans_sheet(agreement.spans))]
    return body


def _annotators(study: RatingStudy) -> list[Block]:
    annotators = study.annotators
    if annotators is None:
        return []
    body: list[Block] = [Text(f"After what each person rated: {annotators.formula}.")]
    body += [key(f"{note[0].upper()}{note[1:]}.") for note in annotators.notes]
    body += [Caution("Check", f"{line}.") for line in careless_people(annotators)]
    severe = [Row(_person(person), person.severity) for person in annotators.people if person.severity]
    if severe:
        chart = Intervals("Severity: points lower than others on the same answers", severe, "number", zero="as others")
        body += [_spaced(chart), *_tested("nobody is more severe than others", annotators.severity_p)]
    moved = [
        Row(_person(person), person.drift, star=person.drift_p is not None and person.drift_p < SIGNIFICANT)
        for person in annotators.people
        if person.drift
    ]
    if moved:
        title = "Drift: change of the log odds of a higher rating from the first rating to the last"
        body.append(_spaced(Intervals(title, moved, "number", zero="no drift")))
        body.append(key(f"*: p < {SIGNIFICANT:g}, adjusted for the number of people."))
    return [*body, Fold("All of it in numbers", [Table(annotators_sheet(annotators))])]


def _person(person: Annotator) -> str:
    head = person_head(person)
    return f"{head.label} {head.note}".strip()


def _tested(hypothesis: str, p: float | None) -> list[Block]:
    return [] if p is None else [key(f"That {hypothesis}: {p_equals(p)}.")]


def _comments(study: RatingStudy) -> list[Block]:
    body: list[Block] = []
    for coding, title in ((study.comments, "Share of the comments"), (study.reasons, "Share of the reasons for a win")):
        if coding is None:
            continue
        whole = [each for each in coding.counts if (each.model, each.type, each.language) == (None, None, None)]
        rows = [Row(name_code(coding, each.code), each.share) for each in whole]
        body += [_spaced(Intervals(title, rows)), Table(codes_sheet(study, coding, f"{title}, in numbers"))]
        if coding.kappas:
            body.append(Fold("Agreement of coders", [Table(coders_sheet(coding))]))
    return body
