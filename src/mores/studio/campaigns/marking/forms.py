"""The settings and forms: marks, whether each is valid, and which are the same error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import field_validator, model_validator

from mores.metaevaluation.juice.data import THICK, THIN
from mores.studio.campaigns.marking.errors import PersonMark, found_in, group
from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, CampaignSettings, asked
from mores.studio.marks import Mark, as_shown
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content

Asked = Literal["required", "optional", "no"]
MQM = (
    "Accuracy/Addition",
    "Accuracy/Omission",
    "Accuracy/Mistranslation",
    "Accuracy/Untranslated text",
    "Fluency/Punctuation",
    "Fluency/Spelling",
    "Fluency/Grammar",
    "Fluency/Register",
    "Fluency/Inconsistency",
    "Fluency/Character encoding",
    "Terminology/Inappropriate for context",
    "Terminology/Inconsistent use",
    "Style/Awkward",
    "Locale convention/Address format",
    "Locale convention/Currency format",
    "Locale convention/Date format",
    "Locale convention/Name format",
    "Locale convention/Telephone format",
    "Locale convention/Time format",
    "Source error",
    "Non-translation",
    "Other",
)
"""The categories of Freitag et al. 2021, Table 10, as WMT's files write them."""


class MarkingSettings(CampaignSettings):
    """The settings of an error-marking campaign."""

    taxonomy: Literal["excam", "juice", "mqm", "own"] = asked("excam", title="Types of errors", step=1)
    """The types of errors: free words as in ExCAM, the seven of JuICE, those of MQM, or your own list."""
    types: tuple[str, ...] = asked((), title="Your own types of errors", step=1, group=DETAILS)
    """Your own list of types."""
    mark_instruction: bool = asked(False, title="Mark the instruction too", step=1, group=DETAILS)
    """Let people mark the instruction as well as the text."""
    missing: bool = asked(True, title="Something may be missing", step=1, group=DETAILS)
    """Let people say that something is missing."""
    explanation: Asked = asked("optional", title="Explanations", step=1)
    """Whether people explain each error."""
    correction: Asked = asked("optional", title="Corrections", step=1)
    """Whether people write what would be correct."""
    markers: int = asked(2, title="People who mark each text", step=2, ge=1, le=25)
    """How many people mark each text."""
    begin: Literal["blank", "report", "previous"] = asked("report", title="What people begin with", step=2)
    """What a person begins with: nothing, the report that came with the text, or what the person before left."""
    validated: bool = asked(True, title="Check the marks", step=3)
    """Let another person say of each mark whether it is valid."""
    grouping: Literal["rule", "organiser"] = asked("rule", title="Who joins equal errors", step=3)
    """Who says which marks of several people are the same error: overlap alone, or the organiser, who may change it."""
    regional: bool = asked(False, title="People come from the region", step=2)
    """People come from the text's region, besides knowing its language."""

    @field_validator("types")
    @classmethod
    def _different(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(types)) < len(types):
            raise ValueError("name each type once")
        return types

    @model_validator(mode="after")
    def _listed(self) -> MarkingSettings:
        if self.taxonomy == "own" and not self.types:
            raise ValueError("the taxonomy is your own, and types is empty; list them")
        return self

    @property
    def known_types(self) -> tuple[str, ...]:
        """The types that people choose from; empty where they write them."""
        return {"excam": (), "juice": (*THIN, *THICK), "mqm": MQM, "own": self.types}[self.taxonomy]


SEVERITIES = (("minor", "Minor"), ("major", "Major"))
WORDS = {
    "instruction": "Instruction",
    "text": "Text",
    "id": "Identifier",
    "source": "Source",
    "judge": "Judged before by",
    "marks": "Errors",
    "marked": "Marks",
    "of": "Marks",
    "valid": "Valid marks",
    "groups": "Groups",
    "major": "Major",
    "minor": "Minor",
    "no error": "There is no error in this text",
}
"""What contents, labels and results are called."""
VALID, OTHER, INVALID = "valid", "other", "invalid"
VERDICTS = ((VALID, "It is an error"), (OTHER, "It is an error of another type"), (INVALID, "It is not an error"))


def parts_of(settings: MarkingSettings, content: Content) -> dict[str, str]:
    """Return the texts of an item that can be marked."""
    names = ("instruction", "text") if settings.mark_instruction and content.get("instruction") else ("text",)
    return {name: as_shown(str(content.get(name, ""))) for name in names}


def type_field(settings: MarkingSettings, name: str, label: str, *, required: bool = True) -> FormField:
    """Return the question for the type of an error."""
    if not settings.known_types:
        return FormField(name, label, longest=100, required=required)
    headings = [(THIN[0], "Thin: wrong on the surface"), (THICK[0], "Thick: wrong in its context")]
    options = [(each, each) for each in settings.known_types]
    juice = settings.taxonomy == "juice"
    return FormField(name, label, "select", options=options, headings=headings if juice else (), required=required)


def details(settings: MarkingSettings) -> tuple[FormField, ...]:
    """Return what is asked about each mark."""
    fields = [
        FormField("severity", "Severity", "choice", options=SEVERITIES),
        type_field(settings, "type", "Type of error"),
    ]
    fields += _asked(settings.explanation, "explanation", "What is wrong?", 2000)
    fields += _asked(settings.correction, "correction", "What would be correct?", 1000)
    return tuple(fields)


def _asked(asked: Asked, name: str, label: str, longest: int) -> list[FormField]:
    return [] if asked == "no" else [FormField(name, label, "text", required=asked == "required", longest=longest)]


def mark_form(settings: MarkingSettings, item: CampaignItem) -> StudioForm:
    """Return the marks of one person; that there are none is said, never assumed."""
    parts = parts_of(settings, item.content)
    marks = FormField(
        "marks", "Errors", "marks", required=False, parts=parts, details=details(settings), missing=settings.missing
    )
    none = FormField("none", "There is no error in this text", "check", required=False)
    votes = item.votes_at("mark")
    first = [] if settings.begin == "blank" else item.content.get("marks", ())
    if settings.begin == "previous" and votes:
        first = votes[-1].answer["marks"]
    first = [_fitting(settings, mark) for mark in first if mark["part"] in parts]
    return StudioForm((marks, none), check=_check_marks, values={"marks": first})


def _fitting(settings: MarkingSettings, mark: Mark) -> Mark:
    """Return a mark whose type is one of the campaign's; a type that is not stands before the explanation."""
    known = settings.known_types
    if not known or mark.get("type") in known:
        return mark
    words = [word for word in (mark.get("type"), mark.get("explanation")) if word]
    return mark | {"type": "", "explanation": ": ".join(words)}


def _check_marks(answer: Content) -> Mapping[str, str]:
    if not answer["marks"] and not answer["none"]:
        return {"marks": "Mark the errors, or say below that there is none."}
    if answer["marks"] and answer["none"]:
        return {"none": "You have marked errors and say that there are none. Please take one of them back."}
    return {}


def validate_form(settings: MarkingSettings, item: CampaignItem) -> StudioForm:
    """Return three answers about each mark of the others, and the type that fits better."""
    fields: list[FormField] = []
    for number, found in enumerate(found_in(item)):
        heading = Phrase("{number}. “{quote}”", number=number + 1, quote=isolate(found.mark["quote"]))
        missing = Phrase("{number}. Something is missing", number=number + 1)
        fields += [
            FormField(
                f"verdict_{number}",
                "Is it an error?",
                "choice",
                section=missing if found.mark["start"] is None else heading,
                help=describe(found),
                options=VERDICTS,
            ),
            replace(
                type_field(settings, f"category_{number}", "The type that fits better", required=False),
                when=(f"verdict_{number}", OTHER),
            ),
        ]
    return StudioForm(tuple(fields), check=_check_verdicts)


def _check_verdicts(answer: Content) -> Mapping[str, str]:
    verdicts = {name: value for name, value in answer.items() if name.startswith("verdict_")}
    return {
        name.replace("verdict", "category"): "Say which type fits better."
        for name, verdict in verdicts.items()
        if verdict == OTHER and not answer[name.replace("verdict", "category")]
    }


def describe(found: PersonMark) -> str:
    """Return what the person who made a mark said about it, in one line."""
    severity = dict(SEVERITIES).get(found.mark.get("severity", ""), "")
    explanation, correction = (isolate(str(found.mark.get(name, ""))) for name in ("explanation", "correction"))
    better = Phrase("correct: {words}", words=correction) if correction else ""
    facts = [severity, str(found.mark.get("type", "")), explanation, better]
    named = {f"fact_{number}": fact for number, fact in enumerate(fact for fact in facts if fact)}
    return Phrase(" · ".join(f"{{{name}}}" for name in named), **named)


def isolate(text: str) -> str:
    """Return a text that may be in another script than what is around it, so that neither turns the other round."""
    return f"\u2068{text}\u2069" if text else ""


def group_form(item: CampaignItem) -> StudioForm:
    """Return the organiser's form: marks with the same number are the same error; the rule's numbers are filled in."""
    everything = found_in(item)
    options = [(str(number + 1), str(number + 1)) for number in range(len(everything))]
    numbers = {place: number for number, members in enumerate(group(item), 1) for place in members}
    fields = [
        FormField(
            f"group_{place}",
            Phrase("{number}. “{quote}”", number=place + 1, quote=isolate(everything[place].mark["quote"]) or "–"),
            "select",
            help=describe(everything[place]),
            options=options,
        )
        for place in sorted(numbers)
    ]
    return StudioForm(tuple(fields), values={f"group_{place}": [str(numbers[place])] for place in numbers})


def grouped(_item: CampaignItem, answer: Content) -> Content:
    """Return the groups as the organiser filled them in."""
    groups: dict[str, list[int]] = {}
    for name, number in answer.items():
        groups.setdefault(number, []).append(int(name.removeprefix("group_")))
    return {"groups": sorted(groups.values())}
