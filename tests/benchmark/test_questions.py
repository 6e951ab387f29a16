"""A benchmark that is a table of questions: how it is read, asked and graded, and the file that changes that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Label
from mores.benchmark.folder import open_bench_run
from mores.benchmark.questions import grade_exact
from mores.errors import ConfigError, InputError, MoresError
from mores.types import Item
from tests.cli.conftest import Run, home, mores
from tests.outside import FILES

__all__ = ["home", "mores"]

HEAD = "question,choices,answer\n"


def read(path: Path, text: str) -> tuple[list[Item], list[str]]:
    """The items of a table, and what is wrong with the other rows."""
    path.write_text(text, "utf-8")
    bad: list[InputError] = []
    items = list(benchmark(path).read(path.parent, bad.append))
    return items, [str(error).removeprefix(f"{path.parent}/") for error in bad]


@pytest.mark.parametrize(
    ("table", "choices", "targets"),
    [
        (HEAD + "q1,red|blue,B\nq2,one|two|three,c\n", [("red", "blue"), ("one", "two", "three")], ["blue", "three"]),
        (HEAD + "q1,red|blue,2\nq2,one|two,1\n", [("red", "blue"), ("one", "two")], ["blue", "one"]),
        (HEAD + "q1,red|blue,0\nq2,one|two,1\n", [("red", "blue"), ("one", "two")], ["red", "two"]),
        (HEAD + "q1,Red|blue,red.\nq2,A|B|C,B\n", [("Red", "blue"), ("A", "B", "C")], ["Red", "B"]),
        # Among answers that are all texts, a number is one too; among answers that are all numbers, it counts.
        (HEAD + "q1,2|3|4,2\nq2,red|blue,red\n", [("2", "3", "4"), ("red", "blue")], ["2", "red"]),
        (
            HEAD + "q1,2|3|4,2\nq2,a1|b1,1\nq3,a2|b2,2\n",
            [("2", "3", "4"), ("a1", "b1"), ("a2", "b2")],
            ["3", "a1", "b2"],
        ),
        ("Question asked,A,B,C,Correct answer\nq1,red,blue,,B\n", [("red", "blue")], ["blue"]),
        ("question,choice1,choice2,answer\nq1,red,blue,2\n", [("red", "blue")], ["blue"]),
        ("question,option_a,option_b,answer\nq1,red,blue,blue\n", [("red", "blue")], ["blue"]),
    ],
)
def test_choices_and_answers(tmp_path: Path, table: str, choices: list[tuple[str, ...]], targets: list[str]) -> None:
    items, bad = read(tmp_path / "q.csv", table)
    assert not bad
    assert [item.choices for item in items] == choices
    assert [item.target for item in items] == [(target,) for target in targets]


def test_lists_in_json_and_several_accepted_answers(tmp_path: Path) -> None:
    rows = [
        {"question": "q1", "choices": ["red", "blue"], "answer": 2},
        {"question": "q2", "options": ["x", "y"], "answer": "A"},
    ]
    items, bad = read(tmp_path / "q.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert ([item.target for item in items], bad) == ([("blue",), ("x",)], [])
    items, _ = read(tmp_path / "short.csv", "question,answer,Country\nWho?,Ana|Ana Maria,Japan\n")
    assert (items[0].target, items[0].choices, items[0].region) == (("Ana", "Ana Maria"), (), "JP")
    assert items[0].prompt == "Who?"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("q,red|blue,green", "q.csv:3: answer 'green' is none of the 2 choices; give its text, its letter (A to B)"),
        ("q,red|blue,C", "q.csv:3: answer 'C' is none of the 2 choices"),
        (
            "q,red|blue|grey,A|c",
            "q.csv:3: answer 'A | c' is 2 of the choices, and the model is asked for one letter; keep",
        ),
        ("q,red|red,A", "q.csv:3: two options are the same"),
        ("q,red||blue,A", "q.csv:3: choice 2 is empty; fill it in, or remove a |"),
        ("q,red,A", "q.csv:3: one choice alone, 'red'; separate choices with |"),
        ("q,,red", "q.csv:3: no choices, and other rows have some; fill them in"),
        ("q,red|blue,", "q.csv:3: the answer is empty; fill it in or remove the row"),
        (",red|blue,A", "q.csv:3: the question is empty; fill it in or remove the row"),
        ("first,red|blue,A", "q.csv:3: the same question as line 2; remove one of them"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_the_fix(tmp_path: Path, row: str, problem: str) -> None:
    items, bad = read(tmp_path / "q.csv", f"{HEAD}first,red|blue,A\n{row}\nlast,red|green,B\n")
    assert [item.target for item in items] == [("red",), ("green",)]
    assert len(bad) == 1
    assert bad[0].startswith(problem)


def test_all_that_is_said_about_a_table_counts_the_questions_that_are_asked(mores: Run, home: Path) -> None:
    """Whether a row is left out as it is read, as the first two are, or once all of them are known."""
    bad = ["q3,red|blue,", "q4,red,A", "q5,red|blue,green", "q6,,red", "q1,red|blue,A"]
    (home / "q.csv").write_text("\n".join([f"{HEAD}q1,red|blue,A", *bad, "q2,red|blue,blue"]) + "\n")
    said = mores("bench", "q.csv", "--model", "fake:clean").stderr
    assert "q: left out 5 bad rows:" in said
    assert "q: q.csv, 2 rows: question" in said
    assert "; left out: 5; answers are letters (1), texts (1)\n" in said


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("Frage,answer\nq,a\n", "q.csv:1: no field 'question'; expected 'question', 'answer'"),
        ("Frage,answer\nq,a\n", 'or write q.toml: questions = "q.csv", columns = {question = "…", answer = "…"}'),
        ("question,choices\nq,a|b\n", "q.csv:1: no field 'answer'"),
        ("question,choice0,choice1,choice2,answer\nq,a,b,c,0\n", "choices are counted from 1; rename the columns"),
        ("question,answer\n", "q.csv: contains no questions"),
    ],
)
def test_a_table_without_what_is_needed(tmp_path: Path, table: str, problem: str) -> None:
    (tmp_path / "q.csv").write_text(table)
    with pytest.raises(InputError) as error:
        benchmark(tmp_path / "q.csv")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('name = "x"', ":1: no 'questions'; name the table"),
        ('questions = "q.csv"\npromt = "{question}"', ":2: unknown setting 'promt'; did you mean 'prompt'?"),
        (
            'questions = "q.csv"\n\nprompt = "{question} {choices} {regoin}"',
            ":3: {regoin} is not a column; did you mean",
        ),
        ('questions = "q.csv"\nprompt = "{question}"', ":2: the prompt does not show {choices}; add it"),
        (
            'questions = "q.csv"\ngroups = ["Level", "Countri"]',
            ":2: no column 'Countri' to group by; did you mean 'Country'?",
        ),
        ('questions = "q.csv"\ngrading = "luck"', ":2: grading: Input should be"),
        (
            'questions = "q.csv"\n[columns]\nqestion = "Q"',
            ":2: no column 'qestion' can be read; did you mean 'question'?",
        ),
        ('questions = "q.csv"\nname = ', ":2: not TOML"),
    ],
)
def test_errors_of_a_definition_name_the_line_and_the_fix(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "q.csv").write_text("question,choices,answer,Country,Level\nq,a|b,A,Japan,1\n")
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        benchmark(file)
    assert str(error.value).startswith(f"{file}{problem}")


def test_a_table_is_run_like_any_benchmark_and_found_again(mores: Run, home: Path) -> None:
    (home / "weddings.csv").write_text(FILES["weddings.csv"])
    (home / "weddings.toml").write_text(FILES["weddings.toml"])
    (home / "model.jsonl").write_text('{"contains": "Japan", "answer": "B"}\n{"contains": "", "answer": "A"}\n')
    done = mores("bench", "weddings.csv", "--model", "fake:model.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert "question ← Question" in done.stderr
    assert "region ← Country" in done.stderr
    assert "answers are letters (5)" in done.stderr
    assert "weddings.toml is not used: run it instead of the table" in done.stderr
    [result] = json.loads(done.stdout)
    assert result["figures"]["accuracy"]["value"] == pytest.approx(0.8)
    assert result["by"]["region"]["JP"]["accuracy"]["value"] == 0
    assert set(result["by"]) == {"region", "language", "topic"}
    [run] = [path.parent for path in Path("bench/weddings").rglob("run.json")]
    assert open_bench_run(run).benchmark().file == home / "weddings.csv"

    done = mores("bench", "weddings.toml", "--model", "fake:model.jsonl", "--json", "--out", "defined")
    [result] = json.loads(done.stdout)
    assert set(result["by"]) == {"region", "topic"}
    [run] = [path.parent for path in Path("defined").rglob("run.json")]
    first = open_bench_run(run).items()[0].prompt
    assert first.startswith("This is about weddings in Japan. What do guests")
    assert "\nA. money in an envelope\nB. a cake\n" in first
    for name in ("weddings.csv", "weddings.toml"):
        done = mores("bench", "check", name, "--json")
        assert (done.returncode, json.loads(done.stdout)[0]["ok"]) == (0, True), done.stdout
    assert "This is about weddings in Japan" in mores("bench", "info", "weddings.toml").stdout
    assert mores("bench", "weddings.csv", "--model", "fake:model.jsonl", "--shuffle-options", "1").returncode == 0


@pytest.mark.slow
def test_short_answers_by_a_judge_that_the_file_names_or_by_exact_match(mores: Run, home: Path) -> None:
    (home / "short.csv").write_text("question,answer\nCapital of Japan?,Tokyo\nCapital of Peru?,Lima|Ciudad de Lima\n")
    (home / "model.jsonl").write_text('{"contains": "Peru", "answer": "LIMA."}\n{"contains": "", "answer": "Kyoto"}\n')
    judge = [
        {"contains": "LIMA", "answer": "It is.\nVERDICT: CORRECT"},
        {"contains": "assert something wrong", "answer": "It is not.\nVERDICT: INCORRECT"},
        {"contains": "", "answer": "It is not.\nVERDICT: NOT_CORRECT"},
    ]
    (home / "judge.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in judge))
    done = mores("bench", "short.csv", "--model", "fake:model.jsonl")
    assert done.returncode == 2
    assert "short is graded by a model: name a judge" in done.stderr
    (home / "judged.toml").write_text('questions = "short.csv"\njudge = "fake:judge.jsonl"\n')
    done = mores("bench", "judged.toml", "--model", "fake:model.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    [result] = json.loads(done.stdout)
    assert (result["figures"]["CO"]["value"], result["figures"]["IN"]["value"]) == (0.5, 0.5)
    (home / "exact.yaml").write_text("questions: short.csv\ngrading: exact\n")
    done = mores("bench", "exact.yaml", "--model", "fake:model.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["figures"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Tōkyō", Label.CORRECT),
        ("  TO\u0304KYO\u0304. ", Label.CORRECT),
        ("It is Tōkyō", Label.INCORRECT),
        ("…", Label.NOT_ATTEMPTED),
        ("", Label.NOT_ATTEMPTED),
    ],
)
def test_exact_match(answer: str, label: Label) -> None:
    assert grade_exact(Item(id="1", prompt="?", target=("Edo", "Tōkyō")), answer).label is label


def test_init_writes_a_definition_that_changes_nothing(mores: Run, home: Path) -> None:
    done = mores("bench", "init")
    assert (done.returncode, done.stdout) == (0, "wrote questions.csv\nwrote questions.toml\n"), done.stderr
    text = (home / "questions.toml").read_text()
    assert len([line for line in text.splitlines() if line]) <= 18
    table, defined = benchmark("questions.csv"), benchmark("questions.toml")
    assert list(table.read(home, print)) == list(defined.read(home, print))
    assert (table.name, table.version, table.groupings) == (defined.name, defined.version, defined.groupings)
    done = mores("bench", "init", "questions.csv")
    assert done.returncode == 2
    assert "questions.toml: exists already; edit it, or remove it first" in done.stderr
    (home / "short.csv").write_text("question,answer,Level\nq,a,easy\n")
    assert mores("bench", "init", "short.csv").returncode == 0
    assert 'grading = "judge"' in (home / "short.toml").read_text()
    assert "Level" in (home / "short.toml").read_text()


@pytest.mark.parametrize("name", ["none.csv", "none.toml", "folder/none.xlsx"])
@pytest.mark.usefixtures("home")
def test_a_table_that_is_not_there(name: str) -> None:
    with pytest.raises(MoresError, match=r"no such file; check the path"):
        benchmark(name)


def test_a_table_may_not_take_the_name_of_a_benchmark(home: Path) -> None:
    (home / "msqa.csv").write_text("question,answer\nq,a\n")
    with pytest.raises(ConfigError, match="'msqa' is the name of another benchmark"):
        benchmark("msqa.csv")


def test_columns_with_a_meaning_for_mores_are_only_kept(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    items, _ = read(path, "question,answer,unit,labels\nq1,a,kg,x\nq2,b,kg,y\n")
    chosen = benchmark(path)
    assert [chosen.unit(item) for item in items] == [item.id for item in items]
    (tmp_path / "q.toml").write_text('questions = "q.csv"\ngroups = ["unit"]\n')
    chosen = benchmark(tmp_path / "q.toml")
    assert [chosen.group(item, chosen.groupings[0]) for item in chosen.read(tmp_path, print)] == ["kg", "kg"]


def test_two_runs_are_compared_question_by_question(mores: Run, home: Path) -> None:
    (home / "weddings.csv").write_text(FILES["weddings.csv"])
    for name, wrong in (("old", "Japan"), ("new", "Morocco")):
        rules = [
            {"contains": wrong, "answer": "B"},
            {"contains": "China", "answer": "C"},
            {"contains": "", "answer": "A"},
        ]
        (home / f"{name}.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in rules))
        assert mores("bench", "weddings.csv", "--model", f"fake:{name}.jsonl", "--out", name).returncode == 0
    runs = [str(next(Path(name).rglob("run.json")).parent) for name in ("old", "new")]
    done = mores("compare", *runs, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n"], found["left_out"], found["overall"][0]["difference"]) == (5, 0, 0)
    changed = {change["asked"][:20]: (change["first"], change["second"]) for change in found["changed"]}
    assert changed == {
        "What do guests usual": ("incorrect: B", "correct: A"),
        "Which plant colours ": ("correct: A", "incorrect: B"),
    }
    shown = mores("compare", *runs).stdout
    assert "Changed: 2 of 5; 1 better in A, 1 better in B" in shown
    assert "no significant difference in correct" in shown
    (home / "weddings.csv").write_text(FILES["weddings.csv"].replace("envelope", "box"))
    assert mores("bench", "weddings.csv", "--model", "fake:new.jsonl", "--out", "other").returncode == 0
    other = str(next(Path("other").rglob("run.json")).parent)
    done = mores("compare", runs[0], other)
    assert done.returncode == 2
    assert "models are comparable only on the same questions" in done.stderr


@pytest.mark.slow
def test_results_and_differences_by_any_column(mores: Run, home: Path) -> None:
    rows = [f"Question {n:02}?,red|blue,A,{'easy' if n % 2 else 'hard'},{'x' if n < 12 else 'y'}" for n in range(24)]
    (home / "q.csv").write_text("question,choices,answer,Difficulty,Writer\n" + "\n".join(rows) + "\n")
    right = {"first": range(24), "second": range(0, 24, 2)}  # the second knows the hard ones alone
    for name, known in right.items():
        rules = [{"contains": f"Question {n:02}", "answer": "A" if n in known else "B"} for n in range(24)]
        (home / f"{name}.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    asked = ("bench", "q.csv", "--model", "fake:second.jsonl", "--out", "second")
    assert "did you mean 'Difficulty'? there are language, region, topic, " in mores(*asked, "--by", "dificulty").stderr
    assert "by Difficulty" in mores(*asked, "--by", "difficulty").stdout
    assert mores("bench", "q.csv", "--model", "fake:first.jsonl", "--out", "first").returncode == 0
    runs = [next(Path(name).rglob("run.json")).parent for name in right]

    run = open_bench_run(runs[1])
    assert "Difficulty" in run.result.by
    assert [(group, figures["accuracy"].value) for group, figures in run.by("writer").items()] == [
        ("x", 0.5),
        ("y", 0.5),
    ]
    first = open_bench_run(runs[0])
    assert list(first.result.by) == []
    assert first.result_by(["Difficulty"]).by["Difficulty"]["hard"]["accuracy"].n == 12
    shown = mores("show", str(runs[0]), "--by", "Difficulty", "--figures", "figures")
    assert "by Difficulty" in shown.stdout
    assert (home / "figures" / "q-by-difficulty.pdf").is_file()
    assert (
        "Difficulty" in json.loads(mores("show", str(runs[0]), "--by", "Difficulty", "--json").stdout)["result"]["by"]
    )

    versus = json.loads(mores("compare", *map(str, runs), "--by", "Difficulty", "--json").stdout)
    found = versus["by"]["Difficulty"]
    assert {group: (test["n"], test["difference"]) for group, test in found.items()} == {
        "easy": (12, 1.0), "hard": (12, 0.0)
    }  # fmt: skip
    assert found["easy"]["p"] < found["easy"]["adjusted"] < 0.05
    assert found["easy"]["low"] > 0
    printed = mores("compare", *map(str, runs), "--by", "Difficulty", "--by", "Writer").stdout
    assert "correct by Difficulty" in printed
    assert "correct by Writer" in printed


def test_questions_without_a_value_in_a_column_are_the_last_group(mores: Run, home: Path) -> None:
    """In the terminal, the page, `show`, Python and `compare`; the benchmark's own groupings stay as they are."""
    some = [{"Writer": "Zoe"}] * 12 + [{"Writer": "none"}] * 10 + [{}] * 11
    rows = [
        {"question": f"Question {n:02}?", "choices": "red|blue", "answer": "A", "Topic": ("food", "")[n % 2], **more}
        for n, more in enumerate(some)
    ]
    (home / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (home / "all.jsonl").write_text(json.dumps({"contains": "Question", "answer": "A"}) + "\n")
    asked = ("bench", "q.jsonl", "--model", "fake:all.jsonl")
    printed = mores(*asked, "--by", "writer", "--out", "by").stdout
    assert [line.split()[0] for line in printed.split("by Writer")[1].splitlines()[1:4]] == ["Zoe", "none", "not"]
    assert "not given" in Path("by/bench.html").read_text("utf-8").split("By Writer")[1]
    assert mores(*asked, "--out", "plain").returncode == 0

    by, plain = (open_bench_run(next(Path(name).rglob("run.json")).parent) for name in ("by", "plain"))
    for groups in (by.result.by["Writer"], by.by("Writer"), plain.by("Writer")):
        assert [(group, figures["accuracy"].n) for group, figures in groups.items()] == [
            ("Zoe", 12), ("none", 10), ("", 11)
        ]  # fmt: skip
    assert list(plain.result.by["topic"]) == ["food"]
    assert {group: figures["accuracy"].n for group, figures in plain.by("topic").items()} == {"food": 17, "": 16}
    assert "not given" in mores("show", str(plain.path), "--by", "Writer").stdout

    runs = [str(run.path) for run in (by, plain)]
    found = json.loads(mores("compare", *runs, "--by", "Writer", "--json").stdout)["by"]["Writer"]
    assert [(group, test["n"]) for group, test in found.items()] == [("Zoe", 12), ("none", 10), ("", 11)]
    assert "not given" in mores("compare", *runs, "--by", "Writer").stdout
