"""MSQA's campaign: inspectors and validators, the export, a campaign with known outcomes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mores
from mores.benchmark import benchmark
from mores.benchmark.contract import check as check_folder
from mores.errors import InputError
from mores.studio.campaigns.msqa.export import export, method, row, summarise
from mores.studio.campaigns.msqa.forms import CATEGORIES, PRINCIPLES, inspect_form, validate_form, write_form
from mores.studio.form import FormError, read_form
from mores.studio.records import Content, ItemStatus, Person, Role
from mores.studio.workflow import (
    Adjudicate,
    Create,
    Refused,
    Take,
    count_missing,
)
from tests.studio.msqa_life import (
    AUTHOR,
    BOSS,
    HOSTILE,
    INSPECTED,
    NO,
    SOURCE,
    WRITTEN,
    YES,
    Life,
    accepted,
    settings,
    validating,
)

# People


def test_an_inspector_passes_or_returns_with_notes() -> None:
    life = Life()
    life.write()
    life.answer()
    item = life.inspect(verdict="return", note="Qual ano?")
    assert (item.stage, item.note, item.returns) == ("write", "Qual ano?", 1)
    life.write(question="Em 2020?")
    life.answer()
    item = life.inspect(source_2="https://example.edu", source_2_desc="Também")
    assert item.stage == "validate"
    assert [source["url"] for source in item.results["inspect"]["sources"]] == [
        "https://example.com/parintins",
        "https://example.edu",
    ]
    assert row(item)["tier"] == "Hard", "no model solved it"


@pytest.mark.parametrize("tier", ["Easy", "Medium", "Hard"])
def test_an_inspector_may_assign_the_tier(tier: str) -> None:
    life = Life()
    life.write()
    life.answer()
    item = life.inspect(tier=tier)
    assert item.results["inspect"]["tier"] == tier
    assert row(item)["tier"] == tier, "before the one that follows from the runs"


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"source_1": ""}, {"source_1"}),
        ({"source_1": "http://www.example.org/boi/#a"}, {"source_1"}),  # the author's page, written otherwise
        ({"source_2": "https://example.com/parintins/", "source_2_desc": "x"}, {"source_2"}),
        ({"source_1_desc": ""}, {"source_1_desc"}),
        ({"depth": "no"}, {"verdict"}),
        ({"verdict": "return"}, {"note"}),
        ({"source_1": "javascript:alert(1)"}, {"source_1"}),
        ({"verdict": "return", "note": "x", "source_1": "", "depth": "no"}, set()),
        ({}, set()),
    ],
)
def test_what_an_inspector_must_fill_in(changes: Content, wrong: set[str]) -> None:
    life = Life()
    item = life.write()
    values = {name: [value] for name, value in (INSPECTED | changes).items()}
    try:
        read_form(inspect_form(item, ()), values)
        problems: set[str] = set()
    except FormError as error:
        problems = set(error.problems)
    assert problems == wrong


def test_an_author_confirms_every_principle_and_translates_both_or_neither() -> None:
    item = Life().write()
    texts = {name: value for name, value in (SOURCE | WRITTEN).items() if isinstance(value, str)}
    values = {name: [value] for name, value in texts.items()}
    with pytest.raises(FormError) as caught:
        read_form(write_form(item, settings().cutoff), values)
    assert set(caught.value.problems) == set(PRINCIPLES)
    ticked = values | {name: ["yes"] for name in PRINCIPLES}
    assert read_form(write_form(item, settings().cutoff), ticked) == SOURCE | WRITTEN
    with pytest.raises(FormError) as caught:
        read_form(write_form(item, settings().cutoff), ticked | {"question_zh": ["问"]})
    assert set(caught.value.problems) == {"answer_zh"}
    with pytest.raises(FormError, match="profile"):
        read_form(write_form(item.model_copy(update={"language": ""}), settings().cutoff), ticked)


def test_rounds_of_validation_follow_each_other() -> None:
    life = validating()
    assert life.item is not None
    assert count_missing(life.flow, life.item) == 2
    item = life.validate(YES)
    assert (item.stage, count_missing(life.flow, item)) == ("validate", 1)
    item = life.validate(YES)
    assert (item.stage, count_missing(life.flow, item)) == ("validate", 2)  # the second round begins
    assert life.validate(YES, YES).stage == "accept"


@pytest.mark.parametrize(
    ("answers", "objections", "stage", "note"),
    [
        ([YES, NO], 0, "write", "It is red."),
        ([NO, NO], 1, "write", "It is red.\nIt is red."),
        ([YES, NO], 1, "validate", ""),
        ([YES, NO, NO, YES], 1, "accept", ""),
        ([YES, YES, NO, NO], 1, "write", "It is red.\nIt is red."),
        ([YES, YES | {"respectful": "no", "note": "Rude."}], 24, "write", "Rude."),
    ],
)
def test_objections(answers: list[Content], objections: int, stage: str, note: str) -> None:
    item = validating(objections=objections).validate(*answers)
    assert (item.stage, item.note) == (stage, note)


def test_an_organiser_may_overrule_a_check_but_not_send_on_what_is_not_written() -> None:
    life = Life()
    life.write()
    item = life.answer(correct=[("one", run) for run in range(5)])
    assert item.stage == "write"
    assert life.do(BOSS, Adjudicate("next")).stage == "write"  # the checks say the same again
    with pytest.raises(Refused, match="no such stage"):
        life.do(BOSS, Adjudicate("next", to="nowhere"))
    item = life.do(BOSS, Adjudicate("next", "I know it.", to="inspect"))
    assert item.stage == "inspect"
    names = [field.name for field in life.flow.stage("inspect").form(item).fields]
    assert "by_hand_difficulty" in names

    draft = Life()
    draft.do(AUTHOR, Create("i", SOURCE, "BR", "pt"))
    assert draft.do(BOSS, Adjudicate("next")).stage == "write"
    for to in ("", "inspect", "accept"):
        with pytest.raises(Refused, match="not complete"):
            draft.do(BOSS, Adjudicate("next", to=to))
    assert draft.do(BOSS, Adjudicate("rejected")).status is ItemStatus.REJECTED
    with pytest.raises(Refused, match="not complete"):
        draft.do(BOSS, Adjudicate("next", to="accept"))


def test_only_native_speakers_from_the_region_validate() -> None:
    life = validating()
    for languages, regions in (({"pt"}, {"PT"}), ({"es"}, {"BR"})):
        person = Person(
            id="x", roles=frozenset({Role.VERIFIER}), languages=frozenset(languages), regions=frozenset(regions)
        )
        with pytest.raises(Refused):
            life.do(person, Take())
    with pytest.raises(FormError):
        read_form(validate_form(Life().write()), {name: ["no"] for name in ("appropriate", "correct", "respectful")})


# Export


def test_the_published_fields() -> None:
    values = row(accepted())
    assert values == {
        "prompt_id": "i",
        "language": "pt",
        "region": "BR",
        "culture_circle": "Amazonian",
        "category": "Social Norms and Customs",
        "sub_category": "Festival-specific rituals and traditions",
        "tier": "Hard",
        "prompt": "Qual boi de Parintins é azul?",
        "answer": "Caprichoso",
        "question_zh": "哪头牛是蓝色的？",
        "answer_zh": "卡普里肖佐",
        "source_url": "https://example.org/boi",
        "source_url_desc": "O Caprichoso é azul.",
        "source_kind": "encyclopedia",
        "additional_sources": [{"url": "https://example.com/parintins", "desc": "The same."}],
    }
    assert json.loads(json.dumps(values)) == values


def test_an_exported_folder_passes_the_contract_and_runs(tmp_path: Path) -> None:
    life = settings()
    first = accepted()
    hostile = {"question": HOSTILE, "culture": HOSTILE, "source_desc": HOSTILE}
    items = [first.model_copy(update={"id": f"i{number}"}) for number in range(5)]
    items.append(first.model_copy(update={"id": "h", "content": first.content | hostile}))
    for file in export(life, items):
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_bytes(file.read())
    assert [problem for each in check_folder(tmp_path).values() for one in each for problem in one.problems] == []
    read = list(benchmark(tmp_path).read(tmp_path / "data", print))
    assert [(item.id, item.language, item.region, item.target) for item in read[:1]] == [
        ("i0", "pt", "BR", ("Caprichoso",))
    ]
    assert (read[-1].prompt, read[0].topic, read[0].metadata["tier"]) == (HOSTILE, "Social Norms and Customs", "Hard")
    script = tmp_path / "model.jsonl"
    script.write_text(
        '{"contains": "Does the candidate answer give", "answer": "It does.\\nVERDICT: CORRECT"}\n'
        '{"contains": "", "answer": "Caprichoso"}\n'
    )
    result = mores.bench(
        str(tmp_path), model=f"fake:{script}", judge=f"fake:{script}", out=tmp_path / "run", store=None
    )
    assert result.result.figures["CO"].value == 1.0
    assert set(result.result.by["tier"]) == {"Hard"}
    first_time, again = ([file.read() for file in export(life, items)] for _ in range(2))
    assert first_time == again


def test_figures_say_why_versions_were_returned() -> None:
    life = Life()
    life.write()
    life.answer({"quality": {"verdict": "AMBIGUOUS", "reason": "Two."}})
    life.write(question="Outra?")
    life.answer(correct=[("one", run) for run in range(4)])
    life.write(question="Mais uma?")
    figures = summarise(life.settings, [life.answer()])
    assert figures["Versions that models checked"] == 3
    assert figures["One clear answer"] == "passed: 2, returned: 1"
    assert figures["Difficulty"] == "passed: 2, returned: 1"


def test_figures_and_the_paragraph_for_a_paper() -> None:
    item = accepted()
    returned = item.model_copy(update={"id": "j", "status": ItemStatus.OPEN, "returns": 2})
    figures = summarise(settings(), [item, returned])
    assert figures["Questions"] == 2
    assert (figures["Accepted"], figures["Returned at least once"]) == (1, 1)
    assert (figures["Versions that models checked"], figures["Evidence"]) == (2, "passed: 2")
    assert figures["Tiers of the accepted"] == "Hard: 1"
    assert figures["Social Norms and Customs"].startswith("1 (100")
    assert "17.5" in figures["Social Norms and Customs"]  # 186 of 1,064
    assert summarise(settings(), [])["Accepted"] == 0
    text = method(settings(), [item, returned])
    assert "Of 2 questions, 1 were accepted, in 1 language (Portuguese)" in text
    assert "3 models with 5 runs each" in text
    assert "retrieval: passed (1)" in text


def test_the_taxonomy_is_the_papers() -> None:
    assert len(CATEGORIES) == 22
    assert CATEGORIES["LECA4"] == (
        "Language Expression and Communication Arts",
        "High-context communication subtexts and implicit refusals",
    )


def test_settings_name_each_model_once() -> None:
    with pytest.raises(InputError, match="Name each model once"):
        settings(models=["one", "one"])


@pytest.mark.slow
def test_a_simulated_campaign_gives_back_what_was_put_in() -> None:
    """Sixty items of known difficulty, with known flaws and objections: each ends where the rules say."""
    ends: dict[str, int] = {}
    for number in range(60):
        life = Life(validators=1, rounds=2)
        life.write(question=f"Pergunta {number}?")
        known = {"easy": 5, "hard": 0, "middling": 3}[("easy", "hard", "middling")[number % 3]]
        said = {"quality": {"verdict": "AMBIGUOUS", "reason": "Two."}} if number % 10 == 0 else {}
        item = life.answer(said, correct=[("three", run) for run in range(known)])
        if item.stage == "inspect":
            item = life.inspect(**({"verdict": "return", "note": "Fonte?"} if number % 10 == 1 else {}))
        if item.stage == "validate":
            item = life.validate(NO if number % 10 == 2 else YES)
        if item.stage == "validate":
            item = life.validate(YES)
        end = "accept" if item.stage == "accept" else item.note.partition(":")[0].partition("\n")[0]
        ends[end] = ends.get(end, 0) + 1
    # Six are ambiguous, 20 too easy (two of them both); of the other 36 the inspector returns four, a validator four.
    assert ends == {"Too easy": 18, "It is not one clear question": 6, "Fonte?": 4, "It is red.": 4, "accept": 28}
