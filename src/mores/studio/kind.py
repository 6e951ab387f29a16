"""A kind of campaign: its settings, stages, questions to models and export; one folder in `campaigns/` each."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from mores.culture import language, region
from mores.culture.regions import UnknownName
from mores.errors import InputError
from mores.models import Request
from mores.models.base import Written
from mores.search import Found, Query
from mores.studio.files import ExportFile
from mores.studio.phrase import Phrase
from mores.studio.records import Ask, CampaignItem, Content
from mores.studio.workflow import CampaignStage

if TYPE_CHECKING:
    from mores.studio.data.incoming import Incoming


def read_regions(values: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of regions, each once; InputError names the first that is not known."""
    return _read(region, values)


def read_languages(values: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of languages, each once; InputError names the first that is not known."""
    return _read(language, values)


def _read(read: Callable[[str], str], values: Iterable[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(read(value) for value in values if value.strip()))
    except UnknownName as error:
        unknown = Phrase("“{name}” is not known. Write it in English, or the code.", name=error.value)
        if error.near:
            template = "“{name}” is not known. Did you mean {suggestion}?"
            unknown = Phrase(template, name=error.value, suggestion=", ".join(error.near))
        raise InputError(unknown) from error


STEPS = ("What and for whom", "Who helps and how many", "How it is checked")
"""The steps in which an organiser sets up a campaign."""
PUBLISHING, TRAINING, PAY = "Contact and publication", "Training and attention checks", "Time and pay"
MODELS, DETAILS = "AI models", "Details"
GROUPS = (PUBLISHING, TRAINING, PAY, MODELS, DETAILS)
"""Settings that are folded away under such a heading: most organisers leave them as they are."""


def asked(default: Any = ..., *, title: str, step: Literal[1, 2, 3], group: str = "", **rules: Any) -> Any:
    """Return a setting with its name for organisers, the step that asks for it, and the group it is folded into."""
    return Field(default, title=title, json_schema_extra={"step": step, "group": group}, **rules)


class Practice(BaseModel):
    """An item with a known answer: for practice, qualification tests and attention checks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Content
    answer: Content
    """The values that an answer must have; other fields are free."""
    explanation: str = ""
    region: str = ""
    language: str = ""

    @field_validator("region", "language")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        return next(iter(_read_setting([value], info)), "")


def _read_setting(values: Iterable[str], info: ValidationInfo) -> tuple[str, ...]:
    """Return the codes of regions or languages; the first that is not known is a problem of the setting."""
    try:
        return read_regions(values) if str(info.field_name).startswith("region") else read_languages(values)
    except InputError as error:
        raise ValueError(error.args[0]) from error


class CampaignSettings(BaseModel):
    """The settings of every kind of campaign; a kind adds its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    title: str = asked(title="Title", step=1, min_length=1, max_length=200)
    """What people read in their list of campaigns, for example: Tea and talk in East Africa."""
    instructions: str = asked("", title="Guidelines", step=1, max_length=20_000)
    """What everybody reads before they begin; paragraphs of plain text."""
    consent: str = asked("", title="Consent", step=1, max_length=20_000)
    """What everybody agrees to before they begin; empty for a short text of ours."""
    contact: str = asked("", title="Contact", step=1, group=PUBLISHING, max_length=200)
    """Whom people can write to, for example an e-mail address."""
    regions: tuple[str, ...] = asked((), title="Regions", step=1)
    """Where items may be from, for example Kenya; empty for anywhere."""
    languages: tuple[str, ...] = asked((), title="Languages", step=1)
    """What items are written in, for example Swahili; empty for any language."""
    licence: str = asked("CC-BY-4.0", title="Licence", step=1, group=PUBLISHING, min_length=1, max_length=100)
    """Of what is exported."""
    pilot: int = asked(0, title="Trial items of each author", step=2, group=TRAINING, ge=0, le=1000)
    """How many items an author writes before the organiser lets them go on; 0 for no pilot."""
    pay: str = asked("", title="Pay, in words", step=2, group=PAY, max_length=500)
    """What people are paid, in words."""
    model: str = asked("", title="AI model", step=3, group=MODELS)
    """Who answers what people ask; empty for the studio's own model, `none` for no model."""
    budget: int = asked(30, title="Questions to the model", step=3, group=MODELS, ge=0, le=10_000)
    """The most questions to a model that one person may ask about one item."""
    hold_hours: float = asked(24, title="Hours to keep an item", step=2, group=PAY, gt=0, le=24 * 60)
    """How long a person keeps an item before it is given to another."""
    practice: tuple[Practice, ...] = asked((), title="Practice items", step=2)
    pass_share: float = asked(0, title="Share of practice to pass", step=2, group=TRAINING, ge=0, le=1)
    """The share of practice items that must be correct before a person may work; 0 for no test."""
    check_every: int = asked(0, title="Attention check after so many items", step=2, group=TRAINING, ge=0, le=1000)
    """Every how many items a person gets an attention check; 0 for never."""
    checks: tuple[Practice, ...] = asked((), title="Attention checks", step=2)
    include_overrides: bool = asked(False, title="Publish overridden items", step=1, group=PUBLISHING)
    """Export also items that an organiser accepted in place of the answers, or past a stage."""
    least_seconds: float = asked(0, title="Least seconds", step=2, group=PAY, ge=0, le=24 * 3600)
    """The least time that one answer or item counts for in hours and pay."""
    most_seconds: float = asked(1800, title="Most seconds", step=2, group=PAY, gt=0, le=24 * 3600)
    """The most time that one answer or item counts for in hours and pay."""
    target: int = asked(0, title="How many items you want", step=1, ge=0, le=10_000_000)
    """Accepted items; the overview says how far you are and when it may be done. 0 for all that come in."""
    hourly: float = asked(0, title="Pay for an hour", step=2, group=PAY, ge=0, le=100_000)
    """From it and the counted time the list for whoever pays has an amount for each person; 0 for none."""

    @field_validator("regions", "languages")
    @classmethod
    def _known(cls, values: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return _read_setting(values, info)

    @property
    def hold(self) -> timedelta:
        """The time for which a person keeps an item."""
        return timedelta(hours=self.hold_hours)

    def count_seconds(self, span: float) -> float:
        """Return what a span by the server's clock counts for in hours and pay."""
        return min(max(span, self.least_seconds), self.most_seconds)


def slug(title: str) -> str:
    """Return a title as a name of plain letters, digits and hyphens; empty where it has none of them."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-")


S = TypeVar("S", bound=CampaignSettings)


@dataclass(frozen=True)
class ModelTask(Generic[S]):
    """Something that a kind of campaign asks a model: how to ask it, and what the answer means."""

    request: Callable[[CampaignItem, Ask, S], Request]
    read: Callable[[Written, CampaignItem, Ask, S], Content]
    """Raises `InputError` where the answer cannot be read; people see the reason."""
    title: str = ""
    """What the button says where people may ask it."""
    keeps: tuple[str, ...] = ()
    """Fields of the item that are kept with the question (`Ask.data`), so that it stays about the version it was."""
    fills: tuple[str, ...] = ()
    """Fields of the answer that an author may take into the form with one click (`then=adopt:ASK`)."""
    whole: bool = False
    """The form must be filled in before it is asked."""

    def kept(self, item: CampaignItem) -> Content:
        """Return what is kept of an item with the question."""
        return {name: item.content[name] for name in self.keeps if name in item.content}


@dataclass(frozen=True)
class SearchTask(Generic[S]):
    """Something that a stage looks up; the question's `model` is then the name of a search (`mores.search`)."""

    query: Callable[[CampaignItem, Ask, S], Query]
    read: Callable[[Found, CampaignItem, Ask, S], Content]
    results: Callable[[S], int]
    """How many are wanted."""
    title: str = ""


class ItemCount(Protocol):
    """The counts of a kind over items, one at a time: a large campaign is read once for everything."""

    def add(self, item: CampaignItem) -> None:
        """Count an item."""

    def method(self) -> str:
        """Return the paragraph for the Method section of a paper."""

    def summarise(self) -> Mapping[str, Any]:
        """Return the kind's figures for the organiser."""


C = TypeVar("C", bound=ItemCount)


def count_items(counts: C, items: Iterable[CampaignItem]) -> C:
    """Return the counts of some items."""
    for item in items:
        counts.add(item)
    return counts


@dataclass(frozen=True)
class CampaignKind(Generic[S]):
    """A kind of campaign."""

    name: str
    title: str
    summary: str
    folder: Path
    """Its templates, prompts, README and demo."""
    settings: type[S]
    stages: Callable[[S], tuple[CampaignStage, ...]]
    export: Callable[[S, Iterable[CampaignItem]], Iterator[ExportFile]]
    """The accepted items as a folder that `mores bench` runs; all items, as the kind's records, where it does not.

    A campaign may have more items than memory holds: read them one at a time, more than once where you have to.
    """
    label: Callable[[str, Content], str | None]
    """The answer of one vote at a stage as one label, for agreement; None where it has none."""
    goal: str = ""
    """What an organiser gets by it, in plain words: the answer to "What do you want to make?"; empty for the title."""
    runs: bool = True
    """Whether `mores bench` runs its export; otherwise it exports what people judged."""
    admit: Callable[[S, Content], Content] = lambda _settings, content: dict(content)
    """The content of an imported item, checked, where nobody writes items; raises `InputError` with the fix."""
    join: Callable[[Sequence[Incoming]], Sequence[Incoming]] = lambda rows: rows
    """The rows of imported files as items, where several rows are about the same."""
    columns: tuple[str, ...] = ()
    """The columns of a file that `admit` takes, for people who write one; `answer_NAME` stands for any `answer_…`."""
    also: tuple[str, ...] | None = None
    """Fields that it takes besides, such as those of other programs' files, under exactly these names; None for any."""
    tasks: Mapping[str, ModelTask[S]] = field(default_factory=dict)
    lookups: Mapping[str, SearchTask[S]] = field(default_factory=dict)
    """What its stages look up; the names are others than those of its tasks."""
    headline: Callable[[CampaignItem], str] = lambda item: str(next(iter(item.content.values()), item.id))
    """One line that names an item in lists."""
    seen: tuple[str, ...] = ()
    """The fields of an item that judges see, where the kind has no `judge.html` that says it; never the answer key."""
    models: Callable[[S], Sequence[str]] = lambda _settings: ()
    """Every model that its stages ask, besides the one that answers people."""
    inspire: Callable[[S, CampaignItem], Content | None] | None = None
    """What other authors may see of an accepted item, in English; None where they may not see it."""
    summarise: Callable[[S, Sequence[CampaignItem]], Mapping[str, Any]] = lambda _settings, _items: {}
    """The kind's figures for the organiser, such as the paper's rates."""
    on_server: Callable[[S], Mapping[str, str]] = lambda _settings: {}
    """Settings that name files of the server, and what they name: organisers cannot set them in the browser."""
    read_files: Callable[[dict[str, Any], Path], dict[str, Any]] = lambda values, _folder: values
    """The settings of a YAML file on the server with what the files beside it that they name hold."""
    method: Callable[[S, Iterable[CampaignItem]], str] | None = None
    """A paragraph for the Method section of a paper; a general one where there is none."""
    count: Callable[[S], ItemCount] | None = None
    """Counts for `method` and `summarise` in one pass over the items, in place of them."""
    topic: Callable[[CampaignItem], str] | None = None
    """The topic of an item, where items have one: the data card says what each region writes about."""
    skilled: Callable[[S], bool] = lambda _settings: False
    """Whether its rules use how often people are correct (`Vote.skill`), which is then learned as votes come in."""
    earned: Callable[[S, Sequence[CampaignItem], str, bool], str] | None = None
    """What a person has earned by the piece, given all items and whether they finished the test; None for by time."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What its stages' results and models' answers are called for people, by the names under which they are kept."""
    shown: Callable[[S, CampaignItem], Mapping[str, Any]] = lambda _settings, _item: {}
    """What its own templates show besides the item."""

    def title_of(self, task: str) -> str:
        """Return what people call something that is asked or looked up."""
        return (self.tasks.get(task) or self.lookups[task]).title or task
