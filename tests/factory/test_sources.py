"""Every source on rows that are written here in its published schema, the contract of all, and the real data."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
import tarfile
import types
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mores import culture
from mores.cli.build import sources as command
from mores.errors import ConfigError, InputError
from mores.extras import install_command
from mores.factory import sources
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read
from mores.factory.sources.rows import SourceRow, check, letter

ROOT = Path(__file__).parents[2]
REAL = Path(os.environ.get("MORES_SHARED_DATA") or ROOT.parent / "shared" / "data")


def dump(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), "utf-8")


def dump_lines(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def load(name: str, folder: Path) -> tuple[list[SourceItem], list[str]]:
    bad: list[InputError] = []
    items = list(sources.load(name, folder, bad.append))
    return items, [str(error).removeprefix(f"{folder}/") for error in bad]


def vote(count: int, *answers: str) -> dict[str, Any]:
    return {"answers": ["…"], "en_answers": list(answers), "count": count}


def blend(folder: Path) -> None:
    def survey(country: str, *votes: dict[str, Any]) -> dict[str, Any]:
        text = f"What do people drink in {country}?"
        return {"question": f"«{text}»", "en_question": text, "annotations": list(votes), "idks": {"idk": 0}}

    dump(folder / "Greece_data.json", {"Q-1": survey("Greece", vote(1, "milk"), vote(3, "coffee", "a coffee"))})
    dump(folder / "China_data.json", {"Q-1": survey("China", vote(4, "tea"))})
    dump(folder / "Iran_data.json", {"Q-1": survey("Iran", vote(5, "black teas"), vote(1, "milk"))})
    dump(
        folder / "Mexico_data.json",
        {"Q-1": survey("Mexico", vote(1, "atole"), vote(1, "horchata")), "Q-2": {"question": "?"}},
    )
    dump(folder / "Indonesia_data.json", {"Q-1": survey("Indonesia", vote(2, "kopi"))})
    dump(folder / "West_Java_data.json", {"Q-1": survey("West Java", vote(2, "bandrek"))})
    prompt = "What do people drink in Mexico? Without any explanation, choose only one. A. atole\nB. tea\n\nAnswer:"
    choice = {"id": "Q-1", "question": prompt, "choices": {"A": "atole", "B": "tea", "C": "horchata"}, "answer": "A"}
    lost = {"id": "Q-1", "question": "What do people drink in Atlantis?", "choices": {"A": "x"}, "answer": "A"}
    dump(folder / "mcq_few.json", {"name": "blend", "dev": [choice, choice | {"answer": "D"}], "test": [lost]})


def culturalbench(folder: Path) -> None:
    def statement(question: int, option: str, true: object, text: str = "What is drunk?") -> dict[str, Any]:
        prompt = f"Answer True or False only. Question: {text} Answer: {option}"
        return {"question_id": str(question), "input": prompt, "output": str(true), "country": "South Korea"}

    first = [statement(7, option, option == "b") for option in "abcd"]
    second = [statement(8, option, option in "bd") for option in "abcd"]
    none = [statement(9, option, False) for option in "ab"]
    dump(folder / "hard_true_false.json", {"name": "x", "dev": [*first, *second[:1]], "test": [*second[1:], *none]})


def include(folder: Path) -> None:
    row = {
        "language": "Greek",
        "country": "Greece",
        "domain": "Arts",
        "subject": "History",
        "regional_feature": "region explicit",
        "level": "Academic",
        "question": "Πότε;",
        "option_a": "1",
        "option_b": "2",
        "option_c": "3",
        "option_d": "4",
        "answer": 2,
    }
    old = {key: value for key, value in row.items() if not key.startswith("option")}
    old |= {"question": "Πού;", "choices": ["a", "b", "c", "d"], "answer": 0, "regional_feature": "culture"}
    lost = [row | {"answer": 4}, row | {"language": "Klingonese"}, row]
    dump_lines(folder / "Greek" / "test.jsonl", [row, old, row | {"regional_feature": "agnostic"}, *lost])


def mango(folder: Path) -> None:
    rows = [
        {"concept": "tea", "culture": "Japan", "assertion": "Guests are given tea."},
        {"concept": "colours", "culture": "Ghanaian", "assertion": "Red is worn at funerals."},
        {"concept": "tea", "culture": "Japan"},
    ]
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "mango_dataset_v1.jsonl.zip", "w") as archive:
        archive.writestr("mango_dataset_v1.jsonl", "\n".join(map(json.dumps, rows)))


def globalopinionqa(folder: Path) -> None:
    row = {
        "question": "Question: Do you like rain?\nOptions: A. Yes B. No C. DK/Refused\nAnswer:",
        "options": ["Yes", "No", "DK/Refused"],
        "attribute": "S. Korea",
        "gold_distribution": [0.3, 0.6, 0.1],
        "id": 1,
    }
    rows = [
        row | {"attribute": "China (Non-national sample)", "gold_distribution": [0.9, 0.1, 0.0]},
        row,
        row | {"attribute": "China"},
        row | {"attribute": "Peru", "gold_distribution": [0.45, 0.49, 0.06]},
        row | {"attribute": "Chile", "gold_distribution": [0.2, 0.2, 0.6]},
        row | {"question": "Question: Is our country rainy?\nOptions: A. Yes"},
        row | {"question": "Do you trust President Nobody?"},
        row | {"attribute": "Atlantis"},
        row | {"gold_distribution": [1.0]},
    ]
    dump(folder / "globalopinionqa_few.json", rows)


def nativqa(folder: Path) -> None:
    rows = [
        {"data_id": "1", "category": "food", "input_query": "q", "question": "কী?", "answer": "ভাত"},
        {"data_id": "2", "category": "food", "input_query": "q", "question": "কী?", "answer": ""},
    ]
    dump(folder / "bangla_bd" / "NativQA_bn_scb_bd_test.json", rows)
    dump_lines(folder / "assamese_in" / "NativQA_asm_NA_in_dev.json", [rows[0], rows[0] | {"data_id": "9"}])


def normad(folder: Path) -> None:
    def story(country: str, label: str, text: str = "Ann greets Bob. Is it acceptable?") -> dict[str, str]:
        return {"Country": country, "Story": text, "Rule-of-Thumb": "Greet everyone.", "Gold Label": label}

    rows = [story("bosnia_and_herzegovina", "yes"), story("türkiye", "no"), story("peru", "neutral")]
    dump_lines(folder / "normad.jsonl", [*rows, story("peru", "maybe"), story("atlantis", "no"), rows[0]])


BECAUSE = "Der Karneval wird vor der Fastenzeit gefeiert, weil danach vierzig Tage lang kein Fleisch gegessen wurde."


def calmqa(folder: Path) -> None:
    def answer_by(text: str, by: str) -> dict[str, Any]:
        return {"language": "German", "translations": {"German": {"text": text}}, "prompting_state": {"model_name": by}}

    question = {
        "name": "german:0",
        "language": "German",
        "translations": {"German": {"text": "Warum?"}},
        "category": "history",
    }
    entries = [
        {"question": question, "answers": [answer_by("Vielleicht.", "GPT 4"), answer_by(BECAUSE, "Human")]},
        {"question": question | {"name": "german:1"}, "answers": [answer_by("Vielleicht.", "GPT 4")]},
        {"question": question | {"name": "german:2", "translations": {}}, "answers": [answer_by("Darum.", "Human")]},
        {"answers": []},
    ]
    folder.mkdir(parents=True)
    packed = gzip.compress(json.dumps({"entries": entries}, indent=0).encode())
    (folder / "dataset-specific-german.json.gz").write_bytes(packed)
    (folder / "dataset-agnostic-german.json.gz").write_bytes(packed)


def epic(folder: Path) -> None:
    row = {"id_text": "5", "text": "Great weather.", "parent_text": "It rains.", "agg_split": "train"}
    labels = {"United_Kingdom": "1", "India": "0", "Female": "1", "GenX": "0", "aggregated": "1", "Unknown": "1"}
    dump_lines(folder / "epic.jsonl", [row | {"labels": labels}, row | {"labels": {"Ireland": "2"}}])


def exams(folder: Path) -> None:
    def question(name: str, subject: str, key: str, *options: str) -> dict[str, Any]:
        choices = [{"text": text, "label": label} for label, text in zip("ABCD", options, strict=False)]
        info = {"grade": 12, "subject": subject, "language": "North Macedonian"}
        return {"id": name, "question": {"stem": "Кој?", "choices": choices}, "answerKey": key, "info": info}

    rows = [
        question("1", "History", "B", "а", "б", "в"),
        question("2", "Physics", "A", "а", "б"),
        question("3", "History", "@", "а", "б"),
        question("4", "History", "A", "а", "А."),
        question("5", "History", "A", "а", " "),
    ]
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    folder.mkdir(parents=True)
    with tarfile.open(folder / "test.jsonl.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("test.jsonl")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))


def cultureatlas(folder: Path) -> None:
    def row(right: str, country: str = "Bahamas", keyword: str = "Boats") -> dict[str, str]:
        return {"positive_sample": right, "negative_sample": right, "country": country, "keyword": keyword}

    rows = [
        row("Boats are\nblue."),
        row("Boats are blue."),
        row("Boats of the Bahamas Category:Boats"),
        row("Chile is long.", "Chile", "Coast of Chile"),
        row("It floats.", "Atlantis"),
    ]
    dump(folder / "cultureatlas.json", rows)


def candle(folder: Path) -> None:
    english = {"prompt": 'Name it: Tea is <mask>. Answer in the json format of {"Answer": }.', "answer": "Kenyan"}
    swahili = {"prompt": 'Taja: Chai ni ya <mask>. Jibu katika umbizo la json la {"Answer": }.', "answer": "Kenya"}
    gap = {"prompt": "Name it: nothing to fill.", "answer": "Kenya"}
    dump(folder / "candle_few.json", {"en": {"Kenya": [english, english, gap]}, "sw": {"Kenya": [swahili]}})


WRITERS: dict[str, Callable[[Path], None]] = {
    writer.__name__: writer
    for writer in (
        blend,
        culturalbench,
        include,
        mango,
        globalopinionqa,
        nativqa,
        normad,
        calmqa,
        epic,
        exams,
        cultureatlas,
        candle,
    )
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a few rows of every source, good and bad."""
    for name, write in WRITERS.items():
        write(tmp_path / name)
    return tmp_path


def test_every_source_has_rows_here() -> None:
    assert set(WRITERS) == set(sources.names())


def assert_contract(source: Source, items: list[SourceItem]) -> None:
    assert items
    assert len({item.id for item in items}) == len(items)
    for item in items:
        check(item)
        assert item.source == source.name
        assert item.task is source.task
        assert item.question == item.question.strip()
        assert item.answer == item.answer.strip()
        assert item.region is None or culture.region(item.region) == item.region
        assert item.language is not None
        assert culture.language(item.language) == item.language
        assert bool(item.wrong) is not source.soft
        assert bool(item.options) is (item.task is Task.QA)
        assert bool(item.role) is (item.task is Task.IMPERSONATION)


@pytest.mark.parametrize("name", sources.names())
def test_contract(name: str, data: Path) -> None:
    source = sources.source(name)
    items, bad = load(name, data / name)
    assert_contract(source, items)
    assert bad, "every writer has a bad row"
    assert all(": " in message and "; " in message and message.split(":")[1].isdecimal() for message in bad), bad
    assert source.name == name
    assert source.licence
    assert source.commercial is ("NC" not in source.licence)
    assert source.homepage.startswith("https://")
    assert source.stands_in_for is None or sources.source(source.stands_in_for).task is source.task
    again, _ = load(name, data / name)
    assert again == items, "the same folder gives the same items"


def test_blend(data: Path) -> None:
    items, bad = load("blend", data / "blend")
    by_id = {item.id: item for item in items}
    greece = by_id["Q-1:Greece"]
    assert (greece.question, greece.answer) == ("What do people drink in Greece?", "coffee")
    assert set(greece.also_correct) == {"a coffee", "milk"}
    assert set(greece.wrong) in ({"tea", "kopi", "bandrek"}, {"black teas", "kopi", "bandrek"})
    assert greece.options == tuple(sorted([*greece.wrong, "coffee"]))
    assert set(by_id["Q-1:China"].wrong) == {"coffee", "kopi", "bandrek"}, "black teas are tea"
    assert "bandrek" not in by_id["Q-1:Indonesia"].wrong, "West Java is no other country"
    mexico = by_id["Q-1:Mexico"]
    assert (mexico.answer, mexico.wrong) == ("atole", ("tea",)), "one Mexican does say horchata"
    assert mexico.question == "What do people drink in Mexico?"
    assert (mexico.region, by_id["Q-1:West Java"].region) == ("MX", "ID-JB")
    assert sorted(bad) == [
        "Mexico_data.json:29: no 'en_question'; expected the published columns",
        "mcq_few.json:14: answer 'D' names none of 3 options; correct or remove the row",
        "mcq_few.json:26: the question names no region of BLEnD ('What do people drink in Atlantis?'); "
        "correct or remove the row",
    ]


def test_blend_gives_the_top_answer_and_no_option_that_people_gave(tmp_path: Path) -> None:
    def choice(answer: str, *options: str) -> dict[str, Any]:
        texts = dict(zip("ABCD", options, strict=False))
        letter = next(letter for letter, text in texts.items() if text == answer)
        return {"id": "Q-1", "question": "What is seen in Mexico?", "choices": texts, "answer": letter}

    votes = [vote(3, "masterchef"), vote(1, "taekwondo"), vote(1, "soaps")]
    entry = {"question": "?", "en_question": "What is seen in Mexico?", "annotations": votes, "idks": {"idk": 4}}
    dump(tmp_path / "Mexico_data.json", {"Q-1": entry, "Q-2": entry | {"idks": {"no-answer": 2, "not-applicable": 1}}})
    rows = [
        choice("not-applicable", "not-applicable", "opera", "sumo", "polo"),
        choice("soaps", "soaps", "opera", "sumo", "polo"),
        choice("masterchef", "masterchef", "tae kwon do", "master chef", "opera"),
        choice("masterchef", "masterchef", "soap", "sumo", "polo"),
    ]
    dump(tmp_path / "mcq_few.json", {"name": "blend", "dev": [*rows, rows[2] | {"id": "Q-2"}]})
    [item], bad = load("blend", tmp_path)
    assert not bad
    assert (item.id, item.answer, item.wrong) == ("Q-1:Mexico", "masterchef", ("sumo", "polo"))
    assert item.also_correct == ("taekwondo", "soaps")


def test_blend_as_on_the_hub(tmp_path: Path) -> None:
    entry = {"question": "What is eaten in the US?", "en_question": "in US?", "annotations": [vote(2, "pie")]}
    dump(tmp_path / "data" / "annotations" / "US_data.json", {"Q-1": entry})
    dump(tmp_path / "data" / "annotations_hf" / "US_data.json", [entry | {"ID": "Q-1", "annotations": [vote(2, "?")]}])
    dump(tmp_path / "data" / "questions_hf" / "US_questions.json", [{"ID": "Q-1"}])
    row = {"MCQID": "Q-1_0", "ID": "Q-1", "country": "US", "prompt": "What is eaten in the US? Without any explanation"}
    row |= {"choices": '{"B": "rice", "A": "pie"}', "choice_countries": '{"B": "China", "A": "US"}', "answer_idx": "A"}
    choices = tmp_path / "data" / "mc_questions_hf"
    dump(choices / "mc_questions_file.json", [row | {"choices": '{"A": "mistake", "B": "rice"}'}])
    dump(choices / "mc_questions_file_v1.1.json", [row, row | {"choices": "pie"}])
    header = "MCQID,ID,country,prompt,choices,choice_countries,answer_idx\n"
    copy = tmp_path / "evaluation" / "mc_data" / "mc_questions_file_v1.1.csv"
    copy.parent.mkdir(parents=True)
    copy.write_text(f'{header}Q-1_0,Q-1,US,?,"{{""A"": ""copy""}}",x,A\n')
    [item], bad = load("blend", tmp_path)
    assert (item.id, item.answer, item.wrong, item.also_correct) == ("Q-1:US", "pie", ("rice",), ())
    assert item.question == "What is eaten in the US?"
    fix = "'choices' is not an object of letters and texts; expected the published columns"
    assert bad == [f"data/mc_questions_hf/mc_questions_file_v1.1.json:11: {fix}"]


def test_blend_from_its_other_forms(tmp_path: Path) -> None:
    entry = {"ID": "Q-1", "question": "What is eaten in the US?", "en_question": "in US?", "annotations": []}
    dump(tmp_path / "annotations_hf" / "US_data.json", [entry | {"annotations": [vote(2, "pie")]}])
    header = "MCQID,ID,country,prompt,choices,choice_countries,answer_idx\n"
    choices = '"{""A"": ""pie"", ""B"": ""rice""}"'
    (tmp_path / "mc_questions_file.csv").write_text(f"{header}Q-1_0,Q-1,US,What is eaten in the US?,{choices},x,A\n")
    [item], bad = load("blend", tmp_path)
    assert (item.id, item.answer, item.wrong, bad) == ("Q-1:US", "pie", ("rice",), [])


def test_culturalbench_several_true_options(data: Path) -> None:
    (first, second), bad = load("culturalbench", data / "culturalbench")
    assert (first.id, first.question, first.region, first.language) == ("7", "What is drunk?", "KR", "en")
    assert (first.answer, first.options, first.wrong, first.also_correct) == (
        "b",
        ("a", "b", "c", "d"),
        ("a", "c", "d"),
        (),
    )
    assert (second.answer, second.options, second.wrong, second.also_correct) == (
        "b",
        ("a", "b", "c"),
        ("a", "c"),
        ("d",),
    )
    assert bad == ["hard_true_false.json:54: question 9 has no true option; correct or remove it"]


def test_culturalbench_as_on_the_hub(tmp_path: Path) -> None:
    lines = ["data_idx,question_idx,prompt_question,prompt_option,answer,country"]
    lines += ['0,3,"Who, then?",a,True,Peru', '1,3,"Who, then?",b,False,Peru', '2,3,"Who, then?",c,perhaps,Peru']
    (tmp_path / "CulturalBench-Hard.csv").write_text("\n".join(lines))
    [item], bad = load("culturalbench", tmp_path)
    assert (item.id, item.question, item.answer, item.wrong) == ("3", "Who, then?", "a", ("b",))
    assert bad == ["CulturalBench-Hard.csv:4: 'perhaps' is neither True nor False; expected the Hard format"]


def test_include(data: Path) -> None:
    (new, old), bad = load("include", data / "include")
    assert (new.question, new.answer, new.wrong) == ("Πότε;", "3", ("1", "2", "4"))
    assert (new.language, new.region, new.topic) == ("el", "GR", "History")
    assert (old.answer, old.options) == ("a", ("a", "b", "c", "d"))
    assert bad[0] == "Greek/test.jsonl:4: answer '4' names none of 4 options; correct or remove the row"
    assert bad[1].startswith("Greek/test.jsonl:5: unknown language 'Klingonese'; ")
    assert bad[2].startswith("Greek/test.jsonl:6: duplicate of ")


def test_include_as_on_the_hub(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {"language": "Greek", "country": "Greece", "subject": "Art", "regional_feature": "region implicit"}
    row |= {"question": "Ποιος;", "option_a": "a", "option_b": "b", "option_c": "c", "option_d": "d"}
    for split, rows in {
        "test": [row | {"answer": 1}],
        "validation": [row | {"question": "Πού;", "answer": None}],
    }.items():
        (tmp_path / "Greek").mkdir(exist_ok=True)
        parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "Greek" / f"{split}-00000-of-00001.parquet")
    [item], bad = load("include", tmp_path)
    assert (item.answer, item.wrong) == ("b", ("a", "c", "d"))
    assert bad == ["Greek/validation-00000-of-00001.parquet:1: no 'answer'; expected the published columns"]


def test_include_from_the_first_uploads(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {"language": "Greek", "country": "Greece", "subject": "Art", "regional_feature": "culture"}
    rows = [row | {"question": "Ποιος;", "choices": ["a", "b"], "answer": 1}, row | {"question": "Ποιος;"}]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "test-00000-of-00001.parquet")
    [item], bad = load("include", tmp_path)
    assert (item.answer, item.wrong) == ("b", ("a",))
    assert bad == ["test-00000-of-00001.parquet:2: 'choices' is not a list; expected the published columns"]


def test_mango(data: Path) -> None:
    (japan, ghana), bad = load("mango", data / "mango")
    assert (japan.question, japan.answer) == ("tea in Japan culture", "Guests are given tea.")
    assert (japan.region, japan.topic) == ("JP", "Japan")
    assert (ghana.question, ghana.region, ghana.topic) == ("colours in Ghanaian culture", None, "Ghanaian")
    name = "mango_dataset_v1.jsonl"
    fix = "expected the published columns"
    assert bad == [f"{name}.zip/{name}:3: no 'assertion' or 'statement' or 'text'; {fix}"]


def test_globalopinionqa(data: Path) -> None:
    (korea, china), bad = load("globalopinionqa", data / "globalopinionqa")
    assert (korea.question, korea.answer, korea.wrong) == ("Do you like rain?", "No", ("Yes",))
    assert (korea.role, korea.region) == ((("Country", "South Korea"),), "KR")
    assert (china.region, china.answer) == ("CN", "No"), "the national sample counts"
    assert korea.id.split(":")[0] == china.id.split(":")[0]
    assert bad == [
        "globalopinionqa_few.json:107: unknown region 'Atlantis'; use an ISO 3166 code such as 'BR' or 'ES-CT', "
        "or an English name",
        "globalopinionqa_few.json:122: 3 options with 1 shares; correct or remove the row",
    ]


def test_globalopinionqa_as_on_the_hub(tmp_path: Path) -> None:
    shares = "\"defaultdict(<class 'list'>, {'France': [0.7, 0.3], 'Japan': [0.2, 0.8]})\""
    cells = f"{shares},\"['Yes', 'No']\",GAS"
    lines = ["question,selections,options,source", f"Do you sing?,{cells}", "What?,x,y,GAS", f",{cells}"]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "global_opinions.csv").write_text("\n".join(lines))
    (france, japan), bad = load("globalopinionqa", tmp_path)
    assert (france.region, france.answer, japan.region, japan.answer) == ("FR", "Yes", "JP", "No")
    assert bad == [
        "data/global_opinions.csv:3: a cell that is not a list or object; expected the published columns",
        "data/global_opinions.csv:4: no 'question'; expected the published columns",
    ]


def test_nativqa(data: Path) -> None:
    items, bad = load("nativqa", data / "nativqa")
    assamese, same, bangla = items
    assert (assamese.id, assamese.language, assamese.region) == ("asm_in:1", "as", "IN")
    assert assamese.unit == same.unit != bangla.unit
    assert (bangla.language, bangla.region, bangla.topic, bangla.answer) == ("bn", "BD", "food", "ভাত")
    assert bad == ["bangla_bd/NativQA_bn_scb_bd_test.json:9: no 'answer'; expected the published columns"]


def test_normad(data: Path) -> None:
    (bosnia, turkey), bad = load("normad", data / "normad")
    assert (bosnia.answer, bosnia.wrong, turkey.answer, turkey.wrong) == ("Yes", ("No",), "No", ("Yes",))
    assert (bosnia.region, turkey.region) == ("BA", "TR")
    assert bosnia.role == (("Country", "Bosnia and Herzegovina"),)
    assert (bosnia.context, bosnia.explanation) == ("Greet everyone.", None)
    assert [message[:15] for message in bad] == ["normad.jsonl:4:", "normad.jsonl:5:", "normad.jsonl:6:"]


def test_normad_as_on_the_hub(tmp_path: Path) -> None:
    lines = ["ID,Country,Background,Axis,Subaxis,Value,Rule-of-Thumb,Story,Explanation,Gold Label"]
    lines += [
        '7,south_korea,"- bow\n- smile",Etiquette,visiting,Respect,Take off shoes.,"Ann did. Fine?",It is kind.,yes'
    ]
    (tmp_path / "normad_etiquette_final_data.csv").write_text("\n".join(lines))
    [item], bad = load("normad", tmp_path)
    assert (item.region, item.question, item.answer, item.wrong) == ("KR", "Ann did. Fine?", "Yes", ("No",))
    assert (item.context, item.explanation, item.topic) == ("Take off shoes.", "It is kind.", "visiting")
    assert bad == []


def test_calmqa(data: Path) -> None:
    [item], bad = load("calmqa", data / "calmqa")
    assert (item.id, item.question, item.answer) == ("german:0", "Warum?", BECAUSE)
    assert (item.language, item.region, item.topic) == ("de", None, "history")
    assert [message.partition(": ")[2] for message in bad] == [
        "no question in German; expected it in 'translations'",
        "'question' is not an object; expected the published columns",
    ]


def test_calmqa_as_on_the_hub(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    answer = "日本では、お正月に家族が集まって、お雑煮やおせち料理を食べる習慣があるからです。"
    row = {"language": 12, "question_type": 1, "question": "なぜ?", "question_english": "Why?", "answer": answer}
    rows = [row, row | {"answer": None}, row | {"question_type": 0}, row | {"language": 23}]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "train-0.parquet")
    [item], bad = load("calmqa", tmp_path)
    assert (item.language, item.question, item.answer) == ("ja", "なぜ?", answer)
    assert bad == ["train-0.parquet:4: language 23 is not between 0 and 22; correct or remove the row"]


def test_epic_groups(data: Path) -> None:
    items, bad = load("epic", data / "epic")
    assert [(item.role[0], item.region, item.answer) for item in items] == [
        (("Nationality", "United Kingdom"), "GB", "The text is ironic."),
        (("Nationality", "India"), "IN", "The text is non-ironic."),
        (("Gender", "Female"), None, "The text is ironic."),
        (("Generation", "Generation X"), None, "The text is non-ironic."),
    ]
    assert items[0].wrong == (items[1].answer,)
    assert items[0].question == "Indicate whether this text is ironic or non-ironic: Great weather."
    assert items[0].context == "It rains."
    assert len({item.unit for item in items}) == 1
    assert bad == ["epic.jsonl:2: unknown label '2', not one of 1, iro, 0, not; correct or remove the row"]


def test_epic_annotators(tmp_path: Path) -> None:
    lines = ["user,label,id_original,text,parent_text,Age,Sex,Ethnicity simplified,Nationality"]
    lines += ["u1,iro,5,Great.,Rain.,26.0,Male,Asian,India", "u2,not,5,Great.,Rain.,DATA_EXPIRED,,,"]
    (tmp_path / "EPICorpus.csv").write_text("\n".join(lines))
    [item], bad = load("epic", tmp_path)
    assert item.role == (("Age", "26"), ("Sex", "Male"), ("Ethnicity", "Asian"), ("Nationality", "India"))
    assert (item.id, item.region, item.answer) == ("5:u1", "IN", "The text is ironic.")
    assert bad[0].startswith("EPICorpus.csv:3: no data about the annotator; ")


def test_exams(data: Path) -> None:
    [item], bad = load("exams", data / "exams")
    assert (item.id, item.answer, item.options, item.wrong) == ("1", "б", ("а", "б", "в"), ("а", "в"))
    assert (item.language, item.region, item.topic) == ("mk", None, "History")
    assert bad == [
        "test.jsonl.tar.gz/test.jsonl:3: unknown answerKey '@', not one of A, B; correct or remove the row",
        "test.jsonl.tar.gz/test.jsonl:4: an answer is both correct and wrong; edit or remove the row",
        "test.jsonl.tar.gz/test.jsonl:5: a choice without 'label' or 'text'; correct or remove the row",
    ]


def test_cultureatlas(data: Path) -> None:
    (boats, coast), bad = load("cultureatlas", data / "cultureatlas")
    assert (boats.question, boats.answer, boats.wrong) == ("Boats (Bahamas)", "Boats are blue.", ())
    assert (coast.question, coast.region) == ("Coast of Chile", "CL")
    assert bad[0].startswith("cultureatlas.json:26: unknown region 'Atlantis'; ")


@pytest.mark.parametrize(
    ("country", "keyword", "statement", "is_kept"),
    [
        ("North Korea", "Smoking in South Korea", "Many men smoke.", False),
        ("North Korea", "Smoking in South Korea", "North Korea has no such survey.", False),
        ("Bulgaria", "Culture of Croatia", "Coffee is shared with friends.", False),
        ("Albania", "Serbo-Croatian", "It has four standard variants.", False),
        ("Albania", "Italian language", "Many people in Albania understand it.", True),
        ("Canada", "Multiculturalism", "Sweden changed its policy in 1975.", False),
        ("Canada", "Multiculturalism", "Unlike Sweden, Canada made it law.", True),
        ("Canada", "Multiculturalism", "Quebec took a model from France.", True),
        ("Canada", "Chinatown, Vancouver", "Its gate was built for a fair.", True),
        ("Canada", "Residential schools", "They were run under the Indian Act.", True),
        ("North Korea", "Korean cuisine", "Rice is eaten with side dishes.", True),
        ("Djibouti", "Somali people", "Elders decide on compensation.", True),
        ("China", "Culture of China", "Chopsticks came to Japan from there.", True),
        ("Denmark", "Folk high school", "Courses have no exams.", True),
    ],
)
def test_cultureatlas_without_rows_about_another_country(
    tmp_path: Path, country: str, keyword: str, statement: str, is_kept: bool
) -> None:
    dump(tmp_path / "cultureatlas.json", [{"positive_sample": statement, "country": country, "keyword": keyword}])
    items, bad = load("cultureatlas", tmp_path)
    assert ([item.answer for item in items], bad) == ([statement] if is_kept else [], [])


def test_a_bad_row_of_a_file_of_one_line_is_named_by_its_keys(tmp_path: Path) -> None:
    question = {"question": "?", "en_question": "What do people drink in Iran?", "annotations": [vote(5, "tea")]}
    rows = {"Q-1": question, "Q-2": {"question": "?"}, "Q-3": []}
    (tmp_path / "Iran_data.json").write_text(json.dumps(rows))
    _, bad = load("blend", tmp_path)
    assert bad == [
        "Iran_data.json:1 at /Q-2: no 'en_question'; expected the published columns",
        "Iran_data.json:1 at /Q-3: not an object but list; expected the published columns",
    ]


def test_candle(data: Path) -> None:
    (english, swahili), bad = load("candle", data / "candle")
    assert (english.question, english.answer) == ("the culture of Kenya", "Tea is Kenyan.")
    assert (swahili.answer, swahili.language, swahili.region) == ("Chai ni ya Kenya.", "sw", "KE")
    assert swahili.question == "utamaduni wa Kenya"
    assert english.unit == swahili.unit
    assert bad == ["candle_few.json:12: no sentence with <mask> in 'prompt'; expected the published columns"]


def test_candle_as_released(tmp_path: Path) -> None:
    row = {"subject": "Kenya", "facet": "food", "assertion": "Ugali is eaten."}
    dump_lines(tmp_path / "candle_dataset_v1.jsonl", [row, row | {"subject": "firefighter"}])
    (kenya, job), _ = load("candle", tmp_path)
    assert (kenya.question, kenya.region, job.question, job.region) == (
        "food of Kenya",
        "KE",
        "food of firefighter",
        None,
    )


def test_unknown_source_says_which_are_there() -> None:
    with pytest.raises(ConfigError, match="unknown source 'Blends'; did you mean 'blend'\\? there are blend, cult"):
        sources.source("Blends")


def test_missing_folders_and_files_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such folder; put there normad.*from https://"):
        load("normad", tmp_path / "normad")
    for name in sources.names():
        (tmp_path / name).mkdir()
        with pytest.raises(InputError, match=f"{name}: no file .*; `mores sources` and `mores bench info` say"):
            load(name, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", b'[{"a": 1},\n {"a": ]', r"x.json:2: not valid JSON \(Expecting value at column 8\); get"),
        ("x.json", b'[{"a": 1}\n {"a": 2}]', r"x.json:2: not valid JSON \(Expecting ',' at column 2\); get"),
        ("x.json", b'[{"a": "\xff"}]', r"x.json:1: not valid UTF-8 \(byte 0xff\); save"),
        ("x.jsonl.gz", b"no", r"x.jsonl.gz: damaged \(.*\); get it again"),
        ("x.zip", b"no", r"x.zip: damaged \(.*\); get it again"),
        ("x.tar.gz", b"no", r"x.tar.gz: damaged \(.*\); get it again"),
        ("x.parquet", b"no", r"x.parquet: not a Parquet file, or a damaged one \(.*\); write it again"),
    ],
)
def test_spoilt_files_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(read(tmp_path / name))


def test_bad_lines_do_not_spoil_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('\ufeff{"a": 1}\n{"a"\n\n[1]\n{"a": 2}')
    (tmp_path / "x.csv").write_text('a,b\n1,"2\n3"\n4,5,6\n\n7,8\n')
    lines = [str(row.place if isinstance(row, SourceRow) else row).split(":")[1] for row in read(tmp_path / "x.jsonl")]
    assert lines == ["1", "2", "4", "5"]
    cells = [row.values if isinstance(row, SourceRow) else str(row)[-45:] for row in read(tmp_path / "x.csv")]
    assert cells[0] == {"a": "1", "b": "2\n3"}
    assert str(cells[1]).endswith("put cells that contain ',' in quotes")
    assert cells[2] == {"a": "7", "b": "8"}


def test_a_text_that_cannot_be_encoded_is_a_bad_row(tmp_path: Path) -> None:
    row = {"Country": "peru", "Story": "x", "Rule-of-Thumb": "y", "Gold Label": "yes"}
    dump_lines(tmp_path / "normad.jsonl", [row])
    half = (tmp_path / "normad.jsonl").read_text().replace('"x"', '"\\ud83d"')
    (tmp_path / "normad.jsonl").write_text(half)
    items, bad = load("normad", tmp_path)
    assert not items
    assert bad == ["normad.jsonl:1: half a character (a lone surrogate) in a text; correct or remove the row"]


@pytest.mark.parametrize(("answer", "option"), [("A", "x"), ("b", "y"), ("0", "x"), ("1", "y")])
def test_letters_and_numbers_name_options(answer: str, option: str) -> None:
    assert letter(["x", "y"], answer) == option


@pytest.mark.parametrize("answer", ["c", "2", "yes", "9" * 5000])
def test_what_names_no_option_is_said_briefly(answer: str) -> None:
    with pytest.raises(InputError, match=r"^answer '\w{1,60}' names none of 2 options; correct or remove the row$"):
        letter(["x", "y"], answer)


def test_folders_are_in_the_data_folder_or_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads: list[Any] = []

    def snapshot_download(repo: str, **options: Any) -> str:
        downloads.append((repo, options["repo_type"], options["revision"]))
        return str(tmp_path / "datasets--x" / "snapshots" / (options["revision"] or "0123abc"))

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(snapshot_download=snapshot_download))
    assert sources.folder_of("blend", tmp_path) == tmp_path / "blend"
    assert sources.revision_of(sources.folder_of("blend")) == "0123abc"
    assert sources.revision_of(sources.folder_of("calmqa")) == sources.REVISIONS["calmqa"]
    assert sources.revision_of(sources.folder_of("calmqa", revision="4567def")) == "4567def"
    assert downloads == [
        ("nayeon212/BLEnD", "dataset", None),
        ("shanearora/CaLMQA", "dataset", sources.REVISIONS["calmqa"]),
        ("shanearora/CaLMQA", "dataset", "4567def"),
    ]
    with pytest.raises(ConfigError, match="mango is not on the Hub; get it from https://mango"):
        sources.folder_of("mango")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("hub"))):
        sources.folder_of("blend")


def test_the_revision_of_local_data_is_the_sum_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1")
    first = sources.revision_of(tmp_path)
    assert re.fullmatch("sha256:[0-9a-f]{64}", first)
    assert sources.revision_of(tmp_path) == first
    (tmp_path / "a.csv").write_text("2")
    assert sources.revision_of(tmp_path) != first


@pytest.mark.parametrize(("name", "commit"), sources.REVISIONS.items())
def test_revisions_are_whole_commits_of_the_hub(name: str, commit: str) -> None:
    assert sources.source(name).hub
    assert re.fullmatch("[0-9a-f]{40}", commit)


def test_the_command_lists_and_counts(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = CliRunner()
    plain = run.invoke(command, [], catch_exceptions=False)
    assert plain.exit_code == 0
    assert "Hub: nayeon212/BLEnD" in plain.stdout
    assert "CC-BY-NC-SA-4.0 *" in plain.stdout
    (data / "exams" / "test.jsonl.tar.gz").write_bytes(b"no")
    (data / "epic" / "epic.jsonl").unlink()
    (data / "epic").rmdir()
    counted = run.invoke(command, ["--data", str(data), "--json"], catch_exceptions=False)
    rows = {row["name"]: row for row in json.loads(counted.stdout)}
    assert list(rows) == sources.names()
    counts = ("items", "bad", "languages", "regions")
    assert [rows["candle"][name] for name in counts] == [2, 1, 2, 1]
    assert [rows["epic"][name] for name in counts] == [None] * 4
    assert [rows["exams"][name] for name in counts] == [None] * 4
    assert "test.jsonl.tar.gz: damaged" in counted.stderr
    assert "left out" in counted.stderr
    free = json.loads(run.invoke(command, ["--commercial", "--json"], catch_exceptions=False).stdout)
    assert {"epic", "nativqa", "globalopinionqa", "cultureatlas"} == set(sources.names()) - {
        row["name"] for row in free
    }
    assert "1,226" not in run.invoke(command, ["--data", str(data)], catch_exceptions=False).stdout


# At least so many items, at most so many bad rows, exactly so many regions, in the data that developers share.
COUNTS = {
    "blend": (6000, 0, 16),
    "culturalbench": (1220, 5, 45),
    "globalopinionqa": (3000, 0, 107),
    "normad": (1818, 0, 75),
    "calmqa": (280, 0, 0),
    "epic": (15000, 0, 5),
    "exams": (6500, 20, 0),
    "cultureatlas": (2500, 0, 40),
    "candle": (800, 0, 5),
}


@pytest.mark.often("normad", "candle")
@pytest.mark.parametrize("name", COUNTS)
def test_real_data(name: str) -> None:
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip(f"no {name} in the shared data; set MORES_SHARED_DATA to a folder that has it")
    items, bad = load(name, folder)
    assert_contract(sources.source(name), items)
    fewest, most_bad, regions = COUNTS[name]
    assert len(items) >= fewest
    assert len(bad) <= most_bad, bad
    assert len({item.region for item in items} - {None}) == regions
    if name == "culturalbench":
        assert sum(bool(item.also_correct) for item in items) == 86
    if name == "blend":
        assert Counter(len(item.wrong) for item in items)[3] > 0.8 * len(items)
    if name == "epic":
        assert len({item.unit for item in items}) < len(items) / 4


def test_a_csv_file_whose_column_names_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('""ID",Country\n1,japan\n')
    with pytest.raises(InputError, match=r"rows\.csv:1: not valid csv .*; close every quoted cell"):
        list(read(path))
