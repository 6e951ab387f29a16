"""CulturalTeaming (CulturalBench, Method): authors and a model write hard questions, five people verify each.

write (author, with an AI helper) → duel (author against an AI verifier) → verify (five people from the region)
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from csv import writer as csv_writer
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import Field as Setting

from mores.culture import region_name
from mores.errors import InputError
from mores.models import Completion, Message, Request
from mores.studio.form import Field, Form
from mores.studio.kind import ExportFile, Kind, Settings, Task
from mores.studio.records import Ask, Content, Item, Role
from mores.studio.workflow import Decision, Stage

FOLDER = Path(__file__).parent
LETTERS = "ABCD"
NONE, UNKNOWN = "none", "unknown"
NUMERALS = ("i", "ii", "iii", "iv")
COMPOUND = "Please select the option that include all the appropriate statements"


class TeamingSettings(Settings):
    """What an organiser sets for a CulturalTeaming campaign."""

    verifiers: int = Setting(5, ge=1, le=25)
    agreeing: int = Setting(4, ge=1, le=25)
    """How many verifiers must give the same set of answers."""
    ask_others: bool = False
    """Ask also what others from the region would say, for surprisingly popular answers."""
    returns: bool = False
    """Send items that fail verification back to the author once, instead of rejecting them."""


def _write_form(_item: Item) -> Form:
    return Form(
        (
            Field(
                "scene",
                "A scene of your culture",
                "text",
                help="What do people do, say or expect there?",
                longest=2000,
            ),
        )
    )


def _duel_form(_item: Item) -> Form:
    return Form(
        (
            Field("question", "Question", "text", help="Name the region in the question.", longest=1000),
            Field("options", "Four options", "lines", count=(4, 4), longest=300),
            Field(
                "correct",
                "Which options are correct?",
                "choices",
                options=[(letter, letter) for letter in LETTERS],
            ),
        ),
        check=_check_question,
    )


def _check_question(content: Content) -> Mapping[str, str]:
    if len({option.casefold() for option in content["options"]}) < len(content["options"]):
        return {"options": "Two options are the same."}
    return {}


def _verify_form(settings: TeamingSettings, item: Item) -> Form:
    options = list(zip(LETTERS, item.content.get("options", ()), strict=False))
    special = [(NONE, "None is correct"), (UNKNOWN, "I don't know")]
    fields = [
        Field(
            "answer",
            "Select all that apply",
            "choices",
            options=[*options, *special],
            alone=frozenset({NONE, UNKNOWN}),
        )
    ]
    if settings.ask_others:
        fields.append(Field("others", "What would most others from your region say?", "choice", options=options))
    return Form(tuple(fields))


def _submitted(_item: Item) -> Decision:
    return Decision("next")


def _verified(settings: TeamingSettings, item: Item) -> Decision | None:
    """At least 4 of 5 agree on a set of options: single mode for one, multi mode for several; else it is rejected."""
    votes = item.votes_at("verify")
    sets = Counter(tuple(sorted(vote.answer["answer"])) for vote in votes)
    left = settings.verifiers - len(votes)
    answer, count = max(sets.items(), key=lambda pair: pair[1], default=((), 0))
    result = {"votes": len(votes), "agreeing": count}
    if left > 0:
        return None
    if count >= settings.agreeing and not {NONE, UNKNOWN} & set(answer):
        mode = "single" if len(answer) == 1 else "multi"
        return Decision("next", result=result | {"answer": list(answer), "mode": mode})
    note = f"{count} of {len(votes)} verifiers agreed; {settings.agreeing} must give the same answer."
    if settings.returns and item.returns == 0:
        return Decision("back", note, result, to="duel")
    return Decision("rejected", note, result)


def stages(settings: TeamingSettings) -> tuple[Stage, ...]:
    """The stages of a campaign."""
    return (
        Stage(
            "write",
            "Tell a scene",
            Role.AUTHOR,
            _write_form,
            _submitted,
            own=True,
        ),
        Stage(
            "duel",
            "Play against the AI",
            Role.AUTHOR,
            _duel_form,
            _submitted,
            own=True,
            tasks=frozenset({"draft", "answer"}),
        ),
        Stage(
            "verify",
            "Verify",
            Role.VERIFIER,
            lambda item: _verify_form(settings, item),
            lambda item: _verified(settings, item),
            people=lambda _item: settings.verifiers,
            regional=True,
            hold=settings.hold,
            back="duel",
        ),
    )


def _prompt(name: str, **values: str) -> str:
    """A prompt of ours, with what people wrote between fences that they cannot close."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value.replace("<<<", "‹‹‹").replace(">>>", "›››"))
    return text


def _ask_draft(item: Item, _ask: Ask, _settings: TeamingSettings) -> Request:
    text = _prompt("draft", region=region_name(item.region) if item.region else "", scene=item.content.get("scene", ""))
    return Request((Message("user", text),), max_tokens=600, logprobs=False)


def _read_draft(completion: Completion, _item: Item, _ask: Ask, _settings: TeamingSettings) -> Content:
    """A question with four options, from JSON somewhere in the answer."""
    start, end = completion.text.find("{"), completion.text.rfind("}")
    try:
        value = json.loads(completion.text[start : end + 1])
        question, options = value["question"], value["options"]
        correct = value["correct"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("it has no question with four options") from error
    good = isinstance(options, list) and len(options) == 4 and all(isinstance(option, str) for option in options)
    if not isinstance(question, str) or not good or correct not in list(LETTERS):
        raise InputError("it has no question with four options")
    return {"question": question[:1000], "options": [option[:300] for option in options], "correct": [correct]}


def _ask_answer(item: Item, _ask: Ask, _settings: TeamingSettings) -> Request:
    options = "\n".join(
        f"{letter}. {option}" for letter, option in zip(LETTERS, item.content.get("options", ()), strict=False)
    )
    text = _prompt("answer", question=item.content.get("question", ""), options=options)
    return Request((Message("user", text),), max_tokens=5, logprobs=True, alternatives=10)


def _read_answer(completion: Completion, item: Item, _ask: Ask, _settings: TeamingSettings) -> Content:
    """The letter, and the confidence that the first token's probabilities give it, where the server tells them."""
    letter = next((char for char in completion.text.upper() if char in LETTERS), None)
    if letter is None:
        raise InputError("it names no option")
    shares = dict.fromkeys(LETTERS, 0.0)
    for token, logprob in completion.alternatives or ():
        if token.strip().upper() in shares:
            shares[token.strip().upper()] += math.exp(min(logprob, 0.0))
    total = sum(shares.values())
    confidence = shares[letter] / total if total > 0 else None
    return {"letter": letter, "confidence": confidence, "correct": letter in item.content.get("correct", ())}


def label(stage: str, answer: Content) -> str | None:
    """The set of options that a verifier chose."""
    if stage != "verify" or UNKNOWN in answer.get("answer", ()):
        return None
    return "".join(sorted(answer["answer"])) if NONE not in answer["answer"] else NONE


def export(_settings: TeamingSettings, items: Iterable[Item]) -> Iterator[ExportFile]:
    """Easy and Hard in the published columns."""
    easy, hard = StringIO(), StringIO()
    easy_rows, hard_rows = csv_writer(easy, lineterminator="\n"), csv_writer(hard, lineterminator="\n")
    easy_rows.writerow(
        ["data_idx", "question_idx", "prompt_question", *(f"prompt_option_{x}" for x in "abcd"), "answer", "country"]
    )
    hard_rows.writerow(["data_idx", "question_idx", "prompt_question", "prompt_option", "answer", "country"])
    row = 0
    for number, item in enumerate(items):
        result, options = item.results["verify"], item.content["options"]
        country = region_name(item.region) if item.region else ""
        question, shown, answer = _easy(item.content["question"], options, result["answer"])
        easy_rows.writerow([number, number, question, *shown, answer, country])
        for letter, option in zip(LETTERS, options, strict=True):
            hard_rows.writerow([row, number, item.content["question"], option, letter in result["answer"], country])
            row += 1
    yield ExportFile("CulturalBench-Easy.csv", easy.getvalue().encode())
    yield ExportFile("CulturalBench-Hard.csv", hard.getvalue().encode())


def _easy(question: str, options: list[str], correct: list[str]) -> tuple[str, list[str], str]:
    if len(correct) == 1:
        return question, list(options), correct[0]
    raise NotImplementedError


KIND: Kind[Any] = Kind(
    name="culturalteaming",
    title="CulturalTeaming",
    summary="Authors play questions about their culture against a model; five people from the region verify each.",
    folder=FOLDER,
    settings=TeamingSettings,
    stages=stages,
    export=export,
    label=label,
    tasks={
        "draft": Task(_ask_draft, _read_draft, "Let the AI draft the question"),
        "answer": Task(_ask_answer, _read_answer, "Play it against the AI"),
    },
    headline=lambda item: str(item.content.get("question") or item.content.get("scene") or item.id),
)
