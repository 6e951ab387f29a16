"""The settings and forms: source, question, inspection, validation, acceptance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Literal

from pydantic import field_validator

from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, MODELS, CampaignSettings, asked
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content


class MsqaSettings(CampaignSettings):
    """The settings of an MSQA campaign; README.md says what the paper does."""

    cutoff: date = asked(date(2023, 12, 31), title="Facts known by", step=1)
    """The facts of a question must have been established by this day."""
    search: str = asked("", title="Search for evidence", step=3, group=MODELS)
    """Where evidence is looked for: `serper`, `corpus:PATH` or `replay:FILE`; empty for no check by retrieval."""
    passages: int = asked(5, title="Results of the search", step=3, group=MODELS, ge=1, le=50)
    """How many results of the search are read."""
    checker: str = asked("", title="Model that checks", step=3, group=MODELS)
    """The model that reads the evidence, checks the quality and translates; empty for the campaign's model."""
    translate: bool = asked(True, title="Translate into Chinese", step=3, group=MODELS)
    """Let the checker translate into Chinese what the author did not."""
    models: tuple[str, ...] = asked((), title="Models that try each question", step=3, group=MODELS)
    """The models that try each question (the paper has three); empty for no check of the difficulty."""
    runs: int = asked(5, title="Tries of each model", step=3, group=MODELS, ge=1, le=100)
    """How often each of them tries."""
    most_correct: int = asked(3, title="Correct tries that are allowed", step=3, ge=0, le=100)
    """With more correct runs than this a question is too easy."""
    counted: Literal["model", "all"] = asked("model", title="Whose tries are counted", step=3, group=MODELS)
    """Whether these are the runs of any one model, or those of all models together."""
    too_easy: Literal["back", "keep"] = asked("back", title="Questions that are too easy", step=3)
    """Whether a question that is too easy goes back to its author, or is kept as Easy."""
    most_returns: int = asked(10, title="Returns before it is rejected", step=3, group=DETAILS, ge=1, le=1000)
    """An item that fails the checks by models after so many returns is rejected: each try costs calls."""
    judge: str = asked("", title="Model that judges answers", step=3, group=MODELS)
    """The model that judges the answers; empty for the campaign's model."""
    validators: int = asked(2, title="Native speakers in each round", step=2, ge=1, le=25)
    """How many native speakers validate an item in each round."""
    rounds: int = asked(2, title="Rounds of validation", step=2, ge=1, le=10)
    """How often native speakers validate an item, one round after the other."""
    objections: int = asked(0, title="Objections that are allowed", step=3, ge=0, le=24)
    """How many validators of a round may object before an item goes back; never where one finds it disrespectful."""
    regional: bool = asked(True, title="Validators come from the region", step=2)
    """Validators come from the item's region, besides knowing its language."""

    @field_validator("models")
    @classmethod
    def _different(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(models)) < len(models):
            raise ValueError(Phrase("Name each model once."))
        return models


SOURCES = {
    "encyclopedia": "Encyclopedia or knowledge base",
    "academic": "Academic publication",
    "official": "Official or institutional source",
    "dictionary": "Dictionary or language resource",
    "media": "Media or native community",
    "folklore": "Website about culture or folklore",
}
"""The six kinds of sources (Section 3.2, Stage 1)."""

DIMENSIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "HCM": (
        "History and Collective Memory",
        (
            "Founding institutions and nation-defining events",
            "Multi-generational social movements and collective projects",
            "Era-specific economic impacts and policy responses",
            "Domestic political turning points that shaped national identity",
        ),
    ),
    "BVKS": (
        "Beliefs, Values, and Knowledge Systems",
        (
            "Core philosophical or religious terminology specific to a tradition",
            "Key concepts within traditional knowledge systems (e.g., traditional medicine)",
            "Mythological figures, locations, or artifacts",
            "Material symbols that embody cultural values",
        ),
    ),
    "SNC": (
        "Social Norms and Customs",
        (
            "Festival-specific rituals and traditions",
            "Dining and hospitality etiquette",
            "Unwritten rules of daily social interaction",
            "Life-cycle ceremonies (weddings, funerals, coming-of-age)",
            "Culturally specific body language meanings",
            "Traditional games and their rules",
        ),
    ),
    "LECA": (
        "Language Expression and Communication Arts",
        (
            "Untranslatable words with no direct equivalent in other languages",
            "Culturally grounded idioms and proverbs",
            "Culture-specific humor, puns, and wordplay",
            "High-context communication subtexts and implicit refusals",
        ),
    ),
    "CPS": (
        "Cultural Products and Symbols",
        (
            "Iconic local brands, products, or national dishes",
            "Traditional crafts, textiles, and clothing with specific names",
            "Named literary, cinematic, or musical genres unique to a culture",
            "Contemporary internet culture terms and slang",
        ),
    ),
}
"""The five dimensions and their sub-categories (Appendix D)."""
CATEGORIES = {
    f"{code}{number}": (dimension, part)
    for code, (dimension, parts) in DIMENSIONS.items()
    for number, part in enumerate(parts, 1)
}
"""Dimension and sub-category by code, for example `SNC2`."""

PRINCIPLES = {
    "single": "Exactly one short, factual, unambiguous answer is correct.",
    "static": "The answer does not change over time.",
    "specific": "The question is tied to one culture and cannot be understood without it.",
    "cutoff": "The facts were established on or before {cutoff}.",
    "hard": "It is not widely known: a good model should find it hard.",
}
"""The five design principles (Section 3.1); the author confirms each. The paper's last day is 31 December 2023."""

WORDS = {
    "retrieval": "Evidence",
    "quality": "One clear answer",
    "difficulty": "Difficulty",
    "state": "Status",
    "reason": "Reason",
    "evidence": "What the search found",
    "title": "Title",
    "text": "Text",
    "source": "Source",
    "models": "Models",
    "model": "Model",
    "correct": "Correct",
    "failed": "Failed",
    "runs": "Runs",
    "tier": "Tier",
    "sources": "Sources",
    "url": "Link",
    "desc": "What does it say?",
    "votes": "Votes",
    "objections": "Objections",
    "objection": "Objection",
    "valid": "Valid",
    "answer": "Answer",
    "verdict": "Verdict",
    "Easy": "Easy",
    "Medium": "Medium",
    "Hard": "Hard",
    **{code: code for code in ("waiting", "passed", "returned", "not confirmed", "not done", "stuck", "not measured")},
}
"""What results and answers of models are called."""

_SOURCE = (
    FormField(
        "source_url", "Link to the source", "link", help="A page in the native language that you trust.", longest=2000
    ),
    FormField("source_kind", "Kind of source", "select", options=tuple(SOURCES.items())),
)


def _checklist(section: str, texts: Mapping[str, str]) -> Iterator[FormField]:
    """Yield a box to tick for each text, under one heading."""
    for number, (name, text) in enumerate(texts.items()):
        yield FormField(name, text, "check", section="" if number else section)


def source_form(_item: CampaignItem) -> StudioForm:
    """Return where the knowledge comes from."""
    return StudioForm(_SOURCE)


def write_form(item: CampaignItem, cutoff: date) -> StudioForm:
    """Return the question, its answer and its source, and the five principles."""
    categories = tuple((code, part) for code, (_, part) in CATEGORIES.items())
    principles = {name: Phrase(text, cutoff=cutoff.isoformat()) for name, text in PRINCIPLES.items()}
    headings = tuple((f"{code}1", dimension) for code, (dimension, _) in DIMENSIONS.items())

    def check(content: Content) -> Mapping[str, str]:
        if not item.language:
            return {"question": "First write in your profile which languages you speak."}
        if bool(content["question_zh"]) != bool(content["answer_zh"]):
            return {"answer_zh": "Translate both the question and the answer, or neither."}
        return {}

    return StudioForm(
        (
            FormField("question", "Question", "text", help="In the native language.", longest=1000, native=True),
            FormField("answer", "Answer", help="Short: a name, a word, a number.", longest=300, native=True),
            FormField(
                "culture", "Culture", help="Whose knowledge is it? In English, for example: Yoruba.", longest=100
            ),
            FormField("category", "What is it about?", "select", options=categories, headings=headings),
            *_SOURCE,
            FormField("source_desc", "What does the source say?", "text", help="One or two sentences.", longest=1000),
            FormField("question_zh", "The question in Chinese", "text", required=False, longest=1000),
            FormField("answer_zh", "The answer in Chinese", required=False, longest=300),
            *_checklist("Confirm each of these", principles),
        ),
        check,
    )


CRITERIA = {
    "specificity": "Is it specific to the culture?",
    "depth": "Does it go deep, beyond what tourists know?",
    "wording": "Is the language correct and natural?",
    "reliability": "Is the source reliable, and does it say this?",
}
"""What an inspector looks at (Section 3.2, Stage 4)."""
YES_NO = (("yes", "Yes"), ("no", "No"))
TIERS = {
    "Easy": "Easy: cultural common sense",
    "Medium": "Medium: regional nuance",
    "Hard": "Hard: obscure institutional or folkloric knowledge",
}
"""What an inspector may call a question (Section 3.3)."""
PASS, RETURN = "pass", "return"


def inspect_form(item: CampaignItem, by_hand: Iterable[tuple[str, str]]) -> StudioForm:
    """Return the inspection; `by_hand` names the checks that no model has passed, which the inspector makes instead."""
    checks = dict(by_hand)

    return StudioForm(
        (
            *(FormField(name, text, "scale", options=YES_NO) for name, text in CRITERIA.items()),
            FormField(
                "source_1",
                "A further source that confirms the answer",
                "link",
                help="By others than the author's source. Needed unless you return the item.",
                required=False,
                longest=2000,
            ),
            FormField("source_1_desc", "What does it say?", required=False, longest=1000),
            FormField("source_2", "One more source", "link", required=False, longest=2000),
            FormField("source_2_desc", "What does it say?", required=False, longest=1000),
            *(FormField(f"by_hand_{name}", text, "check", required=False) for name, text in checks.items()),
            FormField(
                "verdict",
                "Your decision",
                "choice",
                options=((PASS, "It is good"), (RETURN, "Return it to the author")),
            ),
            FormField(
                "tier",
                "Tier",
                "select",
                options=tuple(TIERS.items()),
                help="By your own judgement; without one it follows from the models' runs.",
                required=False,
            ),
            FormField("note", "Notes for the author", "text", required=False, longest=2000),
        ),
        lambda content: _inspection_problems(item, checks, content),
    )


def _inspection_problems(item: CampaignItem, checks: Iterable[str], content: Content) -> Mapping[str, str]:
    if content["verdict"] == RETURN:
        return {} if content["note"] else {"note": "Say what the author should change."}
    problems = {f"by_hand_{name}": "Please confirm." for name in checks if not content[f"by_hand_{name}"]}
    if any(content[name] == "no" for name in CRITERIA):
        problems["verdict"] = "You said no above: return it to the author."
    known = [item.content.get("source_url", "")]
    for name in ("source_1", "source_2"):
        link = content[name]
        if link and any(_same(link, other) for other in known):
            problems[name] = "You have this source already. Give another one."
        if link and not content[f"{name}_desc"]:
            problems[f"{name}_desc"] = "Say in a few words what the source says."
        known.append(link)
    if not content["source_1"]:
        problems["source_1"] = "Give at least one more source."
    return problems


def _same(one: str, other: str) -> bool:
    """Return whether two links lead to the same page, whatever their scheme, end and fragment."""

    def plain(link: str) -> str:
        return link.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/").casefold()

    return plain(one) == plain(other)


QUESTIONS = {
    "appropriate": "Is the question appropriate in the culture?",
    "correct": "Is the answer correct there?",
    "respectful": "Is it free of anything disrespectful to any group?",
}
"""What a native speaker validates (Section 3.2, Stage 5)."""


def validate_form(_item: CampaignItem) -> StudioForm:
    """Return the validation by a native speaker."""

    def check(content: Content) -> Mapping[str, str]:
        if any(content[name] == "no" for name in QUESTIONS) and not content["note"]:
            return {"note": "Say what is wrong."}
        return {}

    fields = [FormField(name, text, "scale", options=YES_NO) for name, text in QUESTIONS.items()]
    return StudioForm((*fields, FormField("note", "Note", "text", required=False, longest=2000)), check)


ACCEPTANCE = {
    "format": "The format is consistent: texts, links, labels.",
    "coherence": "Question, answer and sources fit together.",
}
"""What the project lead looks at (Appendix C, Stage 5)."""


def accept_form(_item: CampaignItem) -> StudioForm:
    """Return the project lead's last look."""
    return StudioForm(tuple(_checklist("To accept it, confirm", ACCEPTANCE)))
