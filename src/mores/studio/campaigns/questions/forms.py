"""The settings and forms: questions, websites and translations, and the check of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import model_validator

from mores.culture import base_language
from mores.studio.form import FormField, StudioForm
from mores.studio.kind import DETAILS, PAY, TRAINING, CampaignSettings, Practice, asked
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content

FOLDER = Path(__file__).parent
GUIDELINES = (FOLDER / "guidelines.txt").read_text("utf-8").strip()
TEST = tuple(Practice.model_validate(entry) for entry in yaml.safe_load((FOLDER / "practice.yaml").read_text("utf-8")))
"""The test on the guidelines: eleven items (Appendix A.2)."""


class LongQuestionSettings(CampaignSettings):
    """The settings of a campaign that collects questions; README.md says what the paper does."""

    instructions: str = asked(GUIDELINES, title="Guidelines", step=1, max_length=20_000)
    """What everybody reads before they begin; paragraphs of plain text."""
    source: Literal["native", "websites", "survey", "translation"] = asked("native", title="What people do", step=1)
    """What people do: write questions, take them from websites, name websites, or translate questions."""
    websites: tuple[str, ...] = asked((), title="Websites", step=1)
    """The websites from which questions are taken; empty for any."""
    answers: bool = asked(False, title="Answers by the authors", step=1)
    """Authors also write an answer to each question."""
    reviewer: Literal["author", "verifier", "inspector"] = asked("inspector", title="Who reviews", step=2)
    """Who checks what people send. Nobody checks their own."""
    same_language: bool = asked(False, title="Reviewers know the language", step=2, group=DETAILS)
    """Only people who know an item's language review it."""
    pilot: int = asked(5, title="Trial items of each author", step=2, group=TRAINING, ge=0, le=1000)
    """How many items an author writes before the organiser lets them go on; 0 for no pilot."""
    practice: tuple[Practice, ...] = asked(TEST, title="Practice items", step=2)
    pass_share: float = asked(0.8, title="Share of practice to pass", step=2, group=TRAINING, ge=0, le=1)
    """The share of practice items that must be correct before a person may work; 0 for no test."""
    currency: str = asked("USD", title="Currency", step=2, group=PAY, max_length=20)
    """In which everybody is paid."""
    per_question: float = asked(0, title="Pay for each item", step=2, group=PAY, ge=0, le=10_000)
    """What is paid for each question, website or translation that a person sends in good faith."""
    per_answer: float = asked(0, title="Pay for an answer", step=2, group=PAY, ge=0, le=10_000)
    """What is paid in addition for a question with an answer."""
    per_test: float = asked(0, title="Pay for the test", step=2, group=PAY, ge=0, le=10_000)
    """What is paid to everybody who finishes the test."""

    @model_validator(mode="before")
    @classmethod
    def _untested(cls, values: Any) -> Any:
        """Leave out the test on the guidelines where nobody chooses questions."""
        if isinstance(values, dict) and values.get("source") in ("survey", "translation") and "practice" not in values:
            return values | {"practice": (), "pass_share": 0.0}
        return values


RULES = {
    "long": "It requires a long answer: at least three or four sentences.",
    "specific": "It is culturally specific.",
    "native": "A native speaker would ask it.",
    "objective": "It has an objective answer.",
    "plain": "It needs no pictures and no links.",
}
"""The rules for questions (Appendix A.2); those for people who write them are the first four (A.3)."""
OTHER_RULES = {
    "short": "The question itself is long.",
    "old": "It is about history or religion.",
    "secret": "Nobody in another country knows the answer.",
}
"""What the guidelines do not ask for, in the test."""
WEBSITE = {
    "many": "It has at least 500 answered questions that keep the rules.",
    "language": "Most questions and answers are not in English.",
    "topics": "The questions are about many topics.",
    "cultural": "It has culturally specific questions that English websites do not have.",
    "community": "Many people write there, and many questions are answered.",
}
"""What makes a website good (Appendix A.1)."""
TRANSLATION = {
    "meaning": "It says the same as the English question.",
    "natural": "It is written as a native speaker would write it.",
}
CRITERIA = {"native": RULES, "websites": RULES, "survey": WEBSITE, "translation": TRANSLATION}
"""What is checked, by what people send."""
NONE = "none"
ACCEPT, RETURN, REFUSE, INVALID = "accept", "return", "refuse", "invalid"
VERDICTS = {
    ACCEPT: "Accept it",
    RETURN: "Return it to the author",
    REFUSE: "Refuse it; it is paid",
    INVALID: "Refuse it without pay: it was not sent in good faith",
}
YES_NO = (("yes", "Yes"), ("no", "No"))
WORDS = {
    "problems": "Rules that it breaks",
    "verdict": "Verdict",
    "question": "Question",
    "accept": "Accepted",
    "return": "Returned",
    "refuse": "Refused",
    "invalid": "Refused without pay",
}


def is_english(item: CampaignItem) -> bool:
    """Return whether an item is in English, and needs no translation."""
    return bool(item.language) and base_language(item.language) == "en"


def write_form(settings: LongQuestionSettings, item: CampaignItem) -> StudioForm:
    """Return what an author fills in: a question, or a website."""
    again = (
        (FormField("clarification", "How does it keep the rules?", "text", required=False, longest=2000),)
        if item.returns
        else ()
    )
    if settings.source == "survey":
        return StudioForm(
            (
                FormField("website", "Address of the website", "link", longest=2000),
                FormField("criteria", "Which of these are true of it?", "choices", options=tuple(WEBSITE.items())),
                FormField("examples", "Questions from the website that keep the rules", "lines", count=(3, 5)),
                *again,
            )
        )
    own = settings.source == "native"
    fields = [FormField("question", "Question", "text", help="In the native language.", longest=4000, native=True)]
    if not is_english(item):
        fields.append(FormField("translation", "The question in English", "text", required=own, longest=4000))
    if not own:
        fields.append(FormField("link", "Address of the question", "link", longest=2000))
    if settings.answers or not own:
        fields.append(FormField("answer", "Answer", "text", longest=20_000, native=True))
    if settings.answers and own and not is_english(item):
        fields.append(FormField("answer_translation", "The answer in English", "text", longest=20_000))
    rules = [name for name in RULES if not own or name != "plain"]
    fields += [
        FormField(name, RULES[name], "check", section="" if number else "Confirm each of these")
        for number, name in enumerate(rules)
    ]
    return StudioForm((*fields, *again), lambda content: _website_problems(settings, item, content))


def _website_problems(settings: LongQuestionSettings, item: CampaignItem, content: Content) -> Mapping[str, str]:
    if not item.language:
        return {"question": "First write in your profile which languages you speak."}
    allowed = [host_of(website) for website in settings.websites]
    given = host_of(content.get("link", ""))
    if content.get("link") and allowed and not any(given == host or given.endswith(f".{host}") for host in allowed):
        return {"link": Phrase("Take it from one of these websites: {websites}", websites=", ".join(allowed))}
    return {}


def host_of(address: str) -> str:
    """Return the name of a website, whatever the page: `okwave.jp` for `https://www.okwave.jp/qa/1`."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    return host.removeprefix("www.")


TRANSLATED = "The question in your language"


def translate_form(_item: CampaignItem) -> StudioForm:
    """Return the translation of an English question."""
    return StudioForm((FormField("question", TRANSLATED, "text", longest=4000, native=True),))


def check_form(settings: LongQuestionSettings, item: CampaignItem) -> StudioForm:
    """Return the check of what somebody sent; an item of the test asks only for the rules."""
    if item.content.get("test") == "rules":
        rules = tuple((RULES | OTHER_RULES).items())
        label = "Which of these are rules of the guidelines? Select all."
        return StudioForm((FormField("rules", label, "choices", options=rules, shuffled=len(rules)),))
    criteria = CRITERIA["native" if item.content.get("test") else settings.source]
    options = (*criteria.items(), (NONE, "None: it is suitable"))
    label = "Which of these does it break? Select all."
    problems = FormField("problems", label, "choices", options=options, alone=frozenset({NONE}))
    if item.content.get("test"):
        return StudioForm((problems,))
    is_translation = settings.source == "translation"
    fields: list[FormField] = [problems]
    if is_translation:
        help_text = "Correct it where it needs it."
        fields.insert(0, FormField("question", TRANSLATED, "text", help_text, longest=4000, native=True))
    elif item.content.get("translation"):
        fields.append(FormField("same", "Does the English translation say the same?", "scale", options=YES_NO))
    verdicts = tuple((name, text) for name, text in VERDICTS.items() if name != RETURN or not is_translation)
    fields.append(FormField("verdict", "Your decision", "choice", options=verdicts))
    fields.append(FormField("note", "Notes for the author", "text", required=False, longest=2000))
    values = {"question": str(item.results.get("translate", {}).get("question", ""))} if is_translation else {}
    return StudioForm(tuple(fields), _check_problems, values)


def _check_problems(content: Content) -> Mapping[str, str]:
    good = content["problems"] == [NONE] and content.get("same") != "no"
    if content["verdict"] == ACCEPT:
        return {} if good else {"verdict": "You found a problem above: it cannot be accepted."}
    return {} if content["note"] else {"note": "Say what is wrong."}


def sent_by(settings: LongQuestionSettings, items: Sequence[CampaignItem], person: str) -> list[CampaignItem]:
    """Return the items that a person sent and that are paid: submitted, not withdrawn, and in good faith."""
    if settings.source == "translation":
        mine = [item for item in items if any(v.stage == "translate" and v.person == person for v in item.votes)]
    else:
        mine = [item for item in items if item.author == person and item.path and item.status.value != "withdrawn"]
    return [item for item in mine if item.results.get("check", {}).get("verdict") != INVALID]


def earned(settings: LongQuestionSettings, items: Sequence[CampaignItem], person: str, tested: bool) -> str:
    """Return what a person has earned: by the piece, and for the test where they have finished it."""
    sent = sent_by(settings, items, person)
    answers = sum(bool(item.content.get("answer")) for item in sent)
    amount = len(sent) * settings.per_question + answers * settings.per_answer + tested * settings.per_test
    return f"{amount:.2f} {settings.currency}"
