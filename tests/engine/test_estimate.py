"""What a run would send and cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.engine.cost import Price
from mores.engine.estimate import estimate
from mores.metric import Settings, open_metric


def test_the_estimate_counts_what_is_new(tmp_path: Path) -> None:
    metric = open_metric("fake:clean", Settings(max_characters=100), store=tmp_path / "s.db", price=Price(1.0, 2.0))
    metric.judge(["a", "b"])
    result = estimate(metric.asker, metric.jobs(["a", "b", "c", "x" * 200]), 1024)
    assert (result.calls, result.known, result.unsendable) == (1, 2, 1)
    assert result.cost == pytest.approx((result.prompt_tokens + 2 * 150) / 1e6)
    assert result.most == pytest.approx((result.prompt_tokens + 2 * 1024) / 1e6)


@pytest.mark.parametrize("store", [True, False])
def test_fresh_or_without_a_store_everything_is_new(tmp_path: Path, store: bool) -> None:
    open_metric("fake:clean", store=tmp_path / "s.db").judge(["a"])
    metric = open_metric("fake:clean", store=tmp_path / "s.db" if store else None, fresh=store)
    result = estimate(metric.asker, metric.jobs(["a"]), 1024)
    assert (result.calls, result.known, result.cost) == (1, 0, 0.0)


def test_a_model_without_a_known_price_has_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    metric = open_metric("openai:nobody-knows-this", store=None)
    result = estimate(metric.asker, metric.jobs(["a"]), 100)
    assert (result.calls, result.completion_tokens, result.cost, result.most) == (1, 100, None, None)
