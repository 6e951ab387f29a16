"""What earlier versions of Mores wrote is still read, and shows the same; what their docs import still works.

tests/fixtures/make.py makes the fixtures, with the version that they are of. Nothing here names a module that is not
documented: runs are opened by what `run.json` says, and everything else goes through the command or the public API.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from configparser import ConfigParser
from html import unescape
from pathlib import Path
from typing import Any, Self

import pyarrow.parquet as parquet
import pytest
from starlette.testclient import TestClient

import mores
from tests.cli.conftest import Done, run_in_process
from tests.fixtures import PLACE, SETTINGS

FIXTURES = Path(__file__).parent / "fixtures"
VERSIONS = sorted(path for path in FIXTURES.glob("v*") if path.is_dir())
EXPECTED = ".expected.json"
RUNS = [path for version in VERSIONS for path in sorted((version / "home").rglob(f"*{EXPECTED}"))]
PAGES = [path for version in VERSIONS for path in sorted((version / "examples").glob("*.py"))]
IMPORTS = sorted({line for path in VERSIONS for line in (path / "documented_imports.txt").read_text().splitlines()})
KINDS = {
    "audit",
    "bench",
    "build",
    "collect",
    "diagnose",
    "judge-check",
    "juice",
    "longform",
    "meta",
    "people",
    "rate",
    "score",
    "topics",
    "train",
}
deprecated = pytest.mark.filterwarnings("default::DeprecationWarning")
"""Old names may warn, as long as they work."""


def name_of(path: Path) -> str:
    """The version and the place of a fixture."""
    return str(path.relative_to(FIXTURES)).replace("/home/runs/", ":").removesuffix(EXPECTED).removesuffix(".py")


def read(path: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return expected


def version_of(path: Path) -> Path:
    return next(version for version in VERSIONS if path.is_relative_to(version))


class Home:
    """A copy of the folder in which the commands of a version ran, with its stores."""

    def __init__(self, version: Path, folder: Path) -> None:
        self.version, self.folder, self.cache = version, folder / "home", folder / "cache"
        shutil.copytree(version / "home", self.folder)
        for manifest in self.folder.rglob("run.json"):
            manifest.write_text(manifest.read_text("utf-8").replace(PLACE, str(self.folder)), "utf-8")
        self.cache.mkdir()
        for packed in (version / "stores").iterdir():
            (self.cache / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))

    def call(self, *arguments: str) -> Done:
        return run_in_process(self.folder, arguments, env=SETTINGS | {"MORES_CACHE": str(self.cache)})

    def shown(self, *arguments: str) -> str:
        """What a command prints, with the folder as fixtures write it."""
        done = self.call("show", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.replace(str(self.folder), PLACE)

    def here(self, expected: Path) -> Path:
        """The run that something is expected of, from the folder in which the commands ran."""
        return Path(str(expected.relative_to(self.version / "home")).removesuffix(EXPECTED))


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Home]:
    """For tests that only read."""
    return {version: Home(version, tmp_path_factory.mktemp(version.name)) for version in VERSIONS}


INTENDED = {
    "from mores.bench import": "from mores.benchmark import",
    "log odds of a higher rating, with 95% intervals": "log odds of a higher rating",
    "measured items are challenging.": "measured items are challenging; 1 more could not be measured.",
    "None of its 0 tested groups by language differs significantly from the overall result. "
    "2 groups have fewer than 5 questions and were not tested.": (
        "No group by language has the 5 questions that a test needs."
    ),
    "| `tier` | Easy: solved": "| `tier` | what the inspector called it, if anything. Otherwise Easy: solved",
}
"""What is written differently since 0.2.0, as the changelog says."""


NO_POWER = re.compile(r"(/result)?/regressions/.*/differences/\d+/(power|more|detectable): .* is now missing")
"""Power is not worked out from an estimate any more."""


def intended(text: str) -> str:
    """What 0.2.0 wrote, as it is written now."""
    for before, now in INTENDED.items():
        text = text.replace(before, now)
    return text


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where something that was there is gone or has another value; more may be there now."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [line for key in old for line in differences(old[key], new.get(key, "missing"), f"{place}/{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for number, pair in pairs for line in differences(*pair, f"{place}/{number}")]
    old = intended(old) if isinstance(old, str) else old
    numbers = isinstance(old, float) and isinstance(new, int | float)
    same = math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12) if numbers else old == new
    return [] if same else [f"{place}: {str(old)[:200]} is now {str(new)[:200]}"]


# ---- runs ------------------------------------------------------------------------------------------------------


def test_there_is_a_run_of_every_kind() -> None:
    assert {(version_of(path), read(path)["kind"]) for path in RUNS} >= {(v, kind) for v in VERSIONS for kind in KINDS}


@pytest.mark.parametrize("path", RUNS, ids=name_of)
def test_a_run_is_opened(path: Path, homes: dict[Path, Home]) -> None:
    home, expected = homes[version_of(path)], read(path)
    run = mores.open_run(home.folder / home.here(path))
    assert (run.kind, type(run).__name__) == (expected["kind"], expected["class"])
    assert (run.manifest.status, str(run.signature)) == (expected["status"], expected["signature"])
    assert (run.manifest.headline, run.manifest.failures) == (expected["headline"], expected["failures"])


@pytest.mark.parametrize("path", RUNS, ids=name_of)
def test_a_run_shows_the_same_figures(path: Path, homes: dict[Path, Home], tmp_path: Path) -> None:
    home = homes[version_of(path)]
    shown = home.shown(str(home.here(path)), "--json", "--html", str(tmp_path / "page.html"))
    changed = differences(read(path)["show"], json.loads(shown))
    assert [line for line in changed if not NO_POWER.match(line)] == []
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize("path", RUNS, ids=name_of)
def test_a_run_prints_the_same_tables(path: Path, homes: dict[Path, Home]) -> None:
    home = homes[version_of(path)]
    before = Path(str(path).removesuffix(EXPECTED) + ".show.txt").read_text("utf-8")
    before = re.sub(r"How many more ratings a difference needs\n.*?\n\n", "", before, flags=re.DOTALL)
    assert home.shown(str(home.here(path))) == intended(before)


@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_the_runs_are_listed(version: Path, homes: dict[Path, Home]) -> None:
    listed = homes[version].call("runs", "runs", "--json")
    assert listed.returncode == 0, listed.stderr
    rows = {row["folder"]: row["headline"] for row in json.loads(listed.stdout)}
    paths = [path for path in RUNS if version_of(path) == version]
    assert rows == {str(homes[version].here(path)): read(path)["headline"] for path in paths}


# ---- what was paid for -----------------------------------------------------------------------------------------

AGAIN = [path for path in RUNS if read(path)["command"] and read(path)["kind"] != "train"]
PLACED = {"score", "grounded", "audit", "meta", "diagnose"}
"""Runs whose judge has been told the region and the language of each text since, or MSQA's definitions of error types,
so that it is asked again."""
INTENDED_PROMPTS = {"guided.8b7a9958": "guided.51a0bf5e", "guided.96bc09f1": "guided.ddaa0d60"}
"""The prompts of their signatures before and since, without evidence and with it."""


@deprecated
@pytest.mark.parametrize("path", AGAIN, ids=name_of)
def test_the_same_command_asks_nothing_and_writes_the_same(path: Path, tmp_path: Path) -> None:
    """All models have forgotten their answers, and nobody answers the searches: what is known is in the stores."""
    home, command = Home(version_of(path), tmp_path), read(path)["command"]
    is_asked = home.here(path).name in PLACED
    for script in [] if is_asked else home.folder.glob("*.jsonl"):
        if '{"contains": ' in script.read_text("utf-8")[:20]:
            script.write_text("")
    out = Path(command[command.index("--out") + 1])
    shutil.rmtree(home.folder / out)
    at_once = ("--outage", "0", "--attempts", "1") if "serper" in command else ()  # do not wait for nobody
    as_then = ("--as", "calmqa") if command[0] == "rate" else ()  # what 0.2.0 did, and the default is another analysis
    done = home.call(*command, *at_once, *as_then)
    assert done.returncode == 0, done.stderr
    before = home.version / "home" / out
    files = [file.relative_to(before) for file in sorted(before.rglob("*")) if file.is_file()]
    # Tables of power are gone, and those of differences have adjusted intervals: their figures are in rate.json.
    gone = re.compile(rf".*({re.escape(EXPECTED)}|\.show\.txt)|power\.(csv|tex)|differences-.*")
    kept = [file for file in files if not gone.fullmatch(file.name) and not file.name.startswith(".")]
    assert kept
    changed = {str(file): compare(before / file, home.folder / out / file, home.version, home.folder) for file in kept}
    prose = re.compile(r"/changes/\d+: |/sources/\d+/title: ")  # sentences of recipe.json for people, as on the card
    missing = re.compile(r"/headline: .* unscored is now .* whatever the unscored are")  # 0.2.0 did not say it there
    detector = re.compile(  # a new model of languages: another signature, and a certainty that is as high
        r"(/\d+)?/signature/lid: mores\.\w+ is now mores\.|(/\d+)?(/language)?/certainty: (0\.9|1)\S* is now (0\.9|1)"
    )
    adjusted = re.compile(r"/regressions/.*/differences/\d+/(low|high): ")
    planned = re.compile(r".*too few pairs to tell: .* is now .*too few pairs to tell: ")  # not by the difference seen
    worth = re.compile(r"/judges/\d+/(difference|worth/people)/(low|high): ")  # wider where few answers are rated
    gain = re.compile(r"/results/\d+/(result/.*gain at half coverage/(low|high)|paragraph): ")  # narrower, and in words
    known = [prose, missing, detector, planned, worth, gain, NO_POWER, *([adjusted] if command[0] == "rate" else [])]
    if is_asked:
        prompts = "|".join(f"{re.escape(old)} is now {re.escape(new)}" for old, new in INTENDED_PROMPTS.items())
        known.append(re.compile(rf".*/prompt: ({prompts})$|/signature/judging: \w+ is now \w+$|.*/signature/types: "))
    changed = {
        file: [line for line in lines if not any(each.match(line) for each in known)] for file, lines in changed.items()
    }
    assert {file: lines for file, lines in changed.items() if lines} == {}


def compare(old: Path, new: Path, version: Path, folder: Path) -> list[str]:
    """What differs between two files, other than the version of Mores and the time."""
    if not new.exists():
        return ["missing"]
    if old.name == "card.md":  # its prose is plainer; the figures of a card are in recipe.json
        return []
    if old.suffix == ".parquet":
        return differences(*(parquet.read_table(path).to_pylist() for path in (old, new)))
    number = version.name.removeprefix("v").replace("_", ".")
    texts = [path.read_text("utf-8").replace(str(folder), PLACE) for path in (old, new)]
    texts[1] = re.sub(rf'((?:"mores": ?"|mores:|Mores )){re.escape(mores.__version__)}\b', rf"\g<1>{number}", texts[1])
    if old.name == "SHA256SUMS":  # of files that name the version: they are compared themselves, or are pages
        texts = [re.sub(r"\w+ +(card\.html|card\.md|recipe\.json)\n", "", text) for text in texts]
    if old.suffix == ".jsonl":
        before, after = ([json.loads(line) for line in text.splitlines()] for text in texts)
        return differences(before, after)
    if old.suffix == ".json":
        written, rewritten = map(json.loads, texts)
        if old.name == "run.json":
            rewritten |= {name: written[name] for name in ("started", "ended")}
            if "judging" in written["signature"] and mores.__version__ != number:  # a hash of the version, among others
                rewritten["signature"]["judging"] = written["signature"]["judging"]
        return differences(written, rewritten)
    before, after = (lines_of(old, text) for text in texts)
    return differences(before, after)


def lines_of(file: Path, text: str) -> list[str]:
    """The lines of a text, less what tables say more since: what differs, and of LaTeX the float around the rows."""
    lines = text.splitlines()
    if file.suffix == ".tex":
        rows = re.findall(r"^(?!\\multicolumn)(.*) \\\\$", text, re.MULTILINE)[1:]
        lines = [row.replace(r"\textless{}", "<").replace(r"\textbar{}", "|").replace("$^{2}$", "²") for row in rows]
    return [re.sub(r" \([^()]*\)(?=,| &)", "", line) if file.stem == "power" else line for line in lines]


class Counting:
    """A model that must not be asked."""

    constrained, style, warning, concurrency, timeout = False, None, None, 8, 60.0

    def __init__(self, name: str) -> None:
        self.name = self.identity = name
        self.calls = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def complete(self, request: Any) -> Any:
        self.calls += 1
        raise AssertionError(request)


@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_the_store_answers_with_log_probabilities(version: Path, tmp_path: Path) -> None:
    home, model = Home(version, tmp_path), Counting("fake:choosy")
    texts = [json.loads(line) for line in (home.folder / "texts.jsonl").read_text("utf-8").splitlines()]
    for text in texts:  # an untuned judge is told these since
        text.pop("language", None), text.pop("region", None)
    *judged, refused = mores.score(texts, model, store=home.cache / "responses.db")
    assert model.calls == 0
    assert [judgement.score for judgement in judged] == pytest.approx([math.exp(-0.2)] * 4)
    assert refused.failure is not None
    assert refused.failure.reason == "too long for this model"


@deprecated
@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_the_store_has_the_likeliest_tokens(version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, model = Home(version, tmp_path), Counting("fake:likely")
    monkeypatch.chdir(home.folder)
    run = mores.bench("./proverbs", model, by_logprob=True, out="again", store=home.cache / "responses.db")
    assert model.calls == 0
    [path] = [path for path in RUNS if version_of(path) == version and "likely" in path.parts]
    assert run.manifest.headline == read(path)["headline"]


# ---- the studio ------------------------------------------------------------------------------------------------


TOLD = {"README.md", "METHOD.md"}
"""What an export says in words, which is told from the events since; `tests/studio/test_provenance.py` reads it."""
FIGURES = {"Data card", "Items", "Agreement", "Models", "Instructions", "Settings"}


def sections(readme: str) -> dict[str, list[str]]:
    """The lines of a card's sections that are figures, by their titles."""
    parts = [part.partition("\n") for part in readme.split("\n## ")]
    lines = {title: text.splitlines() for title, _, text in parts if title in FIGURES}
    return {title: [line for line in text if not line.startswith("| Kind |")] for title, text in lines.items()}


@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_the_studio_exports_the_same(version: Path, tmp_path: Path) -> None:
    home = Home(version, tmp_path)
    studio = ("studio", "--database", str(home.cache / "studio.db"))
    assert home.call(*studio, "rebuild").returncode == 0
    exports = sorted(path for path in (version / "studio").glob("*/*"))
    assert len({path.parent for path in exports}) == 6
    for before in exports:
        out = tmp_path / "exports" / before.parent.name / before.name
        done = home.call(*studio, "export", before.parent.name, str(out), "--format", before.name)
        assert done.returncode == 0, done.stderr
        files = [file.relative_to(before) for file in before.rglob("*") if file.is_file() and file.name not in TOLD]
        changed = {str(file): compare(before / file, out / file, version, home.folder) for file in files}
        assert (out / "METHOD.md").exists()
        old, new = (sections((folder / "README.md").read_text("utf-8")) for folder in (before, out))
        assert {title: gone for title, lines in old.items() if (gone := set(lines) - set(new[title]))} == {}, out
        assert {file: lines for file, lines in changed.items() if lines} == {}, out


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_every_page_of_the_studio_opens(version: Path, tmp_path: Path) -> None:
    """All that the organiser can reach by links, from the first page; of items and people, two of each campaign."""
    home = Home(version, tmp_path)
    database = str(home.cache / "studio.db")
    link = home.call("studio", "--database", database, "link").stdout.strip()
    with TestClient(mores.studio.app(database, model="none"), base_url="http://studio.test") as browser:
        assert browser.get("/health").text == "ok"
        token = re.search(r'name="csrf" value="([^"]*)"', browser.get(link).text)
        assert browser.post(link, data={"csrf": token[1]} if token else {}).status_code == 200
        waiting, seen, shapes = ["/"], {"/"}, Counter[str]()
        while waiting:
            path = waiting.pop()
            answer = browser.get(path)
            assert answer.status_code == 200, path
            if "text/html" not in answer.headers["content-type"]:
                continue
            links = {unescape(found).partition("#")[0] for found in re.findall(r'<a [^>]*href="(/[^"]*)"', answer.text)}
            for link in sorted(links - seen):
                shape = re.sub(r"=[^&]*|\b[0-9a-f]{12,16}\b", "*", link)
                shapes[shape] += 1
                waiting += [link] if shapes[shape] <= 2 else []
            seen |= links
    campaigns = {path.name for path in (version / "studio").iterdir()}
    assert {match[1] for path in seen if (match := re.match(r"/c/([\w-]+)", path))} == campaigns


# ---- Python ----------------------------------------------------------------------------------------------------


@deprecated
@pytest.mark.parametrize("line", IMPORTS)
def test_what_the_docs_imported_can_be_imported(line: str) -> None:
    statement, _, needed = line.partition("  # needs ")
    if needed:
        pytest.importorskip(needed)
    exec(statement, {})


@pytest.mark.often(
    "v0_2_0/examples/ci",
    "v0_2_0/examples/harness",
    "v0_2_0/examples/readme",
    "v0_2_0/examples/score",
    "v0_2_0/examples/serve",
    "v0_2_0/examples/studio",
)
@deprecated
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_what_the_docs_showed_still_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mores.benchmark import BENCHMARKS, benchmark

    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for example in (FIXTURES.parents[1] / "examples").glob("*.jsonl"):
        shutil.copy(example, tmp_path)
    for entry in map(benchmark, BENCHMARKS):
        assert entry.folder
        shutil.copytree(entry.folder / "sample", tmp_path / "datasets" / entry.source, dirs_exist_ok=True)
    runpy.run_path(str(path), run_name="__main__")


@deprecated
@pytest.mark.parametrize("name", ["proverbs", "festivals"])
@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_a_benchmark_of_a_user_passes_its_checks(version: Path, name: str, tmp_path: Path) -> None:
    shutil.copytree(version / "examples" / "guide" / name, tmp_path / name)
    done = run_in_process(tmp_path, ("bench", "check", f"./{name}"), env={"MORES_CACHE": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(\d+) of \1 checks are ok", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_a_package_of_a_user_adds_a_benchmark_a_source_and_a_kind_of_model(version: Path, tmp_path: Path) -> None:
    """In a new process, which looks for installed packages once."""
    site = tmp_path / "site"
    shutil.copytree(version / "examples" / "guide", site)
    project = tomllib.loads((site / "pyproject.toml").read_text("utf-8"))["project"]
    about = site / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = ConfigParser(delimiters="=")
    points.read_dict(project["entry-points"])
    with about.joinpath("entry_points.txt").open("w") as file:
        points.write(file)
    shutil.copytree(site / "proverbs" / "sample", tmp_path / "sets" / "sayings")
    (tmp_path / "recipe.yaml").write_text("name: mine\nsources: [sayings]\n")
    paths = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": paths, "MORES_CACHE": str(tmp_path / "cache")}

    def call(*arguments: str) -> str:
        command = [sys.executable, "-m", "mores", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout + done.stderr

    asked = call("bench", "proverbs", "--model", "echo:parrot")
    assert "echo:parrot" in asked
    assert "no answer could be graded" in asked  # an echo has no letter
    call("build", "recipe.yaml", "--data", "sets", "--out", "made")
    built = mores.open_run(tmp_path / "made")
    assert (built.kind, built.manifest.status) == ("build", "complete")
