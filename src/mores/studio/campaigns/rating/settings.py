"""What an organiser sets for a rating campaign."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field as Setting
from pydantic import field_validator

from mores.errors import InputError
from mores.studio.campaigns.rating.content import needed, read_answers
from mores.studio.kind import CampaignSettings, Practice

INSTRUCTIONS = (Path(__file__).parent / "instructions.txt").read_text("utf-8").strip()
PER_ANSWER = ("language", "spans", "factuality", "omissions", "comment", "rating", "rank")
"""What is asked about each answer; the letter of the answer follows: `rating_a`."""
REASON = "reason"


class RatingSettings(CampaignSettings):
    """What an organiser sets for a rating campaign; README.md says what the paper does."""

    instructions: str = Setting(INSTRUCTIONS, max_length=20_000)
    """What everybody reads before they begin; paragraphs of plain text."""
    raters: int = Setting(2, ge=1, le=25)
    """How many people rate the answers to each question."""
    regional: bool = False
    """Raters come from the region of the question, besides knowing its language."""
    marking: bool = True
    """Let people mark mistakes in the answers, as minor or major."""
    error_types: tuple[str, ...] = ()
    """Types of mistakes to choose from for each mark; empty for none."""
    comments: bool = True
    """Each answer needs a comment."""
    ties: bool = False
    """Answers may share a place in the ranking."""
    reasons: bool = True
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
