"""The folder that an export makes: `mores bench` runs it, whatever the campaign is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.benchmark import BENCHMARKS, all_in, benchmark
from mores.benchmark.contract import check
from mores.studio.export import Runnable, bench_folder
from mores.studio.kind import CampaignSettings, slug

COLUMNS = ("data_idx", "question_idx", "prompt_question", *(f"prompt_option_{x}" for x in "abcd"), "answer", "country")
ROWS = "".join(f"{n},{n},In Kenya what is {n}?,one,two,three,four,B,Kenya\n" for n in range(5))


@pytest.mark.parametrize("title", ["Kenya at home", 'He said """no"""\n# x = 1', "文化", "MSQA", "x" * 200])
def test_a_folder_loads_and_passes_every_check(tmp_path: Path, title: str) -> None:
    data = {"CulturalBench-Easy.csv": (",".join(COLUMNS) + "\n" + ROWS).encode()}
    about = "Five questions.\n\n## Fidelity\n\nNone."
    for path, content in bench_folder(
        CampaignSettings(title=title), [Runnable("culturalbench:EASY")], data, data, about
    ):
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    loaded = benchmark(tmp_path)
    assert (loaded.title, loaded.hub, loaded.data) == (title, None, tmp_path / "data")
    assert loaded.name not in BENCHMARKS
    assert [item.region for item in loaded.read(tmp_path / "data", print)] == ["KE"] * 5
    assert [problem for checks in check(tmp_path).values() for each in checks for problem in each.problems] == []


def test_a_folder_of_several_gives_all(tmp_path: Path) -> None:
    runnables = [Runnable("culturalbench:EASY", "easy"), Runnable("culturalbench:HARD", "hard")]
    for path, content in bench_folder(CampaignSettings(title="Our town"), runnables, {}, {}, ""):
        (tmp_path / path).write_bytes(content)
    assert [one.name for one in all_in(tmp_path)] == ["our-town-easy", "our-town-hard"]
    assert [one.title for one in all_in(tmp_path)] == ["Our town (easy)", "Our town (hard)"]
    assert [one.name for one in all_in(f"{tmp_path}:our-town-hard")] == ["our-town-hard"]
    assert [one.name for one in all_in("msqa")] == ["msqa"]


def test_slugs_are_plain_and_short() -> None:
    assert slug("  Ñandú & co. – 2026 ") == "nandu-co-2026"
    assert slug("文化") == ""
    assert len(slug("a " * 100)) <= 40
