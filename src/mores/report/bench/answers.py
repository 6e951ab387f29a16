"""The answers on a benchmark's page: which are shown, and what stands on their cards."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from mores.benchmark.benchmark import Label, Verdict, group_of
from mores.benchmark.score import BenchResult, together
from mores.report.base.blocks import Cards, PageBlock, Section, Select
from mores.report.base.names import LONG, direction, group_name
from mores.types import Item

Answer = tuple[Item, Verdict]

EXAMPLES = 500
"""Questions on one page, of all runs together."""
SHORT = 40
"""An answer with no more code points stands beside the choice that was read from it."""
STATES = {"wrong": "Wrong", "unscored": "Unscored", "skipped": "Not attempted", "right": "Correct"}
MEASURED = "measured"
BY_LABEL = {Label.CORRECT: "right", Label.INCORRECT: "wrong", Label.NOT_ATTEMPTED: "skipped", None: "unscored"}


@dataclass(frozen=True)
class AnsweredRun:
    """A result and the answers behind it, in the order of verdicts.jsonl; they are read when a page shows them."""

    result: BenchResult
    answers: Callable[[], Iterable[Answer]] = tuple
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts of the model's configuration."""


class AnswerCard(PageBlock, template="cards/bench.html.j2"):
    """One answered question with its parts."""

    state: str
    badge: str
    run: int
    id: str
    sample: int | None
    places: Sequence[str]
    numbers: str
    """What the page filters it by."""
    language: str | None
    prompt: dict[str, Any]
    parts: Sequence[dict[str, Any]]


class _Question(NamedTuple):
    """One answered question with its parts."""

    place: int
    state: str
    parts: list[Answer]


def answers_section(runs: Sequence[AnsweredRun]) -> Section:
    """Return the cards with their filters; no section without any."""
    limit = max(10, EXAMPLES // max(1, len(runs)))
    filters = _Filters()
    cards: list[AnswerCard] = []
    totals: Counter[str] = Counter()
    for place, run in enumerate(runs):
        chosen = _choose(_questions(run.answers()), limit, totals)
        cards += [_card(question, place, run.result, filters) for question in chosen]
    cards.sort(key=lambda card: list(STATES).index(card.state))  # stable: run by run within a state
    shown = Counter(card.state for card in cards)
    counts = [
        f"{name}: {total:,}"
        + (f" ({f'{shown[state]:,}' if shown[state] else 'none'} of them here)" if shown[state] < total else "")
        for state, name in STATES.items()
        if (total := totals[state])
    ]
    lead = "; ".join(counts) + "." + (" verdicts.jsonl has all." if len(cards) < totals.total() else "")
    selects = [Select("Verdict", "state", [(s, f"{name} ({shown[s]:,})") for s, name in STATES.items() if shown[s]])]
    if len(runs) > 1:
        names = [f"{run.result.model}: {run.result.benchmark}" for run in runs]
        selects.append(Select("Run", "run", list(enumerate(names))))
    selects += [Select(name.capitalize(), "group", options) for name, options in filters.options().items()]
    return Section("answers", "Answers", [Cards(lead, selects, cards)] if cards else [])


def _questions(answers: Iterable[Answer]) -> Iterator[_Question]:
    grouped = groupby(answers, lambda pair: (pair[1].unit, pair[1].sample))
    for place, (_, pairs) in enumerate(grouped):
        parts = list(pairs)
        yield _Question(place, BY_LABEL[together([verdict.label for _, verdict in parts])], parts)


def _choose(questions: Iterable[_Question], limit: int, totals: Counter[str]) -> list[_Question]:
    """Return the wrong and the unscored, then the others while there is room; drawn evenly where there are too many."""
    by_state: dict[str, list[tuple[int, int, _Question]]] = {state: [] for state in STATES}
    for question in questions:
        totals[question.state] += 1
        of_state = by_state[question.state]
        # By the id's hash, so that every model shows the same questions, from all over the data.
        of_state.append(
            (zlib.crc32(question.parts[0][1].unit.encode("utf-8", "surrogatepass")), question.place, question)
        )
        if len(of_state) >= 2 * limit:
            of_state.sort(key=lambda row: row[:2])
            del of_state[limit:]
    most = limit - min(limit // 10, len(by_state["right"]))  # some correct ones are always there, to check the grading
    room = {"unscored": max(limit // 4, most - len(by_state["wrong"])), "right": limit}
    chosen: list[_Question] = []
    for state in ("unscored", "wrong", "skipped", "right"):
        free = min(room.get(state, most), (limit if state == "right" else most) - len(chosen))
        chosen += [question for *_, question in sorted(by_state[state], key=lambda row: row[:2])[:free]]
    return sorted(chosen, key=lambda question: question.place)


class _Filters:
    """The groups that cards are filtered by: each has a number, so that no name is ever part of the markup."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, grouping: str, group: str) -> int:
        return self._numbers.setdefault((grouping, group), len(self._numbers))

    def options(self) -> dict[str, list[tuple[int, str]]]:
        groups: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for (grouping, group), n in self._numbers.items():
            groups[grouping].append((n, group_name(grouping, group)))
        return {
            g: sorted(members, key=lambda pair: pair[1].casefold()) for g, members in groups.items() if len(members) > 1
        }


def _card(question: _Question, run: int, result: BenchResult, filters: _Filters) -> AnswerCard:
    item, verdict = question.parts[0]
    every = [(name, group_of(item, name) or "") for name in result.by]
    groups = [(name, group) for name, group in every if group or "" in result.by[name]]
    shared, rests = _shared([part.prompt for part, _ in question.parts])
    return AnswerCard(
        state=question.state,
        badge=STATES[question.state],
        run=run,
        id=verdict.unit,
        sample=verdict.sample + 1 if result.samples > 1 else None,
        places=[*dict.fromkeys(group_name(*pair) for pair in groups if pair[1]), result.model, result.benchmark],
        numbers=" ".join(str(filters.number(*pair)) for pair in groups),
        language=item.language,
        prompt=_text(shared),
        parts=[
            _part_of(part, verdict_of_part, text)
            for (part, verdict_of_part), text in zip(question.parts, rests, strict=True)
        ],
    )


def state_of(verdict: Verdict) -> str:
    """Return how one answer is graded, in the words of pages; a long answer has measures in place of a grade."""
    measured = verdict.label is None and verdict.failure is None and verdict.values
    return MEASURED if measured else BY_LABEL[verdict.label]


def answer_card(item: Item, verdict: Verdict) -> AnswerCard:
    """Return one answer alone, as a list of answers shows it."""
    state = state_of(verdict)
    places = [(name, getattr(item, name)) for name in ("language", "region", "topic")]
    return AnswerCard(
        state=state,
        badge="Measured" if state == MEASURED else STATES[state],
        run=0,
        id=item.id,
        sample=verdict.sample + 1 if verdict.sample else None,
        places=[*dict.fromkeys(group_name(*place) for place in places if place[1])],
        numbers="",
        language=item.language,
        prompt=_text(item.prompt),
        parts=[_part_of(item, verdict, "") | {"state": state, "measures": verdict.values}],
    )


def _part_of(item: Item, verdict: Verdict, text: str) -> dict[str, Any]:
    return {
        "state": BY_LABEL[verdict.label],
        "badge": STATES[BY_LABEL[verdict.label]],
        "text": _text(text),
        "thoughts": _text(verdict.thoughts),
        "answer": _text(verdict.answer or ""),
        "short": len(verdict.answer or "") <= SHORT and "\n" not in (verdict.answer or ""),
        "read": verdict.read,
        "target": " / ".join(item.target),
        "reason": _text(verdict.reason),
        "failure": verdict.failure,
    }


def _text(text: str) -> dict[str, Any]:
    return {"text": text, "long": len(text) > LONG, "dir": direction(text)}


def _shared(prompts: Sequence[str]) -> tuple[str, list[str]]:
    """Return what the parts of a question begin with, up to the end of a line or label, and the rest of each."""
    if len(prompts) == 1:
        return prompts[0], [""]
    first, last = min(prompts), max(prompts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    cut = max(first.rfind("\n", 0, same) + 1, first.rfind(": ", 0, same) + 2 if ": " in first[:same] else 0)
    return first[:cut].rstrip(), [prompt[cut:] for prompt in prompts]
