"""BLEnD's answers beside facts in another language, so that a metric learns to read across languages.

BLEnD has every question and answer in the language of its region and in English. A sample asks and answers in one of
them and has its evidence in the other, or both in the language of the region; a wrong answer is one that another region
gives to the same question. `mores build ground` adds them.
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
from mores.factory.items import Task
from mores.factory.sources.blend import REGIONS, RegionalAnswers, read_answers
from mores.factory.sources.matching import alike
from mores.factory.sources.rows import unique
from mores.models.embedded import EXPLANATIONS
from mores.types import Error, ErrorReport, Evidence, Sample, Severity

SOURCE = "blend-translated"
LANGUAGES = {
    "DZ": "ar", "IN-AS": "as", "AZ": "az", "CN": "zh", "ET": "am", "GR": "el", "ID": "id", "IR": "fa", "MX": "es",
    "KP": "ko", "NG-NORTH": "ha", "KR": "ko", "ES": "es", "ID-JB": "su",
}  # fmt: skip
"""In which BLEnD asked; the United Kingdom and the United States were asked in English."""
FEW = 4
"""Answers of a fact."""


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
    """Answers that people of the region gave to any question, by their English wording."""


def read_asked(folder: Path) -> list[RegionalQuestion]:
    """Return what was asked and answered in the regions that do not speak English."""
    problems: list[InputError] = []
    answered = [answers for answers in read_answers(folder, problems.append) if REGIONS[answers.unit[1]] in LANGUAGES]
    if problems:
        raise problems[0]
    dictionary: dict[str, dict[str, str]] = defaultdict(dict)
    for answers in answered:
        for native, english in _translations(answers):
            dictionary[answers.unit[1]].setdefault(english.casefold(), native)
    asked = []
    for answers in answered:
        pairs = _translations(answers)
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


def _translations(answers: RegionalAnswers) -> list[tuple[str, str]]:
    """Return the first wording of each answer in both languages, most votes first."""
    votes = sorted(answers.row.list("annotations"), key=lambda vote: -vote["count"])
    pairs = [(vote.get("answers") or [], vote.get("en_answers") or []) for vote in votes]
    return [(native[0].strip(), english[0].strip()) for native, english in pairs if native and english
            and str(native[0]).strip() and str(english[0]).strip()]  # fmt: skip


@dataclass(frozen=True)
class Translated:
    """Samples of what was asked, for the splits in which the factory has put the items."""

    asked: list[RegionalQuestion]
    split_of: Mapping[str, str]
    """The split of each item, by name; what is not in the dataset is left out."""
    seed: int = 0

    def of(self, split: str) -> Iterator[Gold]:
        """Each question twice: in its language with evidence in English, and the reverse or all in its language."""
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
        """Yield a correct and a wrong answer with the same evidence, if another region gives a wrong one."""
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
            error = incorrect(answer, getattr(asked, evidence).answers[0], cited) if answer is wrong else None
            sample = Sample(
                id=f"{key} {'wrong' if error else 'correct'}", instruction=spoken.question, text=answer,
                language=spoken.language, region=asked.region, source=SOURCE,
                evidence=tuple(Evidence(text=fact) for fact in order),
            )  # fmt: skip
            yield Gold(
                sample=sample, report=ErrorReport(errors=(error,) if error else ()), task=Task.FREEFORM,
                kind="hard" if error else "correct", maker="source", item=asked.name, group=f"blend/{asked.question}",
            )  # fmt: skip

    def _wrong(self, asked: RegionalQuestion, others: list[RegionalQuestion], text: str) -> str | None:
        """Return an answer of another region that nobody gives here, in the wanted language if it is known."""
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


def incorrect(answer: str, correct: str, cited: int) -> Error:
    """Return the error of a wrong answer, which a fact shows."""
    return Error(
        side="text", start=0, end=len(answer), quote=answer, severity=Severity.MAJOR, type="incorrect answer",
        explanation=EXPLANATIONS.cited["incorrect answer"].format(words=correct, quote=answer), evidence=(cited,),
    )  # fmt: skip
