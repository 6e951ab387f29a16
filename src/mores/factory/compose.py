"""Texts of two to five sentences made of several facts, some of them with one to three errors.

    for text in compose(items, seed=0, uses=2):
        drafts = list(text_drafts(text, pool, seed=0, most=3))

The facts of a text are of one source, region, language and fold, so that no text joins two splits. English answers are
put into sentences (`statement`), and from edition 3 on those in the languages of `statements.toml`; in others a fact
must be a whole text already. Which facts meet, their order, the words between them and the instruction are drawn by the
seed; none of these depends on the errors. Severities are those of `errors.rules`.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from mores.culture import region_name
from mores.factory.drafts import Draft, draw, soft
from mores.factory.errors.rules import Pool, find_edits, first_changes
from mores.factory.errors.rules.edit import UNSPACED, data
from mores.factory.gold import ChangedText
from mores.factory.items import SourceItem, Task
from mores.factory.scratch import Shelf
from mores.factory.statement import Statement, bare, other_language, sentence
from mores.factory.table import ItemTable
from mores.io.values import read_packaged_toml

SIZES = (2, 3, 3, 4, 4, 5)
"""Facts of a text; the seed draws one of these."""
LONGEST_FACT = 300
"""Maximum characters; a longer one is a text already."""
CONNECTIVES = ("", "", "", "Also, ", "In addition, ", "Besides, ", "Beyond that, ")
FALLBACK = "life"
"""The topic of facts that fit no other, or too few of which do."""

_SENTENCE_END = re.compile(r"[.!?。！？।॥؟][\"'”’»)\]]*$")
_CAN_FOLLOW = re.compile(r"(?:The|A|An|What|One|People|If|As for|It|In|At|During|When|Most|Many|Some|There) ")
"""First words that become lower-case after a connective; any other may be a name."""


@dataclass(frozen=True)
class TextTopic:
    """A topic of composed texts."""

    words: re.Pattern[str]
    about: tuple[str, ...]
    ask: tuple[str, ...]


@dataclass(frozen=True)
class ComposedText:
    """Several facts told one after the other."""

    item: SourceItem
    """The text as an item: its answer is the whole text."""
    facts: tuple[Statement, ...]
    places: tuple[int, ...]
    """The places of their items."""
    joints: tuple[str, ...]
    """The words before each fact."""

    def tell(self, wordings: Sequence[str]) -> tuple[str, list[int]]:
        """Return the text with these wordings of its facts, and the start of each."""
        text, starts = "", []
        for joint, words in zip(self.joints, wordings, strict=True):
            starts.append(len(text) + len(joint))
            text += joint + (words[0].lower() + words[1:] if joint.endswith(", ") else words)
        return text, starts


def compose(items: ItemTable, seed: int, uses: int, edition: int = 2) -> Iterator[ComposedText]:
    """Yield texts of the facts of these items; each fact is in at most `uses` of them."""
    shelf, shelved = Shelf[Statement](), array("q", bytes(8 * len(items)))
    cells: dict[tuple[str, ...], dict[str, array[int]]] = defaultdict(lambda: defaultdict(lambda: array("i")))
    for place, item in enumerate(items if uses else ()):
        told = item.task is Task.GENERATION
        fact = bare(item) if told else sentence(item, draw(seed, "sentence", item.id), edition)
        if fact is not None and can_be_told(fact):
            cell = item.source, item.region or "", item.language or "", str(items.fold[place])
            cells[cell][_topic_of(item)].append(place)
            shelved[place] = shelf.put(fact)
    for _, by_topic in sorted(cells.items(), key=lambda cell: cell[0]):
        _join_few(by_topic)
        seen: set[frozenset[int]] = set()
        for use in range(uses):
            for topic, of_topic in sorted(by_topic.items()):
                shuffled = sorted(of_topic, key=lambda place: draw(seed, "text", str(use), items.id(place)))
                start = 0
                while len(shuffled) - start >= SIZES[0]:  # a single remaining one joins the last portion
                    size = SIZES[draw(seed, "size", items.id(shuffled[start]))[0] % len(SIZES)]
                    if len(shuffled) - start - size == 1:
                        size += 1 if size < SIZES[-1] else -1
                    chosen, start = shuffled[start : start + size], start + size
                    if (names := frozenset(chosen)) not in seen:
                        seen.add(names)
                        facts = [shelf.take(shelved[place]) for place in chosen]
                        yield _text(facts, tuple(chosen), topic, seed, use)


def can_be_told(statement: Statement) -> bool:
    """Return whether a text of several facts can have this one: a sentence, or a whole text of a region."""
    item, answer = statement.item, statement.item.answer
    whole = item.task is Task.GENERATION and len(answer) <= LONGEST_FACT and "\n" not in answer
    is_sentence = bool(_SENTENCE_END.search(answer)) if whole else statement.stated is not item
    return bool(item.region) and is_sentence


def text_drafts(
    text: ComposedText,
    pool: Pool,
    seed: int,
    most: int,
    edition: int = 2,
    known: Callable[[int], list[ChangedText] | None] = lambda _: None,
) -> Iterator[Draft]:
    """Yield the text without errors, and with one, two and so on up to `most`, each in another fact.

    `known` returns the first change by each rule of a fact, by the place of its item; those of others are made anew.
    """
    parts = tuple(fact.item.name for fact in text.facts)
    yield Draft(text.item, text.item.task, text.item.answer, "correct", form="composed", parts=parts)
    by_fact: list[list[ChangedText]] = []
    for place, fact in zip(text.places, text.facts, strict=True):
        changes = known(place)
        if changes is None:
            changes = first_changes(fact, find_edits(fact, pool, seed, edition=edition))
        by_fact.append(changes)
    changeable = [place for place, options in enumerate(by_fact) if options]
    order = sorted(changeable, key=lambda place: draw(seed, "fact", text.item.id, str(place)))
    for count in range(1, min(most, len(order)) + 1):
        chosen = {}
        for place in order[:count]:
            chosen[place] = min(by_fact[place], key=lambda change: draw(seed, str(count), text.item.id, change.answer))
        yield from soft(text.item, text.item.task, [_join(text, chosen)], "composed", parts)


def _join(text: ComposedText, chosen: Mapping[int, ChangedText]) -> ChangedText:
    wordings = [chosen[place].answer if place in chosen else fact.text for place, fact in enumerate(text.facts)]
    answer, starts = text.tell(wordings)
    mistakes = []
    for place, changed in sorted(chosen.items()):
        for mistake in changed.mistakes:
            start, end = mistake.start + starts[place], mistake.end + starts[place]
            # A connective may have changed the first letter of the quoted words.
            quote = changed.answer[mistake.start : mistake.end]
            explanation = mistake.explanation.replace(f"“{quote}”", f"“{answer[start:end]}”", 1)
            mistakes.append(mistake._replace(start=start, end=end, explanation=explanation))
    return ChangedText(answer=answer, correct=text.item.answer, mistakes=tuple(mistakes))


def _topic_of(item: SourceItem) -> str:
    """Return the topic of a fact; texts about a topic of the source keep it."""
    if item.task is Task.GENERATION:
        return item.question
    return next((name for name, each in _topics().items() if each.words.search(item.question)), FALLBACK)


def _join_few(by_topic: dict[str, array[int]]) -> None:
    """Give the facts of topics that are too few for a text to the topic that fits all."""
    few = [topic for topic, of_topic in by_topic.items() if len(of_topic) < SIZES[0] and topic in _topics()]
    for topic in few:
        if topic != FALLBACK:
            by_topic[FALLBACK].extend(by_topic.pop(topic))


def _text(facts: Sequence[Statement], places: tuple[int, ...], topic: str, seed: int, use: int) -> ComposedText:
    first = facts[0].item
    key = "\0".join(fact.item.id for fact in facts)
    chance = draw(seed, "composed", str(use), first.source, key)
    task = (Task.GENERATION, Task.FREEFORM)[chance[0] % 2]
    other = other_language(first.language)
    if other and first.region in other.places and first.task is not Task.GENERATION:
        wordings = other.about if task is Task.GENERATION else other.ask
        question = wordings[chance[1] % len(wordings)].format(place=other.places[first.region])
    elif topic in _topics() and first.region:
        wordings = _topics()[topic].about if task is Task.GENERATION else _topics()[topic].ask
        has_article = first.region in data("swap")["english"]["article"]
        place = f"{'the ' if has_article else ''}{region_name(first.region)}"
        question = wordings[chance[1] % len(wordings)].format(place=place)
    else:
        task, question = Task.GENERATION, topic
    joints = _joints(facts, chance)
    about = {"region": first.region, "language": first.language, "topic": topic if topic in _topics() else first.topic}
    name = f"text:{chance.hex()}"
    blank = SourceItem(source=first.source, id=name, task=task, question=question, answer="-", **about)
    text = ComposedText(blank, tuple(facts), places, joints)
    answer, _ = text.tell([fact.text for fact in facts])
    return replace(text, item=blank.model_copy(update={"answer": answer}))


def _joints(facts: Sequence[Statement], chance: bytes) -> tuple[str, ...]:
    """Return the words before each fact: nothing, a space, a connective, or a list marker."""
    language = (facts[0].item.language or "").split("-")[0]
    if chance[2] % 8 == 0:
        return tuple("- " if place == 0 else "\n- " for place in range(len(facts)))
    space = "" if language in UNSPACED else " "
    joints = [""]
    for place, fact in enumerate(facts[1:]):
        connective = CONNECTIVES[chance[3 + place] % len(CONNECTIVES)] if language == "en" else ""
        joints.append(space + (connective if _CAN_FOLLOW.match(fact.text) else ""))
    return tuple(joints)


@cache
def _topics() -> dict[str, TextTopic]:
    return {
        name: TextTopic(
            re.compile(rf"\b(?:{table['words']})\b" if table["words"] else "(?!)", re.IGNORECASE),
            tuple(table["about"]),
            tuple(table["ask"]),
        )
        for name, table in read_packaged_toml("mores.factory", "topics.toml").items()
    }
