"""The sections of the page for a collection of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mores.longform.collection import Collected, Collection, LanguageCount, Stage, Status, categories
from mores.longform.collection.numbers import Overlap, Size
from mores.report.base.blocks import (
    Block,
    Cards,
    Heading,
    Heat,
    Hero,
    Notes,
    Ramp,
    Section,
    Select,
    Signatures,
    Table,
    Text,
    key,
)  # fmt: skip
from mores.report.base.few import is_few
from mores.report.base.names import LONG
from mores.report.base.page import Page, render
from mores.report.base.shapes import shades
from mores.report.base.sheet import Cell, Head, Sheet
from mores.show import NOTHING, number, percent, show_failures

CARDS = 500
"""Questions on one page."""
PAIRS = 50
"""Duplicates of each kind that are listed."""
LOOKS = {Status.UNSCORED: "unscored", Status.DROPPED: "wrong", Status.KEPT: "right"}
"""The style of a card; the first are the first on the page."""


def page(found: Collection, questions: Sequence[Collected], warning: str | None = None) -> str:
    """The whole page; of the questions it holds some hundreds, the undecided and the dropped first."""
    facts = {"Model": found.model, "Candidates": f"{found.candidates:,}", "Languages": f"{len(found.languages):,}"}
    signature = [
        Text("What must be the same for two collections to be comparable."),
        Signatures([("", found.signature)]),
    ]
    every = [
        *sections(found),
        _duplicates(questions),
        _answers(questions),
        Section("signature", "Signature", signature),
    ]
    heading = "Questions: what was kept, what was dropped, and why"
    name = "Collection of questions"
    return render(Page("report bench", "collection", heading, every, facts, warning, script=True, name=name))


def sections(found: Collection) -> list[Section]:
    """The numbers of a collection."""
    share = percent(found.kept / found.candidates if found.candidates else None)
    words = (
        f"{found.kept:,} of {found.candidates:,} candidates are kept, {found.dropped:,} dropped, {found.unscored:,} "
        "undecided."
    )
    undecided = (
        "An undecided question is neither kept nor dropped: the model gave no answer about it, or one that could not "
        "be read."
    )
    told = (
        "Each stage is asked about what the ones before let pass. Translation and topic drop nothing: a question for "
        "which one failed is kept without it."
    )
    told += f" Not decided: {show_failures(found.failures)}." if found.failures else ""
    stages: list[Block] = [Hero(share, "kept", words=words, counts=undecided), Table(_stage_sheet(found)), key(told)]
    stages += [Notes([f"{note[0].upper()}{note[1:]}." for note in found.notes], "warning notes")]
    sizes = Text("Sizes are of what is kept, in bytes of UTF-8, as mean and standard deviation.")
    topics = [
        Text("Kept questions by topic. The colour is the topic’s share of the language."),
        Heat(_topic_sheet(found)),
        key("“Without”: kept questions whose topic could not be read; they are in no cell."),
    ] if found.total.labelled else []  # fmt: skip
    return [
        Section("stages", "Stages", stages),
        Section("languages", "Languages", [sizes, Table(_language_sheet(found))]),
        Section("topics", "Topics", topics),
        Section("overlap", "Languages compared", _overlap(found)),
    ]


# ---- numbers ---------------------------------------------------------------------------------------------------


def _stage_sheet(found: Collection) -> Sheet:
    columns = [Head(name) for name in ("asked", "passed", "dropped", "unscored")]
    cells = [[_count(n) for n in (one.asked, one.passed, one.dropped, one.unscored)] for one in found.stages]
    return Sheet("What each stage did", [Head(one.stage) for one in found.stages], columns, cells)


def _count(n: int) -> Cell:
    return Cell(f"{n:,}")


def _language_sheet(found: Collection) -> Sheet:
    """As Table 1 of the paper, and what was dropped."""
    every = [*found.languages.values(), found.total]
    names = ("candidates", "kept", "dropped", "unscored", "question bytes", "answers", "answer bytes")
    cells = [
        [
            *(_count(n) for n in (own.candidates, own.kept, own.dropped, own.unscored)),
            _size(own.questions),
            _count(own.answers.n),
            _size(own.answers),
        ]
        for own in every
    ]
    return Sheet("Questions by language", [Head(own.name) for own in every], [Head(name) for name in names], cells)


def _size(size: Size) -> Cell:
    return Cell(number(size.mean, 1), small=f"sd {number(size.sd, 1)}" if size.mean is not None else "")


def _topic_sheet(found: Collection) -> Sheet:
    """Counts by category and language (Figure 5), coloured by their share of the language."""
    names = [category.name for category in categories() if found.total.categories.get(category.name)]
    shown = [own for own in found.languages.values() if own.labelled]
    cells = [[_topic(own, name) for name in names] for own in (*shown, found.total)]
    rows = [_head(own) for own in (*shown, found.total)]
    columns = [Head(name, f"{found.total.categories[name]:,}") for name in names]
    return Sheet("Questions by topic and language", rows, columns, cells)


def _topic(own: LanguageCount, name: str) -> Cell:
    n = own.categories.get(name, 0)
    share = n / own.labelled
    hint = f"{own.name}, {name}: {n:,} of {own.labelled:,} ({percent(share)})"
    return Cell(f"{n:,}" if n else NOTHING, share or None, hint=hint, n=own.labelled)


def _head(own: LanguageCount) -> Head:
    left = f", {own.unlabelled:,} without" if own.unlabelled else ""
    return Head(own.name, f"n {own.labelled:,}{left}")


def _overlap(found: Collection) -> list[Block]:
    """Bhattacharyya's coefficients, pairwise between languages (Figure 6); nothing where there is but one."""
    known = [(tag, own) for tag, own in found.languages.items() if own.labelled]
    if len(known) < 2:
        return []
    pairs = {frozenset((one.first, one.second)): one for one in found.overlaps}
    scale = shades(one.value for one in pairs.values() if not is_few(min(one.n)))
    cells = [[_alike(found, pairs.get(frozenset((row, column))), scale.at) for column, _ in known] for row, _ in known]
    rows = [Head(own.name, f"{tag}, n {own.labelled:,}") for tag, own in known]
    sheet = Sheet("How alike the topics of two languages are", rows, [Head(tag) for tag, _ in known], cells)
    lead = (
        "How alike the topics of two languages are: Bhattacharyya’s coefficient, 0 for nothing in common, 1 for the "
        "same shares."
    )
    text = (
        "n: of the language with fewer questions. Of few questions the coefficient says little and tends to be too low."
    )
    return [Text(lead), Heat(sheet), key(text, Ramp(number(scale.low, 1), number(scale.high, 1)))]


def _alike(found: Collection, pair: Overlap | None, shade: Callable[[float | None], float | None]) -> Cell:
    if pair is None:
        return Cell(NOTHING)
    first, second = (found.languages[tag].name for tag in (pair.first, pair.second))
    hint = f"{first} (n {pair.n[0]:,}) and {second} (n {pair.n[1]:,}): {number(pair.value)}"
    return Cell(number(pair.value), shade(pair.value), hint=hint, n=min(pair.n))


# ---- questions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Duplicates(Block):
    """Questions that are there twice, each with the one that it repeats."""

    template: ClassVar[str] = "collect/cards.html.j2"
    rows: Sequence[tuple[Collected, str, Sequence[Collected]]]
    """The question, in which way it repeats another, and the texts to show."""


def _duplicates(questions: Sequence[Collected]) -> Section:
    """The exact duplicates, which are dropped, and the near ones among what is kept."""
    by_id = {one.id: one for one in questions}
    exact = [one for one in questions if one.stage is Stage.DUPLICATE]
    near = [(one, one.near) for one in questions if one.near]
    body: list[Block] = []
    if exact:
        body += [Heading(f"The same: {len(exact):,}, dropped"), Duplicates([(e, e.reason, [e]) for e in exact[:PAIRS]])]
    if len(exact) > PAIRS:
        body.append(key("The others stand in dropped.jsonl."))
    if near:
        rows = [
            (one, f"shares {percent(pair.similarity, 0)} with {pair.of}", [by_id[pair.of], one])
            for one, pair in near[:PAIRS]
        ]
        body += [Heading(f"Nearly the same: {len(near):,}, kept and marked"), Duplicates(rows)]
    if len(near) > PAIRS:
        body.append(key("The others are marked in kept.jsonl."))
    return Section("duplicates", "Duplicates", body)


@dataclass(frozen=True)
class QuestionCard(Block):
    """A question with what the model said about it."""

    template: ClassVar[str] = "collect/cards.html.j2"
    one: Collected
    look: str
    numbers: str
    """What the page filters it by."""
    said: dict[str, str]
    long: int = LONG


def _answers(questions: Sequence[Collected]) -> Section:
    """Some of the questions that a model was asked about, with what it said."""
    asked = [one for one in questions if one.stage is not Stage.DUPLICATE]
    chosen = _choose(asked)
    if not chosen:
        return Section("answers", "Answers", [])
    totals, shown = Counter(one.status for one in asked), Counter(one.status for one in chosen)
    languages = {name: i for i, name in enumerate(sorted({one.language_name for one in chosen}))}
    labels = sorted({one.category for one in chosen if one.category})
    topics = {name: i for i, name in enumerate(labels, len(languages))}
    stages = dict.fromkeys(stage for stage in Stage for one in chosen if one.stage is stage)
    counts = [
        f"{status.capitalize()}: {totals[status]:,}"
        + (f" ({shown[status]:,} of them here, {status}.jsonl has all)" if shown[status] < totals[status] else "")
        for status in LOOKS
        if totals[status]
    ]
    selects = [Select("Question", "state", [(f, f"{f.capitalize()} ({shown[f]:,})") for f in LOOKS if shown[f]])]
    selects += [Select("Stopped at", "run", [(stage, stage.capitalize()) for stage in stages])] if stages else []
    for name, options in {"Language": languages, "Topic": topics}.items():
        if len(options) > 1:
            selects.append(Select(name, "group", [(place, option) for option, place in options.items()]))
    places = languages | topics
    cards = [
        QuestionCard(
            one,
            LOOKS[one.status],
            " ".join(str(places[name]) for name in (one.language_name, one.category) if name),
            {stage: text for stage, text in one.said.items() if text.strip()},
        )
        for one in chosen
    ]
    lead = f"What the model said about each question. {'; '.join(counts)}."
    return Section("answers", "Answers", [Cards(lead, selects, cards)])


def _choose(questions: Sequence[Collected]) -> list[Collected]:
    """The undecided, the dropped and the kept, at least a third of the room for each that needs it, from all over."""
    groups = [[one for one in questions if one.status is status] for status in LOOKS]
    chosen: list[Collected] = []
    for place, own in enumerate(groups):
        rest, others = CARDS - len(chosen), sum(map(len, groups[place + 1 :]))
        room = max(rest - others, rest // (len(groups) - place))
        step = max(1.0, len(own) / room)
        chosen += [own[int(i * step)] for i in range(min(room, len(own)))]
    return chosen
