"""What users add from outside: entry points of installed packages, objects, and what is said about unknown names."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import pytest

from mores import registry, score_file
from mores.benchmark import BENCHMARKS, benchmark, names
from mores.engine.loop import run
from mores.engine.progress import Silent
from mores.errors import ConfigError, InputError
from mores.factory import sources
from mores.longanswer.lid import checker
from mores.longanswer.records import LongAnswer
from mores.metaevaluation.scorers import scorer, scorers
from mores.models import Message, Request, open_model
from mores.run import open_run
from mores.search import Evidence, Found, Query, open_search, search_or_corpus
from mores.studio.campaigns import all_kinds, open_kind
from mores.studio.records import Person, Role
from mores.studio.store.database import open_database
from mores.studio.store.items import perform
from mores.studio.workflow import Create
from mores.types import Sample
from tests.cli.conftest import Run, command, home, mores
from tests.outside import FILES, GUIDE, write_folder
from tests.runs import write_manifest
from tests.studio.play import Play

__all__ = ["home", "mores"]

[PROJECT] = [tomllib.loads(part.partition("```")[0]) for part in GUIDE.read_text("utf-8").split("```toml\n")[1:]]
"""The pyproject.toml of the guide."""


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, points: dict[str, dict[str, str]], version: str = "0.1") -> None:
        """A package with these entry points, by group."""
        about = self.folder / f"{name}-{version}.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        groups = ConfigParser(delimiters="=")
        groups.read_dict(points)
        with (about / "entry_points.txt").open("w") as file:
            groups.write(file)
        registry.scan.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder of packages on the path of this process, with nothing in it."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield Site(folder)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    registry.scan.cache_clear()


@pytest.fixture
def guide(site: Site) -> Site:
    """The package of the guide."""
    write_folder(site.folder, "proverbs")
    for path, text in FILES.items():
        if "/" not in path and path.endswith(".py"):
            (site.folder / path).write_text(text)
    project = PROJECT["project"]
    site.install(project["name"], project["entry-points"], project["version"])
    return site


def test_a_benchmark_of_a_package_is_like_ours(guide: Site, mores: Run) -> None:
    assert names() == [*BENCHMARKS, "proverbs"]
    assert benchmark("proverbs").folder == guide.folder / "proverbs"
    assert "proverbs" in [row["name"] for row in json.loads(mores("bench", "list", "--json").stdout)]
    assert "did you mean 'proverbs'?" in mores("bench", "proverb").stderr
    assert mores("bench", "check", "proverbs").returncode == 0
    result = mores("bench", "proverbs", "--model", "echo:x", "--json")
    assert "no answer could be graded" in result.stderr  # an echo has no letter
    assert json.loads(result.stdout)[0]["model"] == "echo:x"


@pytest.mark.slow
@pytest.mark.usefixtures("guide")
def test_a_source_of_a_package_is_like_ours(mores: Run, home: Path) -> None:
    data = home / "sets" / "sayings"
    data.mkdir(parents=True)
    (data / "proverbs.csv").write_text(FILES["proverbs/sample/proverbs.csv"])
    rows = {row["name"]: row for row in json.loads(mores("sources", "--data", "sets", "--json").stdout)}
    assert (rows["sayings"]["items"], rows["sayings"]["bad"], rows["sayings"]["regions"]) == (5, 0, 5)
    with pytest.raises(ConfigError, match="did you mean 'sayings'"):
        sources.source("saying")
    (home / "recipe.yaml").write_text("name: mine\nsources: [sayings]\n")
    result = mores("build", "recipe.yaml", "--data", "sets", "--out", "made")
    assert result.returncode == 0, result.stderr


@pytest.mark.usefixtures("guide")
def test_a_kind_of_model_of_a_package_is_like_ours() -> None:
    model = open_model("echo:parrot")
    assert model.name == "echo:parrot"
    assert run(model.complete(Request((Message("user", "Hello\nthere"),)))).text == "there"
    with pytest.raises(
        ConfigError, match=r"unknown model .*; did you mean 'echo:parrot'\? there are embedded, .*, echo:NAME"
    ):
        open_model("eccho:parrot")


@pytest.mark.usefixtures("guide")
def test_a_search_of_a_package_is_like_ours() -> None:
    search = open_search("sentences")
    [found] = run(search.find([Query("sushi")], 3))
    assert [piece.source for piece in found.evidence] == ["sentences"]
    assert search_or_corpus("sentences") == "sentences"
    with pytest.raises(ConfigError, match=r"unknown search 'sentence'; did you mean 'sentences'\? .*, sentences:NAME"):
        open_search("sentence")


@pytest.mark.usefixtures("guide")
def test_a_metric_of_a_package_is_like_ours(mores: Run, home: Path) -> None:
    rows = "".join(f"{n},With a {'fork' if n % 2 else 'spoon'}.,{n % 2 == 0}\n" for n in range(4))
    (home / "pairs.csv").write_text("instruction,text,correct\n" + rows)
    result = mores("meta", "--data", "pairs.csv", "--metric", "forks", "--json")
    assert result.returncode == 0, result.stderr
    [evaluation] = [entry for entry in json.loads(result.stdout)["evaluations"] if entry["metric"] == "forks"]
    assert evaluation["scores"]["scaled_accuracy"]["value"] == 1
    assert evaluation["signature"]["metric"] == "forks.1"
    assert "did you mean 'forks'?" in mores("meta", "--data", "pairs.csv", "--metric", "fork").stderr


@pytest.mark.usefixtures("guide")
def test_a_language_check_of_a_package_is_like_ours() -> None:
    answers = [LongAnswer(id="1", question="?", answer="Ναι", language="en")]
    assert checker("script").identity == "script.1"
    assert [checked.correct for checked in checker("script").check(answers)] == [False]
    with pytest.raises(ConfigError, match="unknown language check 'scripts'; did you mean 'script'"):
        checker("scripts")


@pytest.mark.usefixtures("guide")
def test_a_kind_of_run_of_a_package_is_like_ours(mores: Run, home: Path) -> None:
    length_run = import_module("length_run")
    length_run.measure(["one", "three"], home / "lengths")
    opened = open_run(home / "lengths")
    assert isinstance(opened, length_run.LengthRun)
    assert opened.result.mean == 4
    assert "4.0 characters" in opened._repr_html_()
    assert "4.0 characters" in mores("show", "lengths").stdout
    assert "lengths" in mores("runs", ".").stdout
    write_manifest(home / "other", kind="length")
    with pytest.raises(InputError, match="unknown kind of run 'length'; did you mean 'lengths'"):
        open_run(home / "other")


@pytest.mark.usefixtures("guide")
def test_a_kind_of_campaign_of_a_package_is_like_ours(tmp_path: Path) -> None:
    assert "truth" in [kind.name for kind in all_kinds()]
    database = open_database(tmp_path / "studio.db")
    play = Play(database, "truth", people=1)
    boss = Person(id=play.organiser_id, roles=frozenset({Role.ORGANISER}))
    perform(database, play.campaign, boss, Create("0" * 12, {"statement": "Sushi is eaten by hand."}, stage="judge"))
    assert "Sushi is eaten by hand." in play.organiser().open("/items").text
    database.close()
    with pytest.raises(ConfigError, match="unknown kind of campaign 'truths'; did you mean 'truth'"):
        open_kind("truths")


class Finding:
    """A search that has nothing but `find`."""

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        return [Found(evidence=(Evidence(text=f"About {query.text}"),)[:k]) for query in queries]


class Notes(Silent):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_an_object_without_a_name_or_identity_has_those_of_its_class(home: Path) -> None:
    (home / "texts.jsonl").write_text('{"text": "Sushi is eaten with a fork."}\n')
    notes = Notes()
    scored = score_file("texts.jsonl", "fake:clean", evidence=Finding(), progress=notes, store=None)  # type: ignore[arg-type]
    assert scored.manifest.signature["evidence"].startswith("tests.test_registry.Finding.k3")
    assert scored.manifest.settings["evidence"] == "Finding, at most 3 passages"
    assert any("Finding has no identity" in note for note in notes.notes)
    [judgement] = scored.judgements()
    assert [piece.text for piece in judgement.evidence] == ["About Sushi is eaten with a fork."]


@pytest.mark.parametrize("given", [3, Finding, object()])
def test_what_is_not_of_the_protocol_is_refused(given: object) -> None:
    for opened in (open_search, open_model, checker, scorer):
        if not (opened is open_search and given is Finding):
            with pytest.raises(
                ConfigError, match=r"has no method '\w+' to call; give an object as docs/extending.md shows"
            ):
                opened(given)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the class Finding has no method"):
        open_search(Finding)  # type: ignore[arg-type]


def test_two_metrics_with_the_same_name_are_refused() -> None:
    class Zero:
        name = "zero"

        def scores(self, samples: Sequence[Sample]) -> list[float]:
            return [0.0 for _ in samples]

    zero = Zero()
    assert [metric.name for metric in scorers([zero, zero, "always", "always"])] == ["zero", "always"]
    with pytest.raises(ConfigError, match="two metrics have the name 'zero'"):
        scorers([zero, Zero()])


@pytest.mark.parametrize(
    ("group", "name", "arguments"),
    [
        ("mores.benchmarks", "normad", ("bench", "normad")),
        ("mores.sources", "blend", ("sources",)),
        ("mores.models", "fake", ("bench", "msqa", "--model", "fake:", "--judge", "fake:")),
    ],
)
def test_a_name_of_ours_is_never_taken(
    site: Site, mores: Run, group: str, name: str, arguments: tuple[str, ...]
) -> None:
    site.install("rival", {group: {name: "nothing:THERE"}})
    words = f"{name}: both Mores and the package rival 0.1 have a {group} entry of this name; uninstall one"
    assert words in mores(*arguments).stderr


def test_two_packages_with_the_same_name_are_both_named(guide: Site) -> None:
    guide.install("rival", {"mores.benchmarks": {"proverbs": "proverbs:PROVERBS"}})
    with pytest.raises(ConfigError, match=r"both the package mores-proverbs 0\.1 and the package rival 0\.1"):
        benchmark("proverbs")


BROKEN = {
    "absent": "no_such_module:X",
    "attribute": "plain:MISSING",
    "kind": "plain:NUMBER",
    "crash": "crashing:X",
    "renamed": "proverbs:PROVERBS",
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent", "No module named 'no_such_module'; pip install no_such_module; correct or uninstall it"),
        ("attribute", "AttributeError: module 'plain' has no attribute 'MISSING'"),
        (
            "kind",
            "plain:NUMBER of the package broken 0.1 is of type int; expected a mores.benchmark.benchmark.Benchmark",
        ),
        ("crash", "crashing.py:2: ZeroDivisionError: division by zero; correct or uninstall it"),
        ("renamed", "has the name 'proverbs'; give the entry point the same name"),
    ],
)
def test_a_broken_package_is_reported_where_it_is_named_or_listed(
    guide: Site, mores: Run, name: str, words: str
) -> None:
    guide.install("broken", {"mores.benchmarks": BROKEN, "mores.sources": {name: BROKEN[name]}})
    (guide.folder / "plain.py").write_text("NUMBER = 1\n")
    (guide.folder / "crashing.py").write_text("\n1 / 0\n")
    result = mores("bench", name)
    assert result.returncode == 2
    assert words in result.stderr
    listed = mores("bench", "list")
    assert listed.returncode == 0
    assert words in listed.stderr
    assert "proverbs" in listed.stdout
    assert f"note: {name}: " in mores("sources").stderr
    others = mores("bench", "./site/proverbs", "--model", "fake:", "--dry-run")
    assert (others.returncode, others.stderr) == (0, "note: fake: is not a model; its verdicts mean nothing\n")


@pytest.mark.slow
def test_help_scans_no_packages(home: Path) -> None:
    code = (
        "import sys, importlib.metadata as m; m.entry_points = lambda **_: sys.exit('scanned'); "
        f"sys.argv = ['mores', '--help']; {command()[-1]}"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=home, check=False)
    assert result.returncode == 0, result.stderr
    assert "score" in result.stdout
