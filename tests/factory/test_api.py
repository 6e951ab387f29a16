"""`mores.build`, as programs call it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import mores
from mores.errors import ConfigError
from mores.factory.api import headline
from mores.factory.built import Built
from mores.factory.folder import BuildRun, verify
from mores.factory.recipe import BuildRecipe
from mores.factory.shortcut import Shortcut
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.run import Status
from tests.factory.test_build import put, survey
from tests.factory.test_model_errors import answer


@pytest.fixture
def recipe(tmp_path: Path) -> BuildRecipe:
    return BuildRecipe(name="mine", sources=(put(tmp_path, survey(40), "survey"),), sampling="paper")


def test_a_dataset_is_a_run(tmp_path: Path, recipe: BuildRecipe) -> None:
    out = tmp_path / "data"
    run = mores.build(recipe, out)
    assert verify(out) == [], "run.json and the lock are no part of the dataset"
    assert isinstance(run, BuildRun)
    opened = mores.open_run(out)
    assert isinstance(opened, BuildRun)
    assert (opened.kind, opened.manifest.name, opened.manifest.status) == ("build", "mine", Status.COMPLETE)
    counts = {split: len(list(opened.golds(split))) for split in ("train", "dev", "test")}
    assert counts == opened.about["tables"]["split"]
    assert len(list(opened.facts())) == opened.about["facts"]
    assert opened.manifest.headline.startswith(f"{sum(counts.values())} samples; a classifier that sees the text alone")
    assert re.search(
        r"; warning: survey is above the bound of 0\.08: 0\.\d+ ± 0\.\d+ \([a-zB ]+\)$",
        opened.manifest.headline,
    ), "the paper's sampling"
    assert (out / "card.html").is_file()
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"}
    mores.build(recipe, out)
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"} == before


def test_the_worst_source_is_named_only_above_the_bound() -> None:
    def audit(value: float) -> Shortcut:
        return Shortcut(value=value, error=0.01, n=100)

    built = Built([], {}, {}, [], {}, [], {})
    built.audits = {
        "naive Bayes": {"a": audit(0.08), "b": audit(-0.2), "all": audit(0.01)},
        "boosted trees": {"a": audit(0.0), "b": audit(0.08), "all": audit(0.02)},
    }
    line = "0 samples; a classifier that sees the text alone has a scaled accuracy of 0.020 ± 0.010, where 0 is chance"
    assert headline(built) == line
    built.audits["boosted trees"]["b"] = audit(0.237)
    built.audits["naive Bayes"]["a"] = audit(0.1)
    assert headline(built) == f"{line}; warning: b is above the bound of 0.08: 0.237 ± 0.010 (boosted trees)"


@pytest.mark.slow
def test_other_settings_and_other_data_are_refused(tmp_path: Path, recipe: BuildRecipe) -> None:
    out = tmp_path / "data"
    mores.build(recipe, out)
    with pytest.raises(ConfigError, match=r"holds another run \(other recipe\); choose another folder"):
        mores.build(recipe, out, seed=1)
    put(tmp_path, survey(30), "survey")
    with pytest.raises(ConfigError, match=r"holds another run \(other data\)"):
        mores.build(recipe, out)
    assert verify(out) == []


def test_soft_errors_by_a_model_and_its_failures(tmp_path: Path) -> None:
    items = [item.model_copy(update={"wrong": ()}) for item in survey(20)]
    recipe = BuildRecipe(name="mine", sources=(put(tmp_path, items, "survey"),), sampling="paper")

    def say(request: Request) -> Completion:
        major = "should be major" in request.messages[0].content
        return Completion(answer() if major else "Sorry.")

    model = FakeModel("soft", say)
    with pytest.raises(ConfigError, match="mine makes them by rules"):
        mores.build(recipe, tmp_path / "none", model=model)
    run = mores.build(recipe, tmp_path / "data", model=model, soft="model", store=None)
    assert run.manifest.model == "fake:soft"
    assert set(run.manifest.failures) == {"parse"}
    makers = {gold.maker for split in ("train", "dev", "test") for gold in run.golds(split)}
    assert "model:fake:soft" in makers
    assert json.loads((tmp_path / "data" / "run.json").read_text())["settings"]["soft"] == "model"


@pytest.mark.slow
def test_sources_are_summed_once(tmp_path: Path, recipe: BuildRecipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of megabytes may lie in a folder of sources."""
    summed: list[Path] = []

    def revision_of(place: Path) -> str:
        summed.append(place)
        return "sha256:0"

    monkeypatch.setattr("mores.factory.sources.revision_of", revision_of)
    run = mores.build(recipe, tmp_path / "data")
    assert summed == [Path(source) for source in recipe.sources]
    assert run.about["sources"][0]["revision"] == "sha256:0"


def test_other_templates_are_another_dataset(tmp_path: Path, recipe: BuildRecipe) -> None:
    folder = tmp_path / "mine" / "base" / "en"
    folder.mkdir(parents=True)
    (folder / "freeform.output.txt").write_text("{answer}, I say.\n")
    mine = recipe.model_copy(update={"templates": str(tmp_path / "mine")})
    mores.build(mine, tmp_path / "data")
    (folder / "freeform.output.txt").write_text("{answer}, I think.\n")
    with pytest.raises(ConfigError, match=r"holds another run \(other data\)"):
        mores.build(mine, tmp_path / "data")
