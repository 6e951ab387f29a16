"""Long answers (`mores longform`) with CaLMQA's figures, and the answers with their claims and evidence."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from markupsafe import Markup

from mores.formatting import count
from mores.longanswer.folder import LongformRun
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.summary import LEFT_OUT, LongformSummary, find_fields
from mores.report.base.blocks import Cards, Fold, Frame, Heading, PageBlock, Paragraph, Section, Select, key
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid
from mores.report.base.names import group_name
from mores.report.base.page import draw
from mores.report.longform import numbers, tables
from mores.report.longform.cards import AnswerIssue, groups_of, is_cut, issues_of, make_card, score_of
from mores.report.longform.numbers import hero, named, tags_of

ANSWERS = 1000
"""Answers on one page, of all models together."""
SIZE = 15_000_000
"""Code points of all their cards: a phone still opens the page."""

WORDS = "The words that the paper counts, anywhere in an answer"
LENGTHS = (
    "Tokens of o200k_base (CaLMQA, Table 16), of all answers and of those in the correct language without repetitions."
)

Pair = tuple[LongAnswer, Appraisal]


def describe(run: LongformRun, by: Sequence[str] = ()) -> ResultDocument:
    """Return the document of a run, also by columns of its answers."""
    asked: Any = run.manifest.settings.get("by", [])
    columns = tuple(dict.fromkeys((*asked, *find_fields(run.answers(), by))))
    summaries = run.summaries_by(columns) if by else run.summaries
    return describe_summaries(summaries, run.appraised, run.signature, columns)


def describe_summaries(
    summaries: Sequence[LongformSummary],
    answers: Callable[[], Iterable[Pair]],
    signature: object,
    columns: Sequence[str] = (),
) -> ResultDocument:
    """Return the numbers of all models, also by some columns; `answers` reads them for the page, which holds some
    hundreds."""
    models = numbers.ranked(summaries)
    tells, words, lengths = tables.tell_table(models), tables.word_table(models), tables.length_table(models)
    lead = (
        "Ways to answer past the question, and emoji (CaLMQA, Appendix C), in per cent of the answers that were given."
    )
    names = [named(summary.model) for summary in models]
    facts = {"Models" if len(names) > 1 else "Model": ", ".join(names) if len(names) < 4 else count(len(names))}
    return ResultDocument(
        "long answers",
        "Long answers: language, repetition, facts and relevance",
        tables.tables(summaries, columns),
        [
            Section("numbers", "Numbers", _numbers(models) if models else []),
            Section("languages", "Languages", tables.heat_maps(models)),
            Section("resources", "Resources", _resources(models)),
            *(
                Section(f"by-{n}", f"By {column}", [tables.column_table(models, column)])
                for n, column in enumerate(columns)
            ),
            Section("tells", "Tells", [Paragraph(lead), tells, *_titled(WORDS, words)] if tells else []),
            Section("lengths", "Lengths", [Paragraph(LENGTHS), lengths] if lengths else []),
        ],
        details=lambda: _details(answers(), [summary.model for summary in models]),
        opening=[hero(models)] if models else [],
        facts=facts | {"Answers": count(sum(m.answers for m in models)), "Languages": count(len(tags_of(models)))},
        signatures=[("", signature or "none")],
        look="report bench longform",
        script=True,
        name="Long answers",
    )


def _details(answers: Iterable[Pair], models: Sequence[str]) -> list[Section]:
    cards = _Cards(answers, models)
    failures = tables.failure_table(cards.failures)
    lead = "Answers for which something is missing or could not be read. Nothing of this is a wrong answer."
    named = [(place, model or "no name") for place, model in enumerate(cards.models)]
    selects = [Select("Model", "run", named)] if len(named) > 1 else []
    selects += [Select(name, "group", options) for name, options in cards.filters().items()]
    shown = [Cards(_lead(cards), selects, cards.cards)] if cards.cards else []
    return [
        Section("failures", "Failures", [Paragraph(lead), failures] if failures else []),
        Section("answers", "Answers", shown),
    ]


def _numbers(models: Sequence[LongformSummary]) -> list[PageBlock]:
    """Table 2, with all languages and with those of the paper, and what it does not have."""
    each = (
        "Each cell: culturally agnostic / culturally specific questions. " if len(numbers.kinds_of(models)) == 2 else ""
    )
    lead = (
        f"In per cent. {each}Below: 95% intervals, n, ✕ how many more could not be scored, which are in no number, "
        "and within which bounds the number lies, whatever those are. "
        "– : less than half of what it needs could be judged."
    )
    if any({"precision", "relevance"} & summary.figures.keys() for summary in models):
        lead += " Precision and relevance: of answers without a surface issue, unless the run judged every answer."
    body = [Paragraph(lead), *_titled("All languages", tables.table_2(models, numbers.everywhere, "All languages"))]
    out = sorted(group_name("language", tag) for tag in LEFT_OUT & tags_of(models))
    title, note = "As in CaLMQA’s Table 2", "None of these languages is left out in CaLMQA’s Table 2."
    if out:
        body += _titled(title, tables.table_2(models, numbers.in_paper, title))
        note = f"Without {', '.join(out)}, which the paper leaves out because its language check cannot identify them."
    body.append(key(note))
    body += _titled("Culturally specific minus agnostic questions, in points", tables.specific_table(models))
    if more := tables.more_table(models):
        names = ", ".join(name.partition(",")[0].lower() for name in more.names[1:]).capitalize()
        body.append(Fold(names, [more]))
    return body


def _titled(title: str, table: Grid | None) -> list[PageBlock]:
    return [Heading(title), table] if table else []


def _resources(models: Sequence[LongformSummary]) -> list[PageBlock]:
    """High and mid against low."""
    charts = tables.level_bars(models)
    lead = "Languages with many or some resources against those with few, as CaLMQA’s Table 4 has them."
    table = _titled("All figures by level", tables.level_table(models))
    return [Paragraph(lead), Frame(charts), *table] if charts else []


# ---- answers ---------------------------------------------------------------------------------------------------


class _Kept(NamedTuple):
    order: tuple[float, int, int]
    """Score, the hash of the id (so that every model shows the same questions, from all over the data), and place."""
    answer: LongAnswer
    appraisal: Appraisal


class _Cards:
    """Goes once through the answers, counts them, and makes cards of as many as a page holds."""

    def __init__(self, answers: Iterable[Pair], models: Sequence[str]) -> None:
        self.models = dict.fromkeys(models)
        self.total = 0
        self.cut = False
        self.issues: Counter[AnswerIssue] = Counter()
        self.here: Counter[AnswerIssue] = Counter()
        self.failures: dict[str, Counter[str]] = {model: Counter() for model in models}
        self._numbers: dict[tuple[str, str], int] = {}
        groups = [sorted(group, key=lambda row: row.order) for group in self._kept(answers).values()]
        made: list[tuple[tuple[float, int, int], Markup]] = []
        size = 0
        for row in (row for turn in zip_longest(*groups) for row in turn if row):  # of each in turn, the worst first
            made.append((row.order, self._card(row)))
            size += len(made[-1][1])
            if len(made) >= ANSWERS or size >= SIZE:
                break
        self.cards = [card for _, card in sorted(made, key=lambda pair: pair[0])]

    def _kept(self, answers: Iterable[Pair]) -> dict[tuple[str, AnswerIssue], list[_Kept]]:
        """Return the worst of each model and issue, at most twice what a page holds, whatever the number of answers."""
        rows: dict[tuple[str, AnswerIssue], list[_Kept]] = defaultdict(list)
        size = 0
        for place, (answer, appraisal) in enumerate(answers):
            chance = zlib.crc32(answer.id.encode("utf-8", "surrogatepass"))
            issues = issues_of(appraisal)
            self.total += 1
            self.issues.update(issues)
            self.models.setdefault(appraisal.model)
            self.failures.setdefault(appraisal.model, Counter()).update(appraisal.failures.keys())
            kept = _Kept((score_of(appraisal), chance, place), answer, appraisal)
            rows[appraisal.model, issues[0]].append(kept)
            size = size + 1 if size + 1 < 2 * ANSWERS else _trim(list(rows.values()))
        return rows

    def _card(self, row: _Kept) -> Markup:
        groups = groups_of(row.answer, row.appraisal)
        places = [self._numbers.setdefault(group, len(self._numbers)) for group in groups]
        self.here.update(issues_of(row.appraisal))
        self.cut = self.cut or is_cut(row.answer, row.appraisal)
        card = make_card(row.answer, row.appraisal, list(self.models).index(row.appraisal.model), places)
        return draw(card)

    def filters(self) -> dict[str, list[tuple[str | int, str]]]:
        """Filter: number and name of each group. No name is ever part of the markup that the script reads."""
        order = {issue.value: place for place, issue in enumerate(AnswerIssue)}
        groups: dict[str, list[tuple[str | int, str]]] = defaultdict(list)
        for (grouping, group), n in sorted(self._numbers.items(), key=lambda pair: (order.get(pair[0][1], 0), pair[0])):
            groups[grouping].append((n, group))
        return {name: groups[name] for name in ("Language", "Kind", "Issue", "Tell") if len(groups[name]) > 1}


def _trim(groups: Sequence[list[_Kept]]) -> int:
    """Leave what can still come in turn: a group's share never grows when more answers are read."""
    share = bisect_left(range(ANSWERS), ANSWERS, key=lambda most: sum(min(len(group), most) for group in groups))
    for group in groups:
        group.sort(key=lambda row: row.order)
        del group[share:]
    return sum(map(len, groups))


def _lead(cards: _Cards) -> str:
    """Return what there is, and what of it is not here."""
    out = cards.total - len(cards.cards)
    counts = [f"{issue.value}: {n:,}" + (f" ({cards.here[issue]:,} here)" if cards.here[issue] < n else "")
              for issue in AnswerIssue if (n := cards.issues[issue])]  # fmt: skip
    words = "The worst first. "
    if out:
        words = (
            f"This page holds {len(cards.cards):,} of {cards.total:,} answers, and {out:,} are left out: they are "
            "drawn from every model and issue in turn, the worst first. appraisals.jsonl has all. "
        )
    words += "; ".join(counts) + "."
    if cards.cut:
        words += " Very long texts and lists are cut here; appraisals.jsonl has them whole."
    return words
