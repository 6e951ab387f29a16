"""What reads text that others wrote takes time in proportion to its length, whatever the text."""

from __future__ import annotations

import signal
from collections.abc import Callable
from heapq import nlargest
from time import process_time
from types import SimpleNamespace
from typing import Any

import pytest

from mores import culture
from mores.benchmark.blend import grade_short
from mores.benchmark.choice import grade_last_letter, grade_letter, grade_truth
from mores.benchmark.culturall import Judge
from mores.benchmark.msqa.judge import FIRST, JUDGE, read_verdict
from mores.benchmark.normad import grade as grade_normad
from mores.benchmark.questions import grade_exact
from mores.benchmark.topics import read_topic
from mores.diagnosis import confidence, evidence, verdict
from mores.engine import Answer, Job
from mores.errors import InputError
from mores.factory.errors.model import read as read_modified
from mores.factory.errors.rules import changes
from mores.factory.errors.rules.swap import Pool
from mores.factory.gold import Gold
from mores.factory.items import SourceItem, Task
from mores.factory.statement import bare, subject
from mores.language.detection import detect
from mores.longanswer.collection import asking
from mores.longanswer.judging import read_claims, read_relevance, relevance_request, windows
from mores.longanswer.judging import read_verdict as read_support
from mores.longanswer.tells import find_tells
from mores.metaevaluation.prompted import KINDS
from mores.metric import claims
from mores.metric.prompt import defuse
from mores.metric.schema import parse_text
from mores.models.base import Completion, Written, greedy
from mores.reading import without_thoughts
from mores.search.clean import clean
from mores.search.ground import cut
from mores.search.words import words
from mores.stats.explanations import match_answer
from mores.studio.campaigns.culturall.tasks import read_draft, read_region
from mores.studio.campaigns.culturalteaming.asking import read_answer, read_hints
from mores.types import ErrorReport, Item, Sample, Severity

LIMIT = 1.5
"""Seconds for 50 kB: ten times what the slowest reader takes."""
SAMPLE = Sample(id="1", text="tea")
GREEDY = greedy("Which?", 9)
LONG = Sample(id="2", text="Some tea is drunk. " * 100)
GOLD = Gold(sample=SAMPLE, report=ErrorReport(), task=Task.QA, kind="correct", maker="source", item="s/1")
ITEM = Item(id="1", prompt="Which?", choices=("tea", "milk"), target=("tea", "yes"), metadata={"versions": {"": {}}})
LETTERED = ITEM.model_copy(update={"choices": ("a", "b", "c", "d")})


def _try(read: Callable[[str], object], text: str) -> object:
    try:
        return read(text)
    except InputError as error:
        return error


def _source(text: str) -> SourceItem:
    return SourceItem(source="x", id="1", task=Task.FREEFORM, question=text, answer=text, language="en")


def _asked(read: Any, **data: object) -> Callable[[str], object]:
    """A reader of the studio, whose question has these data."""

    def reader(text: str) -> object:
        reply = Completion(text).complete()
        about: Any = SimpleNamespace(data=data)
        return _try(lambda _: read(reply, None, about, None), text) if isinstance(reply, Written) else reply

    return reader


READERS: dict[str, Callable[[str], object]] = {
    "thoughts": without_thoughts,
    "report": parse_text,
    "decisions": lambda text: claims.read_claims(text, SAMPLE),
    "decided errors": lambda text: claims.read_claims(f"1 wrong\n1 {text}", SAMPLE),
    "decided quote": lambda text: claims.read_claims(f"1 wrong\n1 major stereotyping: {text} => ?", LONG),
    "defuse": defuse,
    "letter": lambda text: grade_letter(LETTERED, text),
    "last letter": lambda text: grade_last_letter(LETTERED, text),
    "exact": lambda text: grade_exact(ITEM, text),
    "truth": lambda text: grade_truth(ITEM, text),
    "normad": lambda text: grade_normad(ITEM, text),
    "blend": lambda text: grade_short(ITEM, text),
    "msqa verdict": lambda text: read_verdict(text, FIRST),
    "msqa question": lambda text: JUDGE.ask(ITEM, text),
    "culturall": lambda text: Judge().read(ITEM, "", text, False),
    "confidence": lambda text: confidence.read_reply(text, confidence.form_of("fa")),
    "confidence in JSON": confidence.read_written,
    "confidence number": lambda text: confidence.read_reply(f"Confidence: {text}", confidence.form_of("en")),
    "diagnose lines": lambda text: verdict.read_lines(text, {"TYPE": ("1", "2")}),
    "diagnose value": lambda text: verdict.read_lines(f"TYPE: {text}", {"TYPE": ("1", "2")}),
    "diagnose question": lambda text: verdict.ask_judge("{a}", ("TYPE",), {}, {"a": text}),
    "has answer": lambda text: evidence.has_answer(text, ("12,000 cups of tea",)),
    "answer": lambda text: evidence.has_answer("12,000 cups of tea", (text,)),
    "is taken": lambda text: evidence.is_taken(text, "Which tea?", ("A green tea.",)),
    "explanation": lambda text: match_answer(text, "the tea"),
    "claims": read_claims,
    "sentences": windows,
    "support": read_support,
    "support value": lambda text: read_support(f"Verdict: {text}"),
    "relevance": read_relevance,
    "relevance question": lambda text: relevance_request(text, text, "en"),
    "filter": lambda text: asking.read_verdict(text),
    "filter rest": lambda text: asking.read_verdict(f"<explanation>a</explanation>{text}"),
    "topic of a list": lambda text: read_topic(Answer(Job("1", GREEDY), Completion(text)), {"Food": ""}),
    "topic": asking.read_topic,
    "translation": lambda text: asking.read_translation(text, "Which?"),
    "tells": lambda text: find_tells(text, "fa", False),
    "language": lambda text: detect([text]),
    "prompted": lambda text: [list(kind.line.finditer(text)) for kind in KINDS.values()],
    "modified": lambda text: read_modified(Completion(text).complete(), GOLD, Severity.MINOR),
    "draft": lambda text: _try(read_draft, text),
    "draft part": lambda text: _try(read_draft, f"[Scenario]{text}[Question]a[Answer]b[Explanation]"),
    "region": lambda text: _try(read_region, text),
    "hints": _asked(read_hints),
    "answer of one option": _asked(read_answer, correct=("A",)),
    "answer of several options": _asked(read_answer, correct=("A", "B")),
    "subject": lambda text: subject(f"What is {text}?"),
    "question": subject,
    "clean": lambda text: clean(text, 100_000),
    "cut": lambda text: cut(text, len(text) - 1),
    "words": words,
    "language name": lambda text: _try(culture.language, text),
    "region name": lambda text: _try(culture.region, text),
    "rules": lambda text: list(changes(bare(_source(text[:5_000])), Pool(()), 0, most=3)),
}

UNITS = (
    *"\n \t.,-*_`\"'()[]{}<>#|/:：;?!…%@\0a0A。中กéا\u0301\u200d",
    "\r\n", "**", "```", "```\n", "<think>", "</think>", "<judgment>", "<explanation>", "<category>", "<result>",
    "verdict", "Verdict:", "Confidence:", "TYPE:", "COUNT:", "OUTPUT:", "NONE", "option ", "option is ", "answer is ",
    "not ", "A. ", "A, ", "A and ", "- ", "\n>", "12 ", "1990\n", "1,000 ", "0 ", "1-2-", "J. ", "Mr. ", "https://",
    "&amp", "what ", "In ", "Monday ", "January 1 ", "Germany ", "should ", "some ", "King Otto ",
)  # fmt: skip
LEADS = ("```json", "<", "</", "not", "Verdict", "COUNT:", "COUNT:\n", "Confidence: 5", "TYPE: 1", "A", "option", "a(")
TEXTS = [("", unit, "") for unit in UNITS] + [(lead, unit, "x") for lead in LEADS for unit in " \n.:`*"]
"""What a text begins with, what it repeats, and what it ends with."""


@pytest.mark.parametrize("name", READERS)
def test_time_is_linear(name: str) -> None:
    """All texts are read at 1 kB, and the three that took longest at 50 kB: what is quadratic takes minutes then."""
    read = READERS[name]
    read("Once, to load what is kept.")
    slowest = nlargest(3, TEXTS, key=lambda text: _seconds(read, text, 1_000))
    seconds = {text: _seconds(read, text, 50_000) for text in slowest}
    assert max(seconds.values()) < LIMIT, seconds


def _seconds(read: Callable[[str], object], text: tuple[str, str, str], size: int) -> float:
    """Processor time that a reader takes, at most the limit."""
    lead, unit, end = text
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    started = process_time()
    try:
        read(lead + unit * (size // len(unit)) + end)
    except TimeoutError:
        return LIMIT
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return process_time() - started


def _stop(*_: object) -> None:
    raise TimeoutError
