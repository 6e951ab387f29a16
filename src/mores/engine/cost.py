"""The cost of a run: tokens times the price that the user gives, or the list price that `genai-prices` knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from mores.errors import ConfigError
from mores.models import takes_address
from mores.registry import split_name


class Price(NamedTuple):
    """US dollars per million tokens."""

    prompt: float
    completion: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the dollars for that many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


def read_price(given: str | Sequence[float] | None) -> Price | None:
    """Return the price that a user gives as `IN,OUT`, or as two numbers."""
    if given is None or isinstance(given, Price):
        return given
    try:
        price = Price(*(float(part) for part in (given.split(",") if isinstance(given, str) else given)))
    except (TypeError, ValueError):
        expected = "expected two numbers, dollars per million prompt and completion tokens, for example 0.40,1.60"
        raise ConfigError(f"{given!r}: {expected}", setting="price") from None
    if not all(0 <= dollars < math.inf for dollars in price):
        raise ConfigError(f"{given!r}: a price is a number that is not negative", setting="price")
    return price


def price_of(model: str) -> Price | None:
    """Return what a model costs: nothing on this machine, else the list price; None when that is not known."""
    return Price(0.0, 0.0) if not takes_address(model) else list_price(model)


@cache
def list_price(model: str) -> Price | None:
    """Return the list price of an `openai:NAME`, from the data of `genai-prices`, without a network.

    NAME may begin with a provider, as gateways write it: `openai:anthropic/claude-sonnet-4-5`. A model that its maker
    lists as free counts as unknown, since others ask money for it.
    """
    kind, name = split_name(model)
    if kind != "openai":
        return None
    from genai_prices import Usage, calc_price  # takes 0.2 s

    try:  # "litellm" reads a provider at the start of the name; a thousand tokens stay below the tiers of long prompts
        usage_price = calc_price(Usage(input_tokens=1000, output_tokens=1000), name, provider_id="litellm")
    except LookupError:
        return None
    price = Price(float(usage_price.input_price * 1000), float(usage_price.output_price * 1000))
    return price if any(price) else None


def guess_tokens(text: str) -> int:
    """Guess how many tokens a text has: four Latin letters make one, other scripts need about one per character."""
    ascii_length = len(text.encode("ascii", "ignore"))
    return ascii_length // 4 + (len(text) - ascii_length) + 1
