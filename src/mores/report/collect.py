"""A collection of questions (`mores collect`): what was kept, what was dropped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from mores.formatting import NOTHING, count, number, percent, show_failures
from mores.longanswer.collection import CandidateStatus, Collected
from mores.longanswer.collection.asking import CollectStage, categories
from mores.longanswer.collection.numbers import Collection, LanguageCount, Size
from mores.longanswer.folder import CollectRun
from mores.report.base.blocks import (
    Cards,
    Heading,
    Hero,
    Notes,
    PageBlock,
    Paragraph,
    Ramp,
    Section,
    Select,
    is_few,
    key,
)
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Grid, Head, Heat, Row, make_grid
from mores.report.base.names import LONG
from mores.report.base.shapes import shades

CARDS = 500
"""Questions on one page."""
PAIRS = 50
"""Duplicates of each kind that are listed."""
LOOKS = {CandidateStatus.UNSCORED: "unscored", CandidateStatus.DROPPED: "wrong", CandidateStatus.KEPT: "right"}
"""The style of a card; the first are the first on the page."""


def describe(run: CollectRun) -> ResultDocument:
    """Return the numbers of a collection, its duplicates, and some hundreds of its questions."""
    return describe_collection(run.collection, run.questions)


def describe_collection(collection: Collection, questions: Callable[[], Iterable[Collected]]) -> ResultDocument:
    """Return what each stage did, the outcome for each language, the topics, and what is kept.

    `questions` reads all of them for the page.
    """
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
    columns = ("stage", "asked", "passed", "dropped", "unscored")
    counts = [(each.stage, each.asked, each.passed, each.dropped, each.unscored) for each in collection.stages]
    stages: list[PageBlock] = [
        Hero(share, "kept", words=words, counts=undecided),
        make_grid("What each stage did", columns, counts),
        key(reading),
        Notes([f"{note[0].upper()}{note[1:]}." for note in collection.notes], "warning notes"),
    ]
    sizes = Paragraph("Sizes are of what is kept, in bytes of UTF-8, as mean and standard deviation.")
    topics: list[PageBlock] = []
    if collection.total.labelled:
        lead = "Kept questions by topic. The colour is the topic’s share of the language."
        without = "“Without”: kept questions whose topic could not be read; they are in no cell."
        topics = [Paragraph(lead), _topics(collection), key(without)]
    return ResultDocument(
        "collection",
        "Questions: what was kept, what was dropped, and why",
        [
            make_grid(f"Collection: {collection.model}", columns, counts),
            *_languages(collection),
            *(f"note: {note}" for note in collection.notes),
            collection.headline,
        ],
        [
            Section("stages", "Stages", stages),
            Section("languages", "Languages", [sizes, _language_table(collection)]),
            Section("topics", "Topics", topics),
            Section("overlap", "Languages compared", _overlap(collection)),
        ],
        details=lambda: [part(every) for every in [list(questions())] for part in (_duplicates, _cards)],
        facts={
            "Model": collection.model,
            "Candidates": count(collection.candidates),
            "Languages": count(len(collection.languages)),
        },
        warning=collection.warning,
        signatures=[("", collection.signature)],
        script=True,
        name="Collection of questions",
    )


# ---- numbers ---------------------------------------------------------------------------------------------------


def _languages(collection: Collection) -> list[Grid]:
    """Return the outcome for each language and the size of what is kept, for the terminal."""
    outcomes: list[Row] = []
    sizes: list[Row] = []
    for each in (*collection.languages.values(), collection.total):
        topic = max(each.categories, key=each.categories.__getitem__, default=NOTHING)
        outcomes.append((each.name, each.candidates, each.kept, each.dropped, each.unscored, topic))
        kept = [(size.n, NOTHING if size.mean is None else f"{number(size.mean, 1)} ({number(size.sd, 1)})")
                for size in (each.questions, each.answers)]  # fmt: skip
        sizes.append((each.name, *kept[0], *kept[1]))
    columns = ("", "candidates", "kept", "dropped", "unscored", "most frequent topic")
    return [
        make_grid("By language", columns, outcomes, words=frozenset({0, 5})),
        make_grid("What is kept, bytes as mean (sd)", ("", "questions", "bytes", "answers", "bytes"), sizes),
    ]


def _language_table(collection: Collection) -> Grid:
    """Return Table 1 of the paper, and what was dropped."""
    names = ("candidates", "kept", "dropped", "unscored", "question bytes", "answers", "answer bytes")
    rows = [
        (each.name, each.candidates, each.kept, each.dropped, each.unscored, _size(each.questions), each.answers.n,
         _size(each.answers))
        for each in (*collection.languages.values(), collection.total)
    ]  # fmt: skip
    return make_grid("Questions by language", ("language", *names), rows)


def _size(size: Size) -> Cell:
    return Cell(number(size.mean, 1), small=f"sd {number(size.sd, 1)}" if size.mean is not None else "")


def _topics(collection: Collection) -> Grid:
    """Return counts by category and language (Figure 5), coloured by their share of the language."""
    names = [category.name for category in categories() if collection.total.categories.get(category.name)]
    shown = [language for language in collection.languages.values() if language.labelled]
    rows: list[Row] = []
    for language in (*shown, collection.total):
        without = f", {language.unlabelled:,} without" if language.unlabelled else ""
        head = Head(language.name, f"n {language.labelled:,}{without}")
        rows.append((head, *(_topic(language, name) for name in names)))
    columns = [Head("language"), *(Head(name, count(collection.total.categories[name])) for name in names)]
    return make_grid("Questions by topic and language", columns, rows, kind=Heat)


def _topic(language: LanguageCount, name: str) -> Cell:
    n = language.categories.get(name, 0)
    share = n / language.labelled
    hint = f"{language.name}, {name}: {n:,} of {language.labelled:,} ({percent(share)})"
    return Cell(count(n) if n else NOTHING, share or None, hint=hint, n=language.labelled)


def _overlap(collection: Collection) -> list[PageBlock]:
    """Return Bhattacharyya's coefficients between languages (Figure 6); nothing where there is only one."""
    labelled = {tag: language for tag, language in collection.languages.items() if language.labelled}
    if len(labelled) < 2:
        return []
    pairs = {frozenset((overlap.first, overlap.second)): overlap for overlap in collection.overlaps}
    scale = shades(overlap.value for overlap in pairs.values() if not is_few(min(overlap.n)))

    def cell(row: str, column: str) -> Cell:
        pair = pairs.get(frozenset((row, column)))
        if pair is None:
            return Cell(NOTHING)
        first, second = (collection.languages[tag].name for tag in (pair.first, pair.second))
        hint = f"{first} (n {pair.n[0]:,}) and {second} (n {pair.n[1]:,}): {number(pair.value)}"
        return Cell(number(pair.value), scale.at(pair.value), hint=hint, n=min(pair.n))

    rows = [
        (Head(language.name, f"{row}, n {language.labelled:,}"), *(cell(row, column) for column in labelled))
        for row, language in labelled.items()
    ]
    grid = make_grid("How similar the topics of two languages are", ("language", *labelled), rows, kind=Heat)
    lead = (
        "How similar the topics of two languages are: Bhattacharyya’s coefficient, 0 for nothing in common, 1 for the "
        "same shares."
    )
    text = "n: of the language with fewer questions. With few questions it says little and tends to be too low."
    return [Paragraph(lead), grid, key(text, Ramp(number(scale.low, 1), number(scale.high, 1)))]


# ---- questions -------------------------------------------------------------------------------------------------


class Duplicates(PageBlock, template="cards/collect.html.j2"):
    """Duplicate questions, each with the one that it repeats."""

    rows: Sequence[tuple[Collected, str, Sequence[Collected]]]
    """The question, in which way it repeats another, and the texts to show."""


def _duplicates(questions: Sequence[Collected]) -> Section:
    """Return the exact duplicates, which are dropped, and the near ones among what is kept."""
    by_id = {question.id: question for question in questions}
    exact = [question for question in questions if question.stage is CollectStage.DUPLICATE]
    near = [(question, question.near) for question in questions if question.near]
    body: list[PageBlock] = []
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


class QuestionCard(PageBlock, template="cards/collect.html.j2"):
    """A question with the replies of the model about it."""

    question: Collected
    look: str
    numbers: str
    """What the page filters it by."""
    replies: dict[str, str]
    long: int = LONG


def _cards(questions: Sequence[Collected]) -> Section:
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
    """Return undecided, dropped and kept questions from all over: a third of the room for each that needs it."""
    groups = [[question for question in questions if question.status is status] for status in LOOKS]
    chosen: list[Collected] = []
    for place, group in enumerate(groups):
        rest, others = CARDS - len(chosen), sum(map(len, groups[place + 1 :]))
        room = max(rest - others, rest // (len(groups) - place))
        step = max(1.0, len(group) / room)
        chosen += [group[int(i * step)] for i in range(min(room, len(group)))]
    return chosen
