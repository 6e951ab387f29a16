"""The numbers of a collection: counts by stage, language and category, sizes, and how similar topics are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from mores.formatting import count
from mores.longanswer.collection import CandidateStatus, Collected
from mores.longanswer.collection.asking import FILTERS, CollectStage, categories
from mores.longanswer.collection.duplicates import NearDuplicate
from mores.stats.distributions import bhattacharyya, summarise
from mores.types import FEW, Record, Signature


class Size(Record):
    """The lengths of texts, in bytes of UTF-8 (Table 1)."""

    n: int
    mean: float | None = None
    sd: float | None = None
    """Of a sample, with n - 1; None for one text."""


class StageCount(Record):
    """The number of questions that reached a stage, by outcome."""

    stage: CollectStage
    asked: int
    passed: int
    """For translation and topic: how many have one now."""
    dropped: int
    unscored: int


class LanguageCount(Record):
    """The outcome for the questions of one language, with the sizes and topics of those that are kept."""

    name: str
    candidates: int
    kept: int
    dropped: int
    unscored: int
    questions: Size
    answers: Size
    categories: dict[str, int]
    """Kept questions by topic (Figure 5)."""
    unlabelled: int
    """Kept questions without a topic, because none was asked or none could be read."""

    @property
    def labelled(self) -> int:
        return sum(self.categories.values())

    @property
    def few(self) -> bool:
        return self.labelled < FEW


class TopicOverlap(Record):
    """The similarity of the topics of two languages (Figure 6)."""

    first: str
    second: str
    value: float | None
    """Bhattacharyya's coefficient, 0 to 1; None where one language has no labelled question."""
    n: tuple[int, int]
    """Labelled questions of each."""
    few: bool
    """Whether one of them has too few to say much."""


class Collection(Record):
    """All numbers of a collection."""

    model: str
    signature: Signature
    candidates: int
    kept: int
    dropped: int
    unscored: int
    stages: tuple[StageCount, ...]
    failures: dict[str, int]
    """Replies that are missing or could not be read, by kind."""
    languages: dict[str, LanguageCount]
    """By BCP 47, the one with most candidates first."""
    total: LanguageCount
    overlaps: tuple[TopicOverlap, ...]
    near: tuple[NearDuplicate, ...]
    """Near-duplicates among what is kept."""
    notes: tuple[str, ...]
    warning: str | None = None
    """What a reader must know about the model."""

    @property
    def headline(self) -> str:
        """The result in one line."""
        undecided = f", {count(self.unscored)} undecided" if self.unscored else ""
        return (
            f"{count(self.kept)} of {count(self.candidates)} questions kept, {count(self.dropped)} dropped{undecided}"
        )


def add_up(
    questions: Sequence[Collected], stages: Iterable[CollectStage], model: str, signature: Signature
) -> Collection:
    """Return the numbers of a finished collection; `stages` are those that were run."""
    by_language: dict[str, list[Collected]] = defaultdict(list)
    for question in questions:
        by_language[question.language].append(question)
    ranked = sorted(by_language.items(), key=lambda pair: (-len(pair[1]), pair[1][0].language_name))
    languages = {tag: _language(members[0].language_name, members) for tag, members in ranked}
    total = _language("all", questions)
    near = tuple(question.near for question in questions if question.near)
    return Collection(
        model=model,
        signature=signature,
        candidates=len(questions),
        kept=total.kept,
        dropped=total.dropped,
        unscored=total.unscored,
        stages=tuple(_stage(stage, questions) for stage in stages),
        failures=dict(Counter(str(failure.kind) for question in questions for failure in question.failures.values())),
        languages=languages,
        total=total,
        overlaps=tuple(_overlaps(languages)),
        near=near,
        notes=tuple(_notes(languages, near)),
    )


def _language(name: str, questions: Sequence[Collected]) -> LanguageCount:
    statuses = Counter(question.status for question in questions)
    kept = [question for question in questions if question.status is CandidateStatus.KEPT]
    topics = Counter(question.category for question in kept if question.category)
    return LanguageCount(
        name=name,
        candidates=len(questions),
        kept=statuses[CandidateStatus.KEPT],
        dropped=statuses[CandidateStatus.DROPPED],
        unscored=statuses[CandidateStatus.UNSCORED],
        questions=_size(question.question for question in kept),
        answers=_size(question.answer for question in kept if question.answer),
        categories={category.name: topics[category.name] for category in categories() if topics[category.name]},
        unlabelled=len(kept) - topics.total(),
    )


def _size(texts: Iterable[str]) -> Size:
    summary = summarise([len(text.encode()) for text in texts])
    return Size(n=summary.n, mean=summary.mean, sd=summary.sd) if summary else Size(n=0)


def _stage(stage: CollectStage, questions: Sequence[Collected]) -> StageCount:
    dropped = sum(question.stage is stage and question.status is CandidateStatus.DROPPED for question in questions)
    unscored = sum(stage in question.failures for question in questions)
    order, reached = list(CollectStage), 0
    for question in questions:  # it was not stopped before the stage, and the stage is about it
        stopped = question.stage is not None and order.index(question.stage) < order.index(stage)
        is_about = stage is not CollectStage.TRANSLATION or question.translated or stage in question.failures
        reached += is_about and not stopped
    return StageCount(
        stage=stage, asked=reached, passed=reached - dropped - unscored, dropped=dropped, unscored=unscored
    )


def _overlaps(languages: dict[str, LanguageCount]) -> Iterable[TopicOverlap]:
    names = [category.name for category in categories()]
    counts = {tag: [language.categories.get(name, 0) for name in names] for tag, language in languages.items()}
    for (first, one), (second, other) in combinations(languages.items(), 2):
        value, few = bhattacharyya(counts[first], counts[second]), one.few or other.few
        yield TopicOverlap(first=first, second=second, value=value, n=(one.labelled, other.labelled), few=few)


def _notes(languages: dict[str, LanguageCount], near: Sequence[NearDuplicate]) -> Iterable[str]:
    few = [f"{each.name} ({each.labelled})" for each in languages.values() if each.few and each.labelled]
    if few and len(languages) > 1:
        yield (
            f"fewer than {FEW} questions with a topic, so that their coefficients say little and tend to be too low: "
            + ", ".join(few)
        )
    if near:
        yield f"{count(len(near))} kept questions are nearly the same as an earlier one; they are marked, not dropped"


def undecided(collection: Collection) -> bool:
    """Return whether no filter could decide about any question."""
    ran = [stage for stage in collection.stages if stage.stage in FILTERS]
    return bool(ran) and all(stage.passed + stage.dropped == 0 for stage in ran)
