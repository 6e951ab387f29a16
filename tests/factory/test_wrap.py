"""Templates say what is asked and answered in many ways, leave the data alone, and tell nothing of right and wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import groupby, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.factory.items import SourceItem, Task
from mores.factory.wrap import Wrapped, Wrapper, letter
from mores.factory.wrap.templates import BUILT_IN, CONDITIONAL, KINDS, LINES, Templates, needed_files, parse

FIRST = ["ar", "bn", "de", "en", "es", "fr", "hi", "id", "ja", "pt", "ru", "tr", "zh"]
MACHINE_MADE = [
    "am", "as", "az", "bg", "el", "fa", "ha", "he", "hr", "hu", "it", "ko", "lt", "mk", "pl", "sq", "sr", "sr-Latn",
    "su", "sw", "vi",
]  # fmt: skip
LANGUAGES = sorted([*FIRST, *MACHINE_MADE])
WITHOUT_WORDS = "und"
SIDES = ["instruction", "output"]
HELD = Templates()
FILES = {
    language: list(files)
    for language, files in groupby(
        sorted(BUILT_IN.rglob("*.txt"), key=lambda path: path.parts[-2]), key=lambda path: path.parts[-2]
    )
}

# Words that assess an answer; they would tell a metric what it has to find out. Latin, Greek and
# Cyrillic words are looked for as words, the others as parts of words.
ASSESSING = {
    "ar": ["صحيح", "خطأ", "خاطئ", "صواب", "غلط"],
    "bn": ["সঠিক", "ভুল", "ঠিক"],
    "de": ["richtig", "richtige", "falsch", "falsche", "korrekt", "korrekte", "fehler", "stimmt", "wahr"],
    "en": ["right", "wrong", "correct", "incorrect", "true", "false", "error", "mistake", "mistaken", "accurate"],
    "es": ["correcta", "correcto", "incorrecta", "incorrecto", "falso", "verdadero", "error", "cierto"],
    "fr": [
        "correct",
        "correcte",
        "incorrect",
        "incorrecte",
        "faux",
        "fausse",
        "vrai",
        "juste",
        "bonne réponse",
        "erreur",
    ],
    "hi": ["सही", "गलत", "ग़लत", "शुद्ध"],
    "id": ["benar", "salah", "tepat", "keliru"],
    "ja": ["正しい", "正解", "間違", "誤", "不正解", "正答"],
    "pt": ["correta", "correto", "certa", "certo", "errada", "errado", "falso", "verdadeiro", "erro"],
    "ru": ["правильный", "правильно", "верный", "верно", "неверно", "ошибка", "неправильный"],
    "tr": ["doğru", "yanlış", "hata", "hatalı"],
    "zh": ["正确", "错误", "错", "不对", "正解"],
    "am": ["ትክክል", "ስህተት", "ውሸት"],
    "as": ["শুদ্ধ", "ভুল", "সঠিক", "অশুদ্ধ"],
    "az": ["düzgün", "doğru", "səhv", "yanlış"],
    "bg": ["вярно", "верен", "вярна", "правилно", "правилен", "правилният", "грешно", "грешен", "грешка"],
    "el": ["σωστό", "σωστή", "σωστά", "λάθος", "ορθή"],
    "fa": ["درست", "صحیح", "غلط", "نادرست", "اشتباه"],
    "ha": ["daidai", "kuskure"],
    "he": ["נכון", "נכונה", "שגוי", "טעות", "שגויה"],
    "hr": ["točno", "točan", "točna", "netočno", "pogrešno", "ispravno", "ispravan", "ispravna"],
    "hu": ["helyes", "helytelen", "igaz", "hamis", "hiba", "hibás"],
    "it": ["corretta", "corretto", "giusta", "giusto", "sbagliata", "sbagliato", "errore", "vero", "falso"],
    "ko": ["정답", "맞는", "맞습니다", "틀린", "틀렸", "오답", "올바른"],
    "lt": ["teisingas", "teisingai", "neteisingas", "klaida", "klaidingas"],
    "mk": ["точно", "точен", "точниот", "погрешно", "грешка", "правилно", "вистинито"],
    "pl": ["poprawna", "poprawny", "prawidłowa", "błędna", "błąd", "prawda", "fałsz"],
    "sq": ["saktë", "gabim", "gabuar", "vërtetë"],
    "sr": ["тачно", "тачан", "тачна", "нетачно", "погрешно", "исправно", "исправан"],
    "sr-Latn": ["tačno", "tačan", "tačna", "netačno", "pogrešno", "ispravno", "ispravan"],
    "su": ["bener", "leres", "salah", "lepat"],
    "sw": ["sahihi", "sawa", "kosa", "makosa", "kweli", "uongo"],
    "vi": ["đúng", "sai", "chính xác", "nhầm"],
    "und": ["right", "wrong", "correct"],
}
IN_PARTS = {"am", "ar", "as", "bn", "fa", "he", "hi", "ja", "ko", "zh"}

QA = SourceItem(
    source="blend", id="1", task=Task.QA, question="What do people drink?", answer="tea", options=("cola", "tea", "ink")
)
ROLE = SourceItem(
    source="normad",
    id="2",
    task=Task.IMPERSONATION,
    question="Is it acceptable?",
    answer="No",
    role=(("Country", "Peru"), ("Age", "26")),
    context="Guests greet everyone.",
    language="en",
)


def item_of(task: Task, **fields: object) -> SourceItem:
    base = {Task.QA: QA, Task.IMPERSONATION: ROLE}.get(task, QA.model_copy(update={"task": task, "options": ()}))
    return base.model_copy(update={"source": "none", **fields})


def pools(task: Task, side: str, language: str) -> Counter[frozenset[str]]:
    """How many templates there are for items with and without a context or an explanation."""
    templates = HELD.get("none", f"{task}.{side}", language)
    return Counter(CONDITIONAL & set(template.slots) for template in templates)


def user_file(folder: Path, text: str, name: str = "base/en/qa.output.txt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def template_of(text: str, value: str) -> str:
    return text.replace(value, "{}")


# The templates that come with Mores


def test_the_languages_are_these() -> None:
    assert sorted(path.name for path in (BUILT_IN / "base").iterdir()) == sorted([*LANGUAGES, WITHOUT_WORDS])
    for language in (*LANGUAGES, WITHOUT_WORDS):
        names = sorted(path.name.removesuffix(".txt") for path in (BUILT_IN / "base" / language).iterdir())
        assert names == sorted(KINDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_has_many_wordings_per_side(language: str) -> None:
    for task, side in product(Task, SIDES):
        counts, least = pools(task, side, language), 50 if language in FIRST else 14
        assert counts[frozenset()] >= least, (task, side)
        if side == "instruction" and task is Task.IMPERSONATION:
            assert counts[frozenset({"context"})] >= least
        if side == "output" and task is not Task.GENERATION:
            assert counts[frozenset({"explanation"})] >= (50 if language == "en" else 18), task


@pytest.mark.parametrize("language", LANGUAGES)
def test_machine_made_files_say_so(language: str) -> None:
    note = "# Machine-made; no speaker of the language has checked it."
    for path in (BUILT_IN / "base" / language).iterdir():
        is_marked = path.read_text(encoding="utf-8").startswith(note)
        assert is_marked == (language in MACHINE_MADE), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_variety_is_written_and_not_only_expanded(language: str) -> None:
    for kind in (f"{task}.{side}" for task in Task for side in SIDES):
        lines = (BUILT_IN / "base" / language / f"{kind}.txt").read_text(encoding="utf-8").split("\n")
        plain = [line for line in lines if line and not line.startswith("#") and "{explanation}" not in line]
        assert len(plain) >= (25 if language == "en" else 12 if language in FIRST else 5), kind


@pytest.mark.parametrize("language", FILES)
def test_every_template_fills_every_slot_once(language: str) -> None:
    for path in FILES[language]:
        kind = path.name.removesuffix(".txt")
        values = {name: f"<{name}>" for name in KINDS[kind].allowed}
        for template in HELD.get(path.parts[-3], kind, language):
            text, spans = template.fill(values)
            assert not re.search(r"[{}\\|]|\[\[|\]\]| {2}| \n|\n ", text), path
            assert text == text.strip(), path
            for name, (start, end) in spans.items():
                assert text[start:end] == values[name], path
                assert text.count(values[name]) == 1, path
            assert KINDS[kind].required <= set(spans) <= KINDS[kind].allowed, path


@pytest.mark.parametrize("language", FILES)
def test_no_output_assesses_its_answer(language: str) -> None:
    words = "|".join(map(re.escape, ASSESSING[language]))
    pattern = re.compile(words if language in IN_PARTS else rf"\b(?:{words})\b", re.IGNORECASE)
    for path in FILES[language]:
        if path.name.endswith("output.txt"):
            assert pattern.findall(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_of_a_task_is_dealt(language: str) -> None:
    for task in Task:
        wrapper, count = Wrapper(HELD), pools(task, "output", language)[frozenset()]
        item = item_of(task, language=language, context=None)
        wrapped = [wrapper.wrap(item.model_copy(update={"id": str(n)}), "tea") for n in range(count)]
        assert len({w.text for w in wrapped}) == count, task
        assert all(w.text[w.answer_start : w.answer_end] == "tea" for w in wrapped), task


# Rendering


def test_options_are_lettered_in_their_order_in_the_language() -> None:
    english, chinese = (Wrapper(HELD).wrap(item_of(Task.QA, language=tag), "tea") for tag in ("en", "zh"))
    assert "Option A: cola\nOption B: tea\nOption C: ink" in english.instruction
    assert "选项A：cola\n选项B：tea\n选项C：ink" in chinese.instruction


def test_the_letter_is_that_of_the_answer_given(tmp_path: Path) -> None:
    user_file(tmp_path, "{letter}={answer}")
    wrapper = Wrapper(Templates(tmp_path))
    assert [wrapper.wrap(QA, answer).text for answer in QA.options] == ["A=cola", "B=tea", "C=ink"]


def test_letters_go_on_after_z() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 51, 52, 701, 702)] == ["A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]


def test_the_freeform_variant_has_the_question_only() -> None:
    wrapped = Wrapper(HELD).wrap(QA, "a drink that is no option", task=Task.FREEFORM)
    assert QA.question in wrapped.instruction
    assert not any(option in wrapped.instruction for option in ("cola", "tea", "Option"))


def test_role_and_context_stand_in_the_instruction() -> None:
    wrapper = Wrapper(HELD)
    for n in range(60):
        wrapped = wrapper.wrap(ROLE.model_copy(update={"id": str(n)}), "No")
        assert "Country: Peru\nAge: 26" in wrapped.instruction
        assert "Guests greet everyone." in wrapped.instruction
    without = wrapper.wrap(ROLE.model_copy(update={"id": "x", "context": None}), "No")
    assert not re.search(r"context|background|{|''", without.instruction, re.IGNORECASE)


def test_an_explanation_is_given_only_when_asked_for() -> None:
    explained = ROLE.model_copy(update={"explanation": "One greets all."})
    assert "One greets all." not in Wrapper(HELD).wrap(explained, "No").text
    assert "One greets all." in Wrapper(HELD).wrap(explained, "No", explanation="One greets all.").text


HOSTILE = st.text(st.sampled_from("{}[]|\\'\"n\n answeroption"), min_size=1).filter(str.strip)


@given(question=HOSTILE, answer=HOSTILE, other=HOSTILE, context=HOSTILE)
def test_data_are_never_read_as_template(question: str, answer: str, other: str, context: str) -> None:
    fields = {"question": question, "answer": answer, "options": (other, answer), "language": "en"}
    wrapped = Wrapper(HELD).wrap(item_of(Task.QA, **fields), answer)
    assert f"Option A: {other}\nOption B: {answer}" in wrapped.instruction
    assert question in wrapped.instruction
    assert wrapped.text[wrapped.answer_start : wrapped.answer_end] == answer
    role = item_of(Task.IMPERSONATION, question=question, context=context, role=((other, answer),))
    assert all(
        part in Wrapper(HELD).wrap(role, answer).instruction for part in (question, context, f"{other}: {answer}")
    )


@pytest.mark.parametrize(
    ("template", "answer", "text"),
    [
        ("“{answer}”?", "Why?", "“Why?”"),
        ("“{answer}”?", "Why", "“Why”?"),
        ("It is „{answer}“.", "Tee.", "It is „Tee.“"),
        ("“{answer}”. So?", "Why?", "“Why?”. So?"),
        ("{answer}.", "No.", "No."),
        ("「{answer}」です。", "茶。", "「茶。」です。"),
    ],
)
def test_a_mark_at_the_end_is_written_once(tmp_path: Path, template: str, answer: str, text: str) -> None:
    user_file(tmp_path, template, "base/en/freeform.output.txt")
    wrapped = Wrapper(Templates(tmp_path)).wrap(item_of(Task.FREEFORM), answer)
    assert wrapped.text == text
    assert wrapped.text[wrapped.answer_start : wrapped.answer_end] == answer


def test_offsets_count_code_points() -> None:
    answer = "🍵 चाय {answer}"
    for seed in range(30):
        wrapped = Wrapper(HELD, seed=seed).wrap(item_of(Task.FREEFORM, language="hi"), answer)
        assert wrapped.text[wrapped.answer_start : wrapped.answer_end] == answer


# Assignment


def test_every_template_is_used_equally_often_up_to_one() -> None:
    wrapper, instructions, outputs = Wrapper(HELD, seed=3), Counter[str](), Counter[str]()
    for n in range(500):
        item = item_of(Task.FREEFORM, id=str(n), question=f"<{n}>")
        for answer in ("tea", "ink"):
            wrapped = wrapper.wrap(item, answer)
            outputs[template_of(wrapped.text, answer)] += 1
        instructions[template_of(wrapped.instruction, f"<{n}>")] += 1
    for used, side in ((instructions, "instruction"), (outputs, "output")):
        size = pools(Task.FREEFORM, side, "en")[frozenset()]
        rounds, rest = divmod(used.total(), size)
        assert Counter(used.values()) == {rounds: size - rest, rounds + 1: rest}


def test_the_order_of_the_templates_differs_by_round_and_seed() -> None:
    size = pools(Task.FREEFORM, "output", "en")[frozenset()]

    def texts(seed: int) -> list[str]:
        wrapper = Wrapper(HELD, seed=seed)
        return [wrapper.wrap(item_of(Task.FREEFORM), "tea").text for _ in range(2 * size)]

    first = texts(1)
    assert first == texts(1)
    assert first != texts(2)
    assert first[:size] != first[size:]
    assert sorted(first[:size]) == sorted(first[size:])


def test_other_sources_do_not_matter() -> None:
    items_of_mine = [item_of(Task.FREEFORM, source="mine", id=str(n)) for n in range(20)]
    other = [item_of(Task.FREEFORM, source="other", id=str(n)) for n in range(20)]
    first, second = Wrapper(HELD), Wrapper(HELD)
    before = [first.wrap(item, "tea") for item in [*items_of_mine, *other]]
    after = [second.wrap(item, "tea") for item in [*other, *items_of_mine]]
    assert before == after[20:] + after[:20]


def test_versions_share_the_instruction_and_differ_in_the_output() -> None:
    wrapper = Wrapper(HELD)
    right, wrong = wrapper.wrap(QA, "tea"), wrapper.wrap(QA, "ink")
    freeform = wrapper.wrap(QA, "tea", task=Task.FREEFORM)
    assert right.instruction == wrong.instruction != freeform.instruction
    assert template_of(right.text, "tea") != template_of(wrong.text, "ink")


def test_what_was_forgotten_is_dealt_anew() -> None:
    wrapper, other = Wrapper(HELD, seed=3), item_of(Task.FREEFORM, id="other")
    first, second = (wrapper.wrap(item, "tea").instruction for item in (item_of(Task.FREEFORM), other))
    assert wrapper.wrap(other, "ink").instruction == second
    wrapper.forget()
    assert wrapper.wrap(other, "ink").instruction not in (first, second), "the third card of the same round"


def test_nothing_depends_on_which_answer_is_right() -> None:
    def wrap_all(right: str) -> list[Wrapped]:
        wrapper = Wrapper(HELD, seed=5)
        items = [QA.model_copy(update={"id": str(n), "answer": right, "wrong": ("cola",)}) for n in range(50)]
        return [wrapper.wrap(item, answer) for item in items for answer in ("tea", "ink")]

    assert wrap_all("tea") == wrap_all("ink")


@pytest.mark.slow
def test_right_and_wrong_do_not_fall_on_different_templates() -> None:
    """Called in turn, each template meets the first version about as often as the second."""
    wrapper, first = Wrapper(HELD), Counter[str]()
    rounds = 100
    size = pools(Task.FREEFORM, "output", "en")[frozenset()]
    for n in range(rounds * size // 2):
        item = item_of(Task.FREEFORM, id=str(n))
        first[template_of(wrapper.wrap(item, "tea").text, "tea")] += 1
        wrapper.wrap(item, "ink")
    # Half of 100, and five standard deviations of a fair coin.
    assert all(abs(count - rounds / 2) < 25 for count in first.values())


SCRIPT = """
from mores.factory.items import SourceItem, Task
from mores.factory.wrap import Wrapper
wrapper = Wrapper(seed=11)
for n in range(40):
    item = SourceItem(source="s", id=str(n), task=Task.QA, question="Q?", answer="a", options=("a", "b"), language="de")
    print(wrapper.wrap(item, "ab"[n % 2]))
"""


@pytest.mark.slow
def test_every_process_wraps_alike() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 40


# Where templates are found


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("pt-BR", "pt"), ("zh-Hans-CN", "zh"), (None, "en"), ("de", "de"), ("en-GB", "en"), ("sr-Latn-RS", "sr-Latn"),
        ("rn", "und"), ("zh-Hant-TW", "und"), ("hi-Latn", "und"), ("sr-Cyrl", "sr"),
    ],
)  # fmt: skip
def test_languages_fall_back_within_their_script_and_else_to_no_words(tag: str | None, language: str) -> None:
    assert HELD.language("none", Task.QA, tag) == language


def test_a_language_without_templates_gets_no_words_around_it() -> None:
    kirundi = item_of(Task.FREEFORM, question="Isoko ryahiye gute?", language="rn")
    wrapped = Wrapper(HELD).wrap(kirundi, "Mu 2013.")
    assert (wrapped.instruction, wrapped.text) == ("Isoko ryahiye gute?", "Mu 2013.")
    options = Wrapper(HELD).wrap(item_of(Task.QA, language="rn"), "tea")
    assert options.instruction == "What do people drink?\nA. cola\nB. tea\nC. ink"
    assert re.fullmatch(r"\(?B[.):] tea", options.text)
    role = Wrapper(HELD).wrap(item_of(Task.IMPERSONATION, language="rn"), "No", explanation="One greets.")
    assert role.instruction == "Country: Peru\nAge: 26\nGuests greet everyone.\nIs it acceptable?"


@pytest.mark.parametrize("answer", ["First.\nSecond.", "long " * 40 + "answer"])
def test_nothing_follows_a_long_answer(answer: str) -> None:
    wrapper = Wrapper(HELD)
    texts = [wrapper.wrap(item_of(Task.FREEFORM, id=str(n), language="de"), answer).text for n in range(120)]
    assert all(text.endswith(answer) for text in texts)
    short = [wrapper.wrap(item_of(Task.FREEFORM, id=str(n), language="de"), "Tee").text for n in range(120)]
    assert any(text.endswith("Tee“.") for text in short)


def test_a_source_extends_or_replaces_the_base(tmp_path: Path) -> None:
    base, blend = (HELD.get(source, "qa.instruction", "en") for source in ("none", "blend"))
    assert set(base) < set(blend)
    posts = [str(template) for template in HELD.get("epic", "impersonation.instruction", "en")]
    assert any("post" in template for template in posts)
    assert not any("Context: '{context}'" in template for template in posts)
    user_file(tmp_path, "@extend\nMine: {question}\\n{options}", "blend/en/qa.instruction.txt")
    assert len(Templates(tmp_path).get("blend", "qa.instruction", "en")) == len(blend) + 1


def test_the_users_folder_comes_first(tmp_path: Path) -> None:
    user_file(tmp_path, "\ufeff# ours\n\nHere: {answer}\r\n")
    assert Wrapper(Templates(tmp_path)).wrap(QA, "tea").text == "Here: tea"
    assert Wrapper(Templates(tmp_path)).wrap(QA.model_copy(update={"language": "fr"}), "tea").text != "Here: tea"


def test_a_new_language_needs_all_files_of_a_task(tmp_path: Path) -> None:
    path = user_file(tmp_path, "Jibu: {answer}", "base/nd/qa.output.txt")
    with pytest.raises(InputError) as caught:
        Templates(tmp_path)
    assert str(caught.value) == f"{path}: qa in 'nd' also needs qa.instruction.txt; write it beside this file"
    user_file(tmp_path, "Swali: {question}\\n{options}", "base/nd/qa.instruction.txt")
    user_file(tmp_path, "{letter}. {option}", "base/nd/option.txt")
    wrapped = Wrapper(Templates(tmp_path)).wrap(QA.model_copy(update={"language": "nd-ZW"}), "tea")
    assert wrapped.instruction == "Swali: What do people drink?\nA. cola\nB. tea\nC. ink"
    assert wrapped.text == "Jibu: tea"


# The syntax


def test_alternations_expand_and_leave_no_spare_space() -> None:
    templates = parse(
        r"[[Please|Kindly|]] say [[ now|]]\n {answer} \{x\} \| [one] \[\[", "f:1", KINDS["freeform.output"]
    )
    tail = "\n{answer} {x} | [one] [["
    starts = ["Please say now", "Please say", "Kindly say now", "Kindly say", "say now", "say"]
    assert [str(template) for template in templates] == [start + tail for start in starts]


BAD = [
    ("{answer} {reply}", "1: unknown slot {reply}; this file may use {answer} {explanation} {letter}"),
    ("ok {answer}\nno slot", "2: missing slot {answer} in 'no slot'; every template of this file must use it"),
    ("[[{answer}|nothing]]", "1: missing slot {answer} in 'nothing'; every template of this file must use it"),
    ("{answer} {answer}", "1: slot {answer} occurs 2 times in '{answer} {answer}'; keep one"),
    ("A {answer}\n# c\n[[A|B]] {answer}", "3: duplicate of line 1: 'A {answer}'; change one of them"),
    ("[[a|a]] {answer}", "1: duplicate of line 1: 'a {answer}'; change one of them"),
    ("[[a|b {answer}", "1: unbalanced alternation: '[[' is never closed; close it with ']]'"),
    ("a|b]] {answer}", "1: '|' outside of an alternation; write [[one|other]], or \\| for the sign itself"),
    ("a]] {answer}", "1: unbalanced alternation at ']]'; open it with '[[', or write \\]\\]"),
    ("[[a|[[b]] {answer}", "1: unbalanced alternation at '[['; close it with ']]' before the next, or write \\[\\["),
    ("{answer", "1: '{' without a slot's name; write {answer}, or \\{ for the sign"),
    ("{answer} \\t", "1: unknown sign '\\t'; known are \\n \\\\ \\{ \\} \\[ \\] \\| \\# \\@"),
    ("{answer}" + "[[a|b]]" * 10, "1: expands to 1024 templates, the limit is 1000; use fewer alternations"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text[:20] for text, _ in BAD])
def test_a_bad_line_is_refused_with_its_place_and_the_fix(tmp_path: Path, text: str, message: str) -> None:
    path = user_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Templates(tmp_path)
    assert str(caught.value) == f"{path}:{message}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("base/en/qa.outputs.txt", "{answer}", "unknown template file; known are qa.instruction.txt, "),
        ("en/qa.output.txt", "{answer}", "in the wrong place; expected SOURCE/LANGUAGE/FILE.txt"),
        ("base/pt_br/qa.output.txt", "{answer}", "folder 'pt_br' is not a language tag; call it 'pt-BR'"),
        ("base/en/qa.output.txt", "# none", "no templates; write one per line or remove the file"),
        (
            "base/en/option.txt",
            "{letter} {option}\n{letter}: {option}",
            "2 templates; this file is for one line",
        ),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = user_file(tmp_path, text, name)
    with pytest.raises(InputError) as caught:
        Templates(tmp_path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    user_file(tmp_path, "").write_bytes(b"\xff\xfe{answer}")
    with pytest.raises(InputError, match=r"cannot be read .*; it must be a text file in UTF-8"):
        Templates(tmp_path)
    with pytest.raises(InputError, match="no such folder of templates"):
        Templates(tmp_path / "none")


@pytest.mark.parametrize(
    ("item", "answer", "message"),
    [
        (QA, "milk", "blend 1: 'milk' is not among the options; give an option, or wrap it as freeform"),
        (QA, " ", "blend 1: the question or the answer is empty; leave the item out"),
        (ROLE.model_copy(update={"role": ()}), "No", "normad 2: no role to impersonate; give at least the country"),
        (
            QA.model_copy(update={"context": "In Peru."}),
            "tea",
            "blend/en/qa.instruction.txt: no template uses {context}, as an item needs; add one",
        ),
    ],
)
def test_an_item_that_cannot_be_wrapped_is_refused(item: SourceItem, answer: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Wrapper(HELD).wrap(item, answer)
    assert str(caught.value) == message


def test_the_kinds_cover_the_tasks() -> None:
    assert {kind for task in Task for kind in needed_files(task)} == set(KINDS)
    assert set(LINES) == {Task.QA, Task.IMPERSONATION}
