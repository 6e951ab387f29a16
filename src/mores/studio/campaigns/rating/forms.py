"""The settings and forms: opinions about each answer, then about all in a ranking (Appendix D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import field_validator

from mores.errors import InputError
from mores.studio.campaigns.rating.content import needed, read_answers
from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, CampaignSettings, Practice, asked
from mores.studio.marks import as_shown
from mores.studio.records import CampaignItem, Content

INSTRUCTIONS = (Path(__file__).parent / "instructions.txt").read_text("utf-8").strip()
PER_ANSWER = ("language", "spans", "factuality", "omissions", "comment", "rating", "rank")
"""What is asked about each answer; the letter of the answer follows: `rating_a`."""
REASON = "reason"


class RatingSettings(CampaignSettings):
    """The settings of a rating campaign; README.md says what the paper does."""

    instructions: str = asked(INSTRUCTIONS, title="Guidelines", step=1, max_length=20_000)
    """What everybody reads before they begin; paragraphs of plain text."""
    raters: int = asked(2, title="People who rate each question", step=2, ge=1, le=25)
    """How many people rate the answers to each question."""
    regional: bool = asked(False, title="People come from the region", step=2)
    """Raters come from the region of the question, besides knowing its language."""
    marking: bool = asked(True, title="Mark mistakes", step=3)
    """Let people mark mistakes in the answers, as minor or major."""
    error_types: tuple[str, ...] = asked((), title="Types of mistakes", step=3, group=DETAILS)
    """Types of mistakes to choose from for each mark; empty for none."""
    comments: bool = asked(True, title="A comment on each answer", step=3)
    """Each answer needs a comment."""
    ties: bool = asked(False, title="Ties in the ranking", step=3, group=DETAILS)
    """Answers may share a place in the ranking."""
    reasons: bool = asked(True, title="A reason for the ranking", step=3)
    """The ranking needs a reason."""

    @field_validator("practice", "checks")
    @classmethod
    def _answerable(cls, entries: tuple[Practice, ...]) -> tuple[Practice, ...]:
        """Known answers are about letters, so that what they mean does not depend on any order."""
        for number, practice in enumerate(entries, 1):
            given = practice.content.get("answers")
            if not isinstance(given, list) or not all(isinstance(one, dict) and one.get("letter") for one in given):
                raise ValueError(f"item {number}: write its answers as a list of {{letter: a, text: …}}")
            try:
                needed(practice.content, "question")
                letters = [answer["letter"] for answer in read_answers(practice.content)]
            except InputError as error:
                raise ValueError(f"item {number}: {error}") from error
            names = {REASON, *(f"{field}_{letter}" for field in PER_ANSWER for letter in letters)}
            if unknown := sorted(practice.answer.keys() - names):
                raise ValueError(f"item {number}: unknown field {unknown[0]!r}; expected {', '.join(sorted(names))}")
        return entries


LANGUAGE = (("yes", "Yes"), ("partially", "In part"), ("no", "No"))
SEVERITY = (("minor", "Minor"), ("major", "Major"))
ISSUES = (("none", "None"), ("minor", "Minor"), ("major", "Major"))
RATING = (
    ("1", "Unusable: wrong, off the point, or not to be understood"),
    ("2", "Poor: serious mistakes or gaps, little of it helps"),
    ("3", "Average: it helps, with clear mistakes or gaps"),
    ("4", "Good: it answers the question, with small flaws"),
    ("5", "Excellent: correct, complete and well written"),
)
"""The points are the paper's; what they mean is in our words."""


def rate_form(settings: RatingSettings, item: CampaignItem) -> StudioForm:
    """Return the form: step 1 asks about each answer, step 2 for their ranking."""
    answers = item.content.get("answers") or []
    letters = [answer["letter"] for answer in answers]
    fields = [field for answer in answers for field in about_answer(settings, answer)]
    if len(letters) > 1:
        fields += ranking(settings, letters)
    return StudioForm(tuple(fields), lambda content: same_places(settings, letters, content), blocks=tuple(letters))


def about_answer(settings: RatingSettings, answer: Content) -> Iterator[FormField]:
    """Yield the questions about one answer, in the order of Section 4."""
    letter = answer["letter"]
    yield FormField(
        f"language_{letter}", "Is it in the language of the question?", "scale", options=LANGUAGE, block=letter
    )
    if settings.marking:
        yield FormField(
            f"spans_{letter}",
            "Mistakes in the text",
            "marks",
            help="Select the words that are wrong, and say how bad it is.",
            required=False,
            parts={"text": as_shown(answer["text"])},
            details=tuple(about_mistake(settings)),
            block=letter,
        )
    yield FormField(
        f"factuality_{letter}",
        "Are there factual mistakes?",
        "scale",
        help="Minor: a detail is wrong. Major: something that matters is wrong.",
        options=ISSUES,
        block=letter,
    )
    yield FormField(
        f"omissions_{letter}",
        "Is something important missing?",
        "scale",
        help="Minor: it would be better with it. Major: without it the question is not answered.",
        options=ISSUES,
        block=letter,
    )
    yield FormField(
        f"comment_{letter}",
        "Your comment",
        "text",
        help="What is good, and what is bad? Is it helpful, complete, clear and fluent? Does it sound natural?",
        required=settings.comments,
        block=letter,
    )
    yield FormField(f"rating_{letter}", "Overall rating", "choice", options=RATING, block=letter)


def about_mistake(settings: RatingSettings) -> Iterator[FormField]:
    """Yield the questions about one marked mistake."""
    yield FormField("severity", "How bad is it?", "scale", options=SEVERITY)
    if settings.error_types:
        options = [(name, name) for name in settings.error_types]
        yield FormField("type", "What kind of mistake is it?", "select", options=options)
    yield FormField("explanation", "What is wrong?", required=False, longest=500)


def ranking(settings: RatingSettings, letters: Sequence[str]) -> Iterator[FormField]:
    """Yield a place for each answer, and why."""
    last = len(letters)
    names = {1: "Best", last: "Worst"}
    places = [(str(number), names.get(number, str(number))) for number in range(1, last + 1)]
    for letter in letters:
        yield FormField(f"rank_{letter}", "Its place", "scale", options=places, step=2, block=letter)
    yield FormField(
        REASON,
        "Why this order?",
        "text",
        help="What makes the best answer better than the others? Call them by their numbers.",
        required=settings.reasons,
        step=2,
    )


def same_places(settings: RatingSettings, letters: Sequence[str], content: Content) -> Mapping[str, str]:
    """Return the places that cannot be: two answers have one, or nobody is first."""
    places = {letter: content[f"rank_{letter}"] for letter in letters if f"rank_{letter}" in content}
    if not places:
        return {}
    if settings.ties:
        first = f"rank_{letters[0]}"
        return {} if "1" in places.values() else {first: "Give the best answer the first place."}
    counts = Counter(places.values())
    return {
        f"rank_{letter}": "Two answers have this place. Give each answer a place of its own."
        for letter, place in places.items()
        if counts[place] > 1
    }
