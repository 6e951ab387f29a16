"""Entry points of installed packages: benchmarks, sources and kinds of models that users add."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from mores import registry
from mores.benchmark import BENCHMARKS, benchmark, names
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.factory import sources
from mores.models import Message, Request, open_model
from tests.cli.conftest import Run, command, home, mores
from tests.outside import FILES, GUIDE, write_folder

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
    for path in ("sayings.py", "echo_model.py"):
        (site.folder / path).write_text(FILES[path])
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
    with pytest.raises(ConfigError, match=r"did you mean 'echo:…'\? there are embedded, .*, echo:NAME"):
        open_model("eccho:parrot")


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


def test_help_scans_no_packages(home: Path) -> None:
    code = (
        "import sys, importlib.metadata as m; m.entry_points = lambda **_: sys.exit('scanned'); "
        f"sys.argv = ['mores', '--help']; {command()[-1]}"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=home, check=False)
    assert result.returncode == 0, result.stderr
    assert "score" in result.stdout
