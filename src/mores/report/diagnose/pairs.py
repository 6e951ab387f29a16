"""The parts of the page that compare runs: retrieval, native against English, locality, and item response models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from mores.benchmark.benchmark import Label
from mores.diagnosis import contamination, locality, retrieval, scale, translation
from mores.diagnosis.change import Matrix, RunChange, Uncertain
from mores.diagnosis.contamination import Contamination
from mores.diagnosis.evidence import NAMES
from mores.diagnosis.locality import LEAST, Local, Locality, LocalityProfile, LocalityShift, Rank
from mores.diagnosis.retrieval import Fault, RetrievalCase, RetrievalResult
from mores.diagnosis.scale import ItemScale
from mores.diagnosis.translation import QuestionVersion, TranslationCase, TranslationResult
from mores.formatting import NOTHING, SIGNIFICANT, name_failure, p_value, percent, points, to
from mores.report.base.blocks import Fold, Frame, Heading, PageBlock, key
from mores.report.base.charts import IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.grid import Cell, Head, Heat, make_grid, number_cell
from mores.report.base.names import group_name
from mores.report.bench.findings import finding_blocks
from mores.report.diagnose import items, tables
from mores.types import Result

FAULTS = {Fault.NOT_FOUND: 7, Fault.NOT_USED: 1, Fault.USED_WRONGLY: 4, Fault.UNDECIDED: 5}
"""The colour of each fault."""
OPEN, PROFILES = 2, 24
"""Profiles that are visible at once, and that are drawn at all; the others are only in the table."""
STAR = "* unlikely to be chance (p < 0.05, adjusted for the number of groups); without it, a difference may be chance."


# ---- two runs --------------------------------------------------------------------------------------------------


def _matrix(matrix: Matrix, names: tuple[str, str]) -> Frame:
    """Return questions by whether they are correct in each run; blue is gained, orange is lost."""
    total = matrix.both + matrix.first + matrix.second + matrix.neither

    def cell(count: int, side: int) -> Cell:
        share = count / total if total else 0.0
        return Cell(
            f"{count:,}", side * max(0.3, min(1.0, 2 * share)) if side and count else None, percent(share), n=total
        )

    rows = [
        (f"correct {names[0]}", cell(matrix.both, 0), cell(matrix.first, -1)),
        (f"wrong {names[0]}", cell(matrix.second, 1), cell(matrix.neither, 0)),
    ]
    title, columns = "Correct and wrong questions", ("questions", f"correct {names[1]}", f"wrong {names[1]}")
    return Frame([Heading(title, level=4), make_grid(title, columns, rows, kind=Heat)], "matrix")


def _change_rows(by: Mapping[str, RunChange], grouping: str) -> list[IntervalRow]:
    shown = items.largest({group: change.gain.n for group, change in by.items()})
    rows = [(by[group], group_name(grouping, group)) for group in shown]
    return [
        IntervalRow(name, change.gain, f"n {change.gain.n:,}", star=_significant(change.adjusted))
        for change, name in rows
    ]


def _significant(p: float | None) -> bool:
    return p is not None and p < SIGNIFICANT


def _gains(
    change: RunChange, by: Mapping[str, Mapping[str, RunChange]], title: str, more: Mapping[str, Sequence[PageBlock]]
) -> list[PageBlock]:
    """Return the change by group, with the blocks of `more`: language at once, the other groupings folded."""
    overall = IntervalRow("All questions", change.gain, f"n {change.gain.n:,}", star=_significant(change.p))
    shown = items.groupings(name for name, groups in by.items() if len(groups) > 1)
    first = shown[0] if shown and shown[0] == "language" else ""
    rows = [overall, *(_change_rows(by[first], first) if first else ())]
    body: list[PageBlock] = [_changes(rows, f"{title}, by {first}" if first else title), key(STAR)]
    body += [*items.more_groups(len(by[first])), *more.get(first, ())] if first else []
    for name in shown:
        groups = items.largest({group: change.gain.n for group, change in by[name].items()})
        details: list[PageBlock] = [tables.change_by(by[name], name, groups), *items.more_groups(len(by[name]))]
        if name != first:
            rows = [overall, *_change_rows(by[name], name)]
            details = [_changes(rows, f"{title}, by {name}"), *more.get(name, ()), *details]
        body.append(Fold(f"By {name}: all numbers" if name == first else f"By {name}", details))
    return body


def _changes(rows: Sequence[IntervalRow], title: str) -> Intervals:
    return Intervals(title, rows, "points", zero="no change")


def _chance(change: RunChange) -> str:
    return f"Change: p {p_value(change.p)} (permutation test), p {p_value(change.mcnemar)} (McNemar’s test)."


def _uncertain(uncertain: Uncertain) -> PageBlock:
    declined = {f"declined {name}": n for name, n in uncertain.declined.items()}
    return items.unused(
        declined | {f"tie {name}: half correct": n for name, n in uncertain.ties.items()}, "Counted as not correct"
    )


# ---- retrieval -------------------------------------------------------------------------------------------------


def retrieval_part(result: RetrievalResult, limit: int) -> list[PageBlock]:
    """Return what evidence changes, and what goes wrong with it."""
    more = {
        name: _fault_bars(result, name) + _found_dots(result, name) for name in result.by if len(result.by[name]) > 1
    }
    return [
        items.paragraph(retrieval.paragraph(result)),
        Frame([_matrix(result.change.matrix, NAMES), *_fault_bars(result, "")]),
        tables.change_figures(result),
        key(f"{_chance(result.change)} Search: {result.search}. Popularity: {result.popularity}."),
        tables.fault_figures(result),
        *_gains(result.change, result.by, "Change with evidence", more),
        *_retrieval_unused(result),
        *items.notes(result.notes),
        *_fault_items(result, limit),
    ]


def _fault_bars(result: RetrievalResult, grouping: str) -> list[PageBlock]:
    overall = {"All questions": {name: round((share.value or 0.0) * share.n) for name, share in result.faults.items()}}
    groups = result.faults_by.get(grouping, {}) if grouping else overall
    shown = items.largest({group: sum(counts.values()) for group, counts in groups.items()})
    stacks = [Stack(group_name(grouping, g), [groups[g].get(fault.value, 0) for fault in FAULTS]) for g in shown]
    by = f", by {grouping}" if grouping else ""
    parts = [StackPart(fault.value, colour) for fault, colour in FAULTS.items()]
    charts = [Stacks(f"Why questions are wrong with evidence{by}", stacks, parts), *items.more_groups(len(groups))]
    return charts if any(sum(stack.counts) for stack in stacks) else []


def _found_dots(result: RetrievalResult, grouping: str) -> list[PageBlock]:
    groups = result.found_by.get(grouping, {})
    shown = items.largest({group: share.n for group, share in groups.items()})
    rows = [IntervalRow(group_name(grouping, group), groups[group], f"n {groups[group].n:,}") for group in shown]
    title = f"Questions whose results have the answer, by {grouping}"
    return [Frame([Intervals(title, rows)], "below")] if rows else []


def _retrieval_unused(result: RetrievalResult) -> list[PageBlock]:
    failed = {f"the judge failed: {name_failure(kind)}": n for kind, n in result.judged.items() if kind != "given"}
    blocks = [items.unused(result.left_out), _uncertain(result.uncertain)]
    if failed:
        blocks.append(items.unused(failed, "Decided by rule instead"))
    if any(result.overlap.values()):
        blocks.append(items.unused(result.overlap, "Used wrongly, by whether the results contained the answer"))
    decider = f"{result.judge}, and a rule where it failed" if result.judge else "A rule, which misses paraphrases,"
    blocks.append(key(f"{decider} decided whether the results contain the answer."))
    if result.agreement and result.agreement.value is not None:
        share = percent(result.agreement.value)
        blocks.append(key(f"Judge and rule agree on {share} of {result.agreement.n:,} questions."))
    return blocks


def _fault_items(result: RetrievalResult, limit: int) -> list[PageBlock]:
    body: list[PageBlock] = []
    for fault in FAULTS:
        share = result.faults.get(fault.value)
        total = round((share.value or 0.0) * share.n) if share else 0
        cases = [case for case in result.cases if case.fault is fault]
        cards = [_fault_card(case) for case in cases[:limit]]
        body += items.listing(fault.value.capitalize(), cards, total, limit)
    return body


def _fault_card(case: RetrievalCase) -> items.ItemCard:
    texts = {
        "Question": case.question, "Correct answer": " / ".join(case.reference), "Without evidence": case.without,
        "With evidence": case.answer, f"Found ({case.results})": case.excerpt, "Why": case.why,
    }  # fmt: skip
    badge = "was correct without" if case.was_correct else "wrong both times"
    state = "skipped" if case.label is Label.NOT_ATTEMPTED else "wrong"
    return items.ItemCard(
        case.unit, state, badge, _shown_groups(case.groups), items.fields(texts, case.groups.get("language"))
    )


def _shown_groups(groups: Mapping[str, str]) -> list[str]:
    return items.places({name: group for name, group in groups.items() if name in ("language", "topic", "region")})


# ---- native and English ----------------------------------------------------------------------------------------


def translation_part(result: TranslationResult, limit: int) -> list[PageBlock]:
    """Return the same questions in two versions."""
    first, second = result.names
    matrix = result.change.matrix
    lost, won = (
        _version_cards(cases[:limit], result.names, won) for cases, won in ((result.lost, False), (result.won, True))
    )
    return [
        items.paragraph(translation.paragraph(result)),
        _matrix(matrix, result.names),
        tables.change_figures(result),
        key(_chance(result.change)),
        *_gains(result.change, result.by, f"Change if asked {second}", {}),
        items.unused(result.left_out),
        _uncertain(result.uncertain),
        *items.notes(result.notes),
        *items.listing(f"Correct {first}, lost {second}", lost, matrix.first, limit),
        *items.listing(f"Wrong {first}, gained {second}", won, matrix.second, limit),
    ]


def _version_cards(cases: Sequence[TranslationCase], names: tuple[str, str], won: bool) -> list[items.ItemCard]:
    return [
        items.ItemCard(
            case.unit,
            "right" if won else "wrong",
            f"{'gained' if won else 'lost'} {names[1]}",
            _shown_groups(case.groups),
            twins=[_version(case.first, names[0], case.groups.get("language")), _version(case.second, names[1], None)],
        )
        for case in cases
    ]


def _version(version: QuestionVersion, name: str, language: str | None) -> tuple[str, list[items.CardField]]:
    correct = version.credit is not None and version.credit > 0.5
    state = "correct" if correct else "did not answer" if version.label is Label.NOT_ATTEMPTED else "wrong"
    share = f", {percent(version.credit, 0)} of its answers" if version.credit not in (None, 0.0, 1.0) else ""
    texts = {"Question": version.question, "Answer": version.answer, "Correct answer": " / ".join(version.reference)}
    return f"{'✓' if correct else '✗'} {name}: {state}{share}", items.fields(texts, language)


# ---- locality --------------------------------------------------------------------------------------------------


def locality_part(result: Locality) -> list[PageBlock]:
    """Compare each model with itself between groups, and with the others between benchmarks."""
    with_groups = [profile for profile in result.profiles if profile.groups]
    charts = [_profile_chart(profile, result.grouping) for profile in with_groups[:PROFILES]]
    first = result.model_copy(update={"profiles": tuple(with_groups[:OPEN])})
    body: list[PageBlock] = [items.paragraph(locality.paragraph(first)), *chain.from_iterable(charts[:OPEN])]
    if charts[OPEN:]:
        others = first.model_copy(update={"profiles": tuple(with_groups[OPEN:PROFILES]), "shifts": (), "notes": ()})
        blocks = [items.paragraph(locality.paragraph(others)), *chain.from_iterable(charts[OPEN:])]
        body.append(Fold(f"{len(charts) - OPEN:,} more profiles", blocks))
    if with_groups:
        numbers = [tables.profile_table(profile, result.grouping) for profile in with_groups[:PROFILES]]
        body.append(Fold("All numbers", numbers))
        body.append(key(STAR + f" Groups with fewer than {LEAST} questions are not tested."))
    for name in result.benchmarks:
        body += _profile_table([p for p in with_groups if p.benchmark == name], name, result.grouping)
    for name, found in result.findings.items():
        body += [Heading(name), *finding_blocks(found)]
    for shift in result.shifts:
        body += _shift(shift)
    return [*body, *_locality_unused(result), *items.notes(result.notes)]


def _profile_chart(profile: LocalityProfile, grouping: str) -> list[PageBlock]:
    shown = set(items.largest({local.group: local.credit.n for local in profile.groups}))
    rows = [_local_row(local, grouping) for local in profile.groups if local.group in shown]
    overall = {} if profile.overall.value is None else {"all questions": profile.overall.value}
    title = f"{profile.model} on {profile.benchmark}: correct answers by {grouping}"
    return [Intervals(title, rows, references=overall), *items.more_groups(len(profile.groups))]


def _local_row(local: Local, grouping: str) -> IntervalRow:
    gap = f"{points(local.difference.value)} points"
    note = f"n {local.credit.n:,} · {local.verdict if local.verdict == 'too few' else gap}"
    significant = local.verdict in ("above", "below")
    return IntervalRow(
        group_name(grouping, local.group),
        local.credit,
        f"{note}, {local.verdict}" if significant else note,
        significant,
    )


def _profile_table(profiles: Sequence[LocalityProfile], benchmark: str, grouping: str) -> list[PageBlock]:
    """Return groups × models: the difference from the overall result, in points."""
    sizes: dict[str, int] = {}
    for profile in profiles:
        for local in profile.groups:
            sizes[local.group] = max(sizes.get(local.group, 0), local.credit.n)
    if not sizes:
        return []
    groups = items.largest(sizes)
    by_group = [{local.group: local for local in profile.groups} for profile in profiles]
    rows = [
        (
            Head(group_name(grouping, group), f"n {sizes[group]:,}"),
            *(_local_cell(model.get(group)) for model in by_group),
        )
        for group in groups
    ]
    title = f"Difference from the overall result on {benchmark}, in points"
    table = make_grid(title, (grouping, *(profile.model for profile in profiles)), rows, kind=Heat)
    lead = "Difference from each model’s overall share of correct answers, with 95% intervals; * adjusted p < 0.05."
    return [Fold(f"{benchmark}: differences by {grouping}", [table, key(lead)])]


def _local_cell(local: Local | None) -> Cell:
    if local is None or local.difference.value is None:
        return Cell(NOTHING)
    gap = local.difference
    hint = f"{local.verdict}; n {gap.n:,}, {gap.unscored:,} unscored; adjusted p {p_value(local.adjusted)}"
    strength = max(-1.0, min(1.0, 2.5 * (gap.value or 0.0)))
    significant = local.verdict in ("above", "below")
    return Cell(points(gap.value), strength, to(gap.low, gap.high), hint, star=significant, n=gap.n)


def _shift(shift: LocalityShift) -> list[PageBlock]:
    rows = [
        IntervalRow(row.model, _place(row.first), star=tables.has_moved(row), second=_place(row.second))
        for row in shift.models
    ]
    tau = number_cell(shift.tau)
    text = f"Kendall’s τ of both: {tau.text} {tau.small}, {shift.tau.n:,} models. 1: the same order; 0: unrelated."
    unranked = (
        [key(f"Not ranked, because they are on only one of the two: {', '.join(shift.left_out)}.")]
        if shift.left_out
        else []
    )
    return [
        Heading("Ranks: ", [shift.first, shift.second]),
        Intervals("Rank of each model on both, with 95% intervals", rows, "place", pair=(shift.first, shift.second)),
        key(f"{text} * significant change."),
        Fold("All numbers", [tables.rank_table(shift)]),
        *unranked,
    ]


def _place(rank: Rank) -> Result:
    return Result(name="place", value=rank.rank, low=rank.low, high=rank.high)


def _locality_unused(result: Locality) -> list[PageBlock]:
    names = ("questions without a score", f"questions without a {result.grouping}", "groups too small to test")
    rows = [
        (p.overall.unscored, p.ungrouped, sum(local.verdict == "too few" for local in p.groups))
        for p in result.profiles
    ]
    counts = dict(zip(names, (sum(column) for column in zip(*rows, strict=True)), strict=False))
    summary = items.unused(counts | {f"{pair}: fewer than two models in common": 1 for pair in result.unpaired})
    if len(rows) < 2 or not any(counts.values()):
        return [summary]
    lines = [(f"{p.model} on {p.benchmark}", *row) for p, row in zip(result.profiles, rows, strict=True)]
    return [summary, Fold("The same by run", [make_grid("Could not be used, by run", ("run", *names), lines)])]


# ---- item response models --------------------------------------------------------------------------------------


def scale_part(result: ItemScale) -> list[PageBlock]:
    """Return models and questions on one scale, and the short form."""
    rows = [IntervalRow(each.model, each.ability, f"n {each.ability.n:,}") for each in result.abilities]
    text = "In logits: at 0, half of the questions of average difficulty are answered correctly. "
    text += "A difference of 1 makes the odds of a correct answer 2.7 times as high."
    body: list[PageBlock] = [
        items.paragraph(scale.paragraph(result)),
        Intervals("Ability of each model, with 95% intervals", rows, "number", zero="the average question"),
        key(text),
        Fold("All abilities", [tables.ability_table(result)]),
        Fold(
            "The most difficult questions", [tables.question_table(result.questions[: tables.LISTED], tables.HARDEST)]
        ),
        Fold(
            "The easiest questions", [tables.question_table(result.questions[: -tables.LISTED - 1 : -1], "The easiest")]
        ),
    ]
    suspected = [each for each in reversed(result.questions) if (each.discrimination or 0.0) < 0][: tables.LISTED]
    if suspected:
        body.append(Fold("Answered worse by better models", [tables.question_table(suspected, tables.SUSPECTED)]))
    return [
        *body,
        *([Fold("Short forms", [tables.form_table(result)])] if result.forms else []),
        *items.notes(result.notes),
    ]


def contamination_part(result: Contamination) -> list[PageBlock]:
    """Return every test of whether the data was seen, and the questions that were completed best."""
    rows = [IntervalRow(test.name, test.difference, f"n {test.difference.n:,}") for test in result.tests]
    columns = ("question", "first half", "second half", "written", "share in one piece")
    halves = [
        (each.item_id, each.half, each.expected, each.written, percent(each.overlap)) for each in result.completed
    ]
    table = make_grid("Halves that were completed best", columns, halves, words=frozenset(range(4)))
    return [
        items.paragraph(contamination.paragraph(result)),
        Intervals("Published less control, with 95% intervals", rows, "points", zero="no difference"),
        tables.contamination_table(result),
        *([Fold("Halves that were completed best", [table])] if halves else []),
    ]
