"""The settings and forms: the error, the explanation of it, metrics' explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import field_validator

from mores.culture import language
from mores.errors import InputError
from mores.studio.campaigns.validation.rows import admit
from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, CampaignSettings, Practice, asked
from mores.studio.marks import as_shown
from mores.studio.records import CampaignItem, Content


class ValidationSettings(CampaignSettings):
    """The paper's numbers are the defaults (Section 4): three people for English, two for other languages."""

    main: str = asked("en", title="Main language", step=1)
    """The language that most samples are in."""
    people: int = asked(3, title="People for the main language", step=2, ge=2, le=50)
    """How many people answer about a sample in the main language."""
    people_elsewhere: int = asked(2, title="People for other languages", step=2, ge=2, le=50)
    """How many people answer about a sample in another language."""
    people_by_language: dict[str, int] = asked(
        {}, title="Languages with another number of people", step=2, group=DETAILS
    )
    """Languages with another number of people, for example sw: 5."""

    @field_validator("main")
    @classmethod
    def _known_main(cls, value: str) -> str:
        return _code(value)

    @field_validator("people_by_language")
    @classmethod
    def _known_languages_of_people(cls, values: dict[str, int]) -> dict[str, int]:
        wrong = [count for count in values.values() if not 2 <= count <= 50]
        if wrong:
            raise ValueError(f"{wrong[0]} people; expected 2 to 50")
        return {_code(name): count for name, count in values.items()}

    @field_validator("practice", "checks")
    @classmethod
    def _known_samples(cls, values: tuple[Practice, ...]) -> tuple[Practice, ...]:
        """Read samples with known answers, which are written as rows, like those that are imported."""
        read = []
        for number, practice in enumerate(values, 1):
            try:
                read.append(practice.model_copy(update={"content": admit(practice.content)}))
            except InputError as error:
                raise ValueError(f"sample {number}: {error}") from error
        return tuple(read)

    def needed(self, code: str) -> int:
        """Return how many people answer about a sample in a language."""
        usual = self.people if code == self.main else self.people_elsewhere
        return self.people_by_language.get(code, usual)


def _code(name: str) -> str:
    try:
        return language(name)
    except InputError as error:
        raise ValueError(str(error)) from error


YES_NO = (("yes", "Yes"), ("no", "No"))
ERROR = (
    ("valid", "Valid: every marked word is part of a cultural error"),
    ("partly", "Partly valid: there is a cultural error, but words are marked that are not part of it"),
    ("not", "Not valid: nothing that is marked is a cultural error"),
)
EXPLANATION = (
    ("valid", "Valid: it says what is wrong, and all that it says is correct"),
    ("partly", "Partly valid: it leaves out a part of the error, or describes a part of it incorrectly"),
    ("not", "Not valid: it does not explain the error"),
)
SEVERITIES = {"minor": "Minor", "major": "Major"}
SEVERITY = (*SEVERITIES.items(), ("none", "It is not an error"))
LIKENESS = (("1", "1"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5"))
WORDS = {
    "votes": "Answers",
    "found": "Find an error",
    "sample": "Sample",
    "source": "Source",
    "instruction": "Instruction",
    "original_instruction": "Original instruction",
    "text": "Changed text",
    "original": "Original text",
    "explanation": "Explanation of the error",
    "type": "Type",
    "severity": "Severity",
    "explanations": "Explanations of metrics",
    "metric": "Metric",
    "silent": "No error found by:",
    "failed": "Failed:",
}
"""What is kept of a sample and of the answers about it, for people."""
MARKS = "marks"
PREFIX = "likeness_"


def validate_form(item: CampaignItem) -> StudioForm:
    """Return the three steps; the third is there when a metric has an explanation."""
    content = item.content
    parts = {side: as_shown(content.get(side, "")) for side in ("instruction", "text")}
    explanations = content.get("explanations", [])
    return StudioForm(
        (*_error_fields(parts), *_explanation_fields(), *_likeness_fields(explanations)),
        check=lambda given: _check_error(item, given) | _check_explanation(item, given),
        values={MARKS: content.get(MARKS, [])},
        blocks=tuple(str(number) for number in range(1, len(explanations) + 1)),
    )


def _error_fields(parts: Mapping[str, str]) -> Iterator[FormField]:
    yield FormField(
        "cultural",
        "Is the text about a culture?",
        "scale",
        help="Its customs, values, food, language, history, places or people, in any country.",
        options=YES_NO,
    )
    yield FormField(
        "error",
        "Does the change put a cultural error into the text?",
        "choice",
        help="If you do not know this culture, look it up in a source that you trust.",
        options=ERROR,
    )
    yield FormField(
        MARKS,
        "The words that are wrong",
        "marks",
        help="Remove the marks of words that are not wrong, or mark the correct words.",
        required=False,
        when=("error", "partly"),
        parts={part: text for part, text in parts.items() if text},
    )
    yield FormField("note", "Notes about the error", "text", required=False, longest=2000)


def _explanation_fields() -> Iterator[FormField]:
    yield FormField("explained", "Is the explanation correct?", "choice", options=EXPLANATION, step=2)
    yield FormField(
        "severity_ok",
        "Do you agree with the severity?",
        "scale",
        help="Say how it seems to you: there is no correct answer.",
        options=YES_NO,
        step=2,
    )
    yield FormField(
        "own_severity",
        "If not: how severe is it?",
        "scale",
        options=SEVERITY,
        required=False,
        step=2,
        when=("severity_ok", "no"),
    )
    yield FormField("type_ok", "Do you agree with the type of the error?", "scale", options=YES_NO, step=2)
    yield FormField("own_type", "If not: what type is it?", required=False, longest=200, step=2, when=("type_ok", "no"))
    yield FormField(
        "changed", "Has the explanation changed your mind about the error?", "scale", options=YES_NO, step=2
    )
    yield FormField(
        "error_after",
        "If so: what do you think of the error now?",
        "choice",
        options=ERROR,
        required=False,
        step=2,
        when=("changed", "yes"),
    )


def _likeness_fields(explanations: list[Content]) -> Iterator[FormField]:
    for number, explanation in enumerate(explanations, 1):
        yield FormField(
            f"{PREFIX}{number}",
            "How alike is it to the explanation of the error?",
            "scale",
            help="1: they have nothing in common. 5: they say the same.",
            quote=explanation["explanation"],
            options=LIKENESS,
            step=3,
            block=str(number),
        )


def _check_error(item: CampaignItem, given: Content) -> dict[str, str]:
    """Return the problem of marks that do not fit what is said about the error."""
    if "error" not in given:
        return {}
    both = given[MARKS], item.content.get(MARKS, [])
    places, gold = ([(mark["part"], mark["start"], mark["end"]) for mark in marks] for marks in both)
    same = sorted(places) == sorted(gold)
    if given["error"] == "partly" and (same or not places) and not given["note"]:
        return {MARKS: "Mark only the words that are wrong, or say in the notes which they are."}
    if given["error"] == "valid" and not same:
        return {MARKS: "You have changed the marks. Choose “partly valid”, or put them back."}
    return {}


def _check_explanation(item: CampaignItem, given: Content) -> dict[str, str]:
    """Return the fields in which people who disagree have to say what they think instead."""
    if "explained" not in given:
        return {}
    problems = {}
    if given["severity_ok"] == "no" and given["own_severity"] in ("", item.content.get("severity")):
        problems["own_severity"] = "Choose the severity that you think is correct."
    if given["type_ok"] == "no" and not given["own_type"]:
        problems["own_type"] = "Say in a few words what type it is."
    if given["changed"] == "yes" and not given["error_after"]:
        problems["error_after"] = "Choose what you think of the error now."
    return problems
