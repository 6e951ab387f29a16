"""Requests to models, with the prompts of Figures 6 to 12, and the meaning of their answers.

What cannot be read is an `InputError`: the question has then failed, and nothing is decided by it.
"""

from __future__ import annotations

import re

from mores.benchmark.benchmark import Graded, Label
from mores.benchmark.culturall import CULTURALL, answer_prompt
from mores.benchmark.run import judge_request
from mores.culture import region
from mores.errors import InputError
from mores.models import Message, Request
from mores.models.base import Stop, Written
from mores.prompts import fill, read_prompt
from mores.studio.campaigns.culturall.forms import PARTS, CulturallSettings
from mores.studio.fence import Fence
from mores.studio.kind import ModelTask
from mores.studio.records import Ask, CampaignItem, Content
from mores.types import Failure, Item

LONGEST = {"scenario": 4000, "question": 2000, "answer": 300, "explanation": 4000}
TOKENS = 1500
TARGET = "English"
_HEADING = re.compile(r"(?<![*_#\s])[*_#\s]*\[(scenario|question|answer|explanation)\][*_]*:?", re.IGNORECASE)
_CODE = re.compile(r"[\s\"'`*.]*([A-Za-z]{2})[\s\"'`*.]*")
_MARK = re.compile(r"^\s*<<<[0-9a-f]{4,}\s*|\s*[0-9a-f]{4,}>>>\s*$")


def _request(figure: str, texts: dict[str, str], tokens: int = TOKENS, **slots: str) -> Request:
    """Return a prompt of the paper; what people wrote stands between marks that it cannot contain."""
    fence = Fence(*texts.values())
    fenced = {name: fence.around(text) for name, text in texts.items()}
    system = Message("system", read_prompt(__file__, "fence"))
    user = Message("user", fill(read_prompt(__file__, figure), **fenced, **slots))
    return Request((system, user), max_tokens=tokens, logprobs=False)


def written_text(reply: Written) -> str:
    """Return what a model wrote, without its thoughts; InputError where that is nothing or was cut off."""
    text = reply.text.replace("\0", "").strip()
    if reply.stop is Stop.LENGTH:
        raise InputError("it was cut off")
    if not text:
        raise InputError("it is empty")
    return text


def read_draft(text: str) -> dict[str, str]:
    """Return the four parts of a drafted item, each under its heading, once and in this order."""
    found = list(_HEADING.finditer(text))
    names = tuple(match[1].lower() for match in found)
    if names != PARTS:
        expected = ", ".join(f"[{name.capitalize()}]" for name in PARTS)
        raise InputError(f"it does not have the parts {expected}, each once and in this order")
    ends = [*(match.start() for match in found[1:]), len(text)]
    parts = {name: text[match.end() : end].strip() for name, match, end in zip(PARTS, found, ends, strict=True)}
    for name, part in parts.items():
        if not part and name != "explanation":
            raise InputError(f"its {name} is empty")
        if len(part) > LONGEST[name]:
            raise InputError(f"its {name} has more than {LONGEST[name]:,} characters")
    return parts


def _bench_item(item: CampaignItem) -> Item:
    """Return the item as `mores bench culturall` reads it, in its own language."""
    native = {name: str(item.content.get(name, "")) for name in PARTS}
    return Item(
        id=item.id,
        prompt=answer_prompt(native),
        target=(native["answer"],),
        language=item.language or "und",
        metadata={"versions": {"": native}},
    )


def _ask_judge(item: CampaignItem, ask: Ask, _settings: CulturallSettings) -> Request:
    assert CULTURALL.judging is not None
    texts = {name: str(item.content.get(name, "")) for name in PARTS}
    fence = Fence(*texts.values(), str(ask.data["prediction"]))
    fenced = {name: fence.around(text, " ") for name, text in texts.items() if text}
    # authors are strangers: the benchmark trusts them
    asked = item.model_copy(update={"content": item.content | fenced})
    question = CULTURALL.judging.ask(_bench_item(asked), str(ask.data["prediction"]))
    if isinstance(question, Graded):
        raise InputError(question.reason or "no answer to judge")
    request = judge_request(question)
    first, *rest = request.messages
    told = Message(first.role, f"{first.content}\n{read_prompt(__file__, 'fence')}")
    return request._replace(messages=(told, *rest))


def _read_judge(reply: Written, item: CampaignItem, ask: Ask, _settings: CulturallSettings) -> Content:
    assert CULTURALL.judging is not None
    grade = CULTURALL.judging.read(_bench_item(item), str(ask.data["prediction"]), reply.text, again=False)
    if isinstance(grade, Failure):
        raise InputError(grade.reason)
    return {"correct": grade.label is Label.CORRECT}


def _situation(item: CampaignItem) -> dict[str, str]:
    return {name: str(item.content.get(name, "")) for name in ("scenario", "question")}


def read_region(text: str) -> str:
    """Return the code of a country, from two letters alone."""
    match = _CODE.fullmatch(text)
    if match is None:
        raise InputError(f"it says {text[:60]!r}; expected two letters, the code of a country")
    code = region(match[1])
    if len(code) != 2:
        raise InputError(f"{match[1]!r} is not a country")
    return code


def read_topic(text: str, settings: CulturallSettings) -> str:
    """Return the name of one of the campaign's topics, alone."""
    named = text.strip(" \n\t\"'`*.[]").casefold()
    for topic in settings.topics:
        if topic.name.casefold() == named:
            return topic.name
    raise InputError(f"it says {text[:60]!r}; expected one of the topics")


def _read_translation(reply: Written, _item: CampaignItem, ask: Ask, _settings: CulturallSettings) -> Content:
    text, name = read_translation(written_text(reply)), ask.data["field"]
    if len(text) > LONGEST[name]:
        raise InputError(f"it has more than {LONGEST[name]:,} characters")
    return {f"english_{name}": text}


FIGURES = {"data": "figure7_data", "document": "figure8_document"}
"""The prompts that draft an item, by where its excerpt is from."""


def draft_request(source: str, excerpt: str) -> Request:
    """Return the request for a draft from an excerpt of a dataset or a document."""
    return _request(FIGURES[source], {"source_excerpt": excerpt})


def translation_request(text: str, target: str, tokens: int = TOKENS) -> Request:
    """Return the request for a translation into a language, by its English name."""
    return _request("figure6_translate", {"source": text}, tokens, target_language=target)


def read_translation(text: str) -> str:
    """Return a translation without the marks around its source; InputError where nothing is left."""
    if not (translation := _MARK.sub("", text).strip()):
        raise InputError("it is empty")
    return translation


def label_requests(situation: dict[str, str], settings: CulturallSettings) -> dict[str, Request]:
    """Return the requests for the region and the topic of a scenario and its question."""
    topics = f"[{', '.join(topic.name for topic in settings.topics)}]"
    return {
        "region": _request("figure9_region", situation, 200),
        "topic": _request("figure10_topic", situation, 200, topic_list=topics),
    }


def _draft_task(source: str, title: str) -> ModelTask[CulturallSettings]:
    """Return the task of drafting an item from a text that the author pasted."""

    def ask_draft(item: CampaignItem, ask: Ask, _settings: CulturallSettings) -> Request:
        excerpt = str(ask.data.get("excerpt") or item.content.get("excerpt") or "")
        if not excerpt:
            raise InputError("paste the text to work from first")
        return draft_request(source, excerpt)

    return ModelTask(
        ask_draft,
        lambda reply, _item, _ask, _settings: dict(read_draft(written_text(reply))),
        title,
        keeps=("excerpt",),
        fills=PARTS,
    )


TASKS: dict[str, ModelTask[CulturallSettings]] = {
    "data": _draft_task("data", "Draft from existing data"),
    "document": _draft_task("document", "Draft from a document"),
    "answer": ModelTask(
        lambda item, _ask, _settings: Request(
            CULTURALL.messages(_bench_item(item)), CULTURALL.max_tokens, CULTURALL.temperature, logprobs=False
        ),
        lambda reply, _item, _ask, _settings: {"text": written_text(reply)},
        "Answer the question",
    ),
    "judge": ModelTask(_ask_judge, _read_judge, "Judge an answer"),
    "region": ModelTask(
        lambda item, _ask, settings: label_requests(_situation(item), settings)["region"],
        lambda reply, _item, _ask, _settings: {"region": read_region(written_text(reply))},
        "Region",
    ),
    "topic": ModelTask(
        lambda item, _ask, settings: label_requests(_situation(item), settings)["topic"],
        lambda reply, _item, _ask, settings: {"topic": read_topic(written_text(reply), settings)},
        "Topic",
    ),
    "translate": ModelTask(
        lambda item, ask, _settings: translation_request(str(item.content.get(ask.data["field"], "")), TARGET),
        _read_translation,
        "Translate into English",
    ),
}
