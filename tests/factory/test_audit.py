"""Shortcuts of every kind that a classifier could use: planted, found, and gone after balancing."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mores.factory import columns, looks, scratch
from mores.factory.audit import AUDITORS, MOST, audit_texts, naive_bayes, thin
from mores.factory.balance import paper, shortcut_free
from mores.factory.columns import MarkedColumns
from mores.factory.drafts import Draft, drafts, word
from mores.factory.gold import ChangedText, Mistake
from mores.factory.items import SourceItem, Task
from mores.factory.looks import Looks, mark, shape
from mores.factory.shortcut import ONE, SeenTexts, Shortcut, audit, out_of_fold, probability, regress, see
from mores.factory.split import FOLDS
from mores.factory.wrap import Wrapper
from mores.types import Severity
from tests.factory.tables import draft_table, item_table

SIGNS = "山水火木金土日月人口手足目耳雨雪花草虫鱼鸟马牛羊"
Write = Callable[[bool, random.Random], str]


def chinese(correct: bool, draw: random.Random) -> str:
    """A sentence without spaces that names China more often where it is correct."""
    place = "中国" if draw.random() < (0.85 if correct else 0.25) else "埃及"
    return f"{''.join(draw.choices(SIGNS, k=6))}是{place}的{''.join(draw.choices(SIGNS, k=4))}。"


def long(correct: bool, draw: random.Random) -> str:
    """Several sentences, of which correct texts have more."""
    count = draw.choice([3, 4, 5] if correct else [2, 3, 4])
    return " ".join(f"They eat {draw.choice(SIGNS)} with {draw.choice(SIGNS)}." for _ in range(count))


def together(correct: bool, draw: random.Random) -> str:
    """Two words that say something only together."""
    first = draw.random() < 0.5
    second = first == correct if draw.random() < 0.9 else first != correct
    return f"{'tea' if first else 'milk'} and {'rice' if second else 'bread'} and {draw.choice(SIGNS)}"


def greeting(correct: bool, draw: random.Random) -> str:
    """A word that is more often in correct texts."""
    return f"{'often' if draw.random() < (0.7 if correct else 0.3) else 'rarely'} {draw.choice(SIGNS)}"


def proverb(correct: bool, draw: random.Random) -> str:
    """Sixty sayings, every second of which is mostly correct."""
    number = 2 * draw.randrange(30) + (correct == (draw.random() < 0.8))
    saying = random.Random(number)
    return f"{''.join(saying.choices(SIGNS, k=12))} {draw.choice(SIGNS)}"


def noise(_correct: bool, draw: random.Random) -> str:
    return " ".join(draw.choices(SIGNS, k=5))


def texts(write: Write, count: int = 1200) -> tuple[list[str], list[bool], list[int]]:
    draw = random.Random(3)
    correct = [draw.random() < 0.5 for _ in range(count)]
    return [write(label, draw) for label in correct], correct, [draw.randrange(FOLDS) for _ in correct]


def other_audits(rows: tuple[Sequence[str], Sequence[bool], Sequence[int]]) -> dict[str, Shortcut]:
    whole = {"all": np.arange(len(rows[0]))}
    found = audit_texts(AUDITORS.items(), lambda places: [rows[0][place] for place in places], *rows[1:], whole)
    return {name: parts["all"] for name, parts in found.items()}


@pytest.mark.parametrize("write", [chinese, long], ids=["no spaces", "number of sentences"])
def test_the_guesser_finds_more_than_words(write: Write) -> None:
    assert audit(see(*texts(write))).value > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("naive Bayes", greeting),
        pytest.param("boosted trees", chinese, marks=pytest.mark.slow),
        ("boosted trees", together),
        ("nearest neighbours", proverb),
    ],
)
def test_each_classifier_finds_a_planted_shortcut(name: str, write: Write) -> None:
    assert other_audits(texts(write))[name].value > 0.15


@pytest.mark.slow
def test_no_classifier_finds_anything_in_noise() -> None:
    found = other_audits(texts(noise))
    assert found.keys() == AUDITORS.keys()
    assert [name for name, shortcut in found.items() if abs(shortcut.value) >= 4 * shortcut.error] == []


def test_naive_bayes_as_worked_out_by_hand() -> None:
    """Correct: tea twice, milk once; wrong: milk twice. For "tea": (2+1)/(3+2) against (0+1)/(2+2), log 2.4."""
    auditor = AUDITORS["naive Bayes"]
    rows = auditor.look(["tea tea", "milk", "milk milk", "tea", "unknown"])
    odds = naive_bayes(rows[:3], np.array([True, True, False]), rows[3:])
    assert odds[0] / ONE == pytest.approx(np.log(2.4), abs=0.001)
    # A word that no text has: (0+1)/(3+2) against (0+1)/(2+2).
    assert odds[1] / ONE == pytest.approx(np.log(0.8), abs=0.001)


def test_the_regression_is_a_regression() -> None:
    """As log-odds of a column that nine of ten correct texts have and one of ten wrong ones."""
    correct = np.arange(2000) % 2 == 0
    texts_of = ["x" if (place // 2 % 10 == 0) != label else "y" for place, label in enumerate(correct.tolist())]
    seen = see(texts_of, correct.tolist(), [0] * 2000)
    odds = regress(seen.rows, seen.correct, np.arange(2000)[:, None] >= 4)[:4]
    assert set(np.sign(odds)) == {1, -1}
    chances = probability(np.array([-100 * ONE, -ONE, 0, ONE, 100 * ONE])) / ONE
    assert chances.tolist() == pytest.approx([0, 1 / (1 + np.e), 0.5, 1 / (1 + 1 / np.e), 1], abs=0.001)


def sentences(count: int) -> tuple[list[str], list[bool], list[int]]:
    """Texts, labels that one of their words tells in part, and folds."""
    draw = random.Random(count)
    texts = [
        " ".join(draw.choices(["rice", "tea", "bread", "fish", "salt", "soup", "yam"], k=30)) for _ in range(count)
    ]
    return texts, [text.count("tea") + draw.randint(0, 4) > 6 for text in texts], [place % 10 for place in range(count)]


def test_the_guesser_is_the_same_however_little_it_reads_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, correct, folds = sentences(300)
    whole = out_of_fold(see(texts, correct, folds), 6)
    monkeypatch.setattr(scratch, "IN_MEMORY", 7)
    monkeypatch.setattr(looks, "_BLOCK", 700)
    monkeypatch.setattr(columns, "_CELLS", 900)
    assert np.array_equal(out_of_fold(see(texts, correct, folds), 6), whole)
    assert np.array_equal(out_of_fold(see(texts, correct, folds).take(np.arange(300)), 6), whole)


def test_texts_that_were_looked_at_before_look_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order and several times, and each is read once."""
    monkeypatch.setattr(looks, "_BLOCK", 700)
    texts, correct, folds = sentences(300)
    read: list[int] = []

    def text(number: int) -> str:
        read.append(number)
        return texts[number]

    known = Looks(text)
    for start in (0, 50):
        numbers = np.random.default_rng(start).integers(start, start + 250, 400)
        labels, fold = np.array(correct)[numbers], np.array(folds)[numbers]
        odds = out_of_fold(SeenTexts(known[numbers], labels, fold), 6)
        assert np.array_equal(odds, out_of_fold(see([texts[n] for n in numbers], labels, fold), 6))
        some = np.flatnonzero(numbers % 3)
        again = SeenTexts(known[numbers], labels, fold).take(some)
        assert np.array_equal(
            out_of_fold(again, 6), out_of_fold(see(map(texts.__getitem__, numbers), labels, fold).take(some), 6)
        )
    assert len(read) == len(set(read))


def test_the_fit_of_each_fold_is_the_fit_of_the_other_folds_alone() -> None:
    seen = see(*sentences(200))
    together = out_of_fold(seen, 6)
    for number in range(5):
        inside = seen.folds // 2 == number
        alone = regress(seen.rows, seen.correct, ~inside[:, None], 6)[inside]
        assert np.array_equal(together[inside], alone)


def test_columns_that_the_same_texts_have_count_as_often_as_they_are_there() -> None:
    """As with every column apart: the same words, the same fits, and the same naive Bayes."""
    texts, correct, _ = sentences(300)
    words = [sorted({sign for word in text.split()[:4] for sign in (word, word[0], word[-2:])}) for text in texts]
    tokens = sorted({token for text in words for token in text})
    ones = np.array([[token in text for token in tokens] for text in words], np.int64)
    together, label = mark(words), np.array(correct)
    assert len(together.times) < together.width == len(tokens)
    every = np.flatnonzero(ones)
    counts = ones.sum(axis=1).astype(np.int32)
    apart = MarkedColumns([(counts, counts, (every % len(tokens)).astype(np.int32))], np.ones(len(tokens), np.int64))
    units = np.array([256 // math.isqrt(count) for count in counts])
    assert sorted(together.sum(axis=0)) == sorted(apart.sum(axis=0)) == sorted((ones * units[:, None]).sum(axis=0))
    used = np.arange(300)[:, None] % 3 > 0
    for some in (np.arange(300), np.flatnonzero(np.arange(300) % 2)):
        fits = [regress(rows[some], label[some], used[some], 6) for rows in (together, apart)]
        odds = [naive_bayes(rows[some], label[some], rows) for rows in (together, apart)]
        for one, other in (fits, odds):
            assert np.array_equal(one, other)
            assert np.abs(one).max() > 0


@pytest.mark.slow
def test_looking_at_texts_takes_little_memory() -> None:
    """Three thousand of these texts take 30 MB; with all that is known of them at once it was 110 MB."""
    texts, correct, folds = sentences(3000)
    tracemalloc.start()
    try:
        out_of_fold(see(texts, correct, folds), 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6


def test_a_shape_says_what_is_seen_from_afar() -> None:
    assert set(shape("Tea, at 5!")) >= {"\0characters 13", "\0words 3", "\0digits 1", "\0signs 2", "\0ends !"}
    assert set(shape("茶。")) & set(shape("Tea.")) >= {"\0sentences 1", "\0words 1"}
    assert list(shape(""))


def test_an_audit_reads_a_fixed_part_of_very_many_texts() -> None:
    assert thin(np.arange(7)).tolist() == list(range(7))
    rows = thin(np.arange(3 * MOST))
    assert len(rows) == MOST
    assert np.diff(rows).tolist() == [3] * (MOST - 1)
    assert thin(np.arange(0)).tolist() == []


# Balanced with one guesser, checked by the others


def items(write: Write, count: int) -> tuple[list[SourceItem], list[Draft]]:
    """Items with soft errors: two changed texts of each."""
    draw = random.Random(8)
    sources: list[SourceItem] = []
    made: list[Draft] = []
    for number in range(count):
        item = SourceItem(
            source="made", id=f"{number:04}", task=Task.GENERATION, question="food", answer=write(True, draw),
            language="zh", region="CN",
        )  # fmt: skip
        changed = [write(False, draw) for _ in range(2)]
        mistake = Mistake(0, 2, "swap", Severity.MAJOR, "fact", "No.")
        changes = [ChangedText(text, item.answer, (mistake,)) for text in changed]
        sources.append(item)
        made += drafts(item, lambda _item, changes=changes: changes)  # type: ignore[misc]
    return sources, made


@pytest.mark.slow
@pytest.mark.parametrize(
    "write",
    [pytest.param(chinese, id="no spaces"), pytest.param(long, id="several sentences", marks=pytest.mark.slow)],
)
def test_what_is_balanced_by_one_guesser_tells_the_others_nothing(write: Write) -> None:
    sources, made = items(write, 400)
    table = draft_table(item_table(sources, [place % FOLDS for place in range(len(sources))]), made)
    values = []
    for sampling in (paper, shortcut_free):
        chosen = sampling(table, np.arange(len(table)), 0)
        wrapper = Wrapper()
        rows = [word(table[row], wrapper).sample.text for row in chosen.tolist()]
        values.append(other_audits((rows, table.correct[chosen].tolist(), table.fold[chosen].tolist())))
    before, after = values
    assert max(found.value for found in before.values()) > 0.25
    for found in after.values():
        assert found.value <= 0.08 + 2 * found.error
        assert found.n > 200


@pytest.mark.slow
def test_the_letter_of_an_option_says_nothing() -> None:
    """A source whose correct answer is mostly option B: an output that names the letter would give it away."""
    draw = random.Random(4)
    sources, made = list[SourceItem](), list[Draft]()
    for number in range(500):
        options = [f"{' '.join(draw.choices(SIGNS, k=4))} {number} {place}" for place in range(4)]
        answer = options[1 if draw.random() < 0.6 else draw.randrange(4)]
        item = SourceItem(
            source="quiz", id=f"{number:04}", task=Task.QA, question=f"What is {number}?", answer=answer,
            options=tuple(options), wrong=tuple(o for o in options if o != answer), language="en",
        )  # fmt: skip
        sources.append(item)
        made += (draft for draft in drafts(item) if draft.task is Task.QA)
    table = draft_table(item_table(sources, [number % FOLDS for number in range(500)]), made)
    shares = []
    for sampling in (paper, shortcut_free):
        chosen = [table[row] for row in sampling(table, np.arange(len(table)), 0).tolist()]
        at_b = [draft for draft in chosen if draft.item.options.index(draft.answer) == 1]
        shares.append(sum(draft.correct for draft in at_b) / len(at_b))
    assert shares[0] > 0.7
    assert shares[1] == 0.5
    assert len(chosen) > 300
