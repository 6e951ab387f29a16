"""The parts of the page of diagnoses that compare runs: retrieval, native against English, and locality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from markupsafe import Markup

from mores.bench.benchmark import Label
from mores.diagnose import locality, retrieval, translation
from mores.diagnose.change import GAIN, Change, Matrix, Uncertain
from mores.diagnose.evidence import NAMES
from mores.diagnose.locality import LEAST, Local, Locality, Moved, Profile, Rank, Shift
from mores.diagnose.retrieval import Fault, RetrievalCase, RetrievalResult
from mores.diagnose.translation import TranslationCase, TranslationResult, Version
from mores.report.bench_charts import Row, dots
from mores.report.charts import Cell, Head
from mores.report.diagnose_charts import (
    Mover,
    Part,
    Stack,
    Standing,
    changes,
    rank_shifts,
    stacked,
)
from mores.report.diagnose_items import (
    Card,
    Field,
    fields,
    fold,
    groupings,
    heat,
    key,
    largest,
    listing,
    more_groups,
    notes,
    number_cell,
    paragraph,
    places,
    plain,
    share_cell,
    twins,
    unused,
)
from mores.report.meta_sheets import Sheet, group_name
from mores.show import NOTHING, SIGNIFICANT, name_failure, number, p_value, percent, points, to
from mores.types import Result

FAULTS = {Fault.NOT_FOUND: 7, Fault.NOT_USED: 1, Fault.USED_WRONGLY: 4, Fault.UNDECIDED: 5}
"""Their colours."""
OPEN, PROFILES = 2, 24
"""Profiles that are drawn at once, and folded away; the others are in the table only."""
STAR = "* unlikely to be chance (p < 0.05, adjusted for the number of groups); without it, a difference may be chance."


# ---- two runs --------------------------------------------------------------------------------------------------


def _matrix(matrix: Matrix, names: tuple[str, str]) -> Markup:
    """Questions by whether they are right in each run; blue is won, orange is lost."""
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
    drawn = heat(Sheet(title, rows, columns, cells))
    return Markup('<div class="matrix"><h4>{}</h4>{}</div>').format(title, drawn)


def _change_rows(by: Mapping[str, Change], grouping: str) -> list[Row]:
    kept = largest({group: one.gain.n for group, one in by.items()})
    rows = [(by[group], group_name(grouping, group)) for group in kept]
    return [Row(name, one.gain, f"n {one.gain.n:,}", star=_sure(one.adjusted)) for one, name in rows]


def _sure(p: float | None) -> bool:
    return p is not None and p < SIGNIFICANT


def _gains(change: Change, by: Mapping[str, Mapping[str, Change]], title: str, more: Mapping[str, Markup]) -> Markup:
    """The change by group, and `more` on it: language at once, what else there is folded."""
    whole = Row("All questions", change.gain, f"n {change.gain.n:,}", star=_sure(change.p))
    there = groupings(name for name, own in by.items() if len(own) > 1)
    first = there[0] if there and there[0] == "language" else ""
    rows = [whole, *(_change_rows(by[first], first) if first else ())]
    body = changes(rows, title=f"{title}, by {first}" if first else title) + key(STAR)
    body += more_groups(len(by[first])) + more.get(first, Markup()) if first else Markup()
    for name in there:
        drawn = _change_table(by[name], name)
        if name != first:
            rows = [whole, *_change_rows(by[name], name)]
            drawn = changes(rows, title=f"{title}, by {name}") + more.get(name, Markup()) + drawn
        body += fold(f"By {name}: all numbers" if name == first else f"By {name}", drawn)
    return body


def _change_table(by: Mapping[str, Change], grouping: str) -> Markup:
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
    return plain(Sheet(f"By {grouping}", heads, columns, cells)) + more_groups(len(by))


def _gain_cell(one: Change) -> Cell:
    gain = one.gain
    return Cell(points(gain.value), small=to(gain.low, gain.high), star=_sure(one.adjusted))


def _p_cell(p: float | None) -> Cell:
    return Cell(p_value(p))


def _figure_table(figures: Mapping[str, Result], change: Change, title: str) -> Markup:
    shares = [name for name in figures if name != GAIN]
    cells = [share_cell(figures[name], sized=True) for name in shares]
    cells += [Cell(points(change.gain.value), small=to(change.gain.low, change.gain.high)),
              _p_cell(change.p), _p_cell(change.mcnemar)]  # fmt: skip
    heads = [*map(Head, shares), Head("change, points"), Head("p, permutation"), Head("p, McNemar")]
    return plain(Sheet(title, [Head("All questions")], heads, [cells]))


def _uncertain(one: Uncertain) -> Markup:
    declined = {f"declined {name}": n for name, n in one.declined.items()}
    return unused(declined | {f"tie {name}: half right": n for name, n in one.ties.items()}, "Counted as not right")


# ---- retrieval -------------------------------------------------------------------------------------------------


def retrieval_part(one: RetrievalResult, limit: int) -> Markup:
    """What evidence changes, and what goes wrong with it."""
    told = paragraph(retrieval.paragraph(one))
    pictures = _matrix(one.change.matrix, NAMES) + _fault_bars(one, "")
    body = told + Markup('<div class="many wide">{}</div>').format(pictures)
    body += _figure_table(one.figures, one.change, "Without and with evidence")
    body += key(f"Search: {one.search}. Popularity: {one.popularity}.")
    faults = {name: _fault_bars(one, name) + _found_dots(one, name) for name in one.by if len(one.by[name]) > 1}
    body += _gains(one.change, one.by, "Change with evidence", faults)
    return body + _retrieval_unused(one) + notes(one.notes) + _fault_items(one, limit)


def _fault_bars(one: RetrievalResult, grouping: str) -> Markup:
    whole = {"All questions": {name: round((share.value or 0.0) * share.n) for name, share in one.faults.items()}}
    groups = one.faults_by.get(grouping, {}) if grouping else whole
    kept = largest({group: sum(own.values()) for group, own in groups.items()})
    stacks = [Stack(group_name(grouping, g), [groups[g].get(fault.value, 0) for fault in FAULTS]) for g in kept]
    by = f", by {grouping}" if grouping else ""
    parts = [Part(fault.value, colour) for fault, colour in FAULTS.items()]
    drawn = stacked(stacks, parts, title=f"Why questions are wrong with evidence{by}") + more_groups(len(groups))
    return drawn if any(sum(stack.counts) for stack in stacks) else Markup()


def _found_dots(one: RetrievalResult, grouping: str) -> Markup:
    groups = one.found_by.get(grouping, {})
    kept = largest({group: found.n for group, found in groups.items()})
    rows = [Row(group_name(grouping, group), groups[group], f"n {groups[group].n:,}") for group in kept]
    drawn = dots(rows, {}, title=f"Questions whose results have the answer, by {grouping}")
    return Markup('<div class="below">{}</div>').format(drawn) if rows else Markup()


def _retrieval_unused(one: RetrievalResult) -> Markup:
    failed = {f"the judge failed: {name_failure(kind)}": n for kind, n in one.judged.items() if kind != "given"}
    told = unused(one.left_out) + _uncertain(one.uncertain)
    told += unused(failed, "Decided by rule instead") if failed else Markup()
    if any(one.overlap.values()):
        told += unused(one.overlap, "Used wrongly, by whether the results had the answer")
    who = f"{one.judge}, and a rule where it says nothing" if one.judge else "a rule that misses paraphrases"
    told += key(f"Whether the results have the answer was decided by {who}.")
    if one.agreement and one.agreement.value is not None:
        told += key(f"Judge and rule agree on {percent(one.agreement.value)} of {one.agreement.n:,} questions.")
    return told


def _fault_items(one: RetrievalResult, limit: int) -> Markup:
    body = Markup()
    for place, fault in enumerate(FAULTS):
        share = one.faults.get(fault.value)
        total = round((share.value or 0.0) * share.n) if share else 0
        own = [case for case in one.cases if case.fault is fault]
        cards = [_fault_card(case) for case in own[:limit]]
        body += listing(fault.value.capitalize(), cards, total, limit, folded=place > 0)
    return body


def _fault_card(case: RetrievalCase) -> Card:
    rows = [
        Field("Question", case.question), Field("Right answer", " / ".join(case.reference)),
        Field("Without evidence", case.without), Field("With evidence", case.answer),
        Field(f"Found ({case.results})", case.excerpt), Field("Why", case.why),
    ]  # fmt: skip
    badge = "was right without" if case.was_right else "wrong both times"
    state = "skipped" if case.label is Label.NOT_ATTEMPTED else "wrong"
    where = {name: group for name, group in case.groups.items() if name in ("language", "topic", "region")}
    return Card(case.unit, state, badge, places(where), fields(rows, case.groups.get("language")))


# ---- native and English ----------------------------------------------------------------------------------------


def translation_part(one: TranslationResult, limit: int) -> Markup:
    """The same questions in two ways."""
    first, second = one.names
    matrix = one.change.matrix
    body = paragraph(translation.paragraph(one)) + _matrix(matrix, one.names)
    body += _figure_table(one.figures, one.change, "Both ways") + _gains(
        one.change, one.by, f"Change when {second}", {}
    )
    body += unused(one.left_out) + _uncertain(one.uncertain) + notes(one.notes)
    lost, won = (_version_cards(own[:limit], one.names, how) for own, how in ((one.lost, "lost"), (one.won, "won")))
    body += listing(f"Right {first}, lost {second}", lost, matrix.first, limit)
    return body + listing(f"Wrong {first}, won {second}", won, matrix.second, limit)


def _version_cards(cases: Sequence[TranslationCase], names: tuple[str, str], how: str) -> list[Card]:
    return [
        Card(
            case.unit, "right" if how == "won" else "wrong", f"{how} {names[1]}",
            places({name: group for name, group in case.groups.items() if name in ("language", "topic", "region")}),
            twins(_version(case.first, names[0], case.groups.get("language")), _version(case.second, names[1], None)),
        )
        for case in cases
    ]  # fmt: skip


def _version(one: Version, name: str, language: str | None) -> tuple[str, Markup]:
    right = one.credit is not None and one.credit > 0.5
    state = "right" if right else "did not answer" if one.label is Label.NOT_ATTEMPTED else "wrong"
    share = f", {percent(one.credit, 0)} of its answers" if one.credit not in (None, 0.0, 1.0) else ""
    rows = [
        Field("Question", one.question),
        Field("Answer", one.answer),
        Field("Right answer", " / ".join(one.reference)),
    ]
    return f"{'✓' if right else '✗'} {name}: {state}{share}", fields(rows, language)


# ---- locality --------------------------------------------------------------------------------------------------


def locality_part(one: Locality) -> Markup:
    """Each model against itself from group to group, and against the others from benchmark to benchmark."""
    with_groups = [profile for profile in one.profiles if profile.groups]
    charts = [_profile_chart(profile, one.grouping) for profile in with_groups[:PROFILES]]
    first = one.model_copy(update={"profiles": tuple(with_groups[:OPEN])})
    body = paragraph(locality.paragraph(first)) + Markup().join(charts[:OPEN])
    if charts[OPEN:]:
        rest = first.model_copy(update={"profiles": tuple(with_groups[OPEN:PROFILES]), "shifts": (), "notes": ()})
        told = paragraph(locality.paragraph(rest)) + Markup().join(charts[OPEN:])
        body += fold(f"{len(charts) - OPEN:,} more profiles", told)
    if with_groups:
        body += key(STAR + f" Groups with fewer than {LEAST} questions are not tested.")
    body += Markup().join(
        _profile_sheet([p for p in with_groups if p.benchmark == name], name, one.grouping) for name in one.benchmarks
    )
    body += Markup().join(_shift(shift) for shift in one.shifts)
    return body + _locality_unused(one) + notes(one.notes)


def _profile_chart(one: Profile, grouping: str) -> Markup:
    kept = set(largest({local.group: local.credit.n for local in one.groups}))
    rows = [_local_row(local, grouping) for local in one.groups if local.group in kept]
    whole = {} if one.overall.value is None else {"all questions": one.overall.value}
    title = f"{one.model} on {one.benchmark}: right answers by {grouping}"
    return dots(rows, whole, title=title) + more_groups(len(one.groups))


def _local_row(local: Local, grouping: str) -> Row:
    gap = f"{points(local.difference.value)} points"
    note = f"n {local.credit.n:,} · {local.verdict if local.verdict == 'too few' else gap}"
    sure = local.verdict in ("above", "below")
    return Row(group_name(grouping, local.group), local.credit, f"{note}, {local.verdict}" if sure else note, sure)


def _profile_sheet(profiles: Sequence[Profile], benchmark: str, grouping: str) -> Markup:
    """Groups × models: the difference from the whole, in points."""
    sizes: dict[str, int] = {}
    for one in profiles:
        for local in one.groups:
            sizes[local.group] = max(sizes.get(local.group, 0), local.credit.n)
    if not sizes:
        return Markup()
    groups = largest(sizes)
    found = [{local.group: local for local in one.groups} for one in profiles]
    cells = [[_local_cell(own.get(group)) for own in found] for group in groups]
    heads = [Head(group_name(grouping, group), f"n {sizes[group]:,}") for group in groups]
    columns = [Head(one.model) for one in profiles]
    sheet = Sheet(f"Difference from the whole on {benchmark}, in points", heads, columns, cells)
    lead = (
        "Difference from each model’s own share of right answers, in points, with 95% intervals; * adjusted p < 0.05."
    )
    return fold(f"{benchmark}: differences by {grouping}", heat(sheet) + key(lead), opened=True)


def _local_cell(local: Local | None) -> Cell:
    if local is None or local.difference.value is None:
        return Cell(NOTHING)
    gap = local.difference
    hint = f"{local.verdict}; n {gap.n:,}, {gap.unscored:,} unscored; adjusted p {_p_cell(local.adjusted).text}"
    strength = max(-1.0, min(1.0, 2.5 * (gap.value or 0.0)))
    sure = local.verdict in ("above", "below")
    return Cell(points(gap.value), strength, to(gap.low, gap.high), hint, star=sure, n=gap.n)


def _shift(one: Shift) -> Markup:
    movers = [Mover(row.model, _standing(row.first), _standing(row.second), _moved(row)) for row in one.models]
    title = Markup("<h3>Ranks: <bdi>{}</bdi> and <bdi>{}</bdi></h3>").format(one.first, one.second)
    drawn = rank_shifts(movers, (one.first, one.second), title="Place of each model on both, with 95% intervals")
    tau = number_cell(one.tau, 2)
    told = (
        f"Kendall’s τ of both rankings: {tau.text} {tau.small}, {one.tau.n:,} models. 1: the same order; 0: unrelated."
    )
    return title + drawn + key(f"{told} * surely moved.") + fold("All numbers", _rank_table(one)) + _not_ranked(one)


def _standing(rank: Rank) -> Standing:
    return Standing(rank.rank, rank.low, rank.high)


def _moved(row: Moved) -> bool:
    low, high = row.shift.low, row.shift.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _rank_table(one: Shift) -> Markup:
    cells = [
        [*(Cell(f"{r.rank}{'=' if r.tied else ''}", small=f"{r.low}–{r.high}, {percent(r.credit)}")
           for r in (row.first, row.second)),
         Cell(number(row.shift.value, 1), small=to(row.shift.low, row.shift.high, partial(number, digits=1)),
              star=_moved(row))]
        for row in one.models
    ]  # fmt: skip
    columns = [Head(f"place on {one.first}"), Head(f"place on {one.second}"), Head("shift")]
    return plain(Sheet("Ranks on both benchmarks", [Head(row.model) for row in one.models], columns, cells))


def _not_ranked(one: Shift) -> Markup:
    return key(f"Not ranked, as on one of the two only: {', '.join(one.left_out)}.") if one.left_out else Markup()


def _locality_unused(one: Locality) -> Markup:
    names = ("questions without a score", f"questions without a {one.grouping}", "groups too small to test")
    rows = [
        (p.overall.unscored, p.ungrouped, sum(local.verdict == "too few" for local in p.groups)) for p in one.profiles
    ]
    counts = dict(zip(names, (sum(column) for column in zip(*rows, strict=True)), strict=False))
    told = unused(counts | {f"{pair}: fewer than two models in common": 1 for pair in one.unpaired})
    if len(rows) < 2 or not any(counts.values()):
        return told
    heads = [Head(f"{p.model} on {p.benchmark}") for p in one.profiles]
    cells = [[Cell(f"{count:,}") for count in row] for row in rows]
    return told + fold("The same by run", plain(Sheet("Could not be used, by run", heads, [*map(Head, names)], cells)))
