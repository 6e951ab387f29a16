"""`fake:WHAT`: fixed answers in place of a model, for tests and for trying a pipeline.

| name | says |
| --- | --- |
| `fake:clean` | there is no error |
| `fake:first-word` | the first word of the text is a minor error |
| `fake:broken` | something that is not JSON |
| `fake:truncated` | half a report |
| `fake:silent` | no error, without log-probabilities |
| `fake:PATH.jsonl` | the `answer` of the first row whose `contains` occurs in the prompt |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from mores.errors import ConfigError, Rejected, suggest
from mores.models.base import BasicModel, Completion, Request

_CLEAN = '{"errors": [], "explanation": "No cultural error."}'


class FakeModel(BasicModel):
    """Answers with a function of the request."""

    warning = "fake: is not a model; its verdicts mean nothing"

    def __init__(self, name: str, answer: Callable[[Request], Completion]) -> None:
        self.name = self.identity = f"fake:{name}"
        self._answer = answer

    async def complete(self, request: Request) -> Completion:
        """Return the function's answer."""
        return self._answer(request)


def fake(name: str) -> FakeModel:
    """Return the fake model of that name, or one scripted by a file."""
    name = name or "clean"
    if name.endswith(".jsonl"):
        return FakeModel(name, _scripted(Path(name)))
    if name not in _ANSWERS:
        hint = suggest(name, _ANSWERS, before="fake:")
        raise ConfigError(f"unknown model 'fake:{name}'; {hint}there are {', '.join(_ANSWERS)} and fake:PATH.jsonl")
    return FakeModel(name, _ANSWERS[name])


def _complete(text: str, stop: str = "stop", logprob: float | None = -0.1) -> Completion:
    tokens = max(1, len(text) // 4)
    logprobs = None if logprob is None else (logprob,) * tokens
    return Completion(text, logprobs, stop, prompt_tokens=0, completion_tokens=tokens)


def _first_word(request: Request) -> Completion:
    text = request.messages[-1].content.rpartition("Text:")[2]
    word = re.search(r"\w+", re.sub(r"<<<\w+", "", text))
    error = {
        "side": "text",
        "quote": word[0] if word else "",
        "severity": "minor",
        "type": "fake",
        "explanation": "The first word.",
    }
    return _complete(orjson.dumps({"errors": [error], "explanation": "One error."}).decode())


_ANSWERS: dict[str, Callable[[Request], Completion]] = {
    "clean": lambda _: _complete(_CLEAN),
    "first-word": _first_word,
    "broken": lambda _: _complete("I would say that this text is fine."),
    "truncated": lambda _: _complete(_CLEAN[:20], stop="length"),
    "silent": lambda _: _complete(_CLEAN, logprob=None),
}


def _scripted(path: Path) -> Callable[[Request], Completion]:
    try:
        rows: list[dict[str, Any]] = [orjson.loads(line) for line in path.read_bytes().splitlines() if line]
        script = [(str(row["contains"]), str(row["answer"]), row.get("stop", "stop")) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ConfigError(f"fake:{path}: {exc}; expected rows with 'contains' and 'answer'") from exc

    def answer(request: Request) -> Completion:
        prompt = request.messages[-1].content
        for contains, text, stop in script:
            if contains in prompt:
                return _complete(text, stop)
        raise Rejected(f"fake:{path}: no row's 'contains' occurs in the prompt")

    return answer
