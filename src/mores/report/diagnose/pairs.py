"""The parts of the page of diagnoses that compare runs: retrieval, native against English, and locality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

from mores.bench.benchmark import Label
from mores.diagnose import locality, retrieval, translation
from mores.diagnose.change import GAIN, Change, Matrix, Uncertain
from mores.diagnose.evidence import NAMES
from mores.diagnose.locality import LEAST, Local, Locality, Moved, Profile, Rank, Shift
from mores.diagnose.retrieval import Fault, RetrievalCase, RetrievalResult
from mores.diagnose.translation import TranslationCase, TranslationResult, Version
from mores.report.base.blocks import Block, Fold, Frame, Heading, Heat, Table, key
from mores.report.base.charts import Intervals, Part, Row, Stack, Stacks
from mores.report.base.names import group_name
from mores.report.base.sheet import Cell, Head, Sheet
from mores.report.diagnose.items import (
    Field,
    ItemCard,
    fields,
    groupings,
    largest,
    listing,
    more_groups,
    notes,
    number_cell,
    paragraph,
    places,
    share_cell,
    unused,
)
from mores.show import NOTHING, SIGNIFICANT, name_failure, number, p_value, percent, points, to
from mores.types import Result

FAULTS = {Fault.NOT_FOUND: 7, Fault.NOT_USED: 1, Fault.USED_WRONGLY: 4, Fault.UNDECIDED: 5}
"""Their colours."""
OPEN, PROFILES = 2, 24
"""Profiles that are drawn at once, and folded away; the others are in the table only."""
STAR = "* unlikely to be chance (p < 0.05, adjusted for the number of groups); without it, a difference may be chance."


# ---- two runs --------------------------------------------------------------------------------------------------


def _matrix(matrix: Matrix, names: tuple[str, str]) -> Frame:
    """Questions by whether they are correct in each run; blue is won, orange is lost."""
    total = matrix.both + matrix.first + matrix.second + matrix.neither

    def cell(count: int, side: int) -> Cell:
        share = count / total if total else 0.0
        return Cell(
            f"{count:,}", side * max(0.3, min(1.0, 2 * share)) if side and count else None, percent(share), n=total
        )

    rows = [Head(f"right {names[0]}"), Head(f"wrong {names[0]}")]
    columns = [Head(f"right {names[1]}"), Head(f"wrong {names[1]}")]
    cells = [[cell(matrix.both, 0), cell(matrix.first, -1)], [cell(matrix.second, 1), cell(matrix.neither, 0)]]
    title = "Questions right and wrong"
    return Frame([Heading(title, level=4), Heat(Sheet(title, rows, columns, cells))], "matrix")


def _change_rows(by: Mapping[str, Change], grouping: str) -> list[Row]:
    kept = largest({group: one.gain.n for group, one in by.items()})
    rows = [(by[group], group_name(grouping, group)) for group in kept]
    return [Row(name, one.gain, f"n {one.gain.n:,}", star=_sure(one.adjusted)) for one, name in rows]


def _sure(p: float | None) -> bool:
    return p is not None and p < SIGNIFICANT


def _gains(
    change: Change, by: Mapping[str, Mapping[str, Change]], title: str, more: Mapping[str, Sequence[Block]]
) -> list[Block]:
    """The change by group, and `more` on it: language at once, what else there is folded."""
    whole = Row("All questions", change.gain, f"n {change.gain.n:,}", star=_sure(change.p))
    there = groupings(name for name, own in by.items() if len(own) > 1)
    first = there[0] if there and there[0] == "language" else ""
    rows = [whole, *(_change_rows(by[first], first) if first else ())]
    body: list[Block] = [_changes(rows, f"{title}, by {first}" if first else title), key(STAR)]
    body += [*more_groups(len(by[first])), *more.get(first, ())] if first else []
    for name in there:
        drawn = _change_table(by[name], name)
        if name != first:
            rows = [whole, *_change_rows(by[name], name)]
            drawn = [_changes(rows, f"{title}, by {name}"), *more.get(name, ()), *drawn]
        body.append(Fold(f"By {name}: all numbers" if name == first else f"By {name}", drawn))
    return body


def _changes(rows: Sequence[Row], title: str) -> Intervals:
    return Intervals(title, rows, "points", zero="no change")


def _change_table(by: Mapping[str, Change], grouping: str) -> list[Block]:
    groups = largest({group: one.gain.n for group, one in by.items()})
    names = [name for name in next(iter(by.values())).figures if name != GAIN]
    cells = [
        [*(share_cell(one.figures[name]) for name in names), _gain_cell(one), _p_cell(one.p), _p_cell(one.adjusted),
         Cell(f"{one.matrix.second:,} / {one.matrix.first:,}")]
        for one in (by[group] for group in groups)
    ]  # fmt: skip
    columns = [*(Head(f"right {name}") for name in names), Head("change, points"), Head("p"), Head("adjusted p"),
               Head("won / lost")]  # fmt: skip
    heads = [Head(group_name(grouping, group), f"n {by[group].gain.n:,}") for group in groups]
    return [Table(Sheet(f"By {grouping}", heads, columns, cells)), *more_groups(len(by))]


def _gain_cell(one: Change) -> Cell:
    gain = one.gain
    return Cell(points(gain.value), small=to(gain.low, gain.high), star=_sure(one.adjusted))


def _p_cell(p: float | None) -> Cell:
    return Cell(p_value(p))


def _figure_table(figures: Mapping[str, Result], change: Change, title: str) -> Table:
    shares = [name for name in figures if name != GAIN]
    cells = [share_cell(figures[name], sized=True) for name in shares]
    cells += [Cell(points(change.gain.value), small=to(change.gain.low, change.gain.high)),
              _p_cell(change.p), _p_cell(change.mcnemar)]  # fmt: skip
    heads = [*map(Head, shares), Head("change, points"), Head("p, permutation"), Head("p, McNemar")]
    return Table(Sheet(title, [Head("All questions")], heads, [cells]))


def _uncertain(one: Uncertain) -> Block:
    declined = {f"declined {name}": n for name, n in one.declined.items()}
    return unused(declined | {f"tie {name}: half right": n for name, n in one.ties.items()}, "Counted as not right")


# ---- retrieval -------------------------------------------------------------------------------------------------


def retrieval_part(one: RetrievalResult, limit: int) -> list[Block]:
    """What evidence changes, and what goes wrong with it."""
    more = {name: _fault_bars(one, name) + _found_dots(one, name) for name in one.by if len(one.by[name]) > 1}
    return [
        paragraph(retrieval.paragraph(one)),
        Frame([_matrix(one.change.matrix, NAMES), *_fault_bars(one, "")]),
        _figure_table(one.figures, one.change, "Without and with evidence"),
        key(f"Search: {one.search}. Popularity: {one.popularity}."),
        *_gains(one.change, one.by, "Change with evidence", more),
        *_retrieval_unused(one),
        *notes(one.notes),
        *_fault_items(one, limit),
    ]


def _fault_bars(one: RetrievalResult, grouping: str) -> list[Block]:
    whole = {"All questions": {name: round((share.value or 0.0) * share.n) for name, share in one.faults.items()}}
    groups = one.faults_by.get(grouping, {}) if grouping else whole
    kept = largest({group: sum(own.values()) for group, own in groups.items()})
    stacks = [Stack(group_name(grouping, g), [groups[g].get(fault.value, 0) for fault in FAULTS]) for g in kept]
    by = f", by {grouping}" if grouping else ""
    parts = [Part(fault.value, colour) for fault, colour in FAULTS.items()]
    drawn = [Stacks(f"Why questions are wrong with evidence{by}", stacks, parts), *more_groups(len(groups))]
    return drawn if any(sum(stack.counts) for stack in stacks) else []


def _found_dots(one: RetrievalResult, grouping: str) -> list[Block]:
    groups = one.found_by.get(grouping, {})
    kept = largest({group: found.n for group, found in groups.items()})
    rows = [Row(group_name(grouping, group), groups[group], f"n {groups[group].n:,}") for group in kept]
    title = f"Questions whose results have the answer, by {grouping}"
    return [Frame([Intervals(title, rows)], "below")] if rows else []


def _retrieval_unused(one: RetrievalResult) -> list[Block]:
    failed = {f"the judge failed: {name_failure(kind)}": n for kind, n in one.judged.items() if kind != "given"}
    told = [unused(one.left_out), _uncertain(one.uncertain)]
    if failed:
        told.append(unused(failed, "Decided by rule instead"))
    if any(one.overlap.values()):
        told.append(unused(one.overlap, "Used wrongly, by whether the results had the answer"))
    who = f"{one.judge}, and a rule where it says nothing" if one.judge else "a rule that misses paraphrases"
    told.append(key(f"Whether the results have the answer was decided by {who}."))
    if one.agreement and one.agreement.value is not None:
        share = percent(one.agreement.value)
        told.append(key(f"Judge and rule agree on {share} of {one.agreement.n:,} questions."))
    return told


def _fault_items(one: RetrievalResult, limit: int) -> list[Block]:
    body: list[Block] = []
    for place, fault in enumerate(FAULTS):
        share = one.faults.get(fault.value)
        total = round((share.value or 0.0) * share.n) if share else 0
        own = [case for case in one.cases if case.fault is fault]
        cards = [_fault_card(case) for case in own[:limit]]
        body += listing(fault.value.capitalize(), cards, total, limit, folded=place > 0)
    return body


def _fault_card(case: RetrievalCase) -> ItemCard:
    texts = {
        "Question": case.question, "Right answer": " / ".join(case.reference), "Without evidence": case.without,
        "With evidence": case.answer, f"Found ({case.results})": case.excerpt, "Why": case.why,
    }  # fmt: skip
    badge = "was right without" if case.was_right else "wrong both times"
    state = "skipped" if case.label is Label.NOT_ATTEMPTED else "wrong"
    return ItemCard(case.unit, state, badge, _where(case.groups), fields(texts, case.groups.get("language")))


def _where(groups: Mapping[str, str]) -> list[str]:
    return places({name: group for name, group in groups.items() if name in ("language", "topic", "region")})


# ---- native and English ----------------------------------------------------------------------------------------


def translation_part(one: TranslationResult, limit: int) -> list[Block]:
    """The same questions in two ways."""
    first, second = one.names
    matrix = one.change.matrix
    lost, won = (_version_cards(own[:limit], one.names, won) for own, won in ((one.lost, False), (one.won, True)))
    return [
        paragraph(translation.paragraph(one)),
        _matrix(matrix, one.names),
        _figure_table(one.figures, one.change, "Both ways"),
        *_gains(one.change, one.by, f"Change when {second}", {}),
        unused(one.left_out),
        _uncertain(one.uncertain),
        *notes(one.notes),
        *listing(f"Right {first}, lost {second}", lost, matrix.first, limit),
        *listing(f"Wrong {first}, won {second}", won, matrix.second, limit),
    ]


def _version_cards(cases: Sequence[TranslationCase], names: tuple[str, str], won: bool) -> list[ItemCard]:
    return [
        ItemCard(
            case.unit,
            "right" if won else "wrong",
            f"{'won' if won else 'lost'} {names[1]}",
            _where(case.groups),
            twins=[_version(case.first, names[0], case.groups.get("language")), _version(case.second, names[1], None)],
        )
        for case in cases
    ]


def _version(one: Version, name: str, language: str | None) -> tuple[str, list[Field]]:
    right = one.credit is not None and one.credit > 0.5
    state = "right" if right else "did not answer" if one.label is Label.NOT_ATTEMPTED else "wrong"
    share = f", {percent(one.credit, 0)} of its answers" if one.credit not in (None, 0.0, 1.0) else ""
    texts = {"Question": one.question, "Answer": one.answer, "Right answer": " / ".join(one.reference)}
    return f"{'✓' if right else '✗'} {name}: {state}{share}", fields(texts, language)


# ---- locality --------------------------------------------------------------------------------------------------


def locality_part(one: Locality) -> list[Block]:
    """Each model against itself from group to group, and against the others from benchmark to benchmark."""
    with_groups = [profile for profile in one.profiles if profile.groups]
    charts = [_profile_chart(profile, one.grouping) for profile in with_groups[:PROFILES]]
    first = one.model_copy(update={"profiles": tuple(with_groups[:OPEN])})
    body: list[Block] = [paragraph(locality.paragraph(first)), *chain.from_iterable(charts[:OPEN])]
    if charts[OPEN:]:
        rest = first.model_copy(update={"profiles": tuple(with_groups[OPEN:PROFILES]), "shifts": (), "notes": ()})
        told = [paragraph(locality.paragraph(rest)), *chain.from_iterable(charts[OPEN:])]
        body.append(Fold(f"{len(charts) - OPEN:,} more profiles", told))
    if with_groups:
        body.append(key(STAR + f" Groups with fewer than {LEAST} questions are not tested."))
    for name in one.benchmarks:
        body += _profile_sheet([p for p in with_groups if p.benchmark == name], name, one.grouping)
    for shift in one.shifts:
        body += _shift(shift)
    return [*body, *_locality_unused(one), *notes(one.notes)]


def _profile_chart(one: Profile, grouping: str) -> list[Block]:
    kept = set(largest({local.group: local.credit.n for local in one.groups}))
    rows = [_local_row(local, grouping) for local in one.groups if local.group in kept]
    whole = {} if one.overall.value is None else {"all questions": one.overall.value}
    title = f"{one.model} on {one.benchmark}: right answers by {grouping}"
    return [Intervals(title, rows, references=whole), *more_groups(len(one.groups))]


def _local_row(local: Local, grouping: str) -> Row:
    gap = f"{points(local.difference.value)} points"
    note = f"n {local.credit.n:,} · {local.verdict if local.verdict == 'too few' else gap}"
    sure = local.verdict in ("above", "below")
    return Row(group_name(grouping, local.group), local.credit, f"{note}, {local.verdict}" if sure else note, sure)


def _profile_sheet(profiles: Sequence[Profile], benchmark: str, grouping: str) -> list[Block]:
    """Groups × models: the difference from the whole, in points."""
    sizes: dict[str, int] = {}
    for one in profiles:
        for local in one.groups:
            sizes[local.group] = max(sizes.get(local.group, 0), local.credit.n)
    if not sizes:
        return []
    groups = largest(sizes)
    found = [{local.group: local for local in one.groups} for one in profiles]
    cells = [[_local_cell(own.get(group)) for own in found] for group in groups]
    heads = [Head(group_name(grouping, group), f"n {sizes[group]:,}") for group in groups]
    columns = [Head(one.model) for one in profiles]
    sheet = Sheet(f"Difference from the whole on {benchmark}, in points", heads, columns, cells)
    lead = (
        "Difference from each model’s own share of right answers, in points, with 95% intervals; * adjusted p < 0.05."
    )
    return [Fold(f"{benchmark}: differences by {grouping}", [Heat(sheet), key(lead)], opened=True)]


def _local_cell(local: Local | None) -> Cell:
    if local is None or local.difference.value is None:
        return Cell(NOTHING)
    gap = local.difference
    hint = f"{local.verdict}; n {gap.n:,}, {gap.unscored:,} unscored; adjusted p {_p_cell(local.adjusted).text}"
    strength = max(-1.0, min(1.0, 2.5 * (gap.value or 0.0)))
    sure = local.verdict in ("above", "below")
    return Cell(points(gap.value), strength, to(gap.low, gap.high), hint, star=sure, n=gap.n)


def _shift(one: Shift) -> list[Block]:
    rows = [Row(row.model, _place(row.first), star=_moved(row), second=_place(row.second)) for row in one.models]
    tau = number_cell(one.tau, 2)
    told = (
        f"Kendall’s τ of both rankings: {tau.text} {tau.small}, {one.tau.n:,} models. 1: the same order; 0: unrelated."
    )
    left = [key(f"Not ranked, as on one of the two only: {', '.join(one.left_out)}.")] if one.left_out else []
    return [
        Heading("Ranks: ", [one.first, one.second]),
        Intervals("Place of each model on both, with 95% intervals", rows, "place", pair=(one.first, one.second)),
        key(f"{told} * surely moved."),
        Fold("All numbers", [_rank_table(one)]),
        *left,
    ]


def _place(rank: Rank) -> Result:
    return Result(name="place", value=rank.rank, low=rank.low, high=rank.high)


def _moved(row: Moved) -> bool:
    low, high = row.shift.low, row.shift.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _rank_table(one: Shift) -> Table:
    cells = [
        [*(Cell(f"{r.rank}{'=' if r.tied else ''}", small=f"{r.low}–{r.high}, {percent(r.credit)}")
           for r in (row.first, row.second)),
         Cell(number(row.shift.value, 1), small=to(row.shift.low, row.shift.high, partial(number, digits=1)),
              star=_moved(row))]
        for row in one.models
    ]  # fmt: skip
    columns = [Head(f"place on {one.first}"), Head(f"place on {one.second}"), Head("shift")]
    return Table(Sheet("Ranks on both benchmarks", [Head(row.model) for row in one.models], columns, cells))


def _locality_unused(one: Locality) -> list[Block]:
    names = ("questions without a score", f"questions without a {one.grouping}", "groups too small to test")
    rows = [
        (p.overall.unscored, p.ungrouped, sum(local.verdict == "too few" for local in p.groups)) for p in one.profiles
    ]
    counts = dict(zip(names, (sum(column) for column in zip(*rows, strict=True)), strict=False))
    told = unused(counts | {f"{pair}: fewer than two models in common": 1 for pair in one.unpaired})
    if len(rows) < 2 or not any(counts.values()):
        return [told]
    heads = [Head(f"{p.model} on {p.benchmark}") for p in one.profiles]
    cells = [[Cell(f"{count:,}") for count in row] for row in rows]
    sheet = Sheet("Could not be used, by run", heads, [*map(Head, names)], cells)
    return [told, Fold("The same by run", [Table(sheet)])]
