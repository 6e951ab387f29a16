"""What a run will cost: tokens times a price that the user gives, or that of a few well-known hosted models."""

from __future__ import annotations

from typing import NamedTuple

from mores.errors import ConfigError


class Price(NamedTuple):
    """US dollars per million tokens."""

    prompt: float
    completion: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Dollars for that many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


PRICES = {
    "openai:gpt-4o": Price(2.50, 10.00),
    "openai:gpt-4o-mini": Price(0.15, 0.60),
    "openai:gpt-4.1": Price(2.00, 8.00),
    "openai:gpt-4.1-mini": Price(0.40, 1.60),
    "openai:gpt-4.1-nano": Price(0.10, 0.40),
}
"""List prices as of 2025; `--price` overrides them."""


def price_of(model: str, given: str | None) -> Price | None:
    """The price that the user gave as `IN,OUT`, or the one that we know; None when nobody knows."""
    if given is None:
        return Price(0.0, 0.0) if model.startswith(("embedded", "hf:", "fake:")) else PRICES.get(model)
    try:
        prompt, completion = (float(part) for part in given.split(","))
    except ValueError:
        raise ConfigError(
            f"--price {given!r}: expected two numbers, dollars per million prompt and completion tokens,"
            " for example --price 0.40,1.60"
        ) from None
    if min(prompt, completion) < 0:
        raise ConfigError(f"--price {given!r}: a price cannot be negative")
    return Price(prompt, completion)


def guess_tokens(text: str) -> int:
    """About how many tokens a text has: four Latin letters make one, other scripts need about one per character."""
    ascii_length = len(text.encode("ascii", "ignore"))
    return ascii_length // 4 + (len(text) - ascii_length) + 1
