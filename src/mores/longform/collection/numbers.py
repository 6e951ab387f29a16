"""What a collection comes to: counts by stage, language and category, sizes, and how alike languages' topics are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from mores.longform.collection.asking import FILTERS, Stage, categories
from mores.longform.collection.duplicates import NearDuplicate
from mores.longform.collection.run import Collected, Status
from mores.stats.distributions import bhattacharyya, summarise
from mores.types import FEW, Record, Signature


class Size(Record):
    """How long texts are, in bytes of UTF-8 (Table 1)."""

    n: int
    mean: float | None = None
    sd: float | None = None
    """Of a sample, with n - 1; None for one text."""


class StageCount(Record):
    """What came to a stage, and what became of it there."""

    stage: Stage
    asked: int
    passed: int
    """Of the translation and the topic, how many have one now."""
    dropped: int
    unscored: int


class LanguageCount(Record):
    """What became of the questions of one language, and what those that are kept are like."""

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


class Overlap(Record):
    """How alike the topics of two languages are (Figure 6)."""

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
    """Answers that were not had or not read, by kind."""
    languages: dict[str, LanguageCount]
    """By BCP 47, the one with most candidates first."""
    total: LanguageCount
    overlaps: tuple[Overlap, ...]
    near: tuple[NearDuplicate, ...]
    """Near-duplicates among what is kept."""
    notes: tuple[str, ...]
    warning: str | None = None
    """What a reader must know about the model."""

    @property
    def headline(self) -> str:
        """The result in one line."""
        undecided = f", {self.unscored:,} undecided" if self.unscored else ""
        return f"{self.kept:,} of {self.candidates:,} questions kept, {self.dropped:,} dropped{undecided}"


def add_up(questions: Sequence[Collected], stages: Iterable[Stage], model: str, signature: Signature) -> Collection:
    """The numbers of a finished collection; `stages` are those that were run."""
    by_language: dict[str, list[Collected]] = defaultdict(list)
    for one in questions:
        by_language[one.language].append(one)
    ranked = sorted(by_language.items(), key=lambda pair: (-len(pair[1]), pair[1][0].language_name))
    languages = {tag: _language(own[0].language_name, own) for tag, own in ranked}
    total = _language("all", questions)
    near = tuple(one.near for one in questions if one.near)
    return Collection(
        model=model,
        signature=signature,
        candidates=len(questions),
        kept=total.kept,
        dropped=total.dropped,
        unscored=total.unscored,
        stages=tuple(_stage(stage, questions) for stage in stages),
        failures=dict(Counter(str(failure.kind) for one in questions for failure in one.failures.values())),
        languages=languages,
        total=total,
        overlaps=tuple(_overlaps(languages)),
        near=near,
        notes=tuple(_notes(languages, near)),
    )


def _language(name: str, questions: Sequence[Collected]) -> LanguageCount:
    statuses = Counter(one.status for one in questions)
    kept = [one for one in questions if one.status is Status.KEPT]
    found = Counter(one.category for one in kept if one.category)
    return LanguageCount(
        name=name,
        candidates=len(questions),
        kept=statuses[Status.KEPT],
        dropped=statuses[Status.DROPPED],
        unscored=statuses[Status.UNSCORED],
        questions=_size(one.question for one in kept),
        answers=_size(one.answer for one in kept if one.answer),
        categories={category.name: found[category.name] for category in categories() if found[category.name]},
        unlabelled=len(kept) - found.total(),
    )


def _size(texts: Iterable[str]) -> Size:
    found = summarise([len(text.encode()) for text in texts])
    return Size(n=found.n, mean=found.mean, sd=found.sd) if found else Size(n=0)


def _stage(stage: Stage, questions: Sequence[Collected]) -> StageCount:
    dropped = sum(one.stage is stage and one.status is Status.DROPPED for one in questions)
    unscored = sum(stage in one.failures for one in questions)
    asked = sum(_reached(stage, one) for one in questions)
    return StageCount(stage=stage, asked=asked, passed=asked - dropped - unscored, dropped=dropped, unscored=unscored)


def _reached(stage: Stage, one: Collected) -> bool:
    """Whether a question came to a stage: it was not stopped before, and the stage is about it."""
    order = list(Stage)
    if one.stage is not None and order.index(one.stage) < order.index(stage):
        return False
    return stage is not Stage.TRANSLATION or one.translated or stage in one.failures


def _overlaps(languages: dict[str, LanguageCount]) -> Iterable[Overlap]:
    names = [category.name for category in categories()]
    counts = {tag: [own.categories.get(name, 0) for name in names] for tag, own in languages.items()}
    tags = list(languages)
    for place, first in enumerate(tags):
        for second in tags[place + 1 :]:
            pair = languages[first], languages[second]
            yield Overlap(
                first=first,
                second=second,
                value=bhattacharyya(counts[first], counts[second]),
                n=(pair[0].labelled, pair[1].labelled),
                few=pair[0].few or pair[1].few,
            )


def _notes(languages: dict[str, LanguageCount], near: Sequence[NearDuplicate]) -> Iterable[str]:
    few = [f"{own.name} ({own.labelled})" for own in languages.values() if own.few and own.labelled]
    if few and len(languages) > 1:
        yield (
            f"fewer than {FEW} questions with a topic, so that their coefficients say little and tend to be too low: "
            + ", ".join(few)
        )
    if near:
        yield f"{len(near):,} kept questions are nearly the same as an earlier one; they are marked, not dropped"


def undecided(found: Collection) -> bool:
    """Whether no filter could decide about any question."""
    ran = [count for count in found.stages if count.stage in FILTERS]
    return bool(ran) and all(count.passed + count.dropped == 0 for count in ran)
