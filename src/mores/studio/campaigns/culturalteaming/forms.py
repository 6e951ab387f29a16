"""The forms: the scene and the question (author), the answer (verifier)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mores.studio.form import FormField, StudioForm
from mores.studio.records import CampaignItem, Content

LETTERS = "ABCD"
NONE, UNKNOWN = "none", "unknown"
LONGEST_SCENE, LONGEST_QUESTION, LONGEST_OPTION = 2000, 1000, 300
_OF_OTHERS = re.compile(
    r"^\W*(?i:(?:all|none|both|any|each|neither|either)\s+(?:of\s+)?(?:the\s+|these\s+)?"
    r"(?:above|below|(?:other\s+)?(?:options|answers|statements))\b"
    r"|(?:all|none|both|neither)\s+of\s+(?:these|them|those)\W*$)"
    r"|^\W*(?i:both\s+|neither\s+)?(?i:options?\s+)?[A-D]\s*(?:,|/|&|(?i:and|or|nor)\b)\s*[A-D]\b"
)
"""An option such as "all of the above": as a statement alone it says nothing, and in another order something else."""

WORDS = {
    "votes": "Votes",
    "agreeing": "Same answer",
    "counts": "Answers",
    "answer": "Answer",
    "mode": "Mode",
    "single": "one option",
    "multi": "several options",
    "none": "None of these is correct",
    "unknown": "I don't know",
    "probability": "Probability",
    "adjudicated": "Decided by an organiser",
    "letters": "Answer",
    "confidence": "Confidence",
    "beaten": "The AI was beaten",
}
"""What results and answers of the AI are called."""

SCENE = FormField(
    "scene",
    "A scene of your culture",
    "text",
    help="Tell in a few sentences what people do, say or expect, and why. Any language is fine here.",
    longest=LONGEST_SCENE,
)
QUESTION = (
    FormField(
        "question",
        "Question",
        "text",
        help="In English. Name the region, so that it is clear whose culture is meant.",
        longest=LONGEST_QUESTION,
    ),
    FormField("options", "Four options", "lines", count=(4, 4), longest=LONGEST_OPTION),
    FormField("correct", "Which options are correct?", "choices", options=[(letter, letter) for letter in LETTERS]),
)


def problem_of(options: Sequence[str]) -> str:
    """Return what is wrong with four options; empty where nothing is."""
    if len({" ".join(option.casefold().split()).rstrip(".") for option in options}) < len(options):
        return "Two options are the same."
    if any(map(_OF_OTHERS.search, options)):
        return "Each option must stand alone: do not write “all of the above” or “A and B”. Mark all correct options."
    return ""


def write_form(_item: CampaignItem) -> StudioForm:
    """Return the scene, and the question that is made of it."""
    return StudioForm((SCENE, *QUESTION), check=_check)


def duel_form(item: CampaignItem) -> StudioForm:
    """Return the question; when it came back, it must be changed before it is sent again."""

    def check(content: Content) -> Mapping[str, str]:
        judged = any(vote.stage == "verify" and vote.version == item.version for vote in item.votes)
        if judged and all(content[field.name] == item.content.get(field.name) for field in QUESTION):
            return {"question": "Change the question or its options: people have already judged this version."}
        return _check(content)

    return StudioForm(QUESTION, check=check)


def _check(content: Content) -> Mapping[str, str]:
    problem = problem_of(content["options"])
    return {"options": problem} if problem else {}


def verify_form(item: CampaignItem, *, ask_others: bool) -> StudioForm:
    """Return all options that apply; each verifier sees them in an order of their own, unless one refers to others."""
    options = list(zip(LETTERS, item.content.get("options", ()), strict=False))
    count = len(options)
    shuffled = 0 if problem_of([text for _, text in options]) else count
    nothing, unknown = (NONE, "None of these is correct"), (UNKNOWN, "I don't know")
    alone = frozenset({NONE, UNKNOWN})
    fields = [
        FormField(
            "answer",
            "Select all that apply",
            "choices",
            options=[*options, nothing, unknown],
            alone=alone,
            written=count,
            shuffled=shuffled,
        )
    ]
    if ask_others:
        fields.append(
            FormField(
                "others",
                "What would most other people from your region select?",
                "choices",
                help="Your guess about them; it may differ from your own answer.",
                options=[*options, nothing, unknown],
                alone=alone,
                written=count,
                shuffled=shuffled,
            )
        )
    return StudioForm(tuple(fields))
