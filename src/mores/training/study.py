"""A training run: samples in, a tuned model with its card and its decisions out.

| file | contents |
| --- | --- |
| `adapter_model.safetensors`, or `model.safetensors` | the tuned weights, with the tokenizer |
| `run.json` | the `Manifest`: settings and status of the run |
| `recipe.toml` | every setting |
| `log.jsonl` | every step |
| `decisions.SPLIT.jsonl` | the model's decisions about the samples of a split: `mores meta` reads them |
| `training.json` | training data, duration and accuracy |
| `README.md` | the card |
| `checkpoint.pt` | the state from which a stopped run resumes; removed at the end |

With several processes (`accelerate launch`), all train and each decides about its share; the first writes.

A decision is the probability of an error, without writing a report: one of a report's first tokens says whether errors
follow. Its probability comes from one pass over the prompt, so that thousands of samples take seconds. A greedy judge
decides the same way, as long as it keeps to the report's form.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mores.engine import SILENT, Progress
from mores.errors import ConfigError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.formatting import count, duration, number, to
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder
from mores.run import Manifest, Plan, start_run
from mores.signature import sign
from mores.stats.classification import Bools, Floats
from mores.stats.intervals import mean_interval
from mores.training.examples import UNLABELLED, Examples, TaughtSample, TokenizedExample, pack, read_labelled, shape_of
from mores.training.folder import RESULT, Trained, TrainRun, headline
from mores.training.network import last_hidden, load, load_tokenizer, save, words
from mores.training.recipe import TuningRecipe, write_recipe
from mores.training.tune import CHECKPOINT, Training, TrainingStep, join, on_device
from mores.types import ErrorReport, Judgement, Result, Sample, Signature

ROW_TOKENS = {True: 16_384, False: 1024}
"""Tokens of a row, on a GPU or not: without flash attention the time grows with the square of the length."""


@dataclass(frozen=True)
class Decisions:
    """The decisions of a model about samples."""

    golds: Sequence[Gold]
    odds: Floats
    """Log-odds of an error."""

    @property
    def correct(self) -> Bools:
        """True for each decision that is correct."""
        wrong = np.array([bool(gold.report.errors) for gold in self.golds], dtype=bool)
        correct: Bools = (self.odds > 0) == wrong
        return correct

    def part(self, places: Sequence[int]) -> Decisions:
        """Return the decisions about some samples."""
        return Decisions([self.golds[place] for place in places], self.odds[list(places)])

    def result(self) -> Result:
        """Return the scaled accuracy, 2·accuracy − 1, so that guessing is 0 (ExCAM, Section 4)."""
        correct, n = int(self.correct.sum()), len(self.golds)
        if not n:
            return Result(name="scaled accuracy", value=None)
        low, high = mean_interval(self.correct, groups=[gold.group or gold.sample.id for gold in self.golds])
        return Result(name="scaled accuracy", value=2 * correct / n - 1, low=2 * low - 1, high=2 * high - 1, n=n)


def decide(
    model: Any,
    making: Examples,
    golds: Iterable[Gold],
    row_tokens: int | None = None,
    follow: Callable[[Iterable[float], int], Iterable[float]] = lambda odds, _: odds,
) -> Decisions:
    """Return the model's decisions about samples, which pass through `follow`, without samples that are too long."""
    # Each example ends with its first decision, which is about the whole text, and its only target.
    pairs = [
        (gold, TokenizedExample(example.tokens[: example.decisions[0] + 1], len(example.tokens), example.decisions[:1]))
        for gold, example in making.questions(golds)
    ]
    if not pairs:
        return Decisions([], np.empty(0))
    lengths = [len(example.tokens) for _, example in pairs]
    device = next(model.parameters()).device
    row_tokens = row_tokens or ROW_TOKENS[device.type == "cuda"]
    shape = shape_of(lengths, max(1, int(row_tokens / np.mean(lengths))), 2 * row_tokens)
    options = list(making.options)

    def odds() -> Iterator[float]:
        for row in pack((example for _, example in pairs), shape):
            tensors = on_device(row, shape, device)
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
                hidden = last_hidden(model, tensors)[tensors["places"]]
                logits = functional.linear(hidden, words(model).weight.to(hidden.dtype)[options]).double()
            wrong = logits[:, 1] - torch.cat((logits[:, :1], logits[:, 2:]), dim=1).logsumexp(dim=1)
            yield from wrong.tolist()

    return Decisions([gold for gold, _ in pairs], np.array(list(follow(odds(), len(pairs))), dtype=np.float64))


LEFT_OUT = "left-out"
"""The name of the decisions about the sources that were left out."""
MOST_LEFT_OUT = 600
"""Maximum samples of such a source."""


@dataclass
class TrainingStudy:
    """A training run: model, data and settings."""

    data: Path
    """A folder that `mores build` wrote."""
    base: str
    """A folder or Hub name that transformers loads."""
    base_name: str
    """Its name for people."""
    recipe: TuningRecipe
    folder: Path
    leave_out: tuple[str, ...] = ()
    """Sources that are evaluated on, but not trained on."""
    limit: int | None = None
    """Maximum training samples."""
    teachers: Sequence[Path] = ()
    """Runs on the same data whose decisions about its unlabelled samples are trained on too."""
    evaluate: Sequence[str] = ("dev", "test")
    """Splits that the tuned model is evaluated on."""
    on_step: Callable[[TrainingStep], None] = lambda _: None
    progress: Progress = SILENT

    def run(self) -> TrainRun:
        """Train, decide, write everything; of several processes the first has the run's lock and manifest."""
        self._team = join()
        golds = self.golds()
        settings = self.recipe.model_dump(mode="json")
        settings |= {"data": str(self.data), "leave_out": list(self.leave_out), "limit": self.limit}
        settings |= {"teacher": list(map(str, self.teachers))}
        signature, name = self.signature(golds), self.data.resolve().name
        plan = Plan(kind="train", name=name, model=self.base_name, signature=signature, settings=settings)
        if not self._team.is_main_process:
            self._train(golds)
            return TrainRun(self.folder, Manifest(**dict(plan), started=datetime.now(UTC)))
        with start_run(self.folder, plan, numbered=False) as run:
            trained = self._train(golds)
            names = [f"decisions.{split}.jsonl" for split in (*trained.decisions, UNLABELLED)]
            decided = {name: "Judgement" for name in names if (self.folder / name).is_file()}
            run.finish(files={**decided, RESULT: "Trained"}, headline=headline(trained))
        return TrainRun(run.path, run.manifest)

    def _train(self, golds: list[Gold]) -> Trained:
        from transformers.utils.logging import disable_progress_bar

        # The folder is made before any process continues; only the first process shows progress of loading.
        if self._team.is_main_process:
            make_folder(self.folder)
            write_text(self.folder / "recipe.toml", write_recipe(self.recipe))
        else:
            disable_progress_bar()
        self._team.wait_for_everyone()
        tokenizer = load_tokenizer(self.base)
        making = Examples(tokenizer, self.recipe)
        examples = list(making.make(self.progress.track("reading samples", golds, len(golds))))
        taught = list(making.labelled(self.labelled))
        examples += taught
        signature = self.signature(golds)
        model = load(self.base, self.recipe)
        begun = time.perf_counter()
        identity = str(signature)
        training = Training(model, examples, self.recipe, self.folder, identity, on_step=self.on_step)
        training.tune()
        seconds = time.perf_counter() - begun
        if self._team.is_main_process:
            save(model, tokenizer, self.folder)
        processes = self._team.num_processes
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
        trained = Trained(
            base=self.base_name,
            signature=signature,
            samples=len(examples),
            left_out=making.left_out,  # before deciding, which adds to it
            teacher=", ".join(teacher.name for teacher in self.teachers) or None,
            taught=len(taught),
            sources=dict(sorted(Counter(gold.sample.source or "unknown" for gold in golds).items())),
            without=", ".join(self.leave_out) or None,
            tokens=sum(len(example.tokens) for example in examples),
            seconds=seconds,
            device=device if processes == 1 else f"{processes} × {device}",
            decisions={
                name: by_source(self._decide(model, making, name, measured))
                for name, measured in self._measured().items()
            },
        )
        path = self.data / f"{UNLABELLED}.jsonl"
        if UNLABELLED in self.evaluate and path.is_file():
            samples = (sample for sample in read_records(path, Sample) if sample.source not in self.leave_out)
            about = {"report": ErrorReport(), "task": Task.FREEFORM, "kind": "correct", "maker": UNLABELLED}
            if pairs := [Gold(sample=sample, item=sample.id, **about) for sample in samples]:
                self._decide(model, making, UNLABELLED, pairs)
        if self._team.is_main_process:
            write_text(self.folder / RESULT, trained.model_dump_json(indent=1) + "\n")
            write_text(self.folder / "README.md", card(trained, self.recipe))
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
        return trained

    def golds(self) -> list[Gold]:
        """Return the training samples."""
        if not (self.data / "train.jsonl").is_file():
            raise ConfigError(f"{self.data}: no train.jsonl in it; give a folder that `mores build` wrote")
        every = read_records(self.data / "train.jsonl", Gold)
        shares = {source: float(share) for source, _, share in (each.partition("=") for each in self.recipe.shares)}

        def is_used(gold: Gold) -> bool:
            digest = draw(self.recipe.seed, "share", gold.sample.id)
            return int.from_bytes(digest[:4], "big") < shares.get(gold.sample.source or "", 1.0) * 2**32

        golds = [gold for gold in every if gold.sample.source not in self.leave_out and is_used(gold)]
        return golds if self.limit is None else golds[: self.limit]

    def _measured(self) -> dict[str, list[Gold]]:
        """Return the samples to evaluate on: the splits that the dataset has, and the sources left out of training."""
        names = [name for name in self.evaluate if name != UNLABELLED and (self.data / f"{name}.jsonl").is_file()]
        measured = {name: list(read_records(self.data / f"{name}.jsonl", Gold)) for name in names}
        if self.leave_out:
            whole = self.data / "sets.jsonl"  # claims with their own passages alone
            every = read_records(whole if whole.is_file() else self.data / "train.jsonl", Gold)
            measured[LEFT_OUT] = balance_sources([gold for gold in every if gold.sample.source in self.leave_out])
        return measured

    @cached_property
    def labelled(self) -> list[TaughtSample]:
        """The teachers' decisions."""
        return read_labelled(self.data, self.teachers, self.leave_out) if self.teachers else []

    def signature(self, golds: Iterable[Gold]) -> Signature:
        """Return the signature: data, base and recipe."""
        total, count = blake2b(digest_size=4), 0
        for count, gold in enumerate(golds, 1):  # noqa: B007 - read after the loop
            total.update(gold.model_dump_json().encode("utf-8", "surrogatepass"))
        settings = blake2b(write_recipe(self.recipe).encode(), digest_size=4).hexdigest()
        for row in self.labelled:
            total.update(f"{row.sample.model_dump_json()} {row.odds!r}".encode("utf-8", "surrogatepass"))
        taught = f".taught-{len(self.labelled)}" if self.labelled else ""
        without = f".without-{'-'.join(self.leave_out)}" if self.leave_out else ""
        data = f"{total.hexdigest()}.{count}{taught}{without}"
        return sign({"task": "train.1", "data": data, "base": self.base_name, "recipe": settings})

    def _decide(self, model: Any, making: Examples, split: str, golds: list[Gold]) -> Decisions:
        share = golds[self._team.process_index :: self._team.num_processes]
        follow = partial(self.progress.track, f"deciding about {split}")
        decided = gather(decide(model.eval(), making, share, follow=follow), golds)
        if self._team.is_main_process:
            with JsonlWriter(self.folder / f"decisions.{split}.jsonl") as writer:
                for gold, odds in zip(decided.golds, decided.odds.tolist(), strict=True):
                    # A text that is more likely wrong than not scores below 0.
                    writer.write(Judgement.of(gold.sample, judge=f"tuned:{self.folder.name}", score=-odds))
        return decided


def balance_sources(golds: Iterable[Gold]) -> list[Gold]:
    """Return of each source equally many samples with errors and without, not made by rule, one per item."""
    by_source: dict[str, dict[bool, dict[str, Gold]]] = defaultdict(lambda: {True: {}, False: {}})
    for gold in golds:
        if not gold.maker.startswith("rule:"):
            by_source[gold.sample.source or "unknown"][bool(gold.report.errors)].setdefault(gold.item, gold)
    chosen: list[Gold] = []
    for sides in by_source.values():
        count = min(MOST_LEFT_OUT // 2, *map(len, sides.values()))
        for side in sides.values():
            chosen += sorted(side.values(), key=lambda gold: draw(0, "left out", gold.item))[:count]
    return chosen


def gather(decided: Decisions, golds: Sequence[Gold]) -> Decisions:
    """Return the decisions of all processes, in the order of the samples."""
    from accelerate.utils import gather_object

    places = {id(gold): place for place, gold in enumerate(golds)}
    decided_here = [(places[id(gold)], odds) for gold, odds in zip(decided.golds, decided.odds.tolist(), strict=True)]
    every = dict(sorted(gather_object(decided_here)))
    return Decisions([golds[place] for place in every], np.array(list(every.values()), dtype=np.float64))


def by_source(decided: Decisions) -> dict[str, Result]:
    """Return the scaled accuracy overall and of each source."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, gold in enumerate(decided.golds):
        groups[gold.sample.source or "unknown"].append(place)
    parts = {source: decided.part(places).result() for source, places in sorted(groups.items())}
    return {"all": decided.result()} | parts


USE = "mores score texts.jsonl --model hf:BASE --adapter THIS_FOLDER"
FULL_USE = "mores score texts.jsonl --model hf:THIS_FOLDER"


def card(trained: Trained, recipe: TuningRecipe) -> str:
    """Return the card as Markdown."""
    use = USE if recipe.method == "lora" else FULL_USE
    without = f"; without {trained.without}" if trained.without else ""
    taught = f", of which {trained.teacher} labelled {count(trained.taught)}" if trained.teacher else ""
    return "\n".join(
        [
            f"# A metric for cultural errors, tuned from {trained.base}",
            "",
            "It reads an instruction and a text and writes an error report: what is culturally wrong, where, how bad,"
            " and why.",
            "",
            f"    {use}",
            "",
            "## Trained on",
            "",
            f"{count(trained.samples)} samples{taught}{without}, {count(trained.tokens)} tokens in one epoch;"
            f" {count(trained.left_out)} were too long. {duration(trained.seconds)} on {trained.device}. The licences"
            " of the sources apply to the model: `mores sources` lists them.",
            "",
            "| source | samples |",
            "| --- | --- |",
            *(f"| {source} | {count(samples)} |" for source, samples in trained.sources.items()),
            "",
            "## How well it decides",
            "",
            "Scaled accuracy (0 is guessing, 1 is perfect) of whether a sample has an error, with 95% intervals. Judge"
            " it only beside the shortcut baselines of `mores meta` on the same split.",
            "",
            *(line for split, results in trained.decisions.items() for line in _table(split, results)),
            "## Recipe",
            "",
            "```toml",
            write_recipe(recipe).rstrip(),
            "```",
            "",
            f"Signature: `{trained.signature}`",
            "",
        ]
    )


def _table(split: str, results: dict[str, Result]) -> list[str]:
    lines = [f"| {split} | scaled accuracy | n |", "| --- | --- | --- |"]
    for source, result in results.items():
        cell = "–"
        if result.value is not None and result.low is not None and result.high is not None:
            cell = f"{number(result.value, 3)} ({to(result.low, result.high, partial(number, digits=3))})"
        lines.append(f"| {source} | {cell} | {count(result.n)} |")
    return [*lines, ""]
