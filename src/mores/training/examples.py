"""The training examples: the metric's prompt, and the report that the model should write.

Prompt and report are tokenized separately, because a judge reads one and writes the other. The loss is on the report
alone; the token that says whether there is an error may weigh more. Examples are packed into long rows, so that almost
no token is padding: positions restart at each example, and `starts` keeps attention within each.

Further examples are the decisions of a larger model about unlabelled pairs:

    mores train --data grounded --base LARGE --out teacher --evaluate unlabelled
    mores train --data grounded --out student --teacher teacher

The student learns only the decision and the teacher's confidence (Hinton et al., 2015). Several teachers, each of which
may have left out other sources, decide together: by the mean of the log-odds of those that decided.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.formatting import count as count_of
from mores.io import read_records
from mores.metric import claims
from mores.metric.prompt import claim_spans, messages
from mores.metric.write import write_report
from mores.run import open_run
from mores.training.folder import TrainRun
from mores.training.recipe import TuningRecipe
from mores.types import Error, ErrorReport, Judgement, Sample, Severity

Tokens = npt.NDArray[np.int32]
_CHUNK = 1024
"""Examples tokenized at a time."""
CONTRADICTION = "contradicts the evidence"
"""The type of an error that shows a sentence of the evidence, which need not say what would be correct."""
_BLANK = Sample(id="", text="x")
_ERROR = Error(side="text", start=0, end=1, quote="x", severity=Severity.MAJOR, type="x")
"""Any sample and error, to find the first token that differs between reports with and without errors."""


_QUOTED = re.compile("“(.*?)”", re.DOTALL)


def _correction(error: Error) -> str:
    """Return what an explanation of the factory names as correct: what else it quotes."""
    others = [words for words in _QUOTED.findall(error.explanation) if words != error.quote]
    return others[0] if others and error.type != CONTRADICTION else ""


_VAGUE = 0.7
"""Share of a sentence; where a longer stretch is said to contradict a passage, nobody knows which words do."""
_SHORT = 30
"""Characters of a sentence that may be wrong as a whole."""


def _is_vague(error: Error, sample: Sample) -> bool:
    """Return whether the words of an error teach nothing about where errors are."""
    spans = [end - start for start, end in claim_spans(sample.text) if start <= (error.start or 0) < end]
    return error.type == CONTRADICTION and max(spans, default=0) > _SHORT and len(error.quote) > _VAGUE * max(spans)


class TokenizedExample(NamedTuple):
    """One prompt and report in tokens."""

    tokens: Tokens
    report: int
    """Start of the report."""
    decisions: tuple[int, ...]
    """Places of the tokens that decide: whether there is an error, or what each sentence is."""
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
        clean, wrong = self._encode([self._write(report, _BLANK) for report in reports])
        pairs = zip(clean, wrong, strict=False)
        self._decision = next(place for place, (first, second) in enumerate(pairs) if first != second)
        """Tokens that reports with and without errors share at their start."""
        self._opening = clean[: self._decision]
        self.choices = (clean[self._decision], wrong[self._decision])
        """The tokens that say "no error" and "error"."""
        self.options: tuple[int, ...] = self.choices
        """All tokens that may stand where is decided; the second says "error"."""
        if self.recipe.style == "claims":
            words = self._encode([f" {word}" for word in claims.DECISIONS])
            self._before = next(place for place, tokens in enumerate(zip(*words, strict=False)) if len({*tokens}) > 1)
            """Tokens that all decisions begin with: a space, where it is a token."""
            self.options += tuple(tokens[self._before] for tokens in words if tokens[self._before] not in self.choices)

    def _write(self, report: ErrorReport, sample: Sample) -> str:
        if self.recipe.style != "claims":
            return write_report(report, sample, summary=self.recipe.summary)
        corrected = [error.model_copy(update={"correction": _correction(error)}) for error in report.errors]
        return claims.write_claims(report, sample, [error for error in corrected if not _is_vague(error, sample)])

    def make(self, golds: Iterable[Gold]) -> Iterator[TokenizedExample]:
        """Return the examples of gold samples, in order."""
        return (example for _, example in self.pairs(golds))

    def pairs(self, golds: Iterable[Gold]) -> Iterator[tuple[Gold, TokenizedExample]]:
        """Yield each gold sample with its example, except those that are too long."""
        written = ((gold, self._write(gold.report, gold.sample)) for gold in golds)
        return self._examples(written)

    def questions(self, golds: Iterable[Gold]) -> Iterator[tuple[Gold, TokenizedExample]]:
        """Yield each gold sample with an example that tells nothing of its report: all sentences are correct."""
        return self._examples((gold, self._write(ErrorReport(), gold.sample)) for gold in golds)

    def _examples(self, written: Iterable[tuple[Gold, str]]) -> Iterator[tuple[Gold, TokenizedExample]]:
        rows = iter(written)
        while chunk := list(islice(rows, _CHUNK)):
            prompts = self._encode([self.prompt(gold.sample) for gold, _ in chunk])
            reports = self._encode([report for _, report in chunk])
            for (gold, report), prompt, ids in zip(chunk, prompts, reports, strict=True):
                tokens = np.array([*prompt, *ids, self.tokenizer.eos_token_id], dtype=np.int32)
                if len(tokens) > self.recipe.longest:
                    self.left_out += 1
                else:
                    places = tuple(len(prompt) + place for place in self._places(report))
                    yield gold, TokenizedExample(tokens, len(prompt), places)

    def _places(self, report: str) -> Sequence[int]:
        """Return the tokens of a report that decide."""
        if self.recipe.style != "claims":
            return (self._decision,)
        line, _, _ = report.partition("\n")
        starts = [match.start(2) - 1 for match in claims.DECISION.finditer(line)]  # with the space before the word
        encoded = self.tokenizer(line, add_special_tokens=False, return_offsets_mapping=True)
        begins = [begin for begin, _ in encoded["offset_mapping"]]
        return [begins.index(start) + self._before for start in starts]

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
                    yield TokenizedExample(tokens, len(tokens) - 1, (len(tokens) - 1,), other, row.doubt)

    def prompt(self, sample: Sample) -> str:
        """Return the prompt of a sample, in the model's chat template."""
        chat = messages(sample, self.recipe.style)
        turns = [{"role": message.role, "content": message.content} for message in chat]
        return str(self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        # The template has written the special tokens already.
        encoded: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return encoded


Floats = npt.NDArray[np.float32]

STEP = 256
"""Lengths are multiples of this."""


@dataclass(frozen=True)
class Shape:
    """The common size of all rows of a run, so that the network is compiled once."""

    size: int
    """Tokens."""
    examples: int
    """Maximum examples of a row."""
    longest: int
    """Maximum tokens of an example."""

    @property
    def starts(self) -> int:
        """Room for the starts of examples, those of pieces of padding, and the end."""
        return self.examples + self.size // self.longest + 2


@dataclass(frozen=True)
class PackedRow:
    """Packed examples, with a little padding."""

    tokens: Tokens
    positions: Tokens
    targets: Tokens
    """The token that follows."""
    weights: Floats
    """Weights of the targets in the loss; 0 for prompts, the first token of an example, and padding."""
    others: Tokens
    """The next token by a second label, where the first is in doubt."""
    doubts: Floats
    """Weights of these in the loss."""
    starts: Tokens
    """Starts of examples, then of the padding, then the end, which may be repeated."""
    examples: int
    """Number of examples."""


def pack(examples: Iterable[TokenizedExample], shape: Shape, decision_weight: float = 1.0) -> Iterator[PackedRow]:
    """Yield rows of whole examples, in order; a row ends when the next example does not fit."""
    examples_of_row: list[TokenizedExample] = []
    used = 0
    for example in examples:
        if examples_of_row and (used + len(example.tokens) > shape.size or len(examples_of_row) == shape.examples):
            yield make_row(examples_of_row, shape, decision_weight)
            examples_of_row, used = [], 0
        examples_of_row.append(example)
        used += len(example.tokens)
    if examples_of_row:
        yield make_row(examples_of_row, shape, decision_weight)


def make_row(examples: Sequence[TokenizedExample], shape: Shape, decision_weight: float = 1.0) -> PackedRow:
    """Return one row of these examples; ValueError when they do not fit."""
    size = shape.size
    ends = np.cumsum([len(example.tokens) for example in examples])
    if ends[-1] > size or max(len(example.tokens) for example in examples) > shape.longest:
        raise ValueError(f"{ends[-1]} tokens do not fit into a row of {size}, or one is longer than {shape.longest}")
    tokens, positions = np.zeros(size, np.int32), np.zeros(size, np.int32)
    targets, weights = np.zeros(size, np.int32), np.zeros(size, np.float32)
    others, doubts = np.zeros_like(targets), np.zeros_like(weights)
    for example, end in zip(examples, ends.tolist(), strict=True):
        begin = end - len(example.tokens)
        tokens[begin:end] = example.tokens
        positions[begin:end] = np.arange(end - begin)
        targets[begin : end - 1] = example.tokens[1:]
        weights[begin + example.report - 1 : end - 1] = 1.0
        decisions = [begin + place - 1 for place in example.decisions]
        weights[decisions] = decision_weight * (1 - example.doubt)
        others[decisions], doubts[decisions] = example.other, decision_weight * example.doubt
    # Padding is split into examples that are not too long: tokens without attention may hold any value.
    starts = np.full(shape.starts, size, np.int32)
    every = [0, *ends, *range(int(ends[-1]) + shape.longest, size, shape.longest)]
    starts[: len(every)] = every
    return PackedRow(tokens, positions, targets, weights, others, doubts, starts, len(examples))


def shape_of(lengths: Sequence[int], batch: int, most: int) -> Shape:
    """Return a shape that fits these examples, for batches of `batch`, with at most `most` tokens if possible."""
    longest = _up(max(lengths), STEP)
    whole = batch * float(np.mean(lengths)) + 3 * math.sqrt(batch) * float(np.std(lengths))
    parts = max(1, math.ceil(whole / most))
    size = max(longest, _up(math.ceil(whole / parts) + (longest // 2 if parts > 1 else 0), STEP))
    return Shape(size, min(batch, size // min(lengths)), longest)


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def steps(count: int, batch: int, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the places of the examples of each step of one epoch, shuffled; the last step may be smaller."""
    order = np.random.default_rng(seed).permutation(count)
    for start in range(0, count, batch):
        yield order[start : start + batch]


UNLABELLED = "unlabelled"
"""The name of the file of unlabelled pairs, and of the decisions about them."""
TEMPERATURE = 1.5
"""Log-odds are divided by this: a tuned model is overconfident."""
LEAST_DOUBT = 0.02


class TaughtSample(NamedTuple):
    """A sample, and the teacher's decision about it."""

    sample: Sample
    odds: float
    """Log-odds of an error."""

    @property
    def doubt(self) -> float:
        """The probability that the decision is wrong."""
        other = math.exp(-abs(self.odds) / TEMPERATURE)
        return max(LEAST_DOUBT, other / (1 + other))


def read_labelled(data: Path, teachers: Sequence[Path], leave_out: Collection[str] = ()) -> list[TaughtSample]:
    """Return the decisions of teachers about the unlabelled pairs of a dataset, as many with an error as without."""
    pairs = data / f"{UNLABELLED}.jsonl"
    if not pairs.is_file():
        raise ConfigError(f"{data}: no {pairs.name} in it; `mores build ground` writes it from pairs")
    samples = {sample.id: sample for sample in read_records(pairs, Sample)}
    odds: dict[str, list[float]] = defaultdict(list)
    for teacher in teachers:
        for judgement in _decisions(teacher, leave_out):
            sample = samples.get(judgement.sample_id)
            if sample is None or sample.text != judgement.text or judgement.score is None:
                reason = f"{judgement.sample_id!r} differs from {pairs}; train the teacher again"
                raise InputError(f"{teacher}: {reason}")
            odds[sample.id].append(-judgement.score)
    rows = (TaughtSample(samples[name], fmean(values)) for name, values in odds.items())
    rows = (row for row in rows if row.sample.source not in leave_out)
    kept = sorted(rows, key=lambda row: draw(0, "labelled", row.sample.id))
    wrong, correct = ([row for row in kept if (row.odds > 0) == side] for side in (True, False))
    if not (count := min(len(wrong), len(correct))):
        side = "correct" if correct else "wrong"
        names = ", ".join(map(str, teachers))
        raise InputError(f"{names}: decided that all {count_of(len(kept), 'pair')} are {side}; that teaches nothing")
    return wrong[:count] + correct[:count]


def _decisions(teacher: Path, leave_out: Collection[str]) -> Iterator[Judgement]:
    decisions = teacher / f"decisions.{UNLABELLED}.jsonl"
    if not decisions.is_file():
        fix = f"train the teacher on the same data, and let it decide about {UNLABELLED!r}"
        raise ConfigError(f"{teacher}: no {decisions.name} in it; {fix}", setting="teacher")
    run = open_run(teacher)
    if not isinstance(run, TrainRun):
        raise ConfigError(f"{teacher}: a run of `mores {run.kind}`; give one of `mores train`", setting="teacher")
    without = (run.result.without or "").split(", ")
    if known := sorted(set(leave_out).difference(without)):
        reason = f"it was trained on {known[0]}, so its student would learn it too; train a teacher without it"
        raise ConfigError(f"{teacher}: {reason}", setting="teacher")
    return read_records(decisions, Judgement)
