"""Findings by facts of models: worked out by hand, and on simulated models whose truth is known."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

import mores
from mores.benchmark import findings
from mores.benchmark.board import make_board, read_runs
from mores.benchmark.findings import FactModel, Place, find_associations, is_home, read_date, read_home, read_size
from mores.diagnosis.locality import measure_locality, read_ran
from mores.errors import ConfigError
from mores.report.base.page import render_page
from mores.report.bench import board_tables, describe_board
from mores.types import Result


def test_facts_are_read() -> None:
    assert [read_size(text) for text in ("8B", "1.5b", "135M", "8x7B", "235B-A22B")] == [
        8e9,
        1.5e9,
        1.35e8,
        5.6e10,
        2.35e11,
    ]
    assert [round(read_date(text), 2) for text in ("2025-01-01", "2025-07", "2024")] == [2025.0, 2025.49, 2024.5]
    assert read_home({"country": "CN"}) == {"CN"}
    assert read_home({"country": "CN", "home": "it, IT, Kurdish"}) == {"it", "IT", "ku"}
    for facts, problem in (({"home": "nowhere at all"}, "home 'nowhere at all'"),):
        with pytest.raises(ConfigError, match=problem):
            read_home(facts)
    for size in ("large", "0B", "9" * 400):
        with pytest.raises(ConfigError, match=f"parameters '{size}'"):
            read_size(size)
    for released in ("May", "99999999999999999999-01"):
        with pytest.raises(ConfigError, match=f"released '{released}'"):
            read_date(released)


def test_a_question_is_about_a_home_by_its_region_country_or_language() -> None:
    spain = frozenset({"ES", "eu"})
    assert is_home(("ES", None), spain)
    assert is_home(("ES-CT", "ca"), spain)
    assert is_home(("FR", "eu"), spain)
    assert not is_home(("MX", "es"), spain)
    assert is_home((None, "pt-BR"), frozenset({"pt"}))


def models_of(
    count: int, ability: float = 0.0, home: float = 0.0, seed: int = 0, questions: int = 480
) -> tuple[list[FactModel], dict[str, Place]]:
    """Models of two families whose chance of a correct answer rises with size by `ability`, and at home by `home`."""
    random_ = random.Random(seed)
    countries = ["CN", "FR", "US", "JP", "IN", "BR", "KE", "DE", "KR", "MX", "EG", "ID"]
    places: dict[str, Place] = {f"q{n}": (countries[n % len(countries)], "en") for n in range(questions)}
    models = []
    for n in range(count):
        country, size = countries[n % len(countries)], 2 ** (n // 2)
        chance = 0.4 + ability * (n // 2) / count
        credit = {
            unit: float(random_.random() < chance + home * (place[0] == country)) for unit, place in places.items()
        }
        value = sum(credit.values()) / len(credit)
        facts = {"country": country, "parameters": f"{size}B", "family": "ab"[n % 2]}
        models.append(
            FactModel(name=f"m{n}", facts=facts, result=Result(name="", value=value, n=questions), credit=credit)
        )
    return models, places


def test_few_models_are_shown_and_not_tested() -> None:
    found = find_associations(*models_of(9, ability=0.8))
    assert found is not None
    [size] = found.associations
    assert size.p is None
    assert size.p_within is None
    assert found.p_home is None
    assert (size.pairs, size.tau.n) == (16, 9), "ten pairs of the five of one family, six of the four of the other"


@pytest.mark.slow
def test_ten_models_tell_a_true_association_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an association, one test in twenty is significant, and with a strong one nearly all are."""
    monkeypatch.setattr(findings, "PERMUTATIONS", 400)
    significant = {0.0: [0, 0, 0], 0.8: [0, 0, 0]}
    for effect, counts in significant.items():
        for seed in range(20):
            found = find_associations(*models_of(12, ability=effect, home=effect / 4, seed=seed, questions=240))
            assert found is not None
            [size] = found.associations
            for place, p in enumerate((size.p, size.p_within, found.p_home)):
                assert p is not None
                counts[place] += p < 0.05
    assert all(count <= 4 for count in significant[0.0]), significant
    assert all(count >= 19 for count in significant[0.8]), significant


def test_the_advantage_at_home_is_what_was_put_in_and_intervals_cover_it() -> None:
    covered = means = 0.0
    for seed in range(10):
        found = find_associations(*models_of(12, home=0.2, seed=seed))
        assert found is not None
        for each in found.homes:
            assert each.advantage.n == 40
            low, high = each.advantage.low, each.advantage.high
            assert low is not None
            assert high is not None
            covered += low <= 0.2 <= high
        assert found.mean_advantage is not None
        means += found.mean_advantage.value or 0.0
    assert means / 10 == pytest.approx(0.2, abs=0.02)
    assert covered >= 108, "95% of 120, less what chance may take"


def test_models_without_facts_have_no_findings() -> None:
    models, places = models_of(3)
    bare = [model.model_copy(update={"facts": {}}) for model in models]
    assert find_associations(bare, places) is None


def test_the_board_and_the_diagnosis_show_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models of one family; the larger one knows all, the smaller one only what is about its home."""
    monkeypatch.chdir(tmp_path)
    rows = [f"Question {n} about {region}?,yes|no,A,{region}" for n in range(12) for region in ("Japan", "China")]
    Path("quiz.csv").write_text("question,choices,answer,region\n" + "\n".join(rows) + "\n", "utf-8")
    scripts = {"small": [("about Japan", "A"), ("about", "B")], "large": [("about", "A")]}
    for name, answers in scripts.items():
        lines = (json.dumps({"contains": words, "answer": answer}) for words, answer in answers)
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    Path("models.toml").write_text(
        """
        [models.small]
        model = "fake:small.jsonl"
        facts = { family = "Sora", country = "JP", parameters = "1B", released = "2024-05" }
        [models.large]
        model = "fake:large.jsonl"
        facts = { family = "Sora", country = "FR", home = "fr", parameters = "70B", released = "2025-05" }
        """
    )
    runs = [
        mores.bench("quiz.csv", model, config="models.toml", out=tmp_path / model, store=None).path for model in scripts
    ]
    entries = read_runs(runs)
    board = make_board(entries)
    [leaderboard] = board.leaderboards
    found = leaderboard.findings
    assert found is not None
    size, version = found.associations
    assert (
        (size.better, size.pairs, size.tau.value) == (version.better, version.pairs, version.tau.value) == (1, 1, 1.0)
    )
    [home] = found.homes
    assert (home.model, home.home, home.at_home.value, home.elsewhere.value) == ("small", ("JP",), 1.0, 0.0)
    assert home.advantage.value == 1.0, "as good as the other at home, and behind by all elsewhere"
    printed = [table.title for table in board_tables(board) if not isinstance(table, str)]
    assert any("size and version" in title for title in printed)
    assert any("models at home" in title for title in printed)
    page = render_page(describe_board(board, [entry.result for entry in entries]))
    assert "Advantage at home" in page
    assert "Result by size" in page
    assert "tested from 10 models on" in page
    unread = [replace(entry, facts={**entry.facts, "parameters": "secret", "country": "EU"}) for entry in entries]
    [leaderboard] = make_board(unread).leaderboards
    assert leaderboard.findings is not None
    assert [each.fact for each in leaderboard.findings.associations] == ["released"]
    assert sum("parameters 'secret': no number" in note for note in leaderboard.notes) == 2, (
        "told, and no reason to stop"
    )
    [local] = measure_locality(read_ran(runs)).findings.values()
    assert local.homes == found.homes
    assert [each.tau for each in local.associations] == [each.tau for each in found.associations]
