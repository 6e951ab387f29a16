"""BLEnD's answers with facts in another language, so that a metric learns to read across languages.

BLEnD has every question and answer in the language of its region and in English. A sample has question and answer in
one of them and its evidence in the other, or all in the language of the region; a wrong answer is that of another
region to the same question. `mores build ground` adds them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mores.errors import InputError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.sources.blend import LANGUAGES, REGIONS, read_answers, translations
from mores.factory.sources.matching import alike
from mores.factory.sources.rows import unique
from mores.models.embedded import EXPLANATIONS
from mores.training.pair_samples import cite_error, make_gold
from mores.types import Evidence, Sample

SOURCE = "blend-translated"
CONTRADICTION = "incorrect answer"
FEW = 4
"""Maximum answers in a fact."""


class Wording(NamedTuple):
    """A question and its answers in one language, most votes first."""

    language: str
    question: str
    answers: tuple[str, ...]

    @property
    def fact(self) -> str:
        return f"{self.question} {'; '.join(self.answers[:FEW])}"


@dataclass(frozen=True)
class RegionalQuestion:
    """One question in one region, in both languages."""

    question: str
    region: str
    name: str
    """The item of the factory: `blend/ID:Region`."""
    native: Wording
    english: Wording
    in_native: Mapping[str, str]
    """Answers of the region to any question, by their English wording."""


def read_questions(folder: Path) -> list[RegionalQuestion]:
    """Return the questions and answers of the regions that were not asked in English."""
    problems: list[InputError] = []
    answered = [answers for answers in read_answers(folder, problems.append) if REGIONS[answers.unit[1]] in LANGUAGES]
    if problems:
        raise problems[0]
    dictionary: dict[str, dict[str, str]] = defaultdict(dict)
    for answers in answered:
        for native, english in translations(answers):
            dictionary[answers.unit[1]].setdefault(english.casefold(), native)
    asked = []
    for answers in answered:
        pairs = translations(answers)
        if answers.best is None or not pairs or not answers.row.maybe("question"):
            continue
        region = REGIONS[answers.unit[1]]
        natives, englishes = (unique(texts) for texts in zip(*pairs, strict=True))
        asked.append(
            RegionalQuestion(
                question=answers.unit[0],
                region=region,
                name=f"blend/{':'.join(answers.unit)}",
                native=Wording(LANGUAGES[region], answers.row.text("question"), natives),
                english=Wording("en", answers.question, englishes),
                in_native=dictionary[answers.unit[1]],
            )
        )
    return asked


@dataclass(frozen=True)
class Translated:
    """Samples of the questions, in the splits of the factory's items."""

    asked: list[RegionalQuestion]
    split_of: Mapping[str, str]
    """The split of each item, by name; other items are left out."""
    seed: int = 0

    def samples(self, split: str) -> Iterator[Gold]:
        """Yield each question twice: in its language with evidence in English, and reversed or all in its language."""
        by_question: dict[str, list[RegionalQuestion]] = defaultdict(list)
        for asked in self.asked:
            if self.split_of.get(asked.name) == split:
                by_question[asked.question].append(asked)
        for asked in (asked for same in by_question.values() for asked in same):
            others = [other for other in by_question[asked.question] if other.region != asked.region]
            second = "english" if draw(self.seed, "second", asked.name)[0] % 2 else "native"
            yield from self._pair(asked, others, "native", "english")
            yield from self._pair(asked, others, second, "native")

    def _pair(
        self, asked: RegionalQuestion, others: list[RegionalQuestion], text: str, evidence: str
    ) -> Iterator[Gold]:
        """Yield a correct and a wrong answer with the same evidence, if another region has a wrong one."""
        spoken: Wording = getattr(asked, text)
        wrong = self._wrong(asked, others, text)
        if wrong is None:
            return
        key = f"{asked.name} {text} {evidence}"
        digest = draw(self.seed, "translated", key)
        facts = [getattr(asked, evidence).fact]
        facts += [getattr(other, evidence).fact for other in self._drawn(others, key)[: digest[0] % 3]]
        order = sorted(facts, key=lambda fact: draw(self.seed, key, fact))
        cited = order.index(facts[0]) + 1
        for answer in (spoken.answers[digest[1] % min(2, len(spoken.answers))], wrong):
            error = None
            if answer is wrong:
                words = {"words": getattr(asked, evidence).answers[0], "quote": answer}
                error = cite_error(answer, 0, CONTRADICTION, EXPLANATIONS.cited[CONTRADICTION].format(**words), cited)
            sample = Sample(
                id=f"{key} {'wrong' if error else 'correct'}",
                instruction=spoken.question,
                text=answer,
                language=spoken.language,
                region=asked.region,
                source=SOURCE,
                evidence=tuple(Evidence(text=fact) for fact in order),
            )
            yield make_gold(sample, error, asked.name, f"blend/{asked.question}")

    def _wrong(self, asked: RegionalQuestion, others: list[RegionalQuestion], text: str) -> str | None:
        """Return an answer of another region that nobody gives here, in the language of the text."""
        known = asked.english.answers
        for other in self._drawn(others, f"{asked.name} {text}"):
            answer = other.english.answers[0]
            if any(alike(answer, same) for same in known):
                continue
            if text == "english":
                return answer
            if (native := asked.in_native.get(answer.casefold())) and native not in asked.native.answers:
                return native
        return None

    def _drawn(self, others: list[RegionalQuestion], key: str) -> list[RegionalQuestion]:
        return sorted(others, key=lambda other: draw(self.seed, "other", key, other.name))
