"""Edition 3 of the data factory: other languages, checked errors, balanced words, validation; edition 2 is the same."""

from __future__ import annotations

import hashlib
import json
import random
import re
import runpy
import shutil
from collections import Counter
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import mores
from mores.engine.progress import Silent
from mores.errors import ConfigError, InputError
from mores.factory.build import build
from mores.factory.compose import compose
from mores.factory.drafts import Draft
from mores.factory.errors.model import WrittenPair, reason_of
from mores.factory.errors.rules import RULES, Pool, changes
from mores.factory.errors.rules.edit import TextEdit
from mores.factory.errors.rules.soundness import is_accepted, is_grammatical, without_accepted
from mores.factory.folder import verify
from mores.factory.items import SourceItem, Task
from mores.factory.output import read_split, write
from mores.factory.recipe import BuildRecipe, list_recipes, read_recipe
from mores.factory.sources.blend import LANGUAGES
from mores.factory.sources.blend import SOURCE as BLEND
from mores.factory.sources.people import only_people
from mores.factory.split import SPLITS
from mores.factory.statement import sentence
from mores.factory.validation import SAMPLES, choose, read_rate
from mores.factory.words import OFTEN, balance_words, chance, tilted_words
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.models.written import read_written
from mores.studio.campaigns.validation.rows import admit, join
from mores.studio.data.incoming import Incoming
from mores.types import Failure
from tests.cli.conftest import Run, home
from tests.cli.conftest import mores as command
from tests.factory.tables import draft_table, item_table
from tests.factory.test_build import put, quiz, survey
from tests.factory.test_compose import chinese, facts
from tests.factory.test_model_errors import answer as written
from tests.factory.test_sources import REAL, dump

__all__ = ["command", "home"]

FREE = {"task": Task.FREEFORM, "source": "blend", "id": "1"}


def asked(question: str, answer: str, language: str = "en", **fields: Any) -> SourceItem:
    return SourceItem.model_validate(FREE | {"question": question, "answer": answer, "language": language} | fields)


# -- editions ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_recipe_of_edition_2_gives_the_bytes_that_it_gave(tmp_path: Path) -> None:
    """The sum is of the manifest that Mores 0.2.0 wrote."""
    meals = [*facts("PE", "Peru"), *facts("JP", "Japan")]
    items = {"survey": survey(60), "quiz": quiz(40), "meals": meals, "tea": chinese()}
    recipe = BuildRecipe(name="golden", sources=tuple(put(tmp_path, some, name) for name, some in items.items()))
    write(build(recipe, None), recipe, tmp_path / "out")
    manifest = (tmp_path / "out" / "manifest.jsonl").read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == "1460c5deca055d4258ffd3fba4b383f55cd83a247197feb440b2b057750d91a2"
    assert "validation" not in json.loads((tmp_path / "out" / "recipe.json").read_text())


def test_the_recipes_have_both_editions() -> None:
    assert set(list_recipes()) == {"excam40k", "excam40k-2", "free", "free-2"}
    for name in ("excam40k", "free"):
        new, old = read_recipe(name), read_recipe(f"{name}-2")
        assert (new.edition, old.edition) == (3, 2)
        assert "own_languages" not in old.model_dump()
        assert new.model_copy(update={"edition": 2, "own_languages": None}) == old


# -- other languages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "question", "answer", "expected"),
    [
        ("ko", "대한민국의 전통 악기는 무엇입니까?", "가야금", "대한민국의 전통 악기는 가야금입니다."),
        ("zh", "中国最受欢迎的传统乐器是什么？", "二胡", "中国最受欢迎的传统乐器是二胡。"),
        ("fa", "محبوب‌ترین ساز سنتی در ایران چیست؟", "سنتور", "محبوب‌ترین ساز سنتی در ایران سنتور است."),
        ("am", "በኢትዮጵያ በጣም ታዋቂው ወጥ ምንድን ነው?", "ሽሮ", "በኢትዮጵያ በጣም ታዋቂው ወጥ ሽሮ ነው።"),
        ("ar", "ما هي أشهر شركة في الجزائر؟", "سيفيتال", "أشهر شركة في الجزائر هي سيفيتال."),
        ("as", "অসমৰ বাদ্যযন্ত্ৰটো কি?", "ঢোল", "অসমৰ বাদ্যযন্ত্ৰটো হ’ল ঢোল।"),
        ("az", "Azərbaycanda ən məşhur yemək hansıdır?", "dolma", "Azərbaycanda ən məşhur yemək — dolma."),
        ("el", "Ποιο είναι το εθνικό όργανο στην Ελλάδα;", "λύρα", "Το εθνικό όργανο στην Ελλάδα είναι: λύρα."),
        ("es", "¿Cuál es el postre más popular en México?", "flan", "El postre más popular en México: flan."),
        ("ha", "Menene abincin rana a Arewacin Najeriya?", "tuwo", "Abincin rana a Arewacin Najeriya: tuwo."),
        ("id", "Minuman apa yang umum di Indonesia?", "teh", "Minuman yang umum di Indonesia adalah teh."),
        ("id", "Apa makanan umum di Indonesia?", "nasi", "Makanan umum di Indonesia adalah nasi."),
        ("su", "Naon kadaharan umum di Jawa Barat?", "seblak", "Kadaharan umum di Jawa Barat nyaéta seblak."),
    ],
)  # fmt: skip
def test_an_answer_in_another_language_becomes_a_sentence(
    language: str, question: str, answer: str, expected: str
) -> None:
    item = asked(question, answer, language)
    statement = sentence(item, edition=3)
    assert statement is not None
    assert statement.text == expected
    assert statement.text[statement.start :].startswith(answer)
    assert sentence(item) is None, "edition 2 has English sentences only"


def test_a_question_of_another_shape_or_a_long_answer_is_no_sentence() -> None:
    assert sentence(asked("중국 사람들은 무엇을 먹나요?", "밥", "ko"), edition=3) is None
    assert sentence(asked("中国最受欢迎的乐器是什么？", "二胡。也有琵琶", "zh"), edition=3) is None


def put_blend(folder: Path) -> Path:
    """Four questions in three regions, which share answers in English and Korean."""
    korean = {"rice": "밥", "kimchi": "김치", "tea": "차", "milk": "우유"}
    answers = {
        "South_Korea": ["kimchi", "rice", "tea", "rice"],
        "US": ["milk", "tea", "milk", "tea"],
        "UK": ["tea", "milk", "rice", "kimchi"],
    }
    (folder / "blend").mkdir(parents=True)
    for place, best in answers.items():
        rows = {}
        for n, english in enumerate(best):
            local = korean[english] if place == "South_Korea" else english
            vote = {"answers": [local], "en_answers": [english], "count": 3}
            question = (
                f"대한민국에서 {n + 1}번째로 인기 있는 것은 무엇인가요?" if place == "South_Korea" else f"What is {n}?"
            )
            rows[f"Q-{n}"] = {"question": question, "en_question": f"What is {n}?", "annotations": [vote], "idks": {}}
        dump(folder / "blend" / f"{place}_data.json", rows)
    return folder


def test_blend_is_read_in_the_language_of_its_region(tmp_path: Path) -> None:
    assert BLEND.read_local
    items = {
        item.id: item for item in BLEND.read_local(put_blend(tmp_path) / "blend", lambda error: pytest.fail(str(error)))
    }
    assert {item.language for item in items.values()} == {"ko"}
    first = items["Q-0:South Korea"]
    assert (first.answer, set(first.wrong), first.unit) == ("김치", {"차"}, "Q-0"), (
        "nobody here says milk in any answer"
    )
    assert set(first.options) == {"김치", "차"}


def test_the_recipe_states_the_share_of_own_languages(tmp_path: Path) -> None:
    put_blend(tmp_path)
    spoken = {}
    for share in (None, 1.0):
        recipe = BuildRecipe(
            name="r", sources=("blend",), edition=3, own_languages=share, sampling="paper", compose=0
        )  # fmt: skip
        built = build(recipe, tmp_path)
        spoken[share] = {gold.sample.language for gold in built.golds if gold.sample.region == "KR"}
    assert spoken == {None: {"en"}, 1.0: {"ko"}}


def test_several_facts_in_another_language_are_asked_for_in_it() -> None:
    items = [
        asked(f"대한민국에서 {n}월에 인기 있는 음식은 무엇인가요?", f"음식{n}", "ko", id=str(n), region="KR")
        for n in range(1, 9)
    ]
    texts = list(compose(item_table(items), 0, 2, 3))
    assert texts
    for text in texts:
        assert text.item.language == "ko"
        assert "대한민국" in text.item.question
        assert not any("a" <= sign <= "z" for sign in text.item.question.lower())
    assert not list(compose(item_table(items), 0, 2)), "none in edition 2"


@pytest.mark.slow
@pytest.mark.skipif(not (REAL / "blend").is_dir(), reason="no real data beside the checkout")
def test_real_blend_has_sentences_in_thirteen_languages() -> None:
    assert BLEND.read_local
    items = list(BLEND.read_local(REAL / "blend", lambda error: pytest.fail(str(error))))
    assert len(items) > 3_000
    told = Counter(item.language for item in items if sentence(item, item.id.encode(), 3))
    assert set(told) == set(LANGUAGES.values())
    assert min(told.values()) >= 30


# -- accepted answers, ranges and grammar ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "correct", "also", "expected"),
    [
        ("fried rice", "rice", (), True),
        ("bread", "rice", ("flat bread",), True),
        ("beans", "rice", ("bread",), False),
        ("8", "7-9", (), True),
        ("10", "7-9", (), False),
        ("8 pm", "between 7 pm and 9 pm", (), True),
        ("8 am", "7 pm to 9 pm", (), False),
        ("8:30", "8 to 9", (), True),
        ("35", "30", ("40",), True),
        ("45", "30", ("40",), False),
        ("31", "30", (), False),
        ("50", "over 40", (), True),
        ("30", "over 40", (), False),
        ("12", "18 or less", (), True),
        ("July", "June to August", (), True),
        ("May", "June to August", (), False),
        ("Saturday", "Friday–Sunday", (), True),
        ("seven", "5 to 8", (), True),
        ("1,500", "1,000-2,000", (), True),
        ("21-25", "18-25", (), True),
        ("18-35", "18-25", (), False),
    ],
)
def test_an_error_is_checked_against_every_accepted_answer_and_range(
    answer: str, correct: str, also: tuple[str, ...], expected: bool
) -> None:
    item = asked("?", correct, also_correct=also)
    assert is_accepted(answer, item, whole=True) is expected


def test_a_source_may_call_wrong_what_contains_the_correct_answer() -> None:
    item = asked("Is it ironic?", "ironic", wrong=("not ironic",))
    assert not is_accepted("not ironic", item, whole=True)
    assert is_accepted("not ironic", item.model_copy(update={"also_correct": ("not ironic at all",)}), whole=True)


def test_a_source_loses_wrong_answers_that_are_accepted() -> None:
    item = asked(
        "How many?", "30", task=Task.QA, wrong=("35", "90"), options=("30", "35", "90"), also_correct=("40",)
    )  # fmt: skip
    kept = without_accepted(item)
    assert kept is not None
    assert (kept.wrong, kept.options) == (("90",), ("30", "90"))
    assert without_accepted(item.model_copy(update={"wrong": ("35",), "options": ("30", "35")})) is None
    fine = item.model_copy(update={"also_correct": ()})
    assert without_accepted(fine) is fine


def test_rules_make_no_number_within_the_accepted_ones() -> None:
    item = asked("How many cups do people drink?", "4 cups", also_correct=("2 cups", "9 cups"), region="PE")
    statement = sentence(item, edition=3)
    assert statement is not None
    found: dict[int, list[int]] = {2: [], 3: []}
    for edition, seed in product(found, range(40)):
        for made in changes(statement, Pool([]), seed, ("numbers",), 1, edition):
            found[edition] += [int(made.answer[mistake.start : mistake.end]) for mistake in made.mistakes]
    assert any(2 <= number <= 9 for number in found[2]), "edition 2 does"
    assert not any(2 <= number <= 9 for number in found[3])


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("It is an apple.", "apple", "pear", False),
        ("It is an apple.", "apple", "orange", True),
        ("It is a hat.", "hat", "hour", False),
        ("Tea is popular.", "Tea", "Noodles", False),
        ("Noodles are popular.", "Noodles", "Tea", False),
        ("Noodles are popular.", "Noodles", "Beans", True),
        ("They eat rice rice cakes.", "rice", "hot", True),
        ("They eat rice cakes.", "rice", "cakes", False),
        ("Rice is eaten.", "Rice", "bread", False),
        ("About 1. 9 million live there.", "9", "5", False),
    ],
)
def test_grammar(text: str, old: str, new: str, expected: bool) -> None:
    start = text.index(old)
    assert is_grammatical(TextEdit(start, start + len(old), new), text) is expected


def test_wordings_are_spread() -> None:
    items = [asked(f"What is a common dish in town {n}?", f"soup {n}", id=str(n), region="PE") for n in range(900)]
    made = (sentence(item, hashlib.sha256(item.id.encode()).digest(), 3) for item in items)
    shapes = Counter(re.sub(r"(?i)soup \d+|a common dish in town \d+", "…", s.text) for s in made if s)
    assert len(shapes) >= 8
    assert max(shapes.values()) < 900 / 4, "“… is ….” in both orders"
    assert not any("People will tell you" in shape for shape in shapes)


def test_rows_that_are_not_about_people_are_left_out() -> None:
    def row(text: str, n: int, **fields: Any) -> SourceItem:
        return asked("culture", text, task=Task.GENERATION, id=str(n), unit=str(n), region="IR", **fields)

    kept = row("Nowruz is a Persian festival that families celebrate.", 1)
    cats = row("Persian cats are an old breed that families love.", 2)
    rain = row("The climate of Iran is dry.", 3)
    translated = row("گربه ایرانی", 2, language="fa")
    elsewhere = row("In baseball, people use a bat.", 4, topic="Baseball")
    assert only_people([kept, cats, rain, translated.model_copy(update={"id": "5"}), elsewhere]) == [kept]


# -- words -------------------------------------------------------------------------------------------------


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_chance_of_a_word_is_that_of_a_binomial_test(drawn: tuple[int, int]) -> None:
    wrong, total = drawn
    expected = binomtest(wrong, total).pvalue
    value = chance(abs(2 * wrong - total), total) / 2**64
    if (2 * wrong - total) ** 2 > total:
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-15)
    else:
        assert expected > 0.3, "such a word is never significant"


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n // 2), st.just(n))))
def test_the_chance_of_a_word_is_exact(drawn: tuple[int, int]) -> None:
    fewer, total = drawn
    apart = total - 2 * fewer
    if total < apart**2 <= 400 * total:
        exact = sum(comb(total, number) for number in range(fewer + 1)) * 2**65 // 2**total
        assert chance(apart, total) == min(2**64, exact)


def test_the_chance_of_a_word_in_a_million_texts() -> None:
    assert chance(4000, 10**6) / 2**64 == pytest.approx(binomtest(498_000, 10**6).pvalue, rel=1e-9)


def test_words_are_tilted_by_the_test_or_the_ratio() -> None:
    even = [(0, 100)] * 50
    assert tilted_words(*zip(*even, strict=True)) == []
    # 126 of 136: clear. 12 of 12: p = 0.0005, below 2/52 of 5%. 26 to 14 is not significant, but more than 1.6 to 1.
    words = [*even, (126, 136), (12, 12), (12, 40)]
    assert tilted_words(*zip(*words, strict=True)) == [50, 51, 52]
    assert tilted_words(*zip(*[*even, (5, 5)], strict=True)) == [], "5 of 5 are chance among 51 words"


def drafts_with_tell_tale(count: int = 600) -> list[Draft]:
    """As CultureAtlas in edition 2: "rarely" is in many wrong texts and hardly in correct ones."""
    rng = random.Random(4)
    foods = ["rice", "bread", "maize", "millet", "beans", "yams", "fish", "soup", "tea", "plums"]
    made = []
    for n in range(count):
        item = SourceItem(
            source="s", id=str(n), task=Task.GENERATION, question="?", answer="-", language="en", region="KE"
        )  # fmt: skip
        for correct in (True, False):
            often = rng.choice(["often", "usually"]) if rng.random() < 0.9 else "rarely"
            often = "rarely" if not correct and rng.random() < 0.4 else often
            text = f"People {often} eat {rng.choice(foods)} with {rng.choice(foods)} and {rng.choice(foods)}."
            made.append(Draft(item, Task.GENERATION, text, "correct" if correct else "soft", f"rule:{n}"))
    return made


def test_words_are_balanced_one_by_one() -> None:
    unbalanced_words = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "built.py"))["unbalanced_words"]
    drafts = drafts_with_tell_tale()
    items = item_table({draft.item.id: draft.item for draft in drafts}.values(), [n % 10 for n in range(600)])
    assert "rarely" in unbalanced_words((draft.correct, draft.answer) for draft in drafts)
    table = draft_table(items, drafts)
    rows = balance_words(table, np.arange(len(table)), 0)
    kept = [table[row] for row in rows.tolist()]
    assert unbalanced_words((draft.correct, draft.answer) for draft in kept) == {}
    assert len(kept) > 600, "no more is left out than needed"
    assert any("rarely" in draft.answer for draft in kept)
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert table.correct[first]
        assert not table.correct[second]
        assert table.fold[first] == table.fold[second]
    other = draft_table(items, drafts[::-1])
    assert kept == [other[row] for row in balance_words(other, np.arange(len(other)), 0).tolist()]
    counts = Counter(word for draft in kept for word in set(draft.answer.lower().rstrip(".").split()))
    assert counts["people"] == len(kept) >= OFTEN


# -- people's validation -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with samples for people, which takes seconds to build."""
    folder = tmp_path_factory.mktemp("built")
    meals = [item.model_copy(update={"source": "meals"}) for item in (*facts("PE", "Peru"), *facts("JP", "Japan"))]
    sources = (put(folder, quiz(40), "quiz"), put(folder, meals, "meals"))
    recipe = BuildRecipe(name="mine", sources=sources, edition=3, sampling="paper")
    mores.build(recipe, folder / "out", validate=24)
    return folder / "out"


@pytest.fixture
def built(built_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(built_once, tmp_path / "out"))


@pytest.mark.slow
def test_samples_for_people_are_spread_and_can_be_imported(built: Path) -> None:
    lines = [json.loads(line) for line in (built / SAMPLES).read_text().splitlines()]
    assert len(lines) == 24
    assert Counter(line["sample"]["source"] for line in lines) == {"quiz": 12, "meals": 12}
    assert all(line["report"]["errors"] for line in lines)
    rows = join([Incoming(f"{SAMPLES}:{n}", line) for n, line in enumerate(lines, 1)])
    assert len([admit(row.content) for row in rows]) == 24
    golds = [gold for split in SPLITS for gold in read_split(built, split)]
    assert [gold.sample.id for gold in choose(golds, 24, 0)] == [line["sample"]["id"] for line in lines]
    assert verify(built) == [], "they are no part of the dataset"


def test_the_canary_is_beside_the_samples_and_in_none(built: Path) -> None:
    canary = (built / "CANARY").read_bytes().strip()
    marked = {path.name for path in built.iterdir() if path.is_file() and canary in path.read_bytes()}
    assert {"CANARY", "card.md"} <= marked <= {"CANARY", "card.md", "card.html", "recipe.json", "run.json"}
    golds = [gold for split in SPLITS for gold in read_split(built, split)]
    assert not any(canary.decode() in gold.model_dump_json() for gold in golds), "so that nobody trains on it"


def vote(sample: str, person: str, error: str, culture: str = "yes") -> list[dict[str, str]]:
    about = {"sample_id": sample, "annotator": person}
    return [about | {"criterion": "error", "value": error}, about | {"criterion": "culture", "value": culture}]


def test_the_rate_of_bad_samples_is_that_of_majorities(tmp_path: Path) -> None:
    votes = [
        *vote("a", "1", "valid"), *vote("a", "2", "partial"), *vote("a", "3", "invalid"),
        *vote("b", "1", "invalid"), *vote("b", "2", "valid"),
        *vote("c", "1", "valid", "no"), *vote("c", "2", "valid", "no"),
        *vote("d", "1", "valid"), *vote("d", "2", "valid"),
        *vote("e", "1", "invalid"),
    ]  # fmt: skip
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    rate = read_rate(tmp_path, "abcde")
    assert (rate.judged, rate.bad) == (4, 2), "of two people both must agree, and one person is too few"
    assert rate.low is not None
    assert rate.low < 0.5
    with pytest.raises(InputError, match="a vote on e, which is not in the dataset"):
        read_rate(tmp_path, "abcd")
    with pytest.raises(InputError, match=r"no votes.jsonl in it; name the folder that `mores studio export` wrote"):
        read_rate(tmp_path / "nowhere", "abcd")


def test_the_card_prints_what_people_found(built: Path) -> None:
    for name in ("card.md", "card.html"):
        assert "Nobody has validated samples of this dataset yet." in (built / name).read_text()
    ids = [json.loads(line)["sample"]["id"] for line in (built / SAMPLES).read_text().splitlines()][:4]
    votes = [row for n, name in enumerate(ids) for p in "12" for row in vote(name, p, "valid" if n else "invalid")]
    (built / "validated").mkdir()
    (built / "validated" / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    recipe = BuildRecipe.model_validate(json.loads((built / "recipe.json").read_text())["recipe"])
    run = mores.build(recipe, built)
    told = "People judged 4 samples with errors: 1 of them are bad (25.0%, 95% interval"
    for name in ("card.md", "card.html"):
        assert told in (built / name).read_text()
    assert run.about["validation"]["bad"] == 1


def test_the_command_names_the_next_steps_and_sources_without_samples(command: Run, home: Path) -> None:
    put(home, quiz(40), "quiz")
    put(home, [asked("Why is that so?", "It is.", id=str(n), source="empty", region="PE") for n in range(3)], "empty")
    (home / "mine.yaml").write_text("name: mine\nedition: 3\nsources: [quiz.jsonl, empty.jsonl]\ncompose: 0\n")
    done = command("build", "mine.yaml", "--out", "d", "--validate", "5")
    assert done.returncode == 0, done.stderr
    assert "warning: empty has no samples: none of its 3 items has a correct and a wrong text to pair" in done.stderr
    assert "mores studio --database d/validate.db import NAME d/validate.jsonl" in done.stderr
    assert "Nobody has validated samples of this dataset yet." in done.stdout
    studio = ("studio", "--database", "d/validate.db")
    new = command(*studio, "new", "d/validate.yaml")
    assert new.returncode == 0, new.stderr
    name = next(word for word in new.stdout.split() if word.startswith("are-the-errors"))
    imported = command(*studio, "import", name.rstrip(":,."), "d/validate.jsonl")
    assert imported.returncode == 0, imported.stderr
    assert "5" in imported.stdout + imported.stderr


def softened(request: Request) -> str:
    """Return an answer that adds a word to the text of a request; for several texts, an answer about another."""
    shown = re.search(
        r"\nInstruction: (.*)\nGenerated Text: (.*)\nFollow these rules", request.messages[0].content, re.DOTALL
    )
    if not shown:
        return written()
    return written(**{"Modified Instruction": shown[1], "Modified Generated Text": f"{shown[2]} Kimchi"})


def test_a_source_that_balancing_leaves_empty_is_named_with_the_reason(tmp_path: Path) -> None:
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    sources = (put(tmp_path, items, "survey"), put(tmp_path, quiz(40), "quiz"))
    recipe = BuildRecipe(name="mine", sources=sources, compose=0, edition=3)
    model = FakeModel("soft", lambda request: Completion(softened(request)))
    told: list[str] = []

    class Notes(Silent):
        def note(self, text: str) -> None:
            told.append(text)

    mores.build(recipe, tmp_path / "data", model=model, soft="model", store=None, progress=Notes())
    assert any(
        re.search(r"survey.* has no samples: all \d+ were left out, as their words alone show", text) for text in told
    )


def test_places_in_broken_json_are_no_reasons() -> None:
    written = [read_written('{"a": "' + "x" * n, WrittenPair, "a pair") for n in range(3)]
    assert {reason_of(failure) for failure in written if isinstance(failure, Failure)} == {
        "not JSON: Unterminated string starting at"
    }


@pytest.mark.slow
def test_dropped_soft_errors_are_told_by_reason(tmp_path: Path) -> None:
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    recipe = BuildRecipe(name="mine", sources=(put(tmp_path, items, "survey"),), sampling="paper", edition=3)

    def say(request: Request) -> Completion:
        major = "should be major" in request.messages[0].content
        return Completion(softened(request) if major else "Sorry, no. " + request.messages[0].content[-20:])

    run = mores.build(recipe, tmp_path / "data", model=FakeModel("soft", say), soft="model", store=None)
    assert run.about["dropped"] == {"no 'OUTPUT:' with JSON after it": 20}
    assert "- 20: no 'OUTPUT:' with JSON after it" in (tmp_path / "data" / "card.md").read_text()
    assert run.about["soft_errors"] == {"survey": [20, 40]}
    assert "made, of those asked for**: survey 20 of 40." in (tmp_path / "data" / "card.md").read_text()
    several = mores.build(
        recipe, tmp_path / "several", model=FakeModel("soft", say), soft="model", store=None, at_once=7, temperature=0.5
    )
    assert several.about["soft_errors"] == {"survey": [20, 40]}, "what several at once leave out is asked for alone"
    assert several.manifest.signature["soft"] != run.manifest.signature["soft"]


class Judge(FakeModel):
    """Finds an error where a text has words that its evidence has not; fails where they are about bread."""

    def __init__(self, *never: str) -> None:
        super().__init__("judge", self.say)
        self.never = never

    def say(self, request: Request) -> Completion:
        asked = request.messages[-1].content
        if any(word in asked for word in self.never):
            return Completion("I cannot say.")
        found = {
            "side": "text",
            "quote": "Kimchi",
            "severity": "major",
            "type": "wrong food",
            "explanation": "It is not Korean.",
        }
        return Completion(json.dumps({"errors": [found] * (" Kimchi" in asked), "explanation": ""}))


@pytest.mark.slow
def test_a_judge_verifies_what_a_model_wrote_and_rules_make_the_rest(tmp_path: Path) -> None:
    """The model adds a word to major errors, and drops a full stop that no judge sees from minor ones."""
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    quizzes = quiz(40)
    recipe = BuildRecipe(
        name="mine",
        sources=(put(tmp_path, items, "survey"), put(tmp_path, quizzes, "quiz")),
        sampling="paper",
        edition=3,
        compose=0,
    )

    def say(request: Request) -> Completion:
        text = softened(request)
        return Completion(
            text if "should be major" in request.messages[0].content else text.replace("Kimchi", "indeed")
        )

    def build_with(name: str, **settings: Any) -> Any:
        return mores.build(recipe, tmp_path / name, model=FakeModel("soft", say), store=None, **settings)

    alone, verified = build_with("alone", soft="model"), build_with("verified", soft="model", verify=Judge())
    assert alone.about["soft_errors"]["survey"] == [40, 40]
    assert verified.about["soft_errors"]["survey"] == [20, 40]
    assert verified.about["dropped"] == {"the judge finds no error in it beside the correct text": 20}
    assert alone.manifest.signature["model"] == verified.manifest.signature["model"]
    assert "verify" in verified.manifest.signature
    assert "verify" not in alone.manifest.signature
    written = [g for split in SPLITS for g in read_split(verified.path, split) if g.maker.startswith("model:")]
    assert written
    assert all("Kimchi" in gold.sample.text for gold in written)

    both = build_with("both", soft="both", verify=Judge())
    golds = [gold for split in SPLITS for gold in read_split(both.path, split)]
    makers = {gold.maker.partition(":")[0] for gold in golds}
    assert makers == {"source", "rule", "model"}
    assert len({gold.sample.id for gold in golds}) == len(golds)
    assert Counter(gold.kind == "correct" for gold in golds)[True] * 2 == len(golds)


def test_a_judge_that_fails_confirms_nothing(tmp_path: Path) -> None:
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    recipe = BuildRecipe(name="mine", sources=(put(tmp_path, items, "survey"),), sampling="paper", edition=3)
    model = FakeModel("soft", lambda request: Completion(softened(request)))
    run = mores.build(recipe, tmp_path / "d", model=model, soft="model", verify=Judge(" 1?"), store=None)
    made, asked_for = run.about["soft_errors"]["survey"]
    failed = sum(number for reason, number in run.about["dropped"].items() if reason.startswith("the judge failed"))
    assert 0 < failed == asked_for - made < 40
    assert sum(run.about["failures"].values()) == failed


@pytest.mark.parametrize("soft", [None, "rules", "none"])
def test_a_judge_without_a_model_is_refused(tmp_path: Path, soft: Any) -> None:
    recipe = BuildRecipe(name="mine", sources=(put(tmp_path, survey(20), "survey"),))
    with pytest.raises(ConfigError, match="name that model"):
        mores.build(recipe, tmp_path / "d", soft=soft, verify=Judge(), store=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edition", "given", "answered"), [(3, None, True), (3, "asked", False), (2, None, False), (2, "answered", True)]
)
def test_soft_errors_have_the_severity_that_the_model_assigns_unless_asked_otherwise(
    tmp_path: Path, edition: int, given: Any, answered: bool
) -> None:
    """This model calls all its errors major; edition 2 kept what was asked for."""
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    recipe = BuildRecipe.model_validate(
        {"name": "m", "sources": [put(tmp_path, items, "survey")], "sampling": "paper", "edition": edition}
    )

    def say(request: Request) -> Completion:
        return Completion(softened(request) if "should be minor" in request.messages[0].content else "Sorry.")

    run = mores.build(
        recipe, tmp_path / "data", model=FakeModel("soft", say), soft="model", soft_severity=given, store=None
    )
    assert set(run.about["tables"]["severity"]) == {"major" if answered else "minor"}
    told = "- 20: minor errors were asked for, and the model calls them major" in (run.path / "card.md").read_text()
    assert told is (answered and edition > 2)


def test_a_dry_run_counts_calls_tokens_and_cost(command: Run, tmp_path: Path) -> None:
    """Twenty pairs, with minor and major errors: 40 calls, or 6 of at most seven pairs."""
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\nedition: 3\nsources: [{put(tmp_path, items, 'survey')}]\n", "utf-8")
    arguments = ("build", str(path), "--out", str(tmp_path / "d"), "--soft", "model", "--model", "fake:clean")
    for more, calls in (((), 40), (("--at-once", "7"), 6)):
        done = command(*arguments, *more, "--dry-run", "--price", "1,2", "--json")
        assert done.returncode == 0, done.stderr
        estimate = json.loads(done.stdout)
        assert estimate["calls"] == calls
        tokens = estimate["prompt_tokens"], estimate["completion_tokens"]
        assert tokens[0] > 200 * calls
        assert estimate["cost"] == pytest.approx((tokens[0] + 2 * tokens[1]) / 1e6)
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
def test_rules_may_exchange_the_answer_of_a_sentence_from_edition_3_on(tmp_path: Path) -> None:
    meals = [*facts("PE", "Peru"), *facts("JP", "Japan")]
    path = put(tmp_path, meals, "meals")
    makers = {}
    for edition in (2, 3):
        recipe = BuildRecipe.model_validate(
            {"name": "m", "sources": [path], "edition": edition, "compose": 0, "sampling": "paper"}
        )
        makers[edition] = {gold.maker for gold in build(recipe, None).golds}
    assert "rule:exchange" not in makers[2]
    assert "rule:exchange" in makers[3]
    assert "exchange" in RULES
