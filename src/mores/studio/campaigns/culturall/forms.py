"""The settings and forms: writing, making it harder, review (Sections 2.2.1, 2.3.2, 2.4.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mores.errors import InputError
from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, MODELS, TRAINING, CampaignSettings, asked, read_regions
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content

FOLDER = Path(__file__).parent


class CampaignTopic(BaseModel):
    """A topic that authors write about and items are sorted into."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    description: str = Field("", max_length=1000)
    seeds: tuple[str, ...] = ()
    """Things to write about, to begin with."""

    @model_validator(mode="before")
    @classmethod
    def _from_line(cls, value: Any) -> Any:
        """Read a line as organisers write it: `Food: what people eat | breakfast | tea`."""
        if not isinstance(value, str):
            return value
        about, *seeds = (part.strip() for part in value.split("|"))
        name, _, description = about.partition(":")
        return {"name": name.strip(), "description": description.strip(), "seeds": [seed for seed in seeds if seed]}

    def __str__(self) -> str:
        about = f"{self.name}: {self.description}" if self.description else self.name
        return " | ".join((about, *self.seeds))


@cache
def paper_topics() -> tuple[CampaignTopic, ...]:
    """Return the sixteen topics of Table 4."""
    return tuple(
        CampaignTopic.model_validate(entry) for entry in yaml.safe_load((FOLDER / "topics.yaml").read_text("utf-8"))
    )


class CulturallSettings(CampaignSettings):
    """The settings of a CulturALL campaign."""

    pilot: int = asked(10, title="Trial items of each author", step=2, group=TRAINING, ge=0, le=1000)
    """How many items an author writes before the organiser lets them go on; 0 for no pilot."""
    topics: tuple[CampaignTopic, ...] = asked(
        paper_topics(), title="Topics", step=1, group=DETAILS, min_length=1, max_length=100
    )
    """What authors write about: a name, then ":" and a description, then "|" before each idea to begin with."""
    inspiration: bool = asked(True, title="Ideas from others", step=2)
    """Show authors the English versions of others' accepted items."""
    models: tuple[str, ...] = asked((), title="Models that measure difficulty", step=3, group=MODELS, max_length=9)
    """The models that measure how hard an item is (the paper has three); empty for no measuring."""
    judge: str = asked("", title="Model that judges answers", step=3, group=MODELS)
    """Who judges their answers; empty for the campaign's own model."""
    most_correct: int = asked(1, title="Models that may be correct", step=3, ge=0, le=8)
    """An item is challenging when at most so many of the models answer correctly."""
    keep_easy: bool = asked(True, title="Keep easy items", step=3)
    """Keep an easy item that its author leaves as it is; otherwise it is rejected."""
    reviewer: Literal["author", "verifier", "inspector"] = asked("author", title="Who reviews", step=2)
    """Who reviews: other authors, as in the paper, or people in another role. Nobody reviews an item they wrote."""
    same_language: bool = asked(True, title="Reviewers know the language", step=2, group=DETAILS)
    """Only people who know an item's language review it."""
    same_region: bool = asked(False, title="Reviewers come from the region", step=2, group=DETAILS)
    """Only people from an item's region review it."""
    cross_check: int = asked(100, title="Items to check once more", step=3, ge=0, le=100_000)
    """How many of the accepted items are cross-checked, when the organiser draws them; 0 for none."""

    @field_validator("topics")
    @classmethod
    def _different(cls, topics: tuple[CampaignTopic, ...]) -> tuple[CampaignTopic, ...]:
        names = [topic.name.casefold() for topic in topics]
        if len(set(names)) < len(names):
            raise ValueError(Phrase("Two topics have the same name."))
        return topics


PARTS = ("scenario", "question", "answer", "explanation")
ENGLISH = tuple(f"english_{name}" for name in PARTS)
IN_ENGLISH = {
    "scenario": "Scenario in English",
    "question": "Question in English",
    "answer": "Answer in English",
    "explanation": "Explanation in English",
}
SOURCES = {
    "experience": "My own experience",
    "inspiration": "An item from another culture gave me the idea",
    "data": "Existing data, such as a question of another dataset",
    "document": "A document or web page",
}
REQUIREMENTS = {
    "sample": "It needs cultural knowledge: local words, norms, common sense, rules, a special field. Not trivia.",
    "scenario": "The scenario is a real situation. It has no hint that gives the answer without that knowledge.",
    "question": "The question comes from the scenario. Without the knowledge nobody can answer it.",
    "answer": "The answer is objective and as short as possible. If that cannot be: four options, A to D, one letter.",
    "explanation": "The explanation says what one has to know, where this helps.",
    "distinct": "It asks for other knowledge than my other items. It is not the same thing in other words.",
}
"""What an item must be (Section 2.2.1), as a checklist."""
STRATEGIES = {
    "swap": "Long-tail swap: a rarer thing in place of a common one",
    "context": "More or less context: more conditions to think through, or fewer hints",
    "compositional": "Compositional: two separate pieces of knowledge in one question",
}
"""How an item becomes harder (Section 2.3.2)."""
CRITERIA = {
    "region_topic": "Are region and topic correct?",
    "requirements": "Does the item meet the requirements?",
    "translation": "Does the English translation say the same?",
    "safe": "Is it free of personal data and of harmful or offensive content?",
}
"""What a reviewer checks (Section 2.4.3)."""
VERDICTS = {
    "accept": "Accept: nothing is wrong",
    "revise": "Revise: I corrected it in the fields below",
    "reject": "Reject: it cannot be corrected",
}
NO_MODELS = "not measured: the campaign names no models"
NO_JUDGE = "not measured: there is nobody to judge the answers"
NOT_COMPLETED = "not completed: the campaign has no model; the reviewer fills it in"
WORDS = {
    "measured": "Measured",
    "challenging": "Challenging",
    "correct": "Correct",
    "models": "Models",
    "answers": "Answers",
    "text": "Answer",
    "reason": "Reason",
    **VERDICTS,
    "left": "Left as it is",
    "completed": "Completed",
    "changed": "Changed by the reviewer",
    "meets_criteria": "Meets all criteria",
    "does_not": "Does not meet all criteria",
    **{reason: reason for reason in (NO_MODELS, NO_JUDGE, NOT_COMPLETED)},
    **{name: name.capitalize() for name in ("region", "topic", *PARTS)},
    **{f"english_{name}": label for name, label in IN_ENGLISH.items()},
}
"""What results and answers of models are called."""
CROSS_CHECK = "cross_check"
YES, NO, NOTHING = "yes", "no", "nothing"
_LETTER = re.compile(r"[A-D]")


def _texts() -> tuple[FormField, ...]:
    return (
        FormField(
            "scenario", "Scenario", "text", help="A real situation, in your language.", longest=4000, native=True
        ),
        FormField("question", "Question", "text", longest=2000, native=True),
        FormField("answer", "Answer", help="As short as possible.", longest=300, native=True),
        FormField("explanation", "Explanation", "text", required=False, longest=4000, native=True),
    )


def create_form(settings: CulturallSettings, _item: CampaignItem) -> StudioForm:
    """Return the form of a new item."""
    return StudioForm(
        (
            FormField("theme", "Topic", "select", options=[(topic.name, topic.name) for topic in settings.topics]),
            FormField("source", "Where is it from?", "choice", options=list(SOURCES.items())),
            FormField(
                "excerpt",
                "Text to work from",
                "text",
                help="Only where it is from data or a document: paste the text here, and the AI can draft the item.",
                required=False,
                longest=8000,
            ),
            FormField("link", "Link to it", "link", required=False, longest=500),
            FormField("inspired_by", "", "hidden", required=False, longest=40),
            *_texts(),
            FormField(
                "checklist", "Before you send it, check each point", "choices", options=list(REQUIREMENTS.items())
            ),
        ),
        check=_check_new,
    )


def _check_new(content: Content) -> Mapping[str, str]:
    problems = dict(check_letter(content))
    if len(content["checklist"]) < len(REQUIREMENTS):
        problems["checklist"] = "Tick every point. If one is not true, change the item first."
    if content["source"] in ("data", "document") and not content["excerpt"]:
        problems["excerpt"] = "Paste the text that it is from."
    return problems


def check_letter(content: Content) -> Mapping[str, str]:
    """Return the problem of an answer that is a letter where the question lacks its four options."""
    answer, question = content["answer"], content["question"]
    if not _LETTER.fullmatch(answer):
        return {}
    listed = [re.search(rf"(?<![A-Za-z]){letter}\s*[.):：、．]", question) for letter in "ABCD"]
    return {} if all(listed) else {"question": "The answer is a letter: write the four options A. to D. here."}


def elevate_form(item: CampaignItem) -> StudioForm:
    """Return the form by which an author makes an easy item harder, or leaves it."""

    def check(content: Content) -> Mapping[str, str]:
        changed = any(content[name] != item.content.get(name, "") for name in PARTS)
        if content["leave"]:
            return {"leave": "You changed the item. Take this tick away, or undo the changes."} if changed else {}
        problems = dict(check_letter(content))
        if not changed:
            problems["leave"] = "Change the item, or tick this box."
        elif not content["strategies"]:
            problems["strategies"] = "Say how you made it harder."
        return problems

    return StudioForm(
        (
            *_texts(),
            FormField(
                "strategies", "How did you make it harder?", "choices", options=list(STRATEGIES.items()), required=False
            ),
            FormField("leave", "I cannot make it harder; leave it as it is", "check", required=False),
        ),
        check=check,
    )


def is_english(item: CampaignItem) -> bool:
    """Return whether an item was written in English, in whatever country, and needs no translation."""
    return item.language.partition("-")[0] == "en"


def present(item: CampaignItem) -> dict[str, str]:
    """Return what a reviewer sees and may change; region and topic are the author's where no model has given any."""
    content = item.content
    return {
        "region": content.get("region") or item.region,
        "topic": content.get("topic") or content.get("theme", ""),
        **{name: content.get(name, "") for name in (*PARTS, *(() if is_english(item) else ENGLISH))},
    }


def changes(item: CampaignItem, answer: Content) -> dict[str, str]:
    """Return what a reviewer changed, by field; filling in what was empty is a change too."""
    before = present(item)
    after = {name: answer[name] for name in before if name in answer}
    if after.get("region"):
        after["region"] = read_regions([after["region"]])[0]
    return {name: text for name, text in after.items() if text != before[name]}


def review_form(settings: CulturallSettings, item: CampaignItem) -> StudioForm:
    """Return the form of a review; it holds the whole item, so that a reviewer can correct it."""
    before = present(item)
    topics = list(dict.fromkeys([*(topic.name for topic in settings.topics), before["topic"]]))
    yes_no = [(YES, "Yes"), (NO, "No")]
    translated = any(before.get(name) for name in ENGLISH)
    answers = {"translation": yes_no if translated else [(NOTHING, "There is no translation"), *yes_no]}
    texts = {field.name: field for field in _texts()}
    english = [
        FormField(f"english_{name}", IN_ENGLISH[name], field.kind, required=False, longest=field.longest)
        for name, field in texts.items()
        if f"english_{name}" in before
    ]

    def check(content: Content) -> Mapping[str, str]:
        try:
            changed = changes(item, content)
        except InputError as error:
            return {"region": error.args[0]}
        return _check_review(before, content, changed)

    return StudioForm(
        (
            FormField("region", "Region", help="A country or region, such as KE or Kenya.", longest=80),
            FormField("topic", "Topic", "select", options=[(name, name) for name in topics if name]),
            *(
                FormField(name, label, "scale", options=answers.get(name, yes_no))
                for name, label in CRITERIA.items()
                if name != "translation" or english
            ),
            FormField("verdict", "Your decision", "choice", options=list(VERDICTS.items())),
            FormField("note", "What was wrong?", "text", required=False, longest=2000),
            replace(texts.pop("scenario"), section="If you revise: correct the item here"),
            *texts.values(),
            *english,
        ),
        check=check,
        values=before,
    )


def cross_check_form(item: CampaignItem) -> StudioForm:
    """Return the form of a cross-check: the four criteria, once more (Section 2.4.3)."""
    before = present(item)
    translated = any(before.get(name) for name in ENGLISH)
    criteria = {name: label for name, label in CRITERIA.items() if name != "translation" or translated}

    def check(content: Content) -> Mapping[str, str]:
        wrong = any(content[name] == NO for name in criteria)
        return {"note": "Say what is wrong."} if wrong and not content["note"] else {}

    fields = (FormField(name, label, "scale", options=[(YES, "Yes"), (NO, "No")]) for name, label in criteria.items())
    return StudioForm((*fields, FormField("note", "What was wrong?", "text", required=False, longest=2000)), check)


def meets_criteria(answer: Content) -> bool:
    """Return whether a cross-check found nothing wrong."""
    return all(answer.get(name) != NO for name in CRITERIA)


def _check_review(before: Mapping[str, str], content: Content, changed: Mapping[str, str]) -> Mapping[str, str]:
    """Return the problem of a decision that does not fit what the reviewer found and did."""
    wrong = [name for name in CRITERIA if content.get(name) == NO]
    corrected = [name for name in changed if before[name]]
    match content["verdict"]:
        case "accept" if wrong:
            return {"verdict": "You answered No above. Choose Revise or Reject."}
        case "accept" if corrected:
            return {"verdict": "You changed the item. Choose Revise, or undo the changes."}
        case "revise" if not changed:
            return {"verdict": "You changed nothing. Correct the item in the fields below, or choose another answer."}
        case "revise" if not wrong:
            return {"verdict": "Say above what was wrong: answer No there."}
        case "reject" if not wrong:
            return {"verdict": "Say above what is wrong: answer No there."}
        case "reject" if not content["note"]:
            return {"note": "Say why it cannot be corrected."}
    return check_letter(content) if content["verdict"] != "reject" else {}
