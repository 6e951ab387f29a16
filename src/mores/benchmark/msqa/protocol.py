"""The judge of MSQA's authors, read from the user's own clone of their repository (`--judge-protocol CLONE`).

The prompts stand in `src/msqa/judge.py` (is the answer correct?) and `src/msqa/score.py` (does one that is not correct
assert something wrong?). These files are parsed and never run. A prompt is the one string there with the slots
{question}, {reference_answer} and {candidate_answer}; it also says which JSON the judge returns, for example
{"judgment": "Yes" or "No"}, and only that is read.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.msqa.judge import ShortAnswerJudge
from mores.errors import ConfigError, InputError
from mores.metric.prompt import defuse
from mores.models.base import Message
from mores.prompts import hash_prompts
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Item

SLOTS = {"question", "reference_answer", "candidate_answer"}
_ANSWER = re.compile(r'"(\w+)"\s*:\s*"(\w+)"\s+or\s+"(\w+)"')
"""The field of the judge's JSON, and its two values."""
SPLIT = {"NA": Label.NOT_ATTEMPTED, "IN": Label.INCORRECT}


class ProtocolPrompt(NamedTuple):
    """A prompt of the clone: its text and slots in turn, and the JSON that it asks for."""

    parts: tuple[tuple[str, str | None], ...]
    field: str
    values: tuple[str, str]

    def fill(self, item: Item, answer: str) -> tuple[Message, ...]:
        """Return the message; control tokens of chat templates in it are broken up invisibly."""
        values = {
            "question": item.prompt,
            "reference_answer": " or ".join(item.target),
            "candidate_answer": without_thoughts(answer),
        }
        filled = (text + (defuse(values[slot]) if slot else "") for text, slot in self.parts)
        return (Message("user", "".join(filled)),)

    def read(self, reply: str) -> tuple[str, str] | Failure:
        """Return the value of the field in the first JSON object of a reply, and the reason that stands beside it."""
        text = without_thoughts(reply)
        for place in (match.start() for match in re.finditer("{", text)):
            try:
                found, _ = json.JSONDecoder().raw_decode(text, place)
            except ValueError:
                continue
            except RecursionError:  # what is inside is nested as deep: trying each brace would take seconds
                break
            value = str(found.get(self.field, "")).strip().casefold()
            for known in self.values:
                if value == known.casefold():
                    return known, str(found.get("reason", ""))
            break
        expected = " or ".join(json.dumps({self.field: value}) for value in self.values)
        reason = f"no verdict: the judge ends with {text.strip()[-80:]!r}; expected {expected}"
        return Failure(kind=FailureKind.PARSE, reason=reason)


class ProtocolJudge:
    """Asks a model as MSQA's authors do: whether an answer is correct, then what is wrong with one that is not."""

    labels = tuple(Label)

    def __init__(self, clone: Path) -> None:
        folder = next((path for path in (clone / "src" / "msqa", clone) if (path / "judge.py").is_file()), None)
        if folder is None:
            raise InputError(
                f"{clone}: no src/msqa/judge.py; give a clone of MSQA's repository", setting="judge_protocol"
            )
        self._first, self._second = read_prompt(folder / "judge.py"), read_prompt(folder / "score.py")
        if set(self._second.values) != set(SPLIT):
            raise InputError(
                f"{folder / 'score.py'}: its prompt asks for {' or '.join(self._second.values)}; expected NA or IN",
                setting="judge_protocol",
            )
        texts = ("".join(f"{text}{{{slot}}}" for text, slot in prompt.parts) for prompt in (self._first, self._second))
        self.prompt = hash_prompts(*texts)

    def ask(self, item: Item, answer: str) -> tuple[Message, ...]:
        """Return whether the answer is correct; of an empty one, which is not, whether it asserts something wrong."""
        return (self._first if without_thoughts(answer) else self._second).fill(item, answer)

    def ask_again(self, item: Item, answer: str, reply: str) -> tuple[Message, ...] | None:
        """Return whether an answer that is not correct asserts something wrong."""
        verdict = self._first.read(reply) if without_thoughts(answer) else None
        wrong = isinstance(verdict, tuple) and verdict[0] == self._first.values[1]
        return self._second.fill(item, answer) if wrong else None

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded | Failure:  # noqa: ARG002
        """Return the grade, or a failure that quotes the reply."""
        split = again or not without_thoughts(answer)
        verdict = (self._second if split else self._first).read(reply)
        if isinstance(verdict, Failure):
            return verdict
        value, reason = verdict
        return Graded(label=SPLIT[value] if split else Label.CORRECT, reason=reason)


def read_prompt(path: Path) -> ProtocolPrompt:
    """Return the one prompt in a file of the clone, which is parsed and not run."""
    try:
        tree = ast.parse(path.read_text("utf-8"), str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); give a clone of MSQA's repository") from error
    assigned = (node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    texts = [node.value for node in assigned if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    prompts = [parts for parts in map(_split, texts) if parts and {slot for _, slot in parts if slot} == SLOTS]
    if len(prompts) != 1:
        slots = ", ".join(f"{{{slot}}}" for slot in sorted(SLOTS))
        raise InputError(
            f"{path}: {len(prompts)} prompts with the slots {slots}; expected one, as in MSQA's repository"
        )
    match = _ANSWER.search("".join(text for text, _ in prompts[0]))
    if match is None:
        raise InputError(f'{path}: its prompt names no JSON such as {{"judgment": "Yes" or "No"}}')
    return ProtocolPrompt(tuple(prompts[0]), match[1], (match[2], match[3]))


def _split(text: str) -> list[tuple[str, str | None]]:
    """Return a template as texts, each with the slot behind it; empty where it is none."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return []
    return [] if any(form or conversion for _, _, form, conversion in parts) else [part[:2] for part in parts]


def with_protocol(benchmark: Benchmark, clone: Path) -> Benchmark:
    """Return the benchmark with the judge of MSQA's authors in place of ours."""
    if not isinstance(benchmark.judging, ShortAnswerJudge):
        reason = (
            "is not graded as MSQA is; the protocol is for msqa, simpleqa, chinese-simpleqa and your own short answers"
        )
        raise ConfigError(f"{benchmark.name} {reason}", setting="judge_protocol")
    return replace(benchmark, judging=ProtocolJudge(clone))
