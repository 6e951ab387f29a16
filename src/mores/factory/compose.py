"""Texts of two to five sentences made of several facts, some of them with one to three errors.

    for text in compose(items, fold_of, seed=0, uses=2):
        drafts = list(text_drafts(text, pool, seed=0, most=3))

The facts of a text are of one source, region, language and fold, so that no text joins two splits. English answers are
put into sentences (`statement`), and from edition 3 on those in the languages of `statements.toml`; in others a fact
must be a whole text already. Which facts meet, their order, the words between them and the instruction are drawn by the
seed; none of these depends on the errors. Severities are those of `errors.rules`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from mores.culture import region_name
from mores.factory.drafts import Draft, draw, soft
from mores.factory.errors.rules import RULES, Pool, changes
from mores.factory.errors.rules.edit import UNSPACED, data
from mores.factory.gold import ChangedText
from mores.factory.items import SourceItem, Task
from mores.factory.statement import Statement, bare, other_language, sentence
from mores.io.values import read_packaged_toml

SIZES = (2, 3, 3, 4, 4, 5)
"""Facts of a text; the seed draws one of these."""
LONGEST_FACT = 300
"""Maximum characters; a longer one is a text already."""
CONNECTIVES = ("", "", "", "Also, ", "In addition, ", "Besides, ", "Beyond that, ")
FALLBACK = "life"
"""The topic of facts that fit no other, or too few of which do."""

_KNOWN = 4096
"""Facts whose changes are kept, because each is told in several texts."""
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
    joints: tuple[str, ...]
    """The words before each fact."""

    def tell(self, wordings: Sequence[str]) -> tuple[str, list[int]]:
        """Return the text with these wordings of its facts, and the start of each."""
        text, starts = "", []
        for joint, words in zip(self.joints, wordings, strict=True):
            starts.append(len(text) + len(joint))
            text += joint + (words[0].lower() + words[1:] if joint.endswith(", ") else words)
        return text, starts


def compose(
    items: Iterable[SourceItem], fold_of: Mapping[str, int], seed: int, uses: int, edition: int = 2
) -> Iterator[ComposedText]:
    """Yield texts of the facts of these items; each fact is in at most `uses` of them."""
    cells: dict[tuple[str, ...], list[Statement]] = defaultdict(list)
    for item in items:
        whole = _SENTENCE_END.search(item.answer) and "\n" not in item.answer and len(item.answer) <= LONGEST_FACT
        if item.task is not Task.GENERATION:
            fact = sentence(item, draw(seed, "sentence", item.id), edition)
        else:
            fact = bare(item) if whole else None
        if fact is not None and item.region:
            cells[item.source, item.region, item.language or "", str(fold_of[item.name])].append(fact)
    for _, facts in sorted(cells.items(), key=lambda cell: cell[0]):
        seen: set[frozenset[str]] = set()
        for use in range(uses):
            for topic, of_topic in _by_topic(facts):
                shuffled = sorted(of_topic, key=lambda fact: draw(seed, "text", str(use), fact.item.id))
                start = 0
                while len(shuffled) - start >= SIZES[0]:  # a single remaining one joins the last portion
                    size = SIZES[draw(seed, "size", shuffled[start].item.id)[0] % len(SIZES)]
                    if len(shuffled) - start - size == 1:
                        size += 1 if size < SIZES[-1] else -1
                    chosen, start = shuffled[start : start + size], start + size
                    names = frozenset(fact.item.id for fact in chosen)
                    if names not in seen:
                        seen.add(names)
                        yield _text(chosen, topic, seed, use)


def text_drafts(
    text: ComposedText,
    pool: Pool,
    seed: int,
    most: int,
    edition: int = 2,
    known: dict[str, list[ChangedText]] | None = None,
) -> Iterator[Draft]:
    """Yield the text without errors, and with one, two and so on up to `most`, each in another fact.

    `known` keeps the changes of the latest facts, for the next texts that tell them.
    """
    parts = tuple(fact.item for fact in text.facts)
    yield Draft(text.item, text.item.task, text.item.answer, "correct", form="composed", parts=parts)
    known = {} if known is None else known
    by_fact = []
    for fact in text.facts:
        if (name := fact.item.name) not in known:
            known[name] = list(changes(fact, pool, seed, RULES, edition=edition))
            if len(known) > _KNOWN:
                del known[next(iter(known))]
        by_fact.append(known[name])
    changeable = [place for place, options in enumerate(by_fact) if options]
    order = sorted(changeable, key=lambda place: draw(seed, "fact", text.item.id, str(place)))
    for count in range(1, min(most, len(order)) + 1):
        chosen = {
            place: min(by_fact[place], key=lambda change: draw(seed, str(count), text.item.id, change.answer))
            for place in order[:count]
        }
        yield from soft(text.item, text.item.task, [_join(text, chosen)], "composed", parts)


def _join(text: ComposedText, chosen: Mapping[int, ChangedText]) -> ChangedText:
    wordings = [chosen[place].answer if place in chosen else fact.text for place, fact in enumerate(text.facts)]
    answer, starts = text.tell(wordings)
    mistakes = []
    for place, change in sorted(chosen.items()):
        for mistake in change.mistakes:
            start, end = mistake.start + starts[place], mistake.end + starts[place]
            # A connective may have changed the first letter of the quoted words.
            quote = change.answer[mistake.start : mistake.end]
            explanation = mistake.explanation.replace(f"“{quote}”", f"“{answer[start:end]}”", 1)
            mistakes.append(mistake._replace(start=start, end=end, explanation=explanation))
    return ChangedText(answer=answer, correct=text.item.answer, mistakes=tuple(mistakes))


def _by_topic(facts: Iterable[Statement]) -> list[tuple[str, list[Statement]]]:
    """Return the facts of a region by topic; texts about a topic of the source keep it."""
    by_topic: dict[str, list[Statement]] = defaultdict(list)
    for fact in facts:
        topic = question = fact.item.question
        if fact.item.task is not Task.GENERATION:
            topic = next((name for name, each in _topics().items() if each.words.search(question)), FALLBACK)
        by_topic[topic].append(fact)
    few = [topic for topic, of_topic in by_topic.items() if len(of_topic) < SIZES[0] and topic in _topics()]
    for topic in few:
        if topic != FALLBACK:
            by_topic[FALLBACK] += by_topic.pop(topic)
    return sorted(by_topic.items())


def _text(facts: Sequence[Statement], topic: str, seed: int, use: int) -> ComposedText:
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
    text = ComposedText(blank, tuple(facts), joints)
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
