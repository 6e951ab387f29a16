"""Tests with the real lm-evaluation-harness and Inspect AI, where they are installed: `make test-harness`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest


def needs(module: str) -> pytest.MarkDecorator:
    """Skips a test where a package of others is missing."""
    reason = f"{module} is not installed; `make test-harness` installs it and runs these tests"
    return pytest.mark.skipif(find_spec(module) is None, reason=reason)


def inspect_model(name: str, reply: Callable[[str], str]) -> Any:
    """A model of Inspect AI that answers a prompt with a function."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content(f"mockllm/{name}", reply(messages[-1].text))
        output.usage = ModelUsage()  # otherwise it counts tokens, and downloads what it needs for that
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)
