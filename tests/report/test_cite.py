"""What a run must cite."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

import mores as library
from mores.benchmark import BENCHMARKS, benchmark
from mores.factory.sources import SOURCES
from mores.io.values import read_packaged_toml
from mores.report.cite import DONE, METHODS, SIGNS, Reference, cite_runs
from mores.run import open_run
from mores.run.folder import KINDS
from mores.run.manifest import MANIFEST, Manifest
from mores.types import Signature
from tests.cli.conftest import Run, home, mores

__all__ = ["home", "mores"]

ROOT = Path(__file__).parents[2]
PAPERS = read_packaged_toml("mores.report", "papers.toml")


def test_every_benchmark_source_and_method_has_its_paper() -> None:
    used = {benchmark(name).source for name in BENCHMARKS} | set(SOURCES) | set(METHODS.values())
    assert used <= PAPERS.keys()
    assert PAPERS.keys() == used | SIGNS.keys() | {"mores", "veriscore"}
    assert DONE.keys() == KINDS.keys()


def test_papers_are_those_that_the_readmes_name() -> None:
    """The number at arXiv, the first author and the year, as the README of the benchmark has them."""
    for name in BENCHMARKS:
        chosen = benchmark(name)
        assert chosen.folder
        text = " ".join((chosen.folder / "README.md").read_text("utf-8").split())
        paper = Reference(key=name, **PAPERS[chosen.source])
        assert paper.short.replace(" et al.,", " et al.") in text, name
        if arxiv := re.search(r"arXiv:([\d.]+\d)", text):
            assert paper.arxiv == arxiv[1]


def test_the_software_is_cited_as_its_own_file_says() -> None:
    declared = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (declared["title"], declared["date-released"].year) == (PAPERS["mores"]["title"], PAPERS["mores"]["year"])
    assert f"{{{declared['authors'][0]['name']}}}" == PAPERS["mores"]["author"]
    [excam] = declared["references"]
    names = [f"{author['family-names']}, {author['given-names']}" for author in excam["authors"]]
    assert (excam["title"], " and ".join(names)) == (PAPERS["excam"]["title"], PAPERS["excam"]["author"])


def cited(folder: Path, kind: str, settings: Mapping[str, str], **fields: str) -> tuple[str, list[str]]:
    signature = Signature({"mores": "9.8", **fields})
    manifest = Manifest(
        kind=kind, name="x", model="openai:m", signature=signature, settings=dict(settings), started=datetime.now(UTC)
    )
    folder.mkdir()
    (folder / MANIFEST).write_text(manifest.model_dump_json())
    citation = cite_runs([open_run(folder)])
    return citation.sentence, [each.key for each in citation.references]


@pytest.mark.parametrize(
    ("kind", "settings", "fields", "keys"),
    [
        ("score", {}, {}, ["mores", "excam"]),
        ("bench", {"benchmark": "culturalbench-hard"}, {}, ["mores", "culturalbench"]),
        ("bench", {"benchmark": "simpleqa"}, {}, ["mores", "msqa", "simpleqa"]),
        ("bench", {"benchmark": "calmqa"}, {"facts": "serper"}, ["mores", "calmqa", "veriscore"]),
        ("longform", {}, {"facts": "none"}, ["mores", "calmqa"]),
        ("people", {}, {}, ["mores"]),
        (
            "score",
            {},
            {"model": "embedded/SmolLM2-135M-Instruct.Q4_1@b1/lora@bf/xllamacpp-2026.10"},
            ["mores", "smollm2", "llamacpp", "excam"],
        ),
        (
            "score",
            {},
            {"model": "hf:Qwen/Qwen2.5-Coder-1.5B@1/transformers-5.1"},
            ["mores", "qwen_coder", "transformers", "excam"],
        ),
        ("bench", {"benchmark": "gone/away"}, {}, ["mores", "x"]),
    ],
)
def test_what_each_run_cites(
    tmp_path: Path, kind: str, settings: dict[str, str], fields: dict[str, str], keys: list[str]
) -> None:
    sentence, found = cited(tmp_path / "run", kind, settings, **fields)
    assert found == keys
    assert sentence.startswith(f"We used Mores 9.8 (The Mores developers, 2026) to {DONE[kind]} with openai:m")


def test_a_sentence_and_an_entry(tmp_path: Path) -> None:
    sentence, _ = cited(tmp_path / "run", "bench", {"benchmark": "simpleqa"})
    assert sentence.endswith(
        "with openai:m, following MSQA (Chen et al., 2026); the data are SimpleQA (Wei et al., 2024)."
    )
    assert Reference(key="cultureatlas", **PAPERS["cultureatlas"]).bibtex == (
        "@misc{cultureatlas,\n"
        "  author = {Fung, Yi and Zhao, Ruining and Doo, Jae and Sun, Chenkai and Ji, Heng},\n"
        "  title = {{Massively Multi-Cultural Knowledge Acquisition \\& LM Benchmarking}},\n"
        "  year = {2024},\n"
        "  eprint = {2402.09369},\n"
        "  archiveprefix = {arXiv},\n"
        "  url = {https://arxiv.org/abs/2402.09369},\n"
        "}"
    )


def test_the_command(mores: Run, home: Path) -> None:
    (home / "own.csv").write_text("question,choices,answer\nq,a|b,A\n")
    (home / "own.toml").write_text('questions = "own.csv"\nlicence = "CC0-1.0"\n')
    assert mores("bench", "own.toml", "--model", "fake:clean").returncode == 1  # it answers with a report, not a letter
    [run] = [path.parent for path in Path("bench").rglob("run.json")]
    done = mores("cite", str(run))
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^@misc\{(\w+),$", done.stdout, re.MULTILINE) == ["mores", "own"]
    assert "note = {Licence: CC0-1.0}" in done.stdout
    assert "; the data are own." in done.stderr
    both = json.loads(mores("cite", str(run), str(run), "--json").stdout)
    assert (len(both["references"]), both["sentence"].count("We used")) == (2, 1)
    assert library.cite(run).bibtex + "\n" == done.stdout
    if shutil.which("bibtex"):
        (home / "r.bib").write_text(library.cite(run).bibtex)
        (home / "r.aux").write_text("\\citation{*}\n\\bibdata{r}\n\\bibstyle{plain}\n")
        assert subprocess.run(["bibtex", "r"], cwd=home, capture_output=True).returncode == 0
