"""What an organiser sets for a CulturALL campaign; the paper's values are the defaults."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from mores.studio.kind import CampaignSettings
from mores.studio.phrase import Phrase

FOLDER = Path(__file__).parent


class CampaignTopic(BaseModel):
    """A topic that authors write about and items are sorted into."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    description: str = Field("", max_length=1000)
    seeds: tuple[str, ...] = ()
    """Things to write about, to begin with."""


@cache
def paper_topics() -> tuple[CampaignTopic, ...]:
    """Return the sixteen topics of Table 4."""
    return tuple(
        CampaignTopic.model_validate(entry) for entry in yaml.safe_load((FOLDER / "topics.yaml").read_text("utf-8"))
    )


class CulturallSettings(CampaignSettings):
    """What an organiser sets for a CulturALL campaign."""

    pilot: int = Field(10, ge=0, le=1000)
    """How many items an author writes before the organiser lets them go on; 0 for no pilot."""
    topics: tuple[CampaignTopic, ...] = Field(default_factory=paper_topics, min_length=1, max_length=100)
    inspiration: bool = True
    """Show authors the English versions of others' accepted items."""
    models: tuple[str, ...] = Field((), max_length=9)
    """The models that measure how hard an item is (the paper has three); empty for no measuring."""
    judge: str = ""
    """Who judges their answers; empty for the campaign's own model."""
    most_correct: int = Field(1, ge=0, le=8)
    """An item is challenging when at most so many of the models answer correctly."""
    keep_easy: bool = True
    """Keep an easy item that its author leaves as it is; otherwise it is rejected."""
    reviewer: Literal["author", "verifier", "inspector"] = "author"
    """Who reviews: other authors, as in the paper, or people in another role. Nobody reviews an item they wrote."""
    same_language: bool = True
    """Only people who know an item's language review it."""
    same_region: bool = False
    """Only people from an item's region review it."""
    cross_check: int = Field(100, ge=0, le=100_000)
    """How many of the accepted items are cross-checked, when the organiser draws them; 0 for none."""

    @field_validator("topics")
    @classmethod
    def _different(cls, topics: tuple[CampaignTopic, ...]) -> tuple[CampaignTopic, ...]:
        names = [topic.name.casefold() for topic in topics]
        if len(set(names)) < len(names):
            raise ValueError(Phrase("Two topics have the same name."))
        return topics
