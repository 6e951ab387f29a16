"""The training loop: packed rows in, a tuned model out. It stops and goes on; the same seed gives the same model.

Several GPUs: `accelerate launch -m mores train ...`; each process takes its share of the rows of every step.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from mores.errors import ConfigError
from mores.train.examples import Example
from mores.train.network import core, words
from mores.train.packing import Row, Shape, pack, shape_of, steps
from mores.train.recipe import Recipe

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"


@dataclass(frozen=True)
class Progress:
    """One step, as the log has it."""

    step: int
    of: int
    loss: float
    """Mean over the weighted tokens of the reports."""
    learning_rate: float
    norm: float
    tokens: int
    """Trained on so far, padding left out."""
    seconds: float
    """Since the start, or since it went on."""


class Tuned(torch.nn.Module):  # type: ignore[misc]
    """A model that gives the loss of a packed row."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, row: dict[str, Any]) -> Any:
        """The sum of the weighted losses; words are predicted only where the loss looks."""
        hidden = core(self.model)(
            input_ids=row["tokens"][None], position_ids=row["positions"][None], use_cache=False,
            starts=row["starts"], longest=row["longest"],
        ).last_hidden_state[0]  # fmt: skip
        return weighted_loss(hidden[row["places"]], words(self.model).weight, row["targets"], row["weights"])


def weighted_loss(hidden: Any, weight: Any, targets: Any, weights: Any) -> Any:
    """Cross-entropy of the tokens that follow, weighted and summed."""
    logits = functional.linear(hidden, weight.to(hidden.dtype)).float()
    return (functional.cross_entropy(logits, targets, reduction="none") * weights).sum()


def learning_rate(step: int, total: int, recipe: Recipe) -> float:
    """Of a step, counted from 0: it rises over the warm-up, then falls along a cosine to 0."""
    warm = min(recipe.warmup_steps, total // 2)
    if step < warm:
        return recipe.learning_rate * (step + 1) / warm
    done = (step - warm) / max(1, total - warm)
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def total_steps(count: int, recipe: Recipe) -> int:
    """Steps of a whole run."""
    if not count:
        raise ConfigError("there is no example to train on; is the split right, and is `longest` long enough?")
    return max(1, round(recipe.epochs * math.ceil(count / recipe.batch)))


def batches(count: int, recipe: Recipe) -> Iterator[Any]:
    """The places of the examples of each step, epoch after epoch."""
    epoch = 0
    while True:
        yield from steps(count, recipe.batch, recipe.seed + epoch)
        epoch += 1


@dataclass
class Training:
    """A run: `tune` trains, and goes on from a checkpoint where there is one."""

    model: Any
    examples: Sequence[Example]
    recipe: Recipe
    folder: Path
    identity: str
    """What must be the same for a checkpoint to be gone on from."""
    save_every: int = 500
    """Steps."""
    on_step: Callable[[Progress], None] = lambda _: None

    def tune(self) -> None:
        """Train to the end."""
        from accelerate import Accelerator

        torch.manual_seed(self.recipe.seed)
        self._accelerator = Accelerator()
        self._device = self._accelerator.device
        if self._device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True
            if self.recipe.compile:
                compile_layers(self.model)
        tuned = Tuned(self.model).train()
        optimizer = self._optimizer(tuned)
        self._tuned, self._optimizer_ = self._accelerator.prepare(tuned, optimizer)
        self._run()

    def _optimizer(self, tuned: Any) -> Any:
        recipe = self.recipe
        trained = [weight for weight in tuned.parameters() if weight.requires_grad]
        groups = [
            {"params": [weight for weight in trained if weight.ndim > 1], "weight_decay": recipe.weight_decay},
            {"params": [weight for weight in trained if weight.ndim < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=recipe.learning_rate,
            betas=(recipe.beta1, recipe.beta2), fused=self._device.type == "cuda",
        )  # fmt: skip

    def _run(self) -> None:
        total = total_steps(len(self.examples), self.recipe)
        lengths = [len(example.tokens) for example in self.examples]
        self._shape = shape_of(lengths, self.recipe.batch, self.recipe.row_tokens)
        start, tokens = self._resume()
        begun = time.perf_counter()
        with ThreadPoolExecutor(1) as ahead, (self.folder / LOG).open("a") as log:
            plan = self._plan(start, total)
            coming = ahead.submit(self._prepared, next(plan)) if start < total else None
            for step in range(start, total):
                assert coming is not None
                rows, whole, own = coming.result()
                coming = ahead.submit(self._prepared, next(plan)) if step + 1 < total else None
                rate = learning_rate(step, total, self.recipe)
                loss, norm = self._step(rows, whole, rate)
                tokens += own
                seconds = time.perf_counter() - begun
                self._report(log, Progress(step + 1, total, loss / whole, rate, norm, tokens, seconds))
                if (step + 1) % self.save_every == 0 or step + 1 == total:
                    self._save(step + 1, tokens)

    def _plan(self, start: int, total: int) -> Iterator[Any]:
        for step, places in enumerate(batches(len(self.examples), self.recipe)):
            if step >= total:
                return
            if step >= start:
                yield places

    def _prepared(self, places: Any) -> tuple[list[dict[str, Any]], float, int]:
        """This process's rows of a step on the device, the weight of the whole step, and its tokens."""
        rows = list(pack((self.examples[i] for i in places), self._shape, self.recipe.decision_weight))
        whole = float(sum(row.weights.sum() for row in rows))
        count = sum(len(self.examples[i].tokens) for i in places)
        mine = rows[self._accelerator.process_index :: self._accelerator.num_processes]
        # A process without a row must take part in the exchange of gradients all the same.
        return [on_device(row, self._shape, self._device) for row in mine or [_weightless(rows[0])]], whole, count

    def _step(self, rows: list[dict[str, Any]], whole: float, rate: float) -> tuple[float, float]:
        for group in self._optimizer_.param_groups:
            group["lr"] = rate
        total = torch.zeros((), device=self._device)
        low = self.recipe.precision == "bf16" and self._device.type == "cuda"
        for number, row in enumerate(rows):
            last = number + 1 == len(rows)
            with self._syncing(last), torch.autocast("cuda", torch.bfloat16, enabled=low):
                loss = self._tuned(row)
            with self._syncing(last):
                self._accelerator.backward(loss * (self._accelerator.num_processes / whole))
            total += loss.detach()
        norm = self._accelerator.clip_grad_norm_(self._tuned.parameters(), self.recipe.clip)
        self._optimizer_.step()
        self._optimizer_.zero_grad(set_to_none=True)
        return float(self._accelerator.reduce(total)), float(norm)

    def _syncing(self, last: bool) -> Any:
        from contextlib import nullcontext

        return nullcontext() if last else self._accelerator.no_sync(self._tuned)

    # ---- stopping and going on ---------------------------------------------------------------------------------

    def _report(self, log: Any, progress: Progress) -> None:
        if not math.isfinite(progress.loss):
            raise ConfigError(f"the loss is {progress.loss} at step {progress.step}; lower the learning rate")
        if self._accelerator.is_main_process:
            log.write(json.dumps(asdict(progress)) + "\n")
            log.flush()
            self.on_step(progress)

    def _save(self, step: int, tokens: int) -> None:
        if not self._accelerator.is_main_process:
            return
        weights = {name: weight for name, weight in self._bare().named_parameters() if weight.requires_grad}
        state = {
            "identity": self.identity, "step": step, "tokens": tokens, "weights": weights,
            "optimizer": self._optimizer_.state_dict(),
        }  # fmt: skip
        part = self.folder / f"{CHECKPOINT}.part"
        torch.save(state, part)
        part.replace(self.folder / CHECKPOINT)

    def _resume(self) -> tuple[int, int]:
        path = self.folder / CHECKPOINT
        if not path.exists():
            (self.folder / LOG).unlink(missing_ok=True)
            return 0, 0
        state = torch.load(path, map_location=self._device, weights_only=True)
        if state["identity"] != self.identity:
            raise ConfigError(f"{path}: a checkpoint of another recipe, base or data; give another --out or remove it")
        with torch.no_grad():
            for name, weight in self._bare().named_parameters():
                if weight.requires_grad:
                    weight.copy_(state["weights"][name])
        self._optimizer_.load_state_dict(state["optimizer"])
        return int(state["step"]), int(state["tokens"])

    def _bare(self) -> Any:
        return self._accelerator.unwrap_model(self._tuned)


def compile_layers(model: Any) -> None:
    """Compile each layer by itself: they are alike, so that one compilation does for all."""
    for layer in core(model).layers:
        layer.compile()


def on_device(row: Row, shape: Shape, device: Any) -> dict[str, Any]:
    """A row as tensors; places, targets and weights are only those that the loss looks at."""
    places = row.weights.nonzero()[0]
    arrays = {
        "tokens": row.tokens.astype("int64"), "positions": row.positions.astype("int64"), "starts": row.starts,
        "places": places, "targets": row.targets[places].astype("int64"), "weights": row.weights[places],
    }  # fmt: skip
    tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if device.type == "cuda":
        tensors = {name: each.pin_memory().to(device, non_blocking=True) for name, each in tensors.items()}
    return tensors | {"longest": shape.longest}


def _weightless(row: Row) -> Row:
    """The same row with nothing to learn from."""
    from dataclasses import replace

    weights = row.weights * 0
    weights[0] = 1e-30  # so that there is a loss to go back from
    return replace(row, weights=weights)
