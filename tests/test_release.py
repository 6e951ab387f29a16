"""What is released: a wheel and a source distribution with what belongs in them, which install and run.

`make release-check` runs all of it, on the files in dist/.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from packaging.licenses import canonicalize_license_expression
from packaging.requirements import Requirement

from mores import __version__
from mores.extras import EXTRAS
from mores.models.pull import FILES

ROOT = Path(__file__).parent.parent
DIST = os.environ.get("MORES_DIST")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HEAVY = {"dev", "hf", "train", "embed", "ray"}
"""Extras with torch or a cluster, and that of development: CI installs those that its tests use."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OTHER_HARNESSES = {"inspect_ai", "lm_eval", "evaluate", "datasets"}
"""They load modules of ours, in environments of their own."""
needs_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what belongs in a release is what git knows")


class Built:
    """The two files of a release, each built when it is first looked at."""

    def __init__(self, folder: Path, ready: bool) -> None:
        self.folder, self.ready = folder, ready

    @cached_property
    def wheel(self) -> Path:
        return self._file("wheel", f"mores_eval-{__version__}-py3-none-any.whl")

    @cached_property
    def sdist(self) -> Path:
        return self._file("sdist", f"mores_eval-{__version__}.tar.gz")

    def _file(self, kind: str, name: str) -> Path:
        if not self.ready:
            build = pytest.importorskip("hatchling.build", reason="hatchling, which builds a release, is not installed")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(ROOT)
                getattr(build, f"build_{kind}")(str(self.folder))
        return self.folder / name

    def in_wheel(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def in_sdist(self) -> set[str]:
        with tarfile.open(self.sdist) as archive:
            return {member.name.partition("/")[2] for member in archive}

    def metadata(self) -> Message:
        with zipfile.ZipFile(self.wheel) as archive:
            return message_from_string(archive.read(f"mores_eval-{__version__}.dist-info/METADATA").decode())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(Path(DIST or tmp_path_factory.mktemp("dist")), ready=bool(DIST))


def known_to_git(*paths: str) -> set[str]:
    """The files that git has or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return {path for path in listed if path and (ROOT / path).exists()}


@needs_git
@pytest.mark.slow
def test_the_same_files_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    """Elsewhere, at another time, by a person with other permissions: anybody can check what was published."""
    copy, dist = tmp_path / "copy", tmp_path / "dist"
    for path in known_to_git():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy / path)
        (copy / path).chmod(0o600 | ((ROOT / path).stat().st_mode & 0o100))
    hatchling = Path(sys.executable).parent / "hatchling"
    subprocess.run([hatchling, "build", "--directory", dist], cwd=copy, check=True, capture_output=True)
    for ours in (built.wheel, built.sdist):
        assert (dist / ours.name).read_bytes() == ours.read_bytes(), ours.name


@pytest.mark.slow
def test_the_container_gets_all_that_the_wheel_is_made_of(built: Built, tmp_path: Path) -> None:
    """What .dockerignore lets through is enough for the build in the Dockerfile."""
    names = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")]
    context, dist = tmp_path / "context", tmp_path / "dist"
    context.mkdir()
    for path in known_to_git(*names):
        (context / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, context / path)
    hatchling = Path(sys.executable).parent / "hatchling"
    subprocess.run(
        [hatchling, "build", "--target", "wheel", "--directory", dist], cwd=context, check=True, capture_output=True
    )
    assert Built(dist, ready=True).in_wheel() == built.in_wheel()


@needs_git
def test_the_wheel_is_the_package_and_nothing_else(built: Built) -> None:
    names = {name for name in built.in_wheel() if not name.startswith(f"mores_eval-{__version__}.dist-info/")}
    assert names == {path.removeprefix("src/") for path in known_to_git("src")}
    assert built.wheel.stat().st_size < 52e6  # of which the two LoRAs take 43


def belonging_to_an_sdist() -> set[str]:
    """Everything that git knows, but for what only the repository needs; nothing that git ignores."""
    return {path for path in known_to_git() if not path.startswith((".ci/", ".github/"))}


@needs_git
def test_the_sdist_builds_tests_and_documents_itself() -> None:
    """By what hatchling chooses, before it packs it."""
    builders = pytest.importorskip("hatchling.builders.sdist", reason="hatchling, which builds a release, is missing")
    chosen = builders.SdistBuilder(str(ROOT)).recurse_included_files()
    assert {file.relative_path for file in chosen} == belonging_to_an_sdist()


@needs_git
@pytest.mark.slow
def test_the_sdist_is_packed(built: Built) -> None:
    assert built.in_sdist() - {"PKG-INFO"} == belonging_to_an_sdist()
    assert built.sdist.stat().st_size < 62e6


def test_the_metadata_are_complete(built: Built) -> None:
    metadata = built.metadata()
    assert (metadata["Name"], metadata["Version"]) == ("mores-eval", __version__)
    assert set(metadata.get_all("Provides-Extra") or ()) == set(PROJECT["optional-dependencies"])
    needed = [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    assert {each.name for each in needed if "extra" not in str(each.marker)} == {
        Requirement(text).name for text in PROJECT["dependencies"]
    }
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).startswith("# Mores")
    with zipfile.ZipFile(built.wheel) as archive:
        assert (
            "mores = mores_start:main" in archive.read(f"mores_eval-{__version__}.dist-info/entry_points.txt").decode()
        )


def test_the_wheel_has_the_licence_of_everything_in_it(built: Built) -> None:
    metadata, names = built.metadata(), built.in_wheel()
    expression = metadata["License-Expression"]
    assert canonicalize_license_expression(expression) == expression
    named = metadata.get_all("License-File") or []
    assert {f"mores_eval-{__version__}.dist-info/licenses/{path}" for path in named} <= names
    texts = {path: (ROOT / path).read_text("utf-8") for path in named}
    marked = {licence for text in texts.values() for licence in re.findall(r"SPDX-License-Identifier: (\S+)", text)}
    assert marked | {"Apache-2.0"} == set(re.split(r" (?:AND|OR|WITH) ", expression))
    for binary in (name for name in names if name.endswith((".gguf", ".npz"))):
        assert Path(binary).name in texts[f"src/{Path(binary).parent}/LICENSE"], binary


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    assert citation["license"] in PROJECT["license"]


@pytest.mark.slow
def test_the_changelog_names_this_version() -> None:
    assert re.search(rf"^## {re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


# Installed


def interpreter(version: str) -> str | None:
    """A Python of this version: on PATH, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python"))]
    question = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-c", question], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return candidate
    return None


class Installed(NamedTuple):
    """A clean environment with the wheel, and an empty folder to work in."""

    bin: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        ours = ("PYTHON", "MORES", "VIRTUAL_ENV")
        cleared = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        environment = cleared | {"MORES_CACHE": str(self.folder / "cache"), "PATH": f"{self.bin}:/usr/bin:/bin"}
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=1800, check=False,
        )  # fmt: skip

    def works(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout


def install(python: str, folder: Path, wheel: Path, extras: str = "") -> Installed:
    """Make an environment with the wheel, with the versions of the lock."""
    subprocess.run([python, "-m", "venv", str(folder / "environment")], check=True)
    (folder / "work").mkdir()
    installed = Installed(folder / "environment" / "bin", folder / "work")
    pip = ("python", "-m", "pip", "--disable-pip-version-check")
    lock = str(ROOT / "requirements-extras.lock")
    installed.works(
        *pip, "install", "--quiet", "--constraint", lock, f"mores-eval{extras} @ {wheel.resolve().as_uri()}"
    )
    installed.works(*pip, "check")
    return installed


@pytest.fixture(params=PYTHONS)
def python(request: pytest.FixtureRequest) -> str:
    found = interpreter(request.param)
    return found or pytest.skip(f"no Python {request.param} here")


@pytest.mark.slow
def test_it_installs_alone_and_judges_a_text(built: Built, tmp_path: Path, python: str) -> None:
    installed = install(python, tmp_path, built.wheel)
    assert installed.works("mores", "--version").strip().endswith(__version__)
    (installed.folder / "texts.jsonl").write_text('{"text": "In Japan people eat sushi with a fork."}\n')
    score = ("score", "texts.jsonl", "--model", "fake:first-word", "--out", "judged", "--html", "page.html")
    installed.works("mores", *score)
    [judged] = (installed.folder / "judged" / "judgements.jsonl").read_text().splitlines()
    assert json.loads(judged)["report"]["errors"][0]["quote"] == "In"
    assert "sushi" in (installed.folder / "page.html").read_text("utf-8")
    without = installed.run("mores", "studio")
    assert without.returncode != 0
    assert f"pip install 'mores-eval[studio] @ {built.wheel.resolve().as_uri()}'" in without.stderr
    if not FILES["embedded"].path.exists():
        pytest.skip("all but the embedded model: it is not in the cache folder; mores pull")
    (installed.folder / "cache" / "models").mkdir(parents=True, exist_ok=True)
    for file in FILES["embedded"].path.parent.glob(f"{FILES['embedded'].name}.*"):
        (installed.folder / "cache" / "models" / file.name).symlink_to(file)
    facts = {"text": "What do people in Japan eat sushi with? chopsticks or their hands"}
    (installed.folder / "facts.jsonl").write_text(json.dumps(facts))
    installed.works("mores", "score", "texts.jsonl", "--evidence", "facts.jsonl", "--out", "embedded")
    [judged] = (installed.folder / "embedded" / "judgements.jsonl").read_text().splitlines()
    assert json.loads(judged)["failure"] is None
    assert json.loads(judged)["score"] is not None


IMPORT_ALL = """
import importlib, pkgutil, mores
missing = set()
for module in pkgutil.walk_packages(mores.__path__, "mores."):
    if not module.name.endswith("__main__") and "migrations" not in module.name:
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            missing.add(error.name.partition(".")[0])
print(*missing)
from mores.studio import app
app("studio.db", model="none")
"""


@pytest.mark.slow
def test_it_installs_with_extras_and_all_of_it_is_there(built: Built, tmp_path: Path, python: str) -> None:
    extras = set(PROJECT["optional-dependencies"]) - HEAVY
    installed = install(python, tmp_path, built.wheel, f"[{','.join(sorted(extras))}]")
    heavy = {module for extra in HEAVY - {"dev"} for module in EXTRAS[extra]}
    assert set(installed.works("python", "-c", IMPORT_ALL).split()) <= heavy | OTHER_HARNESSES
