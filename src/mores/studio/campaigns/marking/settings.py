"""What an organiser sets for an error-marking campaign, and the types of errors that it has."""

from __future__ import annotations

from typing import Literal

from pydantic import Field as Setting
from pydantic import field_validator, model_validator

from mores.metaevaluation.juice.data import THICK, THIN
from mores.studio.kind import CampaignSettings

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
    """What an organiser sets for an error-marking campaign."""

    taxonomy: Literal["excam", "juice", "mqm", "own"] = "excam"
    """The types of errors: free words as in ExCAM, the seven of JuICE, those of MQM, or your own list."""
    types: tuple[str, ...] = ()
    """Your own list of types."""
    mark_instruction: bool = False
    """Let people mark the instruction as well as the text."""
    missing: bool = True
    """Let people say that something is missing."""
    explanation: Asked = "optional"
    """Whether people explain each error."""
    correction: Asked = "optional"
    """Whether people write what would be correct."""
    markers: int = Setting(2, ge=1, le=25)
    """How many people mark each text."""
    begin: Literal["blank", "report", "previous"] = "report"
    """What a person begins with: nothing, the report that came with the text, or what the person before left."""
    validated: bool = True
    """Let another person say of each mark whether it is valid."""
    grouping: Literal["rule", "organiser"] = "rule"
    """Who says which marks of several people are the same error: overlap alone, or the organiser, who may change it."""
    regional: bool = False
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
