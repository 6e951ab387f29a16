"""The whole factory on made-up items: leakage, balance, determinism, and tests of each that fail when it is broken."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError, InputError
from mores.factory.balance import SAMPLINGS, limit, paper, see_drafts, shortcut_free
from mores.factory.build import build
from mores.factory.built import Built, Golds, SampleGroups
from mores.factory.columns import Integers
from mores.factory.drafts import cap, drafts, word
from mores.factory.folder import verify
from mores.factory.gold import ChangedText, Gold, Mistake
from mores.factory.items import SourceItem, Task
from mores.factory.output import read_split, write
from mores.factory.recipe import BuildRecipe, read_recipe
from mores.factory.shortcut import audit, see
from mores.factory.sources import revision_of
from mores.factory.split import FOLDS, SPLITS, folds, groups, normalise
from mores.factory.table import DraftTable, ItemTable
from mores.factory.wrap import Wrapper
from mores.io import read_records
from mores.report.card import page as card_page
from mores.types import ErrorReport, Severity
from tests.cli.conftest import Run, home, mores
from tests.factory.tables import draft_table
from tests.factory.test_sources import REAL

__all__ = ["home", "mores"]

FOODS = ["rice", "bread", "maize", "millet", "potatoes", "noodles", "beans", "cassava", "yams", "lentils"]


def survey(count: int = 600, seed: int = 1) -> list[SourceItem]:
    """Questions whose right answer is mostly the same word: a label prior that a guesser learns at once."""
    draw = random.Random(seed)
    items = []
    for i in range(count):
        answer = "agree" if draw.random() < 0.8 else "disagree"
        wrong = "disagree" if answer == "agree" else "agree"
        region = draw.choice(["DE", "JP", "KE", "PE"])
        items.append(
            SourceItem(
                source="survey", id=f"{i:05d}", task=Task.FREEFORM, question=f"Do people accept practice {i}?",
                answer=answer, wrong=(wrong,), region=region, language="en",
            )
        )  # fmt: skip
    return items


def quiz(count: int = 400, seed: int = 2) -> list[SourceItem]:
    """Multiple choice with unique options, of which the wrong ones hold a tell-tale word more often."""
    draw = random.Random(seed)

    def option(tell_tale: float) -> str:
        often = "never" if draw.random() < tell_tale else "often"
        return f"they {often} eat {draw.choice(FOODS)} with {draw.choice(FOODS)}, {draw.randrange(10**9)} times"

    items = []
    for i in range(count):
        answer, wrong = option(0.2), tuple(option(0.7) for _ in range(3))
        items.append(
            SourceItem(
                source="quiz", id=f"{i:05d}", task=Task.QA, question=f"What is eaten in place {i}?",
                answer=answer, wrong=wrong, options=tuple(sorted((answer, *wrong))), region="KE", language="en",
            )
        )  # fmt: skip
    return items


def all_drafts(items: Sequence[SourceItem], tasks: Container[Task] = tuple(Task), step: int = 1) -> DraftTable:
    """The drafts of these items, or (step -1) the same in the reverse order."""
    table = ItemTable(items)
    table.put_in(group := groups(table), folds(table, group, seed=0))
    return draft_table(table, [d for item in items for d in drafts(item) if d.task in tasks][::step])


def every(table: DraftTable) -> Integers:
    return np.arange(len(table))


def put(folder: Path, items: Sequence[SourceItem], name: str) -> str:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(item.model_dump_json() + "\n" for item in items))
    return str(path)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> tuple[BuildRecipe, Built]:
    """Without composed texts, whose splits and errors have tests of their own."""
    folder = tmp_path_factory.mktemp("items")
    sources = (put(folder, survey(200), "survey"), put(folder, quiz(150), "quiz"))
    recipe = BuildRecipe(name="test", sources=sources, compose=0)
    return recipe, build(recipe, None)


@pytest.fixture(scope="module")
def written(dataset: tuple[BuildRecipe, Built], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of it, for tests that read them or change a copy."""
    recipe, built = dataset
    write(built, recipe, folder := tmp_path_factory.mktemp("written"))
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[BuildRecipe, Built]:
    """A few items, with composed texts."""
    folder = tmp_path_factory.mktemp("items")
    recipe = BuildRecipe(name="test", sources=(put(folder, survey(50), "survey"), put(folder, quiz(25), "quiz")))
    built = build(recipe, None)
    assert any(gold.parts for gold in built.golds)
    return recipe, built


# Drafts


def test_a_multiple_choice_item_is_asked_with_options_and_without() -> None:
    [item] = quiz(1)
    counts = Counter((draft.task, draft.kind) for draft in drafts(item))
    assert counts == {
        (Task.QA, "correct"): 1, (Task.QA, "hard"): 3, (Task.FREEFORM, "correct"): 1, (Task.FREEFORM, "hard"): 3,
    }  # fmt: skip


@pytest.mark.slow
def test_a_hard_error_is_major_and_names_the_right_answer(dataset: tuple[BuildRecipe, Built]) -> None:
    items = {f"{item.source}/{item.id}": item for item in survey(200) + quiz(150)}
    hard = [gold for gold in dataset[1].golds if gold.kind == "hard"]
    assert hard
    for gold in hard:
        [error] = gold.report.errors
        assert error.severity is Severity.MAJOR
        assert gold.sample.text[error.start : error.end] == error.quote
        assert error.quote in items[gold.item].wrong
        assert items[gold.item].answer in error.explanation


def test_a_soft_error_keeps_the_text_that_it_was_put_into() -> None:
    item = SourceItem(
        source="tea", id="1", task=Task.FREEFORM, question="When is tea served?", answer="Three times in the morning.",
        language="en", region="KE",
    )  # fmt: skip
    mistake = Mistake(0, 5, "numbers", Severity.MINOR, "fact", "“Seven” is wrong.")
    change = ChangedText("Seven times in the morning.", item.answer, (mistake,))
    correct, soft = drafts(item, lambda _statement: [change])
    gold = word(soft, Wrapper())
    assert gold.original is not None
    assert gold.original.instruction == gold.sample.instruction
    assert gold.original.text == gold.sample.text.replace("Seven", "Three") != gold.sample.text
    assert "original" not in word(correct, Wrapper()).model_dump()


def test_the_cap_keeps_the_shares_of_the_groups() -> None:
    items = survey(1000)
    chosen = cap(items, lambda item: item.region, most=100, seed=3)
    assert len(chosen) == 100
    shares = Counter(item.region for item in items)
    for region, count in Counter(item.region for item in chosen).items():
        assert abs(count - shares[region] / 10) < 1
    assert chosen == cap(reversed(items), lambda item: item.region, most=100, seed=3)
    assert chosen != cap(items, lambda item: item.region, most=100, seed=4)


def test_the_cap_counts_samples_of_a_source_and_keeps_them_even() -> None:
    items = survey(300) + quiz(200)
    table = all_drafts(items)
    balanced = {stratum: paper(table, rows, 0) for stratum, rows in table.by_stratum().items()}
    for most in (8, 60, 10_000):
        kept = [table[row] for row in limit(table, balanced, most=most, seed=0).tolist()]
        for source in ("survey", "quiz"):
            of_source = [draft for draft in kept if draft.item.source == source]
            available = sum(len(some) for stratum, some in balanced.items() if stratum[0] == source)
            assert len(of_source) == min(most, available)
            assert sum(draft.correct for draft in of_source) * 2 == len(of_source)
    kept = [table[row] for row in limit(table, balanced, most=60, seed=0).tolist()]
    shares = Counter(draft.task for draft in kept if draft.item.source == "quiz")
    assert shares == {Task.QA: 30, Task.FREEFORM: 30}


# Splits


def test_the_same_question_and_the_same_unit_share_a_group() -> None:
    base = survey(1)[0]
    items = [
        base.model_copy(update={"id": "a", "question": "What is eaten at New Year?"}),
        base.model_copy(update={"id": "b", "question": "what is eaten at  New-Year"}),
        base.model_copy(update={"id": "c", "source": "other", "question": "WHAT IS EATEN AT NEW YEAR?!"}),
        base.model_copy(update={"id": "d", "question": "x", "unit": "u"}),
        base.model_copy(update={"id": "e", "question": "y", "unit": "u"}),
        base.model_copy(update={"id": "f", "source": "other", "question": "z", "unit": "u"}),
    ]
    assert groups(ItemTable(items)).tolist() == [2, 2, 2, 3, 3, 5], "the first by name: other/c"
    about_food = {"task": Task.GENERATION, "question": "food"}
    topics = [item.model_copy(update=about_food | {"answer": f"They eat {item.id}."}) for item in items[:3]]
    assert len(set(groups(ItemTable(topics)).tolist())) == 3


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=60), st.integers(0, 5))
def test_folds_never_cut_a_group(rows: list[tuple[int, int]], seed: int) -> None:
    base = survey(1)[0]
    items = [
        base.model_copy(update={"id": str(i), "question": f"q{question}", "unit": f"u{unit}{question}"})
        for i, (question, unit) in enumerate(rows)
    ]
    group = groups(table := ItemTable(items))
    fold = folds(table, group, seed)
    assert len(set(zip(group.tolist(), fold.tolist(), strict=True))) == len(set(group.tolist()))
    assert set(fold.tolist()) <= set(range(FOLDS))
    assert len(set(group.tolist())) == len({normalise(item.question) for item in items})


def test_nothing_of_one_group_is_on_two_sides_and_the_shares_hold(dataset: tuple[BuildRecipe, Built]) -> None:
    sides = defaultdict(set)
    for gold in dataset[1].golds:
        sides[gold.group].add(gold.split)
    assert all(len(values) == 1 for values in sides.values())
    for source in ("survey", "quiz"):
        counts = Counter(gold.split for gold in dataset[1].golds if gold.sample.source == source)
        for split, values in SPLITS.items():
            # Items are shared out exactly (see below); what balancing finds a partner for varies a little by fold.
            assert counts[split] / counts.total() == pytest.approx(len(values) / FOLDS, abs=0.1)


@pytest.mark.slow
def test_folds_are_of_equal_size_in_each_source() -> None:
    items = survey(600) + quiz(405)
    table = all_drafts(items).items
    sizes = Counter((name.split("/")[0], fold) for name, fold in zip(table.names, table.fold, strict=True))
    for source in ("survey", "quiz"):
        per_fold = [sizes[source, fold] for fold in range(FOLDS)]
        assert max(per_fold) - min(per_fold) <= 1


# Balance


@pytest.mark.often("survey")
@pytest.mark.parametrize(("items", "task"), [(survey(), Task.FREEFORM), (quiz(), Task.QA)], ids=["survey", "quiz"])
def test_the_papers_sampling_has_a_shortcut_and_ours_has_none(items: list[SourceItem], task: Task) -> None:
    table = all_drafts(items, {task})
    before, after = (audit(see_drafts(table, chosen(table, every(table), 0))) for chosen in (paper, shortcut_free))
    assert before.value > 0.3
    assert abs(after.value) <= 0.08 + 2 * after.error
    assert after.n > 0.2 * before.n


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling_is_even_and_takes_one_wrong_answer_of_an_item(sampling: str) -> None:
    for items, task in ((survey(300), Task.FREEFORM), (quiz(200), Task.QA)):
        table, other = (all_drafts(items, {task}, step) for step in (1, -1))
        rows = SAMPLINGS[sampling](table, every(table), 0)
        chosen = [table[row] for row in rows.tolist()]
        assert sum(draft.correct for draft in chosen) * 2 == len(chosen)
        wrong = [draft.item.id for draft in chosen if not draft.correct]
        assert len(set(wrong)) == len(wrong)
        assert len({draft.key for draft in chosen}) == len(chosen)
        for first, second in rows.reshape(-1, 2).tolist():
            assert table.correct[first] != table.correct[second]
            assert table.fold[first] == table.fold[second]
        assert chosen == [other[row] for row in SAMPLINGS[sampling](other, every(other), 0).tolist()]


def test_the_audit_finds_a_planted_shortcut_and_none_in_noise() -> None:
    draw = random.Random(5)
    right = [draw.random() < 0.5 for _ in range(2000)]
    fold = [draw.randrange(FOLDS) for _ in right]
    shortcut = audit(see([f"{'yes' if label else 'no'} {draw.choice(FOODS)}" for label in right], right, fold))
    noise = audit(see([draw.choice(FOODS) for _ in right], right, fold))
    assert shortcut.value > 0.95
    assert abs(noise.value) < 4 * noise.error


# On disk


def test_the_same_recipe_gives_the_same_bytes(small: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = small
    write(built, recipe, tmp_path / "one")
    write(build(recipe, None), recipe, tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    assert verify(tmp_path / "one") == []
    golds = [gold for split in SPLITS for gold in read_records(tmp_path / "one" / f"{split}.jsonl", Gold)]
    assert sorted(golds, key=lambda g: g.sample.id) == sorted(built.golds, key=lambda g: g.sample.id)


def test_one_source_can_be_left_out(written: Path) -> None:
    train = list(read_split(written, "train", without="quiz"))
    test = list(read_split(written, "test", only="quiz"))
    assert {gold.sample.source for gold in train} == {"survey"}
    assert {gold.sample.source for gold in test} == {"quiz"}
    both = len(list(read_split(written, "train")))
    assert both == len(train) + len(list(read_split(written, "train", only="quiz")))


def test_the_groups_of_the_samples_are_counted(dataset: tuple[BuildRecipe, Built]) -> None:
    _, built = dataset
    sizes = Counter(gold.group for gold in built.golds)
    largest = min(sizes, key=lambda group: (-sizes[group], group))
    assert built.groups == SampleGroups(count=len(sizes), largest=largest, samples=sizes[largest])
    assert sizes[largest] > 2


def dish(name: str, source: str = "meals", **fields: Any) -> SourceItem:
    """A question about a meal, with one correct answer."""
    about = {"question": f"What is eaten at feast {name} of {source}?", "answer": f"dish {name}", "region": "GR"}
    return SourceItem(source=source, id=name, task=Task.FREEFORM, language="en", **about | fields)


@pytest.mark.parametrize("edition", [2, 3])
@pytest.mark.parametrize("count", [1, 20])
def test_items_without_a_pair_give_an_empty_dataset(tmp_path: Path, edition: Literal[2, 3], count: int) -> None:
    source = put(tmp_path, [dish(str(number)) for number in range(count)], "meals")
    built = build(BuildRecipe(name="none", edition=edition, sources=(source,), soft="none"), None)
    assert (len(built.golds), built.items, built.groups) == (0, {"meals": count}, SampleGroups())


def test_the_items_of_a_source_may_be_in_several_files(tmp_path: Path) -> None:
    items = [dish(str(number), wrong=(f"stone {number}",)) for number in range(6)]
    files = put(tmp_path, items[:4], "first"), put(tmp_path, items[4:], "second")
    built = build(BuildRecipe(name="two", sources=files, soft="none", sampling="paper", compose=0), None)
    assert (built.items, len(built.golds)) == ({"meals": 6}, 12)
    assert built.revisions == {"meals": ", ".join(revision_of(Path(file)) for file in files)}


def test_norms_of_each_source_are_kept_once(tmp_path: Path) -> None:
    bow = "It is polite to bow to elders."
    items = [dish("1", "a", norm=bow, unit="u"), dish("1", "b", norm="It is polite to take off shoes.", unit="u")]
    files = put(tmp_path, items, "both"), put(tmp_path, [dish("2", "a", norm=bow, unit="u")], "more")
    built = build(BuildRecipe(name="norms", sources=files, soft="none", sampling="paper", compose=0), None)
    assert isinstance(built.golds, Golds)
    table = built.golds.facts().items
    assert sorted(name for name in table.names if "norm" in name) == ["a/norm:u", "b/norm:u"]


@pytest.mark.slow
def test_another_seed_gives_another_choice(small: tuple[BuildRecipe, Built]) -> None:
    recipe, built = small
    other = build(recipe.model_copy(update={"seed": 1}), None)
    assert {g.sample.id for g in other.golds} != {g.sample.id for g in built.golds}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda rows: rows[:-1], "recipe.json counts"),
        (lambda rows: [*rows, rows[0]], "duplicate id in test"),
        (lambda rows: [json.dumps(json.loads(rows[0]) | {"split": "dev"}), *rows[1:]], "but is in test"),
        (lambda rows: [row.replace('"major"', '"minor"') for row in rows], "test.jsonl: has been changed"),
    ],
    ids=["row lost", "row twice", "wrong split", "bytes changed"],
)
def test_verify_finds_what_was_changed(written: Path, tmp_path: Path, spoil: object, words: str) -> None:
    shutil.copytree(written, tmp_path / "d")
    path = tmp_path / "d" / "test.jsonl"
    rows = path.read_text().splitlines()
    path.write_text("\n".join(spoil(rows)) + "\n")  # type: ignore[operator]
    assert words in "\n".join(verify(tmp_path / "d"))


def test_verify_finds_a_leak(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = dataset
    golds = list(built.golds)
    sizes = Counter(gold.group for gold in golds)
    leak = next(i for i, gold in enumerate(golds) if gold.split == "train" and sizes[gold.group] > 1)
    moved = [g.model_copy(update={"split": "test"}) if i == leak else g for i, g in enumerate(golds)]
    write(replace(built, golds=moved), recipe, tmp_path)
    assert [p for p in verify(tmp_path) if golds[leak].group in p]


@pytest.mark.slow
def test_the_card_shows_what_matters(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = dataset
    golds = list(built.golds)
    hostile = golds[0].sample.model_copy(update={"text": "</details><script>alert(1)</script>"})
    first = golds[0].model_copy(update={"sample": hostile, "kind": "correct", "report": ErrorReport()})
    write(replace(built, golds=[first, *golds[1:]], missing=["mango"]), recipe, tmp_path, page=card_page)
    assert not any("card" in problem for problem in verify(tmp_path))
    html, text = (tmp_path / "card.html").read_text(), (tmp_path / "card.md").read_text()
    for page in (html, text):
        for words in ("Shortcut audit", "survey", "quiz", "mango", "Kenya", built.revisions["quiz"]):
            assert words in page
    assert "<script>alert" not in html
    for table in ("severity", "error type"):
        assert f"\n| {table} | errors |\n" in text
        assert f"{table.capitalize()} (errors)" in html
    assert "\n| errors of a text | samples |\n" in text


# Recipes and the command


def test_recipes_say_what_is_wrong(tmp_path: Path) -> None:
    assert read_recipe("excam40k").sampling == "shortcut-free"
    with pytest.raises(ConfigError, match="neither a recipe"):
        read_recipe("excam41k")
    wrong = {"name: x": "sources: Field required", "a: [": "not YAML", "name: x\nsources: [a]\ncap: 0": "cap"}
    for content, words in wrong.items():
        (tmp_path / "r.yaml").write_text(content)
        with pytest.raises(InputError, match=words):
            read_recipe(str(tmp_path / "r.yaml"))


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"id": "b/the same", "source": "survey/a"}, "survey/a: duplicate id 'b/the same'"),
     ({"region": "Wakanda"}, r"survey.jsonl: item '.+': unknown region 'Wakanda'"),
     ({"language": "not one"}, r"survey.jsonl: item '.+': .*'not one'"),
     ({"id": "the same"}, "survey: duplicate id 'the same'"),
     ({"wrong": ("rice", "Bread."), "also_correct": ("bread",)}, "item '.+': an answer is both correct and wrong"),
     ({"wrong": ("rice", "")}, "item '.+': two wrong answers are the same, or one is empty"),
     ({"question": " "}, "survey.jsonl: item '.+': an empty question or answer"),
     ({"task": Task.QA, "options": ()}, "survey.jsonl: item '.+': an answer is not among the options"),
     ({"task": Task.IMPERSONATION, "role": ()}, "survey.jsonl: item '.+': no role to impersonate")],
)  # fmt: skip
def test_items_of_ones_own_that_cannot_be_used(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    path = put(tmp_path, [item.model_copy(update=changed) for item in survey(2)], "survey")
    with pytest.raises(InputError, match=words):
        build(BuildRecipe(name="r", sources=(path,)), None)


@pytest.mark.parametrize(
    ("names", "codes"),
    [(("Chinese", "China"), ("zh", "CN")), (("zh_CN", "CHN"), ("zh-CN", "CN")), (("Persian", "Iran"), ("fa", "IR")),
     ((None, None), (None, None))],
)  # fmt: skip
def test_names_of_languages_and_regions_become_codes(
    tmp_path: Path, names: tuple[str | None, str | None], codes: tuple[str | None, str | None]
) -> None:
    named = [item.model_copy(update={"language": names[0], "region": names[1]}) for item in survey(20)]
    built = build(BuildRecipe(name="r", sources=(put(tmp_path, named, "survey"),), sampling="paper", compose=0), None)
    golds = list(built.golds)
    assert golds
    assert {(gold.sample.language, gold.sample.region) for gold in golds} == {codes}
    assert {(fact.language, fact.region) for fact in built.facts} == {codes}


def test_no_source_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="excam40k: found none of its sources"):
        build(read_recipe("excam40k"), tmp_path)


def test_the_command_builds_and_verifies(mores: Run, home: Path) -> None:
    put(home, survey(60), "survey")
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl]\n")
    result = mores("build", "mine.yaml", "--out", "d")
    assert result.returncode == 0, result.stderr
    assert "survey" in result.stdout
    assert "is as it was built" in mores("build", "verify", "d").stdout
    (home / "d" / "card.md").write_text("changed")
    result = mores("build", "verify", "d")
    assert result.returncode == 1
    assert "card.md: has been changed" in result.stderr
    assert mores("build", "mine.yaml", "--out", "e", "--sampling", "paper", "--json").stdout.startswith("{")


SOFTENED = {
    "Error Type": "incorrect information",
    "Cultural Content": "Yes",
    "Rule Adherence": "",
    "Severity": "minor",
    "Explanation": "They eat bread.",
    "Modified Instruction": "What do they eat?",
    "Modified Generated Text": "They eat bread.",
}


def test_the_card_counts_soft_errors_that_a_model_failed_to_make(mores: Run, home: Path) -> None:
    items = [item.model_copy(update={"wrong": (), "answer": f"They eat rice {item.id}."}) for item in survey(20)]
    put(home, items, "texts")
    (home / "mine.yaml").write_text("name: mine\nsources: [texts.jsonl]\nsoft: model\nsampling: paper\n")
    (home / "s.jsonl").write_text(json.dumps({"contains": "", "answer": "Sorry."}) + "\n")
    result = mores("build", "mine.yaml", "--out", "d", "--model", "fake:s.jsonl")
    assert result.returncode == 0, result.stderr
    assert "40 answers failed; ask again with --retry-failed" in result.stderr
    assert "**Soft errors that the model failed to make**: 40 answers" in (home / "d" / "card.md").read_text("utf-8")
    assert "Soft errors that the model failed to make: 40 answers" in (home / "d" / "card.html").read_text("utf-8")
    assert json.loads((home / "d" / "recipe.json").read_text("utf-8"))["failures"] == {"parse": 40}
    script = {"contains": "", "answer": "OUTPUT: " + json.dumps(SOFTENED)}
    (home / "s.jsonl").write_text(json.dumps(script) + "\n")
    result = mores("build", "mine.yaml", "--out", "d", "--model", "fake:s.jsonl", "--retry-failed")
    assert "40 soft errors made" in result.stderr, "also of answers that are stored and cannot be used"
    assert "failed to make" not in (home / "d" / "card.md").read_text("utf-8")


def test_soft_errors_by_a_model(mores: Run, home: Path) -> None:
    items = [item.model_copy(update={"wrong": (), "answer": f"They eat rice {item.id}."}) for item in survey(20)]
    put(home, items, "texts")
    (home / "mine.yaml").write_text("name: mine\nsources: [texts.jsonl]\nsoft: model\nsampling: paper\n")
    assert "name it (--model)" in mores("build", "mine.yaml", "--out", "d").stderr
    script = {"contains": "", "answer": f"Let me think. OUTPUT: {json.dumps(SOFTENED)}"}
    (home / "s.jsonl").write_text(json.dumps(script) + "\n")
    result = mores("build", "mine.yaml", "--out", "d", "--model", "fake:s.jsonl")
    assert result.returncode == 0, result.stderr
    assert "40 soft errors made" in result.stderr
    golds = [gold for split in SPLITS for gold in read_records(home / "d" / f"{split}.jsonl", Gold)]
    assert Counter(gold.kind for gold in golds) == {"correct": 20, "soft": 20}
    assert {gold.maker for gold in golds if gold.kind == "soft"} == {"model:fake:s.jsonl"}
    assert "is as it was built" in mores("build", "verify", "d").stdout


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="no real datasets; set MORES_SHARED_DATA to a folder that has them")
def test_on_the_real_data_no_source_has_a_shortcut() -> None:
    built = build(read_recipe("excam40k").model_copy(update={"cap": 800}), REAL)
    assert {gold.task for gold in built.golds} == set(Task)
    assert {"hard", "soft", "correct"} == {gold.kind for gold in built.golds}
    assert built.paper_shortcuts["epic"].value > 0.3
    for shortcuts in (built.shortcuts, *built.audits.values()):
        for source, shortcut in shortcuts.items():
            assert abs(shortcut.value) <= (0.04 if source == "all" else 0.08) + 2 * shortcut.error, source
    assert built.grouping.twins == 0


# Speed


def test_a_fit_has_no_columns_that_are_not_there() -> None:
    """With all 2^18 of them, a build of 72 items took more than three minutes beside other work."""
    texts = [f"{food} is eaten by {number} people" for number, food in enumerate(FOODS * 4)]
    seen = see(texts, [place % 3 > 0 for place in range(len(texts))], [place % 10 for place in range(len(texts))])
    assert seen.rows.width < 400
    (every,) = seen.rows.parts()
    assert (every.sums(np.eye(len(texts), dtype=np.int64)) > 0).sum(axis=1).min() >= 3
