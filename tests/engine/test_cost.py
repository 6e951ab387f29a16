"""Prices: listed ones, and models whose price nobody knows."""

from __future__ import annotations

import socket

import pytest

from mores.engine.cost import Price, guess_tokens, list_price, price_of


@pytest.fixture(autouse=True)
def _without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a price needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    list_price.cache_clear()


@pytest.mark.parametrize(
    "name", ["gpt-4.1-mini", "gpt-4.1-mini-2025-04-14", "openai/gpt-4.1-mini", "azure/gpt-4.1-mini"]
)
def test_a_listed_model_under_each_of_its_names(name: str) -> None:
    assert price_of(f"openai:{name}") == Price(0.40, 1.60)


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"])
def test_models_of_other_providers(name: str) -> None:
    price = price_of(f"openai:{name}")
    assert price is not None
    assert 0 < price.prompt < price.completion


@pytest.mark.parametrize(
    "name", ["openai:m", "openai:gpt-4o-of-ours", "openai:my/gpt-4o", "openai:Qwen/Qwen2.5-7B-Instruct", "other:gpt-4o"]
)
def test_what_is_not_listed_is_unknown(name: str) -> None:
    assert price_of(name) is None


def test_a_model_free_at_its_maker_is_unknown_elsewhere() -> None:
    assert price_of("openai:google/gemma-3-27b-it") is None


@pytest.mark.parametrize("name", ["embedded", "embedded:FILE.gguf", "reader", "hf:some/gpt-4o", "fake:clean"])
def test_what_runs_here_costs_nothing(name: str) -> None:
    assert price_of(name) == Price(0, 0)


def test_a_price_is_of_a_million_tokens() -> None:
    assert Price(0.5, 2.0).cost(2_000_000, 500_000) == 2.0


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("abcdefgh", 3), ("abcdefghijk", 3), ("naïve", 3), ("東京タワー", 6)]
)
def test_tokens_are_guessed_by_script(text: str, tokens: int) -> None:
    assert guess_tokens(text) == tokens
