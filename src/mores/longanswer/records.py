"""The records about long answers: what is read, and what each stage finds."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, JsonValue

from mores.search.base import Evidence, Found
from mores.types import Failure, Record


class QuestionKind(StrEnum):
    """The tie of a question to a culture (CaLMQA, Section 2.1)."""

    SPECIFIC = "specific"
    AGNOSTIC = "agnostic"


class LongAnswer(Record):
    """One long answer to a question: what is evaluated. No reference is needed."""

    id: str
    question: str
    answer: str | None
    """None where the model gave none; `failure` says why."""
    language: str
    """BCP 47: the language of the question, in which the answer should be."""
    model: str = ""
    region: str | None = None
    kind: QuestionKind | None = None
    topic: str | None = None
    question_english: str | None = None
    """A translation, where there is one."""
    answer_english: str | None = None
    failure: Failure | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=lambda kept: not kept)
    """The other columns of its row."""


class LanguageCheck(Record):
    """In which language a text is."""

    detected: str | None = None
    """BCP 47; None where the check is not confident."""
    certainty: float | None = None
    """Probability of the most likely language, detected or not; None where the check does not say."""
    shares: dict[str, float] = Field(default_factory=dict)
    """Share of the text in each language, where it is mixed."""
    correct: bool | None = None
    """Whether it is the language that was expected; None where the check is not confident."""


class Repetition(Record):
    """A window of tokens that comes again and again."""

    times: int
    """How often the most frequent window occurs."""
    text: str
    """That window."""
    spans: tuple[tuple[int, int], ...]
    """Where in the answer it stands: half-open, in code points."""


class Claim(Record):
    """One checkable statement of an answer."""

    text: str
    sentence: int
    """The sentence of the (translated) answer that it was taken from, counted from 0."""
    supported: bool | None = None
    """None where it was not decided; `failure` says why."""
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    """The judge's words."""
    failure: Failure | None = None


class AnswerRecord(Record):
    """The finding of a stage about an answer, with the answer's id and its model."""

    id: str
    model: str = ""


class Surface(AnswerRecord):
    """The measures of an answer that need no model."""

    language: LanguageCheck | None = None
    """None where it was not checked."""
    repetition: Repetition | None = None
    tells: tuple[str, ...] = ()
    failure: Failure | None = None
    """Why there is no answer."""


class Translation(AnswerRecord):
    """The question and the answer as they are judged; both None where they are not."""

    question: str | None = None
    answer: str | None = None
    english: bool = True
    """Whether they are in English, translated or not."""
    failure: Failure | None = None
    """None also where an answer is not judged because of its surface."""


class Extraction(AnswerRecord):
    """The claims of an answer."""

    claims: tuple[Claim, ...] | None = None
    """Exact duplicates are dropped; None where the answer was not read, or no sentence of it could be."""
    sentences: int = 0
    unread: int = 0
    """Sentences for which the model failed."""
    failure: Failure | None = None
    """Also where only some sentences could not be read."""


class ClaimSearch(AnswerRecord):
    """The evidence found for the claims of an answer, in their order."""

    found: tuple[Found, ...] = ()


class ClaimDecision(Record):
    """The decision about one claim, supported or not, or why there is none."""

    supported: bool | None = None
    reason: str = ""
    failure: Failure | None = None


class Verification(AnswerRecord):
    """The decisions about the claims of an answer, in their order."""

    decisions: tuple[ClaimDecision, ...] = ()


class RelevanceDecision(AnswerRecord):
    """The relevance of an answer, or why it could not be judged."""

    relevant: bool | None = None
    reason: str = ""
    failure: Failure | None = None


class Appraisal(AnswerRecord):
    """Everything that was measured about one answer. What was not requested, or failed, is None."""

    language: LanguageCheck | None = None
    repetition: Repetition | None = None
    """None when nothing repeats."""
    tells: tuple[str, ...] = ()
    """Textual tells (CaLMQA, Appendix C), for example `apology` or `emoji`."""
    question_english: str | None = None
    """What was judged in place of the question, where that was not in English."""
    answer_english: str | None = None
    claims: tuple[Claim, ...] | None = None
    read: float = 1.0
    """Share of the sentences that could be read for claims."""
    relevant: bool | None = None
    relevance_reason: str = ""
    failures: dict[str, Failure] = Field(default_factory=dict)
    """By stage: answer, translation, claims, search, verification, relevance."""
