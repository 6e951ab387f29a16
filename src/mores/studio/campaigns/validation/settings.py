"""What an organiser sets in a validation, besides the settings of every campaign."""

from __future__ import annotations

from pydantic import Field, field_validator

from mores.culture import language
from mores.errors import InputError
from mores.studio.campaigns.validation.rows import admit
from mores.studio.kind import CampaignSettings, Practice


class ValidationSettings(CampaignSettings):
    """The paper's numbers are the defaults (Section 4): three people for English, two for other languages."""

    main: str = "en"
    """The language that most samples are in."""
    people: int = Field(3, ge=2, le=50)
    """How many people answer about a sample in the main language."""
    people_elsewhere: int = Field(2, ge=2, le=50)
    """How many people answer about a sample in another language."""
    people_by_language: dict[str, int] = Field(default_factory=dict)
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
