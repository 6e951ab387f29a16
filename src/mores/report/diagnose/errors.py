"""The part of the page about kinds of errors: by model and group, the answers with their types, and the judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mores.diagnosis import errors
from mores.diagnosis.errors import ErrorCase, ErrorsResult, ErrorTable, TypeCheck, compare_models
from mores.formatting import name_failure
from mores.report.base.blocks import Fold, Heading, PageBlock, key
from mores.report.base.charts import Stack, StackPart, Stacks
from mores.report.base.grid import Cell, Head, Heat, make_grid
from mores.report.base.names import group_name
from mores.report.bench.tables import figure_cell
from mores.report.diagnose import items, tables


def errors_part(
    results: Sequence[ErrorsResult], several: Sequence[ErrorTable], checks: Sequence[TypeCheck], limit: int
) -> list[PageBlock]:
    """Figure 9 and Table 4, each model by language, the answers with their types, and the judge against people."""
    compared = several or ([compare_models(results)] if results else [])
    charts = [block for table in compared for block in _error_table(table, alone=len(results) == 1 and not several)]
    if len(results) == 1:
        body = [items.paragraph(errors.paragraph(results[0])), *charts, *_errors_of(results[0], limit)]
    else:
        body = charts + items.subjects(
            results,
            lambda of_model: [
                block
                for result in of_model
                for block in (items.paragraph(errors.paragraph(result)), *_errors_of(result, limit))
            ],
        )
    return body + [block for check in checks for block in _check(check)]


def _types(names: Iterable[str]) -> list[StackPart]:
    order = {name: index for index, name in enumerate(errors.type_names())}
    return [StackPart(name, order.get(name, len(order))) for name in names]


def _error_table(table: ErrorTable, *, alone: bool) -> list[PageBlock]:
    names = [row.type for row in table.types]
    stacks = [Stack(bar.model, [bar.counts.get(name, 0) for name in names]) for bar in table.models]
    return [
        Stacks("Kinds of errors by model", stacks, _types(names)),
        *([] if alone else [tables.compared_kinds(table)]),
        key("Shares are of the wrong answers that have a type; “✕3”: three more have none."),
        *items.notes(table.notes),
    ]


def _errors_of(result: ErrorsResult, limit: int) -> list[PageBlock]:
    body: list[PageBlock] = [tables.error_kinds(result)]
    body += [
        _errors_by(result, name) for name in items.groupings(n for n, groups in result.by.items() if len(groups) > 1)
    ]
    failed = {f"the judge failed: {name_failure(kind)}": count for kind, count in result.failures.items()}
    not_errors = {
        "answers without a grade": result.ungraded,
        "answers that decline, which are not errors": result.declined,
    }
    body.append(
        items.unused(
            not_errors | failed, f"Not in the shares ({result.answers:,} graded answers, {result.wrong:,} wrong)"
        )
    )
    for name in sorted(result.counts, key=lambda name: -result.counts[name]):
        cards = [_error_card(case) for case in result.cases if case.type == name][:limit]
        body += items.listing(name, cards, result.counts[name], limit)
    return body


def _errors_by(result: ErrorsResult, grouping: str) -> Fold:
    groups, names = result.by[grouping], list(result.figures)
    largest_groups = items.largest({group: max(r.n for r in shares.values()) for group, shares in groups.items()})
    stacks = [
        Stack(group_name(grouping, group), [round((groups[group][n].value or 0.0) * groups[group][n].n) for n in names])
        for group in largest_groups
    ]
    chart = Stacks(f"Kinds of errors by {grouping}", stacks, _types(names))
    return Fold(f"By {grouping}", [chart, *items.more_groups(len(groups))])


def _error_card(case: ErrorCase) -> items.ItemCard:
    texts = {"Question": case.question, "Answer": case.answer, "Correct answer": " / ".join(case.reference),
             "Why this type": case.reason}  # fmt: skip
    language = case.groups.get("language")
    return items.ItemCard(case.item_id, "wrong", "Wrong", items.places(case.groups), items.fields(texts, language))


def _check(check: TypeCheck) -> list[PageBlock]:
    """Return the judge against people: a matrix whose diagonal is agreement."""
    names = [name for name in check.confusion if any(check.confusion[name].values())]
    types = [name for name in check.confusion if any(row.get(name, 0) for row in check.confusion.values())]
    rows = [
        (
            Head(person, f"n {sum(check.confusion[person].values()):,}"),
            *(_agreement_cell(check, person, judge) for judge in types),
            figure_cell(check.recall.get(person)),
        )
        for person in names
    ]
    table = make_grid("The judge against people", ("people", *types, "same type"), rows, kind=Heat)
    matrix = [table, key("Rows: the type that people gave; columns: the judge’s.")] if names else []
    return [
        Heading("The judge against people: ", [check.judge]),
        items.paragraph(errors.check_paragraph(check)),
        tables.check_figures(check),
        *matrix,
        items.unused({f"the judge failed: {name_failure(kind)}": count for kind, count in check.failures.items()}),
    ]


def _agreement_cell(check: TypeCheck, person: str, judge: str) -> Cell:
    count, total = check.confusion[person].get(judge, 0), sum(check.confusion[person].values())
    share = count / total if total else 0.0
    hint = f"people: {person}; judge: {judge}: {count:,} of {total:,}"
    return Cell(f"{count:,}", share if person == judge else -share, hint=hint, outlined=person == judge, n=total)
