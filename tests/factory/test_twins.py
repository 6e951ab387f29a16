"""Near twins: found whatever the words around them, joined into groups, and never parted by a split."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from mores.factory.items import SourceItem, Task
from mores.factory.looks import char_ngrams
from mores.factory.split import LARGEST, count_leaks, groups
from mores.factory.split import near_twins as find
from mores.factory.table import ItemTable

SYLLABLES = ["ka", "mo", "ri", "tu", "sen", "pol", "dra", "vi", "hu", "ban"]


def item(name: str, question: str, answer: str = "", source: str = "quiz", task: Task = Task.FREEFORM) -> SourceItem:
    return SourceItem(source=source, id=name, task=task, question=question, answer=answer or name)


def sentence(draw: random.Random, words: int = 8) -> str:
    return " ".join("".join(draw.choices(SYLLABLES, k=3)) for _ in range(words))


def joined(items: list[SourceItem]) -> dict[str, str]:
    table = ItemTable(items)
    found = groups(table, find(table)).tolist()
    return {name: table.names[place] for name, place in zip(table.names, found, strict=True)}


def near_twins(items: list[SourceItem]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The names of the items of both texts of each pair."""
    twins = find(table := ItemTable(items))
    owners: dict[int, list[str]] = defaultdict(list)
    for name, text in sorted(zip(table.names, twins.text.tolist(), strict=True)):
        owners[text].append(name)
    pairs = zip(twins.first.tolist(), twins.second.tolist(), strict=True)
    return [(tuple(owners[first]), tuple(owners[second])) for first, second in pairs]


def test_two_wordings_of_a_question_are_twins_also_across_sources() -> None:
    draw = random.Random(1)
    others = [item(f"o{place}", sentence(draw)) for place in range(30)]
    one = item("a", "What do people in Peru usually eat on the first day of the year?", "Grapes, twelve of them")
    two = item("b", "what do people in Peru eat on the FIRST day of a year", "twelve grapes", source="other")
    [pair] = near_twins([*others, one, two])
    assert pair == (("other/b",), ("quiz/a",))
    group_of = joined([*others, one, two])
    assert group_of["quiz/a"] == group_of["other/b"]
    assert len(set(group_of.values())) == 31


def test_twins_in_a_script_without_spaces() -> None:
    draw = random.Random(2)
    signs = [chr(0x4E00 + place) for place in range(400)]
    others = [item(f"o{place}", "".join(draw.choices(signs, k=25))) for place in range(30)]
    question = "".join(draw.choices(signs, k=30))
    pair = [item("a", question, "茶"), item("b", f"{question[:28]}们？", "酒")]
    assert near_twins([*others, *pair]) == [(("quiz/a",), ("quiz/b",))]


def test_the_words_of_a_questionnaire_make_no_twins() -> None:
    frame = "Tell me whether you agree with this statement about life in your country today"
    draw = random.Random(3)
    assert near_twins([item(str(place), f"{frame}: {sentence(draw, 4)}") for place in range(60)]) == []
    assert near_twins([item(str(place), f"{frame} {place}") for place in range(60)]) == []


def test_a_topic_is_no_likeness() -> None:
    draw = random.Random(4)
    topic = "a very long topic that all of these texts are written about"
    texts = [item(str(place), topic, sentence(draw), task=Task.GENERATION) for place in range(6)]
    assert near_twins(texts) == []
    same = [item(name, name, "Tea is drunk at five o'clock.", task=Task.GENERATION) for name in "ab"]
    assert len(set(joined(same).values())) == 1


def test_a_chain_of_twins_does_not_eat_a_source() -> None:
    """Each text shares most of its words with the next, and the first nothing with the last."""
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(500)]
    chain = [item(f"{place:03}", " ".join(words[place : place + 8])) for place in range(400)]
    twins = near_twins(chain)
    assert len(twins) > 399
    sizes = Counter(joined(chain).values())
    assert LARGEST / 2 < max(sizes.values()) <= LARGEST
    unlimited = [each.model_copy(update={"unit": "one"}) for each in chain]
    assert len(set(joined(unlimited).values())) == 1


def test_twins_that_a_split_parts_are_counted() -> None:
    draw = random.Random(6)
    text = sentence(draw, 12)
    pair = [item("a", text), item("b", f"{text} mo"), item("same", text, "a"), item("far", sentence(draw))]
    twins = find(ItemTable(pair))
    train, dev, test = 0, 7, 9
    assert count_leaks(twins, np.array([test, train, test, train])) == 2
    assert count_leaks(twins, np.array([test, dev, test, train])) == 0
    assert count_leaks(twins, np.array([test, test, test, train])) == 0
    assert count_leaks(twins, np.array([train, test, train, train])) == 1


@pytest.mark.parametrize("text", ["", "x", "\ud800", "a\0b", "𝔸𝔹"])
def test_n_grams_of_any_text(text: str) -> None:
    rows = char_ngrams([text, "", text], (1, 3), 16)
    assert (rows[0] != rows[2]).nnz == 0
    padded = f" {text} "
    wanted = {padded[start : start + length] for length in (1, 3) for start in range(len(padded) - length + 1)}
    assert rows[0].nnz == len(wanted)
