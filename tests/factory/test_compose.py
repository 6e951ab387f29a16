"""Texts of several facts: where their errors stand, that no text joins two folds, and that the seed decides."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.compose import compose, text_drafts
from mores.factory.drafts import Draft, word
from mores.factory.errors.rules import RULES, Pool, changes
from mores.factory.items import SourceItem, Task
from mores.factory.statement import bare, norm_of, sentence
from mores.factory.wrap import Wrapper
from tests.factory.tables import item_table

THINGS = ["soup", "bread", "tea", "fruit", "rice", "fish", "beans", "cake"]


def facts(region: str, country: str, count: int = 8) -> list[SourceItem]:
    return [
        SourceItem(
            source="quiz", id=f"{region}{n}", task=Task.QA, question=f"What do people in {country} eat on day {n}?",
            answer=THINGS[n], wrong=(f"old {THINGS[n - 1]}",), options=(THINGS[n], f"old {THINGS[n - 1]}"),
            region=region, language="en",
        )
        for n in range(count)
    ]  # fmt: skip


def chinese(count: int = 6) -> list[SourceItem]:
    return [
        SourceItem(
            source="zh", id=f"c{n}", task=Task.GENERATION, question="中国文化", answer=f"中国人经常喝{n + 3}杯茶。",
            region="CN", language="zh-Hans",
        )
        for n in range(count)
    ]  # fmt: skip


ITEMS = [*facts("PE", "Peru"), *facts("JP", "Japan"), *chinese()]
FOLDS = {f"{item.source}/{item.id}": number % 2 for number, item in enumerate(ITEMS)}
TABLE = item_table(ITEMS, list(FOLDS.values()))
POOL = Pool(ITEMS)


def every_draft(seed: int = 0, uses: int = 2) -> list[Draft]:
    return [d for text in compose(TABLE, seed, uses) for d in text_drafts(text, POOL, seed, 3)]


def test_the_facts_of_a_text_share_fold_region_and_language() -> None:
    texts = list(compose(TABLE, 0, 2))
    assert {text.item.region for text in texts} == {"PE", "JP", "CN"}
    for text in texts:
        parts = [fact.item for fact in text.facts]
        assert 2 <= len(parts) <= 5
        assert len({FOLDS[f"{part.source}/{part.id}"] for part in parts}) == 1
        assert {(part.source, part.region, part.language) for part in parts} == {
            (text.item.source, text.item.region, text.item.language)
        }
        for fact in text.facts:
            assert fact.text[1:] in text.item.answer
    uses = Counter(fact.item.id for text in texts for fact in text.facts)
    assert max(uses.values()) <= 2


@pytest.mark.slow
@given(st.integers(0, 30))
def test_errors_stand_where_the_report_says_and_nothing_else_is_changed(seed: int) -> None:
    wrapper = Wrapper(seed=seed)
    for draft in every_draft(seed, 1):
        gold = word(draft, wrapper)
        assert gold.parts == draft.parts
        assert len(gold.report.errors) == (0 if draft.correct else len(draft.change.mistakes))  # type: ignore[union-attr]
        text = gold.sample.text
        for error in reversed(gold.report.errors):
            assert gold.sample.text[error.start : error.end] == error.quote
            assert f"“{error.quote}”" in error.explanation
            text = text[: error.start] + "\0" + text[error.end :]
        if gold.original:
            rest = gold.original.text
            for piece in text.split("\0"):
                assert piece in rest
                rest = rest[rest.index(piece) + len(piece) :]


def test_texts_have_one_to_three_errors_each_by_its_rule() -> None:
    wrong = [draft for draft in every_draft() if draft.change]
    assert {len(draft.change.mistakes) for draft in wrong if draft.change} == {1, 2, 3}
    for draft in wrong:
        assert draft.kind == "soft"
        assert draft.maker == f"rule:{draft.change.rule}"  # type: ignore[union-attr]
        for mistake in draft.change.mistakes:  # type: ignore[union-attr]
            assert mistake.severity is RULES[mistake.rule].severity


def test_a_text_is_asked_for_in_its_language() -> None:
    wrapper = Wrapper()
    for draft in every_draft():
        instruction = word(draft, wrapper).sample.instruction
        if draft.item.language == "zh-Hans":
            assert not any("a" <= letter <= "z" for letter in instruction)
        else:
            assert "Peru" in instruction or "Japan" in instruction


def test_the_seed_decides_and_the_order_of_items_does_not() -> None:
    texts = [text.item for text in compose(TABLE, 0, 2)]
    assert texts == [text.item for text in compose(item_table(ITEMS[::-1], list(FOLDS.values())[::-1]), 0, 2)]
    assert texts != [text.item for text in compose(TABLE, 1, 2)]
    assert not list(compose(TABLE, 0, 0))


def test_a_sentence_fits_its_answer() -> None:
    asked = facts("PE", "Peru", 1)[0].model_copy(update={"question": "What is a polite gift in Peru?"})
    texts = {
        answer: sentence(asked.model_copy(update={"answer": answer}), bytes([0]))
        for answer in ("Bringing flowers.", "They bring flowers", "Lima cake", "Two things. Or three.")
    }
    assert [statement.text if statement else None for statement in texts.values()] == [
        "A polite gift in Peru is bringing flowers.",
        "As for a polite gift in Peru: they bring flowers.",
        "A polite gift in Peru is Lima cake.",
        None,
    ]
    other = sentence(asked, bytes([1]))
    assert other is not None
    assert other.text == "Soup is a polite gift in Peru."


def _norm_item(norm: str) -> SourceItem:
    return SourceItem(
        source="n", id="1", task=Task.IMPERSONATION, question="?", answer="Yes", role=(("Country", "Peru"),),
        norm=norm, region="PE", language="en", unit="u",
    )  # fmt: skip


def _wordings(norm: str) -> list[str]:
    items = [norm_of(_norm_item(norm), bytes([choice])) for choice in range(4)]
    assert {item.id for item in items if item} == {"norm:u"}
    return [item.answer for item in items if item]


def test_a_norm_has_four_wordings_that_mean_the_same() -> None:
    assert _wordings("It is polite to bow.") == [
        "It is polite to bow.",
        "It is impolite not to bow.",
        "It is impolite to forget to bow.",
        "It is polite not to forget to bow.",
    ]
    assert _wordings("When greeting, it's considered respectful to bow.")[2:] == [
        "When greeting, it's considered disrespectful to forget to bow.",
        "When greeting, it's considered respectful not to forget to bow.",
    ]
    assert norm_of(_norm_item("It is polite to bow.").model_copy(update={"norm": None})) is None


@pytest.mark.parametrize(
    "norm",
    [
        "It is polite not to bow.",
        "It is polite to bow, but not to kneel.",
        "It is polite to bow. Kneel.",
        "Always bow.",
    ],
)
def test_a_norm_that_another_wording_would_change_stays(norm: str) -> None:
    assert set(_wordings(norm)) == {norm}


def test_neither_praise_nor_what_stands_with_it_tells_whether_a_norm_is_correct() -> None:
    """Correct and reversed, over all wordings: each pair of the words is equally often correct and wrong."""
    counts: Counter[tuple[tuple[int, int], tuple[bool, bool]]] = Counter()
    for wording in _wordings("It is polite to bow."):
        item = _norm_item("-").model_copy(update={"answer": wording, "task": Task.GENERATION})
        (reversed_norm,) = changes(bare(item), Pool([]), seed=0, rules=("negation",))
        for text, sign in ((wording, 1), (reversed_norm.answer, -1)):
            features = ("impolite" in text, "not" in text, "forget" in text)
            for first, second in ((0, 1), (0, 2), (1, 2)):
                counts[(first, second), (features[first], features[second])] += sign
    assert len(counts) == 12
    assert not any(counts.values())
