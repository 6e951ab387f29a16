"""The training examples: the metric's prompt, and the report that the model should write.

Prompt and report are tokenized separately, because a judge reads one and writes the other. The loss is on the report
alone; the token that says whether there is an error may weigh more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.factory.gold import Gold
from mores.metric.prompt import messages
from mores.metric.write import write_report
from mores.training.recipe import TuningRecipe
from mores.training.teacher import TaughtSample
from mores.types import Error, ErrorReport, Sample, Severity

Tokens = npt.NDArray[np.int32]
_CHUNK = 1024
"""Examples tokenized at a time."""
_BLANK = Sample(id="", text="x")
_ERROR = Error(side="text", quote="x", severity=Severity.MAJOR, type="x")
"""Any sample and error, to find the first token that differs between reports with and without errors."""


class TokenizedExample(NamedTuple):
    """One prompt and report in tokens."""

    tokens: Tokens
    report: int
    """Start of the report."""
    decision: int
    """Place of the token that says whether there is an error."""
    other: int = 0
    """The opposite token."""
    doubt: float = 0.0
    """Probability of the opposite token, by a teacher."""


@dataclass
class Examples:
    """Turns gold samples into tokens; `left_out` counts those that are too long."""

    tokenizer: Any
    recipe: TuningRecipe
    left_out: int = 0

    def __post_init__(self) -> None:
        reports = [ErrorReport(), ErrorReport(errors=(_ERROR,))]
        clean, wrong = self._encode([write_report(report, _BLANK, summary=self.recipe.summary) for report in reports])
        pairs = zip(clean, wrong, strict=False)
        self._decision = next(place for place, (first, second) in enumerate(pairs) if first != second)
        """Tokens that reports with and without errors share at their start."""
        self.choices = (clean[self._decision], wrong[self._decision])
        """The tokens that say "no error" and "error"."""
        self._opening = clean[: self._decision]

    def make(self, golds: Iterable[Gold]) -> Iterator[TokenizedExample]:
        """Return the examples of gold samples, in order."""
        return (example for _, example in self.pairs(golds))

    def pairs(self, golds: Iterable[Gold]) -> Iterator[tuple[Gold, TokenizedExample]]:
        """Yield each gold sample with its example, except those that are too long."""
        rows = iter(golds)
        while chunk := list(islice(rows, _CHUNK)):
            prompts = self._encode([self.prompt(gold.sample) for gold in chunk])
            written = [write_report(gold.report, gold.sample, summary=self.recipe.summary) for gold in chunk]
            for gold, prompt, report in zip(chunk, prompts, self._encode(written), strict=True):
                tokens = np.array([*prompt, *report, self.tokenizer.eos_token_id], dtype=np.int32)
                if len(tokens) > self.recipe.longest:
                    self.left_out += 1
                else:
                    yield gold, TokenizedExample(tokens, len(prompt), len(prompt) + self._decision)

    def labelled(self, rows: Iterable[TaughtSample]) -> Iterator[TokenizedExample]:
        """Yield examples of a teacher's decisions, which end with the decision."""
        rows = iter(rows)
        while chunk := list(islice(rows, _CHUNK)):
            prompts = self._encode([self.prompt(row.sample) for row in chunk])
            for row, prompt in zip(chunk, prompts, strict=True):
                choice, other = self.choices[row.odds > 0], self.choices[row.odds <= 0]
                tokens = np.array([*prompt, *self._opening, choice], dtype=np.int32)
                if len(tokens) > self.recipe.longest:
                    self.left_out += 1
                else:
                    yield TokenizedExample(tokens, len(tokens) - 1, len(tokens) - 1, other, row.doubt)

    def prompt(self, sample: Sample) -> str:
        """Return the prompt of a sample, in the model's chat template."""
        chat = messages(sample, self.recipe.style)
        turns = [{"role": message.role, "content": message.content} for message in chat]
        return str(self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        # The template has written the special tokens already.
        encoded: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return encoded
