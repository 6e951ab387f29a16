"""The sections of the page for a collection of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mores.formatting import NOTHING, number, percent, show_failures
from mores.longanswer.collection import CandidateStatus, Collected, Collection, CollectStage, LanguageCount, categories
from mores.longanswer.collection.numbers import Size, TopicOverlap
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

CARDS = 500
"""Questions on one page."""
PAIRS = 50
"""Duplicates of each kind that are listed."""
LOOKS = {CandidateStatus.UNSCORED: "unscored", CandidateStatus.DROPPED: "wrong", CandidateStatus.KEPT: "right"}
"""The style of a card; the first are the first on the page."""


def page(collection: Collection, questions: Sequence[Collected], warning: str | None = None) -> str:
    """Return the whole page; of the questions it holds some hundreds, the undecided and the dropped first."""
    facts = {
        "Model": collection.model,
        "Candidates": f"{collection.candidates:,}",
        "Languages": f"{len(collection.languages):,}",
    }
    signature = [
        Text("What must be the same for two collections to be comparable."),
        Signatures([("", collection.signature)]),
    ]
    every = [
        *sections(collection),
        _duplicates(questions),
        _answers(questions),
        Section("signature", "Signature", signature),
    ]
    heading = "Questions: what was kept, what was dropped, and why"
    name = "Collection of questions"
    return render(Page("report bench", "collection", heading, every, facts, warning, script=True, name=name))


def sections(collection: Collection) -> list[Section]:
    """Return the numbers of a collection."""
    share = percent(collection.kept / collection.candidates if collection.candidates else None)
    words = (
        f"{collection.kept:,} of {collection.candidates:,} candidates are kept, {collection.dropped:,} dropped, "
        f"{collection.unscored:,} undecided."
    )
    undecided = (
        "An undecided question is neither kept nor dropped: the model gave no answer about it, or one that could not "
        "be read."
    )
    reading = (
        "Each stage is asked about what the earlier ones have passed. Translation and topic drop nothing: a question "
        "for which one failed is kept without it."
    )
    reading += f" Not decided: {show_failures(collection.failures)}." if collection.failures else ""
    stages: list[Block] = [
        Hero(share, "kept", words=words, counts=undecided),
        Table(_stage_sheet(collection)),
        key(reading),
    ]
    stages += [Notes([f"{note[0].upper()}{note[1:]}." for note in collection.notes], "warning notes")]
    sizes = Text("Sizes are of what is kept, in bytes of UTF-8, as mean and standard deviation.")
    topics = [
        Text("Kept questions by topic. The colour is the topic’s share of the language."),
        Heat(_topic_sheet(collection)),
        key("“Without”: kept questions whose topic could not be read; they are in no cell."),
    ] if collection.total.labelled else []  # fmt: skip
    return [
        Section("stages", "Stages", stages),
        Section("languages", "Languages", [sizes, Table(_language_sheet(collection))]),
        Section("topics", "Topics", topics),
        Section("overlap", "Languages compared", _overlap(collection)),
    ]


# ---- numbers ---------------------------------------------------------------------------------------------------


def _stage_sheet(collection: Collection) -> Sheet:
    columns = [Head(name) for name in ("asked", "passed", "dropped", "unscored")]
    cells = [
        [_count(n) for n in (stage.asked, stage.passed, stage.dropped, stage.unscored)] for stage in collection.stages
    ]
    return Sheet("What each stage did", [Head(stage.stage) for stage in collection.stages], columns, cells)


def _count(n: int) -> Cell:
    return Cell(f"{n:,}")


def _language_sheet(collection: Collection) -> Sheet:
    """As Table 1 of the paper, and what was dropped."""
    every = [*collection.languages.values(), collection.total]
    names = ("candidates", "kept", "dropped", "unscored", "question bytes", "answers", "answer bytes")
    cells = [
        [
            *(_count(n) for n in (language.candidates, language.kept, language.dropped, language.unscored)),
            _size(language.questions),
            _count(language.answers.n),
            _size(language.answers),
        ]
        for language in every
    ]
    return Sheet(
        "Questions by language", [Head(language.name) for language in every], [Head(name) for name in names], cells
    )


def _size(size: Size) -> Cell:
    return Cell(number(size.mean, 1), small=f"sd {number(size.sd, 1)}" if size.mean is not None else "")


def _topic_sheet(collection: Collection) -> Sheet:
    """Count by category and language (Figure 5), coloured by their share of the language."""
    names = [category.name for category in categories() if collection.total.categories.get(category.name)]
    shown = [language for language in collection.languages.values() if language.labelled]
    cells = [[_topic(language, name) for name in names] for language in (*shown, collection.total)]
    rows = [_head(language) for language in (*shown, collection.total)]
    columns = [Head(name, f"{collection.total.categories[name]:,}") for name in names]
    return Sheet("Questions by topic and language", rows, columns, cells)


def _topic(language: LanguageCount, name: str) -> Cell:
    n = language.categories.get(name, 0)
    share = n / language.labelled
    hint = f"{language.name}, {name}: {n:,} of {language.labelled:,} ({percent(share)})"
    return Cell(f"{n:,}" if n else NOTHING, share or None, hint=hint, n=language.labelled)


def _head(language: LanguageCount) -> Head:
    without = f", {language.unlabelled:,} without" if language.unlabelled else ""
    return Head(language.name, f"n {language.labelled:,}{without}")


def _overlap(collection: Collection) -> list[Block]:
    """Bhattacharyya's coefficients, pairwise between languages (Figure 6); nothing where there is only one."""
    labelled = [(tag, language) for tag, language in collection.languages.items() if language.labelled]
    if len(labelled) < 2:
        return []
    pairs = {frozenset((overlap.first, overlap.second)): overlap for overlap in collection.overlaps}
    scale = shades(overlap.value for overlap in pairs.values() if not is_few(min(overlap.n)))
    cells = [
        [_alike(collection, pairs.get(frozenset((row, column))), scale.at) for column, _ in labelled]
        for row, _ in labelled
    ]
    rows = [Head(language.name, f"{tag}, n {language.labelled:,}") for tag, language in labelled]
    sheet = Sheet("How similar the topics of two languages are", rows, [Head(tag) for tag, _ in labelled], cells)
    lead = (
        "How similar the topics of two languages are: Bhattacharyya’s coefficient, 0 for nothing in common, 1 for the "
        "same shares."
    )
    text = "n: of the language with fewer questions. With few questions it says little and tends to be too low."
    return [Text(lead), Heat(sheet), key(text, Ramp(number(scale.low, 1), number(scale.high, 1)))]


def _alike(collection: Collection, pair: TopicOverlap | None, shade: Callable[[float | None], float | None]) -> Cell:
    if pair is None:
        return Cell(NOTHING)
    first, second = (collection.languages[tag].name for tag in (pair.first, pair.second))
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
    """Return the exact duplicates, which are dropped, and the near ones among what is kept."""
    by_id = {question.id: question for question in questions}
    exact = [question for question in questions if question.stage is CollectStage.DUPLICATE]
    near = [(question, question.near) for question in questions if question.near]
    body: list[Block] = []
    if exact:
        body += [Heading(f"The same: {len(exact):,}, dropped"), Duplicates([(e, e.reason, [e]) for e in exact[:PAIRS]])]
    if len(exact) > PAIRS:
        body.append(key("The others stand in dropped.jsonl."))
    if near:
        rows = [
            (question, f"shares {percent(pair.similarity, 0)} with {pair.of}", [by_id[pair.of], question])
            for question, pair in near[:PAIRS]
        ]
        body += [Heading(f"Nearly the same: {len(near):,}, kept and marked"), Duplicates(rows)]
    if len(near) > PAIRS:
        body.append(key("The others are marked in kept.jsonl."))
    return Section("duplicates", "Duplicates", body)


@dataclass(frozen=True)
class QuestionCard(Block):
    """A question with the replies of the model about it."""

    template: ClassVar[str] = "collect/cards.html.j2"
    question: Collected
    look: str
    numbers: str
    """What the page filters it by."""
    replies: dict[str, str]
    long: int = LONG


def _answers(questions: Sequence[Collected]) -> Section:
    """Return some of the questions that a model was asked about, with its replies."""
    judged = [question for question in questions if question.stage is not CollectStage.DUPLICATE]
    chosen = _choose(judged)
    if not chosen:
        return Section("answers", "Answers", [])
    totals, shown = Counter(question.status for question in judged), Counter(question.status for question in chosen)
    languages = {name: i for i, name in enumerate(sorted({question.language_name for question in chosen}))}
    labels = sorted({question.category for question in chosen if question.category})
    topics = {name: i for i, name in enumerate(labels, len(languages))}
    stages = dict.fromkeys(stage for stage in CollectStage for question in chosen if question.stage is stage)
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
            question,
            LOOKS[question.status],
            " ".join(str(places[name]) for name in (question.language_name, question.category) if name),
            {stage: text for stage, text in question.replies.items() if text.strip()},
        )
        for question in chosen
    ]
    lead = f"The replies of the model about each question. {'; '.join(counts)}."
    return Section("answers", "Answers", [Cards(lead, selects, cards)])


def _choose(questions: Sequence[Collected]) -> list[Collected]:
    """The undecided, the dropped and the kept, at least a third of the room for each that needs it, from all over."""
    groups = [[question for question in questions if question.status is status] for status in LOOKS]
    chosen: list[Collected] = []
    for place, group in enumerate(groups):
        rest, others = CARDS - len(chosen), sum(map(len, groups[place + 1 :]))
        room = max(rest - others, rest // (len(groups) - place))
        step = max(1.0, len(group) / room)
        chosen += [group[int(i * step)] for i in range(min(room, len(group)))]
    return chosen
