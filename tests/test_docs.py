"""The docs say what is true: help texts are current, links lead somewhere, examples run."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mores import RECORDS
from mores import __all__ as public_names
from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.labels import read_topics
from mores.calling import FUNCTIONS
from mores.cli import mores
from mores.engine import AskSettings
from mores.errors import InputError
from mores.factory.recipe import list_recipes
from mores.io import file_name, read_samples
from mores.models.pull import default_path
from mores.run import open_run
from mores.settings import settings_of
from mores.types import Judgement

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent != DOCS / "commands")]


def test_the_help_texts_are_current() -> None:
    # In a process of its own: click keeps the help option of a command as its first caller asked for it.
    process = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_test_and_benchmark_that_the_docs_name_is_there() -> None:
    named = [
        (page, path)
        for page in PAGES
        for path in re.findall(r"\b(?:tests|benchmarks)/[\w./-]+\w", page.read_text("utf-8"))
    ]
    assert [f"{page.name}: {path}" for page, path in named if not (ROOT / path).exists()] == []


MODELS = {"openai:gpt-4.1-mini": "fake:first-word", "openai:gpt-4.1": "fake:clean", "embedded": "fake:first-word"}
"""What stands in for the models of the examples."""
BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""The model that an example tunes; a tiny one with random weights stands in for it."""


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples run: the files of `examples`, and the sample rows of all benchmarks."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for example in (ROOT / "examples").glob("*.jsonl"):
        shutil.copy(example, tmp_path)
    for entry in map(benchmark, BENCHMARKS):
        assert entry.folder
        shutil.copytree(entry.folder / "sample", tmp_path / "datasets" / entry.source, dirs_exist_ok=True)
    return tmp_path


WITH_PYTHON = [page for page in PAGES if "```python" in page.read_text("utf-8") and page.stem != "serve"]
"""The pages with examples; those of serve.md are served in tests/serve/test_mounted.py."""


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_python_examples_run(page: Path, working_folder: Path) -> None:
    """All examples of a page, one after the other: a later one may build on an earlier one."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    if any(BASE in block for block in blocks) and all(map(find_spec, ("torch", "transformers", "peft", "accelerate"))):
        from tests.training.tiny import make_base

        make_base(working_folder / "tiny")
    else:
        blocks = [block for block in blocks if BASE not in block]
    code = "\n".join(blocks).replace(BASE, "tiny").replace("limit=1000", "limit=4")
    for name, stand_in in MODELS.items():
        code = re.sub(rf'(["/:]){re.escape(name)}"', rf'\1{stand_in}"', code)
        code = code.replace(f'/{file_name(name)}"', f'/{file_name(stand_in)}"')
    code = code.replace('split="dev"', 'split="train"')  # the sample rows are too few for three splits
    tree = ast.parse(code, page.name)
    # What other tests have imported is there too; a new process has the public names and no more.
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert {node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id == "mores"} <= {
        *public_names
    }
    exec(compile(tree, page.name, "exec"), {"__name__": "__main__"})


HAS_EMBEDDED = pytest.mark.skipif(
    not default_path().exists(), reason="the embedded model is not here; `mores pull` gets it"
)
NEEDS_NETWORK = ("python3 -m venv", ". .venv/", "pip install", "mores pull", "make ")


def follow(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, stand_in: str = "") -> str:
    """Run every command of a text, in order, except those that install; returns what the last one prints."""
    monkeypatch.chdir(folder)
    shutil.copytree(ROOT / "examples", folder / "examples")
    output = ""
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
        files = re.findall(r"^cat >.*?^END$", block, re.DOTALL | re.MULTILINE)
        subprocess.run(["bash", "-c", "\n".join(files)], check=True)
        for line in re.sub(r"^cat >.*?^END$", "", block, flags=re.DOTALL | re.MULTILINE).split("\n"):
            if not line or line.startswith(NEEDS_NETWORK):
                continue
            if match := re.fullmatch(r"mkdir (\w+) && cd \1(?: +#.*)?", line):
                Path(match[1]).mkdir()
                monkeypatch.chdir(match[1])
                continue
            words = shlex.split(line.replace(".embedded.", f".{file_name(stand_in)}.") if stand_in else line)
            assert words[0] == "mores"
            model = ["--model", stand_in] if stand_in and words[1] == "score" else []
            done = CliRunner().invoke(mores, [*words[1:], *model])
            assert done.exit_code == 0, (line, done.output, done.exception)
            output = done.output
    return output


TUTORIAL = (DOCS / "tutorial.md").read_text("utf-8")
FIRST_SCREEN = (ROOT / "README.md").read_text("utf-8").split("\n## ")[1]


@pytest.mark.parametrize("stand_in", ["fake:first-word", pytest.param("", marks=[pytest.mark.slow, HAS_EMBEDDED])])
def test_the_first_screen_leads_to_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in: str) -> None:
    if stand_in:
        monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    output = follow(FIRST_SCREEN, tmp_path, monkeypatch, stand_in=stand_in)
    assert "text ← Answer, instruction ← Question" in output
    assert "chopsticks" in Path("page.html").read_text("utf-8")
    if not stand_in:
        table = CliRunner().invoke(mores, ["show", "answers.csv.embedded.score"]).output
        shown = "\n".join(map(str.rstrip, table.splitlines()))
        certainty = re.compile(r"[01]\.\d{3}")  # a search by meaning, where it is installed, shows other evidence too
        assert certainty.sub("p", shown) in certainty.sub("p", FIRST_SCREEN)


def test_the_tutorial_leads_to_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    output = follow(TUTORIAL, tmp_path, monkeypatch, stand_in="fake:first-word")
    assert "too few pairs to tell" in output
    assert "chopsticks" in Path("page.html").read_text("utf-8")


@pytest.mark.slow
@HAS_EMBEDDED
def test_the_tutorial_leads_to_a_page_with_the_embedded_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = follow(TUTORIAL, tmp_path, monkeypatch)
    assert "too few pairs to tell" in output
    run = Path("texts.jsonl.embedded.score")
    table = CliRunner().invoke(mores, ["show", str(run)]).output
    assert "\n".join(map(str.rstrip, table.splitlines())) in TUTORIAL
    judgements = open_run(run).records("judgements.jsonl", Judgement)
    assert {judgement.sample_id for judgement in judgements if judgement.report and judgement.report.errors} == {
        "fork", "january"
    }  # fmt: skip


def test_pictures_are_small() -> None:
    sizes = {picture.name: picture.stat().st_size for picture in DOCS.rglob("*.png")}
    assert max(sizes.values()) < 200_000, sizes
    assert sum(sizes.values()) < 2_500_000


def test_every_public_function_and_record_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    reference = (ROOT / "docs" / "api" / "functions.md").read_text("utf-8")
    others = {"open_run": "mores.run:open_run", "find_runs": "mores.run:find_runs"}
    others |= {"serve_app": "mores.serve.app:serve_app", "pull": "mores.models.pull:pull"}
    others |= {"view_app": "mores.view.app:view_app"}
    for name, place in (FUNCTIONS | others).items():
        assert f"`mores.{name}(" in page, name
        assert f"::: {place.replace(':', '.')}\n" in reference, name
    asking = {entry.name for entry in settings_of(AskSettings)}
    settings = (ROOT / "docs" / "api" / "settings.md").read_text("utf-8")
    assert all(f"## {name}\n" in settings for name in RECORDS if name.endswith("Settings"))
    for name in {*asking, *(name for name in RECORDS if not name.endswith("Settings"))} - {
        "MoresError",
        "Run",
        *others,
    }:
        assert f"`{name}`" in page, name


def test_a_training_on_several_gpus_is_started_as_the_docs_say() -> None:
    commands = re.findall(r"accelerate launch .*?mores train", (ROOT / "docs" / "train.md").read_text("utf-8"))
    help_text = CliRunner().invoke(mores, ["train", "--help"]).output
    started = re.search(r"accelerate launch (\S+) mores train", " ".join(help_text.split()))
    assert started
    assert commands
    assert all(f"{started[1]} mores train" in command for command in commands)


def test_every_recipe_is_named_where_one_is_chosen() -> None:
    help_text = CliRunner().invoke(mores, ["build", "recipe", "--help"]).output
    for name in list_recipes():
        assert f"`{name}`" in help_text
        assert f"mores build {name} " in (ROOT / "docs" / "build.md").read_text("utf-8")


def test_the_topics_file_of_the_docs_can_be_read(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "bench.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "topics.toml").write_text(example)
    assert list(read_topics(tmp_path / "topics.toml")) == ["Food", "Festivals"]


def test_ids_and_instructions_are_as_the_docs_say(tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "texts.txt").write_text("a\n")
    page = (ROOT / "docs" / "score.md").read_text("utf-8")
    for name in ("texts.jsonl", "texts.txt"):
        [sample] = read_samples(tmp_path / name)
        assert f"`{sample.id}`" in page
        assert f'"{sample.instruction}"' in page
        assert f'"sample_id": "{sample.id}"' in page


def test_every_benchmark_is_in_the_table() -> None:
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\)", (ROOT / "docs" / "bench.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(name for names, _ in rows for name in re.findall(r"`(.*?)`", names)) == sorted(BENCHMARKS)
    assert all((ROOT / "docs" / path).is_file() for _, path in rows)


def test_only_culturalbench_has_topics_of_its_own() -> None:
    assert {name for name in BENCHMARKS if benchmark(name).topics} == {"culturalbench-easy", "culturalbench-hard"}


def test_a_benchmark_without_its_file_is_not_sent_to_a_list_that_does_not_have_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mores bench info"):
        list(benchmark("culturall").read(tmp_path, lambda _: None))


def shown_commands() -> list[str]:
    """Every command line of the docs, joined where it is continued."""
    fence = re.compile(r"```(?:sh|bash|yaml)?\n(.*?)```", re.DOTALL)
    blocks = [block.replace("\\\n", "") for page in PAGES for block in fence.findall(page.read_text("utf-8"))]
    lines = [line.strip().lstrip("$- ").removeprefix("run: ") for block in blocks for line in block.splitlines()]
    inline = [span for page in PAGES for span in re.findall(r"`(mores [^`]*? --[^`]*)`", page.read_text("utf-8"))]
    lines += [" ".join(span.split()) for span in inline if "…" not in span]
    return sorted({line.partition("#")[0].strip() for line in lines if line.startswith("mores ")})


@pytest.mark.parametrize("line", shown_commands())
def test_commands_of_the_docs_have_the_options_that_they_are_given(line: str) -> None:
    check_options(line)


def check_options(line: str) -> None:
    """Whether a command line of `mores` names a command, and only options that it has."""
    words = shlex.split(line)[1:]
    command: click.Command = mores
    while isinstance(command, click.Group) and words:
        context = click.Context(command)
        options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
        while words and words[0].startswith("-"):
            option = options[words.pop(0)]
            if not (isinstance(option, click.Option) and option.is_flag):
                words.pop(0)
        if not words:
            assert command.invoke_without_command
            return
        name = words.pop(0)
        below = command.get_command(context, name)
        if below is None:  # the recipe of `mores build RECIPE`
            below = command.get_command(context, "recipe")
        assert below is not None, name
        command = below
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in words if re.match(r"-{1,2}[a-z]", word)} <= known


OTHERS = {"--cpu", "--log_samples", "--model-role"}
"""Options of accelerate, lm-evaluation-harness and Inspect AI that the docs name."""


def test_options_that_the_docs_name_alone_are_those_of_a_command() -> None:
    scripts = "".join(path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py"))
    known = OTHERS | set(re.findall(r'"(--[a-z-]+)"', scripts)) | set(all_options(mores)) | {"--help", "--version"}
    spans = [(page, span) for page in PAGES for span in re.findall(r"`(--[^`]+)`", page.read_text("utf-8"))]
    named = [(page, name) for page, span in spans for name in re.findall(r"(?<!\S)--[a-z_-]+", span)]
    assert [f"{page.relative_to(ROOT)}: {name}" for page, name in named if name not in known] == []


def all_options(command: click.Command) -> Iterator[str]:
    """The options of a command and of all below it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from all_options(below)
