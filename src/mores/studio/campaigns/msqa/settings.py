"""What an organiser sets for an MSQA campaign."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field as Setting
from pydantic import field_validator

from mores.studio.kind import CampaignSettings
from mores.studio.phrase import Phrase


class MsqaSettings(CampaignSettings):
    """What an organiser sets for an MSQA campaign; README.md says what the paper does."""

    cutoff: date = date(2023, 12, 31)
    """The facts of a question must have been established by this day."""
    search: str = ""
    """Where evidence is looked for: `serper`, `corpus:PATH` or `replay:FILE`; empty for no check by retrieval."""
    passages: int = Setting(5, ge=1, le=50)
    """How many results of the search are read."""
    checker: str = ""
    """The model that reads the evidence, checks the quality and translates; empty for the campaign's model."""
    translate: bool = True
    """Let the checker translate into Chinese what the author did not."""
    models: tuple[str, ...] = ()
    """The models that try each question (the paper has three); empty for no check of the difficulty."""
    runs: int = Setting(5, ge=1, le=100)
    """How often each of them tries."""
    most_correct: int = Setting(3, ge=0, le=100)
    """With more correct runs than this a question is too easy."""
    counted: Literal["model", "all"] = "model"
    """Whether these are the runs of any one model, or those of all models together."""
    too_easy: Literal["back", "keep"] = "back"
    """Whether a question that is too easy goes back to its author, or is kept as Easy."""
    most_returns: int = Setting(10, ge=1, le=1000)
    """An item that fails the checks by models after so many returns is rejected: each try costs calls."""
    judge: str = ""
    """The model that judges the answers; empty for the campaign's model."""
    validators: int = Setting(2, ge=1, le=25)
    """How many native speakers validate an item in each round."""
    rounds: int = Setting(2, ge=1, le=10)
    objections: int = Setting(0, ge=0, le=24)
    """How many validators of a round may object before an item goes back; never where one finds it disrespectful."""
    regional: bool = True
    """Validators come from the item's region, besides knowing its language."""

    @field_validator("models")
    @classmethod
    def _different(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(models)) < len(models):
            raise ValueError(Phrase("Name each model once."))
        return models
