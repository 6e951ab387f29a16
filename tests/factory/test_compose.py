"""Texts of several facts: where their errors stand, that no text joins two folds, and that the seed decides."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mores.factory.compose import compose, text_drafts
from mores.factory.drafts import Draft, word
from mores.factory.errors.rules import RULES, Pool
from mores.factory.items import SourceItem, Task
from mores.factory.statement import norm_of, sentence
from mores.factory.wrap import Wrapper

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
POOL = Pool(ITEMS)


def every_draft(seed: int = 0, uses: int = 2) -> list[Draft]:
    return [d for text in compose(ITEMS, FOLDS, seed, uses) for d in text_drafts(text, POOL, seed, 3)]


def test_the_facts_of_a_text_share_fold_region_and_language() -> None:
    texts = list(compose(ITEMS, FOLDS, 0, 2))
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


@given(st.integers(0, 30))
def test_errors_stand_where_the_report_says_and_nothing_else_is_changed(seed: int) -> None:
    wrapper = Wrapper(seed=seed)
    for draft in every_draft(seed, 1):
        gold = word(draft, wrapper)
        assert gold.parts == tuple(f"{part.source}/{part.id}" for part in draft.parts)
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
    texts = [text.item for text in compose(ITEMS, FOLDS, 0, 2)]
    assert texts == [text.item for text in compose(ITEMS[::-1], FOLDS, 0, 2)]
    assert texts != [text.item for text in compose(ITEMS, FOLDS, 1, 2)]
    assert not list(compose(ITEMS, FOLDS, 0, 0))


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


def test_a_norm_says_the_same_when_it_is_turned() -> None:
    item = SourceItem(
        source="n", id="1", task=Task.IMPERSONATION, question="?", answer="Yes", role=(("Country", "Peru"),),
        norm="It is polite to bow.", region="PE", language="en", unit="u",
    )  # fmt: skip
    plain, turned = norm_of(item, b"\0"), norm_of(item, b"\1")
    assert plain is not None
    assert turned is not None
    assert (plain.answer, turned.answer) == ("It is polite to bow.", "It is impolite not to bow.")
    assert plain.id == turned.id == "norm:u"
    assert norm_of(item.model_copy(update={"norm": None})) is None
