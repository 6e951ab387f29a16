"""Multiple choice: the options with their letters, in the published order or shuffled, and what a model chooses.

A chosen letter, or True and False, is read strictly, with a reason where it cannot be read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from string import ascii_uppercase

from mores.benchmark.benchmark import Graded, Label
from mores.errors import InputError
from mores.factory.drafts import draw
from mores.reading import chosen_letter, chosen_truth, last_letter, without_thoughts
from mores.types import Failure, FailureKind, Item

SHUFFLED = "shuffled"
"""Key of an item's metadata: the seed that its options were shuffled with."""
_OF_OTHERS = re.compile(
    r"(?<!\w)[A-Z]\W{0,2}(?:,|/|&|\s(?:and|or)\s)\W{0,2}[A-Z](?!\w)|(?i:\b(?:all|none|both|any|each|of)\s+(?:of\s+)?(?:the\s+)?above\b)"
)


def lettered(choices: Sequence[str]) -> str:
    """Return the options of a question, one in a line after its letter."""
    if len(choices) > len(ascii_uppercase):
        raise InputError(f"{len(choices)} options; at most {len(ascii_uppercase)} can have a letter")
    return "\n".join(f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def distinct(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the options of a question; InputError where two are the same, because then one letter of both is wrong."""
    if len(set(choices)) < len(choices):
        raise InputError("two options are the same; correct or remove the row")
    return tuple(choices)


def letters(item: Item) -> tuple[str, ...]:
    """Return the letters of an item's choices."""
    return tuple(ascii_uppercase[: len(item.choices)])


def guess_letter(items: Sequence[Item]) -> dict[str, float]:
    """Return what a random letter gets, and the letter that is correct most often, chosen for every question."""
    if not items:
        return {}
    correct = [[choice in item.target for choice in item.choices] for item in items]
    counts = Counter(
        letter for options in correct for letter, hit in zip(ascii_uppercase, options, strict=False) if hit
    )
    letter = min(counts, key=lambda letter: (-counts[letter], letter), default="A")
    return {"random": fmean(map(fmean, correct)), f"always {letter}": counts[letter] / len(items)}


def shuffle(item: Item, seed: int) -> Item:
    """Return the same question with its options in another order, which depends on its id and the seed alone.

    A question with an option such as "A and C" or "All of the above", which refers to the others, keeps its order.
    """
    if not can_reorder(item):
        return item
    order = sorted(range(len(item.choices)), key=lambda place: draw(seed, item.id, str(place)))
    moved = reorder(item, order)
    return moved.model_copy(update={"metadata": moved.metadata | {SHUFFLED: seed}})


def can_reorder(item: Item) -> bool:
    """Return whether a question has several options of which none refers to the others."""
    return len(item.choices) > 1 and not any(map(_OF_OTHERS.search, item.choices))


def reorder(item: Item, order: Sequence[int]) -> Item:
    """Return the same question with its options in another order, in all its variants."""
    choices = tuple(item.choices[place] for place in order)
    published, shuffled = lettered(item.choices), lettered(choices)
    texts = {"": item.prompt} | item.metadata.get("variants", {})
    if any(text.count(published) != 1 for text in texts.values()):
        raise InputError(f"{item.id}: its prompt does not list the options as 'A. …', one in a line, once")
    prompt, *_ = prompts = [text.replace(published, shuffled) for text in texts.values()]
    metadata = item.metadata
    if "variants" in metadata:
        metadata = metadata | {"variants": dict(zip(metadata["variants"], prompts[1:], strict=True))}
    return item.model_copy(update={"prompt": prompt, "choices": choices, "metadata": metadata})


def truths(_: Item) -> tuple[str, ...]:
    """Return True and False."""
    return ("True", "False")


def grade_letter(item: Item, text: str) -> Graded | Failure:
    """Accept the letter of a target among the choices."""
    return _grade(item, text, chosen_letter)


def grade_last_letter(item: Item, text: str) -> Graded | Failure:
    """Grade by the last "The best answer is: B", where a prompt asks for it at the end; else as any letter."""
    return _grade(item, text, last_letter)


def _grade(item: Item, text: str, choose: Callable[[str, int], str | None]) -> Graded | Failure:
    letter = choose(text, len(item.choices))
    if letter is None:
        return _unread(text, f"a letter from A to {ascii_uppercase[len(item.choices) - 1]}")
    correct = item.choices[ascii_uppercase.index(letter)] in item.target
    return Graded(label=Label.CORRECT if correct else Label.INCORRECT, read=letter)


def grade_truth(item: Item, text: str) -> Graded | Failure:
    """Accept the target, `True` or `False`."""
    truth = chosen_truth(text)
    if truth is None:
        return _unread(text, "True or False")
    return Graded(label=Label.CORRECT if truth in item.target else Label.INCORRECT, read=truth)


def _unread(text: str, expected: str) -> Failure:
    reason = f"no single choice in {without_thoughts(text)[:80]!r}; expected {expected}"
    return Failure(kind=FailureKind.PARSE, reason=reason)
